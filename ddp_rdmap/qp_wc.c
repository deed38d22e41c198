/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_wc.h"

#include <assert.h>

#include "loan.h"
#include "rdmap_ctx.h"
#include "srq.h"
#include "wr_kind.h"

/* The slot's completion, and with it the slot. */
static void
complete_send(struct iw_qp *qp, struct wr_send *wr, uint8_t status)
{
	const struct wr_kind *k = wr_kind_get(wr->opcode);
	struct iw_wc wc = {.wr_id = wr->wr_id, .qp = qp, .status = status, .opcode = k->wc};

	if (status == IW_WC_SUCCESS && !(wr->flags & IW_SEND_SIGNALED))
		return;
	if (status == IW_WC_SUCCESS && k->asks)
		wc.byte_len = wr->length;
	wr->cq_free = cq_push(qp->sq->cq, &wc) + 1;
}

/* The memory of the SQ's first request, which is done, is the user's again; else rdmap_loan_tick() looks once more. */
static bool
is_back(struct iw_qp *qp, struct wr_send *wr)
{
	if (!loan_is_back(wr->loan)) {
		iw_list_add(&qp->rdmap->lenders, &qp->sq->lends);
		qp->rdmap->look_at_ns = 0;
		return false;
	}
	loan_end(wr->loan);
	wr->loan = NULL;
	return true;
}

void
qp_wc_retire(struct iw_qp *qp)
{
	struct wr_sq *sq = qp->sq;

	while (sq->ring.tail != sq->sent) {
		struct wr_send *wr = wr_sq_at(sq, sq->ring.tail);

		if (!wr->done || (wr->loan && !is_back(qp, wr)))
			break;
		complete_send(qp, wr, wr->status);
		iw_ring_consume(&sq->ring, 1);
	}
}

/* The RQ's first receive, and with it its place. */
static void
complete_recv(struct iw_qp *qp, struct iw_wc *wc)
{
	struct wr_rq *rq = qp->rq;
	struct wr_recv *wr = wr_rq_at(rq, rq->ring.tail);
	uint64_t pos;

	assert(iw_ring_count(&rq->ring) > 0);
	wc->wr_id = wr->wr_id;
	wc->qp = qp;
	wc->opcode = IW_WC_RECV;
	pos = cq_push(rq->cq, wc);
	wr->cq_free = pos + 1;
	iw_ring_consume(&rq->ring, 1);
	if (rq->shared)
		srq_completed(rq->shared, rq->cq, pos);
}

void
qp_wc_recv(struct iw_qp *qp, struct iw_wc *wc)
{
	wc->status = IW_WC_SUCCESS;
	complete_recv(qp, wc);
}

/* Whatever it had come to; not twice. */
static void
flush(struct iw_qp *qp, struct wr_send *wr, bool at_fault)
{
	uint8_t status = at_fault ? qp->sq_status : IW_WC_WR_FLUSH_ERR;

	if (wr->done && wr->status == status)
		return;
	if (!wr->done)
		wr_send_drop(wr);
	wr->done = true;
	wr->status = status;
	qp->rdmap->count.n.flushed++;
}

void
qp_wc_flush_sq(struct iw_qp *qp)
{
	struct wr_sq *sq = qp->sq;
	uint32_t n, tail;

	qp_wc_retire(qp); /* memory may be back that nobody has looked after yet */
	n = iw_ring_count(&sq->ring);
	tail = sq->ring.tail;
	for (uint32_t i = 0; i < n; i++) {
		bool at_fault = qp->sq_status != IW_WC_SUCCESS && tail + i == qp->sq_status_pos;

		flush(qp, wr_sq_at(sq, tail + i), at_fault);
	}
	sq->sent = tail + n;
	qp->tx.kind = QP_TX_NONE;
	qp->reads_pos.tail = qp->reads_pos.head;
	qp_wc_retire(qp);
}

void
qp_wc_flush_rq(struct iw_qp *qp)
{
	struct wr_rq *rq = qp->rq;
	uint32_t n = iw_ring_count(&rq->ring);

	for (uint32_t i = 0; i < n; i++) {
		struct iw_wc wc = {.status = qp->rq_status != IW_WC_SUCCESS ? qp->rq_status : IW_WC_WR_FLUSH_ERR};

		qp->rq_status = IW_WC_SUCCESS;
		complete_recv(qp, &wc);
	}
	if (rq->shared)
		srq_user_fini(rq->shared); /* it waits for nothing any more */
	qp->rdmap->count.n.flushed += n;
}
