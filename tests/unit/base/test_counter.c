/* SPDX-License-Identifier: BSD-3-Clause */
#include "counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST_COUNTERS(X) X(rx_good) X(rx_bad) X(tx)
IW_COUNTERS(test_counters, TEST_COUNTERS);

/* The list makes struct and names in one order, so that values can be walked as an array. */
static void
test_names_and_values_agree(void **state)
{
#define IW_COUNTER_PREFIX "test"
	static const char *const names[] = {TEST_COUNTERS(IW_COUNTER_NAME)};
	struct test_counters c = {.rx_good = 1, .rx_bad = 2, .tx = 3};
	struct iw_counter_list list = {names, (const uint64_t *)&c, sizeof(names) / sizeof(names[0])};

	(void)state;
	assert_int_equal(list.n, sizeof(c) / sizeof(uint64_t));
	assert_string_equal(list.names[0], "test.rx_good");
	assert_string_equal(list.names[1], "test.rx_bad");
	assert_string_equal(list.names[2], "test.tx");
	for (uint32_t i = 0; i < list.n; i++)
		assert_int_equal(list.values[i], i + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_and_values_agree)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
