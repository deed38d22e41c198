/* SPDX-License-Identifier: BSD-3-Clause */
#include "outq.h"

#include "net_test.h"

/* In order, bounded, over many times its size and over the wrap of its positions. */
static void
test_order_and_bound(void **state)
{
	static struct outq q;
	static struct rte_mbuf fake[NET_OUTQ + 1];
	struct rte_mbuf *out[NET_OUTQ];
	uint32_t next_in = 0, next_out = 0;

	(void)state;
	q.head = q.tail = UINT32_MAX - 100;
	assert_int_equal(outq_take(&q, out, NET_OUTQ), 0);
	for (uint32_t turn = 1; turn < 200; turn++) {
		uint32_t n;

		for (uint32_t i = 0; i < turn * 7 % 40; i++)
			if (outq_space(&q)) {
				assert_true(outq_put(&q, &fake[next_in++ % (NET_OUTQ + 1)]));
			}
		n = outq_take(&q, out, turn % 13);
		for (uint32_t i = 0; i < n; i++)
			assert_ptr_equal(out[i], &fake[next_out++ % (NET_OUTQ + 1)]);
		assert_int_equal(outq_count(&q), next_in - next_out);
	}
	while (outq_space(&q))
		assert_true(outq_put(&q, &fake[next_in++ % (NET_OUTQ + 1)]));
	assert_int_equal(outq_count(&q), NET_OUTQ);
	assert_false(outq_put(&q, &fake[0]));
	assert_int_equal(outq_take(&q, out, NET_OUTQ), NET_OUTQ);
	assert_ptr_equal(out[0], &fake[next_out % (NET_OUTQ + 1)]);
	assert_int_equal(outq_count(&q), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order_and_bound)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
