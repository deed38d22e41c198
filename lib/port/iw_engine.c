/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine with a port: create, poll, call, destroy. */
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <stdio.h>
#include <string.h>

#include "iw_addr.h"
#include "iw_time.h"
#include "notify.h"
#include "port_engine.h"
#include "port_pools.h"
#include "secret.h"

#define CALLS 256
#define CALLS_PER_POLL 32u
#define HOST_PER_POLL 32u
#define LAST_WORDS 16 /* turns in which RSTs may leave at the end */

static int
check(const struct iw_engine_params *p, char *why, size_t why_len)
{
	const char *what = NULL;

	if (rte_get_tsc_hz() == 0)
		what = "EAL is not initialised: call rte_eal_init() first";
	else if (iw_addr_is_any(&p->addr) || !iw_addr_is_v4(&p->addr))
		what = "an IPv4 address of its own is needed";
	else if (p->prefix_len > 32)
		what = "the prefix length of an IPv4 address is at most 32";
	else if (p->mtu && p->mtu < 576)
		what = "an MTU below 576 is of no use";
	if (!what)
		return 0;
	if (why && why_len)
		snprintf(why, why_len, "%s", what);
	return -IW_E_INVAL;
}

static struct engine_params
core_params(const struct iw_engine_params *p)
{
	struct engine_params c = {.max_conns = p->max_conns, .max_qps = p->max_qps, .max_cm_ids = p->max_cm_ids};

	if (p->profile_datacenter)
		c.tcp.rto_min_ns = 5 * IW_MS;
	return c;
}

static struct rte_ring *
make_calls(uint16_t port)
{
	static uint32_t serial;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "iwcalls_%u_%u", port, __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
	return rte_ring_create_elem(name, sizeof(struct port_call), CALLS, SOCKET_ID_ANY, RING_F_SC_DEQ);
}

/* Takes back whatever port_engine_fill() got done, in the opposite order. */
static void
port_engine_fini(struct port_engine *p)
{
	port_close(&p->port);
	rte_ring_free(p->calls);
	port_pools_destroy(p);
	iw_env_free(p);
}

static int
fill_env(struct iw_env *env, const struct iw_engine_params *params)
{
	if (!params->secret)
		return secret_fill(env->secret, sizeof(env->secret));
	memcpy(env->secret, params->secret, sizeof(env->secret));
	/* The secret may come back after a restart; what is drawn from it must not. */
	return secret_fill(&env->draws, sizeof(env->draws));
}

/* Some drivers want mbufs far above the MTU and do not say so beforehand: when the port refuses, once more with
 * roomier ones. */
static int
open_port(struct port_engine *p, const struct iw_engine_params *params, struct iw_env *env, struct netif *nif,
	  char *why, size_t why_len)
{
	int err = -IW_E_PORT;

	for (int roomy = 0; roomy < 2 && err == -IW_E_PORT; roomy++) {
		err = port_pools_create(p, params, roomy, env, why, why_len);
		if (!err)
			err = port_open(&p->port, params, env->data_pool, nif, why, why_len);
		if (err)
			port_pools_destroy(p);
	}
	return err;
}

static int
port_engine_fill(struct port_engine *p, const struct iw_engine_params *params, struct iw_env *env, struct netif *nif,
		 char *why, size_t why_len)
{
	int err = fill_env(env, params);

	clock_init(&p->clock);
	if (!err && !rte_eth_dev_is_valid_port(params->port_id))
		return port_open(&p->port, params, NULL, nif, why, why_len);
	if (!err)
		err = open_port(p, params, env, nif, why, why_len);
	if (err)
		return err;
	p->calls = make_calls(params->port_id);
	return p->calls ? 0 : -IW_E_NOMEM;
}

static struct iw_engine *
create(struct iw_domain *domain, const struct iw_engine_params *params, int *err, char *why, size_t why_len)
{
	struct port_engine *p = iw_env_alloc(sizeof(*p));
	struct engine_params core = core_params(params);
	struct iw_env env = {0};
	struct iw_engine *e = NULL;

	*err = -IW_E_NOMEM;
	if (!p)
		return NULL;
	*err = port_engine_fill(p, params, &env, &core.nif, why, why_len);
	if (*err == 0) {
		e = engine_create(domain, &env, &core, clock_now(&p->clock));
		if (!e)
			*err = -IW_E_NOMEM;
	}
	if (!e) {
		port_engine_fini(p);
		return NULL;
	}
	e->port = p;
	e->clock = iw_engine_now;
	e->notify = notify_eventfd;
	if (!params->no_host_path)
		p->hostpath = hostpath_create(e->net, env.data_pool);
	return e;
}

struct iw_engine *
iw_engine_create(struct iw_domain *domain, const struct iw_engine_params *params, int *err, char *why, size_t why_len)
{
	struct iw_engine *e = NULL;
	int ignored;

	if (!err)
		err = &ignored;
	if (why && why_len)
		*why = 0;
	*err = -IW_E_INVAL;
	if (!domain || !params)
		return NULL;
	*err = check(params, why, why_len);
	if (*err == 0)
		e = create(domain, params, err, why, why_len);
	if (!e && why && why_len && !*why)
		snprintf(why, why_len, "%s", iw_err_text(*err));
	return e;
}

static void
tx(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	uint32_t n = engine_tx(e, port_tx_tail(&p->port), port_tx_space(&p->port), now_ns);

	port_tx_flush(&p->port, n, now_ns);
}

static void
destroy_now(struct iw_engine *e)
{
	struct port_engine *p = e->port;

	engine_abort(e);
	for (int i = 0; i < LAST_WORDS; i++)
		tx(e, p, clock_now(&p->clock));
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
		destroy_now(engine);
	return 0;
}

static uint32_t
run_calls(struct iw_engine *e, struct rte_ring *ring)
{
	struct port_call calls[CALLS_PER_POLL];
	uint32_t n = rte_ring_dequeue_burst_elem(ring, calls, sizeof(calls[0]), CALLS_PER_POLL, NULL);

	e->in_handler = true;
	for (uint32_t i = 0; i < n; i++)
		calls[i].fn(e, calls[i].arg);
	e->in_handler = false;
	return n;
}

static uint32_t
rx(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	struct rte_mbuf *m[PORT_BURST], *host[HOST_PER_POLL];
	uint32_t n = port_rx(&p->port, m, PORT_BURST), n_host = p->hostpath ? HOST_PER_POLL : 0;

	engine_rx(e, m, n, now_ns, host, &n_host);
	for (uint32_t i = 0; i < n_host; i++)
		hostpath_rx(p->hostpath, host[i], now_ns);
	return n;
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
	work = run_calls(engine, p->calls);
	work += rx(engine, p, now_ns);
	if (p->hostpath)
		hostpath_tick(p->hostpath, now_ns);
	engine_tick(engine, now_ns);
	engine_deliver(engine);
	tx(engine, p, now_ns);
	work += engine->work;
	if (engine->destroy_asked)
		destroy_now(engine);
	return (int)work;
}

uint64_t
iw_engine_next_deadline(const struct iw_engine *engine)
{
	return engine ? engine_deadline(engine) : IW_NO_DEADLINE;
}

uint64_t
iw_engine_now(const struct iw_engine *engine)
{
	return clock_now(&((const struct port_engine *)engine->port)->clock);
}

int
iw_engine_call(struct iw_engine *engine, void (*fn)(struct iw_engine *engine, void *arg), void *arg)
{
	struct port_call call = {.fn = fn, .arg = arg};

	if (!engine || !fn)
		return -IW_E_INVAL;
	return rte_ring_enqueue_elem(((struct port_engine *)engine->port)->calls, &call, sizeof(call)) ? -IW_E_NOMEM
												       : 0;
}
