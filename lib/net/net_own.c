/* SPDX-License-Identifier: BSD-3-Clause */
#include "net_own.h"

#include <iwarp/err.h>

#include "iw_addr.h"
#include "nd.h"

struct iw_addr
net_own_addr6(const struct net *net, const uint8_t ip[16])
{
	struct iw_addr a = {.port = 0};

	memcpy(a.ip, ip, 16);
	if (iw_addr_is_link_local(&a))
		a.scope = net->scope;
	return a;
}

/* Without a scope, a link-local address is one on our link. */
struct iw_addr
net_own_scoped(const struct net *net, const struct iw_addr *addr)
{
	struct iw_addr a = *addr;

	if (a.scope == 0 && iw_addr_is_link_local(&a))
		a.scope = net->scope;
	return a;
}

/* ---- which there are ---- */

static void
take_v4(struct net *net, uint8_t number)
{
	const struct own_addr *a = &net->own.addr[number];

	net->own4 = number;
	net->ipv4 = ipv4_if_from(&net->nif, iw_addr_v4(&a->ip), a->prefix_len);
	net->arp.ip = net->ipv4.own;
	net->arp.tentative = own_is_claimed(a);
}

static uint8_t
add(struct net *net, const struct iw_addr *ip, uint8_t prefix_len, bool claim, uint64_t at_ns)
{
	struct iw_addr a = net_own_scoped(net, ip);
	bool v4 = iw_addr_is_v4(ip);
	uint8_t number = v4 && net->own4 ? 0 : own_add(&net->own, &a, prefix_len, claim, at_ns);

	if (number && v4)
		take_v4(net, number);
	if (number && !v4)
		net->eth.ipv6 = true;
	return number;
}

bool
net_own_init(struct net *net)
{
	const struct netif *nif = &net->nif;
	bool ok = true;

	own_init(&net->own);
	net->scope = nif->port_id + 1u;
	net->eth.ipv6 = nif->ipv6;
	net->mtu6 = nif->mtu;
	net->held = nif->claim;
	net->ipv4 = ipv4_if_from(nif, 0, 0);
	if (!iw_addr_is_any(&nif->addr))
		ok = add(net, &nif->addr, nif->prefix_len, nif->claim, IW_NEVER);
	for (uint32_t i = 0; ok && i < nif->n_more; i++)
		ok = add(net, &nif->more[i].ip, nif->more[i].prefix_len, nif->claim, IW_NEVER);
	if (!iw_addr_is_v4(&nif->gateway) && !iw_addr_is_any(&nif->gateway))
		net_own_gateway6(net, &nif->gateway);
	else
		net_own_gateway6(net, &nif->gateway6);
	return ok;
}

int
net_own_add(struct net *net, const struct iw_addr *addr, uint8_t prefix_len, uint64_t now_ns)
{
	struct iw_addr a = net_own_scoped(net, addr);

	if (own_find(&net->own, &a))
		return -IW_E_ADDRINUSE;
	if (!add(net, addr, prefix_len, net->nif.claim, net->held ? IW_NEVER : now_ns))
		return -IW_E_NOMEM;
	return 0;
}

void
net_own_remove(struct net *net, const struct iw_addr *addr)
{
	struct iw_addr a = net_own_scoped(net, addr);
	uint8_t number = own_find(&net->own, &a);

	if (number && number != net->own4)
		own_remove(&net->own, number);
}

void
net_own_deprecate(struct net *net, const struct iw_addr *addr, bool deprecated)
{
	struct iw_addr a = net_own_scoped(net, addr);

	net->own.addr[own_find(&net->own, &a)].deprecated = deprecated;
}

void
net_own_gateway6(struct net *net, const struct iw_addr *gateway)
{
	memset(&net->gateway6, 0, sizeof(net->gateway6));
	if (gateway && !iw_addr_is_any(gateway) && !iw_addr_is_v4(gateway))
		net->gateway6 = net_own_addr6(net, gateway->ip);
}

void
net_own_mtu6(struct net *net, uint16_t mtu)
{
	net->mtu6 = mtu >= IPV6_MTU_MIN && mtu < net->nif.mtu ? mtu : net->nif.mtu;
}

bool
net_own_is(const struct net *net, const struct iw_addr *addr)
{
	struct iw_addr a = net_own_scoped(net, addr);

	return own_find(&net->own, &a) != 0;
}

bool
net_own_get(const struct net *net, uint32_t *pos, struct net_own_info *info)
{
	static const uint8_t states[] = {
		[OWN_TENTATIVE] = NET_OWN_TENTATIVE, [OWN_READY] = NET_OWN_READY, [OWN_DUPLICATE] = NET_OWN_DUPLICATE};

	for (uint32_t i = *pos + 1; i < net->own.n; i++) {
		const struct own_addr *a = &net->own.addr[i];

		*pos = i;
		if (a->state == OWN_NONE)
			continue;
		*info = (struct net_own_info){.ip = a->ip,
					      .prefix_len = a->prefix_len,
					      .state = states[a->state],
					      .conflicts = a->conflicts,
					      .deprecated = a->deprecated};
		memcpy(info->conflict_mac, a->conflict_mac, 6);
		return true;
	}
	return false;
}

int
net_own_source(const struct net *net, const struct iw_addr *local, const struct iw_addr *dst, struct iw_addr *src)
{
	struct iw_addr want = net_own_scoped(net, local), to = net_own_scoped(net, dst);
	bool duplicate = false;
	uint8_t number;

	if (iw_addr_is_any(local)) {
		number = own_source(&net->own, &to, &duplicate);
	} else {
		number = own_find(&net->own, &want);
		duplicate = number && net->own.addr[number].state == OWN_DUPLICATE;
	}
	if (duplicate && (!number || net->own.addr[number].family == OWN_UNUSABLE))
		return -IW_E_ADDRINUSE;
	if (!number)
		return iw_addr_is_any(local) ? -IW_E_HOSTUNREACH : -IW_E_ADDRNOTAVAIL;
	*src = net->own.addr[number].ip;
	src->port = local->port;
	return 0;
}

/* ---- the claim ---- */

static struct rte_mbuf *
say(struct net *net, enum own_say what, const struct own_addr *a)
{
	struct rte_mempool *pool = net->env->ctl_pool;

	if (iw_addr_is_v4(&a->ip))
		return what == OWN_SAY_PROBE ? arp_probe(&net->arp, pool) : arp_announce(&net->arp, pool);
	if (what == OWN_SAY_PROBE)
		return nd_solicit(net->eth.mac, pool, ipv6_any, a->ip.ip, NULL);
	return nd_announce(net->eth.mac, pool, a->ip.ip);
}

static void
speak(struct net *net, enum own_say what, uint8_t number)
{
	struct rte_mbuf *m;

	if (number == net->own4)
		net->arp.tentative = own_is_claimed(&net->own.addr[number]);
	net->claims_over += what == OWN_SAY_ANNOUNCE;
	if (net->quiet)
		return;
	m = say(net, what, &net->own.addr[number]);
	if (!m || !net_queue(net, m))
		net->counters.addr_say_lost++;
	else
		++*(what == OWN_SAY_PROBE ? &net->counters.addr_probes : &net->counters.addr_announcements);
}

/* Packets may have waited for neighbours with an address that is not ours after all. */
static void
give_up(struct net *net, uint8_t number)
{
	net->counters.addr_duplicates++;
	net->claims_over++;
	if (number == net->own4) {
		net->ipv4.own = 0;
		net->arp.ip = 0;
	}
	neigh_flush_waiting(&net->neigh);
}

void
net_own_conflict(struct net *net, uint8_t number, const uint8_t mac[6], uint64_t now_ns)
{
	struct own_addr *a = &net->own.addr[number];
	bool before_use = own_is_claimed(a);

	net->counters.addr_conflicts++;
	if (own_conflict(a, mac, now_ns))
		speak(net, OWN_SAY_ANNOUNCE, number);
	else if (before_use)
		give_up(net, number);
}

static bool
is_claiming(const struct net *net)
{
	for (uint32_t i = 1; i < net->own.n; i++)
		if (own_is_claimed(&net->own.addr[i]))
			return true;
	return false;
}

void
net_own_claim(struct net *net, uint64_t now_ns)
{
	for (uint32_t i = 1; i < net->own.n; i++)
		if (own_is_claimed(&net->own.addr[i]) && net->own.addr[i].at_ns == IW_NEVER)
			net->own.addr[i].at_ns = now_ns;
	net_own_tick(net, now_ns);
}

void
net_own_tick(struct net *net, uint64_t now_ns)
{
	enum own_say what;
	uint8_t number;

	for (uint32_t i = 0; i < OWN_MAX && (what = own_due(&net->own, now_ns, &number)) != OWN_SAY_NOTHING; i++)
		speak(net, what, number);
	if (net->held && !is_claiming(net))
		net->held = false;
}
