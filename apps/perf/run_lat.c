/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency: one message at a time, there and back. */
#include "run.h"

static bool
post_one(struct peer *p, uint32_t size, uint8_t opcode)
{
	struct iw_sge sge = {(uintptr_t)peer_out(p, 0), size, iw_mr_lkey(p->mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = p->theirs.in_addr,
				.rkey = p->theirs.rkey};
	int err;

	if (opcode != IW_WR_RDMA_READ && size <= p->o->inline_size)
		wr.flags |= IW_SEND_INLINE;
	err = iw_post_send(p->links[1].qp, &wr, NULL);
	return err == 0 || peer_fail(p, "a request cannot be posted", err);
}

static bool
one_completion(struct peer *p, struct iw_cq *cq, bool *came)
{
	struct iw_wc wc;

	*came = iw_cq_poll(cq, &wc, 1) == 1;
	return !*came || wc.status == IW_WC_SUCCESS || peer_fail_wc(p, &wc);
}

static bool
post_recv(struct peer *p)
{
	struct iw_sge sge = {(uintptr_t)peer_in(p, 0), p->size, iw_mr_lkey(p->mr)};
	struct iw_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
	int err = iw_post_recv(p->links[1].qp, &wr, NULL);

	return err == 0 || peer_fail(p, "a receive cannot be posted", err);
}

/* The answer to message `i`: for Writes the last octet changes, else a completion comes. */
static bool
answer_came(struct peer *p, uint32_t size, uint8_t i, bool *came)
{
	struct link *l = &p->links[1];

	switch (p->o->verb) {
	case PERF_WRITE:
		*came = *(volatile uint8_t *)(peer_in(p, 0) + size - 1) == i;
		return true;
	case PERF_READ:
		return one_completion(p, l->send_cq, came);
	case PERF_SEND:
		break;
	}
	if (!one_completion(p, l->recv_cq, came))
		return false;
	return !*came || post_recv(p);
}

static bool
round_trip(struct peer *p, uint32_t size, uint8_t i, uint64_t *ns)
{
	static const uint8_t opcodes[] = {IW_WR_RDMA_WRITE, IW_WR_RDMA_READ, IW_WR_SEND};
	uint64_t begin;
	bool came = false;

	peer_out(p, 0)[size - 1] = i;
	begin = iw_engine_now(p->engine);
	if (!post_one(p, size, opcodes[p->o->verb]))
		return false;
	while (!came && run_alive(p)) {
		iw_engine_poll(p->engine);
		if (!answer_came(p, size, i, &came))
			return false;
	}
	*ns = iw_engine_now(p->engine) - begin;
	return came;
}

static bool
drop_send_completions(struct peer *p)
{
	bool came = p->o->verb != PERF_READ;

	while (came)
		if (!one_completion(p, p->links[1].send_cq, &came))
			return false;
	return true;
}

bool
run_lat(struct peer *p, uint32_t size, struct report_lat *out)
{
	out->size = size;
	out->n = 0;
	peer_in(p, 0)[size - 1] = 0;
	while (out->n < p->o->iters) {
		if (!round_trip(p, size, (uint8_t)(out->n + 1), &out->ns[out->n]) || !drop_send_completions(p))
			return false;
		out->n++;
	}
	return true;
}
