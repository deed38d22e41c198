/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostpath.h"

/* lwIP has a struct netif, and members of that name, too: all are lwip_netif here. */
#define netif lwip_netif
#include <lwip/icmp6.h>
#include <lwip/init.h>
#include <lwip/ip.h>
#include <lwip/nd6.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/priv/nd6_priv.h>
#include <lwip/timeouts.h>
#undef netif
#include <string.h>

#include "eth_hdr.h"
#include "iw_addr.h"
#include "iw_time.h"

#define TICK_NS (10 * IW_MS)
/* lwIP's timers run for so long after a packet, far beyond the life of a fragment (15 s), and after the start, for the
 * groups to be reported; where routers are listened to they run always, else they stand still: each time one fires lwIP
 * frees and allocates, and a core that only carries data must not. */
#define AWAKE_NS (60 * IW_SEC)
#define LATEST_NS (100 * IW_MS) /* lwIP's shortest timer, MLD's */
#define LINK_LOCAL 0            /* its place among lwIP's addresses */

struct hostpath {
	struct net *net;
	struct rte_mempool *pool;
	struct lwip_netif *lwip; /* the process's one, see below */
	struct net_route route;
	bool ipv6, autoconf, own_gateway6;
	struct iw_addr told[LWIP_IPV6_NUM_ADDRESSES]; /* autoconfigured addresses that net has; unspecified: none */
	uint64_t now_ns, next_tick_ns, sleep_ns;
};

/* lwIP keeps its state in globals, a netif among them; taken says who has it. */
static struct lwip_netif the_netif;
static int taken;

/* ---- what lwIP sends ---- */

/* The packet behind its first skip octets; NULL: no mbuf, or too long for one. */
static struct rte_mbuf *
copy_of(struct hostpath *h, const struct pbuf *p, uint16_t skip)
{
	uint16_t len = (uint16_t)(p->tot_len - skip);
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);

	if (m && len > rte_pktmbuf_tailroom(m)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	if (m)
		pbuf_copy_partial(p, rte_pktmbuf_append(m, len), len, skip);
	return m;
}

/* lwIP's answer: an IP packet.  Its header goes; net_tx() writes ours, with the neighbour's address. */
static err_t
output4(struct lwip_netif *n, struct pbuf *p, const ip4_addr_t *dst)
{
	struct hostpath *h = n->state;
	const struct ip_hdr *ip = p->payload;
	uint16_t skip = (uint16_t)IPH_HL_BYTES(ip);
	struct iw_addr to = iw_addr_from_v4(lwip_ntohl(ip4_addr_get_u32(dst)), 0);
	uint8_t proto = IPH_PROTO(ip);
	struct rte_mbuf *m;

	if (p->tot_len < skip || (IPH_OFFSET(ip) & PP_HTONS(IP_OFFMASK | IP_MF)) != 0 || proto == NET_PROTO_TCP)
		return ERR_VAL;
	if (net_route(h->net, &to, &h->route) != 0)
		return ERR_RTE;
	m = copy_of(h, p, skip);
	if (!m)
		return ERR_MEM;
	return net_tx(h->net, m, &h->route, proto, 0, h->now_ns) == 0 ? ERR_OK : ERR_BUF;
}

/* Neighbours are lib/net's business; TCP is nobody's but ours. */
static bool
may_send6(const struct pbuf *p, const struct ip6_hdr *ip)
{
	uint8_t type = 0;

	if (p->tot_len < IP6_HLEN || IP6H_NEXTH(ip) == NET_PROTO_TCP)
		return false;
	if (IP6H_NEXTH(ip) == NET_PROTO_ICMP6)
		pbuf_copy_partial(p, &type, 1, IP6_HLEN);
	return type != ICMP6_TYPE_NS && type != ICMP6_TYPE_NA;
}

static err_t
output6(struct lwip_netif *n, struct pbuf *p, const ip6_addr_t *dst)
{
	struct hostpath *h = n->state;
	const struct ip6_hdr *ip = p->payload;
	struct net_group_tx group = {.src = (const uint8_t *)&ip->src,
				     .dst = (const uint8_t *)&ip->dest,
				     .proto = IP6H_NEXTH(ip),
				     .hop_limit = IP6H_HOPLIM(ip)};
	struct iw_addr from = {.port = 0}, to = {.port = 0};
	struct rte_mbuf *m;

	if (!may_send6(p, ip))
		return ERR_VAL;
	memcpy(from.ip, group.src, 16);
	memcpy(to.ip, group.dst, 16);
	if (!ip6_addr_ismulticast(dst) && net_route_from(h->net, &from, &to, &h->route) != 0)
		return ERR_RTE;
	m = copy_of(h, p, IP6_HLEN);
	if (!m)
		return ERR_MEM;
	if (ip6_addr_ismulticast(dst))
		return net_tx_group(h->net, m, &group) == 0 ? ERR_OK : ERR_BUF;
	return net_tx(h->net, m, &h->route, group.proto, 0, h->now_ns) == 0 ? ERR_OK : ERR_BUF;
}

/* ---- life ---- */

static err_t
init_netif(struct lwip_netif *n)
{
	struct hostpath *h = n->state;

	n->name[0] = 'i';
	n->name[1] = 'w';
	n->mtu = n->mtu6 = net_if(h->net)->mtu;
	n->hwaddr_len = 6;
	memcpy(n->hwaddr, net_if(h->net)->mac, 6);
	n->flags = NETIF_FLAG_MLD6;
	n->output = output4;
	n->output_ip6 = output6;
	return ERR_OK;
}

static uint32_t
mask_of(uint8_t prefix_len)
{
	return prefix_len == 0 ? 0 : UINT32_MAX << (32 - prefix_len);
}

/* Whether somebody has it, lib/net asks: for lwIP it is in use, which makes it join the groups. */
static void
add_v6(struct hostpath *h, const struct iw_addr *ip)
{
	s8_t at = LINK_LOCAL;
	ip6_addr_t a;

	memset(&a, 0, sizeof(a));
	memcpy(a.addr, ip->ip, 16);
	if (iw_addr_is_link_local(ip) && ip6_addr_isinvalid(netif_ip6_addr_state(h->lwip, LINK_LOCAL)))
		netif_ip6_addr_set(h->lwip, at, &a);
	else if (netif_add_ip6_address(h->lwip, &a, &at) != ERR_OK)
		return;
	netif_ip6_addr_set_state(h->lwip, at, IP6_ADDR_PREFERRED);
}

static void
add_addrs(struct hostpath *h)
{
	struct net_own_info own;
	uint32_t pos = 0;

	while (net_own_get(h->net, &pos, &own)) {
		if (iw_addr_is_v4(&own.ip))
			continue;
		h->ipv6 = true;
		add_v6(h, &own.ip);
	}
	netif_set_ip6_autoconfig_enabled(h->lwip, h->autoconf);
	if (!h->autoconf)
		h->lwip->rs_count = 0;
}

static bool
add_netif(struct hostpath *h)
{
	static bool initialised;
	const struct netif_v4 {
		ip4_addr_t addr, mask, gw;
	} none = {.addr.addr = 0};
	struct netif_v4 v4 = none;
	struct net_own_info own;
	uint32_t pos = 0;

	while (net_own_get(h->net, &pos, &own))
		if (iw_addr_is_v4(&own.ip)) {
			v4.addr.addr = lwip_htonl(iw_addr_v4(&own.ip));
			v4.mask.addr = lwip_htonl(mask_of(own.prefix_len));
		}
	if (!initialised)
		lwip_init();
	initialised = true;
	memset(&the_netif, 0, sizeof(the_netif));
	h->lwip = netif_add(&the_netif, &v4.addr, &v4.mask, &v4.gw, h, init_netif, ip_input);
	if (!h->lwip)
		return false;
	netif_set_default(h->lwip);
	netif_set_link_up(h->lwip);
	netif_set_up(h->lwip);
	add_addrs(h);
	return true;
}

struct hostpath *
hostpath_create(struct net *net, struct rte_mempool *pool, bool autoconf)
{
	const struct netif *nif = net_if(net);
	struct hostpath *h;

	if (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE))
		return NULL;
	h = iw_env_alloc(sizeof(*h));
	if (h) {
		h->net = net;
		h->pool = pool;
		h->autoconf = autoconf;
		h->own_gateway6 = !iw_addr_is_any(&nif->gateway6) ||
				  (!iw_addr_is_any(&nif->gateway) && !iw_addr_is_v4(&nif->gateway));
		if (add_netif(h))
			return h;
	}
	iw_env_free(h);
	__atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
	return NULL;
}

void
hostpath_destroy(struct hostpath *h)
{
	if (!h)
		return;
	netif_remove(h->lwip);
	iw_env_free(h);
	__atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}

/* ---- what lwIP gets ---- */

/* lwIP owns what it is given and writes into it: a copy (received mbufs are read-only, D19). */
static struct pbuf *
pbuf_of(const struct rte_mbuf *m)
{
	uint32_t len = rte_pktmbuf_pkt_len(m);
	uint8_t buf[ETH_HDR_MAX + 65535];
	const uint8_t *frame = len <= sizeof(buf) ? rte_pktmbuf_read(m, 0, len, buf) : NULL;
	struct eth_hdr eth;
	struct pbuf *p;

	if (!frame || !eth_hdr_parse(frame, len, &eth) || len <= eth.len)
		return NULL;
	p = pbuf_alloc(PBUF_RAW, (uint16_t)(len - eth.len), PBUF_RAM);
	if (p)
		pbuf_take(p, frame + eth.len, (uint16_t)(len - eth.len));
	return p;
}

bool
hostpath_rx(struct hostpath *h, struct rte_mbuf *m, uint64_t now_ns)
{
	struct pbuf *p = pbuf_of(m);

	h->now_ns = now_ns;
	h->sleep_ns = now_ns + AWAKE_NS;
	rte_pktmbuf_free(m);
	if (!p || h->lwip->input(p, h->lwip) == ERR_OK)
		return p != NULL;
	pbuf_free(p);
	return false;
}

/* ---- what lwIP learns from routers ---- */

static bool
is_on_link(const struct hostpath *h, const ip6_addr_t *a)
{
	for (int i = 0; i < LWIP_ND6_NUM_PREFIXES; i++)
		if (prefix_list[i].lwip_netif == h->lwip && prefix_list[i].invalidation_timer > 0 &&
		    memcmp(prefix_list[i].prefix.addr, a->addr, 8) == 0)
			return true;
	return false;
}

/* One of lwIP's addresses came, went or is not preferred any more. */
static void
sync_addr(struct hostpath *h, int i)
{
	uint8_t state = netif_ip6_addr_state(h->lwip, i);
	const ip6_addr_t *a = netif_ip6_addr(h->lwip, i);
	bool there =
		!ip6_addr_isinvalid(state) && !ip6_addr_isduplicated(state) && !netif_ip6_addr_isstatic(h->lwip, i);

	if (!iw_addr_is_any(&h->told[i]) && (!there || memcmp(h->told[i].ip, a->addr, 16) != 0)) {
		net_own_remove(h->net, &h->told[i]);
		memset(&h->told[i], 0, sizeof(h->told[i]));
	}
	if (!there)
		return;
	if (iw_addr_is_any(&h->told[i])) {
		memcpy(h->told[i].ip, a->addr, 16);
		if (net_own_add(h->net, &h->told[i], is_on_link(h, a) ? 64 : 128, h->now_ns) != 0)
			memset(&h->told[i], 0, sizeof(h->told[i]));
	} else {
		net_own_deprecate(h->net, &h->told[i], ip6_addr_isdeprecated(state));
	}
}

/* As the neighbour table has it: lwIP's own does not ask. */
static enum net_reach
reach_of(struct hostpath *h, const struct iw_addr *router)
{
	struct net_route route;

	return net_route(h->net, router, &route) == 0 ? net_reach(h->net, &route) : NET_REACH_FAILED;
}

/* The router that answers, else one that has not failed to; of those that are alike the first (RFC 4861 §6.3.6). */
static void
sync_router(struct hostpath *h)
{
	struct iw_addr best = {.port = 0};
	enum net_reach reach = NET_REACH_FAILED;

	for (int i = 0; i < LWIP_ND6_NUM_ROUTERS; i++) {
		const struct nd6_router_list_entry *r = &default_router_list[i];
		struct iw_addr router = {.port = 0};
		enum net_reach now;

		if (!r->neighbor_entry || r->neighbor_entry->lwip_netif != h->lwip || r->invalidation_timer == 0)
			continue;
		memcpy(router.ip, r->neighbor_entry->next_hop_address.addr, 16);
		now = reach_of(h, &router);
		if (!iw_addr_is_any(&best) && now >= reach)
			continue;
		reach = now;
		best = router;
	}
	net_own_gateway6(h->net, &best);
}

/* What the routers say of the link (RFC 4861 §6.3.4). */
static void
sync_mtu(struct hostpath *h)
{
#if LWIP_ND6_ALLOW_RA_UPDATES
	net_own_mtu6(h->net, h->lwip->mtu6);
#endif
}

static bool
is_awake(const struct hostpath *h, uint64_t now_ns)
{
	return h->autoconf || now_ns < h->sleep_ns;
}

void
hostpath_tick(struct hostpath *h, uint64_t now_ns)
{
	if (h->ipv6 && !h->sleep_ns)
		h->sleep_ns = now_ns + AWAKE_NS;
	if (now_ns < h->next_tick_ns || !is_awake(h, now_ns))
		return;
	h->now_ns = now_ns;
	h->next_tick_ns = now_ns + TICK_NS;
	sys_check_timeouts();
	if (!h->autoconf)
		return;
	for (int i = 0; i < LWIP_IPV6_NUM_ADDRESSES; i++)
		if (i != LINK_LOCAL)
			sync_addr(h, i);
	if (!h->own_gateway6)
		sync_router(h);
	sync_mtu(h);
}

uint64_t
hostpath_deadline(const struct hostpath *h)
{
	return h->ipv6 && is_awake(h, h->next_tick_ns) ? h->next_tick_ns + LATEST_NS : IW_NEVER;
}
