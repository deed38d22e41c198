/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_pmtu.h"

#include "iw_addr.h"
#include "seq.h"
#include "tcp_conn.h"
#include "tcp_pvt.h"
#include "tcp_timer.h"

#define MTU_MIN_V4 68 /* RFC 791 */
#define MTU_MIN_V6 1280
#define RETRY_ICMP_NS (600 * IW_SEC)      /* RFC 1191 §6.3, RFC 8201 §5.3 */
#define RETRY_BLACK_HOLE_NS (10 * IW_SEC) /* the first time: it may have been an outage; then eight times as long */
#define RETRIES_MAX 2
#define BLACK_HOLE_RTOS 3 /* in a row (RFC 4821 §7.7) */

uint32_t
tcp_pmtu_plateau(uint32_t mtu)
{
	static const uint16_t plateaus[] = {32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296};

	for (uint32_t i = 0; i < sizeof(plateaus) / sizeof(plateaus[0]); i++)
		if (plateaus[i] < mtu)
			return plateaus[i];
	return MTU_MIN_V4;
}

/* The quoted octet is one that we sent and that nobody has acknowledged (RFC 5927 §4.1). */
static bool
is_in_flight(const struct tcp_conn *c, uint32_t seq)
{
	return iw_seq_geq(seq, c->snd_una) && iw_seq_lt(seq, c->snd_nxt);
}

/* Every record on its way that is longer than a segment now: no congestion, just too long (RFC 1191 §6.4). */
static void
resend_long(struct tcp *tcp, struct tcp_conn *c)
{
	struct tcp_txq_rec *rec = tcp_txq_first(&c->fl->txq);

	for (; rec && (rec->flags & TCP_REC_SENT); rec = tcp_txq_next(&c->fl->txq, rec))
		if (rec->len > c->emss)
			tcp_txq_mark_lost(&c->fl->txq, rec);
	tcp_conn_kick(tcp, c);
}

/* Octets of the stream that the peer has acknowledged. */
static uint64_t
octets_acked(const struct tcp_conn *c)
{
	return c->appended - tcp_conn_queued(c);
}

/* Another size from here on, which nothing has proven yet. */
static void
set(struct tcp_conn *c, uint32_t mtu)
{
	c->route.mtu = (uint16_t)mtu;
	tcp_conn_set_mtu(c, mtu);
	c->kept.mtu_proven = false;
	if (!c->fl)
		return;
	c->fl->mtu_pending = 0;
	c->fl->mtu_since = octets_acked(c);
}

static void
lower(struct tcp *tcp, struct tcp_conn *c, uint32_t mtu, uint64_t retry_ns, uint64_t now_ns)
{
	uint64_t at = iw_time_after(now_ns, retry_ns), was = tcp_conn_deadline(c, TCP_TIMER_PMTU);

	set(c, mtu);
	tcp_timer_set(tcp, c, TCP_TIMER_PMTU, was != IW_NEVER && was > at ? was : at);
	resend_long(tcp, c);
}

bool
tcp_pmtu_is_proven(const struct tcp_conn *c)
{
	return octets_acked(c) - c->fl->mtu_since >= TCP_PMTU_PROVEN * c->emss;
}

/* The claimed size, within what is possible; 0: no news. */
static uint32_t
claimed_mtu(const struct tcp_conn *c, uint32_t mtu)
{
	uint32_t least = iw_addr_is_v4(tcp_conn_remote(c)) ? MTU_MIN_V4 : MTU_MIN_V6;

	if (mtu == 0)
		mtu = tcp_pmtu_plateau(c->route.mtu);
	if (mtu < least)
		mtu = least;
	return mtu < c->route.mtu ? mtu : 0;
}

/* RFC 5927 §7.2: what contradicts experience has to wait until the segment it quotes times out. */
static void
too_big(struct tcp *tcp, struct tcp_conn *c, const struct net_icmp_err *err, uint64_t now_ns)
{
	uint32_t mtu = claimed_mtu(c, err->mtu);

	if (mtu == 0) {
		tcp->n.icmp_ignored++;
	} else if (tcp_pmtu_is_proven(c)) {
		tcp->n.icmp_pending++;
		c->fl->mtu_pending = (uint16_t)mtu;
		c->fl->mtu_pending_seq = err->seq;
	} else {
		tcp->n.icmp_pmtu++;
		lower(tcp, c, mtu, RETRY_ICMP_NS, now_ns);
	}
}

/* What is tried where nothing comes back and nobody says why: the common link, the least of IPv6 (and of many tunnels),
 * the least of IPv4 hosts.  0: it is not for the length. */
static uint32_t
black_hole_mtu(const struct tcp_conn *c)
{
	static const uint16_t steps[] = {1500, 1280, 576};
	uint32_t least = iw_addr_is_v4(tcp_conn_remote(c)) ? 576 : MTU_MIN_V6;

	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] < c->route.mtu && steps[i] >= least)
			return steps[i];
	return 0;
}

/* Only segments that a smaller size would make shorter may have met a black hole. */
static bool
is_longer_than(const struct tcp_conn *c, const struct tcp_txq_rec *rec, uint32_t mtu)
{
	return rec && rec->m && rec->len + TCP_HDR_TS_LEN + tcp_conn_header_octets(c) > mtu;
}

void
tcp_pmtu_rto(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	uint32_t step = black_hole_mtu(c);

	if (c->fl->mtu_pending && is_in_flight(c, c->fl->mtu_pending_seq)) {
		tcp->n.icmp_pmtu++;
		lower(tcp, c, c->fl->mtu_pending, RETRY_ICMP_NS, now_ns);
		return;
	}
	c->fl->mtu_pending = 0;
	if (c->fl->rtt.backoff < BLACK_HOLE_RTOS || !step || !is_longer_than(c, tcp_txq_first(&c->fl->txq), step))
		return;
	tcp->n.black_holes++;
	lower(tcp, c, step, RETRY_BLACK_HOLE_NS << (3 * c->mtu_retries), now_ns);
}

void
tcp_pmtu_raise(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	struct net_route route;

	if (c->fl && c->fl->rtt.backoff) { /* not while nothing gets through at all */
		tcp_timer_set(tcp, c, TCP_TIMER_PMTU, iw_time_after(now_ns, RETRY_BLACK_HOLE_NS));
		return;
	}
	if (net_route(tcp->net, tcp_conn_remote(c), &route) || route.mtu <= c->route.mtu)
		return;
	if (c->mtu_retries < RETRIES_MAX)
		c->mtu_retries++;
	tcp->n.pmtu_raised++;
	set(c, route.mtu);
}

void
tcp_pmtu_icmp(struct tcp *tcp, struct tcp_conn *c, const struct net_icmp_err *err, uint64_t now_ns)
{
	bool handshake = c->state == TCP_SYN_SENT || c->state == TCP_SYN_RCVD;

	if (is_in_flight(c, err->seq) && err->kind == NET_ICMP_TOOBIG && !handshake)
		too_big(tcp, c, err, now_ns);
	else if (is_in_flight(c, err->seq) && err->kind == NET_ICMP_HARD && handshake)
		tcp_conn_event(tcp, c, TCP_EV_UNREACH, now_ns);
	else
		tcp->n.icmp_ignored++;
}
