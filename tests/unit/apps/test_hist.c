/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hist.h"

#define MANY 20000

static struct hist h, other;

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Percentiles of values over nine powers of ten against the same by sorting: never less, and 1.6 % more at most. */
static void
test_against_sorting(void **state)
{
	static const double shares[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0};
	static uint64_t v[MANY];
	uint64_t seed = 1;

	(void)state;
	hist_init(&h);
	for (int i = 0; i < MANY; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		v[i] = (seed >> 33) >> (seed >> 8) % 31;
		hist_add(&h, v[i]);
	}
	qsort(v, MANY, sizeof(v[0]), by_value);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		uint64_t want = v[(size_t)(shares[i] * MANY) - 1], have = hist_at(&h, shares[i]);

		assert_true(have >= want);
		assert_true((double)have <= (double)want * 1.016 + 1);
	}
	assert_int_equal(h.min, v[0]);
	assert_int_equal(h.max, v[MANY - 1]);
}

static void
test_edges(void **state)
{
	(void)state;
	hist_init(&h);
	assert_int_equal(hist_at(&h, 0.5), 0);
	hist_add(&h, 0);
	assert_int_equal(hist_at(&h, 0.0), 0);
	assert_int_equal(hist_at(&h, 1.0), 0);
	hist_add(&h, UINT64_MAX); /* beyond what it can tell apart: counted all the same */
	assert_int_equal(h.samples, 2);
	assert_int_equal(h.max, UINT64_MAX);
}

static void
test_merge(void **state)
{
	(void)state;
	hist_init(&h);
	hist_init(&other);
	for (uint64_t i = 1; i <= 30; i++)
		hist_add(i % 3 ? &h : &other, i);
	hist_merge(&h, &other);
	assert_int_equal(h.samples, 30);
	assert_int_equal(hist_at(&h, 0.5), 15);
	assert_int_equal(h.min, 1);
	assert_int_equal(h.max, 30);
	assert_true(hist_mean(&h) > 15.4 && hist_mean(&h) < 15.6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_sorting),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
