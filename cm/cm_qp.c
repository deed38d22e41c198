/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_qp.h"

#include "qp.h"

bool
cm_qp_depths(const struct iw_qp *qp, uint16_t *ird, uint16_t *ord)
{
	if (!*ird)
		*ird = qp->max_ird;
	if (!*ord)
		*ord = qp->max_ord;
	return *ird <= qp->max_ird && *ord <= qp->max_ord;
}

enum cm_event
cm_qp_failure(const struct iw_qp *qp)
{
	switch ((enum qp_fsm_state)qp->fsm.state) {
	case QP_FSM_TERMINATING:
		return CM_EV_BROKEN;
	case QP_FSM_TERMINATED:
		return CM_EV_TERM;
	case QP_FSM_ERROR:
		return qp->term.valid ? CM_EV_TERM : CM_EV_FATAL;
	case QP_FSM_IDLE:
	case QP_FSM_HELD:
	case QP_FSM_RTS:
	case QP_FSM_DRAINING:
	case QP_FSM_DRAINED:
	case QP_FSM_DEAD:
	case QP_FSM_STATES:
		break;
	}
	return CM_EVENT_MAX;
}

struct iw_terminate
cm_qp_term(const struct iw_qp *qp)
{
	return qp->term;
}

bool
cm_qp_waits(const struct iw_qp *qp)
{
	return qp->rx_waits;
}
