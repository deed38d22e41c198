/* SPDX-License-Identifier: BSD-3-Clause */
/* What a received frame is, and the Ethernet header of one to be sent. */
#ifndef ETH_H
#define ETH_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "eth_hdr.h"
#include "net_counters.h"

/* Whose frames are taken. */
struct eth_self {
	uint8_t mac[6];
	uint16_t vlan; /* 0: untagged */
	bool ipv6;     /* IPv6 and its groups, too */
};

enum eth_kind { ETH_DROP, ETH_ARP, ETH_IPV4, ETH_IPV6 };

struct eth_frame {
	enum eth_kind kind;
	bool group;      /* to everybody, or to a group of IPv6 */
	uint32_t l3_off; /* of what the frame carries */
};

/* Classifies a frame: takes what is addressed to us, to everybody or to a group of IPv6, in our VLAN.  ETH_DROP was
 * counted. */
struct eth_frame eth_rx(const struct rte_mbuf *m, const struct eth_self *self, struct net_counters *c);

/* Puts an untagged header in front; headroom of ETH_HDR_LEN is the caller's promise. */
void eth_emit(struct rte_mbuf *m, const uint8_t dst[6], const uint8_t src[6], uint16_t type);

/* ---- inline ---- */

static inline bool
eth_mac_is_group(const uint8_t mac[6])
{
	return mac[0] & 1;
}

static inline bool
eth_mac_is_zero(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return memcmp(mac, zero, 6) == 0;
}

/* Can be the address of one station. */
static inline bool
eth_mac_is_station(const uint8_t mac[6])
{
	return !eth_mac_is_group(mac) && !eth_mac_is_zero(mac);
}

#endif
