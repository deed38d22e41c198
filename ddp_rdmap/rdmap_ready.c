/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_ready.h"

#include "wr_kind.h"

const struct wr_send *
rdmap_ready_next(const struct iw_qp *qp)
{
	const struct wr_sq *sq = qp->sq;
	uint16_t reads = qp_fifo_count(&qp->reads_pos);
	const struct wr_send *wr;

	if (!wr_sq_has_unsent(sq))
		return NULL;
	wr = wr_sq_at(sq, sq->sent);
	if ((wr->flags & IW_SEND_FENCE && reads > 0) || (wr->flags & IW_SEND_LOCAL_FENCE && sq->ring.tail != sq->sent))
		return NULL;
	return wr_kind_get(wr->opcode)->asks && reads >= qp->ord ? NULL : wr;
}

bool
rdmap_ready_wire(const struct iw_qp *qp)
{
	const struct wr_send *wr = rdmap_ready_next(qp);

	return wr && !wr_kind_is_local(wr->opcode);
}

bool
rdmap_ready_local(const struct iw_qp *qp)
{
	const struct wr_send *wr;

	if (!qp_fsm_sends(qp->fsm.state) && qp->fsm.state != QP_FSM_HELD)
		return false;
	if (qp->tx.kind == QP_TX_SQ)
		return false; /* the one at the send index is under way */
	wr = rdmap_ready_next(qp);
	return wr && wr_kind_is_local(wr->opcode);
}
