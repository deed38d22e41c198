/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_timer.h"

#include <assert.h>

/* How long, in nanoseconds. */
static uint64_t
delay_of(const struct cm *cm, const struct cm_id *id)
{
	const struct cm_setup *s = cm_id_setup(cm, id);

	switch ((enum cm_deadline)id->st.timer) {
	case CM_T_CONNECT:
		return s->connect_ns;
	case CM_T_DELAY:
		return s->delay_ns;
	case CM_T_REQUEST:
		return cm->params.request_wait_ns;
	case CM_T_RTR:
		return cm->params.rtr_wait_ns;
	case CM_T_CLOSING:
		return cm->params.closing_ns;
	case CM_T_LINGER:
		return cm->params.linger_ns;
	case CM_T_ORPHAN:
		return cm->params.rtr_wait_ns;
	case CM_T_NONE:
	case CM_DEADLINES:
		break;
	}
	return IW_NEVER;
}

void
cm_timer_arm(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	assert(id->st.timer < CM_DEADLINES);
	iw_wheel_arm(&cm->wheel, &id->timer, iw_time_after(now_ns, delay_of(cm, id)));
}

struct cm_id *
cm_timer_due(struct cm *cm, uint64_t now_ns)
{
	struct iw_timer *t = iw_wheel_due(&cm->wheel, now_ns);

	return t ? iw_list_entry(t, struct cm_id, timer) : NULL;
}
