/* SPDX-License-Identifier: BSD-3-Clause */
#include "mbufpool.h"

#include <rte_errno.h>
#include <rte_mempool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lies behind the rte_mempool; pool_data points at it. */
struct source {
	uint32_t in_use, limit, fuse;
	uint32_t obj_size;
	const uint8_t *fill;
};

/* An mbuf begins on a cache line, its mempool header ends in front of it. */
#define HEAD 64
_Static_assert(sizeof(struct rte_mempool_objhdr) <= HEAD, "room for the header of an object");

static int
source_enqueue(struct rte_mempool *mp, void *const *objs, unsigned n)
{
	struct source *s = mp->pool_data;

	for (unsigned i = 0; i < n; i++)
		free((uint8_t *)objs[i] - HEAD);
	__atomic_fetch_sub(&s->in_use, n, __ATOMIC_RELAXED);
	return 0;
}

static void *
source_make(struct rte_mempool *mp)
{
	struct source *s = mp->pool_data;
	uint8_t *mem = aligned_alloc(64, HEAD + ((s->obj_size + 63) & ~63u));
	uint8_t *obj = mem + HEAD;

	if (!mem)
		return NULL;
	memset(mem, 0, HEAD + sizeof(struct rte_mbuf));
	for (uint32_t i = HEAD + sizeof(struct rte_mbuf); s->fill && i + 8 <= HEAD + s->obj_size; i += 8)
		memcpy(mem + i, s->fill, 8);
	((struct rte_mempool_objhdr *)(obj - sizeof(struct rte_mempool_objhdr)))->mp = mp;
	rte_pktmbuf_init(mp, NULL, obj, 0);
	return obj;
}

static bool
source_is_dry(struct source *s)
{
	return (s->fuse && --s->fuse == 0) || (s->limit && s->in_use >= s->limit);
}

static int
source_dequeue(struct rte_mempool *mp, void **objs, unsigned n)
{
	struct source *s = mp->pool_data;

	if (n > 1 && s->fuse && s->fuse <= n) /* who asks for many and gets none asks for one: that one is to fail */
		return -ENOBUFS;
	for (unsigned i = 0; i < n; i++) {
		if (source_is_dry(s) || !(objs[i] = source_make(mp))) {
			while (i > 0)
				source_enqueue(mp, &objs[--i], 1);
			return -ENOBUFS;
		}
		__atomic_fetch_add(&s->in_use, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static unsigned
source_count(const struct rte_mempool *mp)
{
	(void)mp;
	return 1u << 20;
}

/* The pool is put together by hand in mbufpool_create(); DPDK only wants to see one. */
static int
source_alloc(struct rte_mempool *mp)
{
	(void)mp;
	return 0;
}

static const struct rte_mempool_ops source_ops = {.name = "test_malloc",
						  .alloc = source_alloc,
						  .enqueue = source_enqueue,
						  .dequeue = source_dequeue,
						  .get_count = source_count};

static int
source_ops_index(void)
{
	static int index = -1;

	if (index < 0)
		index = rte_mempool_register_ops(&source_ops);
	return index;
}

struct rte_mempool *
mbufpool_create(const char *name, uint32_t data_room, uint32_t limit)
{
	size_t head = (sizeof(struct rte_mempool) + 63) & ~(size_t)63;
	size_t priv = (sizeof(struct rte_pktmbuf_pool_private) + 63) & ~(size_t)63;
	struct rte_mempool *mp = aligned_alloc(64, head + priv + ((sizeof(struct source) + 63) & ~(size_t)63));
	struct rte_pktmbuf_pool_private *p;
	struct source *s;

	memset(mp, 0, head + priv + sizeof(struct source));
	snprintf(mp->name, sizeof(mp->name), "%s", name);
	mp->private_data_size = priv;
	mp->ops_index = source_ops_index();
	mp->header_size = sizeof(struct rte_mempool_objhdr);
	mp->elt_size = sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + data_room;
	mp->cache_size = 0;
	p = rte_mempool_get_priv(mp);
	p->mbuf_data_room_size = (uint16_t)(RTE_PKTMBUF_HEADROOM + data_room);
	s = (struct source *)((uint8_t *)p + priv);
	s->limit = limit;
	s->obj_size = mp->elt_size;
	mp->pool_data = s;
	return mp;
}

uint32_t
mbufpool_in_use(const struct rte_mempool *mp)
{
	return ((const struct source *)mp->pool_data)->in_use;
}

void
mbufpool_set_limit(struct rte_mempool *mp, uint32_t limit)
{
	((struct source *)mp->pool_data)->limit = limit;
}

void
mbufpool_set_fuse(struct rte_mempool *mp, uint32_t n)
{
	((struct source *)mp->pool_data)->fuse = n;
}

void
mbufpool_set_fill(struct rte_mempool *mp, const uint8_t *octets)
{
	((struct source *)mp->pool_data)->fill = octets;
}

void
mbufpool_destroy(struct rte_mempool *mp)
{
	if (mbufpool_in_use(mp)) {
		fprintf(stderr, "mbufpool %s: %u mbufs leaked\n", mp->name, mbufpool_in_use(mp));
		abort();
	}
	free(mp);
}
