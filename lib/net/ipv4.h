/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 of a host with one address: what it accepts (numbered rules in ipv4.c), where it sends, and the header of what
 * it sends.  Addresses in host order. */
#ifndef IPV4_H
#define IPV4_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "ipv4_hdr.h"
#include "net_counters.h"
#include "netif.h"

struct ipv4_if {
	uint32_t own, mask;
	uint32_t gateway; /* 0: none */
	uint32_t mtu;
	bool trust_rx_cksum;
	bool tx_ip_cksum, tx_tcp_cksum; /* the port makes them */
};

/* own 0: we have no IPv4 address, then every packet is for somebody else. */
struct ipv4_if ipv4_if_from(const struct netif *nif, uint32_t own, uint8_t prefix_len);

struct ipv4_rx {
	struct ipv4_hdr hdr;
	bool broadcast; /* to everybody on the link */
};

/* Judges the packet that begins off octets into m.  false: dropped and counted. */
bool ipv4_rx(const struct ipv4_if *ifc, const struct rte_mbuf *m, uint32_t off, bool link_broadcast,
	     struct net_counters *c, struct ipv4_rx *rx);

/* The neighbour that gets packets for dst; false: none (not one other host's address, or no gateway). */
bool ipv4_next_hop(const struct ipv4_if *ifc, uint32_t dst, uint32_t *next_hop);

bool ipv4_is_on_link(const struct ipv4_if *ifc, uint32_t ip);

/* Puts a header in front of a layer-4 packet and sets the mbuf's offload fields; headroom of IPV4_HDR_LEN and a length
 * within the MTU are the caller's promise. */
void ipv4_emit(const struct ipv4_if *ifc, struct rte_mbuf *m, uint32_t dst, uint8_t proto, uint8_t ecn,
	       uint32_t l2_len);

/* ---- inline ---- */

/* Never one host's address outside that host: this network, loopback, multicast, reserved, limited broadcast
 * (RFC 1122 §3.2.1.3). */
static inline bool
ipv4_is_reserved(uint32_t ip)
{
	return ip >> 24 == 0 || ip >> 24 == 127 || ip >= 0xe0000000u;
}

#endif
