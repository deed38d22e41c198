/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_conn.h"

#include <assert.h>
#include <iwarp/err.h>

#include "iw_addr.h"
#include "len.h"
#include "tcp_ecn.h"
#include "tcp_flight.h"
#include "tcp_isn.h"
#include "tcp_listener.h"
#include "tcp_out.h"
#include "tcp_pvt.h"
#include "tcp_timer.h"

#define WND_UNSCALED_MAX 65535u

/* Everything that does not depend on the peer's SYN. */
static void
init(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	struct tcp_tuple tuple = tcp_tuple_of(tcp_conn_local(c), tcp_conn_remote(c));

	c->iss = tcp_isn_seq(tcp->env, &tuple, now_ns);
	c->ts_offset = tcp_isn_ts_offset(tcp->env, &tuple);
	c->rcv_buf = tcp->params.rcv_buf;
	c->rcv_wscale = tcp_out_wscale(tcp);
	c->peer_mss = tcp_out_own_mss(tcp, tcp_conn_remote(c));
	c->last_rx_ns = c->last_tx_ns = now_ns;
	for (uint32_t i = 0; i < TCP_TIMERS - TCP_FLIGHT_TIMERS; i++)
		c->at_ns[i] = IW_NEVER;
	tcp_rcvbuf_init(&c->rcvbuf);
	tcp_conn_set(c, TCP_CONN_SLOW);
	tcp_conn_set_mtu(c, c->route.mtu);
	tcp_conn_set_attr(tcp, c, NULL);
}

/* An entry of its own, or that of the TIME_WAIT record before it, which ends here. */
static int
enter_demux(struct tcp *tcp, struct tcp_conn *c, uint32_t timewait)
{
	struct tcp_tuple tuple = tcp_tuple_of(tcp_conn_local(c), tcp_conn_remote(c));

	if (!timewait)
		return tcp_demux_add(&tcp->demux, &tuple, TCP_DEMUX_CONN, c->handle, &c->demux);
	c->demux = tcp_timewait_hand_over(&tcp->timewait, timewait);
	tcp_demux_set(&tcp->demux, c->demux, TCP_DEMUX_CONN, c->handle);
	return 0;
}

static void
leave_demux(struct tcp *tcp, struct tcp_conn *c)
{
	if (c->demux)
		tcp_demux_del(&tcp->demux, c->demux);
	c->demux = 0;
}

struct tcp_conn *
tcp_conn_create(struct tcp *tcp, const struct iw_addr *local, const struct iw_addr *remote, uint32_t timewait,
		uint64_t now_ns, int *err)
{
	uint32_t handle;
	struct tcp_conn *c = (struct tcp_conn *)iw_pool_get(&tcp->conns, &handle);

	*err = -IW_E_NOMEM;
	if (!c)
		return NULL;
	c->handle = handle;
	*err = net_route_from(tcp->net, local, remote, &c->route);
	c->route.src.port = local->port;
	if (*err == 0)
		*err = enter_demux(tcp, c, timewait);
	if (*err) {
		iw_pool_put(&tcp->conns, handle);
		return NULL;
	}
	init(tcp, c, now_ns);
	return c;
}

void
tcp_conn_free(struct tcp *tcp, struct tcp_conn *c)
{
	tcp_conn_leave_backlog(tcp, c);
	tcp_timer_stop_all(tcp, c);
	iw_list_del(&c->ready_link);
	iw_list_del(&c->tx_link);
	leave_demux(tcp, c);
	tcp_flight_drop(tcp, c);
	iw_list_del(&c->wait_link);
	tcp_rxq_fini(&c->rxq, &tcp->rxq_pool);
	if (c->rcv_buf > tcp->params.rcv_buf)
		tcp->rcv_grown -= c->rcv_buf - tcp->params.rcv_buf;
	iw_pool_put(&tcp->conns, c->handle);
}

/* In milliseconds, rounded up: none becomes 0, which has another meaning. */
static uint32_t
ms_of(uint64_t ns)
{
	uint64_t ms = ns / IW_MS + (ns % IW_MS != 0);

	return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

void
tcp_conn_set_attr(struct tcp *tcp, struct tcp_conn *c, const struct tcp_attr *attr)
{
	c->user_timeout_ms = ms_of(attr && attr->user_timeout_ns ? attr->user_timeout_ns : TCP_USER_TIMEOUT_NS);
	c->keepalive_ms = attr ? ms_of(attr->keepalive_ns) : 0;
	c->keepalive_step_ms = attr ? attr->keepalive_step_ms : 0;
	c->keepalive_limit = attr && attr->keepalive_probes ? attr->keepalive_probes : TCP_KEEPALIVE_PROBES;
	if (tcp_conn_synchronized(c))
		tcp_timer_keepalive(tcp, c);
}

struct tcp_conn *
tcp_conn_at(const struct tcp *tcp, uint32_t handle)
{
	return (struct tcp_conn *)iw_pool_at(&tcp->conns, handle);
}

struct tcp_conn *
tcp_conn_user(const struct tcp *tcp, uint32_t handle)
{
	struct tcp_conn *c = tcp_conn_at(tcp, handle);

	return c && !tcp_conn_has(c, TCP_CONN_RELEASED) ? c : NULL;
}

/* Nothing is sent or expected any more; what was received stays readable. */
static void
quiesce(struct tcp *tcp, struct tcp_conn *c)
{
	tcp_timer_stop_all(tcp, c);
	iw_list_del(&c->tx_link);
	if (!tcp_conn_has(c, TCP_CONN_EMBRYO))
		iw_list_del(&c->wait_link);
	tcp_flight_drop(tcp, c);
	tcp_conn_clear(c, TCP_CONN_ACK_NOW | TCP_CONN_ACK_OWED | TCP_CONN_PROBE | TCP_CONN_KEEPALIVE |
				  TCP_CONN_ROOM_WANTED | TCP_CONN_CLOSE_WANTED);
}

void
tcp_conn_set_state(struct tcp *tcp, struct tcp_conn *c, enum tcp_state next)
{
	assert(next == c->state || tcp_fsm_may_move((enum tcp_state)c->state, next));
	c->state = (uint8_t)next;
	tcp_conn_slow(c);
	if (next == TCP_CLOSED)
		leave_demux(tcp, c);
	if (next == TCP_CLOSED || next == TCP_TIME_WAIT)
		quiesce(tcp, c);
}

/* The 4-tuple goes on as a record (design D8); the ACK of the peer's FIN leaves at once, the object has no later. */
static void
to_timewait(struct tcp *tcp, struct tcp_conn *c, bool ack, uint64_t now_ns)
{
	struct tcp_timewait_state st = {.snd_nxt = c->snd_nxt,
					.rcv_nxt = tcp_conn_rcv_nxt(c),
					.rcv_wnd = tcp_conn_rcv_wnd(c),
					.ts_recent = c->ts_recent,
					.ts_offset = c->ts_offset,
					.demux = c->demux,
					.tag = c->tag,
					.rcv_wscale = c->rcv_wscale,
					.has_ts = tcp_conn_has(c, TCP_CONN_TS)};
	uint32_t old, rec;

	if (ack)
		tcp_out_ack(tcp, c, now_ns);
	rec = tcp_timewait_add(&tcp->timewait, &st, now_ns);
	if (!rec && tcp_timewait_evict(&tcp->timewait, &old)) {
		tcp->n.timewait_evicted++;
		tcp_demux_del(&tcp->demux, old);
		rec = tcp_timewait_add(&tcp->timewait, &st, now_ns);
	}
	if (!rec) { /* every place is taken by tags that nobody has fetched */
		tcp->n.timewait_evicted++;
		leave_demux(tcp, c);
		return;
	}
	tcp->n.timewait_made++;
	tcp_demux_set(&tcp->demux, c->demux, TCP_DEMUX_TIMEWAIT, rec);
	c->demux = 0;
}

/* Behind everything appended so far.  Without a record, or a flight, it is tried again by the next emit (spec T36). */
static void
queue_fin(struct tcp *tcp, struct tcp_conn *c)
{
	if (!tcp_flight_take(tcp, c, TCP_FLIGHT_CONTROL) ||
	    !tcp_txq_append_ctl(&c->fl->txq, &tcp->txq_pool, TCP_REC_FIN))
		tcp_conn_set(c, TCP_CONN_CLOSE_WANTED);
	else
		tcp_conn_clear(c, TCP_CONN_CLOSE_WANTED);
}

bool
tcp_conn_retry_fin(struct tcp *tcp, struct tcp_conn *c)
{
	if (tcp_conn_has(c, TCP_CONN_CLOSE_WANTED) && c->state > TCP_ESTABLISHED)
		queue_fin(tcp, c);
	return !tcp_conn_has(c, TCP_CONN_CLOSE_WANTED) || c->state <= TCP_ESTABLISHED;
}

/* Our SYN leaves, or leaves again with the ACK of the peer's.  Records are kept back for this (tcp_tx_append), so
 * there is one; the flight was taken before. */
static void
queue_syn(struct tcp *tcp, struct tcp_conn *c)
{
	struct tcp_txq_rec *rec;

	if (tcp_txq_empty(&c->fl->txq)) {
		tcp_txq_init(&c->fl->txq, c->iss);
		tcp_txq_append_ctl(&c->fl->txq, &tcp->txq_pool, TCP_REC_SYN);
		c->snd_una = c->snd_nxt = c->iss;
	}
	rec = tcp_txq_first(&c->fl->txq);
	if (rec && (rec->flags & TCP_REC_SENT))
		tcp_txq_mark_lost(&c->fl->txq, rec);
	tcp_conn_set(c, TCP_CONN_FORCE);
	tcp_conn_kick(tcp, c);
}

bool
tcp_conn_resume(struct tcp *tcp, struct tcp_conn *c, const struct tcp_syn_ack *sent, uint64_t now_ns)
{
	struct tcp_txq_rec *rec;

	c->iss = sent->iss;
	if (!tcp_flight_take(tcp, c, TCP_FLIGHT_CONTROL))
		return false;
	tcp_conn_event(tcp, c, TCP_EV_PASSIVE_OPEN, now_ns);
	tcp_conn_take_syn(tcp, c, sent->syn, now_ns);
	tcp_conn_event(tcp, c, TCP_EV_RCV_SYN, now_ns);
	rec = tcp_txq_first(&c->fl->txq);
	if (!rec)
		return false;
	tcp_txq_sent(&c->fl->txq, rec, sent->sent_ns);
	if (!sent->sent_ns) /* at some time before: only an echoed timestamp may tell the RTT */
		tcp_txq_sent(&c->fl->txq, rec, now_ns);
	c->snd_nxt = sent->iss + 1;
	return true;
}

static void
established(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	bool lost = tcp_conn_has(c, TCP_CONN_SYN_LOST);

	tcp->n.established++;
	tcp_conn_clear(c, TCP_CONN_FORCE);
	tcp_rtt_established(&c->fl->rtt, lost);
	tcp_cc_init(&c->fl->cc, tcp_cc_ops_of(tcp->params.cc), c->emss, lost);
	c->fl->limited_end = c->fl->ecn_end = c->iss;
	c->fl->recover = c->iss; /* RFC 6582 §3.2: the initial send sequence number */
	tcp_timer_set(tcp, c, TCP_TIMER_USER, IW_NEVER);
	tcp_timer_update(tcp, c, true, now_ns);
	tcp_timer_keepalive(tcp, c);
	tcp_conn_kick(tcp, c);
}

static uint32_t
ready_bits(uint32_t actions)
{
	static const struct {
		uint32_t action, bit;
	} map[] = {{TCP_ACT_UP, TCP_READY_UP},
		   {TCP_ACT_GOT_FIN, TCP_READY_FIN},
		   {TCP_ACT_GOT_RST, TCP_READY_RST},
		   {TCP_ACT_TIMED_OUT, TCP_READY_TIMEOUT},
		   {TCP_ACT_GOT_UNREACH, TCP_READY_UNREACH},
		   {TCP_ACT_ENDED, TCP_READY_CLOSED}};
	uint32_t bits = 0;

	for (uint32_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (actions & map[i].action)
			bits |= map[i].bit;
	return bits;
}

static void
count(struct tcp *tcp, uint32_t actions)
{
	tcp->n.resets += (actions & TCP_ACT_GOT_RST) != 0;
	tcp->n.timeouts += (actions & TCP_ACT_TIMED_OUT) != 0;
	tcp->n.unreach += (actions & TCP_ACT_GOT_UNREACH) != 0;
}

/* The actions of one step that send or wait for something; the state is the new one. */
static void
act(struct tcp *tcp, struct tcp_conn *c, uint32_t actions, uint64_t now_ns)
{
	if (actions & (TCP_ACT_SYN | TCP_ACT_SYN_ACK))
		queue_syn(tcp, c);
	if (actions & TCP_ACT_UP)
		established(tcp, c, now_ns);
	if (actions & TCP_ACT_TIME_WAIT)
		to_timewait(tcp, c, (actions & TCP_ACT_ACK) != 0, now_ns);
	else if (actions & TCP_ACT_ACK)
		tcp_conn_ack(tcp, c, true);
	if (actions & TCP_ACT_FIN) {
		queue_fin(tcp, c);
		tcp_conn_kick(tcp, c);
	}
	if (actions & TCP_ACT_DEFER_CLOSE)
		tcp_conn_set(c, TCP_CONN_CLOSE_WANTED);
	if ((actions & TCP_ACT_LINGER) && tcp_conn_has(c, TCP_CONN_RELEASED))
		tcp_timer_linger(tcp, c, TCP_FIN_WAIT_2_NS, now_ns);
}

void
tcp_conn_event(struct tcp *tcp, struct tcp_conn *c, enum tcp_event event, uint64_t now_ns)
{
	struct tcp_step step = tcp_fsm_step((enum tcp_state)c->state, event);

	count(tcp, step.actions);
	/* RST and the last ACK speak of the state that ends. */
	if (step.actions & TCP_ACT_RST)
		tcp_out_rst(tcp, c, now_ns);
	tcp_conn_set_state(tcp, c, step.next);
	act(tcp, c, step.actions, now_ns);
	tcp_conn_ready(tcp, c, ready_bits(step.actions));
	if ((step.actions & TCP_ACT_UP) && tcp_conn_has(c, TCP_CONN_CLOSE_WANTED))
		tcp_conn_event(tcp, c, TCP_EV_CLOSE, now_ns);
}

bool
tcp_conn_settle(struct tcp *tcp, struct tcp_conn *c)
{
	bool ended = c->state == TCP_CLOSED || c->state == TCP_TIME_WAIT;

	if (!ended || !tcp_conn_has(c, TCP_CONN_RELEASED))
		return false;
	tcp_conn_free(tcp, c);
	return true;
}

void
tcp_conn_ready(struct tcp *tcp, struct tcp_conn *c, uint32_t bits)
{
	if (!bits || tcp_conn_has(c, TCP_CONN_RELEASED))
		return;
	c->ready_bits |= bits;
	iw_list_add(&tcp->ready, &c->ready_link);
}

void
tcp_conn_kick(struct tcp *tcp, struct tcp_conn *c)
{
	if (iw_list_linked(&c->tx_link))
		return;
	iw_list_add(&tcp->tx, &c->tx_link);
	tcp->tx_at_ns = tcp->now_ns;
}

void
tcp_conn_ack(struct tcp *tcp, struct tcp_conn *c, bool now)
{
	if (!tcp_conn_has(c, TCP_CONN_ACK_OWED))
		c->ack_poll = tcp->poll;
	tcp_conn_set(c, now ? TCP_CONN_ACK_OWED | TCP_CONN_ACK_NOW : TCP_CONN_ACK_OWED);
	tcp_conn_kick(tcp, c);
}

void
tcp_conn_set_mtu(struct tcp_conn *c, uint32_t mtu)
{
	uint32_t path = mtu > tcp_conn_header_octets(c) + TCP_MSS_MIN ? mtu - tcp_conn_header_octets(c) : TCP_MSS_MIN;
	uint32_t mss = path < c->peer_mss ? path : c->peer_mss;

	c->emss = mss - (tcp_conn_has(c, TCP_CONN_TS) ? TCP_HDR_TS_LEN : 0);
	if (!c->fl)
		return;
	c->fl->emss_recip = (UINT64_C(1) << 40) / c->emss + 1;
	tcp_cc_set_mss(&c->fl->cc, c->emss);
}

void
tcp_conn_take_syn(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	uint32_t mss = tcp_hdr_mss(seg, iw_addr_is_v4(tcp_conn_remote(c)));

	c->peer_mss = (uint16_t)iw_len_max(mss, TCP_MSS_MIN);
	c->irs = seg->seq;
	c->last_ack_sent = seg->seq + 1;
	tcp_rxq_init(&c->rxq, seg->seq + 1);
	c->rcv_adv = seg->seq + 1 + (c->rcv_buf < WND_UNSCALED_MAX ? c->rcv_buf : WND_UNSCALED_MAX);
	tcp_conn_set(c, (seg->has_ts ? TCP_CONN_TS : 0u) | (seg->sack_perm ? TCP_CONN_SACK : 0u) |
				(seg->has_ws ? TCP_CONN_WS : 0u));
	c->snd_wscale = seg->has_ws ? seg->ws : 0;
	if (!seg->has_ws)
		c->rcv_wscale = 0;
	tcp_ecn_take_syn(tcp, c, seg);
	c->ts_recent = seg->has_ts ? seg->tsval : 0;
	c->ts_recent_ns = now_ns;
	c->snd_wnd = c->snd_max_wnd = seg->wnd; /* never scaled on a SYN (RFC 7323 §2.2) */
	c->snd_wl1 = seg->seq;
	c->snd_wl2 = seg->ack;
	tcp_conn_set_mtu(c, c->route.mtu);
}

void
tcp_conn_leave_backlog(struct tcp *tcp, struct tcp_conn *c)
{
	struct tcp_listener *l;

	if (!tcp_conn_has(c, TCP_CONN_EMBRYO))
		return;
	tcp_conn_clear(c, TCP_CONN_EMBRYO);
	iw_list_del(&c->wait_link);
	if (tcp_conn_has(c, TCP_CONN_ROOM_WANTED) && !c->fl)
		tcp_flight_starve(tcp, c);
	l = (struct tcp_listener *)iw_pool_at(&tcp->listeners, c->listener);
	if (l)
		l->used--;
}
