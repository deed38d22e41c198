/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_ahead.h"

#include "qp.h"
#include "rdmap_ctx.h"

static void
fetch_queue(const struct iw_qp *qp)
{
	__builtin_prefetch(qp->rq);
	__builtin_prefetch(&qp->rq->ring.tail, 1);
	__builtin_prefetch(&qp->rq->shared);
}

static void
fetch_recv(const struct wr_rq *rq)
{
	const struct wr_recv *next = wr_rq_at(rq, rq->ring.tail);

	__builtin_prefetch(next, 1);
	__builtin_prefetch(&next->sge[1], 1);
}

void
qp_ahead(const struct rdmap *rdmap, uint32_t handle, enum qp_ahead_step step)
{
	const struct iw_qp *qp;

	if (step == QP_AHEAD_QP) {
		iw_pool_prefetch(&rdmap->qps, handle, QP_RX_LINES);
		return;
	}
	qp = qp_at(rdmap, handle);
	if (!qp)
		return;
	if (step == QP_AHEAD_QUEUE)
		fetch_queue(qp);
	else
		fetch_recv(qp->rq);
}
