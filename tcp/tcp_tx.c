/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_tx.h"

#include <assert.h>
#include <iwarp/err.h>

#include "len.h"
#include "seq.h"
#include "tcp_conn.h"
#include "tcp_flight.h"
#include "tcp_loss.h"
#include "tcp_out.h"
#include "tcp_pace.h"
#include "tcp_pvt.h"
#include "tcp_run.h"
#include "tcp_timer.h"

#define GRANT_MAX 64u   /* segments in one grant */
#define TURN_MAX 64u    /* frames of one connection before the next one has its turn */
#define QUEUE_MAX 4096u /* records of one connection */
#define SHARE_LEAST 16u /* records that each connection may hold as long as there are any */

/* How a connection's turn ended. */
enum turn {
	TURN_IDLE, /* nothing more to send for now */
	TURN_MORE, /* the frames allowed were used up */
	TURN_ACK,  /* an owed ACK waits for the end of the next poll */
	TURN_NO_MBUF,
	TURN_UNHEARD /* the next hop is being asked for its address */
};

static enum turn
turn_of(int err)
{
	return err == -IW_E_AGAIN ? TURN_UNHEARD : TURN_NO_MBUF;
}

/* ---- grant and append ---- */

/* Room in the peer's window behind all that was appended (spec T9: it may be negative). */
static uint32_t
window_room(const struct tcp_conn *c, uint32_t from)
{
	int32_t room = iw_seq_diff(c->snd_una + c->snd_wnd, from);

	return room > 0 ? (uint32_t)room : 0;
}

/* Room in the congestion window behind what is in the network, lost and waiting, and appended. */
static uint32_t
cwnd_room(const struct tcp_conn *c)
{
	const struct tcp_txq *q = &c->fl->txq;
	uint32_t waiting = q->lost_octets > q->retrans ? q->lost_octets - q->retrans : 0;
	uint32_t taken = tcp_loss_pipe(c) + waiting + tcp_txq_unsent(q);

	return c->fl->cc.cwnd > taken ? c->fl->cc.cwnd - taken : 0;
}

static bool
may_fill(const struct tcp_conn *c)
{
	return tcp_conn_may_send(c) && !tcp_conn_has(c, TCP_CONN_CLOSE_WANTED);
}

/* Of so many that are free, those that a connection with `held` may still take: what it holds stays at most what it
 * leaves to all others (X3: a peer that withholds its ACKs), or a few. */
static uint32_t
share_left(uint32_t free, uint32_t held)
{
	uint32_t half = free > held ? (free - held + 1) / 2 : 0, few = SHARE_LEAST > held ? SHARE_LEAST - held : 0;

	return iw_len_min(iw_len_max(half, few), free);
}

/* Records that data of this connection may use.  One for the SYN or FIN of each connection is kept back; who has
 * nothing under way may always have one, or nothing would ever wake it. */
static uint32_t
records_left(const struct tcp *tcp, const struct tcp_conn *c)
{
	uint32_t all = tcp->txq_pool.max - tcp->txq_pool.used, kept = tcp->params.max_conns;
	uint32_t free = all > kept ? all - kept : 0, held = c->fl->txq.recs;

	if (free == 0 && all > 0 && tcp_txq_empty(&c->fl->txq))
		return 1;
	return held < QUEUE_MAX ? iw_len_min(share_left(free, held), QUEUE_MAX - held) : 0;
}

/* It has a flight. */
static uint32_t
grant_segments(const struct tcp *tcp, const struct tcp_conn *c)
{
	uint32_t room = iw_len_min(cwnd_room(c), window_room(c, c->fl->txq.end)), segments;
	uint32_t most = iw_len_min(GRANT_MAX, records_left(tcp, c));

	if (!may_fill(c) || most == 0)
		return 0;
	if (room >= most * c->emss)
		return most;
	segments = (uint32_t)((room * c->fl->emss_recip) >> 40);
	/* Nothing at all is under way: one record to send in slices or to probe with (design D21). */
	return segments == 0 && tcp_txq_empty(&c->fl->txq) ? 1 : segments;
}

struct tcp_grant
tcp_tx_grant(struct tcp *tcp, uint32_t conn)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);
	struct tcp_grant grant = {0, 0};

	if (!c)
		return grant;
	grant.emss = c->emss;
	if (may_fill(c) && !tcp_flight_take(tcp, c, TCP_FLIGHT_DATA))
		tcp_flight_starve(tcp, c);
	if (c->fl)
		grant.segments = grant_segments(tcp, c);
	if (grant.segments == 0)
		tcp_conn_set(c, TCP_CONN_ROOM_WANTED);
	return grant;
}

void
tcp_tx_opened(struct tcp *tcp, struct tcp_conn *c)
{
	if (tcp_conn_has(c, TCP_CONN_ROOM_WANTED) && grant_segments(tcp, c)) {
		tcp_conn_clear(c, TCP_CONN_ROOM_WANTED);
		tcp_conn_ready(tcp, c, TCP_READY_ROOM);
	}
	if (c->fl->txq.unsent || tcp_txq_lost_first(&c->fl->txq) || c->phase == TCP_PHASE_RECOVERY)
		tcp_conn_kick(tcp, c);
}

static bool
takes_data(const struct tcp_conn *c)
{
	return (tcp_conn_may_send(c) || c->state == TCP_SYN_SENT || c->state == TCP_SYN_RCVD) &&
	       !tcp_conn_has(c, TCP_CONN_CLOSE_WANTED);
}

/* Without a grant come frames of a start-up and Terminates. */
static inline int
may_append(struct tcp *tcp, struct tcp_conn *c)
{
	if (!c || !takes_data(c))
		return -IW_E_NOTCONN;
	return tcp_flight_take(tcp, c, TCP_FLIGHT_CONTROL) && records_left(tcp, c) ? 0 : -IW_E_NOMEM;
}

int
tcp_tx_may_append(struct tcp *tcp, uint32_t conn)
{
	return may_append(tcp, tcp_conn_user(tcp, conn));
}

int
tcp_tx_append(struct tcp *tcp, uint32_t conn, struct rte_mbuf *m)
{
	uint16_t sum = tcp_txq_sum(&tcp->txq_pool, m);

	return tcp_tx_append_summed(tcp, conn, &m, &sum, 1);
}

/* Returns how many are in the queue. */
static uint32_t
append(struct tcp *tcp, struct tcp_conn *c, struct rte_mbuf **m, const uint16_t *sum, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t len = rte_pktmbuf_pkt_len(m[i]);

		assert(len > 0 && rte_pktmbuf_headroom(m[i]) >= TCP_HEADROOM);
		if (!tcp_txq_append(&c->fl->txq, &tcp->txq_pool, m[i], sum[i]))
			break;
		c->appended += len;
	}
	if (i > 0)
		tcp_conn_kick(tcp, c);
	return i;
}

int
tcp_tx_append_summed(struct tcp *tcp, uint32_t conn, struct rte_mbuf **m, const uint16_t *sum, uint32_t n)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);
	int err = may_append(tcp, c);
	uint32_t done = err ? 0 : append(tcp, c, m, sum, n);

	if (done == n)
		return 0;
	rte_pktmbuf_free_bulk(m + done, n - done);
	return err ? err : -IW_E_NOMEM;
}

/* ---- one connection's turn ---- */

static bool
is_control(const struct tcp_txq_rec *rec)
{
	return (rec->flags & (TCP_REC_SYN | TCP_REC_FIN)) != 0;
}

/* Whether congestion control lets this record go: always one when nothing is in the network. */
static bool
cwnd_allows(struct tcp_conn *c, const struct tcp_txq_rec *rec)
{
	uint32_t pipe = tcp_loss_pipe(c);

	return pipe == 0 || pipe + rec->len <= c->fl->cc.cwnd || tcp_conn_has(c, TCP_CONN_FORCE) || is_control(rec);
}

/* Octets of an unsent record that may go by the peer's window: all, none, or a slice where the window is small for
 * good (RFC 9293 §3.8.6.2.1: D <= U; or U >= half of the largest window; or the override timer has fired). */
static uint32_t
window_allows(const struct tcp_conn *c, const struct tcp_txq_rec *rec)
{
	uint32_t room = window_room(c, rec->seq);

	if (is_control(rec) || rec->len <= room)
		return rec->len;
	if (iw_seq_leq(rec->seq + room, c->snd_una)) /* no new octet: the peer has what a probe brought it */
		return 0;
	if (room > 0 && (room >= c->snd_max_wnd / 2 || tcp_conn_has(c, TCP_CONN_PROBE)))
		return room;
	return 0;
}

/* The state lets it go: data and FIN not before the handshake is over. */
static bool
state_allows(const struct tcp_conn *c, const struct tcp_txq_rec *rec)
{
	return (rec->flags & TCP_REC_SYN) || (c->state != TCP_SYN_SENT && c->state != TCP_SYN_RCVD);
}

bool
tcp_tx_has_new(const struct tcp_conn *c)
{
	const struct tcp_txq_rec *rec = c->fl->txq.unsent;

	return rec && state_allows(c, rec) && window_allows(c, rec) > 0;
}

/* The next record: what is lost, then new ones (NextSeg() of RFC 6675 §4, rules 1 and 2; RFC 8985 knows no others).
 * F-RTO turns it round, and stops all when its segments are used up (RFC 5682 §3.1 step 2b). */
static struct tcp_txq_rec *
candidate(const struct tcp_conn *c)
{
	struct tcp_txq_rec *rec = tcp_txq_lost_first(&c->fl->txq);

	if (c->fl->undo.frto == TCP_FRTO_NEW)
		return c->fl->undo.frto_left ? c->fl->txq.unsent : NULL;
	return rec ? rec : c->fl->txq.unsent;
}

/* How much of it may go now; 0: nothing. */
static uint32_t
octets_now(const struct tcp_conn *c, const struct tcp_txq_rec *rec)
{
	uint32_t octets = rec->flags & TCP_REC_SENT ? rec->len : window_allows(c, rec);

	return is_control(rec) ? octets : iw_len_min(octets, c->emss);
}

/* By the rules of its phase; NULL: nothing may go. */
static struct tcp_txq_rec *
next_rec(struct tcp_conn *c, uint32_t *octets)
{
	struct tcp_txq_rec *rec = candidate(c);

	if (!rec || !state_allows(c, rec) || !cwnd_allows(c, rec))
		return NULL;
	*octets = octets_now(c, rec);
	return *octets ? rec : NULL;
}

/* What pacing and recovery have to know of a record that left. */
static void
note_sent(struct tcp_conn *c, const struct tcp_txq_rec *rec, bool again, uint64_t now_ns)
{
	struct tcp_pace_rate rate = tcp_conn_rate(c);

	tcp_conn_clear(c, TCP_CONN_FORCE | TCP_CONN_PROBE);
	if (c->phase == TCP_PHASE_RECOVERY)
		tcp_prr_sent(&c->fl->prr, rec->len);
	if (tcp_pace_applies(&rate))
		tcp_pace_sent(&c->fl->pace, &rate, rec->len, now_ns);
	if (again)
		tcp_loss_resent(c, rec, now_ns);
	else if (c->fl->undo.frto_left)
		c->fl->undo.frto_left--;
}

static int
send_rec(struct tcp *tcp, struct tcp_conn *c, struct tcp_txq_rec *rec, uint32_t octets, struct tcp_out_train *train,
	 uint64_t now_ns)
{
	bool again = (rec->flags & TCP_REC_SENT) != 0;
	int err = 0;

	tcp_run_after_idle(c, rec, now_ns);
	if (octets < rec->len) {
		err = tcp_txq_split(&c->fl->txq, &tcp->txq_pool, rec, octets);
		tcp->n.tx_splits += err == 0;
	}
	if (err == 0)
		err = tcp_out_rec(tcp, c, rec, train, now_ns);
	if (err == 0)
		note_sent(c, rec, again, now_ns);
	return err;
}

/* Whether pacing holds it back; then its deadline is set. */
static bool
is_paced(struct tcp *tcp, struct tcp_conn *c, const struct tcp_txq_rec *rec, uint64_t now_ns)
{
	struct tcp_pace_rate rate = tcp_conn_rate(c);
	uint64_t at;

	if ((rec->flags & TCP_REC_SENT) || !tcp_pace_applies(&rate))
		return false;
	at = tcp_pace_next(&c->fl->pace, &rate);
	if (at <= now_ns)
		return false;
	/* As good as limited by cwnd: the rate follows from it. */
	if (c->phase == TCP_PHASE_OPEN && tcp_loss_pipe(c) >= c->fl->cc.cwnd / 2)
		c->fl->limited_end = c->fl->txq.nxt;
	tcp_timer_set(tcp, c, TCP_TIMER_PACE, at);
	return true;
}

/* Retransmissions, then new records; adds to *made. */
static enum turn
send_recs(struct tcp *tcp, struct tcp_conn *c, uint32_t max, uint32_t *made, uint64_t now_ns)
{
	struct tcp_out_train train = {.head.len = 0};
	struct tcp_txq_rec *rec;
	uint32_t octets, n;
	int err = tcp_run_send(tcp, c, max - *made, &train, now_ns, &n);

	*made += n;
	while (err == 0 && (rec = next_rec(c, &octets)) != NULL && !is_paced(tcp, c, rec, now_ns)) {
		if (*made == max)
			return TURN_MORE;
		err = send_rec(tcp, c, rec, octets, &train, now_ns);
		*made += err == 0;
	}
	if (err)
		return turn_of(err);
	if (c->phase == TCP_PHASE_OPEN && tcp_loss_pipe(c) + c->emss > c->fl->cc.cwnd)
		c->fl->limited_end = c->fl->txq.nxt;
	return TURN_IDLE;
}

/* The tail loss probe: a new record, whatever cwnd says, else the highest one again (RFC 8985 §7.3). */
static enum turn
probe_tail(struct tcp *tcp, struct tcp_conn *c, uint32_t max, uint32_t *made, uint64_t now_ns)
{
	struct tcp_out_train train = {.head.len = 0};
	struct tcp_txq_rec *rec;
	bool fresh;

	if (!tcp_conn_has(c, TCP_CONN_TLP))
		return TURN_IDLE;
	fresh = tcp_tx_has_new(c);
	rec = fresh ? c->fl->txq.unsent : tcp_txq_last_sent(&c->fl->txq);
	if (!rec || (rec->flags & (TCP_REC_SACKED | TCP_REC_LOST)) || c->phase != TCP_PHASE_OPEN) {
		tcp_conn_clear(c, TCP_CONN_TLP);
		return TURN_IDLE;
	}
	if (*made == max)
		return TURN_MORE;
	if (send_rec(tcp, c, rec, octets_now(c, rec), &train, now_ns))
		return TURN_NO_MBUF;
	tcp_loss_probed(tcp, c, !fresh, now_ns);
	++*made;
	return TURN_IDLE;
}

/* Nothing is in flight and the window holds back what waits: persist; its probe when it has fired. */
static enum turn
persist(struct tcp *tcp, struct tcp_conn *c, uint32_t max, uint32_t *made, uint64_t now_ns)
{
	bool stuck = c->fl->txq.unsent && c->fl->txq.sent_recs == 0 && state_allows(c, c->fl->txq.unsent);

	tcp_timer_persist(tcp, c, stuck, now_ns);
	if (!stuck || !tcp_conn_has(c, TCP_CONN_PROBE))
		return TURN_IDLE;
	if (*made == max)
		return TURN_MORE;
	if (tcp_out_probe(tcp, c, c->fl->txq.unsent, now_ns))
		return TURN_NO_MBUF;
	tcp_conn_clear(c, TCP_CONN_PROBE);
	++*made;
	return TURN_IDLE;
}

static enum turn
send_ack(struct tcp *tcp, struct tcp_conn *c, uint32_t max, uint32_t *made, uint64_t now_ns)
{
	bool keepalive = tcp_conn_has(c, TCP_CONN_KEEPALIVE);
	int err;

	if (!keepalive && !tcp_conn_has(c, TCP_CONN_ACK_OWED))
		return TURN_IDLE;
	if (!keepalive && !tcp_conn_has(c, TCP_CONN_ACK_NOW) && c->ack_poll == tcp->poll)
		return TURN_ACK;
	if (*made == max)
		return TURN_MORE;
	err = keepalive ? tcp_out_keepalive(tcp, c, now_ns) : tcp_out_ack(tcp, c, now_ns);
	if (err)
		return TURN_NO_MBUF;
	tcp_conn_clear(c, TCP_CONN_KEEPALIVE);
	++*made;
	return TURN_IDLE;
}

/* Records of every kind. */
static enum turn
send_data(struct tcp *tcp, struct tcp_conn *c, uint32_t max, uint32_t *made, uint64_t now_ns)
{
	uint32_t before = c->fl->txq.nxt;
	enum turn turn = send_recs(tcp, c, max, made, now_ns);

	if (turn == TURN_IDLE)
		turn = persist(tcp, c, max, made, now_ns);
	tcp_timer_update(tcp, c, false, now_ns);
	if (c->fl->txq.nxt != before)
		tcp_loss_arm(tcp, c, now_ns);
	if (turn == TURN_IDLE)
		turn = probe_tail(tcp, c, max, made, now_ns);
	return turn;
}

/* Everything one connection may send now, at most max frames. */
static enum turn
take_turn(struct tcp *tcp, struct tcp_conn *c, uint32_t max, uint32_t *made, uint64_t now_ns)
{
	bool fin_waits = !tcp_conn_retry_fin(tcp, c);
	enum turn turn = TURN_IDLE, then;

	if (c->fl) /* what is before the FIN: its ACK may give back the record that the FIN waits for */
		turn = send_data(tcp, c, max, made, now_ns);
	if (turn == TURN_MORE)
		return turn;
	then = send_ack(tcp, c, max, made, now_ns);
	if (turn == TURN_IDLE)
		turn = then;
	return turn == TURN_IDLE && fin_waits ? TURN_NO_MBUF : turn;
}

/* ---- emit ---- */

/* When the connections that could not finish are to be looked at again. */
static void
want_poll(struct tcp *tcp, enum turn turn, uint64_t now_ns)
{
	uint64_t at = turn == TURN_NO_MBUF || turn == TURN_UNHEARD ? iw_time_after(now_ns, TCP_NO_MBUF_NS) : now_ns;

	tcp->tx_at_ns = iw_time_min(tcp->tx_at_ns, at);
}

/* Some next hop has answered, or failed to: everybody who waited for one tries again. */
static void
retry_unheard(struct tcp *tcp)
{
	uint32_t settled = net_settled(tcp->net);
	struct iw_link *link;

	if (settled == tcp->settled)
		return;
	tcp->settled = settled;
	while ((link = iw_list_pop(&tcp->unheard)) != NULL)
		iw_list_add(&tcp->tx, &iw_list_entry(link, struct tcp_conn, wait_link)->tx_link);
}

static void
append_list(struct iw_list *to, struct iw_list *from)
{
	struct iw_link *link;

	while ((link = iw_list_pop(from)) != NULL)
		iw_list_add(to, link);
}

uint32_t
tcp_tx_emit(struct tcp *tcp, uint32_t max, uint64_t now_ns)
{
	struct iw_list later; /* those whose turn is over for this poll */
	uint32_t made = 0;
	struct iw_link *link;

	iw_list_init(&later);
	tcp->now_ns = now_ns;
	tcp->tx_at_ns = IW_NEVER;
	retry_unheard(tcp);
	max = iw_len_min(max, net_tx_space(tcp->net));
	while (made < max && (link = iw_list_pop(&tcp->tx)) != NULL) {
		struct tcp_conn *c = iw_list_entry(link, struct tcp_conn, tx_link);
		uint32_t limit = iw_len_min(TURN_MAX, max - made), n = 0;
		enum turn turn = take_turn(tcp, c, limit, &n, now_ns);

		made += n;
		if (turn == TURN_IDLE)
			continue;
		if (turn == TURN_UNHEARD && !iw_list_linked(&c->wait_link)) {
			iw_list_add(&tcp->unheard, &c->wait_link);
			continue;
		}
		iw_list_add(turn == TURN_MORE ? &tcp->tx : &later, link);
		want_poll(tcp, turn, now_ns);
	}
	if (!iw_list_empty(&tcp->tx))
		want_poll(tcp, TURN_MORE, now_ns);
	append_list(&tcp->tx, &later);
	tcp_flight_wake(tcp, now_ns);
	tcp->poll++;
	return made;
}
