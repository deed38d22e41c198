/* SPDX-License-Identifier: BSD-3-Clause */
/* One port as the rooms see it: plain data. */
#ifndef NETIF_H
#define NETIF_H

#include <iwarp/addr.h>
#include <stdbool.h>
#include <stdint.h>

#define NETIF_MORE 8

struct steer;

/* An address and the prefix that is on the link: 0..32 or 0..128. */
struct netif_addr {
	struct iw_addr ip;
	uint8_t prefix_len;
};

struct netif {
	uint8_t mac[6];
	struct iw_addr addr;                /* port 0 */
	uint8_t prefix_len;                 /* of the family: 0..32 or 0..128 */
	struct iw_addr gateway;             /* of either family; ip all zero: none */
	struct netif_addr more[NETIF_MORE]; /* further addresses; at most one of all is IPv4 */
	uint8_t n_more;
	struct iw_addr gateway6; /* beside an IPv4 gateway; ip all zero: none */
	bool ipv6;               /* addresses of IPv6 may be added later (SLAAC) */
	bool claim;              /* ask whether somebody has an address before it is used: net_own_claim() */
	uint16_t vlan;           /* IEEE 802.1Q; 0: untagged */
	bool tx_vlan;            /* the port inserts the tag */
	uint16_t mtu;            /* layer 3 */
	uint16_t port_id;
	bool rx_cksum; /* trust RTE_MBUF_F_RX_*_CKSUM_GOOD */
	bool tx_ip_cksum, tx_tcp_cksum;
	uint16_t tx_tso; /* the port cuts a frame into so many segments at most (TSO); 0: it does not */
	bool tx_tso_ipv4_only;
	const struct steer *steer; /* several engines have the port: which is whose; NULL: there is one */
	uint32_t engine;           /* of these: which one this is */
};

#endif
