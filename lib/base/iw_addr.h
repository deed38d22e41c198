/* SPDX-License-Identifier: BSD-3-Clause */
/* struct iw_addr of the public API: families and comparison.  Text forms are iw_addr_parse() and
 * iw_addr_format() of iwarp/cm.h. */
#ifndef IW_ADDR_H
#define IW_ADDR_H

#include <iwarp/cm.h>
#include <stdbool.h>
#include <stdint.h>

/* An IPv4 address (::ffff:a.b.c.d, RFC 4291 §2.5.5.2). */
bool iw_addr_is_v4(const struct iw_addr *a);

/* The IPv4 address in host order; 0 when it is none. */
uint32_t iw_addr_v4(const struct iw_addr *a);

/* From an IPv4 address in host order; scope 0. */
struct iw_addr iw_addr_from_v4(uint32_t ip, uint16_t port);

/* Unspecified: :: or 0.0.0.0. */
bool iw_addr_is_any(const struct iw_addr *a);

/* fe80::/10 (RFC 4291 §2.4): means something together with its scope only. */
bool iw_addr_is_link_local(const struct iw_addr *a);

/* The same host: address and scope, whatever the ports. */
bool iw_addr_eq_ip(const struct iw_addr *a, const struct iw_addr *b);

#endif
