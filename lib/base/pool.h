/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixed objects by handle.  A handle is index and generation in 32 bits: one of an object that was put back
 * matches nothing (until the generation of that slot wraps after 4095 reuses; slots are reused as late as
 * possible).  0 is no handle.  One thread. */
#ifndef IW_POOL_H
#define IW_POOL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IW_POOL_INDEX_BITS 20
#define IW_POOL_INDEX_MASK ((1u << IW_POOL_INDEX_BITS) - 1)
#define IW_POOL_MAX IW_POOL_INDEX_MASK

struct iw_pool {
	uint8_t *objs;  /* each on a cache line of its own */
	void *mem;      /* what holds them */
	uint16_t *gens; /* of each slot; odd bit 15: in use */
	uint32_t *next; /* free list, by slot */
	uint32_t obj_size, max;
	uint32_t head, tail; /* free slots, first in first out; UINT32_MAX: none */
	uint32_t fresh;      /* slots from here on were never used */
	uint32_t used;
	bool recycle;  /* set it after init: slots that were used come before fresh ones, so that memory that was never
			  used at the same time is never touched; generations wrap sooner */
	uint32_t fuse; /* tests: the fuse-th get from now fails; 0: never */
};

/* Makes room for max objects (1..IW_POOL_MAX); 0, -IW_E_NOMEM or -IW_E_INVAL.  Memory is touched when used. */
int iw_pool_init(struct iw_pool *pool, uint32_t obj_size, uint32_t max);
void iw_pool_fini(struct iw_pool *pool);

/* A zeroed object and its handle; NULL when all are used. */
void *iw_pool_get(struct iw_pool *pool, uint32_t *handle);

/* Puts it back; the handle must be valid. */
void iw_pool_put(struct iw_pool *pool, uint32_t handle);

/* The handle of an object in use. */
uint32_t iw_pool_handle(const struct iw_pool *pool, const void *obj);

/* The n-th object in use at or after slot *pos (start with 0), for walks; NULL at the end. */
void *iw_pool_walk(const struct iw_pool *pool, uint32_t *pos);

/* ---- inline ---- */

#define IW_POOL_GEN_USED 0x8000u
#define IW_POOL_GEN_MASK 0x0fffu

/* Its first cache lines are wanted soon; any number will do for a handle. */
static inline void
iw_pool_prefetch(const struct iw_pool *pool, uint32_t handle, uint32_t lines)
{
	uint32_t slot = (handle & IW_POOL_INDEX_MASK) - 1;

	if (slot >= pool->fresh)
		return;
	__builtin_prefetch(&pool->gens[slot]);
	for (uint32_t i = 0; i < lines; i++)
		__builtin_prefetch(pool->objs + (uint64_t)slot * pool->obj_size + 64 * i, 1);
}

/* The object, or NULL when the handle is stale or 0. */
static inline void *
iw_pool_at(const struct iw_pool *pool, uint32_t handle)
{
	uint32_t slot = (handle & IW_POOL_INDEX_MASK) - 1;

	if (slot >= pool->fresh || pool->gens[slot] != (IW_POOL_GEN_USED | handle >> IW_POOL_INDEX_BITS))
		return NULL;
	return pool->objs + (uint64_t)slot * pool->obj_size;
}

#endif
