/* SPDX-License-Identifier: BSD-3-Clause */
/* The user: every call in every state, also from inside every handler; and the language of events that he sees. */
#include <string.h>

#include "world.h"

/* ---- P9: what a call returns, by the specification's table ---- */

#define ANY 1

static int
returns(enum iw_cm_state state, enum cm_event call)
{
	enum { OK = 0, NO = -IW_E_INVAL };
	static const int8_t table[][7] = {
		/* IDLE LISTENING CONN_SENT CONN_RECV ACCEPTED ESTABLISHED CLOSING */
		[CM_EV_LISTEN] = {OK, NO, NO, NO, NO, NO, NO},     [CM_EV_CONNECT] = {OK, NO, NO, NO, NO, NO, NO},
		[CM_EV_ACCEPT] = {NO, NO, NO, ANY, NO, NO, NO},    [CM_EV_REJECT] = {NO, NO, NO, ANY, NO, NO, NO},
		[CM_EV_DISCONNECT] = {OK, NO, OK, OK, OK, OK, OK}, [CM_EV_ABORT] = {OK, NO, OK, OK, OK, OK, OK},
		[CM_EV_DESTROY] = {OK, OK, OK, OK, OK, OK, OK},
	};

	return table[call][state];
}

/* Does the call mean something in this state?  If not, it must not change anything. */
static bool
means_something(const struct id *id, enum cm_event call)
{
	enum iw_cm_state s = cm_fsm_public(&id->st);

	if (call == CM_EV_DISCONNECT || call == CM_EV_ABORT)
		return s != IW_CM_IDLE && s != IW_CM_LISTENING && s != IW_CM_CONN_RECV;
	return returns(s, call) != -IW_E_INVAL;
}

static void
check_idle_call(const struct world *w, uint8_t h, uint8_t i, enum cm_event call)
{
	struct cm_state st = w->id[h][i].st, before;
	struct cm_step step;
	int would;

	effects_facts(w, h, i, &st);
	before = st;
	would = cm_fsm_would(&st, call);
	step = cm_fsm_step(&st, call);
	world_check(step.ret == would && would == returns(cm_fsm_public(&before), call),
		    "P9: a call returns what the table says");
	world_check(memcmp(&st, &before, sizeof(st)) == 0 && !step.actions,
		    "P9: a call that its state does not allow changes nothing");
}

/* ---- calls ---- */

static void
new_qp(struct id *id)
{
	world_check(!(id->qp.flags & Q_BOUND), "P6: no QP is replaced while an id uses it");
	id->qp = (struct qp){.flags = Q_BOUND, .recv = 1};
}

static int
call_connect(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	struct cm_state st = id->st;
	uint8_t c = CONNS;
	int err;

	if (!w->connects[h])
		return 1;
	err = cm_fsm_would(&st, CM_EV_CONNECT);
	if (!err && h == 1 && w->conn[0].used && !w->conn[0].ep[1].owner && w->conn[0].ep[0].tcp == TCP_SYN_SENT &&
	    !run.sc->listens && w->conn[0].ep[1].tcp == TCP_CLOSED && w->conn[0].ep[1].flags == 0)
		c = 0; /* at the same time */
	else if (!err)
		c = run.sc->same_port && w->connects[h] < run.sc->connects[h] ? wire_again(w, h) : wire_new(w);
	if (c == CONNS)
		return 1;
	w->connects[h]--;
	new_qp(id);
	id->conn = (uint8_t)(c + 1);
	id->flags = (uint8_t)(ID_SETUP | (run.sc->once_more ? ID_ONCE_MORE : 0));
	id->seen = (uint8_t)((id->seen & S_SHOWN) | S_OWED);
	w->conn[c].ep[h].owner = (uint8_t)(i + 1);
	wire_tcp(w, c, h, TCP_EV_ACTIVE_OPEN);
	return effects_step(w, h, i, CM_EV_CONNECT);
}

/* cm_startup_probe(): a peer that is gone shows first. */
static void
probe(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	uint8_t c = (uint8_t)(id->conn - 1);

	if (id->st.phase != CM_RECV || id->st.bits & CM_P_REQUEST)
		return;
	if (wire_pending(w, c, h))
		effects_step(w, h, i, CM_EV_EXTRA);
	if (id->conn && w->conn[c].ep[h].tcp != TCP_ESTABLISHED)
		effects_step(w, h, i, CM_EV_FIN);
}

static int
call_answer(struct world *w, uint8_t h, uint8_t i, enum cm_event call)
{
	struct id *id = &w->id[h][i];
	bool gone;
	int ret;

	gone = !id->conn || wire_pending(w, (uint8_t)(id->conn - 1), h) ||
	       w->conn[id->conn - 1].ep[h].tcp != TCP_ESTABLISHED;
	probe(w, h, i);
	world_check(id->st.phase == CM_RECV || id->st.phase == CM_RECV_GONE,
		    "P9: whoever was shown a Request may answer it");
	if (call == CM_EV_ACCEPT && !gone)
		new_qp(id);
	ret = effects_step(w, h, i, call);
	world_check(ret == (gone ? -IW_E_CONNRESET : 0),
		    "P9: accept and reject: 0, or -ECONNRESET when the peer is gone");
	world_check(ret == 0 || cm_fsm_public(&id->st) == IW_CM_IDLE, "P9: -ECONNRESET leaves the id IDLE");
	world_check(call == CM_EV_ACCEPT || id->st.phase == CM_IDLE, "P9: after reject the id is IDLE");
	if (call == CM_EV_ACCEPT && ret == 0)
		id->seen |= S_ACCEPTED;
	return ret;
}

/* Its user destroys the QP or sets it to ERROR. */
static bool
call_kill(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];

	if (!w->kills || !(id->qp.flags & Q_BOUND))
		return false;
	w->kills--;
	effects_step(w, h, i, CM_EV_QP_GONE);
	stream_qp(w, h, i, QP_EV_KILL);
	world_check(!(id->qp.flags & Q_BOUND), "P6: a QP is never freed while an id can reach it");
	world_check(!id->conn || !(w->conn[id->conn - 1].ep[h].flags & EP_STREAM),
		    "P6: a QP is never freed while TCP can reach it");
	return true;
}

static bool
do_call(struct world *w, uint8_t h, uint8_t i, enum cm_event call)
{
	struct id *id = &w->id[h][i];
	enum iw_cm_state before = cm_fsm_public(&id->st);
	struct ep *e = id->conn ? &w->conn[id->conn - 1].ep[h] : NULL;
	bool asked = id->st.phase == CM_RECV;
	int ret;

	switch ((int)call) {
	case CM_EV_CONNECT:
		ret = call_connect(w, h, i);
		return ret != 1;
	case CM_EV_ACCEPT:
	case CM_EV_REJECT:
		ret = call_answer(w, h, i, call);
		return true;
	case CM_EV_LISTEN:
		if (h != 1 || i != LISTENER)
			return false;
		break;
	case CM_EV_DESTROY:
		if (i == LISTENER && !run.sc->unlistens)
			return false;
		break;
	}
	ret = effects_step(w, h, i, call);
	world_check(ret == 0, "P9: a call returns what the table says");
	if ((call == CM_EV_DISCONNECT || call == CM_EV_ABORT) && id->seen & S_UP)
		id->seen |= S_QUIT;
	if ((call == CM_EV_DISCONNECT || call == CM_EV_ABORT) && before == IW_CM_ACCEPTED)
		id->seen |= S_LATER;
	world_check(call != CM_EV_DESTROY || !asked || !e || e->flags & EP_REPLY || run.fail,
		    "P9: destroy in CONN_RECV puts a reject on the wire");
	world_check(call != CM_EV_DESTROY || !id->kind, "P3: after destroy the id is gone");
	world_check(call == CM_EV_DESTROY || before != IW_CM_CONN_SENT || cm_fsm_public(&id->st) == IW_CM_CONN_SENT,
		    "P12: no event from inside a call");
	return true;
}

/* Calls that mean something are moves; the others are checked where they stand. */
bool
user_may_call(const struct world *w, uint8_t h, uint8_t i, enum cm_event call)
{
	const struct id *id = &w->id[h][i];

	if (!id->kind || id->kind == K_ORPHAN || (id->kind == K_CHILD && !(id->seen & S_SHOWN)) || run.sc->hostile[h])
		return false;
	if (call == CM_EV_QP_GONE)
		return w->kills && id->qp.flags & Q_BOUND;
	if (means_something(id, call))
		return true;
	check_idle_call(w, h, i, call);
	return false;
}

bool
user_call(struct world *w, uint8_t h, uint8_t i, enum cm_event call)
{
	return call == CM_EV_QP_GONE ? call_kill(w, h, i) : do_call(w, h, i, call);
}

bool
user_post(struct world *w, uint8_t h, uint8_t i, bool read)
{
	struct id *id = &w->id[h][i];
	enum qp_fsm_state s = (enum qp_fsm_state)id->qp.fsm.state;
	uint8_t *left = &w->posts[h];

	if (!*left || !(read ? run.sc->reads[h] : run.sc->sends[h]) || !(id->qp.flags & Q_BOUND) ||
	    id->qp.work != W_NONE || qp_fsm_public(s) != IW_QP_RTS)
		return false;
	(*left)--;
	id->qp.work = read ? W_READ : W_SEND;
	return true;
}

/* ---- handlers ---- */

static void
told_reply(const struct world *w, struct id *id, int status, uint8_t h)
{
	world_check(id->seen & S_OWED, "P1: exactly one CONNECT_REPLY for each connect that returned 0");
	world_check(!(id->seen & S_UP), "P1: CONNECT_REPLY comes before anything else");
	id->seen &= (uint8_t)~S_OWED;
	if (status) {
		world_check(cm_fsm_public(&id->st) == IW_CM_IDLE, "CONNECT_REPLY with an error leaves the id IDLE");
		memset(&id->qp, 0, sizeof(id->qp));
		return;
	}
	id->seen |= S_UP;
	if (!id->conn || run.sc->hostile[!h])
		return;
	world_check(w->conn[id->conn - 1].accepted != 0,
		    "P7: CONNECT_REPLY(0) implies that accept has succeeded there");
	world_check(w->conn[id->conn - 1].accepted == 1 || id->qp.flags & Q_P2P, "P7: both agree on the RTR");
}

static void
told_close(struct id *id)
{
	world_check(id->seen & S_UP, "P2: exactly one CLOSE for each established connection");
	world_check(cm_fsm_public(&id->st) == IW_CM_IDLE, "CLOSE leaves the id IDLE");
	world_check(id->qp.work == W_NONE && !id->qp.recv, "P10: every work request has completed before CLOSE");
	world_check(!(id->qp.flags & Q_BOUND) && !id->conn, "P5: CLOSE lets go of QP and connection");
	id->seen &= (uint8_t) ~(S_UP | S_TOLD | S_QUIT | S_LATER);
	memset(&id->qp, 0, sizeof(id->qp)); /* the user destroys it */
}

static void
told(struct world *w, uint8_t h, uint8_t i, int type, int status)
{
	struct id *id = &w->id[h][i];

	switch (type) {
	case IW_CM_CONNECT_REQUEST:
		world_check(!(id->seen & S_SHOWN), "exactly one CONNECT_REQUEST for each Request");
		world_check(cm_fsm_public(&id->st) == IW_CM_CONN_RECV, "CONNECT_REQUEST shows an id in CONN_RECV");
		id->seen |= S_SHOWN;
		break;
	case IW_CM_CONNECT_REPLY:
		told_reply(w, id, status, h);
		break;
	case IW_CM_ESTABLISHED_EV:
		world_check(id->seen & S_ACCEPTED && !(id->seen & S_UP), "P2: ESTABLISHED exactly once, after accept");
		id->seen = (uint8_t)((id->seen & ~S_ACCEPTED) | S_UP);
		break;
	case IW_CM_DISCONNECT:
		world_check(id->seen & S_UP, "P2: ESTABLISHED before DISCONNECT");
		world_check(!(id->seen & (S_TOLD | S_QUIT)), "P2: DISCONNECT at most once, and not after an own one");
		id->seen |= S_TOLD;
		break;
	case IW_CM_CLOSE:
		told_close(id);
		break;
	case IW_CM_TIMEWAIT_EXIT:
		world_check(!(id->seen & (S_UP | S_ACCEPTED | S_OWED)),
			    "TIMEWAIT_EXIT comes last, and not into a new connection");
		break;
	}
}

bool
user_deliver(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];
	int status = 0, type;

	if (w->telling[h] || !(id->st.bits & CM_P_ALL))
		return false;
	world_check(id->kind && id->kind != K_ORPHAN, "P3: nothing of an id that is gone");
	type = cm_fsm_tell(&id->st, &status);
	told(w, h, i, type, status);
	effects_trim(id);
	w->telling[h] = (uint8_t)(i + 1);
	return true;
}

bool
user_returns(struct world *w, uint8_t h, bool destroy)
{
	uint8_t i = (uint8_t)(w->telling[h] - 1);
	bool due;

	if (!w->telling[h] || (destroy && w->telling[h] == GONE))
		return false;
	if (w->telling[h] != GONE) {
		w->telling[h] = 0;
		due = w->id[h][i].seen & S_LATER && w->id[h][i].seen & S_UP;
		effects_step(w, h, i, destroy ? CM_EV_DESTROY : CM_EV_DONE);
		world_check(!due || w->id[h][i].st.phase != CM_OPEN, "P9: disconnect in ACCEPTED follows ESTABLISHED");
		if (due)
			w->id[h][i].seen &= (uint8_t)~S_LATER;
		world_check(!destroy || !w->id[h][i].kind, "P3: a handler that returns non-zero destroys its id");
	}
	w->telling[h] = 0;
	return true;
}
