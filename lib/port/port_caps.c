/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port can do, for people. */
#include <iwarp.h>
#include <net/if.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>

static void
fill_offloads(struct iw_port_info *out, const struct rte_eth_dev_info *info)
{
	uint64_t rx = info->rx_offload_capa, tx = info->tx_offload_capa;

	out->rx_cksum = (rx & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) && (rx & RTE_ETH_RX_OFFLOAD_TCP_CKSUM);
	out->tx_ip_cksum = (tx & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) != 0;
	out->tx_tcp_cksum = (tx & RTE_ETH_TX_OFFLOAD_TCP_CKSUM) != 0;
	out->tso = (tx & RTE_ETH_TX_OFFLOAD_TCP_TSO) != 0;
	out->multi_seg = (tx & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
	out->rss = info->flow_type_rss_offloads != 0;
	out->max_rx_queues = info->max_rx_queues;
	out->max_tx_queues = info->max_tx_queues;
}

static void
fill_link(struct iw_port_info *out, uint16_t port_id)
{
	struct rte_eth_link link;

	if (rte_eth_link_get_nowait(port_id, &link) != 0)
		return;
	out->link_up = link.link_status == RTE_ETH_LINK_UP;
	if (link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		out->link_mbps = link.link_speed;
}

static bool
is_called(uint16_t port_id, const char *name)
{
	char text[RTE_ETH_NAME_MAX_LEN] = "", netdev[IF_NAMESIZE] = "";
	struct rte_eth_dev_info info;

	if (rte_eth_dev_get_name_by_port(port_id, text) == 0 && strcmp(text, name) == 0)
		return true;
	return rte_eth_dev_info_get(port_id, &info) == 0 && info.if_index && if_indextoname(info.if_index, netdev) &&
	       strcmp(netdev, name) == 0;
}

int
iw_port_find(const char *name, uint16_t *port_id)
{
	uint16_t id;

	if (!name || !port_id)
		return -IW_E_INVAL;
	RTE_ETH_FOREACH_DEV(id)
	if (is_called(id, name)) {
		*port_id = id;
		return 0;
	}
	return -IW_E_NODEV;
}

int
iw_port_info_get(uint16_t port_id, struct iw_port_info *info)
{
	struct rte_eth_dev_info dev;
	struct rte_ether_addr mac;
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	if (!info)
		return -IW_E_INVAL;
	if (!rte_eth_dev_is_valid_port(port_id) || rte_eth_dev_info_get(port_id, &dev) != 0)
		return -IW_E_NODEV;
	memset(info, 0, sizeof(*info));
	rte_eth_dev_get_name_by_port(port_id, name);
	snprintf(info->name, sizeof(info->name), "%s", name);
	snprintf(info->driver, sizeof(info->driver), "%s", dev.driver_name);
	if (rte_eth_macaddr_get(port_id, &mac) == 0)
		memcpy(info->mac, mac.addr_bytes, sizeof(info->mac));
	rte_eth_dev_get_mtu(port_id, &info->mtu);
	info->max_mtu = dev.max_mtu;
	info->numa_node = rte_eth_dev_socket_id(port_id);
	fill_offloads(info, &dev);
	fill_link(info, port_id);
	return 0;
}
