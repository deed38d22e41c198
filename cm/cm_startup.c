/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_startup.h"

#include <iwarp/err.h>
#include <string.h>

#include "cm_close.h"
#include "cm_frame.h"
#include "cm_step.h"

/* ---- the initiator ---- */

static enum cm_event
judge_reply(struct cm *cm, struct cm_setup *s)
{
	struct mpa_neg neg;

	mpa_neg_initiator(&s->local, &s->request, &s->reply, &neg);
	s->stream = neg.stream;
	s->fault = neg.fault;
	switch (neg.verdict) {
	case MPA_NEG_AGREED:
		return CM_EV_REPLY;
	case MPA_NEG_REJECTED:
		return CM_EV_REPLY_REJECT;
	case MPA_NEG_TERMINATE:
		cm->n.drop_reply_unfit++;
		return CM_EV_REPLY_TERM;
	case MPA_NEG_CLOSE:
		break;
	}
	cm->n.drop_reply_bad++;
	return CM_EV_REPLY_BAD;
}

static void
read_reply(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	struct cm_setup *s = cm_id_setup(cm, id);
	struct mpa_startup reply;
	uint32_t total, there;
	enum mpa_hdr_verdict v = cm_frame_read(cm, id, true, &reply, s->theirs, &total, &there);
	enum cm_event ev = CM_EV_REPLY_BAD;

	if (v == MPA_HDR_NEED)
		return;
	if (v == MPA_HDR_OK) {
		s->reply = reply;
		/* What follows are the first FPDUs (M5): they stay where they are. */
		tcp_rx_consume(cm->tcp, id->conn, total, now_ns);
		ev = judge_reply(cm, s);
		if (s->stream.rtr != QP_RTR_NONE)
			id->rtr_end = mpa_hdr_startup_len(&s->request) + 1;
	} else {
		cm->n.drop_reply_bad++;
	}
	cm_step_event(cm, id, ev, now_ns);
}
/* ---- the responder ---- */

static void
turn_away(struct cm *cm, uint32_t conn, uint64_t now_ns)
{
	tcp_abort(cm->tcp, conn, now_ns);
	tcp_release(cm->tcp, conn, now_ns);
}

static void
adopt(struct cm *cm, struct cm_id *id, const struct tcp_ready *ready)
{
	static const struct tcp_attr attr;
	struct tcp_info info;

	id->conn = ready->conn;
	tcp_adopt(cm->tcp, id->conn, id->handle, &attr);
	if (tcp_conn_info(cm->tcp, id->conn, &info)) {
		id->local = info.local;
		id->peer = info.peer;
	}
}

struct cm_id *
cm_startup_arrive(struct cm *cm, const struct tcp_ready *ready, uint64_t now_ns)
{
	struct cm_id *at = cm_id_at(cm, ready->owner), *id;
	struct cm_listener *l;

	if (!at || at->st.phase != CM_LISTENING) {
		cm->n.stale_ready++;
		turn_away(cm, ready->conn, now_ns);
		return NULL;
	}
	cm_step_make_room(cm, now_ns);
	id = cm_id_new(cm, at->handler, at->context, CM_ID_CHILD);
	if (!id) {
		cm->n.drop_no_id++;
		turn_away(cm, ready->conn, now_ns);
		return NULL;
	}
	l = cm_id_listener(cm, at);
	id->listener = l->handle;
	iw_list_add(&l->children, &id->child_link);
	iw_list_add(&cm->half, &id->half_link);
	adopt(cm, id, ready);
	cm_step_event(cm, id, CM_EV_ARRIVE, now_ns);
	return id;
}

struct cm_id *
cm_startup_owner(struct cm *cm, const struct tcp_ready *ready)
{
	struct cm_id *id = cm_id_at(cm, ready->owner);
	struct cm_listener *l;

	if (!id || id->st.phase != CM_LISTENING)
		return id;
	l = cm_id_listener(cm, id);
	for (struct iw_link *n = l->children.head.next; n != &l->children.head; n = n->next)
		if (iw_list_entry(n, struct cm_id, child_link)->conn == ready->conn)
			return iw_list_entry(n, struct cm_id, child_link);
	return NULL;
}

/* What becomes of a whole Request. */
static enum cm_event
judge_request(struct cm *cm, const struct cm_id *id)
{
	const struct cm_listener *l = cm_id_listener(cm, id);

	if (id->spare || l->asking >= l->backlog) {
		cm->n.drop_request_full++;
		return CM_EV_REQUEST_FULL;
	}
	return CM_EV_REQUEST;
}

static void
read_request(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	uint8_t data[MPA_HDR_PD_MAX];
	struct mpa_startup request;
	uint32_t total, there;
	enum mpa_hdr_verdict v = cm_frame_read(cm, id, false, &request, data, &total, &there);
	struct cm_setup *s;

	if (v == MPA_HDR_NEED)
		return;
	/* Nothing may follow a Request before its Reply (M5). */
	s = v == MPA_HDR_OK && there == total ? cm_id_setup_new(cm, id) : NULL;
	if (!s) {
		cm->n.drop_request_bad++;
		cm_step_event(cm, id, CM_EV_REQUEST_BAD, now_ns);
		return;
	}
	s->asked = cm_id_listener(cm, id)->id;
	s->request = request;
	memcpy(s->theirs, data, request.private_len);
	s->request.private_data = s->theirs;
	tcp_rx_consume(cm->tcp, id->conn, total, now_ns);
	cm_step_event(cm, id, judge_request(cm, id), now_ns);
}

static void
read_early(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	if (!tcp_rx_pending(cm->tcp, id->conn))
		return;
	cm->n.drop_request_early++;
	cm_step_event(cm, id, CM_EV_EXTRA, now_ns);
}

/* ---- both ---- */

void
cm_startup_read(struct cm *cm, iw_cm_id handle, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, handle);

	if (!id || !id->conn)
		return;
	if (id->st.phase == CM_AWAIT_REPLY)
		read_reply(cm, id, now_ns);
	else if (id->st.phase == CM_AWAIT_REQUEST)
		read_request(cm, id, now_ns);
	else if (id->st.phase == CM_RECV)
		read_early(cm, id, now_ns);
	else if (id->st.phase == CM_ORPHAN)
		cm_close_swallow(cm, id, now_ns);
}

void
cm_startup_probe(struct cm *cm, iw_cm_id handle, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, handle);
	struct tcp_info info;

	if (id->st.phase != CM_RECV || id->st.bits & CM_P_REQUEST)
		return;
	cm_startup_read(cm, handle, now_ns);
	if (id->conn && (!tcp_conn_info(cm->tcp, id->conn, &info) || info.state != TCP_ESTABLISHED))
		cm_step_event(cm, id, CM_EV_FIN, now_ns);
}
