/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc32c_sse42.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"

/* Sums and copies n octets in buffers of exactly that length and compares with the reference. */
static void
assert_same(uint32_t state, size_t n)
{
	uint8_t *src = malloc(n), *dst = malloc(n);
	uint32_t want;

	assert_true(src && dst);
	for (size_t i = 0; i < n; i++)
		src[i] = (uint8_t)(i * i + i / 7 + n);
	want = iw_crc32c_scalar(state, src, n);
	assert_int_equal(iw_crc32c_sse42(state, src, n), want);
	assert_int_equal(iw_crc32c_sse42_copy(state, dst, src, n), want);
	assert_memory_equal(dst, src, n);
	free(src);
	free(dst);
}

/* Every length around the blocks of three lanes (192 and 768 octets), with several states. */
static void
test_against_the_reference(void **state)
{
	(void)state;
	if (!iw_crc32c_sse42_usable())
		skip();
	for (size_t n = 1; n < 1000; n++)
		assert_same((uint32_t)n * 2654435761u, n);
	for (size_t n = 1000; n < 20000; n = n * 5 / 4 + 1)
		assert_same(IW_CRC32C_INIT, n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_reference)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
