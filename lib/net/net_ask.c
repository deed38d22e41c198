/* SPDX-License-Identifier: BSD-3-Clause */
#include "net_ask.h"

#include "iw_addr.h"
#include "nd.h"
#include "net_own.h"

#define SRC_MAC_AT 6

static struct rte_mbuf *
question(struct net *net, const struct neigh_question *q)
{
	const uint8_t *to = q->to_one ? q->mac : NULL;
	bool duplicate;
	uint8_t number;

	if (iw_addr_is_v4(&q->addr))
		return arp_request(&net->arp, net->env->ctl_pool, iw_addr_v4(&q->addr), to);
	number = own_source(&net->own, &q->addr, &duplicate);
	if (!number || own_is_claimed(&net->own.addr[number]))
		return NULL;
	return nd_solicit(net->eth.mac, net->env->ctl_pool, net->own.addr[number].ip.ip, q->addr.ip, to);
}

void
net_ask_send(struct net *net)
{
	struct neigh_question q;

	while (!net->held && neigh_question(&net->neigh, &q)) {
		struct rte_mbuf *m = question(net, &q);

		if (!m || !net_queue(net, m))
			net->counters.neigh_ask_lost++;
	}
}

/* What waited for the address of a neighbour goes. */
static void
heard(struct net *net, const struct iw_addr *who, const uint8_t mac[6], enum neigh_how how, uint64_t now_ns)
{
	struct rte_mbuf *released[NEIGH_WAITING];
	uint32_t n = neigh_learn(&net->neigh, who, mac, how, now_ns, released);

	for (uint32_t i = 0; i < n; i++) {
		eth_hdr_set_dst(rte_pktmbuf_mtod(released[i], uint8_t *), mac);
		net_queue(net, released[i]);
	}
}

/* Consumes m; true: it is on its way. */
static void
answer(struct net *net, struct rte_mbuf *m, uint64_t *answered, uint64_t *lost)
{
	++*(m && net_queue(net, m) ? answered : lost);
}

/* Only neighbours on the link are worth an entry: packets go to no other. */
static enum neigh_how
worth(bool on_link, enum neigh_how how)
{
	return on_link || how == NEIGH_ANSWERED ? how : NEIGH_SEEN;
}

enum net_verdict
net_ask_arp(struct net *net, const struct rte_mbuf *m, uint32_t off, uint64_t now_ns)
{
	struct iw_addr who;
	struct arp_rx rx;
	bool ok = arp_rx(&net->arp, m, off, &net->counters, &rx);

	if (rx.conflict)
		net_own_conflict(net, net->own4, rx.hdr.sender_mac, now_ns);
	if (!ok)
		return NET_DROP;
	who = iw_addr_from_v4(rx.hdr.sender_ip, 0);
	if (rx.learn)
		heard(net, &who, rx.hdr.sender_mac, worth(ipv4_is_on_link(&net->ipv4, rx.hdr.sender_ip), rx.how),
		      now_ns);
	if (rx.answer && !net->quiet)
		answer(net, arp_reply(&net->arp, net->env->ctl_pool, &rx.hdr), &net->counters.arp_answered,
		       &net->counters.arp_answer_lost);
	return NET_EATEN;
}

static void
learn6(struct net *net, const struct nd_rx *rx, uint64_t now_ns)
{
	struct iw_addr who = net_own_addr6(net, rx->who);
	const struct neigh *known = neigh_find(&net->neigh, 0, &who);
	bool is_known = known && neigh_is_known(known);
	uint8_t mac[6];

	if (rx->confirm && !is_known)
		return;
	memcpy(mac, rx->confirm ? known->mac : rx->mac, 6);
	if (rx->keep && is_known && memcmp(known->mac, mac, 6) != 0)
		neigh_doubt(&net->neigh, &who, now_ns);
	else
		heard(net, &who, mac, worth(own_is_on_link6(&net->own, rx->who), rx->how), now_ns);
}

enum net_verdict
net_ask_nd(struct net *net, const struct rte_mbuf *m, const struct ipv6_rx *ip, uint64_t now_ns)
{
	uint8_t buf[6];
	const uint8_t *src_mac = rte_pktmbuf_read(m, SRC_MAC_AT, 6, buf);
	struct nd_rx rx;

	if (!src_mac || memcmp(src_mac, net->eth.mac, 6) == 0) {
		net->counters.rx_nd_own++;
		return NET_DROP;
	}
	if (!nd_rx(&net->own, m, ip, src_mac, &net->counters, &rx))
		return NET_DROP;
	if (rx.conflict)
		net_own_conflict(net, rx.own, rx.mac, now_ns);
	if ((rx.learn || rx.confirm) && !net->held) /* what waits would leave */
		learn6(net, &rx, now_ns);
	if (rx.answer && !net->quiet)
		answer(net, nd_answer(net->eth.mac, net->env->ctl_pool, ip, &rx), &net->counters.nd_answered,
		       &net->counters.nd_answer_lost);
	return NET_EATEN;
}
