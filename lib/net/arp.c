/* SPDX-License-Identifier: BSD-3-Clause */
#include "arp.h"

#include "eth.h"
#include "ipv4.h"

#define ARP_PAYLOAD 46 /* least payload of an Ethernet frame (RFC 894) */

static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* 0.0.0.0 is the sender of a probe (RFC 5227 §2.1.1): answered, not learned. */
static bool
sender_is_sane(const struct arp_hdr *h)
{
	return eth_mac_is_station(h->sender_mac) && (h->sender_ip == 0 || !ipv4_is_reserved(h->sender_ip));
}

/* RFC 5227: whoever says that it has our address (§2.1.1, §2.4); while we probe also who probes for it (§2.1.1). */
static bool
is_conflict(const struct arp_self *self, const struct arp_hdr *h)
{
	if (!self->ip)
		return false;
	return h->sender_ip == self->ip ||
	       (self->tentative && h->op == ARP_OP_REQUEST && h->sender_ip == 0 && h->target_ip == self->ip);
}

static void
judge(const struct arp_self *self, struct arp_rx *rx)
{
	const struct arp_hdr *h = &rx->hdr;
	bool for_us = h->target_ip == self->ip;

	rx->learn = h->sender_ip != 0;
	rx->answer = for_us && h->op == ARP_OP_REQUEST;
	rx->how = NEIGH_SEEN;
	if (for_us)
		rx->how = h->op == ARP_OP_REQUEST ? NEIGH_ASKED_US : NEIGH_ANSWERED;
}

bool
arp_rx(const struct arp_self *self, const struct rte_mbuf *m, uint32_t off, struct net_counters *c, struct arp_rx *rx)
{
	uint8_t buf[ARP_HDR_LEN];
	const uint8_t *p = rte_pktmbuf_read(m, off, ARP_HDR_LEN, buf);

	rx->conflict = false;
	if (!p || !arp_hdr_parse(p, ARP_HDR_LEN, &rx->hdr) ||
	    (rx->hdr.op != ARP_OP_REQUEST && rx->hdr.op != ARP_OP_REPLY))
		return net_drop(&c->rx_arp_malformed);
	if (!sender_is_sane(&rx->hdr))
		return net_drop(&c->rx_arp_bad_sender);
	if (memcmp(rx->hdr.sender_mac, self->mac, 6) == 0)
		return net_drop(&c->rx_arp_own);
	rx->conflict = is_conflict(self, &rx->hdr);
	if (rx->conflict)
		return net_drop(&c->rx_arp_conflict);
	c->rx_arp++;
	judge(self, rx);
	if (!self->ip || self->tentative)
		rx->answer = rx->learn = false;
	return true;
}

static struct rte_mbuf *
make(struct rte_mempool *pool, const uint8_t dst[6], const struct arp_hdr *h)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	char *p = m ? rte_pktmbuf_append(m, ARP_PAYLOAD) : NULL;

	if (!p) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	arp_hdr_emit((uint8_t *)p, h);
	memset(p + ARP_HDR_LEN, 0, ARP_PAYLOAD - ARP_HDR_LEN);
	eth_emit(m, dst, h->sender_mac, ETH_TYPE_ARP);
	return m;
}

static struct arp_hdr
from_us(const struct arp_self *self, uint16_t op)
{
	struct arp_hdr h = {.op = op, .sender_ip = self->ip};

	memcpy(h.sender_mac, self->mac, 6);
	return h;
}

struct rte_mbuf *
arp_reply(const struct arp_self *self, struct rte_mempool *pool, const struct arp_hdr *request)
{
	struct arp_hdr h = from_us(self, ARP_OP_REPLY);

	memcpy(h.target_mac, request->sender_mac, 6);
	h.target_ip = request->sender_ip;
	return make(pool, request->sender_mac, &h);
}

struct rte_mbuf *
arp_request(const struct arp_self *self, struct rte_mempool *pool, uint32_t target_ip, const uint8_t *to_mac)
{
	struct arp_hdr h = from_us(self, ARP_OP_REQUEST);

	h.target_ip = target_ip;
	return make(pool, to_mac ? to_mac : everybody, &h);
}

struct rte_mbuf *
arp_probe(const struct arp_self *self, struct rte_mempool *pool)
{
	struct arp_hdr h = from_us(self, ARP_OP_REQUEST);

	h.sender_ip = 0;
	h.target_ip = self->ip;
	return make(pool, everybody, &h);
}

struct rte_mbuf *
arp_announce(const struct arp_self *self, struct rte_mempool *pool)
{
	return arp_request(self, pool, self->ip, NULL);
}
