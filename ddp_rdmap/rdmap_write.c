/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA Write (RFC 5040 §5.1). */
#include "ddp_rx.h"
#include "ddp_tx.h"
#include "rdmap_ctx.h"
#include "rdmap_loan.h"
#include "rdmap_rx.h"
#include "rdmap_train.h"
#include "rdmap_tx.h"
#include "rdmap_verbs.h"

#define EMPTY_STAG 1 /* what siw names in a Write of nothing; nobody checks it */

enum rdmap_fault
rdmap_write_rx(struct iw_qp *qp, struct mpa_fpdu *f)
{
	enum rdmap_fault fault = rdmap_tagged_turn(qp, &f->ddp);
	struct ddp_place place;

	if (fault != RDMAP_FAULT_NONE)
		return fault;
	if (ddp_rx_payload_len(f) == 0) { /* D7: STag and TO of nothing are not looked at */
		if (!f->ddp.last)
			rdmap_rx_empty(qp);
		return RDMAP_FAULT_NONE;
	}
	fault = ddp_rx_tagged(&qp->user, f, &place);
	if (fault == RDMAP_FAULT_NONE)
		ddp_rx_copy(f, &place);
	return fault;
}

bool
rdmap_write_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr)
{
	uint32_t len = ddp_tx_part(b, DDP_HDR_TAGGED_LEN, wr->length - qp->tx.done);
	struct wr_piece pieces[WR_PIECES];
	struct ddp_hdr h;
	uint32_t n;

	if (len == DDP_TX_NO_ROOM || !rdmap_tx_cut(qp, wr, len, pieces, &n))
		return false;
	h = ddp_hdr_tagged(RDMAP_OP_WRITE, qp->tx.done + len == wr->length, wr->remote_stag,
			   wr->remote_addr + qp->tx.done);
	if (!rdmap_loan_may(qp, len) || !rdmap_loan_tx(qp, b, wr, &h, pieces, n, len))
		ddp_tx_segment(b, &h, pieces, n, len);
	qp->tx.done += len;
	if (!h.last)
		rdmap_train_begin(qp, b, &h, len);
	else if (wr->opcode == IW_WR_RDMA_WRITE_IMM)
		qp->tx.imm_due = true;
	else
		rdmap_tx_sent(qp, wr);
	return true;
}

bool
rdmap_write_empty_tx(struct mpa_tx *b)
{
	struct ddp_hdr h = ddp_hdr_tagged(RDMAP_OP_WRITE, true, EMPTY_STAG, 0);

	if (ddp_tx_part(b, DDP_HDR_TAGGED_LEN, 0) == DDP_TX_NO_ROOM)
		return false;
	ddp_tx_segment(b, &h, NULL, 0, 0);
	return true;
}
