/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine with a port: poll, call, destroy. */
#include <rte_ring_elem.h>

#include "iw_time.h"
#include "port_engine.h"
#include "port_ring.h"
#include "team.h"
#include "telemetry.h"
#include "wheel.h"

#define CALLS_PER_POLL 32u
#define HOST_PER_BURST 32u
#define LINK_LOOK_NS (10 * IW_MS)
#define LAST_WORDS 16 /* turns in which nothing leaves, until the rest is given up */

/* Frames that left. */
static uint32_t
tx(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	uint32_t n = engine_tx(e, port_tx_tail(&p->port), port_tx_turn(&p->port), now_ns), left;

	if (p->team)
		n += team_carry(p, n);
	left = port_tx_flush(&p->port, n, now_ns);
	if (p->team)
		team_ring(p, n);
	return left;
}

static uint32_t
run_calls(struct iw_engine *e, struct rte_ring *ring)
{
	struct port_call calls[CALLS_PER_POLL];
	uint32_t n;

	if (port_ring_is_empty(ring))
		return 0;
	n = rte_ring_dequeue_burst_elem(ring, calls, sizeof(calls[0]), CALLS_PER_POLL, NULL);
	e->in_handler = true;
	for (uint32_t i = 0; i < n; i++)
		calls[i].fn(e, calls[i].arg);
	e->in_handler = false;
	return n;
}

/* Who was told that a call would be run counts on it. */
static void
run_last_calls(struct iw_engine *e, struct port_engine *p)
{
	e->now_ns = clock_now(&p->clock);
	for (uint32_t i = 0; i < PORT_CALLS / CALLS_PER_POLL && run_calls(e, p->calls); i++)
		;
}

void
port_engine_destroy(struct iw_engine *e)
{
	struct port_engine *p = e->port;

	telemetry_remove(e);
	run_last_calls(e, p);
	engine_abort(e);
	for (int stuck = 0; stuck < LAST_WORDS; stuck++)
		if (tx(e, p, clock_now(&p->clock)) > 0)
			stuck = 0;
	port_tx_reap(&p->port);
	hostpath_destroy(p->hostpath);
	engine_destroy(e);
	port_engine_fini(p);
}

int
iw_engine_destroy(struct iw_engine *engine)
{
	if (!engine)
		return -IW_E_INVAL;
	if (engine->in_handler)
		engine->destroy_asked = true;
	else
		port_engine_destroy(engine);
	return 0;
}

void
port_engine_rx(struct iw_engine *e, struct port_engine *p, struct rte_mbuf **m, uint32_t n, uint64_t now_ns)
{
	struct rte_mbuf *host[HOST_PER_BURST];
	uint32_t n_host = p->hostpath ? HOST_PER_BURST : 0;

	engine_rx(e, m, n, now_ns, host, &n_host);
	for (uint32_t i = 0; i < n_host; i++)
		p->port.n.host_refused += !hostpath_rx(p->hostpath, host[i], now_ns);
}

static uint32_t
rx(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	struct rte_mbuf *m[PORT_BURST];
	uint32_t n = port_rx(&p->port, m, PORT_BURST);

	if (n > 0)
		port_engine_rx(e, p, m, n, now_ns);
	return n;
}

/* Who asked on a link that is down would hear nobody object. */
static void
claim_addresses(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	if (!port_is_up(&p->port) || (p->team && !team_may_claim(p)))
		return;
	p->claim = false;
	net_own_claim(e->net, now_ns);
}

/* The last turn found nothing, nothing has come since, and no timer can be due before the wheels move on. */
static bool
is_idle(const struct iw_engine *e, const struct port_engine *p, uint64_t now_ns)
{
	return now_ns < p->idle_until && engine_is_idle(e) && p->port.n_backlog == 0 &&
	       !(p->team && team_is_pending(p));
}

int
iw_engine_poll(struct iw_engine *engine)
{
	struct port_engine *p;
	uint64_t now_ns;
	uint32_t work;

	if (!engine || engine->in_handler)
		return engine ? -IW_E_BUSY : -IW_E_INVAL;
	p = engine->port;
	now_ns = clock_now(&p->clock);
	engine->now_ns = now_ns;
	engine->work = 0;
	if (rdmap_lends(engine->rdmap)) /* before the acknowledgements of what it is done with are looked at */
		port_tx_reap(&p->port);
	work = run_calls(engine, p->calls);
	work += p->team ? team_rx(engine, p, now_ns) : rx(engine, p, now_ns);
	if (work == 0 && is_idle(engine, p, now_ns))
		return 0;
	if (p->claim)
		claim_addresses(engine, p, now_ns);
	if (p->hostpath)
		hostpath_tick(p->hostpath, now_ns);
	engine_tick(engine, now_ns);
	engine_deliver(engine);
	tx(engine, p, now_ns);
	work += engine->work;
	p->idle_until = work ? 0 : ((now_ns >> IW_WHEEL_TICK_SHIFT) + 1) << IW_WHEEL_TICK_SHIFT;
	if (engine->destroy_asked)
		port_engine_destroy(engine);
	return (int)work;
}

uint64_t
iw_engine_next_deadline(const struct iw_engine *engine)
{
	const struct port_engine *p;
	uint64_t at;

	if (!engine)
		return IW_NO_DEADLINE;
	p = engine->port;
	at = p->hostpath ? iw_time_min(engine_deadline(engine), hostpath_deadline(p->hostpath))
			 : engine_deadline(engine);
	return p->claim ? iw_time_min(at, clock_now(&p->clock) + LINK_LOOK_NS) : at;
}

uint64_t
iw_engine_now(const struct iw_engine *engine)
{
	return engine ? clock_now(&((const struct port_engine *)engine->port)->clock) : 0;
}

bool
iw_engine_zero_copy(const struct iw_engine *engine)
{
	return engine && ((const struct port_engine *)engine->port)->port.lends;
}

int
iw_engine_call(struct iw_engine *engine, void (*fn)(struct iw_engine *engine, void *arg), void *arg)
{
	struct port_call call = {.fn = fn, .arg = arg};
	const struct port_engine *p;

	if (!engine || !fn)
		return -IW_E_INVAL;
	p = engine->port;
	if (rte_ring_enqueue_elem(p->calls, &call, sizeof(call)) != 0)
		return -IW_E_NOMEM;
	iw_bell_ring(p->bell);
	return 0;
}
