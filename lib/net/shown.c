/* SPDX-License-Identifier: BSD-3-Clause */
#include "shown.h"

#include <stdbool.h>

#include "eth_hdr.h"
#include "icmp6_hdr.h"
#include "icmp_hdr.h"
#include "ipv4_hdr.h"
#include "ipv6_ext.h"
#include "ipv6_hdr.h"
#include "net_face.h"

#define LONGEST 60 /* of the headers that are looked at, octets */

/* Octets of the packet from off on, at most n; *n: how many. */
static const uint8_t *
look(const struct rte_mbuf *m, uint32_t off, uint32_t *n, uint8_t buf[LONGEST])
{
	uint32_t left = off < m->pkt_len ? m->pkt_len - off : 0;

	*n = *n < left ? *n : left;
	return *n ? rte_pktmbuf_read(m, off, *n, buf) : NULL;
}

static enum shown_to
icmp4(const struct rte_mbuf *m, uint32_t off)
{
	uint8_t buf[LONGEST];
	uint32_t n = ICMP_HDR_LEN;
	const uint8_t *p = look(m, off, &n, buf);
	struct icmp_hdr h;

	if (!p || !icmp_hdr_parse(p, n, &h))
		return SHOWN_TO_ONE;
	return icmp_hdr_is_error(h.type) ? SHOWN_TO_ALL : SHOWN_TO_LEAD;
}

static enum shown_to
ipv4(const struct rte_mbuf *m, uint32_t off)
{
	uint8_t buf[LONGEST];
	uint32_t n = IPV4_HDR_LEN;
	const uint8_t *p = look(m, off, &n, buf);
	struct ipv4_hdr h;

	if (!p || !ipv4_hdr_parse(p, n, &h) || h.proto == NET_PROTO_TCP)
		return SHOWN_TO_ONE;
	return h.proto == NET_PROTO_ICMP && !h.fragment ? icmp4(m, off + h.hdr_len) : SHOWN_TO_LEAD;
}

static enum shown_to
icmp6(const struct rte_mbuf *m, uint32_t off)
{
	uint8_t buf[LONGEST];
	uint32_t n = ICMP6_HDR_LEN;
	const uint8_t *p = look(m, off, &n, buf);
	struct icmp6_hdr h;

	if (!p || !icmp6_hdr_parse(p, n, &h))
		return SHOWN_TO_ONE;
	return h.type < ICMP6_INFO || h.type == ICMP6_ND_SOLICIT || h.type == ICMP6_ND_ADVERT ? SHOWN_TO_ALL
											      : SHOWN_TO_LEAD;
}

static enum shown_to
ipv6(const struct rte_mbuf *m, uint32_t off)
{
	struct net_counters ignored = {0};
	uint8_t buf[LONGEST];
	uint32_t n = IPV6_HDR_LEN, len;
	const uint8_t *p = look(m, off, &n, buf);
	struct ipv6_hdr h;

	if (!p || !ipv6_hdr_parse(p, n, &h) || h.next == NET_PROTO_TCP)
		return SHOWN_TO_ONE;
	off += IPV6_HDR_LEN;
	len = m->pkt_len - off < h.payload_len ? m->pkt_len - off : h.payload_len;
	if (!ipv6_ext_skip(m, &h.next, &off, &len, &ignored) || h.next == NET_PROTO_TCP)
		return SHOWN_TO_ONE;
	return h.next == NET_PROTO_ICMP6 ? icmp6(m, off) : SHOWN_TO_LEAD;
}

enum shown_to
shown_to(const struct rte_mbuf *m)
{
	uint8_t buf[LONGEST];
	uint32_t n = ETH_HDR_MAX;
	const uint8_t *p = look(m, 0, &n, buf);
	struct eth_hdr h;

	if (!p || !eth_hdr_parse(p, n, &h))
		return SHOWN_TO_ONE;
	switch (h.type) {
	case ETH_TYPE_ARP:
		return SHOWN_TO_ALL;
	case ETH_TYPE_IPV4:
		return ipv4(m, h.len);
	case ETH_TYPE_IPV6:
		return ipv6(m, h.len);
	default:
		return SHOWN_TO_ONE;
	}
}
