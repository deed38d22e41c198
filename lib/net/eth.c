/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth.h"

#include <assert.h>

#include "vlan.h"

static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* Nobody else looks at pkt_len twice: a driver that lies about it must not send a reader past the last segment. */
static bool
lengths_agree(const struct rte_mbuf *m)
{
	uint64_t sum = 0;

	if (!m->next)
		return m->pkt_len == m->data_len;
	for (const struct rte_mbuf *seg = m; seg; seg = seg->next)
		sum += seg->data_len;
	return sum == m->pkt_len;
}

static bool
parse(const struct rte_mbuf *m, struct eth_hdr *h)
{
	uint8_t buf[ETH_HDR_MAX];
	uint32_t len = m->pkt_len < ETH_HDR_MAX ? m->pkt_len : ETH_HDR_MAX;
	const uint8_t *p = rte_pktmbuf_read(m, 0, len, buf);

	return p && eth_hdr_parse(p, len, h);
}

/* To everybody, or to a group of IPv6 (RFC 2464 §7): of which, the IPv6 header says. */
static bool
is_group_for_us(const struct eth_hdr *h, const struct eth_self *self)
{
	if (memcmp(h->dst, everybody, 6) == 0)
		return true;
	return self->ipv6 && h->type == ETH_TYPE_IPV6 && h->dst[0] == 0x33 && h->dst[1] == 0x33;
}

static bool
is_for_us(const struct eth_hdr *h, const struct eth_self *self, struct net_counters *c, bool *group)
{
	*group = false;
	if (!eth_mac_is_station(h->src))
		return net_drop(&c->rx_bad_src_mac);
	if (memcmp(h->dst, self->mac, 6) == 0)
		return true;
	*group = is_group_for_us(h, self);
	if (*group)
		return true;
	return net_drop(eth_mac_is_group(h->dst) ? &c->rx_multicast : &c->rx_not_our_mac);
}

static enum eth_kind
classify(const struct eth_hdr *h, const struct eth_self *self, struct net_counters *c)
{
	switch (h->type) {
	case ETH_TYPE_IPV4:
		return ETH_IPV4;
	case ETH_TYPE_IPV6:
		if (self->ipv6)
			return ETH_IPV6;
		c->rx_ipv6_off++;
		return ETH_DROP;
	case ETH_TYPE_ARP:
		return ETH_ARP;
	default:
		++*(h->type < ETH_TYPE_MIN ? &c->rx_llc : &c->rx_unknown_ethertype);
		return ETH_DROP;
	}
}

struct eth_frame
eth_rx(const struct rte_mbuf *m, const struct eth_self *self, struct net_counters *c)
{
	struct eth_frame f = {.kind = ETH_DROP};
	struct eth_hdr h;

	if (!lengths_agree(m))
		c->rx_bad_mbuf++;
	else if (!parse(m, &h))
		c->rx_runt++;
	else if (!is_for_us(&h, self, c, &f.group))
		return f;
	else if (!vlan_is_ours(m, &h, self->vlan))
		c->rx_vlan++;
	else {
		f.kind = classify(&h, self, c);
		f.l3_off = h.len;
	}
	return f;
}

void
eth_emit(struct rte_mbuf *m, const uint8_t dst[6], const uint8_t src[6], uint16_t type)
{
	char *p = rte_pktmbuf_prepend(m, ETH_HDR_LEN);

	assert(p);
	eth_hdr_emit((uint8_t *)p, dst, src, type);
}
