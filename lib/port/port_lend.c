/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_lend.h"

#include <errno.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <string.h>

/* Drivers that have read all of a frame when their transmit returns, by its address in this process. */
static const char *const copying[] = {"net_tap", "net_af_packet", "net_memif"};

/* net_memif without copies keeps frames, and takes them from memory of its own only. */
static bool
is_told_otherwise(const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *args = info->device ? rte_dev_devargs(info->device) : NULL;

	return args && args->args && strstr(args->args, "zero-copy=yes");
}

bool
port_lend_keeps(const struct rte_eth_dev_info *info)
{
	for (size_t i = 0; i < RTE_DIM(copying); i++)
		if (strcmp(info->driver_name, copying[i]) == 0)
			return is_told_otherwise(info);
	return true;
}

const char *
port_lend_why_not(uint16_t port_id, const struct rte_eth_dev_info *info, uint64_t offloads)
{
	/* What one end of a wire of rings sends is read by the other end when that likes. */
	if (strcmp(info->driver_name, "net_ring") == 0)
		return "its frames are handed on, not read";
	if (!(offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
		return "the driver takes no frames of several segments";
	if (!port_lend_keeps(info))
		return NULL;
	if (rte_eal_iova_mode() != RTE_IOVA_VA)
		return "it reads physical addresses: an IOMMU and --iova-mode=va are needed";
	if (rte_eth_tx_done_cleanup(port_id, 0, 0) < 0)
		return "the driver does not say what it has sent";
	return NULL;
}

void
port_lend_ask(struct rte_eth_txconf *conf)
{
	if (conf->tx_rs_thresh > 1)
		conf->tx_rs_thresh = 1;
}

void
port_lend_reap(uint16_t port_id, uint16_t queue)
{
	rte_eth_tx_done_cleanup(port_id, queue, 0);
}
