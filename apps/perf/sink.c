/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink.h"

#include <endian.h>

bool
sink_post(struct peer *p, struct link *l, uint32_t in)
{
	struct iw_sge sge = {(uintptr_t)peer_in(p, in), p->size, iw_mr_lkey(p->mr)};
	struct iw_recv_wr wr = {.wr_id = in, .sg_list = &sge, .num_sge = 1};
	int err = p->srq ? iw_post_srq_recv(p->srq, &wr, NULL) : iw_post_recv(l->qp, &wr, NULL);

	return err == 0 || peer_fail(p, "a receive cannot be posted", err);
}

/* Counts in all of the connection's life: one that comes late does no harm. */
static void
tell(struct peer *p, struct link *l)
{
	uint64_t credit = htobe64(l->reposted);
	struct iw_sge sge = {(uintptr_t)&credit, sizeof(credit), 0};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = IW_WR_RDMA_WRITE,
				.flags = IW_SEND_INLINE,
				.remote_addr = p->theirs.credit_addr + sizeof(credit) * l->number,
				.rkey = p->theirs.rkey};

	if (iw_post_send(l->qp, &wr, NULL) == 0) /* else with the next one */
		l->told = l->reposted;
}

static bool
take(struct peer *p, const struct iw_wc *wc)
{
	struct link *l = iw_qp_context(wc->qp);

	if (wc->status == IW_WC_WR_FLUSH_ERR)
		return true;
	if (wc->status != IW_WC_SUCCESS)
		return peer_fail_wc(p, wc);
	if (!sink_post(p, l, (uint32_t)wc->wr_id))
		return false;
	l->reposted++;
	if (l->reposted - l->told >= p->o->rx_depth / 4)
		tell(p, l);
	return true;
}

bool
sink_turn(struct peer *p)
{
	struct iw_wc wc[32];
	int n;

	do {
		n = iw_cq_poll(p->recv_cq, wc, 32);
		for (int i = 0; i < n; i++)
			if (!take(p, &wc[i]))
				return false;
	} while (n == 32);
	return true;
}

uint64_t
sink_credit(const struct peer *p, const struct link *l)
{
	uint64_t told = be64toh(*(volatile uint64_t *)peer_credit(p, l->number));

	return p->o->rx_depth + told - l->sent;
}
