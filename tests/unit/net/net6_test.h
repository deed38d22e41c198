/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 for the tests of lib/net: addresses in hex, frames with right lengths and checksums. */
#ifndef NET6_TEST_H
#define NET6_TEST_H

#include <iwarp/connect.h>

#include "net_test.h"

#define OURS6 "fe80 0000 0000 0000 0000 0000 0000 0001 "
#define PEER6 "fe80 0000 0000 0000 0000 0000 0000 0002 "
#define GLOBAL6 "2001 0db8 0000 0000 0000 0000 0000 0001 "
#define FAR6 "2001 0db8 0009 0000 0000 0000 0000 0009 "
#define ANY6 "0000 0000 0000 0000 0000 0000 0000 0000 "
#define ALL_NODES6 "ff02 0000 0000 0000 0000 0000 0000 0001 "
#define ASKED6 "ff02 0000 0000 0000 0000 0001 ff00 0001 " /* where OURS6 and GLOBAL6 are asked for */
#define ASKED_MAC "3333ff000001 "
#define ALL_NODES_MAC "333300000001 "

/* The checksum of an ICMPv6 message at `at` with source and destination before it, word for word by RFC 8200 §8.1. */
static inline void
icmp6_cksum_put(uint8_t *p, uint32_t ip, uint32_t at, uint32_t len)
{
	uint8_t sum[TEST_MAX] = {0};
	uint16_t v;

	p[at + 2] = p[at + 3] = 0;
	memcpy(sum, p + ip + 8, 32);
	sum[34] = (uint8_t)(len >> 8);
	sum[35] = (uint8_t)len;
	sum[39] = 58;
	memcpy(sum + 40, p + at, len);
	v = (uint16_t)~slow_sum(sum, 40 + len);
	p[at + 2] = (uint8_t)(v >> 8);
	p[at + 3] = (uint8_t)v;
}

/* A frame with an IPv6 header, then `payload`, whose last part from `l4` on is ICMPv6 when that is not 0. */
static inline struct bytes
ip6_frame(const char *eth, const char *src_dst, uint8_t next, uint8_t hop_limit, const char *payload)
{
	struct bytes b = hex(eth), addr = hex(src_dst), p = hex(payload);
	uint32_t at = b.len;

	memcpy(b.b + at, (const uint8_t[]){0x60, 0x20, 0, 0, (uint8_t)(p.len >> 8), (uint8_t)p.len, next, hop_limit},
	       8);
	memcpy(b.b + at + 8, addr.b, 32);
	memcpy(b.b + at + 40, p.b, p.len);
	b.len = at + 40 + p.len;
	if (next == 58 && p.len >= 4)
		icmp6_cksum_put(b.b, at, at + 40, p.len);
	return b;
}

static inline struct iw_addr
addr6(const char *octets)
{
	struct iw_addr a = {.port = 0};

	memcpy(a.ip, hex(octets).b, 16);
	return a;
}

#endif
