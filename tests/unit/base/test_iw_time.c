/* SPDX-License-Identifier: BSD-3-Clause */
#include "iw_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
test_after_stops_at_never(void **state)
{
	(void)state;
	assert_int_equal(iw_time_after(5, 7), 12);
	assert_int_equal(iw_time_after(5, IW_NEVER), IW_NEVER);
	assert_int_equal(iw_time_after(IW_NEVER - 1, 2), IW_NEVER);
	assert_int_equal(iw_time_after(IW_NEVER - 3, 2), IW_NEVER - 1);
	assert_int_equal(iw_time_after(IW_NEVER, 0), IW_NEVER);
}

static void
test_units_and_min(void **state)
{
	(void)state;
	assert_int_equal(IW_SEC, 1000 * IW_MS);
	assert_int_equal(IW_MS, 1000 * IW_US);
	assert_int_equal(IW_US, 1000);
	assert_int_equal(iw_time_min(IW_NEVER, 3), 3);
	assert_int_equal(iw_time_min(3, IW_NEVER), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_after_stops_at_never),
		cmocka_unit_test(test_units_and_min),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
