/* SPDX-License-Identifier: BSD-3-Clause */
#include "len.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
test_fits(void **state)
{
	static const struct {
		uint64_t off, len, size;
		bool fits;
	} rows[] = {
		{0, 0, 0, true},
		{0, 1, 0, false},
		{1, 0, 0, false},
		{3, 4, 7, true},
		{3, 5, 7, false},
		{7, 0, 7, true},
		{8, 0, 7, false},
		{UINT64_MAX, 1, 10, false},
		{1, UINT64_MAX, 10, false},
		{UINT64_MAX - 1, 2, UINT64_MAX, false},
		{UINT64_MAX - 1, 1, UINT64_MAX, true},
		{2, UINT64_MAX - 1, UINT64_MAX, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(iw_len_fits(rows[i].off, rows[i].len, rows[i].size), rows[i].fits);
}

/* RFC 5042: base and bound are checked without wrapping; the last octet may be the last of the space. */
static void
test_wraps(void **state)
{
	(void)state;
	assert_false(iw_len_wraps(0, 0));
	assert_false(iw_len_wraps(UINT64_MAX, 0));
	assert_false(iw_len_wraps(UINT64_MAX, 1));
	assert_true(iw_len_wraps(UINT64_MAX, 2));
	assert_false(iw_len_wraps(0, UINT64_MAX));
	assert_false(iw_len_wraps(1, UINT64_MAX));
	assert_true(iw_len_wraps(2, UINT64_MAX));
	assert_false(iw_len_wraps(UINT64_C(1) << 63, UINT64_C(1) << 63));
	assert_true(iw_len_wraps((UINT64_C(1) << 63) + 1, UINT64_C(1) << 63));
}

static void
test_min_and_max_are_unsigned(void **state)
{
	(void)state;
	assert_int_equal(iw_len_min(1, 0xffffffff), 1);
	assert_int_equal(iw_len_min(0xffffffff, 1), 1);
	assert_int_equal(iw_len_max(1, 0xffffffff), 0xffffffff);
	assert_int_equal(iw_len_max(0x80000000, 0x7fffffff), 0x80000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_min_and_max_are_unsigned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
