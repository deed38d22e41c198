/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors about TCP segments that we sent (RFC 1122 §3.2.2, §4.2.3.9; RFC 5927), as values.  Whether the sequence
 * number is in flight is for TCP to say. */
#ifndef ICMP_ERR_H
#define ICMP_ERR_H

#include <rte_mbuf.h>
#include <stdint.h>

#include "net_counters.h"
#include "net_face.h"

enum icmp_kind {
	ICMP_DROP,  /* counted */
	ICMP_ERROR, /* err is filled */
	ICMP_OTHER  /* no error message: echo and the like */
};

/* The ICMP message in octets [off, off+len) of m, that came to our address own. */
enum icmp_kind icmp_err_rx(uint32_t own, const struct rte_mbuf *m, uint32_t off, uint32_t len, struct net_counters *c,
			   struct net_icmp_err *err);

#endif
