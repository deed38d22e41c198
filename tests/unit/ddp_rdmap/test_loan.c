/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is lent (design D4): whoever refers to it holds its registration, and the last one gives it back. */
#include "loan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "env.h"
#include "mbufpool.h"

static struct rte_mempool *pool;
static struct iw_mr mr;
static uint8_t memory[3000];

static void
begin(void)
{
	pool = mbufpool_create("loan", 0, 0);
	memset(&mr, 0, sizeof(mr));
	memset(memory, 'x', sizeof(memory));
}

static void
end(void)
{
	assert_int_equal(mr.bound, 0);
	mbufpool_destroy(pool);
}

static void
test_mbufs(void **state)
{
	struct loan *loan;
	struct rte_mbuf *m;

	(void)state;
	begin();
	loan = loan_make(pool, &mr);
	assert_true(loan_is_back(loan) && loan->mr == &mr);
	for (uint32_t zeros = 4; zeros <= 7; zeros++) {
		m = loan_mbufs(loan, memory + 100, 2000, zeros);
		assert_true(m->nb_segs == 2 && m->pkt_len == 2000 + zeros && RTE_MBUF_HAS_EXTBUF(m));
		assert_ptr_equal(rte_pktmbuf_mtod(m, uint8_t *), memory + 100);
		assert_int_equal(rte_pktmbuf_iova(m), (uintptr_t)memory + 100);
		assert_int_equal(m->data_len, 2000);
		assert_int_equal(m->next->data_len, zeros);
		assert_memory_equal(rte_pktmbuf_mtod(m->next, void *), "\0\0\0\0\0\0\0", zeros);
		rte_pktmbuf_free(m);
	}
	loan_end(loan);
	end();
}

/* Held until the last reference goes: the request's, or a driver's that lets go late. */
static void
test_who_holds_it(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct rte_mbuf *a, *b;
		struct loan *loan;

		(void)state;
		begin();
		loan = loan_make(pool, &mr);
		assert_int_equal(mr.bound, 1);
		a = loan_mbufs(loan, memory, 1000, 4);
		b = loan_mbufs(loan, memory + 1000, 1000, 4);
		rte_mbuf_refcnt_update(a, 1); /* of TCP and of the driver */
		rte_pktmbuf_free(b);
		rte_pktmbuf_free_seg(a->next);
		rte_pktmbuf_free_seg(a);
		assert_false(loan_is_back(loan));
		assert_int_equal(mr.bound, 1);
		if (late)
			loan_end(loan);
		assert_int_equal(mr.bound, 1);
		a->next = NULL;
		a->nb_segs = 1;
		rte_pktmbuf_free_seg(a);
		assert_int_equal(mr.bound, !late);
		if (!late) {
			assert_true(loan_is_back(loan));
			loan_end(loan);
		}
		end();
	}
}

static void
test_no_mbufs(void **state)
{
	struct loan *loan;

	(void)state;
	begin();
	mbufpool_set_fuse(pool, 1);
	assert_null(loan_make(pool, &mr));
	assert_int_equal(mr.bound, 0);
	loan = loan_make(pool, &mr);
	for (uint32_t i = 1; i <= 2; i++) {
		mbufpool_set_fuse(pool, i);
		assert_null(loan_mbufs(loan, memory, 1000, 4));
		assert_true(loan_is_back(loan) && mbufpool_in_use(pool) == 1);
	}
	loan_end(loan);
	end();
}

/* DPDK counts in 16 bits: long before these are used up there is no more. */
static void
test_too_many(void **state)
{
	static struct rte_mbuf *m[LOAN_REFS_MAX];
	struct loan *loan;
	uint32_t n = 0;

	(void)state;
	begin();
	loan = loan_make(pool, &mr);
	while (n < LOAN_REFS_MAX && (m[n] = loan_mbufs(loan, memory, 1000, 4)))
		n++;
	assert_int_equal(n, LOAN_REFS_MAX - 1);
	while (n-- > 0)
		rte_pktmbuf_free(m[n]);
	assert_true(loan_is_back(loan));
	loan_end(loan);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mbufs),
		cmocka_unit_test(test_who_holds_it),
		cmocka_unit_test(test_no_mbufs),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
