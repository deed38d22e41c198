/* SPDX-License-Identifier: BSD-3-Clause */
#include "nd.h"

#include "cksum.h"
#include "eth.h"
#include "net_face.h"

#define HOP_LIMIT 255 /* proves that the sender is on the link (RFC 4861 §3.1) */

static bool
is_from_nobody(const struct ipv6_rx *ip)
{
	return memcmp(ip->hdr.src, ipv6_any, 16) == 0;
}

/* RFC 4861 §7.1.1 and §7.1.2, beyond what the parser has seen. */
static bool
is_valid(const struct ipv6_rx *ip, const struct icmp6_nd *msg)
{
	if (ip->hdr.hop_limit != HOP_LIMIT || ipv6_is_group(msg->target))
		return false;
	if (msg->has_mac && !eth_mac_is_station(msg->mac))
		return false;
	if (msg->type == ICMP6_ND_ADVERT)
		return !is_from_nobody(ip) && !(ip->group && msg->flags & ICMP6_ND_SOLICITED);
	return !is_from_nobody(ip) || (ip->group && !msg->has_mac);
}

/* §7.2.3; from :: it is somebody's probe (RFC 4862 §5.4.3): of an address that we are about to take it is a conflict,
 * of one that we have it gets the answer that ends it. */
static void
judge_solicit(const struct own_table *own, const struct ipv6_rx *ip, struct nd_rx *rx)
{
	bool ready = rx->own && own_is_ready(&own->addr[rx->own]);

	rx->answer = ready;
	rx->conflict = rx->own && !ready && is_from_nobody(ip);
	rx->learn = ready && rx->msg.has_mac; /* who has no address gives none (is_valid) */
	rx->who = ip->hdr.src;
	rx->how = NEIGH_ASKED_US;
}

/* §7.2.5. */
static void
judge_advert(struct nd_rx *rx)
{
	bool solicited = rx->msg.flags & ICMP6_ND_SOLICITED;

	rx->conflict = rx->own != 0;
	rx->learn = !rx->own && rx->msg.has_mac;
	rx->keep = !(rx->msg.flags & ICMP6_ND_OVERRIDE);
	rx->confirm = !rx->own && !rx->msg.has_mac && solicited;
	rx->who = rx->msg.target;
	rx->how = solicited ? NEIGH_ANSWERED : NEIGH_SEEN;
}

bool
nd_rx(const struct own_table *own, const struct rte_mbuf *m, const struct ipv6_rx *ip, const uint8_t *src_mac,
      struct net_counters *c, struct nd_rx *rx)
{
	uint8_t buf[ICMP6_ND_PARSED];
	uint32_t len = ip->l4_len < sizeof(buf) ? ip->l4_len : (uint32_t)sizeof(buf);
	const uint8_t *p = rte_pktmbuf_read(m, ip->l4_off, len, buf);

	memset(rx, 0, sizeof(*rx));
	if (!p || ip->l4_len > sizeof(buf) || !icmp6_hdr_nd_parse(p, len, &rx->msg) || !is_valid(ip, &rx->msg))
		return net_drop(&c->rx_nd_invalid);
	c->rx_nd++;
	rx->own = own_find6(own, rx->msg.target);
	rx->mac = rx->msg.has_mac ? rx->msg.mac : src_mac;
	if (ip->own_src) { /* from our address, whatever it says */
		rx->own = ip->own_src;
		rx->conflict = true;
	} else if (rx->msg.type == ICMP6_ND_SOLICIT)
		judge_solicit(own, ip, rx);
	else
		judge_advert(rx);
	return true;
}

/* ---- what we send ---- */

struct letter {
	const uint8_t *mac, *to_mac; /* to_mac NULL: the group's */
	const uint8_t *src, *dst;
	struct icmp6_nd msg;
};

static struct rte_mbuf *
make(struct rte_mempool *pool, const struct letter *l)
{
	struct ipv6_tx tx = {.src = l->src, .dst = l->dst, .proto = NET_PROTO_ICMP6, .hop_limit = HOP_LIMIT};
	uint32_t len = ICMP6_ND_LEN + (l->msg.has_mac ? ICMP6_ND_OPTION : 0);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len) : NULL;
	uint8_t group[6];
	uint32_t sum;

	if (!p) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	icmp6_hdr_nd_emit(p, &l->msg);
	sum = iw_cksum_pseudo6(l->src, l->dst, NET_PROTO_ICMP6, len);
	icmp6_hdr_set_cksum(p, iw_cksum_finish(iw_cksum_add(sum, 0, p, len)));
	ipv6_emit(m, &tx, ETH_HDR_LEN);
	ipv6_group_mac(l->dst, group);
	eth_emit(m, l->to_mac ? l->to_mac : group, l->mac, ETH_TYPE_IPV6);
	return m;
}

static struct icmp6_nd
message(uint8_t type, uint8_t flags, const uint8_t target[16], const uint8_t *mac)
{
	struct icmp6_nd msg = {.type = type, .flags = flags, .has_mac = mac != NULL};

	memcpy(msg.target, target, 16);
	if (mac)
		memcpy(msg.mac, mac, 6);
	return msg;
}

struct rte_mbuf *
nd_solicit(const uint8_t mac[6], struct rte_mempool *pool, const uint8_t src[16], const uint8_t target[16],
	   const uint8_t *to_mac)
{
	bool probe = memcmp(src, ipv6_any, 16) == 0;
	uint8_t group[16];
	struct letter l = {.mac = mac, .to_mac = to_mac, .src = src, .dst = to_mac ? target : group};

	ipv6_solicited_node(target, group);
	l.msg = message(ICMP6_ND_SOLICIT, 0, target, probe ? NULL : mac);
	return make(pool, &l);
}

struct rte_mbuf *
nd_answer(const uint8_t mac[6], struct rte_mempool *pool, const struct ipv6_rx *ip, const struct nd_rx *rx)
{
	bool probe = is_from_nobody(ip);
	struct letter l = {.mac = mac,
			   .to_mac = probe ? NULL : rx->mac,
			   .src = rx->msg.target,
			   .dst = probe ? ipv6_all_nodes : ip->hdr.src};

	l.msg = message(ICMP6_ND_ADVERT, (uint8_t)(ICMP6_ND_OVERRIDE | (probe ? 0 : ICMP6_ND_SOLICITED)),
			rx->msg.target, mac);
	return make(pool, &l);
}

struct rte_mbuf *
nd_announce(const uint8_t mac[6], struct rte_mempool *pool, const uint8_t own[16])
{
	struct letter l = {.mac = mac, .src = own, .dst = ipv6_all_nodes};

	l.msg = message(ICMP6_ND_ADVERT, ICMP6_ND_OVERRIDE, own, mac);
	return make(pool, &l);
}
