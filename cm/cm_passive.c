/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_passive.h"

#include <assert.h>
#include <iwarp/err.h>
#include <string.h>

#include "cm_attr.h"
#include "cm_frame.h"
#include "cm_qp.h"

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

	assert(iw_list_empty(&l->children));
	tcp_unlisten(cm->tcp, l->tcp, now_ns);
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

/* ---- the answer ---- */

/* Ready to go: TCP will take it, too, in the step that follows.  A Reply that got stuck there could only be followed by
 * a reset, which others take for a peer that does not know revision 2. */
static int
make_reply(struct cm *cm, const struct cm_id *id, const struct mpa_startup *reply)
{
	struct cm_setup *s = cm_id_setup(cm, id);

	if (tcp_tx_may_append(cm->tcp, id->conn) == -IW_E_NOMEM)
		return -IW_E_NOMEM;
	s->frame = cm_frame_startup(cm, reply);
	return s->frame ? 0 : -IW_E_NOMEM;
}

int
cm_passive_prepare(struct cm *cm, struct cm_id *id, struct iw_qp *qp, const struct iw_cm_attr *attr)
{
	static const struct iw_cm_attr defaults;
	const struct iw_cm_attr *a = attr ? attr : &defaults;
	struct cm_setup *s = cm_id_setup(cm, id);
	struct mpa_neg neg;
	int err = cm_attr_check_private(a->private_data, a->private_len, s->request.enhanced);

	if (err)
		return err;
	if (!qp || !qp_is_free(qp))
		return -IW_E_INVAL;
	cm_attr_take(s, a);
	s->local.revision = s->request.rev;
	if (!cm_qp_depths(qp, &s->local.ird, &s->local.ord))
		return -IW_E_INVAL;
	mpa_neg_responder(&s->local, &s->request, a->private_data, a->private_len, &neg);
	err = make_reply(cm, id, &neg.reply);
	if (err)
		return err;
	err = qp_bind(qp, id->handle);
	if (err) {
		rte_pktmbuf_free(s->frame);
		s->frame = NULL;
		return err;
	}
	s->stream = neg.stream;
	id->qp = qp_handle(qp);
	id->want_tw = a->timewait_exit;
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

static int
make_reject(struct cm *cm, const struct cm_id *id, const void *private_data, uint16_t private_len)
{
	struct mpa_neg_local local = {.ird = cm->params.ird, .ord = cm->params.ord};
	struct mpa_startup reply;

	mpa_neg_reject(&local, &cm_id_setup(cm, id)->request, private_data, private_len, &reply);
	return make_reply(cm, id, &reply);
}

int
cm_passive_prepare_reject(struct cm *cm, struct cm_id *id, const void *private_data, uint16_t private_len)
{
	int err = cm_attr_check_private(private_data, private_len, cm_id_setup(cm, id)->request.enhanced);

	return err ? err : make_reject(cm, id, private_data, private_len);
}

void
cm_passive_reject(struct cm *cm, struct cm_id *id)
{
	struct cm_setup *s = cm_id_setup(cm, id);

	if (!s->frame)
		(void)make_reject(cm, id, NULL, 0);
	cm->n.rejects++;
	(void)cm_frame_send(cm, id, s->frame);
	s->frame = NULL;
}
