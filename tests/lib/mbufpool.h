/* SPDX-License-Identifier: BSD-3-Clause */
/* An mbuf pool without EAL: each mbuf is a malloc and a free of its own, so that sanitizers see a use after free
 * and a leak. */
#ifndef MBUFPOOL_H
#define MBUFPOOL_H

#include <rte_mbuf.h>

/* data_room: octets behind the headroom of RTE_PKTMBUF_HEADROOM.  limit: mbufs at once, 0: no limit. */
struct rte_mempool *mbufpool_create(const char *name, uint32_t data_room, uint32_t limit);

/* Mbufs handed out and not yet freed. */
uint32_t mbufpool_in_use(const struct rte_mempool *mp);

/* Aborts when mbufs are still out (a leak). */
void mbufpool_destroy(struct rte_mempool *mp);

/* The limit from now on; 0: none. */
void mbufpool_set_limit(struct rte_mempool *mp, uint32_t limit);

/* The n-th allocation from now fails; 0: none. */
void mbufpool_set_fuse(struct rte_mempool *mp, uint32_t n);

#endif
