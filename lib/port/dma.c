/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the user that ports read by themselves. */
#define ALLOW_EXPERIMENTAL_API /* rte_dev_dma_map() is one in DPDK 22.11 */
#include "dma.h"

#include <iwarp.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>
#include <unistd.h>

#include "len.h"

static int
check(void *addr, uint64_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!addr || len == 0 || (uintptr_t)addr % page || len % page || iw_len_wraps((uintptr_t)addr, len))
		return -IW_E_INVAL;
	return 0;
}

/* Software ports read it as it is: their buses map nothing. */
static bool
map_for(uint16_t id, void *addr, uint64_t len)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(id, &info) != 0 || !info.device)
		return true;
	return rte_dev_dma_map(info.device, addr, (uintptr_t)addr, len) == 0 || rte_errno == ENOTSUP;
}

/* Of the ports before this one. */
static void
unmap_until(uint16_t end, void *addr, uint64_t len)
{
	struct rte_eth_dev_info info;
	uint16_t id;

	RTE_ETH_FOREACH_DEV(id)
	if (id < end && rte_eth_dev_info_get(id, &info) == 0 && info.device)
		rte_dev_dma_unmap(info.device, addr, (uintptr_t)addr, len);
}

int
iw_dma_map(void *addr, uint64_t len)
{
	int err = check(addr, len);
	uint16_t id;

	if (err)
		return err;
	if (rte_extmem_register(addr, len, NULL, 0, (size_t)sysconf(_SC_PAGESIZE)) != 0)
		return rte_errno == EEXIST ? -IW_E_BUSY : -IW_E_NOMEM;
	RTE_ETH_FOREACH_DEV(id)
	if (!map_for(id, addr, len)) {
		unmap_until(id, addr, len);
		rte_extmem_unregister(addr, len);
		return -IW_E_PORT;
	}
	return 0;
}

int
iw_dma_unmap(void *addr, uint64_t len)
{
	int err = check(addr, len);
	const struct rte_memseg_list *msl = err ? NULL : rte_mem_virt2memseg_list(addr);

	if (!msl || !msl->external || msl->base_va != addr || msl->len != len)
		return -IW_E_INVAL;
	unmap_until(RTE_MAX_ETHPORTS, addr, len);
	return rte_extmem_unregister(addr, len) == 0 ? 0 : -IW_E_INVAL;
}

bool
dma_is_mapped(const void *addr, uint64_t len)
{
	const struct rte_memseg_list *msl = rte_mem_virt2memseg_list(addr);
	uint64_t off;

	if (!msl || !iw_len_fits((uintptr_t)addr - msl->addr_64, len, msl->len))
		return false;
	/* EAL gives its own memory out, and takes it back, by pages. */
	off = ((uintptr_t)addr - msl->addr_64) / msl->page_sz * msl->page_sz;
	for (uint64_t at = msl->addr_64 + off; at < (uintptr_t)addr + len; at += msl->page_sz) {
		const struct rte_memseg *seg = rte_mem_virt2memseg((const void *)(uintptr_t)at, msl);

		if (!seg || !seg->addr)
			return false;
	}
	return true;
}
