/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock for a few writes among polling threads; all zero: free. */
#ifndef SPIN_H
#define SPIN_H

#include <stdint.h>

#include <rte_pause.h>

/* Acquire pairs with the release of who had it before: what was written under the lock is seen under it. */
static inline void
spin_lock(uint32_t *lock)
{
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(lock, __ATOMIC_RELAXED))
			rte_pause();
}

static inline void
spin_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
