/* SPDX-License-Identifier: BSD-3-Clause */
#include "mbuf_stock.h"

#include "len.h"
#include "prefetch.h"

/* All of its two lines are written when it is used. */
static void
fetch_header(const struct rte_mbuf *m)
{
	iw_prefetch_write(m);
	iw_prefetch_write((const char *)m + RTE_CACHE_LINE_SIZE);
}

#define LINES_MAX 144u /* a segment of a jumbo frame */

/* Where the headers, which reach into a second line, and the payload will be: if it is like the last one. */
static void
fetch_data(const struct mbuf_stock *s, const struct rte_mbuf *m)
{
	const char *payload = (const char *)m->buf_addr + RTE_PKTMBUF_HEADROOM;
	int lines = (int)iw_len_min(s->last / RTE_CACHE_LINE_SIZE, LINES_MAX);

	for (int i = -2; i <= lines; i++)
		iw_prefetch_write(payload + i * RTE_CACHE_LINE_SIZE);
}

/* Many, or at least one. */
static void
refill(struct mbuf_stock *s, struct rte_mempool *pool)
{
	if (rte_mempool_get_bulk(pool, (void **)s->m, MBUF_STOCK_MAX) == 0)
		s->n = MBUF_STOCK_MAX;
	else
		s->n = rte_mempool_get(pool, (void **)s->m) == 0;
	for (uint32_t i = 0; i < s->n; i++)
		fetch_header(s->m[i]);
}

struct rte_mbuf *
mbuf_stock_take(struct mbuf_stock *s, struct rte_mempool *pool)
{
	struct rte_mbuf *m;

	if (s->n == 0)
		refill(s, pool);
	if (s->n == 0)
		return NULL;
	m = s->m[--s->n];
	if (s->n > 0)
		fetch_data(s, s->m[s->n - 1]);
	rte_pktmbuf_reset(m);
	return m;
}

void
mbuf_stock_return(struct mbuf_stock *s, struct rte_mempool *pool, struct rte_mbuf *m)
{
	if (m->pool == pool && s->n < MBUF_STOCK_MAX)
		s->m[s->n++] = m;
	else
		rte_pktmbuf_free(m);
}

void
mbuf_stock_empty(struct mbuf_stock *s)
{
	while (s->n > 0)
		rte_mbuf_raw_free(s->m[--s->n]);
}
