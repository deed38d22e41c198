/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
	assert_int_equal(iw_pool_handle(&pool, iw_pool_at(&pool, c)), c);
	iw_pool_fini(&pool);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stale_handles_match_nothing),
		cmocka_unit_test(test_mbufs_without_eal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
