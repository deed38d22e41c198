/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour Discovery (RFC 4861) of our own addresses: what a solicitation or advertisement means, and the packets that
 * we send.  The twin of arp.h: answers need no memory of anybody. */
#ifndef ND_H
#define ND_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "icmp6_hdr.h"
#include "ipv6.h"
#include "neigh.h"
#include "net_counters.h"

struct nd_rx {
	struct icmp6_nd msg;
	bool learn;         /* tell the neighbour table that `who` is at msg.mac, as `how` */
	bool confirm;       /* `who` is where it is believed to be: an answer without an address */
	bool keep;          /* what is known of `who` is not to be replaced */
	bool answer;        /* send nd_answer() */
	bool conflict;      /* somebody else has or wants the address `own` of ours; mac says who */
	uint8_t own;        /* number of the address that is the target; 0: none of ours */
	const uint8_t *who; /* 16 octets, in the message or the packet's header */
	const uint8_t *mac; /* of the sender */
	enum neigh_how how;
};

/* Judges a solicitation or advertisement with a good checksum; src_mac: the frame's sender.  false: dropped and
 * counted. */
bool nd_rx(const struct own_table *own, const struct rte_mbuf *m, const struct ipv6_rx *ip, const uint8_t *src_mac,
	   struct net_counters *c, struct nd_rx *rx);

/* Frames, untagged; the caller owns them.  NULL: the pool is empty. */

/* Asks for target: everybody, or to_mac alone; src may be ipv6_any, which makes it a probe (RFC 4862 §5.4.2). */
struct rte_mbuf *nd_solicit(const uint8_t mac[6], struct rte_mempool *pool, const uint8_t src[16],
			    const uint8_t target[16], const uint8_t *to_mac);
/* Answers: to the one that asked, or to everybody when it has no address. */
struct rte_mbuf *nd_answer(const uint8_t mac[6], struct rte_mempool *pool, const struct ipv6_rx *ip,
			   const struct nd_rx *rx);
/* Tells everybody, unasked (RFC 4861 §7.2.6). */
struct rte_mbuf *nd_announce(const uint8_t mac[6], struct rte_mempool *pool, const uint8_t own[16]);

#endif
