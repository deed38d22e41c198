/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool.h"

#include <iwarp/err.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"

#define NONE UINT32_MAX

/* Large and sparse: left to the kernel's zero pages, so that only what is used takes memory. */
static void *
map(uint64_t size)
{
	void *p;

	if (iw_env_alloc_fuse && --iw_env_alloc_fuse == 0)
		return NULL;
	p = calloc(1, size);

	iw_env_hint_huge(p, size);
	return p;
}

int
iw_pool_init(struct iw_pool *pool, uint32_t obj_size, uint32_t max)
{
	memset(pool, 0, sizeof(*pool));
	if (max == 0 || max > IW_POOL_MAX || obj_size == 0)
		return -IW_E_INVAL;
	pool->obj_size = (obj_size + 63) & ~63u;
	pool->mem = map((uint64_t)pool->obj_size * max + 63);
	pool->objs = (uint8_t *)(((uintptr_t)pool->mem + 63) & ~(uintptr_t)63);
	pool->gens = map((uint64_t)max * sizeof(*pool->gens));
	pool->next = map((uint64_t)max * sizeof(*pool->next));
	pool->max = max;
	pool->head = pool->tail = NONE;
	if (pool->mem && pool->gens && pool->next)
		return 0;
	iw_pool_fini(pool);
	return -IW_E_NOMEM;
}

void
iw_pool_fini(struct iw_pool *pool)
{
	free(pool->mem);
	free(pool->gens);
	free(pool->next);
	memset(pool, 0, sizeof(*pool));
}

static uint32_t
take_slot(struct iw_pool *pool)
{
	uint32_t slot = pool->head;

	if (pool->fresh < pool->max && !(pool->recycle && slot != NONE))
		return pool->fresh++;
	if (slot == NONE)
		return NONE;
	pool->head = pool->next[slot];
	if (pool->head == NONE)
		pool->tail = NONE;
	return slot;
}

void *
iw_pool_get(struct iw_pool *pool, uint32_t *handle)
{
	uint32_t slot, gen;
	void *obj;

	if (pool->fuse && --pool->fuse == 0)
		return NULL;
	slot = take_slot(pool);
	if (slot == NONE)
		return NULL;
	gen = (pool->gens[slot] + 1u) & IW_POOL_GEN_MASK;
	pool->gens[slot] = (uint16_t)(IW_POOL_GEN_USED | gen);
	pool->used++;
	*handle = gen << IW_POOL_INDEX_BITS | (slot + 1);
	obj = pool->objs + (uint64_t)slot * pool->obj_size;
	memset(obj, 0, pool->obj_size);
	return obj;
}

void
iw_pool_put(struct iw_pool *pool, uint32_t handle)
{
	uint32_t slot = (handle & IW_POOL_INDEX_MASK) - 1;

	assert(iw_pool_at(pool, handle) != NULL);
	pool->gens[slot] &= IW_POOL_GEN_MASK;
	pool->next[slot] = NONE;
	if (pool->tail == NONE)
		pool->head = slot;
	else
		pool->next[pool->tail] = slot;
	pool->tail = slot;
	pool->used--;
}

uint32_t
iw_pool_handle(const struct iw_pool *pool, const void *obj)
{
	uint32_t slot = (uint32_t)(((const uint8_t *)obj - pool->objs) / pool->obj_size);

	assert(slot < pool->fresh && pool->gens[slot] & IW_POOL_GEN_USED);
	return (uint32_t)(pool->gens[slot] & IW_POOL_GEN_MASK) << IW_POOL_INDEX_BITS | (slot + 1);
}

void *
iw_pool_walk(const struct iw_pool *pool, uint32_t *pos)
{
	while (*pos < pool->fresh) {
		uint32_t slot = (*pos)++;

		if (pool->gens[slot] & IW_POOL_GEN_USED)
			return pool->objs + (uint64_t)slot * pool->obj_size;
	}
	return NULL;
}
