/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_conn.h"

#include <rte_common.h>
#include <rte_launch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "conn_times.h"
#include "kernel_conn.h"

#define WAIT_NS UINT64_C(15000000000)
#define BACKLOG 256

/* What the QPs of one side share. */
struct side {
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct conn_times *times;
	uint32_t open;
	bool failed;
};

struct server_conn {
	struct side *side;
	struct iw_qp *qp;
	uint64_t begin; /* the Request */
};

struct server {
	struct side side;
	iw_cm_id listener;
	bool stop;
};

struct slot {
	struct side *side;
	iw_cm_id id; /* 0: free */
	struct iw_qp *qp;
	uint64_t begin; /* of the step that is under way */
	bool closed;
};

struct client {
	struct side side;
	const struct options *o;
	struct slot slots[PERF_CONN_QPS];
	uint64_t goal, started, ended;
};

static bool
side_fail(struct side *s, const char *what, int status)
{
	if (!s->failed)
		cli_fail("%s: %s", what, iw_err_text(status));
	s->failed = true;
	return false;
}

static bool
side_open(struct side *s, const struct host *host, struct conn_times *times)
{
	s->engine = host->engine;
	s->times = times;
	s->pd = iw_pd_create(host->domain);
	s->cq = s->pd ? iw_cq_create(s->engine, 1024, NULL, NULL) : NULL;
	return s->cq || side_fail(s, "cannot start", -IW_E_NOMEM);
}

static void
side_close(struct side *s)
{
	if (s->cq)
		iw_cq_destroy(s->cq);
	if (s->pd)
		iw_pd_destroy(s->pd);
}

static struct iw_qp *
make_qp(struct side *s, int *err)
{
	struct iw_qp_attr attr = {.sq_depth = 1, .rq_depth = 1, .send_cq = s->cq, .recv_cq = s->cq};

	return iw_qp_create(s->engine, s->pd, &attr, err);
}

/* ---- passive side ---- */

static int
on_request(struct side *s, iw_cm_id id)
{
	struct server_conn *c = calloc(1, sizeof(*c));
	int err = -IW_E_NOMEM;

	if (c)
		*c = (struct server_conn){.side = s, .qp = make_qp(s, &err), .begin = iw_engine_now(s->engine)};
	if (c && c->qp) {
		iw_cm_set_context(s->engine, id, c);
		err = iw_cm_accept(s->engine, id, c->qp, NULL);
		if (!err) {
			s->open++;
			return 0;
		}
		iw_qp_destroy(c->qp);
	}
	free(c);
	side_fail(s, "a connection cannot be accepted", err);
	return 1;
}

static int
on_server_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct server_conn *c = context;
	struct side *s;

	if (event->type == IW_CM_CONNECT_REQUEST)
		return on_request(context, id);
	s = c->side;
	if (event->type == IW_CM_ESTABLISHED_EV)
		conn_times_add(s->times, CONN_ESTABLISHED, iw_engine_now(s->engine) - c->begin);
	if (event->type != IW_CM_CLOSE)
		return 0;
	iw_qp_destroy(c->qp);
	free(c);
	s->open--;
	return 1;
}

static int
serve(void *arg)
{
	struct server *server = arg;
	struct side *s = &server->side;
	uint64_t end = UINT64_MAX;

	/* Its last connections end a moment behind the client's. */
	while (iw_engine_now(s->engine) < end) {
		iw_engine_poll(s->engine);
		if (!__atomic_load_n(&server->stop, __ATOMIC_ACQUIRE))
			continue;
		if (s->open == 0)
			return 0;
		end = RTE_MIN(end, iw_engine_now(s->engine) + WAIT_NS);
	}
	side_fail(s, "the passive side still has connections", -IW_E_TIMEDOUT);
	return 0;
}

static bool
server_open(struct server *server, const struct options *o, const struct host *host, struct conn_times *times)
{
	struct side *s = &server->side;
	int err = -IW_E_NOMEM;

	if (!side_open(s, host, times))
		return false;
	server->listener = iw_cm_create(s->engine, on_server_event, s);
	if (server->listener)
		err = iw_cm_listen(s->engine, server->listener, &o->peer, BACKLOG);
	return !err || side_fail(s, "cannot listen", err);
}

/* ---- active side ---- */

static int
on_client_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct slot *slot = context;
	struct side *s = slot->side;
	uint64_t now = iw_engine_now(s->engine);

	if (event->status) {
		side_fail(s, "a connection failed", event->status);
	} else if (event->type == IW_CM_CONNECT_REPLY) {
		conn_times_add(s->times, CONN_CONNECT, now - slot->begin);
		iw_cm_disconnect(s->engine, id, false);
		conn_times_add(s->times, CONN_DISCONNECT, iw_engine_now(s->engine) - now);
		slot->begin = now;
	} else if (event->type == IW_CM_CLOSE) {
		conn_times_add(s->times, CONN_CLOSE, now - slot->begin);
		slot->closed = true;
	}
	return 0;
}

static bool
start(struct client *c, struct slot *slot)
{
	struct side *s = &c->side;
	struct iw_cm_attr attr = {.no_crc = c->o->no_crc};
	uint64_t begin = iw_engine_now(s->engine);
	int err = -IW_E_NOMEM;

	slot->side = s;
	slot->qp = make_qp(s, &err);
	slot->id = slot->qp ? iw_cm_create(s->engine, on_client_event, slot) : 0;
	slot->begin = iw_engine_now(s->engine);
	conn_times_add(s->times, CONN_CREATE, slot->begin - begin);
	c->started++;
	if (slot->id)
		err = iw_cm_connect(s->engine, slot->id, &c->o->peer, slot->qp, &attr);
	return !err || side_fail(s, "cannot connect", err);
}

static void
drop(struct client *c, struct slot *slot)
{
	struct side *s = &c->side;
	uint64_t begin = iw_engine_now(s->engine);

	if (slot->id)
		iw_cm_destroy(s->engine, slot->id);
	if (slot->qp)
		iw_qp_destroy(slot->qp);
	conn_times_add(s->times, CONN_DESTROY, iw_engine_now(s->engine) - begin);
	c->ended += slot->closed;
	memset(slot, 0, sizeof(*slot));
}

static void
turn(struct client *c)
{
	for (uint32_t i = 0; i < c->o->qps; i++) {
		struct slot *slot = &c->slots[i];

		if (slot->id && slot->closed)
			drop(c, slot);
		if (!slot->id && c->started < c->goal && !start(c, slot))
			return;
	}
	iw_engine_poll(c->side.engine);
}

static void
drop_all(struct client *c)
{
	for (uint32_t i = 0; i < c->o->qps; i++)
		if (c->slots[i].side)
			drop(c, &c->slots[i]);
}

static bool
client_run(struct client *c, uint64_t goal)
{
	uint64_t last = UINT64_MAX, end = 0;

	c->goal = goal;
	c->started = c->ended = 0;
	while (c->ended < goal && !c->side.failed && !cli_stopped()) {
		if (last != c->ended)
			end = iw_engine_now(c->side.engine) + WAIT_NS;
		last = c->ended;
		turn(c);
		if (iw_engine_now(c->side.engine) > end)
			side_fail(&c->side, "a connection does not end", -IW_E_TIMEDOUT);
	}
	drop_all(c);
	return c->ended == goal;
}

/* The first one finds the neighbour, with packets of the others waiting or lost: it goes ahead, untimed. */
static bool
client_measure(struct client *c)
{
	struct conn_times *t = c->side.times;
	bool ok = client_run(c, 1);

	memset(t->n, 0, sizeof(t->n));
	t->begin_ns = iw_engine_now(c->side.engine);
	ok = ok && client_run(c, t->count);
	t->end_ns = iw_engine_now(c->side.engine);
	return ok;
}

static bool
both_run(struct client *c, struct server *server, unsigned lcore)
{
	bool ok;

	if (rte_eal_remote_launch(serve, server, lcore) != 0)
		return cli_fail("lcore %u is busy with something else", lcore) == 0;
	ok = client_measure(c);
	/* After a failure: what was dropped has something to say to its peers. */
	for (int i = 0; i < 1000; i++)
		iw_engine_poll(c->side.engine);
	__atomic_store_n(&server->stop, true, __ATOMIC_RELEASE);
	rte_eal_wait_lcore(lcore);
	return ok && !server->side.failed;
}

static bool
measure(const struct options *o, const struct host *a, const struct host *b, unsigned lcore, struct conn_times *t)
{
	struct client *c = calloc(1, sizeof(*c));
	struct server server = {0};
	bool ok = c && side_open(&c->side, a, t) && server_open(&server, o, b, t);

	if (ok) {
		c->o = o;
		ok = both_run(c, &server, lcore);
	}
	if (server.listener)
		iw_cm_destroy(b->engine, server.listener);
	side_close(&server.side);
	if (c)
		side_close(&c->side);
	free(c);
	return ok;
}

static void
print(struct conn_times *t, const struct options *o)
{
	static const char *const texts[CONN_STEPS] = {
		"iw_qp_create(), iw_cm_create()",
		"no step here: the first connection, which is not timed, has done it",
		"iw_cm_connect() to CONNECT_REPLY",
		"passive side: CONNECT_REQUEST to ESTABLISHED",
		"iw_cm_disconnect()",
		"iw_cm_disconnect() to CLOSE",
		"iw_cm_destroy(), iw_qp_destroy()"};
	char title[96];

	snprintf(title, sizeof(title), "Connections over the in-process wire: %llu, %u at once",
		 (unsigned long long)t->count, o->qps);
	conn_times_print(t, title, texts);
}

int
run_conn(const struct options *o, const struct host *a, const struct host *b, unsigned lcore)
{
	struct conn_times ours, kernel;
	bool ok = conn_times_init(&ours, o->iters);

	ok = conn_times_init(&kernel, RTE_MIN(o->iters, (uint64_t)KERNEL_CONN_MOST)) && ok;
	if (!ok)
		cli_fail("no memory for the samples");
	if (ok && (ok = measure(o, a, b, lcore, &ours)))
		print(&ours, o);
	if (ok && (ok = kernel_conn_run(&kernel, o->qps, lcore))) {
		kernel_conn_print(&kernel);
		printf(" connections a second, this library to kernel TCP : %.2f\n",
		       conn_times_rate(&ours) / conn_times_rate(&kernel));
	}
	conn_times_fini(&ours);
	conn_times_fini(&kernel);
	return ok ? 0 : 1;
}
