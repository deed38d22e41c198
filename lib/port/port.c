/* SPDX-License-Identifier: BSD-3-Clause */
#include "port.h"

#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>

#include "iw_addr.h"
#include "port_lend.h"
#include "port_steer.h"
#include "secret.h"

#define TSO_NEEDS                                                                                    \
	(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | \
	 RTE_ETH_TX_OFFLOAD_IPV4_CKSUM)
#define ETHERNET (RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)
#define TSO_MAX 64 /* segments of one frame */
#define TURN_OCTETS (128u << 10)
#define TURN_FRAMES 16u /* at least */

static int
fail(char *why, size_t len, int err, const char *what, uint16_t port, int code)
{
	if (why && len)
		snprintf(why, len, "port %u: %s (%s)", port, what, code ? strerror(-code) : iw_err_text(err));
	return err;
}

static uint16_t
ring_size(uint16_t asked, const struct rte_eth_desc_lim *lim)
{
	uint32_t n = asked ? asked : PORT_RING_DEFAULT;

	if (lim->nb_max && n > lim->nb_max)
		n = lim->nb_max;
	if (n < lim->nb_min)
		n = lim->nb_min;
	if (lim->nb_align > 1)
		n = n / lim->nb_align * lim->nb_align;
	return (uint16_t)n;
}

/* Most drivers have room for a tag beside the MTU; of the others it is asked as if it were payload. */
static uint16_t
tag_room(const struct iw_engine_params *params, const struct rte_eth_dev_info *info)
{
	bool says = info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu;

	if (!params->vlan || (says && info->max_rx_pktlen - info->max_mtu >= RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN))
		return 0;
	return RTE_VLAN_HLEN;
}

/* net_tap cuts up frames of IPv4 only, and one whose segments, with Ethernet, are longer than its MTU it never takes:
 * it is asked for an MTU with room for that, where it may be. */
static bool
is_tap(const struct rte_eth_dev_info *info)
{
	return strcmp(info->driver_name, "net_tap") == 0;
}

static uint16_t
tso_room(const struct iw_engine_params *params, const struct rte_eth_dev_info *info)
{
	bool fits = params->mtu && params->mtu + ETHERNET <= RTE_ETHER_MTU;

	return is_tap(info) && fits && !params->no_tso ? ETHERNET : 0;
}

/* Only what the rooms can use; FAST_FREE never (design D20: sent mbufs are shared). */
static struct rte_eth_conf
make_conf(const struct rte_eth_dev_info *info, uint32_t mtu, bool vlan, bool tso)
{
	struct rte_eth_conf conf = {0};

	conf.rxmode.mtu = mtu < info->max_mtu ? (uint16_t)mtu : info->max_mtu;
	if (conf.rxmode.mtu < info->min_mtu)
		conf.rxmode.mtu = info->min_mtu;
	conf.rxmode.offloads = info->rx_offload_capa & (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM);
	conf.txmode.offloads = info->tx_offload_capa & (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM);
	if (tso && (info->tx_offload_capa & TSO_NEEDS) == TSO_NEEDS)
		conf.txmode.offloads |= TSO_NEEDS;
	if (vlan) {
		conf.rxmode.offloads |= info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
		conf.txmode.offloads |= info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
	}
	return conf;
}

static int
set_up_queue(uint16_t id, uint16_t queue, const struct iw_engine_params *params, const struct rte_eth_dev_info *info,
	     const struct rte_eth_conf *conf, struct rte_mempool *pool, const char **what)
{
	struct rte_eth_txconf tx = info->default_txconf;
	struct rte_eth_rxconf rx = info->default_rxconf;
	unsigned socket = (unsigned)rte_eth_dev_socket_id(id);
	int rc;

	tx.offloads = conf->txmode.offloads;
	if (params->zero_copy)
		port_lend_ask(&tx);
	rx.offloads = conf->rxmode.offloads;
	*what = "cannot set up its receive queue";
	rc = rte_eth_rx_queue_setup(id, queue, ring_size(params->rx_ring, &info->rx_desc_lim), socket, &rx, pool);
	if (rc)
		return rc;
	*what = "cannot set up its transmit queue";
	return rte_eth_tx_queue_setup(id, queue, ring_size(params->tx_ring, &info->tx_desc_lim), socket, &tx);
}

static int
start(uint16_t id, const struct iw_engine_params *params, const struct rte_eth_dev_info *info,
      const struct rte_eth_conf *conf, const struct port_queues *queues, const char **what)
{
	int rc;

	*what = "cannot be configured";
	rc = rte_eth_dev_configure(id, (uint16_t)queues->n, (uint16_t)queues->n, conf);
	for (uint16_t q = 0; rc == 0 && q < queues->n; q++)
		rc = set_up_queue(id, q, params, info, conf, queues->pools[q], what);
	if (rc)
		return rc;
	*what = "cannot be started";
	return rte_eth_dev_start(id);
}

static void
warn_mtu(uint16_t id, uint16_t mtu, char *why, size_t len)
{
	uint16_t now;

	if (rte_eth_dev_get_mtu(id, &now) == 0 && now < mtu && rte_eth_dev_set_mtu(id, mtu) != 0 && why && len)
		snprintf(why, len,
			 "port %u: the driver does not promise an MTU of %u (it says %u); trying all the same", id, mtu,
			 now);
}

static int
configure(struct port *p, const struct iw_engine_params *params, const struct rte_eth_dev_info *info,
	  struct rte_eth_conf *conf, const struct port_queues *queues, char *why, size_t why_len)
{
	const char *what = "";
	int rc;

	if (params->queue != 0)
		return fail(why, why_len, -IW_E_INVAL, "only queue 0 can be set up here; start the port yourself",
			    p->id, 0);
	rc = start(p->id, params, info, conf, queues, &what);
	if (rc && conf->rxmode.mq_mode != RTE_ETH_MQ_RX_NONE) {
		/* What is said of RSS and what can be had are not always the same. */
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
		rc = start(p->id, params, info, conf, queues, &what);
	}
	if (rc && conf->intr_conf.rxq) {
		conf->intr_conf.rxq = 0;
		rc = start(p->id, params, info, conf, queues, &what);
	}
	if (rc == -EINVAL && conf->rxmode.mtu > RTE_ETHER_MTU) {
		/* Some drivers refuse the MTU and carry the frames all the same. */
		conf->rxmode.mtu = RTE_ETHER_MTU;
		rc = start(p->id, params, info, conf, queues, &what);
	}
	if (rc)
		return fail(why, why_len, -IW_E_PORT, what, p->id, rc);
	p->started_here = true;
	if (params->mtu)
		warn_mtu(p->id, params->mtu, why, why_len);
	return 0;
}

static bool
is_v6(const struct iw_addr *a)
{
	return !iw_addr_is_any(a) && !iw_addr_is_v4(a);
}

/* fe80:: and the modified EUI-64 (RFC 4291 §2.5.6, appendix A). */
static struct iw_addr
link_local(const uint8_t mac[6])
{
	struct iw_addr a = {.ip = {0xfe, 0x80, [11] = 0xff, [12] = 0xfe}};

	memcpy(a.ip + 8, mac, 3);
	memcpy(a.ip + 13, mac + 3, 3);
	a.ip[8] ^= 2;
	return a;
}

/* The further addresses; every port that speaks IPv6 has a link-local one (RFC 4291 §2.8). */
static void
describe_addrs(const struct port *p, const struct iw_engine_params *params, struct netif *nif)
{
	bool has_link_local = iw_addr_is_link_local(&params->addr);

	nif->ipv6 = params->autoconf || is_v6(&params->addr);
	for (uint32_t i = 0; i < params->n_more_addrs; i++) {
		const struct iw_engine_addr *a = &params->more_addrs[i];

		nif->more[nif->n_more++] = (struct netif_addr){a->ip, a->prefix_len};
		nif->ipv6 = nif->ipv6 || is_v6(&a->ip);
		has_link_local = has_link_local || iw_addr_is_link_local(&a->ip);
	}
	if (nif->ipv6 && !has_link_local)
		nif->more[nif->n_more++] = (struct netif_addr){link_local(nif->mac), 64};
	if (nif->ipv6 && !params->port_is_started)
		rte_eth_allmulticast_enable(
			p->id); /* the groups of neighbour discovery; virtual ports take all anyway */
}

static void
describe_tso(const struct rte_eth_dev_info *info, const struct rte_eth_conf *conf, uint16_t mtu, struct netif *nif)
{
	nif->tx_tso_ipv4_only = is_tap(info);
	if ((conf->txmode.offloads & TSO_NEEDS) != TSO_NEEDS || (is_tap(info) && nif->mtu + ETHERNET > mtu))
		return;
	nif->tx_tso = info->tx_desc_lim.nb_seg_max ? RTE_MIN(info->tx_desc_lim.nb_seg_max, TSO_MAX) : TSO_MAX;
}

static int
describe(const struct port *p, const struct iw_engine_params *params, const struct rte_eth_dev_info *info,
	 const struct rte_eth_conf *conf, struct netif *nif)
{
	struct rte_ether_addr mac;
	uint16_t mtu = 1500;
	int rc = rte_eth_macaddr_get(p->id, &mac);

	if (rc)
		return rc;
	rte_eth_dev_get_mtu(p->id, &mtu);
	*nif = (struct netif){.addr = params->addr,
			      .prefix_len = params->prefix_len,
			      .gateway = params->gateway,
			      .gateway6 = params->gateway6,
			      .claim = !params->no_claim,
			      .vlan = params->vlan,
			      .mtu = params->mtu ? params->mtu : (uint16_t)(mtu - p->tag_room),
			      .port_id = p->id};
	/* Ring ports have no address, and nobody would learn one that is zero: a random local one. */
	if (rte_is_zero_ether_addr(&mac)) {
		secret_fill(mac.addr_bytes, sizeof(mac.addr_bytes));
		mac.addr_bytes[0] = (uint8_t)((mac.addr_bytes[0] & ~RTE_ETHER_GROUP_ADDR) | RTE_ETHER_LOCAL_ADMIN_ADDR);
	}
	memcpy(nif->mac, mac.addr_bytes, sizeof(nif->mac));
	nif->addr.port = 0;
	/* The flag of each mbuf says whether the port has looked. */
	nif->rx_cksum = true;
	nif->tx_ip_cksum = (conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) != 0;
	nif->tx_vlan = (conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT) != 0;
	describe_addrs(p, params, nif);
	nif->tx_tcp_cksum = (conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM) != 0;
	describe_tso(info, conf, mtu, nif);
	return 0;
}

/* Queue pairs: one for each engine, as far as the port has so many. */
static uint32_t
queue_count(const struct rte_eth_dev_info *info, uint32_t engines)
{
	uint32_t n = RTE_MIN(info->max_rx_queues, info->max_tx_queues);

	return n == 0 ? 1 : RTE_MIN(n, engines);
}

/* Who has no queue of its own could not ask for its frames back. */
static void
decide_lending(struct port *p, const struct iw_engine_params *params, const struct rte_eth_dev_info *info,
	       uint64_t offloads, const struct port_queues *queues, char *why, size_t why_len)
{
	const char *reason = queues->n < queues->engines ? "there are fewer queues than engines"
			     : params->port_is_started   ? "it was started by the caller"
							 : port_lend_why_not(p->id, info, offloads);

	p->lends = !reason;
	p->keeps = port_lend_keeps(info);
	if (reason && why && why_len)
		snprintf(why, why_len, "port %u: zero copy is not possible, data is copied: %s", p->id, reason);
}

int
port_open(struct port *p, const struct iw_engine_params *params, struct port_queues *queues, struct netif *nif,
	  char *why, size_t why_len)
{
	uint8_t key[PORT_STEER_KEY_MAX];
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	uint16_t mtu = RTE_ETHER_MTU;
	int rc;

	memset(p, 0, sizeof(*p));
	p->id = params->port_id;
	p->queue = params->queue;
	if (!rte_eth_dev_is_valid_port(p->id) || rte_eth_dev_info_get(p->id, &info) != 0)
		return fail(why, why_len, -IW_E_NODEV, "does not exist; give EAL a port, for example --vdev=net_tap0",
			    p->id, 0);
	/* Of a port that somebody else started nothing is known: checksums are made in software. */
	memset(&conf, 0, sizeof(conf));
	queues->n = params->port_is_started ? queues->engines : queue_count(&info, queues->engines);
	if (!params->port_is_started) {
		p->tag_room = tag_room(params, &info);
		rte_eth_dev_get_mtu(p->id, &mtu);
		conf = make_conf(&info, (params->mtu ? params->mtu : mtu) + p->tag_room + tso_room(params, &info),
				 params->vlan != 0, !params->no_tso);
		if (queues->n > 1)
			port_steer_ask(&info, key, &conf);
		conf.intr_conf.rxq = params->rx_interrupts;
		if (params->zero_copy)
			conf.txmode.offloads |= info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
		rc = configure(p, params, &info, &conf, queues, why, why_len);
		if (rc)
			return rc;
	}
	if (queues->engines > 1)
		port_steer_probe(p->id, &info, params->port_is_started, queues);
	rc = describe(p, params, &info, &conf, nif);
	if (rc) {
		port_close(p);
		return fail(why, why_len, -IW_E_PORT, "does not say what it is", p->id, rc);
	}
	p->turn = (uint16_t)RTE_MAX(TURN_OCTETS / nif->mtu, TURN_FRAMES);
	if (params->zero_copy)
		decide_lending(p, params, &info, conf.txmode.offloads, queues, why, why_len);
	return 0;
}

void
port_close(struct port *p)
{
	rte_pktmbuf_free_bulk(p->backlog, p->n_backlog);
	p->n_backlog = 0;
	if (p->started_here)
		rte_eth_dev_stop(p->id);
	p->started_here = false;
}

bool
port_is_up(const struct port *p)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(p->id, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

bool
port_wakes(const struct port *p, int epfd)
{
	return rte_eth_dev_rx_intr_ctl_q(p->id, p->queue, epfd, RTE_INTR_EVENT_ADD, NULL) == 0;
}

bool
port_arm(const struct port *p)
{
	int rc = rte_eth_dev_rx_intr_enable(p->id, p->queue);

	/* Some drivers have nothing to switch on. */
	return (rc == 0 || rc == -ENOTSUP) && rte_eth_rx_queue_count(p->id, p->queue) <= 0;
}

void
port_disarm(const struct port *p)
{
	rte_eth_dev_rx_intr_disable(p->id, p->queue);
}

struct iw_counter_list
port_counter_list(const struct port *p)
{
#define IW_COUNTER_PREFIX "port"
	static const char *const names[] = {PORT_COUNTERS(IW_COUNTER_NAME)};
#undef IW_COUNTER_PREFIX

	return (struct iw_counter_list){
		.names = names, .values = (const uint64_t *)&p->n, .n = sizeof(names) / sizeof(names[0])};
}
