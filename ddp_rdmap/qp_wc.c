/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_wc.h"

#include <assert.h>

#include "rdmap_ctx.h"

static uint8_t
opcode_of(const struct wr_send *wr)
{
	switch ((enum iw_wr_opcode)wr->opcode) {
	case IW_WR_SEND:
	case IW_WR_SEND_INV:
		return IW_WC_SEND;
	case IW_WR_RDMA_WRITE:
		return IW_WC_RDMA_WRITE;
	case IW_WR_RDMA_READ:
		return IW_WC_RDMA_READ;
	}
	return IW_WC_SEND;
}

/* The slot's completion, and with it the slot. */
static void
complete_send(struct iw_qp *qp, struct wr_send *wr, uint8_t status)
{
	struct iw_wc wc = {.wr_id = wr->wr_id, .qp = qp, .status = status, .opcode = opcode_of(wr)};

	if (status == IW_WC_SUCCESS && !(wr->flags & IW_SEND_SIGNALED))
		return;
	if (status == IW_WC_SUCCESS && wr->opcode == IW_WR_RDMA_READ)
		wc.byte_len = wr->length;
	wr->cq_free = cq_push(qp->sq.cq, &wc) + 1;
}

void
qp_wc_retire(struct iw_qp *qp)
{
	struct wr_sq *sq = &qp->sq;

	while (sq->ring.tail != sq->sent) {
		struct wr_send *wr = wr_sq_at(sq, sq->ring.tail);

		if (!wr->done)
			break;
		complete_send(qp, wr, IW_WC_SUCCESS);
		iw_ring_consume(&sq->ring, 1);
	}
}

void
qp_wc_recv(struct iw_qp *qp, uint32_t len, uint16_t flags, uint32_t invalidated)
{
	struct wr_recv *wr = wr_rq_at(&qp->rq, qp->rq.ring.tail);
	struct iw_wc wc = {.wr_id = wr->wr_id,
			   .qp = qp,
			   .byte_len = len,
			   .invalidated_rkey = invalidated,
			   .status = IW_WC_SUCCESS,
			   .opcode = IW_WC_RECV,
			   .flags = flags};

	assert(iw_ring_count(&qp->rq.ring) > 0);
	wr->cq_free = cq_push(qp->rq.cq, &wc) + 1;
	iw_ring_consume(&qp->rq.ring, 1);
}

void
qp_wc_flush_sq(struct iw_qp *qp)
{
	struct wr_sq *sq = &qp->sq;
	uint32_t n = iw_ring_count(&sq->ring);

	for (uint32_t i = 0; i < n; i++) {
		bool at_fault = qp->sq_status != IW_WC_SUCCESS && sq->ring.tail == qp->sq_status_pos;

		complete_send(qp, wr_sq_at(sq, sq->ring.tail), at_fault ? qp->sq_status : IW_WC_WR_FLUSH_ERR);
		iw_ring_consume(&sq->ring, 1);
	}
	sq->sent = sq->ring.tail;
	qp->tx.kind = QP_TX_NONE;
	qp->reads_pos.tail = qp->reads_pos.head;
	qp->rdmap->count.n.flushed += n;
}

void
qp_wc_flush_rq(struct iw_qp *qp)
{
	struct wr_rq *rq = &qp->rq;
	uint32_t n = iw_ring_count(&rq->ring);

	for (uint32_t i = 0; i < n; i++) {
		struct wr_recv *wr = wr_rq_at(rq, rq->ring.tail);
		struct iw_wc wc = {.wr_id = wr->wr_id,
				   .qp = qp,
				   .status = qp->rq_status != IW_WC_SUCCESS ? qp->rq_status : IW_WC_WR_FLUSH_ERR,
				   .opcode = IW_WC_RECV};

		qp->rq_status = IW_WC_SUCCESS;
		wr->cq_free = cq_push(rq->cq, &wc) + 1;
		iw_ring_consume(&rq->ring, 1);
	}
	qp->rdmap->count.n.flushed += n;
}
