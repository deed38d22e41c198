/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_recv.h"

#include "rdmap_ctx.h"
#include "srq.h"

bool
rdmap_recv_ready(struct iw_qp *qp)
{
	struct wr_rq *rq = qp->rq;

	return iw_ring_count(&rq->ring) > 0 || (rq->shared && srq_take(rq->shared));
}

enum rdmap_fault
rdmap_recv_missing(struct iw_qp *qp, struct mpa_fpdu *f)
{
	if (!qp->back_pressure || qp->wait_over)
		return RDMAP_FAULT_DDP_U_NO_BUFFER;
	f->wait = true;
	qp->rdmap->count.n.rx_waits += !qp->rx_waits;
	__atomic_store_n(&qp->rx_waits, true, __ATOMIC_SEQ_CST);
	if (qp->rq->shared)
		srq_wait(qp->rq->shared);
	return RDMAP_FAULT_NONE;
}
