/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv6.h"

#include <assert.h>
#include <string.h>

#include "ipv6_ext.h"
#include "l4_hdr.h"
#include "net_face.h"

const uint8_t ipv6_all_nodes[16] = {0xff, 0x02, [15] = 1};
const uint8_t ipv6_any[16];
static const uint8_t all_nodes_node_local[16] = {0xff, 0x01, [15] = 1};
static const uint8_t loopback[16] = {[15] = 1};
static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
static const uint8_t solicited[13] = {0xff, 0x02, [11] = 1, [12] = 0xff};

static bool
same(const uint8_t a[16], const uint8_t b[16])
{
	return memcmp(a, b, 16) == 0;
}

/* Never on a wire: loopback, and IPv4-mapped ones, which would pass for IPv4 inside (RFC 4291 §2.5.3, §2.5.5.2). */
static bool
is_internal(const uint8_t ip[16])
{
	return same(ip, loopback) || memcmp(ip, mapped, sizeof(mapped)) == 0;
}

/* Rules 2 and 3: the header says the truth about itself.  Length 0 is a jumbogram (RFC 2675) or nothing at all. */
static bool
check_form(const struct rte_mbuf *m, uint32_t off, const struct ipv6_hdr *h, struct net_counters *c)
{
	if (h->version != 6) /* 2 */
		return net_drop(&c->rx_ipv6_version);
	if (h->payload_len > m->pkt_len - off - IPV6_HDR_LEN) /* 3: less is Ethernet padding */
		return net_drop(&c->rx_ipv6_truncated);
	return true;
}

/* The address of ours for which somebody asks the group. */
static uint8_t
find_solicited(const struct own_table *own, const uint8_t group[16])
{
	for (uint32_t i = 1; i < own->n; i++)
		if (own->addr[i].family == OWN_V6 && memcmp(own->addr[i].ip.ip + 13, group + 13, 3) == 0)
			return (uint8_t)i;
	return 0;
}

static bool
find_group(const struct own_table *own, struct ipv6_rx *rx)
{
	const uint8_t *group = rx->hdr.dst;

	if (same(group, ipv6_all_nodes) || same(group, all_nodes_node_local))
		return true;
	if (memcmp(group, solicited, sizeof(solicited)) == 0)
		rx->own = find_solicited(own, group);
	return rx->own != 0;
}

/* Rules 4 to 7: who may send what to whom. */
static bool
check_addresses(const struct own_table *own, struct ipv6_rx *rx, bool link_group, struct net_counters *c)
{
	const struct ipv6_hdr *h = &rx->hdr;

	rx->group = ipv6_is_group(h->dst);
	rx->own = rx->group ? 0 : own_find6(own, h->dst);
	if (ipv6_is_group(h->src) || is_internal(h->src)) /* 4: RFC 4291 §2.5.3, §2.7 */
		return net_drop(&c->rx_ipv6_bad_src);
	rx->own_src = own_find6(own, h->src);
	if (rx->own_src && h->next != NET_PROTO_ICMP6) /* 5: LAND */
		return net_drop(&c->rx_ipv6_own_src);
	if (rx->group ? !find_group(own, rx) : !rx->own) /* 6 */
		return net_drop(&c->rx_ipv6_not_ours);
	if (link_group && !rx->group) /* 7 */
		return net_drop(&c->rx_ipv6_link_group);
	return true;
}

/* There is no rule about the hop limit: it concerns who forwards (RFC 8200 §3). */
bool
ipv6_rx(const struct own_table *own, const struct rte_mbuf *m, uint32_t off, bool link_group, struct net_counters *c,
	struct ipv6_rx *rx)
{
	uint8_t buf[IPV6_HDR_LEN];
	const uint8_t *p = rte_pktmbuf_read(m, off, IPV6_HDR_LEN, buf);

	if (!p || !ipv6_hdr_parse(p, IPV6_HDR_LEN, &rx->hdr)) /* 1 */
		return net_drop(&c->rx_ipv6_short);
	if (!check_form(m, off, &rx->hdr, c) || !check_addresses(own, rx, link_group, c))
		return false;
	rx->proto = rx->hdr.next;
	rx->l4_off = off + IPV6_HDR_LEN;
	rx->l4_len = rx->hdr.payload_len;
	if (rx->proto != NET_PROTO_TCP && !ipv6_ext_skip(m, &rx->proto, &rx->l4_off, &rx->l4_len, c)) /* 8 */
		return false;
	if (rx->proto != NET_PROTO_ICMP6 &&
	    same(rx->hdr.src, ipv6_any)) /* 9: who has no address may only ask for one */
		return net_drop(&c->rx_ipv6_bad_src);
	return true;
}

void
ipv6_emit(struct rte_mbuf *m, const struct ipv6_tx *tx, uint32_t l2_len)
{
	struct ipv6_hdr h = {.ecn = tx->ecn, .next = tx->proto, .hop_limit = tx->hop_limit, .flow = tx->flow};
	char *p;

	assert(m->pkt_len <= UINT16_MAX);
	h.payload_len = (uint16_t)m->pkt_len;
	memcpy(h.src, tx->src, 16);
	memcpy(h.dst, tx->dst, 16);
	/* What an earlier transmission of this mbuf left there goes; what says how its memory is held stays. */
	m->ol_flags &= ~RTE_MBUF_F_TX_OFFLOAD_MASK;
	m->tx_offload = 0;
	if (tx->tcp_cksum && tx->proto == NET_PROTO_TCP) {
		m->ol_flags |= RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_CKSUM;
		m->l2_len = l2_len & 0x7f;
		m->l3_len = IPV6_HDR_LEN;
		m->l4_len = l4_hdr_tcp_len(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	}
	p = rte_pktmbuf_prepend(m, IPV6_HDR_LEN);
	assert(p);
	ipv6_hdr_emit((uint8_t *)p, &h);
}

void
ipv6_group_mac(const uint8_t group[16], uint8_t mac[6])
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, group + 12, 4);
}

void
ipv6_solicited_node(const uint8_t ip[16], uint8_t group[16])
{
	memcpy(group, solicited, sizeof(solicited));
	memcpy(group + 13, ip + 13, 3);
}
