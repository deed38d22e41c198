/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define DESCRIPTORS 256u
#define FREE_BELOW 32u /* descriptors: then a driver looks for what is done by itself */
#define COPIES 2047
#define PAUSE 3 /* the NIC works in one of so many turns of the other end */
#define AT_ONCE 7

struct keeper keeper;

static struct {
	bool is_there, is_up;
	uint16_t port;
	eth_tx_burst_t carry;
	eth_rx_burst_t hear;
	struct rte_mempool *copies;
	struct rte_mbuf *ring[DESCRIPTORS];
	uint32_t done, next, end; /* given back, read, taken: free running */
	uint32_t turns;
} nic;

static bool
is_ours(uint16_t port, char which)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "";
	size_t len;

	if (!nic.is_there || rte_eth_dev_get_name_by_port(port, name) != 0)
		return false;
	len = strlen(name);
	return len > 2 && name[len - 2] == '_' && name[len - 1] == which;
}

uint32_t
keeper_keeps(void)
{
	return nic.end - nic.done;
}

static void
give_back(uint32_t upto, uint64_t *count)
{
	for (; nic.done != upto; nic.done++, (*count)++)
		rte_pktmbuf_free(nic.ring[nic.done % DESCRIPTORS]);
}

/* A frame as DMA makes it: the octets that stand in memory now. */
static void
read_one(void *queue)
{
	struct rte_mbuf *m = rte_pktmbuf_copy(nic.ring[nic.next++ % DESCRIPTORS], nic.copies, 0, UINT32_MAX);

	assert_non_null(m);
	keeper.read++;
	if ((keeper.lose && keeper.read % keeper.lose == 0) || nic.carry(queue, &m, 1) == 0) {
		keeper.lost++;
		rte_pktmbuf_free(m);
	}
}

/* ---- what DPDK calls ---- */

static uint16_t
take(void *queue, struct rte_mbuf **m, uint16_t n)
{
	uint16_t i = 0;

	if (DESCRIPTORS - keeper_keeps() < FREE_BELOW)
		give_back(nic.next, &keeper.short_of);
	for (; i < n && keeper_keeps() < DESCRIPTORS; i++)
		nic.ring[nic.end++ % DESCRIPTORS] = m[i];
	keeper.most = RTE_MAX(keeper.most, keeper_keeps());
	return i;
}

/* Time passes for the NIC when the other end looks for frames. */
static uint16_t
hear(void *queue, struct rte_mbuf **m, uint16_t n)
{
	if (nic.is_up && !keeper.asleep && nic.turns++ % PAUSE == 0)
		for (uint32_t i = 0; i < AT_ONCE && nic.next != nic.end; i++)
			read_one(rte_eth_fp_ops[nic.port].txq.data[0]);
	return nic.hear(queue, m, n);
}

int __real_rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info);
int __real_rte_eth_dev_start(uint16_t port);
int __wrap_rte_eth_dev_start(uint16_t port);
int __real_rte_eth_dev_stop(uint16_t port);
int __wrap_rte_eth_dev_stop(uint16_t port);
int __real_rte_eth_tx_done_cleanup(uint16_t port, uint16_t queue, uint32_t n);
int __wrap_rte_eth_tx_done_cleanup(uint16_t port, uint16_t queue, uint32_t n);
enum rte_iova_mode __real_rte_eal_iova_mode(void);
enum rte_iova_mode __wrap_rte_eal_iova_mode(void);

int
__wrap_rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info)
{
	int rc = __real_rte_eth_dev_info_get(port, info);

	if (rc == 0 && is_ours(port, 'a'))
		info->driver_name = "net_keeper";
	return rc;
}

int
__wrap_rte_eth_dev_start(uint16_t port)
{
	int rc = __real_rte_eth_dev_start(port);

	if (rc == 0 && is_ours(port, 'a')) {
		nic.port = port;
		nic.is_up = true;
		nic.carry = rte_eth_fp_ops[port].tx_pkt_burst;
		rte_eth_fp_ops[port].tx_pkt_burst = take;
	} else if (rc == 0 && is_ours(port, 'b')) {
		nic.hear = rte_eth_fp_ops[port].rx_pkt_burst;
		rte_eth_fp_ops[port].rx_pkt_burst = hear;
	}
	return rc;
}

int
__wrap_rte_eth_dev_stop(uint16_t port)
{
	int rc = __real_rte_eth_dev_stop(port);

	if (rc == 0 && is_ours(port, 'a')) {
		nic.is_up = false;
		if (!keeper.grips)
			give_back(nic.end, &keeper.at_stop);
	}
	return rc;
}

int
__wrap_rte_eth_tx_done_cleanup(uint16_t port, uint16_t queue, uint32_t n)
{
	uint64_t before = keeper.cleaned;

	if (!is_ours(port, 'a'))
		return __real_rte_eth_tx_done_cleanup(port, queue, n);
	assert_int_equal(queue, 0);
	assert_int_equal(n, 0); /* all that are done */
	if (!keeper.deaf)
		give_back(nic.next, &keeper.cleaned);
	return (int)(keeper.cleaned - before);
}

/* As behind an IOMMU. */
enum rte_iova_mode
__wrap_rte_eal_iova_mode(void)
{
	return nic.is_there ? RTE_IOVA_VA : __real_rte_eal_iova_mode();
}

/* ---- */

void
keeper_let_go(void)
{
	give_back(nic.end, &keeper.at_stop);
}

void
keeper_begin(void)
{
	memset(&keeper, 0, sizeof(keeper));
	memset(&nic, 0, sizeof(nic));
	nic.is_there = true;
	nic.copies = rte_pktmbuf_pool_create("keeper", COPIES, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	assert_non_null(nic.copies);
}

void
keeper_end(void)
{
	assert_int_equal(keeper_keeps(), 0);
	nic.is_there = false;
	assert_int_equal(rte_mempool_avail_count(nic.copies), COPIES);
	rte_mempool_free(nic.copies);
}
