/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings between threads. */
#ifndef PORT_RING_H
#define PORT_RING_H

#include <rte_ring.h>
#include <stdbool.h>

/* Of n elements, for one reader; kind and port are for its name, which is nobody else's.  NULL: memory is short. */
struct rte_ring *port_ring_create(const char *kind, uint16_t port_id, uint32_t elem_size, uint32_t n);
/* A ring of mbufs, with those that are left; NULL: nothing. */
void port_ring_free(struct rte_ring *ring);

/* Nothing waits.  Atomic, which rte_ring_empty() is not. */
static inline bool
port_ring_is_empty(const struct rte_ring *ring)
{
	return __atomic_load_n(&ring->prod.tail, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&ring->cons.tail, __ATOMIC_RELAXED);
}

#endif
