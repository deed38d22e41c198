/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_close.h"

#include "cm_qp.h"
#include "cm_step.h"

void
cm_close_qp_drain(struct cm *cm, struct cm_id *id)
{
	struct iw_qp *qp = cm_id_qp(cm, id);

	if (qp)
		qp_close(qp);
}

/* What the QP is told: the status of the CLOSE that follows; for ids that are freed, that it was given up. */
static int
end_err(const struct cm_id *id)
{
	return id->st.phase == CM_DEAD || id->st.phase == CM_REFUSED ? -(int)id->st.status : -IW_E_CONNABORTED;
}

void
cm_close_qp_end(struct cm *cm, struct cm_id *id)
{
	struct iw_qp *qp = cm_id_qp(cm, id);

	if (qp && id->started) {
		id->term = cm_qp_term(qp);
		qp_stream_end(qp, end_err(id));
	}
	if (id->conn)
		tcp_set_stream(cm->tcp, id->conn, 0);
	if (qp)
		qp_unbind(qp);
	id->qp = 0;
	id->started = false;
}

void
cm_close_fin(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	if (id->conn)
		tcp_close(cm->tcp, id->conn, now_ns);
}

static void
forget(struct cm_id *id)
{
	id->conn = 0;
	id->held = 0;
	id->held_at = 0;
	id->rtr_end = 0;
}

void
cm_close_abort(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	if (!id->conn)
		return;
	tcp_abort(cm->tcp, id->conn, now_ns);
	tcp_release(cm->tcp, id->conn, now_ns);
	forget(id);
}

void
cm_close_swallow(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	uint32_t unread = tcp_rx_pending(cm->tcp, id->conn);

	if (unread)
		tcp_rx_consume(cm->tcp, id->conn, unread, now_ns);
}

void
cm_close_orphan(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	struct tcp_info info;
	struct cm_id *o;

	if (!id->conn)
		return;
	cm_close_swallow(cm, id, now_ns);
	tcp_close(cm->tcp, id->conn, now_ns);
	o = tcp_conn_info(cm->tcp, id->conn, &info) && (info.state == TCP_FIN_WAIT_1 || info.state == TCP_FIN_WAIT_2)
		    ? cm_id_new(cm, NULL, NULL, CM_ID_ORPHAN)
		    : NULL;
	if (!o) {
		cm_close_finish(cm, id, now_ns);
		return;
	}
	o->conn = id->conn;
	tcp_set_owner(cm->tcp, o->conn, o->handle);
	iw_list_add(&cm->half, &o->half_link);
	forget(id);
	cm_step_event(cm, o, CM_EV_ORPHANED, now_ns);
}

void
cm_close_finish(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	if (!id->conn)
		return;
	cm_close_swallow(cm, id, now_ns);
	tcp_close(cm->tcp, id->conn, now_ns);
	tcp_release(cm->tcp, id->conn, now_ns);
	forget(id);
}
