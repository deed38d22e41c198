/* SPDX-License-Identifier: BSD-3-Clause */
/* struct iw_addr of the public API: families and comparison.  Text forms are iw_addr_parse() and
 * iw_addr_format() of iwarp/addr.h. */
#ifndef IW_ADDR_H
#define IW_ADDR_H

#include <iwarp/addr.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cursor.h"

#define IW_ADDR_MAPPED "\0\0\0\0\0\0\0\0\0\0\xff\xff" /* in front of an IPv4 address */
#define IW_ADDR_MAPPED_LEN 12

/* An IPv4 address (::ffff:a.b.c.d, RFC 4291 §2.5.5.2). */
static inline bool
iw_addr_is_v4(const struct iw_addr *a)
{
	return memcmp(a->ip, IW_ADDR_MAPPED, IW_ADDR_MAPPED_LEN) == 0;
}

/* The IPv4 address in host order; 0 when it is none. */
static inline uint32_t
iw_addr_v4(const struct iw_addr *a)
{
	return iw_addr_is_v4(a) ? iw_be32(a->ip + IW_ADDR_MAPPED_LEN) : 0;
}

/* From an IPv4 address in host order; scope 0. */
static inline struct iw_addr
iw_addr_from_v4(uint32_t ip, uint16_t port)
{
	struct iw_addr a = {.port = port};

	memcpy(a.ip, IW_ADDR_MAPPED, IW_ADDR_MAPPED_LEN);
	iw_be32_put(a.ip + IW_ADDR_MAPPED_LEN, ip);
	return a;
}

/* Unspecified: :: or 0.0.0.0. */
static inline bool
iw_addr_is_any(const struct iw_addr *a)
{
	static const uint8_t any[16];

	return memcmp(a->ip, any, sizeof(any)) == 0 || (iw_addr_is_v4(a) && iw_addr_v4(a) == 0);
}

/* fe80::/10 (RFC 4291 §2.4): means something together with its scope only. */
static inline bool
iw_addr_is_link_local(const struct iw_addr *a)
{
	return a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;
}

/* The same host: address and scope, whatever the ports. */
static inline bool
iw_addr_eq_ip(const struct iw_addr *a, const struct iw_addr *b)
{
	return memcmp(a->ip, b->ip, sizeof(a->ip)) == 0 && a->scope == b->scope;
}

#endif
