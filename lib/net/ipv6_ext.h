/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 extension headers (RFC 8200 §4): those that ask nothing of us are skipped, all others drop the packet by
 * name. */
#ifndef IPV6_EXT_H
#define IPV6_EXT_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "net_counters.h"

#define IPV6_EXT_COUNT 6  /* headers of a packet, and ... */
#define IPV6_EXT_LONG 256 /* ... octets of one that are looked at (RFC 8504 §5.3 lets a host set such limits) */

/* *next, *off and *len say what follows the fixed header and, afterwards, what the upper layer is; len is within the
 * packet.  false: dropped and counted. */
bool ipv6_ext_skip(const struct rte_mbuf *m, uint8_t *next, uint32_t *off, uint32_t *len, struct net_counters *c);

#endif
