/* SPDX-License-Identifier: BSD-3-Clause */
/* What a NIC with offloads makes of a frame on its way out: checksums, and segments (TSO).  It takes nothing but what
 * DPDK promises to drivers (rte_mbuf_core.h, rte_ip.h), and fails the test when something is missing. */
#ifndef CUTTER_H
#define CUTTER_H

#include <rte_mbuf.h>
#include <stdint.h>

#define CUTTER_SEGMENTS 64 /* of one frame */

/* The frames that leave instead of m, from pool, which are the caller's; m is taken.  One without offloads leaves as it
 * is.  Returns how many. */
uint32_t cutter_send(struct rte_mempool *pool, struct rte_mbuf *m, struct rte_mbuf *out[CUTTER_SEGMENTS]);

#endif
