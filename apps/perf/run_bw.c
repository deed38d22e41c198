/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth: keep tx_depth requests under way; the clock stops when a zero-length Read behind the last request has
 * come back, so that nothing still under way is counted. */
#include <endian.h>
#include <math.h>
#include <rte_cycles.h>

#include "cli.h"
#include "run.h"

#define PEAK_WINDOWS 20 /* the peak is the best of windows of so many parts of the run */
#define LAST_READ UINT64_MAX

struct flow {
	uint64_t posted, done;
	bool closed; /* the zero-length Read is back */
};

struct bw {
	struct peer *p;
	uint32_t size;
	uint64_t target, end_ns; /* of each QP; end_ns: with a duration */
	struct flow flow[PERF_MAX_QPS];
	uint64_t window, window_done, window_ns;
	double peak;
};

bool
run_alive(const struct peer *p)
{
	for (uint32_t i = 0; i <= p->qps; i++)
		if (p->links[i].ended)
			return false;
	return !p->failed && !cli_stopped();
}

static uint64_t
may_post(const struct bw *b, uint32_t q)
{
	const struct flow *f = &b->flow[q];
	const struct options *o = b->p->o;
	uint64_t room = o->tx_depth - (f->posted - f->done), left = b->target - f->posted;

	if (o->verb == PERF_SEND) {
		uint64_t granted = o->rx_depth + be64toh(*(volatile uint64_t *)peer_credit(b->p, q));

		if (granted - f->posted < room)
			room = granted - f->posted;
	}
	return room < left ? room : left;
}

static void
fill_request(const struct bw *b, uint32_t q, uint64_t index, struct iw_send_wr *wr, const struct iw_sge *sge)
{
	static const uint8_t opcodes[] = {IW_WR_RDMA_WRITE, IW_WR_RDMA_READ, IW_WR_SEND};
	const struct record *r = &b->p->theirs;

	*wr = (struct iw_send_wr){.wr_id = index, .sg_list = sge, .num_sge = 1, .opcode = opcodes[b->p->o->verb]};
	if (index % b->p->o->cq_mod == 0 || index == b->target)
		wr->flags |= IW_SEND_SIGNALED;
	if (wr->opcode != IW_WR_RDMA_READ && b->size <= b->p->o->inline_size)
		wr->flags |= IW_SEND_INLINE;
	wr->rkey = r->rkey;
	wr->remote_addr = r->in_addr + (uint64_t)(peer_in(b->p, q) - peer_in(b->p, 0));
}

static bool
post_some(struct bw *b, uint32_t q)
{
	uint32_t list = b->p->o->post_list;
	struct iw_sge sge = {(uintptr_t)peer_out(b->p, q), b->size, iw_mr_lkey(b->p->mr)};
	struct iw_send_wr wr[64];
	uint64_t n = may_post(b, q);
	int err;

	while (n > 0) {
		uint32_t part = n < list ? (uint32_t)n : list;

		for (uint32_t i = 0; i < part; i++) {
			fill_request(b, q, b->flow[q].posted + i + 1, &wr[i], &sge);
			wr[i].next = i + 1 < part ? &wr[i + 1] : NULL;
		}
		err = iw_post_send(b->p->links[1 + q].qp, wr, NULL);
		if (err)
			return peer_fail(b->p, "a request cannot be posted", err);
		b->flow[q].posted += part;
		n -= part;
	}
	return true;
}

static void
note_peak(struct bw *b)
{
	uint64_t done = 0, now;

	for (uint32_t q = 0; q < b->p->qps; q++)
		done += b->flow[q].done;
	if (done - b->window_done < b->window)
		return;
	now = iw_engine_now(b->p->engine);
	if (b->window_ns) {
		double rate = (double)(done - b->window_done) * b->size * 1e9 / (double)(now - b->window_ns);

		b->peak = rate > b->peak ? rate : b->peak;
	}
	b->window_done = done;
	b->window_ns = now;
}

static bool
reap(struct bw *b, uint32_t q)
{
	struct iw_wc wc[16];
	int n;

	while ((n = iw_cq_poll(b->p->links[1 + q].send_cq, wc, 16)) > 0)
		for (int i = 0; i < n; i++) {
			if (wc[i].status != IW_WC_SUCCESS)
				return peer_fail_wc(b->p, &wc[i]);
			if (wc[i].wr_id == LAST_READ)
				b->flow[q].closed = true;
			else
				b->flow[q].done = wc[i].wr_id;
		}
	return true;
}

static bool
post_last_read(struct bw *b, uint32_t q)
{
	struct iw_send_wr wr = {.wr_id = LAST_READ,
				.opcode = IW_WR_RDMA_READ,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = b->p->theirs.in_addr,
				.rkey = b->p->theirs.rkey};
	int err = iw_post_send(b->p->links[1 + q].qp, &wr, NULL);

	return err == 0 || peer_fail(b->p, "the last Read cannot be posted", err);
}

static bool
pump(struct bw *b)
{
	bool more = true;

	while (more && run_alive(b->p)) {
		if (b->end_ns && iw_engine_now(b->p->engine) >= b->end_ns)
			break;
		more = false;
		for (uint32_t q = 0; q < b->p->qps; q++) {
			if (!post_some(b, q) || !reap(b, q))
				return false;
			more |= b->flow[q].posted < b->target;
		}
		note_peak(b);
		iw_engine_poll(b->p->engine);
	}
	return run_alive(b->p);
}

/* Behind the last request of each QP a zero-length Read: when it is back, everything before it has arrived. */
static bool
drain(struct bw *b)
{
	uint32_t closed = 0;

	for (uint32_t q = 0; q < b->p->qps; q++)
		if (!post_last_read(b, q))
			return false;
	while (closed < b->p->qps && run_alive(b->p)) {
		iw_engine_poll(b->p->engine);
		closed = 0;
		for (uint32_t q = 0; q < b->p->qps; q++) {
			if (!reap(b, q))
				return false;
			closed += b->flow[q].closed;
		}
	}
	return closed == b->p->qps;
}

bool
run_bw(struct peer *p, uint32_t size, struct report_bw *out)
{
	const struct options *o = p->o;
	struct bw b = {.p = p, .size = size, .target = o->seconds ? UINT64_MAX : o->iters};
	uint64_t begin = iw_engine_now(p->engine), cycles = rte_rdtsc();

	b.window = o->seconds ? o->cq_mod * 10 : o->iters * p->qps / PEAK_WINDOWS + o->cq_mod;
	if (o->seconds)
		b.end_ns = begin + (uint64_t)o->seconds * UINT64_C(1000000000);
	for (uint32_t q = 0; q < p->qps; q++)
		*peer_credit(p, q) = 0;
	if (!pump(&b) || !drain(&b))
		return run_alive(p) ? peer_fail(p, "the run did not end", -IW_E_TIMEDOUT) : false;
	*out = (struct report_bw){
		.size = size, .peak = o->no_peak ? 0 : b.peak, .crc = p->crc, .roofline = out->roofline};
	out->seconds = (double)(iw_engine_now(p->engine) - begin) / 1e9;
	out->cycles = (double)(rte_rdtsc() - cycles);
	for (uint32_t q = 0; q < p->qps; q++)
		out->iters += b.flow[q].posted;
	/* A run too short for a window has its average as its peak. */
	if (!o->no_peak)
		out->peak = fmax(out->peak, (double)out->iters * size / out->seconds);
	return true;
}
