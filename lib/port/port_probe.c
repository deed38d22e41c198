/* SPDX-License-Identifier: BSD-3-Clause */
/* A look at a port that nobody uses: drivers know link and speed of a started port only. */
#include <iwarp.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <string.h>

#include "port_lend.h"

#define MBUFS 4095
#define RING 512
#define STEP_US 10000

/* One for each port and process: a driver's rings may hold mbufs of it until somebody configures the port anew. */
static struct rte_mempool *
pool_of(uint16_t id)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "iwprobe_%u", id);
	pool = rte_mempool_lookup(name);
	return pool ? pool
		    : rte_pktmbuf_pool_create(name, MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, rte_eth_dev_socket_id(id));
}

static int
start(uint16_t id)
{
	struct rte_eth_conf conf = {0};
	struct rte_mempool *pool;
	uint16_t rx = RING, tx = RING, mtu = RTE_ETHER_MTU;
	int rc;

	rte_eth_dev_get_mtu(id, &mtu);
	conf.rxmode.mtu = mtu;
	rc = rte_eth_dev_configure(id, 1, 1, &conf);
	if (rc)
		return rc == -EBUSY ? -IW_E_BUSY : -IW_E_PORT;
	pool = pool_of(id);
	if (!pool)
		return -IW_E_NOMEM;
	if (rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx) != 0 ||
	    rte_eth_rx_queue_setup(id, 0, rx, (unsigned)rte_eth_dev_socket_id(id), NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(id, 0, tx, (unsigned)rte_eth_dev_socket_id(id), NULL) != 0 ||
	    rte_eth_dev_start(id) != 0)
		return -IW_E_PORT;
	return 0;
}

int
iw_port_probe(uint16_t port_id, uint32_t wait_ms, struct iw_port_info *info)
{
	int rc = iw_port_info_get(port_id, info);
	struct rte_eth_dev_info dev;

	if (rc)
		return rc;
	rc = start(port_id);
	if (rc)
		return rc == -IW_E_BUSY ? 0 : rc;
	rc = iw_port_info_get(port_id, info);
	for (uint32_t ms = 0; rc == 0 && !info->link_up && ms < wait_ms; ms += STEP_US / 1000) {
		rte_delay_us_sleep(STEP_US);
		rc = iw_port_info_get(port_id, info);
	}
	if (rc == 0 && rte_eth_dev_info_get(port_id, &dev) == 0)
		info->zero_copy = !port_lend_why_not(port_id, &dev, dev.tx_offload_capa);
	rte_eth_dev_stop(port_id);
	return rc;
}
