/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_ring.h"

#include <rte_mbuf.h>
#include <rte_ring_elem.h>
#include <stdio.h>

struct rte_ring *
port_ring_create(const char *kind, uint16_t port_id, uint32_t elem_size, uint32_t n)
{
	static uint32_t serial;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "iw%s_%u_%u", kind, port_id, __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
	return rte_ring_create_elem(name, elem_size, n, SOCKET_ID_ANY, RING_F_SC_DEQ);
}

void
port_ring_free(struct rte_ring *ring)
{
	struct rte_mbuf *m;

	while (ring && rte_ring_dequeue(ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(ring);
}
