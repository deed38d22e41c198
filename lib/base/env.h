/* SPDX-License-Identifier: BSD-3-Clause */
/* What the core is lent by whoever composes it: packet pools, secrets, random numbers, memory at creation.
 * Nothing in here is called on the data path but iw_env_draw(). */
#ifndef IW_ENV_H
#define IW_ENV_H

#include <stddef.h>
#include <stdint.h>

struct rte_mempool;

#define IW_SECRET_LEN 32
#define IW_LOAN_ROOM 64

struct iw_env {
	struct rte_mempool *data_pool; /* one mbuf: a whole packet at the MTU */
	struct rte_mempool *ctl_pool;  /* the reserve: SYN, ACK, RST, FIN, Terminate, probes */
	struct rte_mempool *loan_pool; /* for what leaves from the user's memory: mbufs with room for IW_LOAN_ROOM
					  octets; NULL: nothing does */
	uint8_t secret[IW_SECRET_LEN];
	uint64_t draws; /* counts iw_env_draw() */
};

/* Which keyed hash: the same input never gives related outputs for two purposes. */
enum iw_env_purpose {
	IW_HASH_DRAW,
	IW_HASH_ISN,
	IW_HASH_TSOFF,
	IW_HASH_DEMUX,
	IW_HASH_STAG,
	IW_HASH_PORT,
	IW_HASH_FLOW,
	IW_HASH_SYN,
	IW_HASH_COOKIE,
	IW_HASH_LIMIT
};

/* SipHash-2-4 of len octets under the secret, for one purpose. */
uint64_t iw_env_hash(const struct iw_env *env, enum iw_env_purpose purpose, const void *data, size_t len);

/* The next unpredictable number. */
uint64_t iw_env_draw(struct iw_env *env);

/* Zeroed, cache-line aligned memory, for creation only; NULL when short.  Tests make the n-th call from now
 * fail by setting iw_env_alloc_fuse to n (0: never). */
void *iw_env_alloc(size_t size);
void iw_env_free(void *p);
/* Large memory, before it is touched: large pages where the system has them, for fewer TLB misses.  A hint. */
void iw_env_hint_huge(void *p, size_t size);
extern _Thread_local uint32_t iw_env_alloc_fuse;

#endif
