/* SPDX-License-Identifier: BSD-3-Clause */
/* The way down: routes, and IP and Ethernet in front of a layer-4 packet. */
#include <assert.h>
#include <iwarp/err.h>

#include "iw_addr.h"
#include "net_ask.h"
#include "net_obj.h"
#include "net_own.h"

static const uint8_t nowhere[6]; /* until the neighbour answers */

/* ---- routes ---- */

/* A label for each flow that nobody can guess (RFC 6437 §3). */
static uint32_t
flow_label(const struct net *net, const struct net_route *r)
{
	uint8_t flow[36];

	memcpy(flow, r->src.ip, 16);
	memcpy(flow + 16, r->dst.ip, 16);
	memcpy(flow + 32, &r->src.port, 2);
	memcpy(flow + 34, &r->dst.port, 2);
	return (uint32_t)iw_env_hash(net->env, IW_HASH_FLOW, flow, sizeof(flow)) & 0xfffff;
}

/* Where packets to dst go first; false: nowhere, any more. */
static bool
next_hop(const struct net *net, const struct iw_addr *dst, struct iw_addr *hop)
{
	uint32_t ip4;

	if (iw_addr_is_v4(dst)) {
		if (!ipv4_next_hop(&net->ipv4, iw_addr_v4(dst), &ip4))
			return false;
		*hop = iw_addr_from_v4(ip4, 0);
		return true;
	}
	*hop = own_is_on_link6(&net->own, dst->ip) ? net_own_addr6(net, dst->ip) : net->gateway6;
	return !iw_addr_is_any(hop);
}

static bool
leads_somewhere(const struct net *net, const struct iw_addr *dst)
{
	struct iw_addr hop;

	if (!iw_addr_is_v4(dst) && (ipv6_is_group(dst->ip) || iw_addr_is_any(dst) || net_own_is(net, dst) ||
				    (iw_addr_is_link_local(dst) && dst->scope != net->scope)))
		return false;
	return next_hop(net, dst, &hop);
}

int
net_route_from(struct net *net, const struct iw_addr *src, const struct iw_addr *dst, struct net_route *route)
{
	int err;

	memset(route, 0, sizeof(*route));
	err = net_own_source(net, src, dst, &route->src);
	if (err)
		return err;
	route->dst = net_own_scoped(net, dst);
	route->own = own_find(&net->own, &route->src);
	route->mtu = iw_addr_is_v4(dst) ? net->nif.mtu : net->mtu6;
	if (iw_addr_is_v4(dst) != iw_addr_is_v4(&route->src) || !leads_somewhere(net, &route->dst)) {
		route->own = 0;
		return -IW_E_HOSTUNREACH;
	}
	if (!iw_addr_is_v4(dst))
		route->flow = flow_label(net, route);
	return 0;
}

int
net_route(struct net *net, const struct iw_addr *dst, struct net_route *route)
{
	static const struct iw_addr any;

	return net_route_from(net, &any, dst, route);
}

enum net_reach
net_reach(const struct net *net, const struct net_route *route)
{
	const struct neigh *e;
	struct iw_addr hop;

	if (!next_hop(net, &route->dst, &hop))
		return NET_REACH_FAILED;
	e = neigh_find(&net->neigh, route->neigh, &hop);
	if (net->own.addr[route->own].family == OWN_UNUSABLE)
		return NET_REACH_FAILED;
	if (e && neigh_is_known(e))
		return NET_REACH_KNOWN;
	return e && e->state == NEIGH_FAILED ? NET_REACH_FAILED : NET_REACH_ASKING;
}

void
net_reconfirm(struct net *net, struct net_route *route, uint64_t now_ns)
{
	struct iw_addr hop;

	if (next_hop(net, &route->dst, &hop))
		neigh_reconfirm(&net->neigh, route->neigh, &hop, now_ns);
	net_ask_send(net);
}

/* ---- send ---- */

/* Consumes m.  Returns err. */
static int
drop(struct rte_mbuf *m, uint64_t *counter, int err)
{
	++*counter;
	rte_pktmbuf_free(m);
	return err;
}

static int
refuse(struct net *net, struct rte_mbuf *m, enum neigh_use use)
{
	if (use == NEIGH_USE_FULL)
		return drop(m, &net->counters.tx_neigh_full, -IW_E_NOMEM);
	if (use == NEIGH_USE_LATER)
		return drop(m, &net->counters.neigh_wait_overrun, -IW_E_AGAIN);
	return drop(m, &net->counters.tx_unreachable, -IW_E_HOSTUNREACH);
}

static void
emit6(const struct net *net, struct rte_mbuf *m, const struct net_route *route, uint8_t proto, uint8_t ecn)
{
	struct ipv6_tx tx = {.src = route->src.ip,
			     .dst = route->dst.ip,
			     .flow = route->flow,
			     .proto = proto,
			     .ecn = ecn,
			     .hop_limit = IPV6_HOP_LIMIT,
			     .tcp_cksum = net->nif.tx_tcp_cksum};

	ipv6_emit(m, &tx, ETH_HDR_LEN);
}

static void
emit(const struct net *net, struct rte_mbuf *m, const struct net_route *route, uint8_t proto, uint8_t ecn,
     const uint8_t mac[6])
{
	if (net->own.addr[route->own].family == OWN_V4) {
		ipv4_emit(&net->ipv4, m, iw_addr_v4(&route->dst), proto, ecn, ETH_HDR_LEN);
		eth_emit(m, mac, net->eth.mac, ETH_TYPE_IPV4);
	} else {
		emit6(net, m, route, proto, ecn);
		eth_emit(m, mac, net->eth.mac, ETH_TYPE_IPV6);
	}
}

uint32_t
net_settled(const struct net *net)
{
	return net->neigh.settled + net->claims_over;
}

/* Queues it; what stands in front of its last l4_len octets is kept. */
static void
queue_first(struct net *net, struct rte_mbuf *m, uint32_t l3_len, uint32_t l4_len, struct net_head *head)
{
	const uint8_t *l4;

	if (!net_queue(net, m) || !head)
		return;
	head->len = (uint8_t)(m->pkt_len - l4_len);
	head->l3_len = (uint8_t)l3_len;
	head->l4_len = (uint16_t)l4_len;
	head->vlan_tci = m->vlan_tci;
	head->ol_flags = m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK;
	head->tx_offload = m->tx_offload;
	l4 = rte_pktmbuf_mtod_offset(m, const uint8_t *, head->len);
	memcpy(head->octets, l4 - NET_HEADROOM, NET_HEADROOM);
}

int
net_tx_first(struct net *net, struct rte_mbuf *m, struct net_route *route, uint8_t proto, uint8_t ecn, uint64_t now_ns,
	     struct net_head *head)
{
	static const uint8_t l3_len[OWN_FAMILIES] = {[OWN_V4] = IPV4_HDR_LEN, [OWN_V6] = IPV6_HDR_LEN};
	uint32_t hdr_len = l3_len[net->own.addr[route->own].family], l4_len = m->pkt_len;
	struct iw_addr hop;
	enum neigh_use use;
	uint8_t mac[6];

	assert(rte_pktmbuf_headroom(m) >= NET_HEADROOM);
	if (head)
		head->len = 0;
	if (hdr_len == 0 || !next_hop(net, &route->dst, &hop))
		return drop(m, &net->counters.tx_no_route, -IW_E_HOSTUNREACH);
	if (m->pkt_len + hdr_len > net->nif.mtu)
		return drop(m, &net->counters.tx_too_big, -IW_E_TOOBIG);
	if (outq_space(&net->outq) == 0)
		return drop(m, &net->counters.tx_queue_full, -IW_E_NOMEM);
	if (own_is_claimed(&net->own.addr[route->own]) && !net->held)
		return drop(m, &net->counters.tx_tentative, -IW_E_AGAIN);
	use = neigh_use(&net->neigh, &route->neigh, &hop, now_ns, mac);
	if (use == NEIGH_USE_KNOWN) {
		emit(net, m, route, proto, ecn, mac);
		queue_first(net, m, hdr_len, l4_len, head);
	} else if (use == NEIGH_USE_WAIT) {
		emit(net, m, route, proto, ecn, nowhere);
		neigh_wait(&net->neigh, route->neigh, m);
	}
	if (neigh_has_question(&net->neigh))
		net_ask_send(net);
	return use == NEIGH_USE_KNOWN || use == NEIGH_USE_WAIT ? 0 : refuse(net, m, use);
}

int
net_tx(struct net *net, struct rte_mbuf *m, struct net_route *route, uint8_t proto, uint8_t ecn, uint64_t now_ns)
{
	return net_tx_first(net, m, route, proto, ecn, now_ns, NULL);
}

/* Of the header in front of l4; l4_len octets follow it. */
static void
set_l3_len(uint8_t *l4, const struct net_head *head, uint32_t l4_len)
{
	uint8_t *l3 = l4 - head->l3_len;

	if (head->l3_len == IPV4_HDR_LEN)
		ipv4_hdr_set_total_len(l3, (uint16_t)(IPV4_HDR_LEN + l4_len),
				       !(head->ol_flags & RTE_MBUF_F_TX_IP_CKSUM));
	else
		ipv6_hdr_set_payload_len(l3, (uint16_t)l4_len);
}

int
net_tx_next(struct net *net, struct rte_mbuf *m, const struct net_head *head)
{
	uint8_t *l4 = rte_pktmbuf_mtod(m, uint8_t *);

	assert(rte_pktmbuf_headroom(m) >= NET_HEADROOM && head->len > 0);
	if (m->pkt_len + head->l3_len > net->nif.mtu)
		return drop(m, &net->counters.tx_too_big, -IW_E_TOOBIG);
	memcpy(l4 - NET_HEADROOM, head->octets, NET_HEADROOM);
	if (m->pkt_len != head->l4_len)
		set_l3_len(l4, head, m->pkt_len);
	m->data_off = (uint16_t)(m->data_off - head->len);
	m->data_len = (uint16_t)(m->data_len + head->len);
	m->pkt_len += head->len;
	m->ol_flags = (m->ol_flags & ~RTE_MBUF_F_TX_OFFLOAD_MASK) | head->ol_flags;
	m->tx_offload = head->tx_offload;
	m->vlan_tci = head->vlan_tci;
	return net_queue_tagged(net, m) ? 0 : -IW_E_NOMEM;
}

uint32_t
net_tso(const struct net *net, const struct net_route *route)
{
	if (net->nif.tx_tso == 0 || (net->nif.tx_tso_ipv4_only && !iw_addr_is_v4(&route->dst)))
		return 1;
	return net->nif.tx_tso;
}

void
net_tx_grow(struct rte_mbuf *m, const struct net_head *head, const struct net_tso *tso)
{
	m->nb_segs = (uint16_t)tso->mbufs;
	m->pkt_len += tso->octets;
	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	m->tso_segsz = tso->segsz;
	set_l3_len(rte_pktmbuf_mtod_offset(m, uint8_t *, head->len), head, m->pkt_len - head->len);
}

int
net_tx_group(struct net *net, struct rte_mbuf *m, const struct net_group_tx *group)
{
	struct ipv6_tx tx = {
		.src = group->src, .dst = group->dst, .proto = group->proto, .hop_limit = group->hop_limit};
	uint8_t mac[6];

	assert(rte_pktmbuf_headroom(m) >= ETH_HDR_MAX + IPV6_HDR_LEN && ipv6_is_group(group->dst));
	if (m->pkt_len + IPV6_HDR_LEN > net->nif.mtu)
		return drop(m, &net->counters.tx_too_big, -IW_E_TOOBIG);
	ipv6_emit(m, &tx, ETH_HDR_LEN);
	ipv6_group_mac(group->dst, mac);
	eth_emit(m, mac, net->eth.mac, ETH_TYPE_IPV6);
	return net_queue(net, m) ? 0 : -IW_E_NOMEM;
}
