/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_run.h"

#include "rdmap_ctx.h"
#include "rdmap_local.h"
#include "rdmap_ready.h"
#include "rdmap_train.h"

bool
rdmap_run_has_work(const struct iw_qp *qp)
{
	const struct qp_tx *tx = &qp->tx;

	if (qp->fsm.state == QP_FSM_TERMINATING)
		return true;
	if (!qp_fsm_sends(qp->fsm.state))
		return rdmap_ready_local(qp);
	return tx->kind != QP_TX_NONE || tx->rtr_due || tx->nudge_due || qp_fifo_count(&qp->answers_pos) > 0 ||
	       rdmap_ready_next(qp) != NULL;
}

/* What needs no room in TCP is done here, whether there is any or not. */
struct iw_qp *
rdmap_run_next(struct rdmap *rdmap)
{
	struct iw_link *n;

	rdmap_train_end(rdmap);
	while ((n = iw_list_pop(&rdmap->run))) {
		struct iw_qp *qp = iw_list_entry(n, struct iw_qp, run);

		rdmap_local_run(qp);
		if (rdmap_ready_local(qp))
			rdmap_run_add(qp); /* there are many: behind the others */
		if (rdmap_run_has_work(qp))
			return qp;
	}
	return NULL;
}

void
rdmap_run_add(struct iw_qp *qp)
{
	if (!iw_list_linked(&qp->run) && rdmap_run_has_work(qp))
		iw_list_add(&qp->rdmap->run, &qp->run);
}
