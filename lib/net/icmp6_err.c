/* SPDX-License-Identifier: BSD-3-Clause */
#include "icmp6_err.h"

#include <string.h>

#include "icmp6_hdr.h"
#include "l4_hdr.h"

#define QUOTE_MAX (IPV6_HDR_LEN + L4_HDR_QUOTE)

/* Destination Unreachable by code (RFC 4443 §3.1): no route, out of scope and address unreachable may pass, the others
 * are somebody's decision. */
static const uint8_t unreachable[] = {
	[0] = NET_ICMP_SOFT, [1] = NET_ICMP_HARD, [2] = NET_ICMP_SOFT, [3] = NET_ICMP_SOFT,
	[4] = NET_ICMP_HARD, [5] = NET_ICMP_HARD, [6] = NET_ICMP_HARD,
};

/* A report of less than the least MTU of IPv6 is not obeyed (RFC 8201 §4). */
static bool
judge_toobig(const struct icmp6_hdr *h, struct net_counters *c, struct net_icmp_err *err)
{
	if (h->mtu < IPV6_MTU_MIN)
		return net_drop(&c->rx_icmp6_mtu_below_min);
	err->kind = NET_ICMP_TOOBIG;
	err->mtu = h->mtu > UINT16_MAX ? UINT16_MAX : (uint16_t)h->mtu;
	return true;
}

static bool
judge_type(const struct icmp6_hdr *h, struct net_counters *c, struct net_icmp_err *err)
{
	err->mtu = 0;
	err->kind = NET_ICMP_SOFT;
	switch (h->type) {
	case ICMP6_UNREACHABLE:
		if (h->code >= sizeof(unreachable) / sizeof(unreachable[0]))
			return net_drop(&c->rx_icmp_unknown_code);
		err->kind = unreachable[h->code];
		return true;
	case ICMP6_TOOBIG:
		return judge_toobig(h, c, err);
	case ICMP6_TIME_EXCEEDED:
		return h->code <= 1 || net_drop(&c->rx_icmp_unknown_code);
	case ICMP6_PARAMETER:
		if (h->code == 1) /* the peer does not know TCP */
			err->kind = NET_ICMP_HARD;
		return h->code <= 2 || net_drop(&c->rx_icmp_unknown_code);
	default:
		return net_drop(&c->rx_icmp_unknown_code);
	}
}

/* The quoted packet: ours, TCP right behind its header, as we send it. */
static bool
parse_quote(const struct own_table *own, const uint8_t *p, uint32_t len, struct net_counters *c,
	    struct net_icmp_err *err)
{
	struct ipv6_hdr ip;
	struct l4_quote l4;

	if (!ipv6_hdr_parse(p, len, &ip) || ip.version != 6)
		return net_drop(&c->rx_icmp_bad_quote);
	if (!own_find6(own, ip.src))
		return net_drop(&c->rx_icmp_not_ours);
	if (ip.next != NET_PROTO_TCP)
		return net_drop(&c->rx_icmp_not_tcp);
	if (!l4_hdr_quote_parse(p + IPV6_HDR_LEN, len - IPV6_HDR_LEN, &l4))
		return net_drop(&c->rx_icmp_bad_quote);
	err->local = (struct iw_addr){.port = l4.src_port};
	err->remote = (struct iw_addr){.port = l4.dst_port};
	memcpy(err->local.ip, ip.src, 16);
	memcpy(err->remote.ip, ip.dst, 16);
	err->seq = l4.seq;
	return true;
}

bool
icmp6_err_rx(const struct own_table *own, const struct rte_mbuf *m, const struct ipv6_rx *rx, struct net_counters *c,
	     struct net_icmp_err *err)
{
	uint8_t buf[ICMP6_HDR_LEN + QUOTE_MAX];
	uint32_t n = rx->l4_len < sizeof(buf) ? rx->l4_len : (uint32_t)sizeof(buf);
	const uint8_t *p = rte_pktmbuf_read(m, rx->l4_off, n, buf);
	struct icmp6_hdr h;

	if (!p || !icmp6_hdr_parse(p, n, &h))
		return net_drop(&c->rx_icmp_short);
	if (!judge_type(&h, c, err) || !parse_quote(own, p + ICMP6_HDR_LEN, n - ICMP6_HDR_LEN, c, err))
		return false;
	c->rx_icmp_err++;
	return true;
}
