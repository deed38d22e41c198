/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_face.h"

#include <iwarp/err.h>

#include "cm_active.h"
#include "cm_id.h"
#include "cm_passive.h"
#include "cm_reap.h"
#include "cm_startup.h"
#include "cm_step.h"
#include "cm_stream.h"
#include "cm_timer.h"
#include "cm_tw.h"
#include "iw_time.h"

/* ---- the object ---- */

static void
set_defaults(struct cm_params *p)
{
	if (!p->ird)
		p->ird = 16;
	if (!p->ord)
		p->ord = 16;
	if (!p->request_wait_ns)
		p->request_wait_ns = 10 * IW_SEC;
	if (!p->rtr_wait_ns)
		p->rtr_wait_ns = 10 * IW_SEC;
	if (!p->closing_ns)
		p->closing_ns = 60 * IW_SEC;
	if (!p->linger_ns)
		p->linger_ns = 3 * IW_SEC;
}

struct cm *
cm_create(struct iw_env *env, struct tcp *tcp, struct rdmap *rdmap, const struct cm_params *params)
{
	struct cm *cm = iw_env_alloc(sizeof(*cm));
	uint32_t ids = params->max_ids + CM_ID_SPARE;

	if (!cm)
		return NULL;
	cm->env = env;
	cm->tcp = tcp;
	cm->rdmap = rdmap;
	cm->params = *params;
	set_defaults(&cm->params);
	iw_wheel_init(&cm->wheel, 0);
	iw_list_init(&cm->events);
	iw_list_init(&cm->half);
	cm->tw = iw_env_alloc(sizeof(*cm->tw) * ids);
	if (cm->tw && iw_pool_init(&cm->ids, sizeof(struct cm_id), ids) == 0 &&
	    iw_pool_init(&cm->setups, sizeof(struct cm_setup), ids) == 0 &&
	    iw_pool_init(&cm->listeners, sizeof(struct cm_listener), params->max_listeners) == 0) {
		cm->setups.recycle = true; /* few are in use at once, however many connections there will have been */
		return cm;
	}
	cm_free(cm);
	return NULL;
}

void
cm_destroy_all(struct cm *cm, uint64_t now_ns)
{
	uint32_t pos = 0;
	struct cm_id *id;

	cm->now_ns = now_ns;
	while ((id = iw_pool_walk(&cm->ids, &pos)))
		cm_step_event(cm, id, CM_EV_DESTROY, now_ns);
}

void
cm_free(struct cm *cm)
{
	uint32_t pos = 0;
	struct cm_setup *s;

	if (!cm)
		return;
	while ((s = iw_pool_walk(&cm->setups, &pos)))
		rte_pktmbuf_free(s->frame);
	iw_pool_fini(&cm->listeners);
	iw_pool_fini(&cm->setups);
	iw_pool_fini(&cm->ids);
	iw_env_free(cm->tw);
	iw_env_free(cm);
}

/* ---- calls ---- */

iw_cm_id
cm_id_create(struct cm *cm, iw_cm_handler handler, void *context)
{
	struct cm_id *id;

	if (!handler)
		return 0; /* nobody would hear of it */
	cm_step_make_room(cm, cm->now_ns);
	id = cm_id_new(cm, handler, context, CM_ID_USER);
	return id ? id->handle : 0;
}

int
cm_id_destroy(struct cm *cm, iw_cm_id handle, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, handle);

	cm->now_ns = now_ns;
	return id ? cm_step_event(cm, id, CM_EV_DESTROY, now_ns) : -IW_E_STALE;
}

int
cm_listen(struct cm *cm, iw_cm_id handle, const struct iw_addr *addr, int backlog)
{
	struct cm_id *id = cm_id_at(cm, handle);
	int err;

	if (!id)
		return -IW_E_STALE;
	err = cm_step_would(cm, id, CM_EV_LISTEN);
	if (!err)
		err = cm_passive_listen(cm, id, addr, backlog);
	return err ? err : cm_step_event(cm, id, CM_EV_LISTEN, cm->now_ns);
}

int
cm_connect(struct cm *cm, iw_cm_id handle, const struct iw_addr *addr, struct iw_qp *qp, const struct iw_cm_attr *attr,
	   uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, handle);
	int err;

	cm->now_ns = now_ns;
	if (!id)
		return -IW_E_STALE;
	err = cm_step_would(cm, id, CM_EV_CONNECT);
	if (!err)
		err = cm_active_open(cm, id, addr, qp, attr, now_ns);
	return err ? err : cm_step_event(cm, id, CM_EV_CONNECT, now_ns);
}

/* accept and reject: a peer that is gone shows first, then arguments, then the step. */
static struct cm_id *
answer(struct cm *cm, iw_cm_id handle, enum cm_event ev, uint64_t now_ns, int *err)
{
	struct cm_id *id = cm_id_at(cm, handle);

	cm->now_ns = now_ns;
	*err = -IW_E_STALE;
	if (!id)
		return NULL;
	cm_startup_probe(cm, handle, now_ns);
	*err = cm_step_would(cm, id, ev);
	if (!*err)
		return id;
	*err = cm_step_event(cm, id, ev, now_ns);
	return NULL;
}

int
cm_accept(struct cm *cm, iw_cm_id handle, struct iw_qp *qp, const struct iw_cm_attr *attr, uint64_t now_ns)
{
	int err;
	struct cm_id *id = answer(cm, handle, CM_EV_ACCEPT, now_ns, &err);

	if (!id)
		return err;
	err = cm_passive_prepare(cm, id, qp, attr);
	return err ? err : cm_step_event(cm, id, CM_EV_ACCEPT, now_ns);
}

int
cm_reject(struct cm *cm, iw_cm_id handle, const void *private_data, uint16_t private_len, uint64_t now_ns)
{
	int err;
	struct cm_id *id = answer(cm, handle, CM_EV_REJECT, now_ns, &err);

	if (!id)
		return err;
	err = cm_passive_prepare_reject(cm, id, private_data, private_len);
	return err ? err : cm_step_event(cm, id, CM_EV_REJECT, now_ns);
}

int
cm_disconnect(struct cm *cm, iw_cm_id handle, bool abrupt, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, handle);

	cm->now_ns = now_ns;
	return id ? cm_step_event(cm, id, abrupt ? CM_EV_ABORT : CM_EV_DISCONNECT, now_ns) : -IW_E_STALE;
}

enum iw_cm_state
cm_state(const struct cm *cm, iw_cm_id handle)
{
	const struct cm_id *id = cm_id_at(cm, handle);

	return id ? cm_fsm_public(&id->st) : IW_CM_IDLE;
}

int
cm_idle(const struct cm *cm, iw_cm_id handle, iw_cm_handler *handler, void **context)
{
	const struct cm_id *id = cm_id_at(cm, handle);

	if (!id || id->st.phase != CM_IDLE)
		return id ? -IW_E_INVAL : -IW_E_STALE;
	*handler = id->handler;
	*context = id->context;
	return 0;
}

int
cm_set_context(struct cm *cm, iw_cm_id handle, void *context)
{
	struct cm_id *id = cm_id_at(cm, handle);

	if (!id)
		return -IW_E_STALE;
	id->context = context;
	return 0;
}

int
cm_addrs(struct cm *cm, iw_cm_id handle, struct iw_addr *local, struct iw_addr *peer)
{
	const struct cm_id *id = cm_id_at(cm, handle);

	if (!id)
		return -IW_E_STALE;
	if (local)
		*local = id->local;
	if (peer)
		*peer = id->peer;
	return 0;
}

int
cm_load(const struct cm *cm, iw_cm_id handle, struct iw_cm_load *load)
{
	const struct cm_id *id = cm_id_at(cm, handle);
	const struct iw_qp *qp = id && id->started ? cm_id_qp(cm, id) : NULL;
	struct tcp_info info;
	struct qp_load l;

	if (!id)
		return -IW_E_STALE;
	if (!qp || !tcp_conn_info(cm->tcp, id->conn, &info))
		return -IW_E_NOTCONN;
	l = qp_load(qp, cm->now_ns);
	*load = (struct iw_cm_load){.idle_ms = (uint32_t)(l.idle_ns / IW_MS),
				    .rx_fpdus = l.rx_fpdus,
				    .rx_small_fpdus = l.rx_small,
				    .rx_split_fpdus = l.rx_split,
				    .rx_out_of_order = info.rx_ooo,
				    .rx_duplicates = info.rx_dup,
				    .rx_outside_window = info.rx_outside,
				    .rx_duplicate_acks = info.rx_dupacks,
				    .retransmits = info.retransmits};
	return 0;
}

void
cm_qp_gone(struct cm *cm, struct iw_qp *qp, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, qp_owner(qp));

	cm->now_ns = now_ns;
	if (id && id->qp == qp_handle(qp))
		cm_step_event(cm, id, CM_EV_QP_GONE, now_ns);
}

/* ---- fed by the engine ---- */

void
cm_tcp_ready(struct cm *cm, const struct tcp_ready *ready, uint64_t now_ns)
{
	bool arrives = ready->listener && ready->bits & TCP_READY_UP;
	uint32_t bits = ready->bits;
	struct cm_id *id;
	iw_cm_id handle;

	cm->now_ns = now_ns;
	id = arrives ? cm_startup_arrive(cm, ready, now_ns) : cm_startup_owner(cm, ready);
	if (!id || id->conn != ready->conn) {
		cm->n.stale_ready += !arrives;
		return;
	}
	handle = id->handle;
	bits |= id->held;
	id->held = 0;
	if (bits & TCP_READY_UP && !arrives)
		cm_step_event(cm, id, CM_EV_UP, now_ns);
	cm_startup_read(cm, handle, now_ns);
	cm_stream_look(cm, handle, now_ns);
	cm_stream_ends(cm, handle, bits, now_ns);
}

void
cm_qp_out(struct cm *cm, const struct rdmap_out *out, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, qp_owner(out->qp));

	cm->now_ns = now_ns;
	if (id && id->qp == qp_handle(out->qp))
		cm_stream_out(cm, id->handle, out->bits, now_ns);
}

void
cm_tick(struct cm *cm, uint64_t now_ns)
{
	struct cm_id *id;
	uint32_t tag;

	cm->now_ns = now_ns;
	while ((id = cm_timer_due(cm, now_ns)))
		cm_step_event(cm, id, CM_EV_TIMER, now_ns);
	cm_reap_idle(cm, now_ns);
	cm_reap_slow(cm, now_ns);
	while (tcp_timewait_gone(cm->tcp, &tag))
		if ((id = cm_tw_gone(cm, tag)))
			cm_step_event(cm, id, CM_EV_TIMEWAIT_GONE, now_ns);
}

uint64_t
cm_deadline(const struct cm *cm)
{
	return iw_list_empty(&cm->events) ? iw_wheel_deadline(&cm->wheel) : 0;
}

/* ---- looking ---- */

struct iw_counter_list
cm_counter_list(const struct cm *cm)
{
#define IW_COUNTER_PREFIX "cm"
	static const char *const names[] = {CM_COUNTERS(IW_COUNTER_NAME)};
#undef IW_COUNTER_PREFIX

	return (struct iw_counter_list){
		.names = names, .values = (const uint64_t *)&cm->n, .n = sizeof(names) / sizeof(names[0])};
}

uint32_t
cm_id_count(const struct cm *cm)
{
	return cm->ids.used - cm->orphans;
}

const char *
iw_cm_state_name(int state)
{
	switch ((enum iw_cm_state)state) {
	case IW_CM_IDLE:
		return "IDLE";
	case IW_CM_LISTENING:
		return "LISTENING";
	case IW_CM_CONN_SENT:
		return "CONN_SENT";
	case IW_CM_CONN_RECV:
		return "CONN_RECV";
	case IW_CM_ACCEPTED:
		return "ACCEPTED";
	case IW_CM_ESTABLISHED:
		return "ESTABLISHED";
	case IW_CM_CLOSING:
		return "CLOSING";
	}
	return "unknown";
}
