/* SPDX-License-Identifier: BSD-3-Clause */
/* The four Sends (RFC 5040 §5.3). */
#include "ddp_rx.h"
#include "ddp_tx.h"
#include "qp_wc.h"
#include "rdmap_ctx.h"
#include "rdmap_face.h"
#include "rdmap_loan.h"
#include "rdmap_recv.h"
#include "rdmap_rx.h"
#include "rdmap_train.h"
#include "rdmap_tx.h"
#include "rdmap_verbs.h"
#include "wr_kind.h"

/* The RTR of RFC 6581 is taken from the stream without one of the user's receives (M20). */
static bool
is_rtr(const struct iw_qp *qp, const struct mpa_fpdu *f)
{
	return qp->rx_fpdus == 0 && !qp->initiator && qp->rtr == QP_RTR_SEND && f->ddp.opcode == RDMAP_OP_SEND &&
	       f->ddp.last && ddp_rx_payload_len(f) == 0;
}

/* R10.  The message is in place already; its receive completes in error when this fails. */
static enum rdmap_fault
invalidate(struct iw_qp *qp, uint32_t stag)
{
	switch (mr_invalidate(&qp->user, stag)) {
	case MR_OK:
		return RDMAP_FAULT_NONE;
	case MR_STREAM:
		qp->rq_status = IW_WC_LOC_QP_OP_ERR;
		return RDMAP_FAULT_INV_STREAM;
	case MR_STAG:
	case MR_ACCESS:
	case MR_WRAP:
	case MR_BOUNDS:
		break;
	}
	qp->rq_status = IW_WC_LOC_QP_OP_ERR;
	return RDMAP_FAULT_INV_STAG;
}

/* The last segment is in place: the receive completes. */
static enum rdmap_fault
deliver(struct iw_qp *qp, const struct mpa_fpdu *f, uint32_t len)
{
	const struct rdmap_op *op = rdmap_ops_get(f->ddp.opcode);
	struct iw_wc wc = {.byte_len = len, .flags = op->solicited ? IW_WC_SOLICITED : 0};

	if (op->invalidates) {
		enum rdmap_fault fault = invalidate(qp, f->ddp.stag);

		if (fault != RDMAP_FAULT_NONE)
			return fault;
		wc.flags |= IW_WC_WITH_INV;
		wc.invalidated_rkey = f->ddp.stag;
	}
	qp_wc_recv(qp, &wc);
	qp->recv_cur = (struct wr_cursor){.sge = 0};
	return RDMAP_FAULT_NONE;
}

/* Finds room in the first receive for len octets at offset mo (D12), all of it checked. */
static enum rdmap_fault
place_in(struct iw_qp *qp, const struct wr_recv *wr, uint32_t mo, uint32_t len, struct ddp_place *place)
{
	place->n = 0;
	if (mo > wr->length || len > wr->length - mo) {
		qp->rq_status = IW_WC_LOC_LEN_ERR;
		return RDMAP_FAULT_DDP_U_TOO_LONG;
	}
	if (wr_cut(&qp->user, wr->sge, wr->num_sge, &qp->recv_cur, len, IW_LOCAL_WRITE, place->piece, &place->n) ==
	    MR_OK)
		return RDMAP_FAULT_NONE;
	qp->rdmap->count.n.local_errors++;
	qp->rq_status = IW_WC_LOC_PROT_ERR;
	return RDMAP_FAULT_RDMAP_LOCAL;
}

enum rdmap_fault
rdmap_send_rx(struct iw_qp *qp, struct mpa_fpdu *f)
{
	struct ddp_queue *q = &qp->queue[RDMAP_QN_SEND];
	enum rdmap_fault fault = ddp_queue_check(q, &f->ddp);
	uint32_t len = ddp_rx_payload_len(f);
	struct ddp_place place;

	if (fault != RDMAP_FAULT_NONE)
		return fault;
	if (is_rtr(qp, f)) {
		ddp_queue_advance(q, &f->ddp, 0);
		return RDMAP_FAULT_NONE;
	}
	if (!rdmap_recv_ready(qp))
		return rdmap_recv_missing(qp, f);
	fault = place_in(qp, wr_rq_at(qp->rq, qp->rq->ring.tail), q->mo, len, &place);
	if (fault != RDMAP_FAULT_NONE)
		return fault;
	ddp_rx_copy(f, &place);
	if (len == 0 && !f->ddp.last)
		rdmap_rx_empty(qp);
	if (f->ddp.last)
		fault = deliver(qp, f, q->mo + len);
	ddp_queue_advance(q, &f->ddp, len);
	return fault;
}

bool
rdmap_send_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr)
{
	uint32_t len = ddp_tx_part(b, DDP_HDR_UNTAGGED_LEN, wr->length - qp->tx.done);
	const struct wr_kind *k = wr_kind_get(wr->opcode);
	struct wr_piece pieces[WR_PIECES];
	struct ddp_hdr h;
	uint32_t n;

	if (len == DDP_TX_NO_ROOM || !rdmap_tx_cut(qp, wr, len, pieces, &n))
		return false;
	h = ddp_hdr_untagged(wr->flags & IW_SEND_SOLICITED ? k->wire_se : k->wire, qp->tx.done + len == wr->length,
			     k->inv == WR_INV_PEER ? wr->remote_stag : 0, RDMAP_QN_SEND, qp->tx.send_msn, qp->tx.done);
	if (!rdmap_loan_may(qp, len) || !rdmap_loan_tx(qp, b, wr, &h, pieces, n, len))
		ddp_tx_segment(b, &h, pieces, n, len);
	qp->tx.done += len;
	if (h.last) {
		qp->tx.send_msn++;
		rdmap_tx_sent(qp, wr);
	} else {
		rdmap_train_begin(qp, b, &h, len);
	}
	return true;
}

bool
rdmap_send_rtr_tx(struct iw_qp *qp, struct mpa_tx *b)
{
	struct ddp_hdr h = ddp_hdr_untagged(RDMAP_OP_SEND, true, 0, RDMAP_QN_SEND, qp->tx.send_msn, 0);

	if (ddp_tx_part(b, DDP_HDR_UNTAGGED_LEN, 0) == DDP_TX_NO_ROOM)
		return false;
	qp->tx.send_msn++;
	ddp_tx_segment(b, &h, NULL, 0, 0);
	return true;
}
