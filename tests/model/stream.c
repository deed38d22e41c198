/* SPDX-License-Identifier: BSD-3-Clause */
/* The QP around the real qp_fsm, and who reads what: the connection manager while a stream starts up, the QP
 * afterwards (cm_startup.c, cm_stream.c, qp.c, engine_rx.c and engine_tx.c in small). */
#include <string.h>

#include "world.h"

#define OUTS (QP_OUT_TERM_SENT | QP_OUT_TERM_RECV | QP_OUT_FATAL | QP_OUT_DRAINED | QP_OUT_FIRST_FPDU)
#define OUT_SHIFT 3

/* ---- the QP ---- */

void
stream_qp(struct world *w, uint8_t h, uint8_t i, enum qp_fsm_event ev)
{
	struct qp *q = &w->id[h][i].qp;
	uint32_t a = qp_fsm_step(&q->fsm, ev);

	if (a & QP_DO_FLUSH_SQ) {
		q->work = W_NONE;
		q->flags &= (uint8_t)~Q_ASKED;
	}
	if (a & QP_DO_FLUSH_RQ) {
		q->recv = 0;
		q->flags &= (uint8_t)~Q_ANSWER;
	}
	if (q->flags & Q_BOUND)
		q->out |= (uint8_t)((a & OUTS) >> OUT_SHIFT);
}

void
stream_empty(struct world *w, uint8_t h, uint8_t i)
{
	struct qp *q = &w->id[h][i].qp;

	if (q->fsm.state != QP_FSM_DRAINING || q->work != W_NONE || q->flags & (Q_ASKED | Q_ANSWER | Q_RTR_DUE))
		return;
	stream_qp(w, h, i, QP_EV_EMPTY);
	world_check(!(q->flags & Q_BOUND) || q->out & QP_OUT_DRAINED >> OUT_SHIFT,
		    "Close: a QP that has drained says so, for FIN to go");
}

static void
heard(struct world *w, uint8_t h, uint8_t i)
{
	struct qp *q = &w->id[h][i].qp;

	if (q->flags & Q_HEARD)
		return;
	q->flags |= Q_HEARD;
	stream_qp(w, h, i, QP_EV_FPDU);
}

static void
take_fpdu(struct world *w, uint8_t h, uint8_t i, enum item it)
{
	struct qp *q = &w->id[h][i].qp;
	bool fault = false;

	switch ((int)it) {
	case I_RTR:
		break;
	case I_MORE:
		fault = q->flags & Q_OPEN || !q->recv;
		q->flags |= Q_OPEN;
		break;
	case I_LAST:
		fault = !(q->flags & Q_OPEN);
		q->flags &= (uint8_t)~Q_OPEN;
		q->recv = 0;
		break;
	case I_READ:
		fault = q->flags & Q_ANSWER;
		q->flags |= Q_ANSWER;
		break;
	case I_RESP:
		fault = !(q->flags & Q_ASKED);
		q->flags &= (uint8_t)~Q_ASKED;
		q->work = q->work == W_READ_SENT ? W_NONE : q->work;
		break;
	case I_TERM:
		heard(w, h, i);
		stream_qp(w, h, i, QP_EV_TERM_RECV);
		return;
	default:
		fault = true;
	}
	if (fault)
		stream_qp(w, h, i, QP_EV_FAULT);
	else
		heard(w, h, i);
	stream_empty(w, h, i);
}

static void
feed(struct world *w, uint8_t c, uint8_t h)
{
	struct ep *e = &w->conn[c].ep[h];
	uint8_t i = (uint8_t)(e->owner - 1);

	while (e->got && e->flags & EP_STREAM) {
		enum item it = wire_read(w, c, h);

		if (!qp_fsm_receives((enum qp_fsm_state)w->id[h][i].qp.fsm.state))
			continue;
		e->flags |= it == I_TERM ? EP_GOT_TERM | EP_GOT_FPDU : EP_GOT_FPDU;
		take_fpdu(w, h, i, it);
	}
}

/* Fills one FPDU; false: there is nothing to fill, or no room. */
bool
stream_fill(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	struct qp *q = &id->qp;
	uint8_t c = (uint8_t)(id->conn - 1), state = q->fsm.state;
	enum item it = I_NONE;

	if (!id->conn || !(id->flags & ID_STARTED) || w->conn[c].ep[!h].n > 2 || !wire_may_send(w, c, h))
		return false;
	if (state == QP_FSM_TERMINATING)
		it = I_TERM;
	else if (!qp_fsm_sends((enum qp_fsm_state)state))
		return false;
	else if (q->flags & Q_RTR_DUE)
		it = I_RTR;
	else if (q->work == W_SEND_HALF)
		it = I_LAST;
	else if (q->flags & Q_ANSWER)
		it = I_RESP;
	else if (q->work == W_SEND)
		it = I_MORE;
	else if (q->work == W_READ)
		it = I_READ;
	else
		return false;
	wire_send(w, c, h, it);
	if (it == I_TERM) {
		stream_qp(w, h, i, QP_EV_TERM_SENT);
	} else if (it == I_RTR || it == I_RESP) {
		q->flags &= (uint8_t) ~(it == I_RTR ? Q_RTR_DUE : Q_ANSWER);
	} else {
		q->flags |= it == I_READ ? Q_ASKED : 0;
		q->work = it == I_MORE ? W_SEND_HALF : it == I_READ ? W_READ_SENT : W_NONE;
	}
	stream_empty(w, h, i);
	stream_outs(w, h, i);
	return true;
}

/* What the QP reports, as cm_stream_out(). */
bool
stream_outs(struct world *w, uint8_t h, uint8_t i)
{
	static const struct {
		uint32_t bits;
		enum cm_event ev;
	} order[] = {{QP_OUT_FIRST_FPDU, CM_EV_FIRST_FPDU},
		     {QP_OUT_TERM_SENT | QP_OUT_TERM_RECV, CM_EV_TERM},
		     {QP_OUT_FATAL, CM_EV_FATAL},
		     {QP_OUT_DRAINED, CM_EV_DRAINED}};
	struct id *id = &w->id[h][i];
	uint32_t bits = (uint32_t)id->qp.out << OUT_SHIFT;

	if (!bits)
		return false;
	id->qp.out = 0;
	for (size_t n = 0; n < sizeof(order) / sizeof(order[0]); n++)
		if (bits & order[n].bits && id->kind && id->flags & ID_STARTED)
			effects_step(w, h, i, order[n].ev);
	return true;
}

/* cm_stream_look(). */
static void
look(struct world *w, uint8_t c, uint8_t h)
{
	uint8_t owner = w->conn[c].ep[h].owner, i = (uint8_t)(owner - 1);
	enum cm_event ev = CM_EVENT_MAX;

	if (!owner || !(w->id[h][i].flags & ID_STARTED))
		return;
	switch (w->id[h][i].qp.fsm.state) {
	case QP_FSM_TERMINATING:
		ev = CM_EV_BROKEN;
		break;
	case QP_FSM_TERMINATED:
		ev = CM_EV_TERM;
		break;
	case QP_FSM_ERROR:
		ev = w->conn[c].ep[h].flags & (EP_GOT_TERM | EP_TERM) ? CM_EV_TERM : CM_EV_FATAL;
		break;
	}
	if (ev != CM_EVENT_MAX)
		effects_step(w, h, i, ev);
}

/* ---- start-up frames ---- */

static void
read_reply(struct world *w, uint8_t c, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	enum cm_event ev = CM_EV_REPLY_BAD;

	switch ((int)wire_read(w, c, h)) {
	case I_REP_P2P:
		if (!run.sc->p2p || w->conn[c].ep[h].flags & EP_REPLY)
			break;
		id->flags |= ID_P2P | ID_RTR_DUE;
		w->conn[c].ep[h].flags |= EP_P2P;
		ev = CM_EV_REPLY;
		break;
	case I_REP:
		ev = CM_EV_REPLY;
		break;
	case I_REJ:
		ev = CM_EV_REPLY_REJECT;
		break;
	case I_UNFIT:
		ev = CM_EV_REPLY_TERM;
		break;
	}
	w->conn[c].ep[h].flags |= EP_GOT_REPLY;
	effects_step(w, h, i, ev);
}

static void
read_request(struct world *w, uint8_t c, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	struct ep *e = &w->conn[c].ep[h];
	bool alone = e->got == 1 && !(e->flags & EP_PART);
	enum item it = wire_read(w, c, h);

	if ((it != I_REQ2 && it != I_REQ1) || !alone || world_fails(FAIL_MBUF)) {
		effects_step(w, h, i, CM_EV_REQUEST_BAD);
		return;
	}
	id->flags |= ID_SETUP | (it == I_REQ2 && run.sc->p2p ? ID_P2P : 0);
	effects_step(w, h, i, w->asking >= run.sc->backlog ? CM_EV_REQUEST_FULL : CM_EV_REQUEST);
}

static void
read_startup(struct world *w, uint8_t c, uint8_t h)
{
	struct ep *e = &w->conn[c].ep[h];
	uint8_t i = (uint8_t)(e->owner - 1), phase = e->owner ? w->id[h][i].st.phase : CM_IDLE;

	if (phase == CM_AWAIT_REPLY && e->got)
		read_reply(w, c, h, i);
	else if (phase == CM_AWAIT_REQUEST && e->got)
		read_request(w, c, h, i);
	else if (phase == CM_RECV && wire_pending(w, c, h))
		effects_step(w, h, i, CM_EV_EXTRA);
	else if (phase == CM_ORPHAN)
		wire_swallow(w, c, h);
}

/* ---- one ready entry, as engine_rx.c and cm_stream_ends() ---- */

static void
ends(struct world *w, uint8_t c, uint8_t h, bool force)
{
	static const struct {
		uint8_t bit, ev;
	} order[] = {{TCP_READY_FIN, CM_EV_FIN},
		     {TCP_READY_RST, CM_EV_RST},
		     {TCP_READY_TIMEOUT, CM_EV_TIMEOUT},
		     {TCP_READY_UNREACH, CM_EV_UNREACH},
		     {TCP_READY_CLOSED, CM_EV_CLOSED}};
	struct ep *e = &w->conn[c].ep[h];
	bool mid;

	for (size_t n = 0; n < sizeof(order) / sizeof(order[0]); n++) {
		uint8_t i = (uint8_t)(e->owner - 1);
		struct id *id = &w->id[h][i];

		if (!e->owner || !(e->held & order[n].bit))
			continue;
		if (cm_fsm_is_streaming(&id->st) && id->qp.flags & Q_BOUND && e->got && !force)
			return;
		mid = id->flags & ID_STARTED && (id->qp.flags & (Q_OPEN | Q_ASKED) || wire_pending(w, c, h)) &&
		      !(id->st.bits & CM_P_DISCONNECT);
		effects_step(w, h, i, (enum cm_event)order[n].ev);
		world_check(!mid || !(id->st.bits & CM_P_DISCONNECT),
			    "DISCONNECT: no message is unfinished, no Read of ours outstanding");
		if (e->owner && id->flags & ID_AGAIN) {
			id->flags &= (uint8_t)~ID_AGAIN;
			continue; /* fed again when the octets were read */
		}
		e->held &= (uint8_t)~order[n].bit;
	}
}

static void
all_outs(struct world *w, uint8_t h)
{
	bool any = true;

	for (uint32_t n = 0; any && n < 4; n++) {
		any = false;
		for (uint8_t i = 0; i < IDS; i++)
			any |= stream_outs(w, h, i);
	}
}

void
stream_serve(struct world *w, uint8_t c, uint8_t h)
{
	struct ep *e = &w->conn[c].ep[h];

	if (e->held & TCP_READY_UP) {
		e->held &= (uint8_t)~TCP_READY_UP;
		if (e->owner && w->id[h][e->owner - 1].st.phase == CM_LISTENING)
			effects_arrive(w, c, h);
		else if (e->owner)
			effects_step(w, h, (uint8_t)(e->owner - 1), CM_EV_UP);
	}
	read_startup(w, c, h);
	if (e->owner && !run.lazy)
		feed(w, c, h);
	all_outs(w, h);
	look(w, c, h);
	ends(w, c, h, false);
	if (e->owner && e->held && !run.lazy) { /* AGAIN: once more, with the octets read */
		feed(w, c, h);
		all_outs(w, h);
		look(w, c, h);
		ends(w, c, h, false);
	}
	all_outs(w, h);
}

bool
stream_force(struct world *w, uint8_t c, uint8_t h)
{
	struct ep *e = &w->conn[c].ep[h];

	if (!e->owner || !(e->held & ~TCP_READY_FIN) || !e->got)
		return false;
	look(w, c, h);
	ends(w, c, h, true);
	all_outs(w, h);
	return true;
}
