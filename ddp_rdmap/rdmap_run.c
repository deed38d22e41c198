/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_run.h"

#include "rdmap_ctx.h"

bool
rdmap_run_sq_ready(const struct iw_qp *qp)
{
	uint16_t reads = qp_fifo_count(&qp->reads_pos);
	const struct wr_send *wr;

	if (!wr_sq_has_unsent(&qp->sq))
		return false;
	wr = wr_sq_at(&qp->sq, qp->sq.sent);
	if (wr->flags & IW_SEND_FENCE && reads > 0)
		return false;
	return wr->opcode != IW_WR_RDMA_READ || reads < qp->ord;
}

bool
rdmap_run_has_work(const struct iw_qp *qp)
{
	const struct qp_tx *tx = &qp->tx;

	if (qp->fsm.state == QP_FSM_TERMINATING)
		return true;
	if (!qp_fsm_sends(qp->fsm.state))
		return false;
	return tx->kind != QP_TX_NONE || tx->rtr_due || tx->nudge_due || qp_fifo_count(&qp->answers_pos) > 0 ||
	       rdmap_run_sq_ready(qp);
}

struct iw_qp *
rdmap_run_next(struct rdmap *rdmap)
{
	struct iw_link *n = iw_list_pop(&rdmap->run);

	return n ? iw_list_entry(n, struct iw_qp, run) : NULL;
}

void
rdmap_run_add(struct iw_qp *qp)
{
	if (!iw_list_linked(&qp->run) && rdmap_run_has_work(qp))
		iw_list_add(&qp->rdmap->run, &qp->run);
}
