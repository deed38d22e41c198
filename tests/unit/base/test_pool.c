/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "env.h"
#include "mbufpool.h"

static void
test_stale_handles_match_nothing(void **state)
{
	struct iw_pool pool;
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(iw_pool_init(&pool, 100, 2), 0);
	assert_non_null(iw_pool_get(&pool, &a));
	assert_non_null(iw_pool_get(&pool, &b));
	assert_null(iw_pool_get(&pool, &c));
	iw_pool_put(&pool, a);
	assert_null(iw_pool_at(&pool, a));
	assert_non_null(iw_pool_at(&pool, b));
	assert_non_null(iw_pool_get(&pool, &c));
	assert_int_not_equal(a, c);
	assert_null(iw_pool_at(&pool, a));
	assert_null(iw_pool_at(&pool, 0));
	assert_null(iw_pool_at(&pool, UINT32_MAX));
	assert_int_equal(iw_pool_handle(&pool, iw_pool_at(&pool, c)), c);
	iw_pool_fini(&pool);
}

/* Each of the first 4095 reuses of one slot has a handle of its own. */
static void
test_generations_of_one_slot(void **state)
{
	struct iw_pool pool;
	uint32_t first, h;

	(void)state;
	assert_int_equal(iw_pool_init(&pool, 8, 1), 0);
	assert_non_null(iw_pool_get(&pool, &first));
	for (int i = 0; i < 4095; i++) {
		iw_pool_put(&pool, i == 0 ? first : h);
		assert_non_null(iw_pool_get(&pool, &h));
		assert_int_not_equal(h, first);
		assert_int_not_equal(h, 0);
		assert_null(iw_pool_at(&pool, first));
	}
	iw_pool_put(&pool, h);
	assert_non_null(iw_pool_get(&pool, &h));
	assert_int_equal(h, first); /* the 4096th wraps */
	iw_pool_fini(&pool);
}

/* Fresh slots go first, then the one that has been free for longest. */
static void
test_slots_are_reused_late(void **state)
{
	struct iw_pool pool;
	uint32_t h[4], again;
	void *obj[4];

	(void)state;
	assert_int_equal(iw_pool_init(&pool, 8, 4), 0);
	for (int i = 0; i < 3; i++)
		obj[i] = iw_pool_get(&pool, &h[i]);
	iw_pool_put(&pool, h[1]);
	iw_pool_put(&pool, h[0]);
	obj[3] = iw_pool_get(&pool, &h[3]);
	assert_true(obj[3] != obj[0] && obj[3] != obj[1] && obj[3] != obj[2]);
	assert_ptr_equal(iw_pool_get(&pool, &again), obj[1]);
	assert_ptr_equal(iw_pool_get(&pool, &again), obj[0]);
	assert_null(iw_pool_get(&pool, &again));
	assert_int_equal(pool.used, 4);
	iw_pool_fini(&pool);
}

static void
test_objects_are_zero_and_aligned(void **state)
{
	struct iw_pool pool;
	uint32_t h;

	(void)state;
	assert_int_equal(iw_pool_init(&pool, 65, 3), 0);
	for (int i = 0; i < 10; i++) {
		uint8_t *p = iw_pool_get(&pool, &h);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p & 63, 0);
		for (int k = 0; k < 65; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xff, 65);
		iw_pool_put(&pool, h);
	}
	iw_pool_fini(&pool);
}

static void
test_walk_sees_what_is_used(void **state)
{
	struct iw_pool pool;
	uint32_t h[5], pos = 0;

	(void)state;
	assert_int_equal(iw_pool_init(&pool, 8, 8), 0);
	assert_null(iw_pool_walk(&pool, &pos));
	for (int i = 0; i < 5; i++)
		*(int *)iw_pool_get(&pool, &h[i]) = i;
	iw_pool_put(&pool, h[0]);
	iw_pool_put(&pool, h[3]);
	pos = 0;
	for (int i = 0; i < 5; i++)
		if (i != 0 && i != 3)
			assert_int_equal(*(int *)iw_pool_walk(&pool, &pos), i);
	assert_null(iw_pool_walk(&pool, &pos));
	assert_null(iw_pool_walk(&pool, &pos));
	iw_pool_fini(&pool);
}

static void
test_fuse_fails_one_get(void **state)
{
	struct iw_pool pool;
	uint32_t h;

	(void)state;
	assert_int_equal(iw_pool_init(&pool, 8, 8), 0);
	pool.fuse = 2;
	assert_non_null(iw_pool_get(&pool, &h));
	assert_null(iw_pool_get(&pool, &h));
	assert_non_null(iw_pool_get(&pool, &h));
	assert_int_equal(pool.used, 2);
	iw_pool_fini(&pool);
}

/* Each of its allocations fails once; nothing is left behind. */
static void
test_init_when_memory_is_short(void **state)
{
	struct iw_pool pool;
	uint32_t n = 1;

	(void)state;
	for (;; n++) {
		iw_env_alloc_fuse = n;
		if (iw_pool_init(&pool, 8, 8) == 0)
			break;
		assert_null(pool.objs);
		assert_int_equal(iw_env_alloc_fuse, 0);
	}
	assert_int_equal(n, 4);
	iw_env_alloc_fuse = 0;
	iw_pool_fini(&pool);
	assert_int_equal(iw_pool_init(&pool, 8, 0), -IW_E_INVAL);
	assert_int_equal(iw_pool_init(&pool, 0, 8), -IW_E_INVAL);
	assert_int_equal(iw_pool_init(&pool, 8, IW_POOL_MAX + 1), -IW_E_INVAL);
}

static void
test_mbufs_without_eal(void **state)
{
	struct rte_mempool *mp = mbufpool_create("t", 2048, 2);
	struct rte_mbuf *a = rte_pktmbuf_alloc(mp), *b = rte_pktmbuf_alloc(mp);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_null(rte_pktmbuf_alloc(mp));
	assert_int_equal(rte_pktmbuf_tailroom(a), 2048);
	rte_pktmbuf_free(a);
	assert_int_equal(mbufpool_in_use(mp), 1);
	rte_pktmbuf_free(b);
	mbufpool_destroy(mp);
}

/* recycle: memory that was never needed at the same time is never touched. */
static void
test_recycled_slots_come_first(void **state)
{
	struct iw_pool pool;
	uint32_t h;

	(void)state;
	assert_int_equal(iw_pool_init(&pool, 8, 100), 0);
	pool.recycle = true;
	for (int i = 0; i < 50; i++) {
		assert_non_null(iw_pool_get(&pool, &h));
		assert_int_equal(pool.fresh, 1);
		iw_pool_put(&pool, h);
		assert_null(iw_pool_at(&pool, h));
	}
	assert_non_null(iw_pool_get(&pool, &h));
	assert_non_null(iw_pool_get(&pool, &h));
	assert_int_equal(pool.fresh, 2);
	iw_pool_fini(&pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stale_handles_match_nothing), cmocka_unit_test(test_generations_of_one_slot),
		cmocka_unit_test(test_slots_are_reused_late),       cmocka_unit_test(test_objects_are_zero_and_aligned),
		cmocka_unit_test(test_walk_sees_what_is_used),      cmocka_unit_test(test_fuse_fails_one_get),
		cmocka_unit_test(test_init_when_memory_is_short),   cmocka_unit_test(test_mbufs_without_eal),
		cmocka_unit_test(test_recycled_slots_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
