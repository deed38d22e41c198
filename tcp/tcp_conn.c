/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_conn.h"

#include <assert.h>
#include <iwarp/err.h>

#include "iw_addr.h"
#include "tcp_isn.h"
#include "tcp_listener.h"
#include "tcp_out.h"
#include "tcp_pvt.h"
#include "tcp_timer.h"

#define MSS_DEFAULT_V4 536 /* RFC 9293 MUST-15 */
#define MSS_DEFAULT_V6 1220
#define WND_UNSCALED_MAX 65535u

/* The least shift that lets the whole buffer be advertised (RFC 7323 §2.3). */
static uint8_t
wscale_for(uint32_t octets)
{
	uint8_t shift = 0;

	while (shift < TCP_WS_MAX && octets >> shift > WND_UNSCALED_MAX)
		shift++;
	return shift;
}

/* Everything that does not depend on the peer's SYN. */
static void
init(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	c->iss = tcp_isn_seq(tcp->env, &c->tuple, now_ns);
	c->ts_offset = tcp_isn_ts_offset(tcp->env, &c->tuple);
	c->rcv_buf = tcp->params.rcv_buf;
	c->rcv_wscale = wscale_for(c->rcv_buf);
	c->peer_mss = tcp_out_own_mss(tcp, c);
	c->last_rx_ns = c->last_tx_ns = now_ns;
	for (uint32_t i = 0; i < TCP_TIMERS; i++)
		c->at_ns[i] = IW_NEVER;
	tcp_rtt_init(&c->rtt, tcp->params.rto_min_ns);
	tcp_sack_init(&c->sack);
	tcp_conn_set(c, TCP_CONN_SLOW);
	tcp_conn_set_mtu(c, c->route.mtu);
	tcp_cc_init(&c->cc, &tcp_cc_newreno, c->emss, false);
	tcp_conn_set_attr(tcp, c, NULL);
}

/* An entry of its own, or that of the TIME_WAIT record before it. */
static int
enter_demux(struct tcp *tcp, struct tcp_conn *c)
{
	if (!c->timewait)
		return tcp_demux_add(&tcp->demux, &c->tuple, TCP_DEMUX_CONN, c->handle, &c->demux);
	c->demux = tcp_timewait_lend(&tcp->timewait, c->timewait);
	tcp_demux_set(&tcp->demux, c->demux, TCP_DEMUX_CONN, c->handle);
	return 0;
}

/* Back to the record when the SYN was an old duplicate after all (RFC 9293 MAY-2 (2)). */
static void
leave_demux(struct tcp *tcp, struct tcp_conn *c)
{
	if (c->timewait && tcp_timewait_return(&tcp->timewait, c->timewait, c->demux))
		tcp_demux_set(&tcp->demux, c->demux, TCP_DEMUX_TIMEWAIT, c->timewait);
	else if (c->demux)
		tcp_demux_del(&tcp->demux, c->demux);
	c->demux = c->timewait = 0;
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
	c->timewait = timewait;
	c->local = *local;
	c->remote = *remote;
	c->tuple = tcp_tuple_of(local, remote);
	*err = net_route_from(tcp->net, local, remote, &c->route);
	if (*err == 0)
		*err = enter_demux(tcp, c);
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
	if (c->txq.order.head.next)
		tcp_txq_fini(&c->txq, &tcp->txq_pool);
	tcp_rxq_fini(&c->rxq, &tcp->rxq_pool);
	iw_pool_put(&tcp->conns, c->handle);
}

void
tcp_conn_set_attr(struct tcp *tcp, struct tcp_conn *c, const struct tcp_attr *attr)
{
	c->user_timeout_ns = attr && attr->user_timeout_ns ? attr->user_timeout_ns : TCP_USER_TIMEOUT_NS;
	c->syn_timeout_ns = attr ? attr->syn_timeout_ns : 0;
	c->keepalive_ns = attr ? attr->keepalive_ns : 0;
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

	return c && !tcp_conn_has(c, TCP_CONN_RELEASED | TCP_CONN_UNSHOWN) ? c : NULL;
}

/* Nothing is sent or expected any more; what was received stays readable. */
static void
quiesce(struct tcp *tcp, struct tcp_conn *c)
{
	tcp_timer_stop_all(tcp, c);
	iw_list_del(&c->tx_link);
	if (c->txq.order.head.next)
		tcp_txq_fini(&c->txq, &tcp->txq_pool);
	tcp_txq_init(&c->txq, c->snd_nxt);
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
		if (old)
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

/* Behind everything appended so far.  Without a record it is tried again by the next emit (spec T36). */
static void
queue_fin(struct tcp *tcp, struct tcp_conn *c)
{
	if (!tcp_txq_append_ctl(&c->txq, &tcp->txq_pool, TCP_REC_FIN))
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
 * there is one. */
static void
queue_syn(struct tcp *tcp, struct tcp_conn *c)
{
	struct tcp_txq_rec *rec;

	if (!c->txq.order.head.next) {
		tcp_txq_init(&c->txq, c->iss);
		tcp_txq_append_ctl(&c->txq, &tcp->txq_pool, TCP_REC_SYN);
		c->snd_una = c->snd_nxt = c->iss;
	}
	rec = tcp_txq_first(&c->txq);
	if (rec && (rec->flags & TCP_REC_SENT))
		tcp_txq_mark_lost(&c->txq, rec);
	tcp_conn_set(c, TCP_CONN_FORCE);
	tcp_conn_kick(tcp, c);
}

static void
established(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	bool lost = tcp_conn_has(c, TCP_CONN_SYN_LOST);

	tcp->n.established++;
	tcp_timewait_end(&tcp->timewait, c->timewait); /* the entry is ours for good */
	c->timewait = 0;
	tcp_conn_clear(c, TCP_CONN_UNSHOWN | TCP_CONN_FORCE);
	tcp_rtt_established(&c->rtt, lost);
	tcp_cc_init(&c->cc, &tcp_cc_newreno, c->emss, lost);
	c->recover = c->iss; /* RFC 6582 §3.2: the initial send sequence number */
	c->at_ns[TCP_TIMER_USER] = IW_NEVER;
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

	if (!ended || !tcp_conn_has(c, TCP_CONN_RELEASED | TCP_CONN_UNSHOWN))
		return false;
	tcp_conn_free(tcp, c);
	return true;
}

void
tcp_conn_ready(struct tcp *tcp, struct tcp_conn *c, uint32_t bits)
{
	if (!bits || tcp_conn_has(c, TCP_CONN_RELEASED | TCP_CONN_UNSHOWN))
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
	c->emss_recip = (UINT64_C(1) << 40) / c->emss + 1;
	if (c->cc.ops)
		tcp_cc_set_mss(&c->cc, c->emss);
}

void
tcp_conn_take_syn(struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	uint32_t mss = iw_addr_is_v4(&c->remote) ? MSS_DEFAULT_V4 : MSS_DEFAULT_V6;

	if (seg->has_mss)
		mss = seg->mss < TCP_MSS_MIN ? TCP_MSS_MIN : seg->mss;
	c->peer_mss = (uint16_t)mss;
	c->irs = seg->seq;
	c->last_ack_sent = seg->seq + 1;
	tcp_rxq_init(&c->rxq, seg->seq + 1);
	c->rcv_adv = seg->seq + 1 + (c->rcv_buf < WND_UNSCALED_MAX ? c->rcv_buf : WND_UNSCALED_MAX);
	tcp_conn_set(c, (seg->has_ts ? TCP_CONN_TS : 0u) | (seg->sack_perm ? TCP_CONN_SACK : 0u) |
				(seg->has_ws ? TCP_CONN_WS : 0u));
	c->snd_wscale = seg->has_ws ? seg->ws : 0;
	if (!seg->has_ws)
		c->rcv_wscale = 0;
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
	iw_list_del(&c->embryo_link);
	l = (struct tcp_listener *)iw_pool_at(&tcp->listeners, c->listener);
	if (l)
		l->used--;
}
