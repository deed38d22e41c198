/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_close.h"

#include "cm_qp.h"

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
cm_close_finish(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	uint32_t unread;

	if (!id->conn)
		return;
	unread = tcp_rx_pending(cm->tcp, id->conn);
	if (unread)
		tcp_rx_consume(cm->tcp, id->conn, unread, now_ns);
	tcp_close(cm->tcp, id->conn, now_ns);
	tcp_release(cm->tcp, id->conn, now_ns);
	forget(id);
}
