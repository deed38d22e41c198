/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rx.h"

#include "iw_addr.h"
#include "len.h"
#include "seq.h"
#include "tcp_accept.h"
#include "tcp_ack.h"
#include "tcp_conn.h"
#include "tcp_isn.h"
#include "tcp_listen.h"
#include "tcp_out.h"
#include "tcp_pvt.h"
#include "tcp_stray.h"
#include "tcp_timer.h"

/* The peer lives.  Only what is acceptable says so: anybody could have made up the rest, and kept alive who is gone. */
static void
note_heard(struct tcp_conn *c, uint64_t now_ns)
{
	c->last_rx_ns = now_ns;
	c->keepalive_probes = 0;
}

/* ---- the slow path ---- */

/* RFC 7323 §4.3: TS.Recent is taken from the segment that the next ACK answers. */
static void
take_timestamp(struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	if (!tcp_conn_has(c, TCP_CONN_TS) || !seg->has_ts || iw_seq_gt(seg->seq, c->last_ack_sent))
		return;
	c->ts_recent = seg->tsval;
	c->ts_recent_ns = now_ns;
}

/* Fifth step: SYN_RCVD becomes ESTABLISHED.  false: it has ended. */
static bool
take_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	if (c->state == TCP_SYN_RCVD) {
		tcp_ack_syn(tcp, c, seg, now_ns);
		tcp_ack_set_window(c, seg);
		tcp_conn_event(tcp, c, TCP_EV_SYN_ACKED, now_ns);
	} else {
		tcp_ack_rx(tcp, c, seg, now_ns);
	}
	return c->state != TCP_CLOSED && c->state != TCP_TIME_WAIT;
}

static void
take(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx, enum tcp_accept_do todo)
{
	if (todo == TCP_ACCEPT_DO_TAKE_SYN) {
		rx->seg.flags &= (uint8_t)~TCP_SYN;
		rx->seg.seq++;
		tcp_conn_ack(tcp, c, true);
	}
	note_heard(c, rx->now_ns);
	take_timestamp(c, &rx->seg, rx->now_ns);
	if (!take_ack(tcp, c, &rx->seg, rx->now_ns))
		return;
	if (todo == TCP_ACCEPT_DO_TAKE_ACK) {
		tcp_conn_ack(tcp, c, true);
		return;
	}
	if (rx->seg.len)
		tcp_rx_text(tcp, c, rx);
	if (c->state != TCP_CLOSED)
		tcp_rx_fin(tcp, c, rx);
}

static const struct {
	enum tcp_accept_do todo;
	uint32_t counter; /* offset of it */
} verdicts[] = {
#define VERDICT(name, act, counter) [TCP_ACCEPT_##name] = {TCP_ACCEPT_DO_##act, offsetof(struct tcp_counters, counter)},
	TCP_ACCEPT_VERDICTS(VERDICT)
#undef VERDICT
};

static void
count(struct tcp *tcp, enum tcp_accept_verdict v)
{
	if (verdicts[v].counter != offsetof(struct tcp_counters, rx_segs))
		++*(uint64_t *)((char *)&tcp->n + verdicts[v].counter);
}

void
tcp_rx_refuse(struct tcp *tcp, struct tcp_conn *c, const struct tcp_rx_seg *rx)
{
	if (tcp_accept_challenge(c, tcp->params.challenge_acks, rx->now_ns))
		tcp_out_rst_for(tcp, rx->pkt, &rx->seg, rx->now_ns);
	else
		tcp->n.challenges_limited++;
}

static void
challenge(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	if (!tcp_accept_challenge(c, tcp->params.challenge_acks, now_ns)) {
		tcp->n.challenges_limited++;
		return;
	}
	tcp->n.challenges++;
	tcp_conn_ack(tcp, c, true);
}

/* Text that is old, or beyond the window. */
static void
note_outside(struct tcp_conn *c, const struct tcp_seg *seg)
{
	if (seg->len && iw_seq_lt(seg->seq, c->rxq.nxt)) {
		tcp_rxq_note_dup(&c->rxq, seg->seq, iw_seq_min(seg->seq + seg->len, c->rxq.nxt));
		c->rx_dup += c->rx_dup < UINT16_MAX;
	} else {
		c->rx_outside += c->rx_outside < UINT16_MAX;
	}
}

/* §3.10.7.4. */
static void
rx_other_states(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx)
{
	enum tcp_accept_verdict v = tcp_accept_check(c, &rx->seg, rx->now_ns);

	count(tcp, v);
	switch (verdicts[v].todo) {
	case TCP_ACCEPT_DO_TAKE_ACK:
		note_outside(c, &rx->seg);
		/* fall through */
	case TCP_ACCEPT_DO_TAKE:
	case TCP_ACCEPT_DO_TAKE_SYN:
		take(tcp, c, rx, verdicts[v].todo);
		break;
	case TCP_ACCEPT_DO_REPEAT:
		tcp_conn_event(tcp, c, TCP_EV_RCV_SYN, rx->now_ns);
		break;
	case TCP_ACCEPT_DO_OBEY:
		tcp_conn_event(tcp, c, TCP_EV_RCV_RST, rx->now_ns);
		break;
	case TCP_ACCEPT_DO_DROP:
		break;
	case TCP_ACCEPT_DO_ACK:
		note_outside(c, &rx->seg);
		tcp_conn_ack(tcp, c, true);
		break;
	case TCP_ACCEPT_DO_CHALLENGE:
		challenge(tcp, c, rx->now_ns);
		break;
	case TCP_ACCEPT_DO_REFUSE:
		tcp_rx_refuse(tcp, c, rx);
		break;
	}
}

static __attribute__((noinline)) void
rx_slow(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx)
{
	if (c->state == TCP_SYN_SENT) {
		tcp_rx_syn_sent(tcp, c, rx);
		if (c->state != TCP_SYN_SENT)
			note_heard(c, rx->now_ns);
	} else {
		rx_other_states(tcp, c, rx);
	}
	tcp_conn_slow(c);
}

/* ---- the fast path ---- */

/* Header prediction: the next data in order, or an ACK of what is in flight, and nothing unusual about the
 * connection.  The ACK is bounded on both sides (RFC 5961 §5 asks for it here as well). */
static bool
is_plain(const struct tcp_conn *c, const struct tcp_seg *seg)
{
	bool plain = !tcp_conn_has(c, TCP_CONN_SLOW);

	plain &= (seg->flags & ~TCP_PSH) == TCP_ACK;
	plain &= seg->seq == c->rxq.nxt;
	plain &= seg->len <= c->rcv_adv - c->rxq.nxt;
	plain &= seg->has_ts == tcp_conn_has(c, TCP_CONN_TS);
	plain &= !seg->has_ts || iw_seq_geq(seg->tsval, c->ts_recent);
	plain &= seg->n_sack == 0;
	plain &= seg->ack - c->snd_una <= c->snd_nxt - c->snd_una;
	return plain;
}

static void
rx_fast(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx)
{
	const struct tcp_seg *seg = &rx->seg;

	tcp->n.rx_fast++;
	note_heard(c, rx->now_ns);
	take_timestamp(c, seg, rx->now_ns);
	if (seg->ack != c->snd_una || seg->len == 0 || (uint32_t)seg->wnd << c->snd_wscale != c->snd_wnd) {
		tcp_ack_rx(tcp, c, seg, rx->now_ns);
		if (c->dupacks || c->phase != TCP_PHASE_OPEN)
			tcp_conn_slow(c);
	} else {
		c->snd_wl1 = seg->seq;
		c->snd_wl2 = seg->ack;
	}
	if (seg->len)
		tcp_rx_text(tcp, c, rx);
}

static void
rx_conn(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx)
{
	if (__builtin_expect(is_plain(c, &rx->seg), 1))
		rx_fast(tcp, c, rx);
	else
		rx_slow(tcp, c, rx);
	tcp_conn_settle(tcp, c);
}

/* ---- who it is for ---- */

/* A host: not a group, not everybody, not nobody (RFC 9293 MUST-57, MUST-63). */
static bool
is_host(const struct netif *nif, const struct iw_addr *a)
{
	uint32_t ip = iw_addr_v4(a), bits = nif->prefix_len < 32 ? UINT32_MAX >> nif->prefix_len : 0;

	if (!iw_addr_is_v4(a))
		return a->ip[0] != 0xff && !iw_addr_is_any(a);
	if (ip == 0 || ip >= 0xe0000000u)
		return false;
	return bits <= 1 || !iw_addr_is_v4(&nif->addr) || ((ip ^ iw_addr_v4(&nif->addr)) & ~bits) != 0 ||
	       (ip & bits) != bits;
}

/* Addresses and ports that belong to no connection: groups, port 0, our own socket (LAND). */
static bool
is_bogus(const struct tcp *tcp, const struct tcp_rx_seg *rx)
{
	const struct netif *nif = net_if(tcp->net);

	return rx->seg.sport == 0 || rx->seg.dport == 0 || !is_host(nif, &rx->pkt->src) ||
	       !is_host(nif, &rx->pkt->dst) ||
	       (rx->seg.sport == rx->seg.dport && iw_addr_eq_ip(&rx->pkt->src, &rx->pkt->dst));
}

/* No connection is there (yet). */
static void
rx_nobody(struct tcp *tcp, struct tcp_rx_seg *rx, uint32_t timewait, uint32_t isn_after)
{
	struct tcp_conn *c = tcp_listen_rx(tcp, rx, timewait, isn_after);

	if (c)
		rx_conn(tcp, c, rx);
}

static struct tcp_seg
timewait_ack(const struct tcp_timewait_state *st, const struct tcp_seg *seg, uint64_t now_ns)
{
	struct tcp_seg ack = {.sport = seg->dport,
			      .dport = seg->sport,
			      .flags = TCP_ACK,
			      .seq = st->snd_nxt,
			      .ack = st->rcv_nxt,
			      .wnd = (uint16_t)iw_len_min(st->rcv_wnd >> st->rcv_wscale, UINT16_MAX),
			      .has_ts = st->has_ts};

	if (st->has_ts) {
		ack.tsval = tcp_isn_tsval(now_ns, st->ts_offset);
		ack.tsecr = st->ts_recent;
	}
	return ack;
}

static void
judge_timewait(struct tcp *tcp, struct tcp_demux_hit hit, struct tcp_rx_seg *rx)
{
	struct tcp_timewait_verdict v = tcp_timewait_seg(&tcp->timewait, hit.handle, &rx->seg, rx->now_ns);
	struct tcp_seg ack;

	tcp->n.rx_timewait++;
	if (v.act == TCP_TW_ACK) {
		ack = timewait_ack(tcp_timewait_at(&tcp->timewait, hit.handle), &rx->seg, rx->now_ns);
		tcp_out_bare_ack(tcp, rx->pkt, &ack, rx->now_ns);
	} else if (v.act == TCP_TW_SYN) {
		rx_nobody(tcp, rx, tcp_listen_wants(tcp, rx->pkt, &rx->seg) ? hit.handle : 0, v.isn_after);
	} else {
		tcp->n.rx_timewait_dropped++;
	}
}

/* A handshake that the record has let begin comes first: what is not meant for it, is for neither. */
static void
rx_timewait(struct tcp *tcp, struct tcp_demux_hit hit, struct tcp_rx_seg *rx)
{
	if (tcp_listen_half_open(tcp, rx))
		rx_nobody(tcp, rx, hit.handle, 0);
	else
		judge_timewait(tcp, hit, rx);
}

void
tcp_rx_dispatch(struct tcp *tcp, struct tcp_rx_seg *rx)
{
	struct tcp_demux_hit hit = tcp_demux_find_hashed(&tcp->demux, &rx->tuple, rx->hash);

	if (__builtin_expect(hit.kind == TCP_DEMUX_CONN, 1))
		rx_conn(tcp, tcp_conn_at(tcp, hit.handle), rx);
	else if (is_bogus(tcp, rx))
		tcp->n.rx_bad_addr++;
	else if (hit.kind == TCP_DEMUX_TIMEWAIT)
		rx_timewait(tcp, hit, rx);
	else if (!tcp_stray_take(tcp, rx))
		rx_nobody(tcp, rx, 0, 0);
}

void
tcp_rx(struct tcp *tcp, struct rte_mbuf *m, const struct net_pkt *pkt, uint64_t now_ns)
{
	struct tcp_rx_in in = {m, *pkt};

	tcp_rx_burst(tcp, &in, 1, now_ns);
}
