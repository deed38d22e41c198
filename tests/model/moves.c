/* SPDX-License-Identifier: BSD-3-Clause */
#include "crowd.h"

#include <stdio.h>
#include <string.h>

/* How many places and arguments a kind of move has. */
static const struct shape {
	uint8_t hosts, places, first_arg, args;
	const char *words; /* %s: host */
} shapes[M_KINDS] = {
	[M_RECEIVE] = {2, CONNS, 0, 1, "host %s receives"},
	[M_RECEIVE_LAZY] = {2, CONNS, 0, 1, "host %s receives, and leaves it unread"},
	[M_HALF] = {2, CONNS, 0, 1, "host %s receives half of"},
	[M_RST_FIRST] = {2, CONNS, 0, 1, "host %s receives a RST that has overtaken"},
	[M_RST_LOST] = {2, CONNS, 0, 1, "a RST to host %s is lost, its next is"},
	[M_PROBE] = {2, CONNS, 0, 1, "host %s sends something again, a RST comes back, on its way was"},
	[M_READ] = {2, CONNS, 0, 1, "host %s reads"},
	[M_FORCE] = {2, CONNS, 0, 1, "host %s lets a stream end whose octets nobody takes,"},
	[M_TIMER] = {2, IDS, 0, 1, "host %s: the deadline passes of"},
	[M_TCP_TIMEOUT] = {2, CONNS, 0, 1, "host %s: TCP gives up, on its way was"},
	[M_UNREACH] = {2, CONNS, 0, 1, "host %s: no way to the peer, on its way was"},
	[M_FILL] = {2, IDS, 0, 1, "host %s sends for"},
	[M_SEND] = {2, IDS, 0, 1, "host %s: the user posts a Send on"},
	[M_POST_READ] = {2, IDS, 0, 1, "host %s: the user posts a Read on"},
	[M_CALL] = {2, IDS, CM_EV_LISTEN, CM_EV_QP_GONE + 1, "host %s: the user calls"},
	[M_DELIVER] = {2, IDS, 0, 1, "host %s: an event is delivered of"},
	[M_RETURN] = {2, 1, 0, 1, "host %s: the handler returns,"},
	[M_DESTROY_BY_RETURN] = {2, 1, 0, 1, "host %s: the handler returns \"destroy\","},
	[M_OUT] = {2, IDS, 0, 1, "host %s: the QP reports to"},
	[M_TIMEWAIT_END] = {2, CONNS, 0, 1, "host %s: a TIME_WAIT record ends, on its way was"},
	[M_CUT] = {1, 1, 0, 1, "the cable is cut, seen from %s,"},
	[M_RESTART] = {2, 1, 0, 1, "host %s starts again,"},
	[M_CROWD] = {2, 1, 0, CROWD_MOVES, "host %s: somebody else asks, is answered, is told,"},
	[M_JUNK] = {2, CONNS, I_SYN, ITEMS, "host %s, which obeys TCP only, sends"},
};

bool
moves_nth(uint32_t n, struct move *m)
{
	for (uint8_t kind = 0; kind < M_KINDS; kind++) {
		const struct shape *s = &shapes[kind];
		uint32_t all = (uint32_t)s->hosts * s->places * s->args;

		if (n < all) {
			*m = (struct move){.kind = kind, .host = (uint8_t)(n / (s->places * s->args))};
			m->at = (uint8_t)(n / s->args % s->places);
			m->arg = (uint8_t)(s->first_arg + n % s->args);
			return true;
		}
		n -= all;
	}
	return false;
}

bool
moves_is_own(const struct world *w, const struct move *m)
{
	switch (m->kind) {
	case M_RECEIVE:
	case M_PROBE:
	case M_READ:
	case M_FORCE:
	case M_TIMER:
	case M_FILL:
	case M_DELIVER:
	case M_RETURN:
	case M_OUT:
	case M_TIMEWAIT_END:
		return true;
	case M_TCP_TIMEOUT:
		return w->cut || w->conn[m->at].ep[m->host].flags & EP_RELEASED;
	default:
		return false;
	}
}

/* ---- doing ---- */

static void
serve(struct world *w, uint8_t c, uint8_t h)
{
	if (run.sc->hostile[h]) {
		wire_swallow(w, c, h);
		w->conn[c].ep[h].held = 0;
	} else {
		stream_serve(w, c, h);
	}
}

static bool
is_synchronized(uint8_t s)
{
	return s != TCP_CLOSED && s != TCP_LISTEN && s != TCP_TIME_WAIT && s != TCP_SYN_SENT;
}

static bool
tcp_times_out(struct world *w, uint8_t c, uint8_t h)
{
	struct ep *e = &w->conn[c].ep[h];

	/* What was let go ends by itself, if slowly. */
	if ((!w->cut && !run.sc->timeouts && !(e->flags & EP_RELEASED)) ||
	    !(is_synchronized(e->tcp) || e->tcp == TCP_SYN_SENT))
		return false;
	if (e->tcp == TCP_SYN_RCVD && e->owner == LISTENER + 1) /* a SYN record: nobody hears of it */
		wire_release(w, c, h);
	else
		wire_tcp(w, c, h, TCP_EV_TIMEOUT);
	return true;
}

static bool
unreachable(struct world *w, uint8_t c, uint8_t h)
{
	if (!run.sc->timeouts || w->conn[c].ep[h].tcp != TCP_SYN_SENT)
		return false;
	wire_tcp(w, c, h, TCP_EV_UNREACH);
	return true;
}

static bool
timewait_ends(struct world *w, uint8_t c, uint8_t h)
{
	if (w->conn[c].ep[h].tcp != TCP_TIME_WAIT)
		return false;
	wire_timewait_end(w, c, h);
	return true;
}

/* The process ends without a word, and comes back without memory. */
static bool
restart(struct world *w, uint8_t h)
{
	if (!w->restarts || run.sc->hostile[h] || w->telling[h])
		return false;
	w->restarts--;
	memset(w->id[h], 0, sizeof(w->id[h]));
	w->connects[h] = w->posts[h] = 0;
	if (h == 1)
		w->asking = 0;
	for (uint8_t c = 0; c < CONNS; c++) {
		struct ep *e = &w->conn[c].ep[h];

		if (!w->conn[c].used)
			continue;
		while (e->got)
			(void)wire_read(w, c, h);
		e->tcp = TCP_CLOSED;
		e->owner = e->held = e->tag = 0;
		e->flags = EP_RELEASED;
	}
	return true;
}

/* Anything that TCP lets through. */
static bool
junk(struct world *w, uint8_t c, uint8_t h, enum item it)
{
	struct ep *to = &w->conn[c].ep[!h];

	if (!run.sc->hostile[h] || !w->bad || to->n > 2)
		return false;
	if (it == I_SYN) {
		if (h != 0 || w->conn[c].used || (c > 0 && !w->conn[c - 1].used))
			return false;
		w->conn[c].used = 1;
		wire_tcp(w, c, h, TCP_EV_ACTIVE_OPEN);
	} else if (it == I_FIN || it == I_RST) {
		if (!wire_may_send(w, c, h))
			return false;
		wire_tcp(w, c, h, it == I_FIN ? TCP_EV_CLOSE : TCP_EV_ABORT);
	} else if (wire_is_data(it) && wire_may_send(w, c, h)) {
		to->q[to->n++] = (uint8_t)it;
	} else {
		return false;
	}
	w->bad--;
	return true;
}

static bool
receive(struct world *w, const struct move *m)
{
	uint8_t c = m->at, h = m->host;
	const struct ep *e = &w->conn[c].ep[h];

	run.lazy = m->kind == M_RECEIVE_LAZY;
	if (run.lazy &&
	    (!run.sc->lazy || !(e->flags & EP_STREAM) || e->got >= e->n || !wire_is_data((enum item)e->q[e->got])))
		return false;
	if (m->kind == M_HALF ? !run.sc->split || !wire_receive(w, c, h, true) : !wire_receive(w, c, h, false))
		return false;
	serve(w, c, h);
	return true;
}

static bool
after(struct world *w, const struct move *m, bool happened)
{
	if (happened)
		serve(w, m->at, m->host);
	return happened;
}

static bool
read_on(struct world *w, uint8_t c, uint8_t h)
{
	const struct ep *e = &w->conn[c].ep[h];

	if (!e->owner || !((e->got && e->flags & EP_STREAM) || e->held))
		return false;
	stream_serve(w, c, h);
	return true;
}

static bool
is_trouble(const struct world *w, const struct move *m)
{
	uint8_t kinds = 0;

	if (m->kind == M_RST_FIRST || m->kind == M_TCP_TIMEOUT)
		kinds = CALM_WIRE;
	else if (m->kind == M_DESTROY_BY_RETURN)
		kinds = CALM_USER;
	else if (m->kind == M_TIMER && w->id[m->host][m->at].kind != K_ORPHAN)
		kinds = CALM_TIME;
	else if (m->kind == M_CALL && w->telling[m->host])
		kinds = CALM_HANDLERS;
	if (m->kind == M_CALL && m->arg == CM_EV_ABORT)
		kinds |= CALM_USER;
	else if (m->kind == M_CALL && m->host == 1 && m->arg != CM_EV_ACCEPT && m->arg != CM_EV_REJECT)
		kinds |= CALM_B;
	return kinds & run.sc->calm;
}

static bool
handlers_return_at_once(const struct world *w)
{
	return (run.sc->calm & (CALM_HANDLERS | CALM_USER)) == (CALM_HANDLERS | CALM_USER) && !w->troubles;
}

static bool
timer(struct world *w, uint8_t h, uint8_t i)
{
	struct id *id = &w->id[h][i];

	if (!id->kind || id->st.timer == CM_T_NONE)
		return false;
	effects_step(w, h, i, CM_EV_TIMER);
	return true;
}

static bool
of_a_connection(struct world *w, const struct move *m)
{
	uint8_t c = m->at, h = m->host;

	switch (m->kind) {
	case M_RST_FIRST:
		return after(w, m, wire_rst_first(w, c, h));
	case M_RST_LOST:
		return run.sc->split && wire_rst_lost(w, c, h);
	case M_PROBE:
		return after(w, m, wire_probe(w, c, h));
	case M_READ:
		return read_on(w, c, h);
	case M_FORCE:
		return stream_force(w, c, h);
	case M_TCP_TIMEOUT:
		return after(w, m, tcp_times_out(w, c, h));
	case M_UNREACH:
		return after(w, m, unreachable(w, c, h));
	case M_TIMEWAIT_END:
		return timewait_ends(w, c, h);
	case M_JUNK:
		return junk(w, c, h, (enum item)m->arg);
	default:
		return receive(w, m);
	}
}

static bool
of_a_host(struct world *w, const struct move *m)
{
	uint8_t h = m->host, i = m->at;

	switch (m->kind) {
	case M_TIMER:
		return timer(w, h, i);
	case M_FILL:
		return stream_fill(w, h, i);
	case M_SEND:
	case M_POST_READ:
		return user_post(w, h, i, m->kind == M_POST_READ);
	case M_OUT:
		return stream_outs(w, h, i);
	case M_DELIVER:
		return user_deliver(w, h, i) && (!handlers_return_at_once(w) || user_returns(w, h, false));
	case M_RETURN:
	case M_DESTROY_BY_RETURN:
		return user_returns(w, h, m->kind == M_DESTROY_BY_RETURN);
	case M_CUT:
		if (!run.sc->cuts || w->cut)
			return false;
		w->cut = 1;
		return true;
	case M_RESTART:
		return restart(w, h);
	case M_CROWD:
		return crowd_move(w, h, m->arg);
	default:
		return user_call(w, h, i, (enum cm_event)m->arg);
	}
}

bool
moves_is_of_a_host(uint8_t kind)
{
	return kind == M_TIMER || (kind >= M_FILL && kind <= M_OUT) || kind == M_CUT || kind == M_RESTART ||
	       kind == M_CROWD;
}

/* While a handler runs its host does nothing but what the handler calls. */
static bool
waits_for_handler(const struct world *w, const struct move *m)
{
	return w->telling[m->host] && m->kind != M_CALL && m->kind != M_RETURN && m->kind != M_DESTROY_BY_RETURN &&
	       m->kind != M_SEND && m->kind != M_POST_READ && m->kind != M_RST_LOST && m->kind != M_CUT &&
	       m->kind != M_CROWD;
}

/* Quick, so that most are not tried: a place with nothing in it. */
bool
moves_may(const struct world *w, const struct move *m)
{
	if (!w->troubles && is_trouble(w, m))
		return false;
	if (m->kind == M_CROWD)
		return run.sc->crowd;
	if (m->kind == M_CUT || m->kind == M_RESTART)
		return run.sc->cuts || w->restarts;
	if (m->kind == M_JUNK)
		return w->bad && run.sc->hostile[m->host];
	if (m->kind == M_DELIVER)
		return !w->telling[m->host] && w->id[m->host][m->at].st.bits & CM_P_ALL;
	if (m->kind == M_RETURN || m->kind == M_DESTROY_BY_RETURN)
		return w->telling[m->host];
	if (!moves_is_of_a_host(m->kind))
		return w->conn[m->at].used;
	if (!w->id[m->host][m->at].kind || (m->kind != M_CALL && w->id[m->host][m->at].st.phase == CM_IDLE))
		return false;
	if (m->kind == M_CALL)
		return user_may_call(w, m->host, m->at, (enum cm_event)m->arg);
	return m->kind == M_TIMER || w->id[m->host][m->at].flags & ID_STARTED;
}

bool
moves_do(struct world *w, const struct move *m)
{
	bool done, trouble = is_trouble(w, m);

	run.lazy = false;
	run.depth = run.met = 0;
	run.fail = m->fail;
	if (waits_for_handler(w, m))
		return false;
	done = moves_is_of_a_host(m->kind) ? of_a_host(w, m) : of_a_connection(w, m);
	if (done) {
		wire_tidy(w);
		w->troubles = (uint8_t)(w->troubles - trouble);
	}
	return done;
}

/* ---- words ---- */

static const char *
item_name(const struct ep *e)
{
	static const char *const names[ITEMS] = {"nothing",       "SYN",
						 "SYN-ACK",       "ACK",
						 "ACK of FIN",    "ACK of RTR",
						 "FIN",           "RST",
						 "Request",       "Request (revision 1)",
						 "Reply",         "Reply (peer-to-peer)",
						 "reject",        "Reply that does not fit",
						 "RTR",           "FPDU (more follows)",
						 "FPDU (last)",   "Read Request",
						 "Read Response", "Terminate",
						 "bad octets"};

	return names[e->got < e->n ? e->q[e->got] : 0];
}

void
moves_say(const struct world *before, const struct move *m, char *text, size_t len)
{
	const struct shape *s = &shapes[m->kind];
	char what[128];
	int n = 0;

	if (m->kind == M_CALL)
		n = snprintf(what, sizeof(what), "%s on id %u (%s)", cm_fsm_event_name((enum cm_event)m->arg), m->at,
			     cm_fsm_phase_name((enum cm_phase)before->id[m->host][m->at].st.phase));
	else if (m->kind == M_JUNK)
		n = snprintf(what, sizeof(what), "item %u on connection %u", m->arg, m->at);
	else if (moves_is_of_a_host(m->kind))
		n = snprintf(what, sizeof(what), "id %u (%s)", m->at,
			     cm_fsm_phase_name((enum cm_phase)before->id[m->host][m->at].st.phase));
	else
		n = snprintf(what, sizeof(what), "%s (connection %u)", item_name(&before->conn[m->at].ep[m->host]),
			     m->at);
	if (m->fail && n > 0 && (size_t)n < sizeof(what))
		(void)snprintf(what + n, sizeof(what) - (size_t)n, "; %s",
			       m->fail & FAIL_MBUF ? "memory is short" : "no id is left");
	n = snprintf(text, len, s->words, m->host ? "B" : "A");
	if (n > 0 && (size_t)n < len)
		(void)snprintf(text + n, len - (size_t)n, " %s", what);
}
