/* SPDX-License-Identifier: BSD-3-Clause */
/* The way up: what becomes of a received frame. */
#include "cksum.h"
#include "icmp6_err.h"
#include "icmp_err.h"
#include "iw_addr.h"
#include "net_ask.h"
#include "net_obj.h"
#include "net_own.h"

static bool
l4_cksum_is_good(const struct net *net, const struct rte_mbuf *m)
{
	uint64_t flag = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	/* NONE: not filled in, but nothing can have happened to it (virtual ports). */
	return net->nif.rx_cksum && (flag == RTE_MBUF_F_RX_L4_CKSUM_GOOD || flag == RTE_MBUF_F_RX_L4_CKSUM_NONE);
}

/* ---- IPv4 ---- */

static void
fill_pkt(const struct net *net, const struct rte_mbuf *m, uint32_t off, const struct ipv4_hdr *h, struct net_pkt *pkt)
{
	pkt->src = iw_addr_from_v4(h->src, 0);
	pkt->dst = h->dst == net->ipv4.own ? net->own.addr[net->own4].ip : iw_addr_from_v4(h->dst, 0);
	pkt->l3_off = off;
	pkt->l4_off = off + h->hdr_len;
	pkt->l4_len = h->total_len - h->hdr_len;
	pkt->pseudo_sum = iw_cksum_pseudo4(h->src, h->dst, h->proto, pkt->l4_len);
	pkt->proto = h->proto;
	pkt->ecn = h->ecn;
	pkt->l4_cksum_good = l4_cksum_is_good(net, m);
}

/* To us by ICMP or a protocol that is not ours; or to everybody. */
static enum net_verdict
rx_ipv4_other(struct net *net, const struct rte_mbuf *m, const struct ipv4_rx *rx, const struct net_pkt *pkt,
	      struct net_icmp_err *err)
{
	enum icmp_kind kind = ICMP_OTHER;

	if (rx->broadcast && rx->hdr.proto == NET_PROTO_TCP) { /* RFC 9293 §3.9.2.3 MUST-57 */
		net->counters.rx_tcp_broadcast++;
		return NET_DROP;
	}
	if (rx->hdr.proto == NET_PROTO_ICMP && !rx->broadcast)
		kind = icmp_err_rx(net->ipv4.own, m, pkt->l4_off, pkt->l4_len, &net->counters, err);
	if (kind == ICMP_OTHER) {
		net->counters.rx_host++;
		return NET_HOST;
	}
	return kind == ICMP_ERROR ? NET_ICMP_ERR : NET_DROP;
}

static enum net_verdict
rx_ipv4(struct net *net, const struct rte_mbuf *m, const struct eth_frame *f, struct net_pkt *pkt,
	struct net_icmp_err *err)
{
	struct ipv4_rx rx;

	if (!ipv4_rx(&net->ipv4, m, f->l3_off, f->group, &net->counters, &rx))
		return NET_DROP;
	fill_pkt(net, m, f->l3_off, &rx.hdr, pkt);
	if (rx.hdr.proto != NET_PROTO_TCP || rx.broadcast)
		return rx_ipv4_other(net, m, &rx, pkt, err);
	net->counters.rx_tcp++;
	return NET_TCP;
}

/* ---- IPv6 ---- */

static void
fill_pkt6(const struct net *net, const struct rte_mbuf *m, uint32_t off, const struct ipv6_rx *rx, struct net_pkt *pkt)
{
	pkt->src = net_own_addr6(net, rx->hdr.src);
	pkt->dst = rx->group ? net_own_addr6(net, rx->hdr.dst) : net->own.addr[rx->own].ip;
	pkt->l3_off = off;
	pkt->l4_off = rx->l4_off;
	pkt->l4_len = rx->l4_len;
	pkt->pseudo_sum = iw_cksum_pseudo6(rx->hdr.src, rx->hdr.dst, rx->proto, pkt->l4_len);
	pkt->proto = rx->proto;
	pkt->ecn = rx->hdr.ecn;
	pkt->l4_cksum_good = l4_cksum_is_good(net, m);
}

static enum net_verdict
rx_host(struct net *net)
{
	net->counters.rx_host++;
	return NET_HOST;
}

/* Consumes nothing: names why a packet ends. */
static enum net_verdict
drop(uint64_t *counter)
{
	++*counter;
	return NET_DROP;
}

/* RFC 4862 §5.4: neighbour discovery alone. */
static bool
is_for_claimed(const struct net *net, const struct ipv6_rx *rx)
{
	return !rx->group && own_is_claimed(&net->own.addr[rx->own]);
}

static enum net_verdict
rx_icmp6_err(struct net *net, const struct rte_mbuf *m, const struct ipv6_rx *rx, struct net_icmp_err *err)
{
	if (!icmp6_err_rx(&net->own, m, rx, &net->counters, err))
		return NET_DROP;
	err->local = net_own_scoped(net, &err->local);
	err->remote = net_own_scoped(net, &err->remote);
	return NET_ICMP_ERR;
}

/* Neighbour and router discovery (RFC 4861 §7.1: the hop limit proves that it was not forwarded). */
static enum net_verdict
rx_nd(struct net *net, const struct rte_mbuf *m, const struct ipv6_rx *rx, uint8_t type, uint64_t now_ns)
{
	if (rx->hdr.hop_limit != 255)
		return drop(&net->counters.rx_icmp6_hop_limit);
	switch (type) {
	case ICMP6_ROUTER_ADVERT:
		return rx_host(net);
	case ICMP6_ND_SOLICIT:
	case ICMP6_ND_ADVERT:
		return net_ask_nd(net, m, rx, now_ns);
	case ICMP6_ROUTER_SOLICIT:
		return drop(&net->counters.rx_icmp6_router_solicit);
	default:
		return drop(&net->counters.rx_icmp6_redirect);
	}
}

static enum net_verdict
rx_icmp6(struct net *net, const struct rte_mbuf *m, const struct ipv6_rx *rx, const struct net_pkt *pkt,
	 uint64_t now_ns, struct net_icmp_err *err)
{
	uint8_t buf[ICMP6_HDR_LEN];
	const uint8_t *p = rx->l4_len < ICMP6_HDR_LEN ? NULL : rte_pktmbuf_read(m, rx->l4_off, ICMP6_HDR_LEN, buf);
	struct icmp6_hdr h;

	if (!p || !icmp6_hdr_parse(p, ICMP6_HDR_LEN, &h))
		return drop(&net->counters.rx_icmp_short);
	/* Mandatory (RFC 4443 §2.3). */
	if (!iw_cksum_good(iw_cksum_add_mbuf(pkt->pseudo_sum, m, rx->l4_off, rx->l4_len)))
		return drop(&net->counters.rx_icmp6_cksum);
	if (h.type >= ICMP6_ROUTER_SOLICIT && h.type <= ICMP6_REDIRECT)
		return rx_nd(net, m, rx, h.type, now_ns);
	if (rx->own_src)
		return drop(&net->counters.rx_ipv6_own_src);
	if (is_for_claimed(net, rx))
		return drop(&net->counters.rx_ipv6_tentative);
	if (h.type < ICMP6_INFO)
		return rx_icmp6_err(net, m, rx, err);
	return rx_host(net);
}

static enum net_verdict
rx_ipv6_other(struct net *net, const struct rte_mbuf *m, const struct ipv6_rx *rx, const struct net_pkt *pkt,
	      uint64_t now_ns, struct net_icmp_err *err)
{
	if (rx->proto == NET_PROTO_ICMP6)
		return rx_icmp6(net, m, rx, pkt, now_ns, err);
	if (rx->proto == NET_PROTO_TCP) /* to a group: RFC 9293 §3.9.2.3 MUST-57 */
		return drop(&net->counters.rx_tcp_broadcast);
	return rx_host(net);
}

static enum net_verdict
rx_ipv6(struct net *net, const struct rte_mbuf *m, const struct eth_frame *f, uint64_t now_ns, struct net_pkt *pkt,
	struct net_icmp_err *err)
{
	struct ipv6_rx rx;

	if (!ipv6_rx(&net->own, m, f->l3_off, f->group, &net->counters, &rx))
		return NET_DROP;
	if (rx.proto != NET_PROTO_ICMP6 && is_for_claimed(net, &rx))
		return drop(&net->counters.rx_ipv6_tentative);
	fill_pkt6(net, m, f->l3_off, &rx, pkt);
	if (rx.proto != NET_PROTO_TCP || rx.group)
		return rx_ipv6_other(net, m, &rx, pkt, now_ns, err);
	net->counters.rx_tcp++;
	return NET_TCP;
}

enum net_verdict
net_rx(struct net *net, struct rte_mbuf *m, uint64_t now_ns, struct net_pkt *pkt, struct net_icmp_err *err)
{
	struct eth_frame f = eth_rx(m, &net->eth, &net->counters);
	enum net_verdict verdict = NET_DROP;

	net->counters.rx_frames++;
	switch (f.kind) {
	case ETH_IPV4:
		verdict = rx_ipv4(net, m, &f, pkt, err);
		break;
	case ETH_IPV6:
		verdict = rx_ipv6(net, m, &f, now_ns, pkt, err);
		break;
	case ETH_ARP:
		verdict = net_ask_arp(net, m, f.l3_off, now_ns);
		break;
	case ETH_DROP:
		break;
	}
	if (verdict != NET_TCP && verdict != NET_HOST)
		rte_pktmbuf_free(m);
	return verdict;
}
