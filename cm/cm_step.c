/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_step.h"

#include "cm_active.h"
#include "cm_close.h"
#include "cm_passive.h"
#include "cm_qp.h"
#include "cm_timer.h"
#include "cm_tw.h"

/* ---- facts ---- */

static uint32_t
setup_facts(struct cm *cm, const struct cm_id *id)
{
	const struct cm_setup *s = cm_id_setup(cm, id);
	uint32_t facts = 0;

	if (!s)
		return 0;
	if (s->once_more && id->conn && tcp_rx_pending(cm->tcp, id->conn) == 0)
		facts |= CM_F_RETRY;
	if (s->stream.rtr != QP_RTR_NONE)
		facts |= CM_F_P2P;
	if (s->delay_ns)
		facts |= CM_F_DELAY;
	return facts;
}

/* Was the RTR acknowledged?  It is the first thing behind the Request. */
static bool
rtr_is_due(struct cm *cm, const struct cm_id *id)
{
	struct tcp_info info;

	return id->rtr_end && id->conn && tcp_conn_info(cm->tcp, id->conn, &info) &&
	       info.appended - info.queued < id->rtr_end;
}

static uint32_t
stream_facts(struct cm *cm, const struct cm_id *id)
{
	const struct iw_qp *qp = id->started ? cm_id_qp(cm, id) : NULL;
	uint32_t facts = 0;

	if (rtr_is_due(cm, id))
		facts |= CM_F_RTR_DUE;
	if (!qp)
		return facts;
	if (!qp_tx_is_between_messages(qp) || cm_qp_failure(qp) == CM_EV_BROKEN)
		facts |= CM_F_CUT;
	if (qp_is_mid_message(qp) || (id->conn && tcp_rx_pending(cm->tcp, id->conn)))
		facts |= CM_F_MID;
	return facts;
}

static void
set_facts(struct cm *cm, struct cm_id *id)
{
	id->st.bits = (id->st.bits & ~(uint32_t)CM_F_ALL) | setup_facts(cm, id) | stream_facts(cm, id);
}

int
cm_step_would(struct cm *cm, struct cm_id *id, enum cm_event ev)
{
	set_facts(cm, id);
	return cm_fsm_would(&id->st, ev);
}

/* ---- effects ---- */

/* Frames and streams: what can fail.  Returns the event that tells the table of it, CM_EVENT_MAX when all went well. */
static enum cm_event
act_setup(struct cm *cm, struct cm_id *id, uint32_t actions, uint64_t now_ns)
{
	enum cm_event failed = CM_EVENT_MAX;

	if (actions & CM_A_CANCEL_TW)
		cm_tw_cancel(cm, id);
	if (actions & CM_A_RETRY && !cm_active_retry(cm, id, now_ns))
		failed = CM_EV_RETRY_FAIL;
	if (actions & CM_A_REQUEST && !cm_active_request(cm, id))
		failed = CM_EV_START_FAIL;
	if (actions & CM_A_REPLY && !cm_passive_reply(cm, id))
		failed = CM_EV_START_FAIL;
	if (actions & CM_A_REJECT)
		cm_passive_reject(cm, id);
	if (actions & CM_A_TERM)
		cm_active_terminate(cm, id);
	if (actions & CM_A_START && failed == CM_EVENT_MAX && !cm_qp_start(cm, id, now_ns))
		failed = CM_EV_START_FAIL;
	return failed;
}

static void
act_close(struct cm *cm, struct cm_id *id, uint32_t actions, uint64_t now_ns)
{
	struct cm_id *orphan;

	if (actions & CM_A_QP_CLOSE)
		cm_qp_drain(cm, id);
	if (actions & CM_A_QP_END)
		cm_qp_end(cm, id);
	if (actions & CM_A_FIN)
		cm_close_fin(cm, id, now_ns);
	if (actions & CM_A_ABORT)
		cm_close_abort(cm, id, now_ns);
	if (actions & CM_A_FINISH)
		cm_close_finish(cm, id, now_ns);
	if (actions & CM_A_ORPHAN && (orphan = cm_close_orphan(cm, id, now_ns)))
		cm_step_event(cm, orphan, CM_EV_ORPHANED, now_ns);
	if (actions & CM_A_AGAIN)
		id->again = true;
}

/* Each child leaves the list. */
static void
unlisten(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	struct cm_listener *l = cm_id_listener(cm, id);
	struct iw_link *child;

	while ((child = iw_list_first(&l->children)))
		cm_step_event(cm, iw_list_entry(child, struct cm_id, child_link), CM_EV_LISTENER_GONE, now_ns);
	cm_passive_unlisten(cm, id, now_ns);
}

static void
act_lists(struct cm *cm, struct cm_id *id, uint32_t actions, uint64_t now_ns)
{
	if (actions & CM_A_ENTER)
		cm_passive_enter(cm, id);
	if (actions & CM_A_LEAVE)
		cm_passive_leave(cm, id);
	if (actions & CM_A_UNLISTEN)
		unlisten(cm, id, now_ns);
	cm->n.closes += (actions & CM_A_SAY_CLOSE) != 0;
	cm->n.connects_failed += (actions & CM_A_SAY_REFUSAL) != 0;
	if (id->st.phase != CM_AWAIT_REQUEST && id->st.phase != CM_ORPHAN)
		iw_list_del(&id->half_link);
}

static void
count_silent(struct cm *cm, enum cm_phase from, enum cm_event ev)
{
	if (from != CM_AWAIT_REQUEST)
		return;
	cm->n.drop_request_late += ev == CM_EV_TIMER;
	cm->n.drop_request_gone += ev == CM_EV_FIN || ev == CM_EV_RST || ev == CM_EV_TIMEOUT || ev == CM_EV_CLOSED;
}

int
cm_step_event(struct cm *cm, struct cm_id *id, enum cm_event ev, uint64_t now_ns)
{
	enum cm_event failed;
	struct cm_step step;

	count_silent(cm, (enum cm_phase)id->st.phase, ev);
	set_facts(cm, id);
	step = cm_fsm_step(&id->st, ev);
	failed = act_setup(cm, id, step.actions, now_ns);
	act_close(cm, id, step.actions, now_ns);
	act_lists(cm, id, step.actions, now_ns);
	if (step.actions & CM_A_FREE) {
		cm_id_free(cm, id);
		return step.ret;
	}
	if (step.rearm)
		cm_timer_arm(cm, id, now_ns);
	if (failed != CM_EVENT_MAX) {
		cm_step_event(cm, id, failed, now_ns);
		return step.ret;
	}
	cm_id_queue(cm, id);
	cm_id_trim(cm, id);
	return step.ret;
}

void
cm_step_make_room(struct cm *cm, uint64_t now_ns)
{
	struct iw_link *l;

	while (cm->ids.used >= cm->params.max_ids && (l = iw_list_first(&cm->half))) {
		cm->n.drop_reaped++;
		cm_step_event(cm, iw_list_entry(l, struct cm_id, half_link), CM_EV_REAP, now_ns);
	}
}
