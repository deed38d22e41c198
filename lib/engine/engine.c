/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine_face.h"

#include <string.h>

#include "engine_flow.h"
#include "iw_time.h"

#define DEFAULT_CONNS 4096u
#define LISTENERS 64u
#define NEIGHBOURS 4096u
/* That of TCP's user timeout: TCP notices first that the peer has gone. */
#define FPDU_TIMEOUT (100 * IW_SEC)
#define EVENTS_PER_TURN 1024u
#define DRY_NS IW_MS /* mbufs come back to the pool, and nobody says so */

static uint32_t
or_default(uint32_t value, uint32_t otherwise)
{
	return value ? value : otherwise;
}

static struct tcp_params
tcp_sizes(const struct engine_params *params, uint32_t conns)
{
	struct tcp_params p = params->tcp;

	p.max_conns = or_default(p.max_conns, conns);
	p.max_listeners = or_default(p.max_listeners, LISTENERS);
	p.max_timewait = or_default(p.max_timewait, conns * 4);
	return p;
}

static struct cm_params
cm_sizes(const struct engine_params *params, uint32_t conns)
{
	struct cm_params p = params->cm;

	p.max_ids = or_default(p.max_ids, or_default(params->max_cm_ids, conns + LISTENERS));
	p.max_listeners = or_default(p.max_listeners, LISTENERS);
	return p;
}

/* Left to right, as data flows; false: memory is short. */
static bool
create_rooms(struct iw_engine *e, const struct engine_params *params, uint64_t now_ns)
{
	uint32_t conns = or_default(params->max_conns, DEFAULT_CONNS);
	struct tcp_params tcp = tcp_sizes(params, conns);
	struct rdmap_params rdmap = {.max_qps = or_default(params->max_qps, conns),
				     .fpdu_timeout_ns =
					     params->fpdu_timeout_ns ? params->fpdu_timeout_ns : FPDU_TIMEOUT};
	struct cm_params cm = cm_sizes(params, conns);

	e->net = net_create(&e->env, &params->nif, or_default(params->max_neighbours, NEIGHBOURS), now_ns);
	if (e->net)
		e->tcp = tcp_create(&e->env, e->net, &tcp, now_ns);
	if (e->tcp)
		e->rdmap = rdmap_create(&e->env, e->domain, e, &rdmap);
	if (e->rdmap)
		e->cm = cm_create(&e->env, e->tcp, e->rdmap, &cm);
	return e->cm != NULL;
}

struct iw_engine *
engine_create(struct iw_domain *domain, const struct iw_env *env, const struct engine_params *params, uint64_t now_ns)
{
	struct iw_engine *e = iw_env_alloc(sizeof(*e));

	if (!e)
		return NULL;
	e->env = *env;
	e->domain = domain;
	e->now_ns = now_ns;
	if (create_rooms(e, params, now_ns))
		return e;
	engine_destroy(e);
	return NULL;
}

void
engine_destroy(struct iw_engine *e)
{
	mbuf_stock_empty(&e->stock);
	if (e->cm)
		cm_free(e->cm);
	if (e->rdmap)
		rdmap_destroy(e->rdmap);
	if (e->tcp)
		tcp_destroy(e->tcp);
	if (e->net)
		net_destroy(e->net);
	iw_env_free(e);
}

void
engine_abort(struct iw_engine *e)
{
	cm_destroy_all(e->cm, e->now_ns);
	tcp_abort_all(e->tcp, e->now_ns);
}

void
engine_tick(struct iw_engine *e, uint64_t now_ns)
{
	e->now_ns = now_ns;
	net_tick(e->net, now_ns);
	tcp_tick(e->tcp, now_ns);
	rdmap_tick(e->rdmap, now_ns);
	cm_tick(e->cm, now_ns);
	engine_streams(e);
}

uint64_t
engine_deadline(const struct iw_engine *e)
{
	uint64_t at = iw_time_min(net_deadline(e->net), tcp_deadline(e->tcp));
	struct tcp_ready ready;

	/* What waits for the next turn: frames, and connections that became ready when streams had theirs. */
	if (!net_tx_is_empty(e->net) || tcp_ready_peek(e->tcp, &ready, 1) > 0)
		return 0;
	if (e->dry)
		at = iw_time_min(at, iw_time_after(e->now_ns, DRY_NS));
	return iw_time_min(at, iw_time_min(rdmap_deadline(e->rdmap), cm_deadline(e->cm)));
}

static bool
deliver_cm_event(struct iw_engine *e)
{
	struct iw_cm_event ev;
	iw_cm_handler handler;
	void *context;
	iw_cm_id id;
	int result;

	if (!cm_event_next(e->cm, &id, &ev, &handler, &context))
		return false;
	result = handler ? handler(id, &ev, context) : 0;
	cm_event_done(e->cm, id, result, e->now_ns);
	return true;
}

int
iw_engine_set_async(struct iw_engine *engine, iw_async_handler handler, void *context)
{
	if (!engine)
		return -IW_E_INVAL;
	engine->async = handler;
	engine->async_context = context;
	return 0;
}

/* The eventfd first: the handler may destroy the CQ. */
static bool
deliver_cq(struct iw_engine *e)
{
	struct iw_cq *cq = cq_notify_next(e->rdmap);

	if (!cq)
		return false;
	if (cq_fd(cq) >= 0)
		e->notify(cq_fd(cq));
	cq_notify(cq);
	return true;
}

static bool
deliver_async(struct iw_engine *e)
{
	struct iw_async_event ev;

	if (!rdmap_async_next(e->rdmap, &ev))
		return false;
	if (e->async)
		e->async(e, &ev, e->async_context);
	return true;
}

/* The only place from which the user is called: rooms are at rest, so that any call is legal inside. */
uint32_t
engine_deliver(struct iw_engine *e)
{
	uint32_t n = 0;

	e->in_handler = true;
	while (n < EVENTS_PER_TURN && !e->destroy_asked && deliver_cq(e))
		n++;
	while (n < EVENTS_PER_TURN && !e->destroy_asked && deliver_async(e))
		n++;
	while (n < EVENTS_PER_TURN && !e->destroy_asked && deliver_cm_event(e))
		n++;
	e->in_handler = false;
	e->counters.events += n;
	e->work += n;
	rdmap_quiescent(e->rdmap);
	return n;
}
