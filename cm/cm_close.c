/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_close.h"

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
cm_close_finish(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	if (!id->conn)
		return;
	cm_close_swallow(cm, id, now_ns);
	tcp_close(cm->tcp, id->conn, now_ns);
	tcp_release(cm->tcp, id->conn, now_ns);
	forget(id);
}

struct cm_id *
cm_close_orphan(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	struct cm_id *o = NULL;
	struct tcp_info info;

	if (!id->conn)
		return NULL;
	cm_close_swallow(cm, id, now_ns);
	tcp_close(cm->tcp, id->conn, now_ns);
	if (tcp_conn_info(cm->tcp, id->conn, &info) && (info.state == TCP_FIN_WAIT_1 || info.state == TCP_FIN_WAIT_2))
		o = cm_id_new(cm, NULL, NULL, CM_ID_ORPHAN);
	if (!o) {
		cm_close_finish(cm, id, now_ns);
		return NULL;
	}
	o->conn = id->conn;
	tcp_set_owner(cm->tcp, o->conn, o->handle);
	iw_list_add(&cm->half, &o->half_link);
	forget(id);
	return o;
}
