/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP: the real table, and queues instead of segments.  Loss and repetition of what TCP sends again are delays here;
 * a RST is sent once: it may be lost, and it may overtake octets, which are lost then. */
#include <string.h>

#include "timewait.h"
#include "world.h"

static struct ep *
other(struct world *w, uint8_t c, uint8_t host)
{
	return &w->conn[c].ep[!host];
}

bool
wire_is_data(enum item it)
{
	return it >= I_REQ2;
}

static void
push(struct world *w, uint8_t c, uint8_t to, enum item it)
{
	struct ep *e = &w->conn[c].ep[to];

	world_check(e->n < CHANNEL, "the model's queue is long enough");
	if (e->n < CHANNEL)
		e->q[e->n++] = (uint8_t)it;
}

static void
take_out(struct ep *e, uint8_t at)
{
	memmove(&e->q[at], &e->q[at + 1], (size_t)(CHANNEL - 1 - at));
	e->q[CHANNEL - 1] = 0;
	e->n--;
}

/* What the TCP table asks for. */
void
wire_tcp(struct world *w, uint8_t c, uint8_t host, enum tcp_event ev)
{
	struct ep *e = &w->conn[c].ep[host];
	struct tcp_step s = tcp_fsm_step((enum tcp_state)e->tcp, ev);

	e->tcp = (uint8_t)s.next;
	if (s.actions & TCP_ACT_SYN)
		push(w, c, !host, I_SYN);
	if (s.actions & TCP_ACT_SYN_ACK)
		push(w, c, !host, I_SYNACK);
	if (s.actions & TCP_ACT_ACK)
		push(w, c, !host, ev == TCP_EV_RCV_FIN ? I_FINACK : I_ACK);
	if (s.actions & TCP_ACT_FIN) {
		/* An initiator that must not reset, and whoever was told by a Terminate, may. */
		world_check(!(e->flags & EP_MID) || e->flags & EP_GOT_TERM ||
				    (e->flags & EP_P2P && !(e->flags & EP_RTR_ACKED)),
			    "P11: no FIN inside a message");
		push(w, c, !host, I_FIN);
	}
	if (s.actions & TCP_ACT_RST)
		push(w, c, !host, I_RST);
	if (s.actions & TCP_ACT_TIME_WAIT && run.sc->timewait && e->owner)
		e->tag = e->owner;
	if (e->flags & EP_RELEASED)
		return;
	e->held |= (s.actions & TCP_ACT_UP ? TCP_READY_UP : 0) | (s.actions & TCP_ACT_GOT_FIN ? TCP_READY_FIN : 0) |
		   (s.actions & TCP_ACT_GOT_RST ? TCP_READY_RST : 0) |
		   (s.actions & TCP_ACT_TIMED_OUT ? TCP_READY_TIMEOUT : 0) |
		   (s.actions & TCP_ACT_GOT_UNREACH ? TCP_READY_UNREACH : 0) |
		   (s.actions & TCP_ACT_ENDED ? TCP_READY_CLOSED : 0);
}

bool
wire_may_send(const struct world *w, uint8_t c, uint8_t host)
{
	uint8_t s = w->conn[c].ep[host].tcp;

	return s == TCP_ESTABLISHED || s == TCP_CLOSE_WAIT;
}

/* P11: every stream that is sent is legal. */
static void
check_legal(const struct conn *k, const struct ep *e, enum item it)
{
	bool initiator = e->flags & EP_REQUEST;

	world_check(!(e->flags & EP_TERM), "P11: nothing after a Terminate");
	switch ((int)it) {
	case I_REQ2:
	case I_REQ1:
		world_check(!initiator, "P11: one Request");
		return;
	case I_REP:
	case I_REP_P2P:
	case I_REJ:
		world_check(!(e->flags & EP_REPLY), "P11: one Reply");
		return;
	case I_TERM:
		world_check(!(e->flags & EP_GOT_TERM), "P11: no Terminate in answer to one");
		break;
	default:
		world_check(!initiator || it == I_RTR || e->flags & EP_RTR || k->accepted != 2, "P11: the RTR first");
	}
	world_check(!initiator || e->flags & EP_GOT_REPLY, "P11: nothing behind the Request before the Reply");
	world_check(!(e->flags & EP_REPLY) || it == I_TERM || e->flags & EP_GOT_FPDU,
		    "P11: no FPDU of the responder first");
}

void
wire_send(struct world *w, uint8_t c, uint8_t host, enum item it)
{
	struct ep *e = &w->conn[c].ep[host];

	world_check(wire_may_send(w, c, host), "P11: octets only into a stream that is open");
	check_legal(&w->conn[c], e, it);
	if (it == I_REQ2 || it == I_REQ1)
		e->flags |= EP_REQUEST;
	else if (it >= I_REP && it <= I_REJ)
		e->flags |= EP_REPLY;
	else
		e->flags |= EP_RTR;
	if (it == I_MORE)
		e->flags |= EP_MID;
	if (it == I_LAST)
		e->flags &= (uint16_t)~EP_MID;
	if (it == I_TERM)
		e->flags = (uint16_t)((e->flags | EP_TERM) & ~EP_MID);
	push(w, c, !host, it);
}

bool
wire_pending(const struct world *w, uint8_t c, uint8_t host)
{
	const struct ep *e = &w->conn[c].ep[host];

	return e->got > 0 || e->flags & EP_PART;
}

void
wire_swallow(struct world *w, uint8_t c, uint8_t host)
{
	while (w->conn[c].ep[host].got)
		(void)wire_read(w, c, host);
	w->conn[c].ep[host].flags &= (uint16_t)~EP_PART;
}

/* The owner lets go; a stream that was neither closed nor aborted is reset, and so is one with unread octets. */
void
wire_release(struct world *w, uint8_t c, uint8_t host)
{
	struct ep *e = &w->conn[c].ep[host];

	e->owner = e->held = 0;
	e->flags |= EP_RELEASED;
	e->flags &= (uint16_t)~EP_STREAM;
	if (e->tcp == TCP_SYN_SENT || e->tcp == TCP_SYN_RCVD || e->tcp == TCP_ESTABLISHED || e->tcp == TCP_CLOSE_WAIT)
		wire_tcp(w, c, host, TCP_EV_ABORT);
	wire_swallow(w, c, host);
}

enum item
wire_read(struct world *w, uint8_t c, uint8_t host)
{
	struct ep *e = &w->conn[c].ep[host];
	enum item it = (enum item)e->q[0];

	take_out(e, 0);
	e->got--;
	return it;
}

/* ---- arrival ---- */

static void
got_data(struct world *w, uint8_t c, uint8_t host, enum item it)
{
	struct ep *e = &w->conn[c].ep[host];
	bool closing = e->tcp == TCP_FIN_WAIT_1 || e->tcp == TCP_FIN_WAIT_2;

	if (e->tcp == TCP_SYN_RCVD) /* it acknowledges the SYN-ACK */
		wire_tcp(w, c, host, TCP_EV_SYN_ACKED);
	if (it == I_RTR)
		push(w, c, !host, I_RTRACK);
	if (e->flags & EP_RELEASED && closing) { /* nobody will read it (RFC 9293 §3.6.1) */
		wire_tcp(w, c, host, TCP_EV_ABORT);
		return;
	}
	e->got++;
}

static void
got_control(struct world *w, uint8_t c, uint8_t host, enum item it)
{
	struct ep *e = &w->conn[c].ep[host];

	switch ((int)it) {
	case I_SYN:
		wire_tcp(w, c, host, TCP_EV_RCV_SYN);
		break;
	case I_SYNACK:
		wire_tcp(w, c, host, e->tcp == TCP_SYN_SENT ? TCP_EV_RCV_SYN_ACK : TCP_EV_SYN_ACKED);
		break;
	case I_ACK:
		if (e->tcp == TCP_SYN_RCVD)
			wire_tcp(w, c, host, TCP_EV_SYN_ACKED);
		break;
	case I_FINACK:
		wire_tcp(w, c, host, TCP_EV_FIN_ACKED);
		break;
	case I_RTRACK:
		e->flags |= EP_RTR_ACKED;
		break;
	case I_FIN:
		if (e->tcp == TCP_SYN_RCVD)
			wire_tcp(w, c, host, TCP_EV_SYN_ACKED);
		wire_tcp(w, c, host, TCP_EV_RCV_FIN);
		break;
	case I_RST:
		wire_tcp(w, c, host, TCP_EV_RCV_RST);
		break;
	}
}

/* Whoever does not know the connection answers with a RST. */
static void
unknown(struct world *w, uint8_t c, uint8_t host, enum item it)
{
	bool hostile = run.sc->hostile[host];
	bool listens = host == 1 && (hostile || w->id[host][LISTENER].st.phase == CM_LISTENING);

	if (it == I_SYN && listens && !w->conn[c].ep[host].flags) {
		w->conn[c].ep[host].tcp = TCP_LISTEN;
		w->conn[c].ep[host].owner = hostile ? 0 : LISTENER + 1;
		wire_tcp(w, c, host, TCP_EV_RCV_SYN);
	} else if (it == I_SYN || it == I_SYNACK || it == I_FIN || wire_is_data(it)) {
		push(w, c, !host, I_RST);
	}
}

void
wire_timewait_end(struct world *w, uint8_t c, uint8_t host)
{
	struct ep *e = &w->conn[c].ep[host];
	uint8_t tag = e->tag;

	e->tcp = TCP_CLOSED;
	e->tag = 0;
	if (!tag || !w->id[host][tag - 1].kind || w->id[host][tag - 1].tw != c + 1)
		return;
	w->id[host][tag - 1].tw = 0;
	effects_step(w, host, (uint8_t)(tag - 1), CM_EV_TIMEWAIT_GONE);
}

/* The same addresses and ports again: the record is handed over to the new connection. */
static void
again(struct world *w, uint8_t c, uint8_t host)
{
	struct ep *e = &w->conn[c].ep[host];
	bool in = timewait_lets_in();

	world_check(in, "P8: TIME_WAIT lets in every SYN that RFC 6191 accepts");
	if (!in)
		return;
	wire_timewait_end(w, c, host);
	e->flags = 0;
	w->conn[c].accepted = 0;
	unknown(w, c, host, I_SYN);
}

bool
wire_receive(struct world *w, uint8_t c, uint8_t host, bool half)
{
	struct ep *e = &w->conn[c].ep[host];
	enum item it = e->got < e->n ? (enum item)e->q[e->got] : I_NONE;
	uint8_t before = e->tcp;

	if (it == I_NONE || w->cut || (it == I_SYN && e->tcp == TCP_TIME_WAIT && (e->owner || e->held || e->got)))
		return false;
	if (half) {
		if (!wire_is_data(it) || e->flags & (EP_PART | EP_RELEASED) || e->tcp == TCP_CLOSED ||
		    e->tcp == TCP_TIME_WAIT)
			return false;
		e->flags |= EP_PART;
		if (e->tcp == TCP_SYN_RCVD)
			wire_tcp(w, c, host, TCP_EV_SYN_ACKED);
		return true;
	}
	e->flags &= (uint16_t)~EP_PART;
	if (!wire_is_data(it) || e->tcp == TCP_CLOSED || e->tcp == TCP_TIME_WAIT ||
	    (e->flags & EP_RELEASED && (e->tcp == TCP_FIN_WAIT_1 || e->tcp == TCP_FIN_WAIT_2)))
		take_out(e, e->got);
	if (before == TCP_CLOSED)
		unknown(w, c, host, it);
	else if (before == TCP_TIME_WAIT && it == I_SYN)
		again(w, c, host);
	else if (before == TCP_TIME_WAIT)
		return true;
	else if (wire_is_data(it))
		got_data(w, c, host, it);
	else
		got_control(w, c, host, it);
	return true;
}

static uint8_t
find_rst(const struct ep *e)
{
	for (uint8_t i = e->got; i < e->n; i++)
		if (e->q[i] == I_RST)
			return i;
	return CHANNEL;
}

bool
wire_rst_first(struct world *w, uint8_t c, uint8_t host)
{
	struct ep *e = &w->conn[c].ep[host];
	uint8_t at = find_rst(e);

	if (at == CHANNEL || at == e->got || w->cut)
		return false;
	while (at-- > e->got)
		take_out(e, e->got);
	return wire_receive(w, c, host, false);
}

bool
wire_rst_lost(struct world *w, uint8_t c, uint8_t host)
{
	struct ep *e = &w->conn[c].ep[host];
	uint8_t at = find_rst(e);

	if (at == CHANNEL || w->cut)
		return false;
	take_out(e, at);
	return true;
}

/* The peer knows nothing of it any more: what is sent again, or keepalive, is answered by RST. */
bool
wire_probe(struct world *w, uint8_t c, uint8_t host)
{
	struct ep *e = &w->conn[c].ep[host];

	if (w->cut || !w->conn[c].used || other(w, c, host)->tcp != TCP_CLOSED || e->n > e->got ||
	    other(w, c, host)->n || e->tcp == TCP_CLOSED || e->tcp == TCP_TIME_WAIT)
		return false;
	e->flags &= (uint16_t)~EP_PART;
	wire_tcp(w, c, host, TCP_EV_RCV_RST);
	return true;
}

/* ---- life ---- */

uint8_t
wire_new(struct world *w)
{
	for (uint8_t c = 0; c < CONNS; c++)
		if (!w->conn[c].used) {
			w->conn[c].used = 1;
			return c;
		}
	return CONNS;
}

uint8_t
wire_again(struct world *w, uint8_t host)
{
	for (uint8_t c = 0; c < CONNS; c++) {
		struct ep *me = &w->conn[c].ep[host], *peer = &w->conn[c].ep[!host];

		if (peer->tcp == TCP_TIME_WAIT && me->tcp == TCP_CLOSED && !me->owner && !me->n && !peer->n) {
			memset(me, 0, sizeof(*me));
			return c;
		}
	}
	return CONNS;
}

/* A connection that is over on both sides, and of which nothing is on its way, is forgotten. */
void
wire_tidy(struct world *w)
{
	for (uint8_t c = 0; c < CONNS; c++) {
		struct conn *k = &w->conn[c];
		bool over = k->used;

		for (uint8_t h = 0; h < HOSTS; h++)
			over &= k->ep[h].tcp == TCP_CLOSED && !k->ep[h].owner && !k->ep[h].n && !k->ep[h].tag;
		if (over)
			memset(k, 0, sizeof(*k));
	}
}
