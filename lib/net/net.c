/* SPDX-License-Identifier: BSD-3-Clause */
#include "net.h"

#include <assert.h>
#include <iwarp/err.h>

#include "arp.h"
#include "cksum.h"
#include "eth.h"
#include "icmp_err.h"
#include "ipv4.h"
#include "iw_addr.h"
#include "neigh.h"
#include "net_counters.h"
#include "outq.h"

static const uint8_t nowhere[6]; /* until the neighbour answers */

struct net {
	struct netif nif;
	struct ipv4_if ipv4;
	struct arp_self self;
	struct iw_addr own; /* nif.addr, with port 0 */
	const struct iw_env *env;
	struct neigh_table neigh;
	struct net_counters counters;
	struct outq outq;
};

/* ---- life ---- */

struct net *
net_create(struct iw_env *env, const struct netif *nif, uint32_t max_neigh, uint64_t now_ns)
{
	struct net *net = iw_env_alloc(sizeof(*net));

	if (!net)
		return NULL;
	net->nif = *nif;
	net->ipv4 = ipv4_if_from(nif);
	memcpy(net->self.mac, nif->mac, 6);
	net->self.ip = net->ipv4.own;
	net->own = nif->addr;
	net->own.port = 0;
	net->env = env;
	if (neigh_init(&net->neigh, env, &net->counters, max_neigh, now_ns) == 0)
		return net;
	iw_env_free(net);
	return NULL;
}

void
net_destroy(struct net *net)
{
	struct rte_mbuf *m;

	if (!net)
		return;
	while (outq_take(&net->outq, &m, 1))
		rte_pktmbuf_free(m);
	neigh_fini(&net->neigh);
	iw_env_free(net);
}

const struct netif *
net_if(const struct net *net)
{
	return &net->nif;
}

/* ---- the queue ---- */

/* Consumes m: false when it had to be dropped. */
static bool
queue(struct net *net, struct rte_mbuf *m)
{
	if (outq_put(&net->outq, m)) {
		net->counters.tx_frames++;
		return true;
	}
	rte_pktmbuf_free(m);
	return net_drop(&net->counters.tx_queue_full);
}

/* Sends what the neighbour table wants to know. */
static void
send_questions(struct net *net)
{
	struct neigh_question q;

	while (neigh_question(&net->neigh, &q)) {
		struct rte_mbuf *m =
			arp_request(&net->self, net->env->ctl_pool, iw_addr_v4(&q.addr), q.to_one ? q.mac : NULL);

		if (!m || !queue(net, m))
			net->counters.neigh_ask_lost++;
	}
}

uint32_t
net_tx_space(const struct net *net)
{
	return outq_space(&net->outq);
}

uint32_t
net_drain(struct net *net, struct rte_mbuf **out, uint32_t max)
{
	return outq_take(&net->outq, out, max);
}

/* ---- receive ---- */

/* Only neighbours on the link are worth an entry: packets go to no other. */
static void
learn(struct net *net, const struct arp_rx *rx, uint64_t now_ns)
{
	struct iw_addr addr = iw_addr_from_v4(rx->hdr.sender_ip, 0);
	struct rte_mbuf *released[NEIGH_WAITING];
	bool near = ipv4_is_on_link(&net->ipv4, rx->hdr.sender_ip);
	uint32_t n = neigh_learn(&net->neigh, &addr, rx->hdr.sender_mac,
				 near || rx->how == NEIGH_ANSWERED ? rx->how : NEIGH_SEEN, now_ns, released);

	for (uint32_t i = 0; i < n; i++) {
		eth_hdr_set_dst(rte_pktmbuf_mtod(released[i], uint8_t *), rx->hdr.sender_mac);
		queue(net, released[i]);
	}
}

static void
answer(struct net *net, const struct arp_hdr *request)
{
	struct rte_mbuf *m = arp_reply(&net->self, net->env->ctl_pool, request);

	if (m && queue(net, m))
		net->counters.arp_answered++;
	else
		net->counters.arp_answer_lost++;
}

static enum net_verdict
rx_arp(struct net *net, const struct rte_mbuf *m, uint32_t off, uint64_t now_ns)
{
	struct arp_rx rx;

	if (!arp_rx(&net->self, m, off, &net->counters, &rx))
		return NET_DROP;
	if (rx.learn)
		learn(net, &rx, now_ns);
	if (rx.answer)
		answer(net, &rx.hdr);
	return NET_EATEN;
}

static bool
l4_cksum_is_good(const struct net *net, const struct rte_mbuf *m)
{
	uint64_t flag = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	/* NONE: not filled in, but nothing can have happened to it (virtual ports). */
	return net->nif.rx_cksum && (flag == RTE_MBUF_F_RX_L4_CKSUM_GOOD || flag == RTE_MBUF_F_RX_L4_CKSUM_NONE);
}

static void
fill_pkt(const struct net *net, const struct rte_mbuf *m, uint32_t off, const struct ipv4_hdr *h, struct net_pkt *pkt)
{
	pkt->src = iw_addr_from_v4(h->src, 0);
	pkt->dst = h->dst == net->ipv4.own ? net->own : iw_addr_from_v4(h->dst, 0);
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

	if (!ipv4_rx(&net->ipv4, m, f->l3_off, f->broadcast, &net->counters, &rx))
		return NET_DROP;
	fill_pkt(net, m, f->l3_off, &rx.hdr, pkt);
	if (rx.hdr.proto != NET_PROTO_TCP || rx.broadcast)
		return rx_ipv4_other(net, m, &rx, pkt, err);
	net->counters.rx_tcp++;
	return NET_TCP;
}

enum net_verdict
net_rx(struct net *net, struct rte_mbuf *m, uint64_t now_ns, struct net_pkt *pkt, struct net_icmp_err *err)
{
	struct eth_frame f = eth_rx(m, net->nif.mac, &net->counters);
	enum net_verdict verdict = NET_DROP;

	net->counters.rx_frames++;
	if (f.kind == ETH_IPV4)
		verdict = rx_ipv4(net, m, &f, pkt, err);
	else if (f.kind == ETH_ARP)
		verdict = rx_arp(net, m, f.l3_off, now_ns);
	if (verdict != NET_TCP && verdict != NET_HOST)
		rte_pktmbuf_free(m);
	return verdict;
}

/* ---- routes ---- */

int
net_route(struct net *net, const struct iw_addr *dst, struct net_route *route)
{
	uint32_t next_hop;

	memset(route, 0, sizeof(*route));
	if (!iw_addr_is_v4(dst) || !ipv4_next_hop(&net->ipv4, iw_addr_v4(dst), &next_hop))
		return -IW_E_HOSTUNREACH;
	route->dst = *dst;
	route->next_hop = iw_addr_from_v4(next_hop, 0);
	route->mtu = net->nif.mtu;
	return 0;
}

enum net_reach
net_reach(const struct net *net, const struct net_route *route)
{
	const struct neigh *e = neigh_find(&net->neigh, route->neigh, &route->next_hop);

	if (e && (e->state == NEIGH_REACHABLE || e->state == NEIGH_STALE))
		return NET_REACH_KNOWN;
	return e && e->state == NEIGH_FAILED ? NET_REACH_FAILED : NET_REACH_ASKING;
}

void
net_reconfirm(struct net *net, struct net_route *route, uint64_t now_ns)
{
	neigh_reconfirm(&net->neigh, route->neigh, &route->next_hop, now_ns);
	send_questions(net);
}

/* ---- send ---- */

/* Consumes m.  Returns err. */
static int
tx_drop(struct rte_mbuf *m, uint64_t *counter, int err)
{
	++*counter;
	rte_pktmbuf_free(m);
	return err;
}

static int
tx_refuse(struct net *net, struct rte_mbuf *m, enum neigh_use use)
{
	if (use == NEIGH_USE_FULL)
		return tx_drop(m, &net->counters.tx_neigh_full, -IW_E_NOMEM);
	return tx_drop(m, &net->counters.tx_unreachable, -IW_E_HOSTUNREACH);
}

int
net_tx(struct net *net, struct rte_mbuf *m, struct net_route *route, uint8_t proto, uint8_t ecn, uint64_t now_ns)
{
	enum neigh_use use;
	uint8_t mac[6];

	assert(rte_pktmbuf_headroom(m) >= ETH_HDR_LEN + IPV4_HDR_LEN);
	if (!iw_addr_is_v4(&route->next_hop))
		return tx_drop(m, &net->counters.tx_no_route, -IW_E_HOSTUNREACH);
	if (m->pkt_len + IPV4_HDR_LEN > net->nif.mtu)
		return tx_drop(m, &net->counters.tx_too_big, -IW_E_TOOBIG);
	if (outq_space(&net->outq) == 0)
		return tx_drop(m, &net->counters.tx_queue_full, -IW_E_NOMEM);
	use = neigh_use(&net->neigh, &route->neigh, &route->next_hop, now_ns, mac);
	if (use == NEIGH_USE_KNOWN || use == NEIGH_USE_WAIT) {
		ipv4_emit(&net->ipv4, m, iw_addr_v4(&route->dst), proto, ecn, ETH_HDR_LEN);
		eth_emit(m, use == NEIGH_USE_KNOWN ? mac : nowhere, net->nif.mac, ETH_TYPE_IPV4);
	}
	if (use == NEIGH_USE_KNOWN)
		queue(net, m);
	else if (use == NEIGH_USE_WAIT)
		neigh_wait(&net->neigh, route->neigh, m);
	if (neigh_has_question(&net->neigh))
		send_questions(net);
	return use == NEIGH_USE_KNOWN || use == NEIGH_USE_WAIT ? 0 : tx_refuse(net, m, use);
}

bool
net_l4_cksum_offloaded(const struct net *net)
{
	return net->nif.tx_tcp_cksum;
}

uint32_t
net_pseudo_sum(const struct net *net, const struct iw_addr *src, const struct iw_addr *dst, uint8_t proto,
	       uint32_t l4_len)
{
	(void)net;
	if (iw_addr_is_v4(dst))
		return iw_cksum_pseudo4(iw_addr_v4(src), iw_addr_v4(dst), proto, l4_len);
	return iw_cksum_pseudo6(src->ip, dst->ip, proto, l4_len);
}

/* ---- time, counters ---- */

void
net_tick(struct net *net, uint64_t now_ns)
{
	neigh_tick(&net->neigh, now_ns);
	send_questions(net);
}

uint64_t
net_deadline(const struct net *net)
{
	return neigh_deadline(&net->neigh);
}

struct iw_counter_list
net_counter_list(const struct net *net)
{
#define IW_COUNTER_PREFIX "net"
	static const char *const names[] = {NET_COUNTERS(IW_COUNTER_NAME)};
#undef IW_COUNTER_PREFIX

	return (struct iw_counter_list){
		.names = names, .values = (const uint64_t *)&net->counters, .n = sizeof(names) / sizeof(names[0])};
}
