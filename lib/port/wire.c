/* SPDX-License-Identifier: BSD-3-Clause */
/* An in-process wire: two ports joined by two rings.  Mbufs are handed across, not copied, as a NIC's DMA would. */
#include <iwarp.h>
#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <stdio.h>

#include "port_pools.h"

static struct rte_ring *
make_ring(const char *name, char end, uint32_t size)
{
	char full[RTE_RING_NAMESIZE];

	if (snprintf(full, sizeof(full), "%s_%c", name, end) >= (int)sizeof(full))
		return NULL;
	return rte_ring_create(full, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static int
make_port(const char *name, char end, struct rte_ring *rx, struct rte_ring *tx, uint16_t *port)
{
	char full[RTE_RING_NAMESIZE];
	int id;

	snprintf(full, sizeof(full), "%s_%c", name, end);
	id = rte_eth_from_rings(full, &rx, 1, &tx, 1, 0);
	if (id < 0)
		return -IW_E_NOMEM;
	*port = (uint16_t)id;
	return 0;
}

static void
close_port(uint16_t port)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_mbuf *m;
	struct rte_ring *ring = NULL;
	struct rte_eth_link link;
	const char *bare;

	if (rte_eth_dev_get_name_by_port(port, name) != 0)
		return;
	/* An engine that is gone has stopped its end, and ethdev speaks up when that is asked again. */
	if (rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP)
		rte_eth_dev_stop(port);
	/* Closes the port, and frees its name for another wire. */
	rte_vdev_uninit(name);
	/* The driver names the port net_ring_NAME, the ring is NAME. */
	bare = name + (sizeof("net_ring_") - 1);
	ring = rte_ring_lookup(bare);
	while (ring && rte_ring_dequeue(ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(ring);
}

int
iw_wire_create(const char *name, uint32_t ring_size, uint16_t *port_a, uint16_t *port_b)
{
	struct rte_ring *ab, *ba;

	if (!name || !port_a || !port_b || ring_size == 0 || !rte_is_power_of_2(ring_size))
		return -IW_E_INVAL;
	ab = make_ring(name, 'a', ring_size);
	ba = make_ring(name, 'b', ring_size);
	if (ab && ba && make_port(name, 'a', ba, ab, port_a) == 0) {
		if (make_port(name, 'b', ab, ba, port_b) == 0)
			return 0;
		close_port(*port_a);
		ab = NULL;
	}
	rte_ring_free(ab);
	rte_ring_free(ba);
	return -IW_E_NOMEM;
}

void
iw_wire_destroy(uint16_t port_a, uint16_t port_b)
{
	close_port(port_a);
	close_port(port_b);
	port_pools_collect();
}
