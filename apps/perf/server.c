/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "be.h"
#include "cli.h"
#include "data.h"
#include "outflow.h"
#include "sink.h"

#define BACKLOG 1024

struct server {
	struct peer peer;
	struct iw_addr addr; /* with the first port */
	struct options o;    /* the client's, as far as they concern both */
	iw_cm_id listeners[PERF_PORTS(PERF_MAX_QPS)];
	uint32_t n_listeners;
	bool set_up;           /* the first RUN record was answered: memory and places of QPs are there */
	bool running;          /* a further one was, and no STOP yet */
	uint32_t idle_us;      /* as this end was told; a client may want a run without sleep */
	bool sending, stopped; /* both ways: this end's part has begun; the client waits for its end */
	struct outflow out;
	bool asked_to_stop; /* by another lcore */
	uint64_t echoed;    /* latency: messages answered in this run */
	struct peer_turn turn;
};

/* ---- connections ---- */

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct link *l = context;

	if (event->type == IW_CM_ESTABLISHED_EV) {
		l->up = true;
		l->peer->up += l->number != PEER_CONTROL;
	}
	if (event->type == IW_CM_CLOSE) {
		l->ended = true;
		l->status = event->status;
		l->peer->lost |= l->number == PEER_CONTROL;
	}
	return 0;
}

/* The place of the link with that number; NULL: there is none, or it is taken. */
static struct link *
place_of(struct server *v, uint32_t number)
{
	struct peer *p = &v->peer;
	struct link *l = number == PEER_CONTROL              ? &p->control
			 : v->set_up && number < v->peer.qps ? &p->links[number]
							     : NULL;

	return l && !l->id ? l : NULL;
}

static int
accept_link(struct server *v, iw_cm_id id, const struct iw_cm_event *event)
{
	const uint8_t *number = event->private_data;
	struct iw_cm_attr attr = {.no_crc = v->o.no_crc};
	struct link *l = event->private_len == 4 ? place_of(v, (uint32_t)be_get(&number, 4)) : NULL;

	if (!l || !(l == &v->peer.control ? peer_make_control(&v->peer) : peer_make_qp(&v->peer, l)))
		return -1;
	if (iw_cm_accept(v->peer.engine, id, l->qp, &attr) != 0)
		return -1;
	l->id = id;
	return iw_cm_set_context(v->peer.engine, id, l);
}

static int
on_listener(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	return event->type == IW_CM_CONNECT_REQUEST ? accept_link(context, id, event) : on_event(id, event, context);
}

/* On the ports from -p on, as many as so many QPs take.  False after an error line. */
static bool
listen_for(struct server *v, uint32_t qps)
{
	struct iw_engine *engine = v->peer.engine;
	struct iw_addr addr = v->addr;
	int err = 0;

	for (; err == 0 && v->n_listeners < PERF_PORTS(qps); v->n_listeners += err == 0) {
		iw_cm_id *id = &v->listeners[v->n_listeners];

		addr.port = (uint16_t)(v->addr.port + v->n_listeners);
		*id = iw_cm_create(engine, on_listener, v);
		err = *id ? iw_cm_listen(engine, *id, &addr, BACKLOG) : -IW_E_NOMEM;
		if (err && *id)
			iw_cm_destroy(engine, *id);
	}
	if (err)
		cli_fail("cannot listen on port %u: %s", addr.port, iw_err_text(err));
	return err == 0;
}

/* ---- records ---- */

static bool
is_sane(const struct server *v, const struct record *r)
{
	return r->kind == RECORD_RUN && r->verb < PERF_VERBS && r->test <= PERF_LAT && r->size >= 1 &&
	       r->size <= PERF_MAX_SIZE && r->qps >= 1 && r->qps <= PERF_MAX_QPS &&
	       perf_ports_fit(v->addr.port, r->qps) && r->tx_depth >= 1 && r->tx_depth <= PERF_MAX_DEPTH &&
	       r->rx_depth >= 4 && r->rx_depth <= PERF_MAX_DEPTH && r->inline_size <= IW_MAX_INLINE && r->cq_mod >= 1 &&
	       r->cq_mod <= r->tx_depth && r->outs <= IW_MAX_IRD && (r->flags & ~RECORD_ALL_FLAGS) == 0 &&
	       (r->verb != PERF_ATOMIC || r->size == sizeof(uint64_t));
}

static void
take_options(struct options *o, const struct record *r, uint32_t idle_us)
{
	o->verb = (enum perf_verb)r->verb;
	o->test = (enum perf_test)r->test;
	o->tx_depth = r->tx_depth;
	o->rx_depth = r->rx_depth;
	o->inline_size = r->inline_size;
	o->cq_mod = r->cq_mod;
	o->outs = r->outs;
	o->qps = r->qps;
	o->iters = r->iters;
	o->size = r->size;
	o->both_ways = r->flags & RECORD_BOTH_WAYS;
	o->srq = r->flags & RECORD_SRQ;
	o->validate = r->flags & RECORD_VALIDATE;
	o->host.idle_us = r->flags & RECORD_AWAKE ? 0 : idle_us;
}

/* What a run needs is there: the memory of the first record, which must not change hands while QPs use it. */
static bool
can_run(struct server *v, const struct record *r)
{
	const struct options *o = &v->o;

	if (!is_sane(v, r))
		return false;
	if (v->set_up)
		return !v->sending && r->size <= v->peer.size && r->qps == o->qps && r->verb == (uint8_t)o->verb &&
		       r->test == (uint8_t)o->test && r->rx_depth == o->rx_depth && r->tx_depth == o->tx_depth;
	take_options(&v->o, r, v->idle_us);
	return peer_memory_fits(&v->o, r->size) && peer_make_memory(&v->peer, r->size) && peer_make_links(&v->peer) &&
	       listen_for(v, r->qps);
}

/* The first RUN prepares, the others begin a run each. */
static void
begin_run(struct server *v)
{
	const struct record *r = &v->peer.theirs;
	struct record answer = {.kind = can_run(v, r) ? RECORD_READY : RECORD_REFUSED, .size = r->size};

	if (answer.kind == RECORD_READY) {
		take_options(&v->o, r, v->idle_us);
		v->running = v->set_up;
		v->set_up = true;
		v->stopped = false;
		v->echoed = 0;
		v->turn = PEER_FIRST_TURN;
		if (v->o.validate)
			data_prepare(&v->peer, r->size, false);
		for (uint32_t q = 0; v->o.test == PERF_LAT && q < v->peer.qps; q++)
			*peer_last_in(&v->peer, q, r->size) = 0;
	}
	peer_send_record(&v->peer, &answer);
}

static void
take_record(struct server *v)
{
	if (v->peer.theirs.kind != RECORD_STOP) {
		begin_run(v);
		return;
	}
	v->stopped = v->running;
	if (v->sending)
		outflow_stop(&v->out);
}

static void
end_run(struct server *v)
{
	struct record done = {.kind = RECORD_DONE, .count = v->sending ? v->out.posted : 0};

	if (v->o.validate)
		done.bad = data_check(&v->peer, v->o.size, false, v->peer.theirs.count);
	if (v->sending)
		outflow_end(&v->out);
	v->running = v->sending = v->stopped = false;
	peer_send_record(&v->peer, &done);
}

/* ---- runs ---- */

/* imm: of the message, with verb write-imm. */
static void
echo(struct server *v, uint64_t imm)
{
	struct peer *p = &v->peer;
	uint32_t qp = v->turn.qp;
	struct iw_sge sge = {(uintptr_t)peer_out(p, qp), v->o.size, iw_mr_lkey(p->mr)};
	struct iw_send_wr wr = outflow_request(p, &sge);
	int err;

	wr.remote_addr = p->theirs.in_addr + peer_offset(p, qp);
	if (v->o.verb == PERF_WRITE_IMM)
		wr.imm_data = imm;
	v->echoed++;
	*peer_last_out(p, qp, v->o.size) = v->turn.octet;
	peer_next_turn(p, &v->turn);
	if (v->o.size <= v->o.inline_size)
		wr.flags |= IW_SEND_INLINE;
	err = iw_post_send(p->links[qp].qp, &wr, NULL);
	if (err)
		peer_fail(p, "an answer cannot be posted", err);
}

static void
answer_write(struct server *v)
{
	volatile uint8_t *last = peer_last_in(&v->peer, v->turn.qp, v->o.size);

	if ((v->o.iters == 0 || v->echoed < v->o.iters) && *last == v->turn.octet)
		echo(v, 0);
}

static void
answer_message(struct server *v)
{
	struct iw_wc wc;

	while (iw_cq_poll(v->peer.recv_cq, &wc, 1) == 1) {
		if (wc.status != IW_WC_SUCCESS)
			continue;
		echo(v, wc.flags & IW_WC_WITH_IMM ? wc.imm_data : 0);
		if (!sink_post(&v->peer, iw_qp_context(wc.qp), (uint32_t)wc.wr_id))
			return;
	}
}

/* The requests of this end, once all connections are there. */
static void
send_too(struct server *v)
{
	if (!v->sending && v->peer.up == v->peer.qps)
		v->sending = outflow_begin(&v->out, &v->peer, v->o.size, v->o.iters ? v->o.iters : UINT64_MAX);
	if (v->sending && v->stopped)
		outflow_stop(&v->out);
	if (v->sending)
		outflow_turn(&v->out);
}

static void
serve(struct server *v)
{
	bool takes = perf_takes_recv(v->o.verb);

	if (v->o.test == PERF_LAT && takes)
		answer_message(v);
	else if (v->o.test == PERF_LAT && v->o.verb == PERF_WRITE)
		answer_write(v);
	else if (takes)
		sink_turn(&v->peer);
	if (v->o.both_ways)
		send_too(v);
	if (v->stopped && (!v->o.both_ways || (v->sending && outflow_is_over(&v->out))))
		end_run(v);
}

struct server *
server_create(const struct options *o, const struct host *host)
{
	struct server *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->o = *o;
	v->idle_us = o->host.idle_us;
	v->addr = o->host.ip;
	v->addr.port = o->peer.port;
	if (peer_init(&v->peer, &v->o, host->domain, host->engine) && listen_for(v, 1))
		return v;
	server_destroy(v);
	return NULL;
}

void
server_destroy(struct server *v)
{
	if (!v)
		return;
	for (uint32_t i = 0; i < v->n_listeners; i++)
		iw_cm_destroy(v->peer.engine, v->listeners[i]);
	outflow_end(&v->out);
	peer_fini(&v->peer);
	free(v);
}

void
server_stop(struct server *v)
{
	__atomic_store_n(&v->asked_to_stop, true, __ATOMIC_RELAXED);
}

void
server_turn(struct server *v)
{
	struct peer *p = &v->peer;

	/* Nothing comes but by a poll that did something. */
	if (host_turn(&v->o.host, p->engine, !v->sending) == 0 && !v->sending)
		return;
	while (p->control.up && peer_take_record(p))
		take_record(v);
	if (v->running)
		serve(v);
}

int
server_run(struct server *v)
{
	struct peer *p = &v->peer;

	while (!cli_stopped() && !p->failed && !p->lost && !__atomic_load_n(&v->asked_to_stop, __ATOMIC_RELAXED))
		server_turn(v);
	peer_hang_up(p);
	return p->failed || p->control.status != 0;
}
