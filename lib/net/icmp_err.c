/* SPDX-License-Identifier: BSD-3-Clause */
#include "icmp_err.h"

#include "cksum.h"
#include "icmp_hdr.h"
#include "ipv4_hdr.h"
#include "iw_addr.h"
#include "l4_hdr.h"

#define QUOTE_MAX (IPV4_HDR_MAX + L4_HDR_QUOTE)

/* Destination Unreachable by code: 0, 1 and 5 are hints, 2 and 3 are meant (RFC 1122 §4.2.3.9); of the codes of
 * RFC 1122 §3.2.2.1 and RFC 1812 §5.2.7.1 those about a type of service may pass, the others are somebody's decision.
 */
static const uint8_t unreachable[] = {
	[0] = NET_ICMP_SOFT,   [1] = NET_ICMP_SOFT,  [2] = NET_ICMP_HARD,  [3] = NET_ICMP_HARD,
	[4] = NET_ICMP_TOOBIG, [5] = NET_ICMP_SOFT,  [6] = NET_ICMP_HARD,  [7] = NET_ICMP_HARD,
	[8] = NET_ICMP_HARD,   [9] = NET_ICMP_HARD,  [10] = NET_ICMP_HARD, [11] = NET_ICMP_SOFT,
	[12] = NET_ICMP_SOFT,  [13] = NET_ICMP_HARD, [14] = NET_ICMP_HARD, [15] = NET_ICMP_HARD,
};

#define UNREACHABLE_CODES (sizeof(unreachable) / sizeof(unreachable[0]))

static bool
judge_type(const struct icmp_hdr *h, struct net_counters *c, struct net_icmp_err *err)
{
	err->mtu = 0;
	err->kind = NET_ICMP_SOFT;
	switch (h->type) {
	case ICMP_UNREACHABLE:
		if (h->code >= UNREACHABLE_CODES)
			return net_drop(&c->rx_icmp_unknown_code);
		err->kind = unreachable[h->code];
		if (h->code == ICMP_CODE_TOOBIG)
			err->mtu = h->mtu;
		return true;
	case ICMP_TIME_EXCEEDED:
		return h->code <= 1 || net_drop(&c->rx_icmp_unknown_code);
	case ICMP_PARAMETER:
		return h->code <= 2 || net_drop(&c->rx_icmp_unknown_code);
	case ICMP_SOURCE_QUENCH:
		return net_drop(&c->rx_icmp_source_quench);
	default:
		return net_drop(&c->rx_icmp_redirect);
	}
}

/* The quoted packet: ours, TCP, from its beginning.  Its checksum and length fields are not looked at: what is quoted
 * may have been changed on the way, and is as a rule cut. */
static bool
parse_quote(uint32_t own, const uint8_t *p, uint32_t len, struct net_counters *c, struct net_icmp_err *err)
{
	struct ipv4_hdr ip;
	struct l4_quote l4;

	if (!ipv4_hdr_parse(p, len, &ip) || ip.version != 4 || ip.hdr_len < IPV4_HDR_LEN || ip.hdr_len > len)
		return net_drop(&c->rx_icmp_bad_quote);
	if (ip.src != own)
		return net_drop(&c->rx_icmp_not_ours);
	if (ip.proto != NET_PROTO_TCP)
		return net_drop(&c->rx_icmp_not_tcp);
	if (ip.frag_off != 0 || !l4_hdr_quote_parse(p + ip.hdr_len, len - ip.hdr_len, &l4))
		return net_drop(&c->rx_icmp_bad_quote);
	err->local = iw_addr_from_v4(ip.src, l4.src_port);
	err->remote = iw_addr_from_v4(ip.dst, l4.dst_port);
	err->seq = l4.seq;
	return true;
}

enum icmp_kind
icmp_err_rx(uint32_t own, const struct rte_mbuf *m, uint32_t off, uint32_t len, struct net_counters *c,
	    struct net_icmp_err *err)
{
	uint8_t buf[ICMP_HDR_LEN + QUOTE_MAX];
	uint32_t n = len < sizeof(buf) ? len : (uint32_t)sizeof(buf);
	const uint8_t *p = rte_pktmbuf_read(m, off, n, buf);
	struct icmp_hdr h;

	if (!p || !icmp_hdr_parse(p, n, &h)) {
		c->rx_icmp_short++;
		return ICMP_DROP;
	}
	if (!icmp_hdr_is_error(h.type))
		return ICMP_OTHER;
	if (!iw_cksum_good(iw_cksum_add_mbuf(0, m, off, len))) {
		c->rx_icmp_cksum++;
		return ICMP_DROP;
	}
	if (!judge_type(&h, c, err) || !parse_quote(own, p + ICMP_HDR_LEN, n - ICMP_HDR_LEN, c, err))
		return ICMP_DROP;
	c->rx_icmp_err++;
	return ICMP_ERROR;
}
