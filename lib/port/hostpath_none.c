/* SPDX-License-Identifier: BSD-3-Clause */
/* Built without lwIP: our address does not answer ICMP echo. */
#include "hostpath.h"

struct hostpath *
hostpath_create(struct net *net, struct rte_mempool *pool, bool autoconf)
{
	return NULL;
}

void
hostpath_destroy(struct hostpath *h)
{
}

bool
hostpath_rx(struct hostpath *h, struct rte_mbuf *m, uint64_t now_ns)
{
	rte_pktmbuf_free(m);
	return false;
}

void
hostpath_tick(struct hostpath *h, uint64_t now_ns)
{
}

uint64_t
hostpath_deadline(const struct hostpath *h)
{
	return UINT64_MAX;
}
