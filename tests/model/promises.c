/* SPDX-License-Identifier: BSD-3-Clause */
/* Promises that hold in every state, and those of states in which nothing moves but users. */
#include <string.h>

#include "world.h"

struct run run;

void
world_check(bool holds, const char *promise)
{
	if (!holds && !run.broken)
		run.broken = promise;
}

bool
world_fails(enum failure what)
{
	run.met |= what;
	return run.fail & what;
}

void
world_init(struct world *w, const struct scenario *sc)
{
	memset(w, 0, sizeof(*w));
	run.sc = sc;
	for (uint8_t h = 0; h < HOSTS; h++) {
		w->connects[h] = sc->connects[h];
		w->posts[h] = (uint8_t)(sc->sends[h] + sc->reads[h]);
		for (uint8_t n = 0; n < (sc->two ? 2 : 1) && sc->connects[h]; n++)
			w->id[h][1 + n].kind = K_USER;
	}
	w->kills = sc->kills;
	w->restarts = sc->restarts;
	w->bad = sc->junk;
	w->troubles = sc->troubles;
	if (sc->listens && !sc->hostile[1]) {
		w->id[1][LISTENER].kind = K_USER;
		w->id[1][LISTENER].st.phase = CM_LISTENING;
	}
}

/* P14, written down a second time. */
static enum cm_deadline
deadline_of(uint8_t phase)
{
	switch (phase) {
	case CM_AWAIT_UP:
	case CM_AWAIT_REPLY:
		return CM_T_CONNECT;
	case CM_AWAIT_DELAY:
		return CM_T_DELAY;
	case CM_AWAIT_REQUEST:
		return CM_T_REQUEST;
	case CM_AWAIT_RTR:
		return CM_T_RTR;
	case CM_DRAIN:
	case CM_HALF:
	case CM_AWAIT_FIN:
	case CM_AWAIT_CLOSED:
		return CM_T_CLOSING;
	case CM_TERM_DUE:
	case CM_TERM:
		return CM_T_LINGER;
	case CM_ORPHAN:
		return CM_T_ORPHAN;
	default:
		return CM_T_NONE; /* waits for the user, or for nobody */
	}
}

static bool
has_conn(const struct cm_state *st)
{
	return (st->phase >= CM_AWAIT_UP && st->phase <= CM_AWAIT_DELAY) || st->phase == CM_ORPHAN ||
	       st->phase == CM_AWAIT_REQUEST || st->phase == CM_RECV || cm_fsm_is_streaming(st);
}

static void
check_id(const struct world *w, uint8_t h, const struct id *id)
{
	uint8_t p = id->st.phase;
	bool uses_qp = cm_fsm_is_streaming(&id->st) || (p >= CM_AWAIT_UP && p <= CM_AWAIT_DELAY);

	world_check(id->st.timer == deadline_of(p), "P14: whoever waits for the peer has a timer, nobody else");
	world_check(has_conn(&id->st) == (id->conn != 0), "P5: a connection is held as long as it is needed");
	world_check(uses_qp == ((id->qp.flags & Q_BOUND) != 0), "P5: a QP is held as long as it is needed");
	world_check(p != CM_REFUSED || id->st.bits & CM_P_REFUSAL,
		    "P1: an attempt that is over has a CONNECT_REPLY to tell");
	world_check(p != CM_DEAD || id->st.bits & CM_P_CLOSE, "P2: a connection that is over has a CLOSE to tell");
	world_check(p != CM_IDLE || !(id->seen & (S_OWED | S_ACCEPTED | S_UP)), "P1, P2: an IDLE id owes no event");
	world_check(p != CM_IDLE || !(id->st.bits & CM_M_ALL), "an IDLE id remembers no disconnect");
	world_check(!id->conn || w->conn[id->conn - 1].ep[h].owner == (uint8_t)(id - w->id[h]) + 1,
		    "P13: id and connection know each other");
}

void
world_invariants(const struct world *w)
{
	uint8_t counted = w->others;

	for (uint8_t h = 0; h < HOSTS; h++)
		for (uint8_t i = 0; i < IDS; i++) {
			const struct id *id = &w->id[h][i];

			if (id->kind)
				check_id(w, h, id);
			counted += id->kind && id->flags & ID_COUNTED;
			world_check(!(id->flags & ID_COUNTED) || id->st.phase == CM_RECV ||
					    id->st.phase == CM_RECV_GONE,
				    "P5: who was answered leaves the backlog");
		}
	world_check(counted == w->asking, "P5: the backlog counts those that ask");
	for (uint8_t c = 0; c < CONNS; c++)
		for (uint8_t h = 0; h < HOSTS; h++) {
			uint8_t owner = w->conn[c].ep[h].owner;

			world_check(!owner || w->id[h][owner - 1].kind || run.sc->hostile[h],
				    "P13: a connection names no id that is gone");
		}
}

/* ---- nothing moves but users ---- */

static bool
may_rest(uint8_t phase)
{
	return phase == CM_IDLE || phase == CM_LISTENING || phase == CM_RECV || phase == CM_RECV_GONE ||
	       phase == CM_OPEN;
}

static void
check_rest(const struct world *w, const struct conn *k)
{
	for (uint8_t h = 0; h < HOSTS; h++) {
		const struct ep *me = &k->ep[h], *peer = &k->ep[!h];
		const struct id *id = me->owner ? &w->id[h][me->owner - 1] : NULL;

		if (run.sc->hostile[h])
			continue;
		world_check(!me->held && (!me->got || run.sc->hostile[!h]), "P4: what has arrived is dealt with");
		world_check(me->owner || me->tcp == TCP_CLOSED || w->cut, "P5: connections that were let go end");
		if (!id || id->st.phase != CM_OPEN || w->cut || run.sc->hostile[!h])
			continue;
		world_check(peer->owner && w->id[!h][peer->owner - 1].st.phase == CM_OPEN,
			    "P7: when one side has ended, so has the other");
		world_check(w->id[!h][peer->owner - 1].qp.flags & Q_P2P ? id->qp.flags & Q_P2P
									: !(id->qp.flags & Q_P2P),
			    "P7: both agree on the RTR");
		world_check(id->qp.fsm.state == QP_FSM_RTS || id->qp.fsm.state == QP_FSM_HELD,
			    "P7: an established connection can carry work");
		world_check(id->qp.work == W_NONE || id->qp.fsm.state == QP_FSM_HELD,
			    "P4: work that was posted is done");
	}
}

void
world_at_rest(const struct world *w)
{
	bool empty = true;

	for (uint8_t h = 0; h < HOSTS; h++)
		for (uint8_t i = 0; i < IDS; i++) {
			const struct id *id = &w->id[h][i];

			empty &= !id->kind;
			world_check(!id->kind || may_rest(id->st.phase) ||
					    (run.sc->calm & CALM_TIME && deadline_of(id->st.phase)),
				    "P4: no state without a step, but the final ones");
			world_check(!(id->st.bits & CM_P_ALL), "P4: every event is delivered");
		}
	for (uint8_t c = 0; c < CONNS; c++)
		if (w->conn[c].used)
			check_rest(w, &w->conn[c]);
	for (uint8_t c = 0; empty && !w->cut && c < CONNS; c++)
		world_check(!w->conn[c].used, "P5: with the last id everything is gone");
}
