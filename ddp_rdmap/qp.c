/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp.h"

#include <assert.h>
#include <iwarp/err.h>
#include <string.h>

#include "qp_wc.h"
#include "rdmap_ctx.h"
#include "srq.h"

/* Lets posting threads know (posts that come too late are flushed by qp_door()). */
static void
publish(struct iw_qp *qp)
{
	enum iw_qp_state pub = qp_fsm_public(qp->fsm.state);
	bool idle = qp->fsm.state == QP_FSM_IDLE;

	__atomic_store_n(&qp->pub_state, (uint8_t)pub, __ATOMIC_RELEASE);
	__atomic_store_n(&qp->may_post_send, pub == IW_QP_RTS, __ATOMIC_RELEASE);
	__atomic_store_n(&qp->may_post_recv, idle || pub == IW_QP_RTS, __ATOMIC_RELEASE);
}

static uint32_t
out_bits(uint32_t actions)
{
	return (actions & QP_OUT_TERM_SENT ? RDMAP_OUT_TERM_SENT : 0) |
	       (actions & QP_OUT_TERM_RECV ? RDMAP_OUT_TERM_RECV : 0) | (actions & QP_OUT_FATAL ? RDMAP_OUT_FATAL : 0) |
	       (actions & QP_OUT_DRAINED ? RDMAP_OUT_DRAINED : 0) |
	       (actions & QP_OUT_FIRST_FPDU ? RDMAP_OUT_FIRST_FPDU : 0);
}

void
qp_out(struct iw_qp *qp, uint32_t bits)
{
	if (!bits)
		return;
	qp->out_bits |= bits;
	iw_list_add(&qp->rdmap->out, &qp->out);
}

/* Once in its life for each type. */
static void
qp_async(struct iw_qp *qp, enum iw_async_type type)
{
	struct rdmap *r = qp->rdmap;
	uint8_t bit = (uint8_t)(1u << type);

	if (qp->async.raised & bit)
		return;
	qp->async.raised |= bit;
	if (!qp->async.waits) {
		r->async_qps[iw_ring_slot(&r->async_ring, r->async_ring.head)] = qp->handle;
		iw_ring_produce(&r->async_ring, 1);
	}
	qp->async.waits |= bit;
}

/* A QP that goes takes its place in the list along: there is room for every QP once. */
void
qp_async_forget(struct iw_qp *qp)
{
	struct rdmap *r = qp->rdmap;
	struct iw_ring *ring = &r->async_ring;
	uint32_t to = ring->tail;

	if (!qp->async.waits)
		return;
	for (uint32_t i = ring->tail; i != ring->head; i++) {
		uint32_t handle = r->async_qps[iw_ring_slot(ring, i)];

		if (handle != qp->handle)
			r->async_qps[iw_ring_slot(ring, to++)] = handle;
	}
	ring->head = to;
	qp->async.waits = 0;
}

void
qp_event(struct iw_qp *qp, enum qp_fsm_event event)
{
	uint32_t actions = qp_fsm_step(&qp->fsm, event);

	publish(qp);
	if (actions & QP_DO_FLUSH_SQ)
		qp_wc_flush_sq(qp);
	if (actions & QP_DO_FLUSH_RQ) {
		qp_wc_flush_rq(qp);
		qp->answers_pos.tail = qp->answers_pos.head;
		qp->fpdu_at = qp->wait_at = IW_NEVER;
		iw_list_del(&qp->rq->partial);
		qp->nudges = QP_NUDGES_OVER;
	}
	qp_out(qp, out_bits(actions));
	if (actions & (QP_OUT_TERM_RECV | QP_OUT_FATAL))
		qp_async(qp, actions & QP_OUT_FATAL ? IW_ASYNC_QP_FATAL : IW_ASYNC_QP_TERMINATE);
	if (actions & QP_DO_RUN)
		rdmap_run_add(qp);
}

void
qp_fault(struct iw_qp *qp, enum rdmap_fault fault, const struct ddp_hdr *ddp, uint16_t ulpdu_len,
	 const struct rdmap_read_req *read)
{
	struct rdmap_term t;

	assert(fault != RDMAP_FAULT_NONE && fault < RDMAP_FAULT_MAX);
	qp->rdmap->count.fault[fault]++;
	rdmap_err_term(fault, ddp, ulpdu_len, read, &t);
	qp->term_len = (uint8_t)rdmap_hdr_term_emit(&t, qp->term_out, sizeof(qp->term_out));
	qp_event(qp, QP_EV_FAULT);
	if (qp->fsm.state != QP_FSM_TERMINATING)
		return;
	qp->term =
		(struct iw_terminate){.valid = true, .sent = true, .layer = t.layer, .etype = t.etype, .code = t.code};
	qp_async(qp, IW_ASYNC_QP_FATAL);
}

void
qp_fail(struct iw_qp *qp, int fault)
{
	qp_fault(qp, (enum rdmap_fault)fault, NULL, 0, NULL);
}

void
qp_sq_failed(struct iw_qp *qp, uint32_t pos, enum iw_wc_status status)
{
	qp->sq_status = (uint8_t)status;
	qp->sq_status_pos = pos;
	qp->rdmap->count.n.local_errors++;
	qp_fault(qp, RDMAP_FAULT_RDMAP_LOCAL, NULL, 0, NULL);
}

void
qp_check_empty(struct iw_qp *qp)
{
	if (qp->fsm.state == QP_FSM_DRAINING && iw_ring_count(&qp->sq->ring) == 0 && qp->tx.kind == QP_TX_NONE &&
	    !qp->tx.rtr_due && qp_fifo_count(&qp->reads_pos) == 0 && qp_fifo_count(&qp->answers_pos) == 0)
		qp_event(qp, QP_EV_EMPTY);
}

void
qp_door(struct iw_qp *qp)
{
	bool receives = qp_fsm_receives(qp->fsm.state);

	if (!qp_fsm_sends(qp->fsm.state) && qp->fsm.state != QP_FSM_HELD)
		qp_wc_flush_sq(qp);
	if (!receives && qp->fsm.state != QP_FSM_IDLE)
		qp_wc_flush_rq(qp);
	if (qp->rx_waits && receives && qp_has_recv(qp)) {
		qp->rx_waits = false;
		qp_out(qp, RDMAP_OUT_RX_RESUME);
	}
	rdmap_run_add(qp);
}

bool
qp_has_recv(struct iw_qp *qp)
{
	struct wr_rq *rq = qp->rq;

	return iw_ring_count(&rq->ring) > 0 || (rq->shared && srq_has(rq->shared));
}

void
qp_door_waiters(struct iw_list *list)
{
	struct iw_list waiters;
	struct iw_link *n;

	iw_list_init(&waiters);
	while ((n = iw_list_pop(list)))
		iw_list_add(&waiters, n);
	while ((n = iw_list_pop(&waiters)))
		qp_door(iw_list_entry(n, struct srq_user, wait)->qp);
}

/* ---- life of a stream ---- */

static void
start_stream(struct iw_qp *qp, const struct qp_stream *s)
{
	qp->conn = s->conn;
	qp->crc = s->crc;
	qp->initiator = s->initiator;
	qp->tx_markers = s->tx_markers;
	qp->rx_markers = s->rx_markers;
	qp->rx_gap = qp->tx_gap = 0; /* the first one stands before the first FPDU */
	if (s->back_pressure && !qp->back_pressure) {
		qp->back_pressure = true;
		qp->recv_wait_ms = s->recv_wait_ms;
	}
	qp->ird = s->ird;
	qp->ord = s->ord;
	qp->rtr = (uint8_t)s->rtr;
	qp->tx = (struct qp_tx){
		.rtr_due = s->initiator && s->rtr != QP_RTR_NONE, .send_msn = 1, .read_msn = 1, .atomic_msn = 1};
	for (int i = 0; i < RDMAP_QN_MAX; i++)
		ddp_queue_init(&qp->queue[i]);
}

int
qp_start(struct iw_qp *qp, const struct qp_stream *stream, uint64_t now_ns)
{
	if (qp->fsm.state != QP_FSM_IDLE || stream->ird > qp->max_ird || stream->ord > qp->max_ord)
		return -IW_E_INVAL;
	if (stream->initiator && stream->rtr == QP_RTR_READ && stream->ord == 0)
		return -IW_E_INVAL; /* RFC 6581 §9.2: a Read needs an ORD */
	start_stream(qp, stream);
	qp->active = QP_ACTIVE(now_ns);
	qp_event(qp, stream->initiator ? QP_EV_START_INITIATOR : QP_EV_START_RESPONDER);
	return 0;
}

void
qp_close(struct iw_qp *qp)
{
	qp_event(qp, QP_EV_CLOSE);
	qp_check_empty(qp);
}

/* A request that was under way when the stream broke says so; the others were not touched. */
void
qp_stream_end(struct iw_qp *qp, int err)
{
	const struct wr_sq *sq = qp->sq;

	if (err && qp->sq_status == IW_WC_SUCCESS &&
	    (sq->ring.tail != sq->sent || (qp->tx.kind == QP_TX_SQ && qp->tx.done > 0))) {
		qp->sq_status = IW_WC_FATAL_ERR;
		qp->sq_status_pos = sq->ring.tail;
	}
	qp_event(qp, err ? QP_EV_END_ERR : QP_EV_END_OK);
}

void
qp_set_error(struct iw_qp *qp)
{
	qp_event(qp, QP_EV_KILL);
}

bool
qp_is_mid_message(const struct iw_qp *qp)
{
	return qp->rx_partial || qp->tagged_open || qp->queue[RDMAP_QN_SEND].open || qp_fifo_count(&qp->reads_pos) > 0;
}

bool
qp_tx_is_between_messages(const struct iw_qp *qp)
{
	return qp->tx.kind == QP_TX_NONE;
}

/* ---- who uses it ---- */

struct iw_qp *
qp_at(const struct rdmap *rdmap, uint32_t handle)
{
	return iw_pool_at(&rdmap->qps, handle);
}

uint32_t
qp_handle(const struct iw_qp *qp)
{
	return qp->handle;
}

struct iw_engine *
qp_engine(const struct iw_qp *qp)
{
	return qp->rdmap->engine;
}

uint32_t
qp_conn(const struct iw_qp *qp)
{
	return qp->conn;
}

bool
qp_is_terminating(const struct iw_qp *qp)
{
	return qp->fsm.state == QP_FSM_TERMINATING;
}

bool
qp_is_free(const struct iw_qp *qp)
{
	return qp->fsm.state == QP_FSM_IDLE && qp->owner == 0;
}

int
qp_bind(struct iw_qp *qp, uint32_t owner)
{
	if (!qp_is_free(qp) || owner == 0)
		return -IW_E_INVAL;
	qp->owner = owner;
	return 0;
}

void
qp_unbind(struct iw_qp *qp)
{
	qp->owner = 0;
}

uint32_t
qp_owner(const struct iw_qp *qp)
{
	return qp->owner;
}

enum iw_qp_state
iw_qp_state(const struct iw_qp *qp)
{
	if (qp_named(qp))
		return IW_QP_ERROR;
	return (enum iw_qp_state)__atomic_load_n(&qp->pub_state, __ATOMIC_ACQUIRE);
}

void *
iw_qp_context(const struct iw_qp *qp)
{
	return qp_named(qp) ? NULL : qp->context;
}

void
iw_qp_terminate_info(const struct iw_qp *qp, struct iw_terminate *term)
{
	*term = qp_named(qp) ? (struct iw_terminate){.valid = false} : qp->term;
}

int
iw_qp_query(const struct iw_qp *qp, struct iw_qp_info *info)
{
	struct srq_user *shared;
	int err = qp_named(qp);

	if (err || !info)
		return err ? err : -IW_E_INVAL;
	shared = qp->rq->shared;
	*info = (struct iw_qp_info){.state = iw_qp_state(qp),
				    .initiator = qp->initiator,
				    .crc = qp->crc,
				    .ird = qp->ird,
				    .ord = qp->ord,
				    .reads_in = qp_fifo_count(&qp->answers_pos),
				    .reads_out = qp_fifo_count(&qp->reads_pos),
				    .sq_depth = qp->sq->ring.mask + 1,
				    .rq_depth = shared ? 0 : qp->rq->ring.mask + 1,
				    .sq_used = iw_ring_count(&qp->sq->ring),
				    .rq_used = iw_ring_count(&qp->rq->ring),
				    .srq_used = shared && shared->limit ? srq_used(shared) : 0,
				    .srq = shared ? shared->srq : NULL,
				    .term = qp->term};
	return 0;
}

struct qp_load
qp_load(const struct iw_qp *qp, uint64_t now_ns)
{
	return (struct qp_load){.idle_ns = (uint64_t)(QP_ACTIVE(now_ns) - qp->active) << 20,
				.rx_fpdus = qp->rx_fpdus,
				.rx_split = qp->rx_split,
				.rx_small = qp->rx_small};
}

const char *
iw_async_name(int type)
{
	switch ((enum iw_async_type)type) {
	case IW_ASYNC_QP_FATAL:
		return "IW_ASYNC_QP_FATAL";
	case IW_ASYNC_QP_TERMINATE:
		return "IW_ASYNC_QP_TERMINATE";
	case IW_ASYNC_SRQ_LIMIT:
		return "IW_ASYNC_SRQ_LIMIT";
	}
	return "unknown";
}

const char *
iw_qp_state_name(int state)
{
	switch ((enum iw_qp_state)state) {
	case IW_QP_IDLE:
		return "IW_QP_IDLE";
	case IW_QP_RTS:
		return "IW_QP_RTS";
	case IW_QP_CLOSING:
		return "IW_QP_CLOSING";
	case IW_QP_TERMINATE:
		return "IW_QP_TERMINATE";
	case IW_QP_ERROR:
		return "IW_QP_ERROR";
	}
	return "unknown";
}
