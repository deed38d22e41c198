/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions of a single-producer single-consumer ring of fixed records (design D22).  The records live in an
 * array of the user of this header; size is a power of two.  Producer and consumer may be two threads: the
 * release of one pairs with the acquire of the other. */
#ifndef IW_RING_H
#define IW_RING_H

#include <stdbool.h>
#include <stdint.h>

struct iw_ring {
	_Alignas(64) uint32_t head; /* next to be produced */
	uint32_t mask;
	_Alignas(64) uint32_t tail; /* next to be consumed */
};

static inline void
iw_ring_init(struct iw_ring *r, uint32_t size)
{
	r->head = r->tail = 0;
	r->mask = size - 1;
}

/* Records waiting, as the consumer sees it. */
static inline uint32_t
iw_ring_count(const struct iw_ring *r)
{
	return __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) - r->tail;
}

/* Free records, as the producer sees it. */
static inline uint32_t
iw_ring_space(const struct iw_ring *r)
{
	return r->mask + 1 - (r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE));
}

static inline uint32_t
iw_ring_slot(const struct iw_ring *r, uint32_t pos)
{
	return pos & r->mask;
}

static inline void
iw_ring_produce(struct iw_ring *r, uint32_t n)
{
	__atomic_store_n(&r->head, r->head + n, __ATOMIC_RELEASE);
}

static inline void
iw_ring_consume(struct iw_ring *r, uint32_t n)
{
	__atomic_store_n(&r->tail, r->tail + n, __ATOMIC_RELEASE);
}

/* The least power of two >= n (n <= 2^31). */
static inline uint32_t
iw_ring_size(uint32_t n)
{
	return n <= 1 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

#endif
