/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_rx.h"

#include "ddp_rx.h"
#include "qp.h"
#include "rdmap_ctx.h"
#include "rdmap_verbs.h"

/* Shorter FPDUs bring less than what they cost. */
#define SMALL 64

/* By opcode (rdmap_ops.def); the ones that are not known were refused with the header. */
static enum rdmap_fault
dispatch(struct iw_qp *qp, struct mpa_fpdu *f)
{
	switch (f->ddp.opcode) {
	case RDMAP_OP_WRITE:
		return rdmap_write_rx(qp, f);
	case RDMAP_OP_READ_RESP:
		return rdmap_read_resp_rx(qp, f);
	case RDMAP_OP_READ_REQ:
		return rdmap_read_req_rx(qp, f);
	case RDMAP_OP_SEND:
	case RDMAP_OP_SEND_INV:
	case RDMAP_OP_SEND_SE:
	case RDMAP_OP_SEND_SE_INV:
		return rdmap_send_rx(qp, f);
	case RDMAP_OP_IMM:
	case RDMAP_OP_IMM_SE:
		return rdmap_imm_rx(qp, f);
	case RDMAP_OP_ATOMIC_REQ:
		return rdmap_atomic_req_rx(qp, f);
	case RDMAP_OP_ATOMIC_RESP:
		return rdmap_atomic_resp_rx(qp, f);
	default:
		return RDMAP_FAULT_RDMAP_OPCODE;
	}
}

/* What a Terminate about this segment quotes: its header if there was one, and the Read Request if it is one.  As they
 * were parsed: octets of a packet are read once (X9). */
static void
fail(struct iw_qp *qp, const struct mpa_fpdu *f, enum rdmap_fault fault)
{
	qp_fault(qp, fault, &f->ddp, (uint16_t)f->ulpdu_len, f->has_read ? &f->read : NULL);
}

/* The peer's first FPDU, taken or waiting for a receive: it is awake. */
static void
begin(struct iw_qp *qp)
{
	if (qp->rx_begun)
		return;
	qp->rx_begun = true;
	qp->tx.nudge_due = false;
	qp_event(qp, QP_EV_FPDU);
}

static void
count(struct iw_qp *qp, const struct mpa_fpdu *f)
{
	qp->rdmap->count.n.rx_fpdus++;
	qp->rdmap->count.n.rx_octets += f->ulpdu_len;
	qp->rx_fpdus += qp->rx_fpdus < UINT32_MAX;
	qp->rx_small += f->ulpdu_len < SMALL && qp->rx_small < UINT16_MAX;
	begin(qp);
}

void
rdmap_rx_empty(struct iw_qp *qp)
{
	qp->rdmap->count.n.rx_empty_segments++;
}

void
rdmap_rx(struct iw_qp *qp, struct mpa_fpdu *f)
{
	enum rdmap_fault fault = ddp_rx_header(f);

	f->has_read = false;
	if (fault == RDMAP_FAULT_MPA_LENGTH) {
		qp_fault(qp, fault, NULL, 0, NULL);
		return;
	}
	if (fault == RDMAP_FAULT_NONE && f->ddp.opcode == RDMAP_OP_TERMINATE) {
		count(qp, f);
		rdmap_term_rx(qp, f);
		return;
	}
	if (fault == RDMAP_FAULT_NONE)
		fault = dispatch(qp, f);
	if (fault != RDMAP_FAULT_NONE)
		fail(qp, f, fault);
	else if (f->wait)
		begin(qp);
	else
		count(qp, f);
}
