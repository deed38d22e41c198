/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum_add.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "sum.h"
#include "sum_avx2.h"

#define VECTORS 5000

/* More carries than the upper halves can show in the lower ones, and values that differ from lane to lane. */
__attribute__((target("avx2"))) static void
test_total(void **state)
{
	static const uint32_t rows[][8] = {
		{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
		{1, 20, 300, 4000, 50000, 600000, 7000000, 0x80000000}};

	(void)state;
	if (!iw_sum_avx2_usable())
		skip();
	for (size_t r = 0; r < 2; r++) {
		struct iw_sum_add s = {_mm256_setzero_si256(), _mm256_setzero_si256()};

		for (size_t i = 0; i < VECTORS; i++)
			iw_sum_add(&s, _mm256_loadu_si256((const __m256i *)(const void *)rows[r]));
		assert_int_equal(iw_sum_add_total(&s), VECTORS * iw_sum_scalar(rows[r], sizeof(rows[r])));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_total)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
