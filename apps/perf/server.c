/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "peer.h"

#define SPARE 16
#define GOODBYE_NS UINT64_C(3000000000)

struct server {
	struct peer peer;
	struct options o; /* the client's, as far as they concern both */
	iw_cm_id listener;
	bool running;    /* a RUN record was answered */
	uint64_t echoed; /* latency: messages answered in this run */
	uint64_t reposted[PERF_MAX_QPS], told[PERF_MAX_QPS];
};

static bool
post_recv(struct server *v, uint32_t q)
{
	struct peer *p = &v->peer;
	struct iw_sge sge = {(uintptr_t)peer_in(p, q), p->size, iw_mr_lkey(p->mr)};
	struct iw_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
	int err = iw_post_recv(p->links[1 + q].qp, &wr, NULL);

	return err == 0 || peer_fail(p, "a receive cannot be posted", err);
}

static bool
make_data_link(struct server *v, uint32_t i)
{
	if (!v->running || i > v->peer.qps || v->peer.links[i].qp)
		return false;
	if (!peer_make_link(&v->peer, i, v->o.tx_depth + SPARE, v->o.rx_depth))
		return false;
	for (uint32_t k = 0; v->o.verb == PERF_SEND && k < v->o.rx_depth; k++)
		if (!post_recv(v, i - 1))
			return false;
	return true;
}

static int
accept_link(struct server *v, iw_cm_id id, const struct iw_cm_event *event)
{
	uint32_t i = event->private_len >= 1 ? *(const uint8_t *)event->private_data : UINT32_MAX;
	struct iw_cm_attr attr = {.no_crc = v->o.no_crc};
	struct link *l;

	if (i > PERF_MAX_QPS || v->peer.links[i].id)
		return -1;
	if (i == 0 ? !peer_make_link(&v->peer, 0, SPARE, SPARE) : !make_data_link(v, i))
		return -1;
	l = &v->peer.links[i];
	if (iw_cm_accept(v->peer.engine, id, l->qp, &attr) != 0)
		return -1;
	l->id = id;
	return 0;
}

static struct link *
link_of(struct server *v, iw_cm_id id)
{
	for (uint32_t i = 0; i <= PERF_MAX_QPS; i++)
		if (v->peer.links[i].id == id)
			return &v->peer.links[i];
	return NULL;
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct server *v = context;
	struct link *l;

	if (event->type == IW_CM_CONNECT_REQUEST)
		return accept_link(v, id, event);
	l = link_of(v, id);
	if (!l)
		return 0;
	if (event->type == IW_CM_ESTABLISHED_EV)
		l->up = true;
	if (event->type == IW_CM_CLOSE) {
		l->ended = true;
		l->status = event->status;
	}
	return 0;
}

static bool
is_sane(const struct record *r)
{
	return r->kind == RECORD_RUN && r->verb <= PERF_SEND && r->test <= PERF_LAT && r->size >= 1 &&
	       r->size <= PERF_MAX_SIZE && r->qps >= 1 && r->qps <= PERF_MAX_QPS && r->tx_depth >= 1 &&
	       r->tx_depth <= 16384 && r->rx_depth >= 1 && r->rx_depth <= 16384 && r->inline_size <= IW_MAX_INLINE;
}

static void
take_options(struct options *o, const struct record *r)
{
	o->verb = (enum perf_verb)r->verb;
	o->test = (enum perf_test)r->test;
	o->tx_depth = r->tx_depth;
	o->rx_depth = r->rx_depth;
	o->inline_size = r->inline_size;
	o->qps = r->qps;
	o->iters = r->iters;
	o->size = r->size;
}

/* A new run: its memory, and the answer. */
/* What a run needs is there: the memory of the first run, which must not change hands while QPs use it. */
static bool
can_run(struct server *v, const struct record *r)
{
	if (!is_sane(r))
		return false;
	if (v->running)
		return r->size <= v->peer.size && r->qps == v->o.qps && r->verb == (uint8_t)v->o.verb &&
		       r->test == (uint8_t)v->o.test;
	v->peer.qps = r->qps;
	return peer_make_memory(&v->peer, r->size);
}

/* A new run, and the answer. */
static void
begin_run(struct server *v)
{
	const struct record *r = &v->peer.theirs;
	struct record answer = {.kind = can_run(v, r) ? RECORD_READY : RECORD_REFUSED, .size = r->size};

	if (answer.kind == RECORD_READY) {
		take_options(&v->o, r);
		v->running = true;
		v->echoed = 0;
		memset(v->reposted, 0, sizeof(v->reposted));
		memset(v->told, 0, sizeof(v->told));
		peer_in(&v->peer, 0)[r->size - 1] = 0;
	}
	peer_send_record(&v->peer, &answer);
}

/* Tells the client how many receives were posted again, so that it never sends without one. */
static void
tell_credit(struct server *v, uint32_t q)
{
	struct peer *p = &v->peer;
	uint64_t *credit = peer_credit(p, q);
	struct iw_sge sge = {(uintptr_t)credit, sizeof(*credit), iw_mr_lkey(p->mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = IW_WR_RDMA_WRITE,
				.flags = IW_SEND_INLINE,
				.remote_addr = p->theirs.credit_addr + sizeof(*credit) * q,
				.rkey = p->theirs.rkey};

	*credit = htobe64(v->reposted[q]);
	if (iw_post_send(p->links[1 + q].qp, &wr, NULL) == 0)
		v->told[q] = v->reposted[q];
}

static bool
sink_sends(struct server *v, uint32_t q)
{
	struct iw_wc wc[32];
	int n = iw_cq_poll(v->peer.links[1 + q].recv_cq, wc, 32);

	for (int i = 0; i < n; i++) {
		if (wc[i].status == IW_WC_WR_FLUSH_ERR)
			continue;
		if (wc[i].status != IW_WC_SUCCESS)
			return peer_fail_wc(&v->peer, &wc[i]);
		if (!post_recv(v, q))
			return false;
		v->reposted[q]++;
	}
	if (v->reposted[q] - v->told[q] >= v->o.rx_depth / 4)
		tell_credit(v, q);
	return true;
}

static void
echo(struct server *v, uint8_t opcode)
{
	struct peer *p = &v->peer;
	struct iw_sge sge = {(uintptr_t)peer_out(p, 0), v->o.size, iw_mr_lkey(p->mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.remote_addr = p->theirs.in_addr,
				.rkey = p->theirs.rkey};
	int err;

	v->echoed++;
	peer_out(p, 0)[v->o.size - 1] = (uint8_t)v->echoed;
	if (v->o.size <= v->o.inline_size)
		wr.flags |= IW_SEND_INLINE;
	err = iw_post_send(p->links[1].qp, &wr, NULL);
	if (err)
		peer_fail(p, "an answer cannot be posted", err);
}

static void
answer_write(struct server *v)
{
	volatile uint8_t *last = peer_in(&v->peer, 0) + v->o.size - 1;

	if (v->echoed < v->o.iters && *last == (uint8_t)(v->echoed + 1))
		echo(v, IW_WR_RDMA_WRITE);
}

static void
answer_send(struct server *v)
{
	struct iw_wc wc;

	while (iw_cq_poll(v->peer.links[1].recv_cq, &wc, 1) == 1) {
		if (wc.status != IW_WC_SUCCESS)
			continue;
		if (!post_recv(v, 0))
			return;
		echo(v, IW_WR_SEND);
	}
}

static void
serve(struct server *v)
{
	if (v->o.test == PERF_BW) {
		for (uint32_t q = 0; v->o.verb == PERF_SEND && q < v->peer.qps; q++)
			if (v->peer.links[1 + q].up && !sink_sends(v, q))
				return;
	} else if (v->peer.links[1].up) {
		if (v->o.verb == PERF_WRITE)
			answer_write(v);
		else if (v->o.verb == PERF_SEND)
			answer_send(v);
	}
}

struct server *
server_create(const struct options *o, const struct host *host)
{
	struct server *v = calloc(1, sizeof(*v));
	struct iw_addr addr = host->engine ? o->host.ip : (struct iw_addr){.scope = 0};
	int err;

	if (!v)
		return NULL;
	v->o = *o;
	addr.port = o->peer.port;
	if (!peer_init(&v->peer, &v->o, host->domain, host->engine)) {
		server_destroy(v);
		return NULL;
	}
	v->listener = iw_cm_create(host->engine, on_event, v);
	err = v->listener ? iw_cm_listen(host->engine, v->listener, &addr, PERF_MAX_QPS + 1) : -IW_E_NOMEM;
	if (err == 0)
		return v;
	cli_fail("cannot listen on port %u: %s", addr.port, iw_err_text(err));
	server_destroy(v);
	return NULL;
}

void
server_destroy(struct server *v)
{
	if (!v)
		return;
	if (v->listener)
		iw_cm_destroy(v->peer.engine, v->listener);
	peer_fini(&v->peer);
	free(v);
}

static bool
all_ended(const struct server *v)
{
	for (uint32_t i = 0; i <= PERF_MAX_QPS; i++)
		if (v->peer.links[i].id && !v->peer.links[i].ended)
			return false;
	return true;
}

static void
hang_up(struct server *v)
{
	uint64_t end = iw_engine_now(v->peer.engine) + GOODBYE_NS;

	for (uint32_t i = 0; i <= PERF_MAX_QPS; i++)
		if (v->peer.links[i].id && !v->peer.links[i].ended)
			iw_cm_disconnect(v->peer.engine, v->peer.links[i].id, false);
	while (!all_ended(v) && iw_engine_now(v->peer.engine) < end)
		iw_engine_poll(v->peer.engine);
}

int
server_run(struct server *v)
{
	while (!cli_stopped() && !v->peer.failed && !v->peer.links[0].ended) {
		iw_engine_poll(v->peer.engine);
		if (v->peer.links[0].up && peer_take_record(&v->peer))
			begin_run(v);
		if (v->running)
			serve(v);
	}
	hang_up(v);
	return v->peer.failed || v->peer.links[0].status != 0;
}
