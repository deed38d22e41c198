/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 of a host: what it accepts (numbered rules in ipv6.c), and the header of what it sends. */
#ifndef IPV6_H
#define IPV6_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "ipv6_hdr.h"
#include "net_counters.h"
#include "own.h"

struct ipv6_rx {
	struct ipv6_hdr hdr;
	bool group;              /* to a group that we are in */
	uint8_t own;             /* number of our address that is meant; group: 0, or the one solicited */
	uint8_t own_src;         /* number of our address that it claims to come from; ICMPv6 only, for ND to see */
	uint8_t proto;           /* behind the extension headers */
	uint32_t l4_off, l4_len; /* from the packet's first octet */
};

/* Judges the packet that begins off octets into m; link_group: its frame was not for us alone.  false: dropped and
 * counted. */
bool ipv6_rx(const struct own_table *own, const struct rte_mbuf *m, uint32_t off, bool link_group,
	     struct net_counters *c, struct ipv6_rx *rx);

/* What a header is made of. */
struct ipv6_tx {
	const uint8_t *src, *dst; /* 16 octets */
	uint32_t flow;
	uint8_t proto, ecn, hop_limit;
	bool tcp_cksum; /* the port makes it */
};

/* Puts a header in front of a layer-4 packet and sets the mbuf's offload fields; headroom of IPV6_HDR_LEN and a length
 * within the MTU are the caller's promise. */
void ipv6_emit(struct rte_mbuf *m, const struct ipv6_tx *tx, uint32_t l2_len);

/* The Ethernet address of a group (RFC 2464 §7) and the group in which an address is asked for (RFC 4291 §2.7.1). */
void ipv6_group_mac(const uint8_t group[16], uint8_t mac[6]);
void ipv6_solicited_node(const uint8_t ip[16], uint8_t group[16]);

extern const uint8_t ipv6_all_nodes[16]; /* ff02::1 */
extern const uint8_t ipv6_any[16];

/* ---- inline ---- */

static inline bool
ipv6_is_group(const uint8_t ip[16])
{
	return ip[0] == 0xff;
}

#endif
