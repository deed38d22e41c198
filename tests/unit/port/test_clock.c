/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "clock.h"

#define PER_CYCLE (UINT64_C(1) << 32) /* 1 GHz: a nanosecond for each cycle */

static void
test_never_backwards(void **state)
{
	struct clock c = {.base = rte_rdtsc(), .mult = PER_CYCLE};
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t now = clock_now(&c);

		assert_true(now >= last);
		last = now;
	}
	assert_true(last > 100000);
}

/* Time 0 means "never was"; a core whose TSC lags must not see centuries. */
static void
test_never_zero_and_never_huge(void **state)
{
	struct clock ahead = {.base = rte_rdtsc() + (UINT64_C(1) << 40), .mult = PER_CYCLE};
	struct clock now = {.base = rte_rdtsc(), .mult = 1};

	(void)state;
	assert_int_equal(clock_now(&ahead), 1);
	assert_true(clock_now(&now) >= 1);
}

/* Cycles times the factor need more than 64 bits after some seconds. */
static void
test_long_after(void **state)
{
	struct clock c = {.base = 0, .mult = UINT64_C(1) << 34};
	uint64_t before = rte_rdtsc(), now = clock_now(&c), after = rte_rdtsc();

	(void)state;
	assert_true(before >> 30 != 0);
	assert_true(now >= before << 2 && now <= (after << 2) + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_backwards),
		cmocka_unit_test(test_never_zero_and_never_huge),
		cmocka_unit_test(test_long_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
