/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_pools.h"

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>
#include <stdio.h>
#include <string.h>

#define CACHE 256
#define CTL_ROOM 1024 /* a start-up frame with 512 octets of private data and every header */
#define CTL_MBUFS 4095
#define DATA_MBUFS 8191u
#define LOANS 3    /* for each packet */
#define L2_ROOM 32 /* Ethernet, a VLAN tag, and what drivers add */

static uint16_t
mtu_of(const struct iw_engine_params *params)
{
	uint16_t mtu = 1500;

	if (params->mtu)
		return params->mtu;
	rte_eth_dev_get_mtu(params->port_id, &mtu);
	return mtu;
}

/* Descriptors of a ring, each of which keeps an mbuf. */
static uint32_t
ring_of(uint16_t asked)
{
	return asked ? asked : PORT_RING_DEFAULT;
}

static struct rte_mempool *
make_pool(const char *kind, uint16_t port, uint32_t n, uint32_t room)
{
	/* A name that stays unique when an engine comes and goes. */
	static uint32_t serial;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "iw%s_%u_%u", kind, port, __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
	return rte_pktmbuf_pool_create(name, n, CACHE, 0, (uint16_t)room, rte_eth_dev_socket_id(port));
}

static uint32_t
data_mbufs(const struct iw_engine_params *params)
{
	return params->num_mbufs ? params->num_mbufs : DATA_MBUFS + ring_of(params->rx_ring) + ring_of(params->tx_ring);
}

static int
no_memory(uint32_t n, uint32_t room, char *why, size_t why_len)
{
	if (why && why_len)
		snprintf(why, why_len,
			 "no memory for %u packet buffers of %u octets (%s): give EAL more with -m or hugepages", n,
			 room, rte_strerror(rte_errno));
	return -IW_E_NOMEM;
}

int
port_pools_create(struct port_engine *p, const struct iw_engine_params *params, bool roomy, struct iw_env *env,
		  char *why, size_t why_len)
{
	uint32_t n = data_mbufs(params);
	int err;
	uint32_t frame = L2_ROOM + mtu_of(params);
	uint32_t room = RTE_PKTMBUF_HEADROOM + (roomy ? rte_align32pow2(frame) : frame);

	if (roomy && room > UINT16_MAX)
		room = UINT16_MAX;
	if (room > UINT16_MAX) {
		if (why && why_len)
			snprintf(why, why_len, "an MTU of %u does not fit into a packet buffer: at most %u does",
				 mtu_of(params), UINT16_MAX - (room - mtu_of(params)));
		return -IW_E_INVAL;
	}
	if (room < RTE_MBUF_DEFAULT_BUF_SIZE)
		room = RTE_MBUF_DEFAULT_BUF_SIZE;
	env->data_pool = params->data_pool;
	env->ctl_pool = params->ctl_pool;
	if (!env->data_pool)
		env->data_pool = p->data_pool = make_pool("data", params->port_id, n, room);
	if (env->data_pool && !env->ctl_pool)
		env->ctl_pool = p->ctl_pool =
			make_pool("ctl", params->port_id, CTL_MBUFS, RTE_PKTMBUF_HEADROOM + CTL_ROOM);
	if (env->data_pool && env->ctl_pool)
		return 0;
	err = no_memory(n, room, why, why_len);
	port_pools_destroy(p);
	return err;
}

int
port_pools_create_loans(struct port_engine *p, const struct iw_engine_params *params, struct iw_env *env, char *why,
			size_t why_len)
{
	/* Two behind each packet, and one for a request. */
	uint32_t n = data_mbufs(params) * LOANS;

	env->loan_pool = p->loan_pool = make_pool("loan", params->port_id, n, IW_LOAN_ROOM);
	return env->loan_pool ? 0 : no_memory(n, IW_LOAN_ROOM, why, why_len);
}

/* Pools of engines that are gone, whose mbufs are not all back.  Rarely more than a few; one that finds no place is
 * lost rather than freed under somebody's hands. */
static struct rte_mempool *parked[64];
static rte_spinlock_t parked_lock = RTE_SPINLOCK_INITIALIZER;

void
port_pools_park(struct rte_mempool *pool)
{
	size_t i = 0;

	if (!pool)
		return;
	rte_spinlock_lock(&parked_lock);
	while (i < RTE_DIM(parked) && parked[i])
		i++;
	if (i < RTE_DIM(parked))
		parked[i] = pool;
	rte_spinlock_unlock(&parked_lock);
}

void
port_pools_collect(void)
{
	rte_spinlock_lock(&parked_lock);
	for (size_t i = 0; i < RTE_DIM(parked); i++)
		if (parked[i] && rte_mempool_full(parked[i])) {
			rte_mempool_free(parked[i]);
			parked[i] = NULL;
		}
	rte_spinlock_unlock(&parked_lock);
}

void
port_pools_destroy(struct port_engine *p)
{
	port_pools_park(p->data_pool);
	port_pools_park(p->ctl_pool);
	port_pools_park(p->loan_pool);
	p->data_pool = p->ctl_pool = p->loan_pool = NULL;
	port_pools_collect();
}
