/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_reap.h"

#include "cm_step.h"

/* Fewer places left than a sixteenth of all: low water. */
#define LOW_PART 16
/* Ids that are looked at in one turn. */
#define LOOKS 64

static bool
is_low(const struct cm *cm)
{
	uint32_t ids = cm->params.max_ids, used = cm->ids.used, conns = tcp_conn_count(cm->tcp);
	uint32_t room = tcp_conn_room(cm->tcp);

	return used + ids / LOW_PART >= ids || room <= (conns + room) / LOW_PART;
}

static bool
is_idle(const struct cm *cm, const struct cm_id *id, uint64_t now_ns)
{
	const struct iw_qp *qp = id->started ? cm_id_qp(cm, id) : NULL;

	if (!qp || cm_fsm_public(&id->st) != IW_CM_ESTABLISHED)
		return false;
	return qp_load(qp, now_ns).idle_ns >= cm->params.reap_idle_ns;
}

void
cm_reap_idle(struct cm *cm, uint64_t now_ns)
{
	if (!cm->params.reap_idle_ns)
		return;
	for (uint32_t i = 0; i < LOOKS && is_low(cm); i++) {
		struct cm_id *id = iw_pool_walk(&cm->ids, &cm->reap_pos);

		if (!id) {
			cm->reap_pos = 0;
			return;
		}
		if (is_idle(cm, id, now_ns)) {
			cm->n.drop_idle++;
			cm_step_event(cm, id, CM_EV_ABORT, now_ns);
		}
	}
}
