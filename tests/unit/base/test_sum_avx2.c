/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum_avx2.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "sum.h"

/* Every length around the vectors, at every alignment of one, in buffers that end with it. */
static void
test_against_the_reference(void **state)
{
	(void)state;
	if (!iw_sum_avx2_usable())
		skip();
	for (size_t n = 0; n < 1000; n += IW_SUM_AVX2_VECTOR)
		for (size_t align = 0; align < 32; align++) {
			uint8_t *p = malloc(align + n + 1);

			assert_non_null(p);
			for (size_t i = 0; i < n; i++)
				p[align + i + 1] = (uint8_t)(0xff - i * align);
			assert_int_equal(iw_sum_avx2(p + align + 1, n), iw_sum_scalar(p + align + 1, n));
			free(p);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_reference)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
