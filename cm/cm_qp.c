/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_qp.h"

#include <assert.h>

#include "cm_tw.h"
#include "len.h"
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

/* ---- effects ---- */

/* The RTR is handed to TCP here and now, so that no call can come between Reply and RTR.  Without an mbuf
 * or room in TCP it goes when the QP is next in turn: what was filled counts as sent, so the grant comes first. */
static void
send_rtr(struct cm *cm, struct cm_id *id, struct iw_qp *qp, uint64_t now_ns)
{
	struct tcp_grant grant = tcp_tx_grant(cm->tcp, id->conn);
	struct rte_mbuf *m;
	int err;

	if (grant.segments == 0)
		return;
	m = rte_pktmbuf_alloc(cm->env->data_pool);
	if (!m)
		m = rte_pktmbuf_alloc(cm->env->ctl_pool);
	if (!m) {
		cm->n.no_mbuf++;
		return;
	}
	if (rdmap_tx_fill(qp, m, iw_len_min(grant.emss, rte_pktmbuf_tailroom(m)), NULL, now_ns) == 0) {
		rte_pktmbuf_free(m);
		return;
	}
	err = tcp_tx_append(cm->tcp, id->conn, m);
	assert(err == 0); /* a segment was granted */
	(void)err;
}

bool
cm_qp_start(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	struct cm_setup *s = cm_id_setup(cm, id);
	struct iw_qp *qp = cm_id_qp(cm, id);

	s->stream.conn = id->conn;
	s->stream.back_pressure = s->back_pressure;
	s->stream.recv_wait_ms = s->recv_wait_ms;
	if (!qp || qp_start(qp, &s->stream, now_ns) != 0)
		return false;
	id->started = true;
	cm->n.established++;
	tcp_set_stream(cm->tcp, id->conn, id->qp);
	if (id->want_tw)
		tcp_want_timewait(cm->tcp, id->conn, cm_tw_tag(cm, id));
	if (s->stream.initiator && s->stream.rtr != QP_RTR_NONE)
		send_rtr(cm, id, qp, now_ns);
	if (tcp_rx_pending(cm->tcp, id->conn))
		tcp_ready_again(cm->tcp, id->conn);
	return true;
}

void
cm_qp_drain(struct cm *cm, struct cm_id *id)
{
	struct iw_qp *qp = cm_id_qp(cm, id);

	if (qp)
		qp_close(qp);
}

/* What the QP is told: the status of the CLOSE that follows; without one, that it was given up. */
static int
end_err(const struct cm_id *id)
{
	return id->st.phase == CM_DEAD ? -(int)id->st.status : -IW_E_CONNABORTED;
}

void
cm_qp_end(struct cm *cm, struct cm_id *id)
{
	struct iw_qp *qp = cm_id_qp(cm, id);

	if (qp && id->started) {
		id->term = cm_qp_term(qp);
		qp_stream_end(qp, end_err(id));
	} else if (qp && id->st.phase == CM_DEAD) {
		qp_set_error(qp); /* ESTABLISHED will be told, so its work must end before CLOSE */
	}
	if (id->conn)
		tcp_set_stream(cm->tcp, id->conn, 0);
	if (qp)
		qp_unbind(qp);
	id->qp = 0;
	id->started = false;
}
