/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMPv6 errors about TCP segments that we sent (RFC 4443 §3, RFC 8201, RFC 5927), as values; the twin of icmp_err.h.
 */
#ifndef ICMP6_ERR_H
#define ICMP6_ERR_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "ipv6.h"
#include "net_counters.h"
#include "net_face.h"

/* An ICMPv6 message of a type below ICMP6_INFO whose checksum is good.  true: err is filled, but for the scopes of its
 * addresses; false: dropped and counted. */
bool icmp6_err_rx(const struct own_table *own, const struct rte_mbuf *m, const struct ipv6_rx *rx,
		  struct net_counters *c, struct net_icmp_err *err);

#endif
