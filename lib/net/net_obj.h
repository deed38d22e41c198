/* SPDX-License-Identifier: BSD-3-Clause */
/* struct net, private to net*.c. */
#ifndef NET_OBJ_H
#define NET_OBJ_H

#include "arp.h"
#include "eth.h"
#include "ipv4.h"
#include "ipv6.h"
#include "neigh.h"
#include "net_counters.h"
#include "net_face.h"
#include "outq.h"
#include "own.h"

struct net {
	struct netif nif;
	struct eth_self eth;
	struct own_table own;
	struct ipv4_if ipv4; /* of the one IPv4 address */
	struct arp_self arp;
	uint8_t own4;            /* its number; 0: there is none */
	uint32_t scope;          /* of our link-local addresses */
	struct iw_addr gateway6; /* ip all zero: none */
	uint16_t mtu6;           /* of the link, for IPv6 */
	bool quiet;              /* another engine answers */
	uint32_t claims_over;    /* counts addresses that became ready or somebody else's */
	bool held;               /* the first claim is not over: neighbours are not asked yet */
	const struct iw_env *env;
	struct neigh_table neigh;
	struct net_counters counters;
	struct outq outq;
};

/* Queues a finished frame, tagging it when the port is in a VLAN.  Consumes m: false when it had to be dropped. */
bool net_queue(struct net *net, struct rte_mbuf *m);
/* The same with one that has its tag, if the port is in a VLAN. */
bool net_queue_tagged(struct net *net, struct rte_mbuf *m);

#endif
