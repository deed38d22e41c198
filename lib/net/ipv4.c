/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv4.h"

#include <assert.h>

#include "cksum.h"
#include "iw_addr.h"
#include "l4_hdr.h"
#include "net_face.h"

struct ipv4_if
ipv4_if_from(const struct netif *nif, uint32_t own, uint8_t prefix_len)
{
	return (struct ipv4_if){.own = own,
				.mask = prefix_len == 0 ? 0
							: ~UINT32_C(0) << (32 - (prefix_len > 32 ? 32 : prefix_len)),
				.gateway = iw_addr_v4(&nif->gateway),
				.mtu = nif->mtu,
				.trust_rx_cksum = nif->rx_cksum,
				.tx_ip_cksum = nif->tx_ip_cksum,
				.tx_tcp_cksum = nif->tx_tcp_cksum};
}

bool
ipv4_is_on_link(const struct ipv4_if *ifc, uint32_t ip)
{
	return ((ip ^ ifc->own) & ifc->mask) == 0;
}

/* All ones or all zeros behind the prefix: no host, where the prefix leaves room for that (RFC 3021). */
static bool
is_subnet_edge(const struct ipv4_if *ifc, uint32_t ip)
{
	uint32_t host = ip & ~ifc->mask;

	return ~ifc->mask > 1 && ipv4_is_on_link(ifc, ip) && (host == 0 || host == ~ifc->mask);
}

static bool
is_broadcast(const struct ipv4_if *ifc, uint32_t ip)
{
	return ip == UINT32_MAX || (is_subnet_edge(ifc, ip) && (ip & ~ifc->mask) != 0);
}

static bool
cksum_is_good(const struct ipv4_if *ifc, const struct rte_mbuf *m, uint32_t off, const uint8_t *p, uint32_t hdr_len)
{
	uint64_t flag = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;

	/* NONE is the word of a virtual port for: not filled in, but nothing can have happened to it. */
	if (ifc->trust_rx_cksum && (flag == RTE_MBUF_F_RX_IP_CKSUM_GOOD || flag == RTE_MBUF_F_RX_IP_CKSUM_NONE))
		return true;
	if (hdr_len == IPV4_HDR_LEN)
		return iw_cksum_good(iw_sum_fold(iw_sum_short(p, IPV4_HDR_LEN)));
	return iw_cksum_good(iw_cksum_add_mbuf(0, m, off, hdr_len));
}

/* Rules 2 to 6: the header, whose first IPV4_HDR_LEN octets are at p, says the truth about itself. */
static bool
check_form(const struct ipv4_if *ifc, const struct rte_mbuf *m, uint32_t off, const uint8_t *p,
	   const struct ipv4_hdr *h, struct net_counters *c)
{
	if (h->version != 4) /* 2: RFC 1122 §3.2.1.1 */
		return net_drop(&c->rx_ipv4_version);
	if (h->hdr_len < IPV4_HDR_LEN) /* 3: RFC 791 §3.1 */
		return net_drop(&c->rx_ipv4_ihl);
	if (h->total_len < h->hdr_len) /* 4 */
		return net_drop(&c->rx_ipv4_len);
	if (h->total_len > m->pkt_len - off) /* 5: less is Ethernet padding */
		return net_drop(&c->rx_ipv4_truncated);
	if (!cksum_is_good(ifc, m, off, p, h->hdr_len)) /* 6: RFC 1122 §3.2.1.2 */
		return net_drop(&c->rx_ipv4_cksum);
	return true;
}

/* Rules 7 to 10: who may send what to whom (RFC 1122 §3.2.1.3, §3.3.6). */
static bool
check_addresses(const struct ipv4_if *ifc, const struct ipv4_rx *rx, bool link_broadcast, struct net_counters *c)
{
	const struct ipv4_hdr *h = &rx->hdr;

	if (ipv4_is_reserved(h->src) || is_subnet_edge(ifc, h->src)) /* 7 */
		return net_drop(&c->rx_ipv4_bad_src);
	if (h->src == ifc->own) /* 8 */
		return net_drop(&c->rx_ipv4_own_src);
	if (ifc->own == 0 || (h->dst != ifc->own && !rx->broadcast)) /* 9 */
		return net_drop(&c->rx_ipv4_not_ours);
	if (link_broadcast && !rx->broadcast) /* 10 */
		return net_drop(&c->rx_ipv4_link_broadcast);
	return true;
}

/* There is no rule about the TTL: a host must not discard a datagram for a TTL below 2 (RFC 1122 §3.2.1.7).  Options
 * are skipped by their length: none of them concerns us. */
bool
ipv4_rx(const struct ipv4_if *ifc, const struct rte_mbuf *m, uint32_t off, bool link_broadcast, struct net_counters *c,
	struct ipv4_rx *rx)
{
	uint8_t buf[IPV4_HDR_LEN];
	const uint8_t *p = rte_pktmbuf_read(m, off, IPV4_HDR_LEN, buf);

	if (!p || !ipv4_hdr_parse(p, IPV4_HDR_LEN, &rx->hdr)) /* 1 */
		return net_drop(&c->rx_ipv4_short);
	if (!check_form(ifc, m, off, p, &rx->hdr, c))
		return false;
	rx->broadcast = is_broadcast(ifc, rx->hdr.dst);
	if (!check_addresses(ifc, rx, link_broadcast, c))
		return false;
	if (rx->hdr.fragment) /* 11: everybody we talk to sets DF, as we do */
		return net_drop(&c->rx_ipv4_fragment);
	return true;
}

bool
ipv4_next_hop(const struct ipv4_if *ifc, uint32_t dst, uint32_t *next_hop)
{
	if (ifc->own == 0 || dst == ifc->own || ipv4_is_reserved(dst) || is_subnet_edge(ifc, dst))
		return false;
	*next_hop = ipv4_is_on_link(ifc, dst) ? dst : ifc->gateway;
	return *next_hop != 0 && *next_hop != ifc->own;
}

static uint64_t
offload_flags(const struct ipv4_if *ifc, uint8_t proto)
{
	uint64_t flags = 0;

	if (ifc->tx_ip_cksum)
		flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	if (ifc->tx_tcp_cksum && proto == NET_PROTO_TCP)
		flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_TCP_CKSUM;
	return flags;
}

void
ipv4_emit(const struct ipv4_if *ifc, struct rte_mbuf *m, uint32_t dst, uint8_t proto, uint8_t ecn, uint32_t l2_len)
{
	uint64_t flags = offload_flags(ifc, proto);
	struct ipv4_hdr h = {.ecn = ecn, .ttl = IPV4_TTL, .proto = proto, .src = ifc->own, .dst = dst};
	char *p;

	assert(m->pkt_len + IPV4_HDR_LEN <= UINT16_MAX);
	h.total_len = (uint16_t)(m->pkt_len + IPV4_HDR_LEN);
	/* What an earlier transmission of this mbuf left there goes; what says how its memory is held stays. */
	m->ol_flags = (m->ol_flags & ~RTE_MBUF_F_TX_OFFLOAD_MASK) | flags;
	m->tx_offload = 0;
	if (flags) {
		m->l2_len = l2_len & 0x7f;
		m->l3_len = IPV4_HDR_LEN;
		if (proto == NET_PROTO_TCP)
			m->l4_len = l4_hdr_tcp_len(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	}
	p = rte_pktmbuf_prepend(m, IPV4_HDR_LEN);
	assert(p);
	ipv4_hdr_emit((uint8_t *)p, &h, !ifc->tx_ip_cksum);
}
