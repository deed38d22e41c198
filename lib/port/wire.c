/* SPDX-License-Identifier: BSD-3-Clause */
/* An in-process wire: two ports joined by two rings.  Mbufs are handed across, not copied, as a NIC's DMA would. */
#include <iwarp.h>
#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>

#include "port_pools.h"
#include "port_ring.h"

/* The rings from one end, of each queue. */
struct direction {
	struct rte_ring *ring[IW_WIRE_QUEUES];
};

/* "NAME_a" and, of further queues, "NAME_a.1".  False: it is too long. */
static bool
ring_name(char full[RTE_RING_NAMESIZE], const char *name, char end, uint32_t queue)
{
	int len = queue ? snprintf(full, RTE_RING_NAMESIZE, "%s_%c.%u", name, end, queue)
			: snprintf(full, RTE_RING_NAMESIZE, "%s_%c", name, end);

	return len < (int)RTE_RING_NAMESIZE;
}

static bool
make_rings(struct direction *d, const char *name, char end, uint32_t size, uint32_t queues)
{
	char full[RTE_RING_NAMESIZE];

	for (uint32_t q = 0; q < queues; q++) {
		if (ring_name(full, name, end, q))
			d->ring[q] = rte_ring_create(full, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (!d->ring[q])
			return false;
	}
	return true;
}

static void
free_rings(struct direction *d)
{
	for (uint32_t q = 0; q < IW_WIRE_QUEUES; q++)
		rte_ring_free(d->ring[q]);
	memset(d, 0, sizeof(*d));
}

static int
make_port(const char *name, char end, struct direction *rx, struct direction *tx, uint32_t queues, uint16_t *port)
{
	char full[RTE_RING_NAMESIZE];
	int id;

	ring_name(full, name, end, 0);
	id = rte_eth_from_rings(full, rx->ring, queues, tx->ring, queues, 0);
	if (id < 0)
		return -IW_E_NOMEM;
	*port = (uint16_t)id;
	return 0;
}

static void
close_port(uint16_t port)
{
	char name[RTE_ETH_NAME_MAX_LEN], full[RTE_RING_NAMESIZE];
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
	port_ring_free(rte_ring_lookup(bare));
	for (uint32_t q = 1; q < IW_WIRE_QUEUES; q++)
		if (snprintf(full, sizeof(full), "%s.%u", bare, q) < (int)sizeof(full))
			port_ring_free(rte_ring_lookup(full));
}

int
iw_wire_create_queues(const char *name, uint32_t ring_size, uint32_t queues, uint16_t *port_a, uint16_t *port_b)
{
	struct direction ab = {0}, ba = {0};

	if (!name || !port_a || !port_b || ring_size == 0 || !rte_is_power_of_2(ring_size) || queues == 0 ||
	    queues > IW_WIRE_QUEUES)
		return -IW_E_INVAL;
	if (make_rings(&ab, name, 'a', ring_size, queues) && make_rings(&ba, name, 'b', ring_size, queues) &&
	    make_port(name, 'a', &ba, &ab, queues, port_a) == 0) {
		if (make_port(name, 'b', &ab, &ba, queues, port_b) == 0)
			return 0;
		close_port(*port_a);
		memset(&ab, 0, sizeof(ab));
	}
	free_rings(&ab);
	free_rings(&ba);
	return -IW_E_NOMEM;
}

int
iw_wire_create(const char *name, uint32_t ring_size, uint16_t *port_a, uint16_t *port_b)
{
	return iw_wire_create_queues(name, ring_size, 1, port_a, port_b);
}

void
iw_wire_destroy(uint16_t port_a, uint16_t port_b)
{
	close_port(port_a);
	close_port(port_b);
	port_pools_collect();
}
