/* SPDX-License-Identifier: BSD-3-Clause */
#include "mbuf_stock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mbufpool.h"

/* Empty, as rte_pktmbuf_alloc() gives them. */
static void
check_fresh(const struct rte_mbuf *m)
{
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	assert_int_equal(m->data_len, 0);
	assert_int_equal(m->pkt_len, 0);
	assert_int_equal(m->data_off, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->tx_offload, 0);
}

/* All that a pool has can be taken, the last few one by one; none twice. */
static void
test_takes_all(void **state)
{
	enum { N = 2 * MBUF_STOCK_MAX + 3 };
	struct rte_mempool *pool = mbufpool_create("data", 512, N);
	struct mbuf_stock s = {.n = 0};
	struct rte_mbuf *m[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		m[i] = mbuf_stock_take(&s, pool);
		assert_non_null(m[i]);
		check_fresh(m[i]);
		for (int k = 0; k < i; k++)
			assert_ptr_not_equal(m[k], m[i]);
	}
	assert_null(mbuf_stock_take(&s, pool));
	for (int i = 0; i < N; i++)
		rte_pktmbuf_free(m[i]);
	mbufpool_destroy(pool);
}

/* What was not used is taken next; one of another pool goes home. */
static void
test_return(void **state)
{
	struct rte_mempool *pool = mbufpool_create("data", 512, 0), *other = mbufpool_create("ctl", 512, 1);
	struct mbuf_stock s = {.n = 0};
	struct rte_mbuf *m = mbuf_stock_take(&s, pool), *foreign = rte_pktmbuf_alloc(other);

	(void)state;
	assert_non_null(foreign);
	rte_pktmbuf_append(m, 100);
	m->ol_flags = RTE_MBUF_F_TX_TCP_CKSUM;
	mbuf_stock_return(&s, pool, m);
	assert_ptr_equal(mbuf_stock_take(&s, pool), m);
	check_fresh(m);
	mbuf_stock_return(&s, pool, foreign);
	assert_int_equal(mbufpool_in_use(other), 0);
	rte_pktmbuf_free(m);
	mbuf_stock_empty(&s);
	assert_int_equal(s.n, 0);
	mbufpool_destroy(pool);
	mbufpool_destroy(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_takes_all), cmocka_unit_test(test_return)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
