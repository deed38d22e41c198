/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc32c_vpclmul.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "sum.h"

/* All four, over n octets at odd places of exact buffers, against the references. */
static void
assert_all(uint32_t state, size_t n, size_t align)
{
	uint8_t *src = malloc(n + align), *dst = malloc(n + 1);
	uint64_t sum, copy_sum;
	uint32_t want;

	assert_true(src && dst);
	for (size_t i = 0; i < n; i++)
		src[align + i] = (uint8_t)(i * i + i / 7 + n);
	want = iw_crc32c_scalar(state, src + align, n);
	assert_int_equal(iw_crc32c_vpclmul(state, src + align, n), want);
	assert_int_equal(iw_crc32c_vpclmul_sum(state, src + align, n, &sum), want);
	assert_int_equal(iw_sum_fold(sum), iw_sum_fold(iw_sum_scalar(src + align, n)));
	assert_int_equal(iw_crc32c_vpclmul_copy(state, dst + 1, src + align, n), want);
	assert_memory_equal(dst + 1, src + align, n);
	memset(dst, 0, n + 1);
	assert_int_equal(iw_crc32c_vpclmul_copy_sum(state, dst + 1, src + align, n, &copy_sum), want);
	assert_memory_equal(dst + 1, src + align, n);
	assert_int_equal(iw_sum_fold(copy_sum), iw_sum_fold(sum));
	free(src);
	free(dst);
}

/* Every number of steps in a block and every rest behind them, with several states. */
static void
test_against_the_reference(void **state)
{
	(void)state;
	if (!iw_crc32c_vpclmul_usable())
		skip();
	for (size_t n = IW_CRC32C_VPCLMUL_MIN; n < 2600; n++)
		assert_all((uint32_t)n * 2654435761u, n, n % 32);
	for (size_t n = 2600; n < 70000; n = n * 9 / 8 + 1)
		assert_all(IW_CRC32C_INIT, n, n % 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_reference)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
