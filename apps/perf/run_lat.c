/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency: one message at a time, there and back.  One time stamp for each, when its answer is there; what is to be
 * kept of the one before is done while the next is under way. */
#include <rte_cycles.h>
#include <string.h>

#include "cli.h"
#include "outflow.h"
#include "run.h"
#include "sink.h"

#define SIGNAL 8 /* every so many messages of a QP one completion, which frees their places in its queue */

struct lat {
	struct peer *p;
	struct peer_turn turn;
	struct link *owes; /* a receive of the message before; NULL: nothing */
	struct iw_sge sge;
	struct iw_send_wr wr;
	uint64_t begin, stamp, sample; /* TSC; sample: of the last round trip, not yet kept; 0: none */
	double ns_per_cycle;
	bool by_recv, by_completion; /* the answer; else the last octet that changes */
	struct report_lat *row;
};

static void
prepare(struct lat *t, uint32_t size)
{
	const struct options *o = t->p->o;

	t->by_recv = perf_takes_recv(o->verb);
	t->by_completion = o->verb == PERF_READ || o->verb == PERF_ATOMIC;
	t->sge = (struct iw_sge){.length = size, .lkey = iw_mr_lkey(t->p->mr)};
	t->wr = outflow_request(t->p, &t->sge);
	if (!t->by_completion && size <= o->inline_size)
		t->wr.flags = IW_SEND_INLINE;
	for (uint32_t q = 0; q < t->p->qps; q++)
		*peer_last_in(t->p, q, size) = 0;
	t->turn = PEER_FIRST_TURN;
}

static bool
keep(struct lat *t)
{
	double ns = (double)t->sample * t->ns_per_cycle;
	struct iw_wc wc;

	if (t->sample) {
		hist_add(&t->row->hist, (uint64_t)ns);
		t->row->squares += ns * ns;
	}
	t->sample = 0;
	if (t->owes && !sink_post(t->p, t->owes, t->owes->number))
		return false;
	t->owes = NULL;
	while (!t->by_completion && iw_cq_poll(t->p->send_cq, &wc, 1) == 1)
		if (wc.status != IW_WC_SUCCESS)
			return peer_fail_wc(t->p, &wc);
	return true;
}

/* The immediate data is the message's number, and comes back. */
static bool
has_number(const struct lat *t, const struct iw_wc *wc)
{
	return wc->flags & IW_WC_WITH_IMM && wc->imm_data == t->wr.imm_data;
}

static bool
came(struct lat *t, struct iw_cq *cq, bool *yes)
{
	struct iw_wc wc;

	*yes = iw_cq_poll(cq, &wc, 1) == 1;
	if (*yes && wc.status != IW_WC_SUCCESS)
		return peer_fail_wc(t->p, &wc);
	if (*yes && t->p->o->verb == PERF_WRITE_IMM && !has_number(t, &wc))
		return peer_fail(t->p, "the immediate data is that of another message", -IW_E_PROTO);
	return true;
}

/* Polls until the answer to the message of this turn is there. */
static bool
await(struct lat *t)
{
	const volatile uint8_t *last_in = peer_last_in(t->p, t->turn.qp, t->sge.length);
	struct iw_cq *cq = t->by_recv ? t->p->recv_cq : t->p->send_cq;
	bool yes = false, octet = !t->by_recv && !t->by_completion;

	while (peer_alive(t->p)) {
		if (octet)
			yes = *last_in == t->turn.octet;
		else if (!came(t, cq, &yes))
			return false;
		if (yes)
			return true;
		/* Only then there can be more. */
		while (host_turn(&t->p->o->host, t->p->engine, true) == 0 && peer_alive(t->p))
			;
	}
	return false;
}

/* Message n, on the QP whose turn it is. */
static int
post(struct lat *t, uint64_t n)
{
	uint32_t qp = t->turn.qp;

	if (t->by_completion || t->turn.octet % SIGNAL == 0)
		t->wr.flags |= IW_SEND_SIGNALED;
	else
		t->wr.flags &= (uint8_t)~IW_SEND_SIGNALED;
	t->sge.addr = (uintptr_t)peer_out(t->p, qp);
	t->wr.remote_addr = t->p->theirs.in_addr + peer_offset(t->p, qp);
	*peer_last_out(t->p, qp, t->sge.length) = t->turn.octet;
	outflow_number(&t->wr, (n - 1) / t->p->qps);
	if (t->p->o->verb == PERF_WRITE_IMM)
		t->wr.imm_data = n;
	return iw_post_send(t->p->links[qp].qp, &t->wr, NULL);
}

static bool
round_trip(struct lat *t, uint64_t n)
{
	int err = post(t, n);
	uint64_t now;

	if (err)
		return peer_fail(t->p, "a request cannot be posted", err);
	iw_engine_poll(t->p->engine);
	if (!keep(t) || !await(t))
		return false;
	now = rte_rdtsc();
	t->sample = now - t->stamp;
	t->stamp = now;
	t->owes = t->by_recv ? &t->p->links[t->turn.qp] : NULL;
	peer_next_turn(t->p, &t->turn);
	return true;
}

bool
run_lat(struct peer *p, uint32_t size, uint64_t iters, struct report_lat *row)
{
	struct lat t = {.p = p, .row = row, .ns_per_cycle = 1e9 / (double)rte_get_tsc_hz()};
	uint64_t n = 0, end, theirs;

	row->size = size;
	row->squares = 0;
	hist_init(&row->hist);
	prepare(&t, size);
	t.begin = t.stamp = rte_rdtsc();
	end = iters ? UINT64_MAX : t.begin + (uint64_t)((double)rte_get_tsc_hz() * p->o->seconds);
	while (iters ? n < iters : t.stamp < end)
		if (!round_trip(&t, ++n))
			return false;
	row->cycles = (double)(t.stamp - t.begin);
	row->seconds = row->cycles * t.ns_per_cycle / 1e9;
	return keep(&t) && run_finish(p, size, n, &theirs);
}
