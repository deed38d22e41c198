/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_local.h"

#include "mr_fast.h"
#include "mw.h"
#include "qp.h"
#include "qp_wc.h"
#include "rdmap_ctx.h"
#include "rdmap_ready.h"

#define LOCAL_OPS_PER_TURN 64 /* of one QP */

int
rdmap_local_post(struct iw_qp *qp, struct wr_send *slot, const struct iw_send_wr *wr)
{
	if (wr->opcode == IW_WR_FAST_REG)
		return mr_fast_post(qp, &slot->mem, &wr->reg);
	return wr->opcode == IW_WR_BIND_MW ? mw_post(qp, &slot->mem, &wr->bind) : 0;
}

static enum iw_wc_status
carry_out(struct iw_qp *qp, const struct wr_send *wr)
{
	if (wr->opcode == IW_WR_FAST_REG)
		return mr_fast_take(qp, &wr->mem) ? IW_WC_SUCCESS : IW_WC_LOC_QP_OP_ERR;
	if (wr->opcode == IW_WR_BIND_MW)
		return mw_bind(qp, &wr->mem) ? IW_WC_SUCCESS : IW_WC_MW_BIND_ERR;
	return mr_invalidate_local(&qp->user, wr->own_stag) == MR_OK ? IW_WC_SUCCESS : IW_WC_LOC_QP_OP_ERR;
}

/* One that fails fails alone: nothing of it concerns the peer. */
void
rdmap_local_run(struct iw_qp *qp)
{
	struct wr_sq *sq = qp->sq;

	for (uint32_t n = 0; n < LOCAL_OPS_PER_TURN; n++) {
		struct wr_send *wr;

		if (!rdmap_ready_local(qp))
			return;
		domain_enter(qp->user.domain, qp->rdmap->reader);
		wr = wr_sq_at(sq, sq->sent);
		wr->status = (uint8_t)carry_out(qp, wr);
		wr->done = true;
		sq->sent++;
		qp->rdmap->count.n.local_ops++;
		qp_wc_retire(qp);
		qp_check_empty(qp);
	}
}
