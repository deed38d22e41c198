/* SPDX-License-Identifier: BSD-3-Clause */
/* Immediate Data (RFC 7306 §6): eight octets that use up a receive and are handed over in its completion. */
#include "ddp_rx.h"
#include "ddp_tx.h"
#include "qp_wc.h"
#include "rdmap_recv.h"
#include "rdmap_tx.h"
#include "rdmap_verbs.h"
#include "wr_kind.h"

enum rdmap_fault
rdmap_imm_rx(struct iw_qp *qp, struct mpa_fpdu *f)
{
	struct ddp_queue *q = &qp->queue[RDMAP_QN_SEND];
	enum rdmap_fault fault = ddp_queue_check(q, &f->ddp);
	struct iw_wc wc = {.flags = IW_WC_WITH_IMM};

	if (fault != RDMAP_FAULT_NONE)
		return fault;
	if (!f->ddp.last || ddp_rx_payload_len(f) != RDMAP_HDR_IMM_LEN ||
	    !rdmap_hdr_imm_parse(f->head + f->ddp.hdr_len, f->head_len - f->ddp.hdr_len, &wc.imm_data))
		return RDMAP_FAULT_IMM_LENGTH; /* R16 */
	if (!rdmap_recv_ready(qp))
		return rdmap_recv_missing(qp, f);
	if (rdmap_ops_get(f->ddp.opcode)->solicited)
		wc.flags |= IW_WC_SOLICITED;
	ddp_queue_advance(q, &f->ddp, 0);
	qp_wc_recv(qp, &wc);
	return RDMAP_FAULT_NONE;
}

bool
rdmap_imm_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr)
{
	uint8_t opcode = wr->flags & IW_SEND_SOLICITED ? RDMAP_OP_IMM_SE : RDMAP_OP_IMM;
	uint8_t body[RDMAP_HDR_IMM_LEN];
	struct wr_piece piece = {.p = body, .len = rdmap_hdr_imm_emit(wr->imm, body, sizeof(body))};
	struct ddp_hdr h = ddp_hdr_untagged(opcode, true, 0, RDMAP_QN_SEND, qp->tx.send_msn, 0);

	if (ddp_tx_part(b, DDP_HDR_UNTAGGED_LEN, piece.len) == DDP_TX_NO_ROOM)
		return false;
	ddp_tx_segment(b, &h, &piece, 1, piece.len);
	qp->tx.send_msn++;
	qp->tx.imm_due = false;
	rdmap_tx_sent(qp, wr);
	return true;
}
