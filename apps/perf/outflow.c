/* SPDX-License-Identifier: BSD-3-Clause */
#include "outflow.h"

#include <stdlib.h>
#include <string.h>

#include "sink.h"

#define LAST_READ UINT64_MAX

static enum iw_wr_opcode
opcode_of(const struct options *o)
{
	static const enum iw_wr_opcode opcodes[PERF_VERBS] = {[PERF_WRITE] = IW_WR_RDMA_WRITE,
							      [PERF_READ] = IW_WR_RDMA_READ,
							      [PERF_SEND] = IW_WR_SEND,
							      [PERF_WRITE_IMM] = IW_WR_RDMA_WRITE_IMM,
							      [PERF_ATOMIC] = IW_WR_FETCH_ADD};

	return o->cmp_swap ? IW_WR_CMP_SWAP : opcodes[o->verb];
}

struct iw_send_wr
outflow_request(const struct peer *p, const struct iw_sge *sge)
{
	struct iw_send_wr wr = {
		.sg_list = sge, .num_sge = 1, .opcode = (uint8_t)opcode_of(p->o), .rkey = p->theirs.rkey};

	if (wr.opcode == IW_WR_CMP_SWAP)
		wr.atomic.mask = wr.atomic.compare_mask = UINT64_MAX;
	if (p->o->verb == PERF_ATOMIC)
		wr.atomic.data = 1;
	return wr;
}

void
outflow_number(struct iw_send_wr *wr, uint64_t before)
{
	if (wr->opcode != IW_WR_CMP_SWAP)
		return;
	wr->atomic.compare = before;
	wr->atomic.data = before + 1;
}

static bool
is_inline(const struct outflow *f)
{
	return f->size <= f->p->o->inline_size && f->p->o->verb != PERF_READ && f->p->o->verb != PERF_ATOMIC;
}

/* What is the same in each request stands there once. */
static void
make_requests(struct outflow *f)
{
	f->sge = (struct iw_sge){.length = f->size, .lkey = iw_mr_lkey(f->p->mr)};
	for (uint32_t i = 0; i < f->p->o->post_list; i++)
		f->wr[i] = outflow_request(f->p, &f->sge);
}

/* Messages a nanosecond. */
static double
rate_of(const struct options *o, uint32_t size)
{
	if (o->rate_units == 'p')
		return o->rate_limit / 1e9;
	return o->rate_limit * (o->rate_units == 'M' ? 1048576 : 1e9 / 8) / size / 1e9;
}

bool
outflow_begin(struct outflow *f, struct peer *p, uint32_t size, uint64_t target)
{
	memset(f, 0, sizeof(*f));
	f->p = p;
	f->size = size;
	f->target = target;
	f->waiting = malloc(p->qps * sizeof(struct link *));
	if (!f->waiting)
		return peer_fail(p, "no memory for this run", -IW_E_NOMEM);
	for (uint32_t q = 0; q < p->qps; q++) {
		struct link *l = &p->links[q];

		l->posted = l->done = 0;
		l->closed = false;
		l->waiting = true;
		f->waiting[f->n_waiting++] = l;
	}
	make_requests(f);
	f->per_ns = rate_of(p->o, size);
	if (f->per_ns > 0)
		f->start_ns = iw_engine_now(p->engine);
	return true;
}

void
outflow_end(struct outflow *f)
{
	free(f->waiting);
	f->waiting = NULL;
}

static void
wait_for_room(struct outflow *f, struct link *l)
{
	if (l->waiting)
		return;
	l->waiting = true;
	f->waiting[f->n_waiting++] = l;
}

static int
post_last_read(struct outflow *f, struct link *l)
{
	struct iw_send_wr wr = {.wr_id = LAST_READ,
				.opcode = IW_WR_RDMA_READ,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = f->p->theirs.in_addr,
				.rkey = f->p->theirs.rkey};

	return iw_post_send(l->qp, &wr, NULL);
}

/* n requests in one post. */
static int
post_list(struct outflow *f, struct link *l, uint32_t n)
{
	uint32_t mod = f->p->o->cq_mod;
	uint8_t flags = is_inline(f) ? IW_SEND_INLINE : 0;
	uint64_t to = f->p->theirs.in_addr + peer_offset(f->p, l->number), phase = l->posted % mod;

	f->sge.addr = (uintptr_t)peer_out(f->p, l->number);
	for (uint32_t i = 0; i < n; i++) {
		struct iw_send_wr *wr = &f->wr[i];
		bool last = l->posted + i + 1 == f->target;

		phase = phase + 1 == mod ? 0 : phase + 1;
		wr->wr_id = l->posted + i + 1;
		wr->flags = (uint8_t)(flags | (phase == 0 || last ? IW_SEND_SIGNALED : 0));
		wr->remote_addr = to;
		outflow_number(wr, l->posted + i);
		wr->next = i + 1 < n ? wr + 1 : NULL;
	}
	return iw_post_send(l->qp, f->wr, NULL);
}

/* How many requests may go out now; *waits: more could, with receives at the other end. */
static uint64_t
allowance(const struct outflow *f, const struct link *l, bool *waits)
{
	uint64_t room = f->p->o->tx_depth - (l->posted - l->done), left = f->target - l->posted;

	if (f->stopped)
		return 0;
	room = room < left ? room : left;
	if (perf_takes_recv(f->p->o->verb)) {
		uint64_t credit = sink_credit(f->p, l);

		*waits = credit < room;
		return credit < room ? credit : room;
	}
	return room;
}

/* How many of n the rate limit lets go in this turn. */
static uint64_t
paced(const struct outflow *f, uint64_t n, bool *waits)
{
	if (!(f->per_ns > 0) || n <= f->allowed - f->posted)
		return n;
	*waits = true;
	return f->allowed - f->posted;
}

static bool
serve(struct outflow *f, struct link *l)
{
	bool waits = false;
	uint64_t n = paced(f, allowance(f, l, &waits), &waits);
	int err = 0;

	while (n > 0 && err == 0) {
		uint32_t part = n < f->p->o->post_list ? (uint32_t)n : f->p->o->post_list;

		err = post_list(f, l, part);
		if (err)
			break;
		l->posted += part;
		l->sent += part;
		f->posted += part;
		n -= part;
	}
	if (err == 0 && (f->stopped || l->posted == f->target) && !l->closed) {
		err = post_last_read(f, l);
		l->closed = err == 0;
	}
	if (waits || err == -IW_E_NOMEM)
		wait_for_room(f, l);
	return err == 0 || err == -IW_E_NOMEM || peer_fail(f->p, "a request cannot be posted", err);
}

static bool
take(struct outflow *f, const struct iw_wc *wc)
{
	struct link *l = iw_qp_context(wc->qp);
	uint64_t upto = wc->wr_id == LAST_READ ? l->posted : wc->wr_id;

	if (wc->status != IW_WC_SUCCESS)
		return peer_fail_wc(f->p, wc);
	f->closed += wc->wr_id == LAST_READ;
	f->done += upto - l->done;
	l->done = upto;
	return wc->wr_id == LAST_READ || serve(f, l);
}

/* Each of those that wait now has its turn once; it may have to wait again. */
static bool
serve_waiting(struct outflow *f)
{
	uint32_t n = f->n_waiting;

	f->n_waiting = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct link *l = f->waiting[i];

		l->waiting = false;
		if (!serve(f, l))
			return false;
	}
	return true;
}

bool
outflow_turn(struct outflow *f)
{
	struct iw_wc wc[32];
	int n;

	if (f->per_ns > 0)
		f->allowed =
			f->p->o->burst + (uint64_t)((double)(iw_engine_now(f->p->engine) - f->start_ns) * f->per_ns);
	if (f->n_waiting && !serve_waiting(f))
		return false;
	while ((n = iw_cq_poll(f->p->send_cq, wc, 32)) > 0)
		for (int i = 0; i < n; i++)
			if (!take(f, &wc[i]))
				return false;
	return true;
}

void
outflow_stop(struct outflow *f)
{
	if (f->target != UINT64_MAX)
		return;
	f->stopped = true;
	for (uint32_t q = 0; q < f->p->qps; q++)
		wait_for_room(f, &f->p->links[q]);
}

bool
outflow_is_over(const struct outflow *f)
{
	return f->closed == f->p->qps;
}
