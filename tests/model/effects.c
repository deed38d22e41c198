/* SPDX-License-Identifier: BSD-3-Clause */
/* What the table asks for, done to the small world: cm_step.c, cm_active.c, cm_passive.c, cm_close.c and cm_qp.c. */
#include <string.h>

#include "world.h"

/* ---- facts ---- */

void
effects_facts(const struct world *w, uint8_t h, uint8_t i, struct cm_state *st)
{
	const struct id *id = &w->id[h][i];
	uint8_t c = (uint8_t)(id->conn - 1);
	bool pending = id->conn && wire_pending(w, c, h);
	uint32_t facts = 0;

	if (id->flags & ID_SETUP) {
		facts |= id->flags & ID_ONCE_MORE && id->conn && !pending ? CM_F_RETRY : 0;
		facts |= id->flags & ID_P2P ? CM_F_P2P : 0;
		facts |= run.sc->delay && h == 0 ? CM_F_DELAY : 0;
	}
	if (id->flags & ID_RTR_DUE && id->conn && !(w->conn[c].ep[h].flags & EP_RTR_ACKED))
		facts |= CM_F_RTR_DUE;
	if (id->flags & ID_STARTED) {
		facts |= id->qp.work == W_SEND_HALF || id->qp.fsm.state == QP_FSM_TERMINATING ? CM_F_CUT : 0;
		facts |= id->qp.flags & (Q_OPEN | Q_ASKED) || pending ? CM_F_MID : 0;
	}
	st->bits = (st->bits & ~(uint32_t)CM_F_ALL) | facts;
}

/* ---- the QP ---- */

static bool
start(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	struct ep *e = &w->conn[id->conn - 1].ep[h];
	bool initiator = e->flags & EP_REQUEST;

	if (world_fails(FAIL_MBUF) || id->qp.fsm.state != QP_FSM_IDLE)
		return false;
	id->qp.flags |= (uint8_t)((initiator ? Q_INITIATOR : 0) | (id->flags & ID_P2P ? Q_P2P : 0));
	if (initiator && id->flags & ID_P2P)
		id->qp.flags |= Q_RTR_DUE;
	stream_qp(w, h, i, initiator ? QP_EV_START_INITIATOR : QP_EV_START_RESPONDER);
	id->flags |= ID_STARTED;
	e->flags |= EP_STREAM;
	id->tw = run.sc->timewait ? id->conn : 0;
	if (id->qp.flags & Q_RTR_DUE && wire_may_send(w, (uint8_t)(id->conn - 1), h) && !world_fails(FAIL_MBUF)) {
		id->qp.flags &= (uint8_t)~Q_RTR_DUE;
		wire_send(w, (uint8_t)(id->conn - 1), h, I_RTR);
	}
	return true;
}

static void
qp_end(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	bool ended = id->st.phase == CM_DEAD || id->st.phase == CM_REFUSED;

	if (id->flags & ID_STARTED)
		stream_qp(w, h, i, ended && !id->st.status ? QP_EV_END_OK : QP_EV_END_ERR);
	else if (id->qp.flags & Q_BOUND && id->st.phase == CM_DEAD)
		stream_qp(w, h, i, QP_EV_KILL);
	if (id->conn)
		w->conn[id->conn - 1].ep[h].flags &= (uint16_t)~EP_STREAM;
	id->qp.flags &= (uint8_t) ~(Q_BOUND | Q_RTR_DUE);
	id->qp.out = 0;
	id->flags &= (uint8_t)~ID_STARTED;
}

/* ---- the connection ---- */

static void
forget(struct id *id)
{
	id->conn = 0;
	id->flags &= (uint8_t)~ID_RTR_DUE;
}

/* An attempt is given up by RST before its Request has left only, and never between Reply and RTR. */
static void
check_rst(const struct world *w, const struct ep *e, uint8_t c, uint8_t h)
{
	bool synced = e->tcp == TCP_ESTABLISHED || e->tcp == TCP_FIN_WAIT_1 || e->tcp == TCP_FIN_WAIT_2;

	if (!(e->flags & EP_REQUEST) || !synced || e->flags & EP_RTR_ACKED)
		return;
	world_check(w->conn[c].accepted != 2 || e->flags & EP_TERM, "P11: no RST between Reply and RTR");
	world_check(e->flags & EP_GOT_REPLY, "P9: given up after the Request by FIN");
	(void)h;
}

static void
abort_conn(struct world *w, uint8_t h, struct id *id)
{
	uint8_t c = (uint8_t)(id->conn - 1);

	if (!id->conn)
		return;
	check_rst(w, &w->conn[c].ep[h], c, h);
	wire_tcp(w, c, h, TCP_EV_ABORT);
	wire_release(w, c, h);
	forget(id);
}

static void
finish_conn(struct world *w, uint8_t h, struct id *id)
{
	if (!id->conn)
		return;
	wire_swallow(w, (uint8_t)(id->conn - 1), h);
	wire_tcp(w, (uint8_t)(id->conn - 1), h, TCP_EV_CLOSE);
	wire_release(w, (uint8_t)(id->conn - 1), h);
	forget(id);
}

static void
orphan_conn(struct world *w, uint8_t h, struct id *id)
{
	struct id *o = &w->id[h][ORPHAN];
	uint8_t c = (uint8_t)(id->conn - 1);
	struct ep *e = &w->conn[c].ep[h];

	if (!id->conn)
		return;
	wire_swallow(w, c, h);
	wire_tcp(w, c, h, TCP_EV_CLOSE);
	if ((e->tcp != TCP_FIN_WAIT_1 && e->tcp != TCP_FIN_WAIT_2) || o->kind || world_fails(FAIL_ID)) {
		finish_conn(w, h, id);
		return;
	}
	memset(o, 0, sizeof(*o));
	o->kind = K_ORPHAN;
	o->conn = id->conn;
	e->owner = ORPHAN + 1;
	forget(id);
	effects_step(w, h, ORPHAN, CM_EV_ORPHANED);
}

/* Revision 1, on a new connection. */
static bool
retry(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	uint8_t c;

	world_check(id->flags & ID_ONCE_MORE, "connect: one retry");
	finish_conn(w, h, id);
	id->flags &= (uint8_t)~ID_ONCE_MORE;
	if (world_fails(FAIL_MBUF))
		return false;
	c = wire_new(w);
	if (c == CONNS)
		return false;
	w->conn[c].ep[h].owner = (uint8_t)(i + 1);
	id->conn = (uint8_t)(c + 1);
	wire_tcp(w, c, h, TCP_EV_ACTIVE_OPEN);
	return true;
}

/* ---- frames ---- */

static bool
frame(struct world *w, uint8_t h, const struct id *id, enum item it)
{
	if (!id->conn || !wire_may_send(w, (uint8_t)(id->conn - 1), h) || world_fails(FAIL_MBUF))
		return false;
	wire_send(w, (uint8_t)(id->conn - 1), h, it);
	return true;
}

static bool
request(struct world *w, uint8_t h, struct id *id)
{
	bool rev_1 = run.sc->revision_1 || (run.sc->once_more && !(id->flags & ID_ONCE_MORE));

	return frame(w, h, id, rev_1 ? I_REQ1 : I_REQ2);
}

static bool
reply(struct world *w, uint8_t h, struct id *id)
{
	bool p2p = id->flags & ID_P2P;

	if (!frame(w, h, id, p2p ? I_REP_P2P : I_REP))
		return false;
	w->conn[id->conn - 1].accepted = p2p ? 2 : 1;
	return true;
}

/* ---- lists ---- */

static void
leave(struct world *w, struct id *id)
{
	if (id->flags & ID_COUNTED && id->flags & ID_ON_LIST)
		w->asking--;
	id->flags &= (uint8_t) ~(ID_COUNTED | ID_ON_LIST);
}

static void
unlisten(struct world *w, uint8_t h)
{
	for (uint8_t i = 1; i < IDS; i++)
		if (w->id[h][i].kind && w->id[h][i].flags & ID_ON_LIST) {
			effects_step(w, h, i, CM_EV_LISTENER_GONE);
			world_check(!w->id[h][i].kind || !(w->id[h][i].flags & ID_ON_LIST),
				    "P6: every child has left its listener");
		}
	for (uint8_t c = 0; c < CONNS; c++)
		if (w->conn[c].ep[h].owner == LISTENER + 1) { /* not adopted yet */
			wire_tcp(w, c, h, TCP_EV_ABORT);
			wire_release(w, c, h);
		}
}

/* ---- the step ---- */

void
effects_trim(struct id *id)
{
	if (!cm_fsm_is_starting(&id->st))
		id->flags &= (uint8_t) ~(ID_SETUP | ID_P2P | ID_ONCE_MORE);
}

static void
free_id(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];

	world_check(!id->conn, "P5: an id is freed without a connection");
	world_check(!(id->qp.flags & Q_BOUND), "P5, P6: an id is freed without a QP");
	world_check(!(id->flags & ID_ON_LIST), "P5: an id is freed off its listener's list");
	if (w->telling[h] == i + 1)
		w->telling[h] = GONE;
	memset(id, 0, sizeof(*id));
}

static enum cm_event
act_setup(struct world *w, uint8_t h, uint8_t i, uint32_t a)
{
	struct id *id = &w->id[h][i];
	enum cm_event failed = CM_EVENT_MAX;

	if (a & CM_A_CANCEL_TW)
		id->tw = 0;
	if (a & CM_A_RETRY && !retry(w, h, i))
		failed = CM_EV_RETRY_FAIL;
	if (a & CM_A_REQUEST && !request(w, h, id))
		failed = CM_EV_START_FAIL;
	if (a & CM_A_REPLY && !reply(w, h, id))
		failed = CM_EV_START_FAIL;
	if (a & CM_A_REJECT)
		(void)frame(w, h, id, I_REJ);
	if (a & CM_A_TERM)
		(void)frame(w, h, id, I_TERM);
	if (a & CM_A_START && failed == CM_EVENT_MAX && !start(w, h, i))
		failed = CM_EV_START_FAIL;
	return failed;
}

static void
act_close(struct world *w, uint8_t h, uint8_t i, uint32_t a)
{
	struct id *id = &w->id[h][i];

	if (a & CM_A_QP_CLOSE && id->qp.flags & Q_BOUND) {
		stream_qp(w, h, i, QP_EV_CLOSE);
		stream_empty(w, h, i);
	}
	if (a & CM_A_QP_END)
		qp_end(w, h, i);
	if (a & CM_A_FIN && id->conn)
		wire_tcp(w, (uint8_t)(id->conn - 1), h, TCP_EV_CLOSE);
	if (a & CM_A_ABORT)
		abort_conn(w, h, id);
	if (a & CM_A_FINISH)
		finish_conn(w, h, id);
	if (a & CM_A_ORPHAN)
		orphan_conn(w, h, id);
	if (a & CM_A_AGAIN)
		id->flags |= ID_AGAIN;
}

static void
act_lists(struct world *w, uint8_t h, uint8_t i, uint32_t a)
{
	struct id *id = &w->id[h][i];

	if (a & CM_A_ENTER) {
		w->asking++;
		id->flags |= ID_COUNTED;
	}
	if (a & CM_A_LEAVE)
		leave(w, id);
	if (a & CM_A_UNLISTEN)
		unlisten(w, h);
}

int
effects_step(struct world *w, uint8_t h, uint8_t i, enum cm_event ev)
{
	struct id *id = &w->id[h][i];
	enum cm_event failed;
	struct cm_step step;

	if (++run.depth > 8) {
		world_check(false, "P4: a step comes to an end");
		return 0;
	}
	effects_facts(w, h, i, &id->st);
	step = cm_fsm_step(&id->st, ev);
	failed = act_setup(w, h, i, step.actions);
	act_close(w, h, i, step.actions);
	act_lists(w, h, i, step.actions);
	id->st.bits &= ~(uint32_t)CM_F_ALL; /* facts are made anew before each step */
	if (step.actions & CM_A_FREE)
		free_id(w, h, i);
	else if (failed != CM_EVENT_MAX)
		effects_step(w, h, i, failed);
	else
		effects_trim(id);
	run.depth--;
	return step.ret;
}

/* cm_startup_arrive(). */
void
effects_arrive(struct world *w, uint8_t c, uint8_t h)
{
	uint8_t i = 1;

	while (i < ORPHAN && w->id[h][i].kind)
		i++;
	if (i == ORPHAN || world_fails(FAIL_ID)) {
		wire_tcp(w, c, h, TCP_EV_ABORT);
		wire_release(w, c, h);
		return;
	}
	w->id[h][i] = (struct id){.kind = K_CHILD, .conn = (uint8_t)(c + 1), .flags = ID_ON_LIST};
	w->conn[c].ep[h].owner = (uint8_t)(i + 1);
	effects_step(w, h, i, CM_EV_ARRIVE);
}
