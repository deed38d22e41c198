/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_reap.h"

#include "cm_step.h"
#include "iw_time.h"

/* Fewer places left than a sixteenth of all: low water. */
#define LOW_PART 16
/* Ids that are looked at in one turn. */
#define LOOKS 64
/* What lost a few segments of an FPDU has them again by then. */
#define STILL_NS IW_SEC

static bool
is_low(const struct cm *cm)
{
	uint32_t ids = cm->params.max_ids, used = cm->ids.used, conns = tcp_conn_count(cm->tcp);
	uint32_t room = tcp_conn_room(cm->tcp);

	return used + ids / LOW_PART >= ids || room <= (conns + room) / LOW_PART;
}

/* How long nothing came or went; 0: it is not established. */
static uint64_t
idle_ns(const struct cm *cm, const struct cm_id *id, uint64_t now_ns)
{
	const struct iw_qp *qp = id->started ? cm_id_qp(cm, id) : NULL;

	return qp && cm_fsm_public(&id->st) == IW_CM_ESTABLISHED ? qp_load(qp, now_ns).idle_ns : 0;
}

/* Of the ids that are this turn's, the one that was idle longest; NULL: none was as long as it takes. */
static struct cm_id *
idlest(struct cm *cm, uint64_t now_ns)
{
	struct cm_id *worst = NULL;
	uint64_t most = cm->params.reap_idle_ns;

	for (uint32_t i = 0; i < LOOKS; i++) {
		struct cm_id *id = iw_pool_walk(&cm->ids, &cm->reap_pos);
		uint64_t idle;

		if (!id) {
			cm->reap_pos = 0;
			break;
		}
		idle = idle_ns(cm, id, now_ns);
		if (idle >= most) {
			worst = id;
			most = idle + 1;
		}
	}
	return worst;
}

void
cm_reap_idle(struct cm *cm, uint64_t now_ns)
{
	struct cm_id *id = cm->params.reap_idle_ns && is_low(cm) ? idlest(cm, now_ns) : NULL;

	if (!id)
		return;
	cm->n.drop_idle++;
	cm_step_event(cm, id, CM_EV_ABORT, now_ns);
}

void
cm_reap_slow(struct cm *cm, uint64_t now_ns)
{
	struct iw_qp *qp = tcp_rx_is_short(cm->tcp) ? mpa_rx_slowest(cm->rdmap, STILL_NS, now_ns) : NULL;
	struct cm_id *id = qp ? cm_id_at(cm, qp_owner(qp)) : NULL;

	if (!id)
		return;
	cm->n.drop_slow++;
	cm_step_event(cm, id, CM_EV_ABORT, now_ns);
}
