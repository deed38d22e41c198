/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_passive.h"

#include <iwarp/err.h>
#include <string.h>

#include "cm_frame.h"
#include "cm_qp.h"
#include "cm_step.h"

#define BACKLOG_DEFAULT 128

/* ---- the listener ---- */

int
cm_passive_listen(struct cm *cm, struct cm_id *id, const struct iw_addr *addr, int backlog)
{
	struct cm_listener *l;
	int err;

	if (!addr || backlog < 0)
		return -IW_E_INVAL;
	l = iw_pool_get(&cm->listeners, &id->listener);
	if (!l) {
		id->listener = 0;
		return -IW_E_NOMEM;
	}
	l->handle = id->listener;
	l->id = id->handle;
	l->backlog = backlog ? (uint32_t)backlog : BACKLOG_DEFAULT;
	iw_list_init(&l->children);
	id->local = *addr;
	memset(&id->peer, 0, sizeof(id->peer));
	err = tcp_listen(cm->tcp, &id->local, l->backlog, id->handle, &l->tcp);
	if (err) {
		iw_pool_put(&cm->listeners, id->listener);
		id->listener = 0;
	}
	return err;
}

void
cm_passive_unlisten(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	struct cm_listener *l = cm_id_listener(cm, id);
	struct iw_link *child;

	tcp_unlisten(cm->tcp, l->tcp, now_ns);
	/* Each of them leaves the list. */
	while ((child = iw_list_first(&l->children)))
		cm_step_event(cm, iw_list_entry(child, struct cm_id, child_link), CM_EV_LISTENER_GONE, now_ns);
	iw_pool_put(&cm->listeners, id->listener);
	id->listener = 0;
}

void
cm_passive_enter(struct cm *cm, struct cm_id *id)
{
	struct cm_listener *l = cm_id_listener(cm, id);

	cm->n.requests++;
	l->asking++;
	id->counted = true;
}

void
cm_passive_leave(struct cm *cm, struct cm_id *id)
{
	struct cm_listener *l = cm_id_listener(cm, id);

	if (l && id->counted)
		l->asking--;
	iw_list_del(&id->child_link);
	id->counted = false;
	id->listener = 0;
}

/* ---- the Request ---- */

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
cm_passive_arrive(struct cm *cm, const struct tcp_ready *ready, uint64_t now_ns)
{
	struct cm_id *at = cm_id_at(cm, ready->owner), *id;
	struct cm_listener *l;

	if (!at || at->st.phase != CM_LISTENING) {
		cm->n.stale_ready++;
		turn_away(cm, ready->conn, now_ns);
		return NULL;
	}
	id = cm_id_new(cm, at->handler, at->context, CM_ID_CHILD);
	if (!id) {
		cm->n.drop_no_id++;
		turn_away(cm, ready->conn, now_ns);
		return NULL;
	}
	l = cm_id_listener(cm, at);
	id->listener = l->handle;
	id->asked = at->handle;
	iw_list_add(&l->children, &id->child_link);
	iw_list_add(&cm->half, &id->half_link);
	adopt(cm, id, ready);
	cm_step_event(cm, id, CM_EV_ARRIVE, now_ns);
	return id;
}

/* What becomes of a whole Request. */
static enum cm_event
judge(struct cm *cm, const struct cm_id *id, const struct cm_setup *s)
{
	const struct cm_listener *l = cm_id_listener(cm, id);

	if (!mpa_neg_is_acceptable(&s->request)) {
		cm->n.drop_request_unfit++;
		return CM_EV_REQUEST_FULL;
	}
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
	s->request = request;
	memcpy(s->theirs, data, request.private_len);
	s->request.private_data = s->theirs;
	tcp_rx_consume(cm->tcp, id->conn, total, now_ns);
	cm_step_event(cm, id, judge(cm, id, s), now_ns);
}

void
cm_passive_read(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	if (id->st.phase == CM_AWAIT_REQUEST) {
		read_request(cm, id, now_ns);
	} else if (id->st.phase == CM_RECV && tcp_rx_pending(cm->tcp, id->conn)) {
		cm->n.drop_request_early++;
		cm_step_event(cm, id, CM_EV_EXTRA, now_ns);
	}
}

/* ---- the answer ---- */

void
cm_passive_probe(struct cm *cm, iw_cm_id handle, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, handle);
	struct tcp_info info;

	if (id->st.phase != CM_RECV || id->st.bits & CM_P_REQUEST)
		return;
	cm_passive_read(cm, id, now_ns);
	if (id->conn && (!tcp_conn_info(cm->tcp, id->conn, &info) || info.state != TCP_ESTABLISHED))
		cm_step_event(cm, id, CM_EV_FIN, now_ns);
}

static void
take_attr(struct cm_setup *s, struct cm_id *id, const struct iw_cm_attr *a)
{
	s->local.revision = s->request.rev;
	s->local.crc = !a->no_crc;
	s->local.no_ird_ord = a->no_ird_ord;
	s->tcp = (struct tcp_attr){.user_timeout_ns = a->user_timeout_ms * IW_MS,
				   .keepalive_ns = a->keepalive_ms * IW_MS};
	id->want_tw = a->timewait_exit;
}

int
cm_passive_prepare(struct cm *cm, struct cm_id *id, struct iw_qp *qp, const struct iw_cm_attr *attr)
{
	static const struct iw_cm_attr defaults;
	const struct iw_cm_attr *a = attr ? attr : &defaults;
	struct cm_setup *s = cm_id_setup(cm, id);
	struct mpa_neg neg;
	int err;

	if (!qp || !qp_is_free(qp) || a->private_len > mpa_hdr_private_max(s->request.enhanced) ||
	    (a->private_len && !a->private_data))
		return -IW_E_INVAL;
	s->local.ird = a->ird;
	s->local.ord = a->ord;
	if (!cm_qp_depths(qp, &s->local.ird, &s->local.ord))
		return -IW_E_INVAL;
	take_attr(s, id, a);
	mpa_neg_responder(&s->local, &s->request, a->private_data, a->private_len, &neg);
	if (neg.verdict != MPA_NEG_AGREED)
		return -IW_E_INVAL;
	s->frame = cm_frame_startup(cm, &neg.reply);
	if (!s->frame)
		return -IW_E_NOMEM;
	err = qp_bind(qp, id->handle);
	if (err) {
		rte_pktmbuf_free(s->frame);
		s->frame = NULL;
		return err;
	}
	s->stream = neg.stream;
	id->qp = qp_handle(qp);
	return 0;
}

bool
cm_passive_reply(struct cm *cm, struct cm_id *id)
{
	struct cm_setup *s = cm_id_setup(cm, id);
	struct rte_mbuf *m = s->frame;

	s->frame = NULL;
	tcp_adopt(cm->tcp, id->conn, id->handle, &s->tcp);
	cm->n.accepts++;
	return cm_frame_send(cm, id, m);
}

static struct rte_mbuf *
make_reject(struct cm *cm, const struct cm_setup *s, const void *private_data, uint16_t private_len)
{
	struct mpa_neg_local local = {.ird = cm->params.ird, .ord = cm->params.ord};
	struct mpa_startup reply;

	mpa_neg_reject(&local, &s->request, private_data, private_len, &reply);
	return cm_frame_startup(cm, &reply);
}

int
cm_passive_prepare_reject(struct cm *cm, struct cm_id *id, const void *private_data, uint16_t private_len)
{
	struct cm_setup *s = cm_id_setup(cm, id);

	if (private_len > mpa_hdr_private_max(s->request.enhanced) || (private_len && !private_data))
		return -IW_E_INVAL;
	s->frame = make_reject(cm, s, private_data, private_len);
	return s->frame ? 0 : -IW_E_NOMEM;
}

void
cm_passive_reject(struct cm *cm, struct cm_id *id)
{
	struct cm_setup *s = cm_id_setup(cm, id);
	struct rte_mbuf *m = s->frame ? s->frame : make_reject(cm, s, NULL, 0);

	s->frame = NULL;
	cm->n.rejects++;
	(void)cm_frame_send(cm, id, m);
}
