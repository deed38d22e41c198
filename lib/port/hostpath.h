/* SPDX-License-Identifier: BSD-3-Clause */
/* lwIP speaks for the host: ICMP echo of both families, multicast listener reports, router discovery and address
 * autoconfiguration, and what else is neither TCP nor answered by lib/net (design D9).  lwIP is one
 * unlocked instance for a process, so one engine can have it; it is driven by polling, never given TCP and never a
 * packet that is not ours. */
#ifndef HOSTPATH_H
#define HOSTPATH_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "net_face.h"

struct hostpath;

/* autoconf: IPv6 addresses and a router are learned and told to net.  NULL when another engine of the process has it,
 * or when built without lwIP. */
struct hostpath *hostpath_create(struct net *net, struct rte_mempool *pool, bool autoconf);
void hostpath_destroy(struct hostpath *h);

/* A frame for our address; freed.  Answers go to net's queue.  false: it was too long, or memory was short. */
bool hostpath_rx(struct hostpath *h, struct rte_mbuf *m, uint64_t now_ns);
void hostpath_tick(struct hostpath *h, uint64_t now_ns);
/* When it wants to be ticked at the latest; IW_NEVER: it has nothing to do by itself. */
uint64_t hostpath_deadline(const struct hostpath *h);

#endif
