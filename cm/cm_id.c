/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_id.h"

#include <assert.h>

#define ID_LINES 2 /* what each entry is looked up for; deadlines and addresses come later */

struct cm_id *
cm_id_at(const struct cm *cm, iw_cm_id handle)
{
	return iw_pool_at(&cm->ids, handle);
}

void
cm_id_prefetch(const struct cm *cm, iw_cm_id handle)
{
	iw_pool_prefetch(&cm->ids, handle, ID_LINES);
}

struct cm_setup *
cm_id_setup(const struct cm *cm, const struct cm_id *id)
{
	return iw_pool_at(&cm->setups, id->setup);
}

struct cm_listener *
cm_id_listener(const struct cm *cm, const struct cm_id *id)
{
	return iw_pool_at(&cm->listeners, id->listener);
}

struct iw_qp *
cm_id_qp(const struct cm *cm, const struct cm_id *id)
{
	return id->qp ? qp_at(cm->rdmap, id->qp) : NULL;
}

struct cm_id *
cm_id_new(struct cm *cm, iw_cm_handler handler, void *context, enum cm_id_kind kind)
{
	struct cm_id *id;
	uint32_t handle;
	bool spare;

	spare = cm->ids.used >= cm->params.max_ids;
	if (spare && kind == CM_ID_USER)
		return NULL;
	id = iw_pool_get(&cm->ids, &handle);
	if (!id)
		return NULL;
	id->handle = handle;
	id->handler = handler;
	id->context = context;
	id->spare = spare;
	id->kind = (uint8_t)kind;
	cm->orphans += kind == CM_ID_ORPHAN;
	return id;
}

struct cm_setup *
cm_id_setup_new(struct cm *cm, struct cm_id *id)
{
	struct cm_setup *s;

	assert(!id->setup);
	s = iw_pool_get(&cm->setups, &id->setup);
	if (!s)
		id->setup = 0;
	return s;
}

void
cm_id_setup_free(struct cm *cm, struct cm_id *id)
{
	struct cm_setup *s = cm_id_setup(cm, id);

	if (!s)
		return;
	rte_pktmbuf_free(s->frame);
	iw_pool_put(&cm->setups, id->setup);
	id->setup = 0;
}

void
cm_id_trim(struct cm *cm, struct cm_id *id)
{
	if (!cm_fsm_is_starting(&id->st))
		cm_id_setup_free(cm, id);
}

void
cm_id_queue(struct cm *cm, struct cm_id *id)
{
	if (id->st.bits & CM_P_ALL)
		iw_list_add(&cm->events, &id->event_link);
	else
		iw_list_del(&id->event_link);
}

void
cm_id_free(struct cm *cm, struct cm_id *id)
{
	assert(!id->conn && !id->qp);
	cm_id_setup_free(cm, id);
	iw_wheel_cancel(&cm->wheel, &id->timer);
	iw_list_del(&id->event_link);
	iw_list_del(&id->child_link);
	iw_list_del(&id->half_link);
	cm->orphans -= id->kind == CM_ID_ORPHAN;
	iw_pool_put(&cm->ids, id->handle);
}

uint32_t
cm_id_list(const struct cm *cm, uint32_t *pos, iw_cm_id *ids, uint32_t max)
{
	const struct cm_id *id;
	uint32_t n = 0;

	while (n < max && (id = iw_pool_walk(&cm->ids, pos)) != NULL)
		if (id->kind != CM_ID_ORPHAN)
			ids[n++] = id->handle;
	return n;
}
