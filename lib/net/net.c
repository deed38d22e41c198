/* SPDX-License-Identifier: BSD-3-Clause */
#include "net_face.h"

#include "cksum.h"
#include "iw_addr.h"
#include "net_ask.h"
#include "net_obj.h"
#include "net_own.h"
#include "steer.h"
#include "vlan.h"

/* ---- life ---- */

struct net *
net_create(struct iw_env *env, const struct netif *nif, uint32_t max_neigh, uint64_t now_ns)
{
	struct net *net = iw_env_alloc(sizeof(*net));

	if (!net)
		return NULL;
	net->nif = *nif;
	net->nif.addr.port = 0;
	net->eth.vlan = nif->vlan;
	memcpy(net->eth.mac, nif->mac, 6);
	memcpy(net->arp.mac, nif->mac, 6);
	net->env = env;
	if (net_own_init(net) && neigh_init(&net->neigh, env, &net->counters, max_neigh, now_ns) == 0)
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

uint32_t
net_home(const struct net *net, const struct iw_addr *remote, const struct iw_addr *local)
{
	return net->nif.steer ? steer_home(net->nif.steer, remote, local) : net->nif.engine;
}

void
net_set_quiet(struct net *net, bool quiet)
{
	net->quiet = quiet;
}

/* ---- the queue ---- */

bool
net_queue(struct net *net, struct rte_mbuf *m)
{
	if (net->eth.vlan)
		vlan_push(m, net->eth.vlan, net->nif.tx_vlan);
	return net_queue_tagged(net, m);
}

bool
net_queue_tagged(struct net *net, struct rte_mbuf *m)
{
	if (outq_put(&net->outq, m)) {
		net->counters.tx_frames++;
		return true;
	}
	rte_pktmbuf_free(m);
	return net_drop(&net->counters.tx_queue_full);
}

uint32_t
net_tx_space(const struct net *net)
{
	return outq_space(&net->outq);
}

bool
net_tx_is_empty(const struct net *net)
{
	return outq_count(&net->outq) == 0;
}

uint32_t
net_drain(struct net *net, struct rte_mbuf **out, uint32_t max)
{
	return outq_take(&net->outq, out, max);
}

/* ---- checksums ---- */

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
	net_own_tick(net, now_ns);
	neigh_tick(&net->neigh, now_ns);
	net_ask_send(net);
}

uint64_t
net_deadline(const struct net *net)
{
	return iw_time_min(own_deadline(&net->own), neigh_deadline(&net->neigh));
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
