/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP (RFC 826) for one address: what a packet means, and the two packets that we send.  Answers need no memory of
 * anybody. */
#ifndef ARP_H
#define ARP_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "arp_hdr.h"
#include "neigh.h"
#include "net_counters.h"

/* Who answers: our addresses. */
struct arp_self {
	uint8_t mac[6];
	uint32_t ip;    /* host order; 0: none, then nothing is answered */
	bool tentative; /* ip is about to be taken: neither answered for nor used */
};

struct arp_rx {
	struct arp_hdr hdr;
	bool learn;    /* tell the neighbour table, as `how` */
	bool answer;   /* send arp_reply() */
	bool conflict; /* somebody else has our address, or wants it while we are about to take it */
	enum neigh_how how;
};

/* Judges the ARP packet that begins off octets into m.  false: dropped and counted; it may still be a conflict (RFC
 * 5227 §2.1.1, §2.4), which teaches nothing else. */
bool arp_rx(const struct arp_self *self, const struct rte_mbuf *m, uint32_t off, struct net_counters *c,
	    struct arp_rx *rx);

/* Frames, padded to Ethernet's least; the caller owns them.  NULL: the pool is empty. */
struct rte_mbuf *arp_reply(const struct arp_self *self, struct rte_mempool *pool, const struct arp_hdr *request);
/* to_mac: where it is believed to be; NULL: ask everybody. */
struct rte_mbuf *arp_request(const struct arp_self *self, struct rte_mempool *pool, uint32_t target_ip,
			     const uint8_t *to_mac);
/* Whether somebody has our address (RFC 5227 §2.1.1), and that we have it (§2.3). */
struct rte_mbuf *arp_probe(const struct arp_self *self, struct rte_mempool *pool);
struct rte_mbuf *arp_announce(const struct arp_self *self, struct rte_mempool *pool);

#endif
