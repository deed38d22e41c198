/* SPDX-License-Identifier: BSD-3-Clause */
#include "seq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* RFC 1982 §3.2 with SERIAL_BITS 32. */
static void
test_order_across_the_wrap(void **state)
{
	static const struct {
		uint32_t a, b;
		int sign; /* of a - b */
	} rows[] = {
		{0, 0, 0},
		{0, 1, -1},
		{0, 0x7fffffff, -1},
		{0xffffffff, 0, -1},
		{0xffffff00, 0x100, -1},
		{0x7fffffff, 0x80000000, -1},
		{0x80000001, 0x80000000, 1},
		{0x100, 0xffffff00, 1},
		{0, 0x80000001, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t a = rows[i].a, b = rows[i].b;
		int s = rows[i].sign;

		assert_int_equal(iw_seq_lt(a, b), s < 0);
		assert_int_equal(iw_seq_leq(a, b), s <= 0);
		assert_int_equal(iw_seq_gt(a, b), s > 0);
		assert_int_equal(iw_seq_geq(a, b), s >= 0);
		assert_int_equal(iw_seq_max(a, b), s >= 0 ? a : b);
		assert_int_equal(iw_seq_min(a, b), s >= 0 ? b : a);
	}
}

static void
test_diff_is_signed(void **state)
{
	(void)state;
	assert_int_equal(iw_seq_diff(5, 3), 2);
	assert_int_equal(iw_seq_diff(3, 5), -2);
	assert_int_equal(iw_seq_diff(1, 0xffffffff), 2);
	assert_int_equal(iw_seq_diff(0xffffffff, 1), -2);
}

static void
test_within_is_half_open(void **state)
{
	(void)state;
	assert_true(iw_seq_within(10, 10, 1));
	assert_false(iw_seq_within(11, 10, 1));
	assert_false(iw_seq_within(9, 10, 5));
	assert_false(iw_seq_within(10, 10, 0));
	assert_true(iw_seq_within(3, 0xfffffffe, 6));
	assert_false(iw_seq_within(4, 0xfffffffe, 6));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_across_the_wrap),
		cmocka_unit_test(test_diff_is_signed),
		cmocka_unit_test(test_within_is_half_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
