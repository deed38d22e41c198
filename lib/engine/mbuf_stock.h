/* SPDX-License-Identifier: BSD-3-Clause */
/* A few mbufs that were taken out of the data pool together, so that what the peer's core or the NIC wrote last comes
 * into the cache before it is needed.  Of one engine. */
#ifndef MBUF_STOCK_H
#define MBUF_STOCK_H

#include <rte_mbuf.h>
#include <stdint.h>

#define MBUF_STOCK_MAX 16

struct mbuf_stock {
	struct rte_mbuf *m[MBUF_STOCK_MAX]; /* raw: as the pool gave them */
	uint32_t n;
	uint32_t last; /* octets that were filled into the last one: the user says it */
};

/* An empty mbuf of the pool, the caller's; NULL: there is none. */
struct rte_mbuf *mbuf_stock_take(struct mbuf_stock *s, struct rte_mempool *pool);
/* One that was not used after all, whatever pool it is of. */
void mbuf_stock_return(struct mbuf_stock *s, struct rte_mempool *pool, struct rte_mbuf *m);
void mbuf_stock_empty(struct mbuf_stock *s);

#endif
