/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_pmtu.h"

#include "iw_addr.h"
#include "seq.h"
#include "tcp_conn.h"
#include "tcp_pvt.h"

#define MTU_MIN_V4 68 /* RFC 791 */
#define MTU_MIN_V6 1280

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
	struct tcp_txq_rec *rec = tcp_txq_first(&c->txq);

	for (; rec && (rec->flags & TCP_REC_SENT); rec = tcp_txq_next(&c->txq, rec))
		if (rec->len > c->emss)
			tcp_txq_mark_lost(&c->txq, rec);
	tcp_conn_kick(tcp, c);
}

static void
lower(struct tcp *tcp, struct tcp_conn *c, uint32_t mtu)
{
	uint32_t least = iw_addr_is_v4(tcp_conn_remote(c)) ? MTU_MIN_V4 : MTU_MIN_V6;

	if (mtu == 0)
		mtu = tcp_pmtu_plateau(c->route.mtu);
	if (mtu < least)
		mtu = least;
	if (mtu >= c->route.mtu) {
		tcp->n.icmp_ignored++;
		return;
	}
	tcp->n.icmp_pmtu++;
	c->route.mtu = (uint16_t)mtu;
	tcp_conn_set_mtu(c, mtu);
	resend_long(tcp, c);
}

void
tcp_pmtu_icmp(struct tcp *tcp, struct tcp_conn *c, const struct net_icmp_err *err, uint64_t now_ns)
{
	bool handshake = c->state == TCP_SYN_SENT || c->state == TCP_SYN_RCVD;

	if (is_in_flight(c, err->seq) && err->kind == NET_ICMP_TOOBIG && !handshake)
		lower(tcp, c, err->mtu);
	else if (is_in_flight(c, err->seq) && err->kind == NET_ICMP_HARD && handshake)
		tcp_conn_event(tcp, c, TCP_EV_UNREACH, now_ns);
	else
		tcp->n.icmp_ignored++;
}
