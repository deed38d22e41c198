/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv6_ext.h"

#include "ipv6_hdr.h"

static bool
is_ext(uint8_t next)
{
	switch (next) {
	case IPV6_EXT_HOP_BY_HOP:
	case IPV6_EXT_ROUTING:
	case IPV6_EXT_FRAGMENT:
	case IPV6_EXT_ESP:
	case IPV6_EXT_AUTH:
	case IPV6_EXT_NONE:
	case IPV6_EXT_DEST_OPTIONS:
	case IPV6_EXT_MOBILITY:
	case IPV6_EXT_HIP:
	case IPV6_EXT_SHIM6:
		return true;
	default:
		return false;
	}
}

/* A fragment header that says "all of it" is skipped (RFC 6946 §4).  A routing header without segments left is skipped
 * whatever its type; with some left we would have to forward (RFC 8200 §4.4, RFC 5095). */
static bool
judge(uint8_t kind, bool first, const struct ipv6_ext *e, const uint8_t *p, struct net_counters *c)
{
	switch (kind) {
	case IPV6_EXT_HOP_BY_HOP:
		if (!first) /* §4.1: right behind the IPv6 header only */
			return net_drop(&c->rx_ipv6_ext_order);
		return ipv6_hdr_options_skippable(p, e->len) || net_drop(&c->rx_ipv6_option);
	case IPV6_EXT_DEST_OPTIONS:
		return ipv6_hdr_options_skippable(p, e->len) || net_drop(&c->rx_ipv6_option);
	case IPV6_EXT_ROUTING:
		return e->segments_left == 0 || net_drop(&c->rx_ipv6_routing);
	default:
		return !e->fragment || net_drop(&c->rx_ipv6_fragment);
	}
}

/* Those whose form we know. */
static bool
is_known(uint8_t kind)
{
	return kind == IPV6_EXT_HOP_BY_HOP || kind == IPV6_EXT_DEST_OPTIONS || kind == IPV6_EXT_ROUTING ||
	       kind == IPV6_EXT_FRAGMENT;
}

static bool
skip_one(const struct rte_mbuf *m, bool first, uint8_t *next, uint32_t *off, uint32_t *len, struct net_counters *c)
{
	uint8_t buf[IPV6_EXT_LONG], head[IPV6_EXT_MIN];
	const uint8_t *p = rte_pktmbuf_read(m, *off, IPV6_EXT_MIN, head);
	struct ipv6_ext e;

	if (*next == IPV6_EXT_NONE)
		return net_drop(&c->rx_ipv6_no_next);
	if (!is_known(*next))
		return net_drop(&c->rx_ipv6_ext_unknown);
	if (!p || !ipv6_hdr_ext_parse(p, IPV6_EXT_MIN, *next, &e) || e.len > *len)
		return net_drop(&c->rx_ipv6_ext_short);
	if (e.len > sizeof(buf))
		return net_drop(&c->rx_ipv6_ext_long);
	p = rte_pktmbuf_read(m, *off, e.len, buf);
	if (!p)
		return net_drop(&c->rx_ipv6_ext_short);
	if (!judge(*next, first, &e, p, c))
		return false;
	*next = e.next;
	*off += e.len;
	*len -= e.len;
	return true;
}

bool
ipv6_ext_skip(const struct rte_mbuf *m, uint8_t *next, uint32_t *off, uint32_t *len, struct net_counters *c)
{
	uint32_t n = 0;

	for (; is_ext(*next) && n < IPV6_EXT_COUNT; n++)
		if (!skip_one(m, n == 0, next, off, len, c))
			return false;
	return !is_ext(*next) || net_drop(&c->rx_ipv6_ext_long);
}
