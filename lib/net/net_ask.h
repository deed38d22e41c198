/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours asked and heard, in both question forms: ARP and ND on one side, the neighbour table on the other. */
#ifndef NET_ASK_H
#define NET_ASK_H

#include "icmp6_hdr.h"
#include "ipv6.h"
#include "net_obj.h"

/* Sends what the neighbour table wants to know, unless the first claim still runs. */
void net_ask_send(struct net *net);

/* A received ARP packet, and a solicitation or advertisement with a good checksum. */
enum net_verdict net_ask_arp(struct net *net, const struct rte_mbuf *m, uint32_t off, uint64_t now_ns);
enum net_verdict net_ask_nd(struct net *net, const struct rte_mbuf *m, const struct ipv6_rx *ip, uint64_t now_ns);

#endif
