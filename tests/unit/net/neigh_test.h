/* SPDX-License-Identifier: BSD-3-Clause */
/* A neighbour table with a clock, and hosts by number. */
#ifndef NEIGH_TABLE_TEST_H
#define NEIGH_TABLE_TEST_H

#include "neigh.h"

#include <iwarp/err.h>

#include "iw_addr.h"
#include "net_test.h"

#define SLACK (100 * IW_US) /* a tick of the wheel and then some */

static struct rte_mempool *pool;
static struct iw_env env;
static struct net_counters counters;
static struct neigh_table t;
static uint64_t now;

static inline int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("neigh", 128, 0);
	return 0;
}

static inline int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

static inline void
begin(uint32_t max)
{
	memset(&counters, 0, sizeof(counters));
	now = 1000 * IW_SEC;
	assert_int_equal(neigh_init(&t, &env, &counters, max, now), 0);
}

static inline void
end(void)
{
	neigh_fini(&t);
	assert_int_equal(mbufpool_in_use(pool), 0);
}

static inline void
pass(uint64_t ns)
{
	now += ns;
	neigh_tick(&t, now);
}

static inline struct iw_addr
host(uint32_t n)
{
	return iw_addr_from_v4(0x0a000000 + n, 0);
}

static inline const uint8_t *
mac_of(uint32_t n)
{
	static uint8_t mac[6];

	mac[0] = 2;
	memcpy(mac + 2, &n, 4);
	return mac;
}

/* Uses host n; checks the MAC when one is known. */
static inline enum neigh_use
use_at(uint32_t n, uint32_t *handle, uint32_t mac_n)
{
	struct iw_addr a = host(n);
	uint8_t mac[6];
	enum neigh_use use = neigh_use(&t, handle, &a, now, mac);

	if (use == NEIGH_USE_KNOWN)
		assert_memory_equal(mac, mac_of(mac_n), 6);
	return use;
}

static inline enum neigh_use
use(uint32_t n)
{
	uint32_t handle = 0;

	return use_at(n, &handle, n);
}

static inline uint32_t
learn_as(uint32_t n, uint32_t mac_n, enum neigh_how how, struct rte_mbuf **released)
{
	struct iw_addr a = host(n);

	return neigh_learn(&t, &a, mac_of(mac_n), how, now, released);
}

static inline void
learn(uint32_t n, uint32_t mac_n, enum neigh_how how)
{
	struct rte_mbuf *released[NEIGH_WAITING];
	uint32_t k = learn_as(n, mac_n, how, released);

	while (k > 0)
		rte_pktmbuf_free(released[--k]);
}

static inline int
state_of(uint32_t n)
{
	struct iw_addr a = host(n);
	const struct neigh *e = neigh_find(&t, 0, &a);

	return e ? e->state : -1;
}

static inline void
reconfirm(uint32_t n)
{
	struct iw_addr a = host(n);

	neigh_reconfirm(&t, 0, &a, now);
}

/* Exactly this question is waiting: to one or to everybody; and no other. */
static inline void
assert_question(uint32_t n, bool to_one)
{
	struct iw_addr a = host(n);
	struct neigh_question q;

	assert_true(neigh_question(&t, &q));
	assert_true(iw_addr_eq_ip(&q.addr, &a));
	assert_int_equal(q.to_one, to_one);
	assert_false(neigh_question(&t, &q));
}

static inline void
assert_no_question(void)
{
	struct neigh_question q;

	assert_false(neigh_question(&t, &q));
}

/* A used, confirmed neighbour. */
static inline void
meet(uint32_t n)
{
	struct neigh_question q;

	assert_int_equal(use(n), NEIGH_USE_WAIT);
	while (neigh_question(&t, &q))
		;
	learn(n, n, NEIGH_ANSWERED);
	assert_int_equal(use(n), NEIGH_USE_KNOWN);
}

#endif
