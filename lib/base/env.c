/* SPDX-License-Identifier: BSD-3-Clause */
#include "env.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)

_Thread_local uint32_t iw_env_alloc_fuse;

uint64_t
iw_env_hash(const struct iw_env *env, enum iw_env_purpose purpose, const void *data, size_t len)
{
	uint8_t key[crypto_shorthash_KEYBYTES];
	uint64_t out;

	memcpy(key, env->secret + (purpose & 1 ? 16 : 0), sizeof(key));
	key[0] ^= (uint8_t)(purpose << 1 | 1);
	crypto_shorthash((uint8_t *)&out, data, len, key);
	return out;
}

uint64_t
iw_env_draw(struct iw_env *env)
{
	uint64_t n = ++env->draws;

	return iw_env_hash(env, IW_HASH_DRAW, &n, sizeof(n));
}

void *
iw_env_alloc(size_t size)
{
	size_t rounded = (size + 63) & ~(size_t)63;
	void *p;

	if (rounded < size || (iw_env_alloc_fuse && --iw_env_alloc_fuse == 0))
		return NULL;
	p = aligned_alloc(64, rounded ? rounded : 64);
	iw_env_hint_huge(p, rounded);
	if (p)
		memset(p, 0, rounded);
	return p;
}

void
iw_env_hint_huge(void *p, size_t size)
{
	uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1),
		  to = ((uintptr_t)p + size) & ~(HUGE_PAGE - 1);

	if (p && size >= 2 * HUGE_PAGE && from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

void
iw_env_free(void *p)
{
	free(p);
}
