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

/* Copies n octets from one exact buffer to another and compares with the reference. */
static void
assert_copy(uint32_t state, size_t n)
{
	uint8_t *src = malloc(n), *dst = malloc(n);

	assert_true(src && dst);
	for (size_t i = 0; i < n; i++)
		src[i] = (uint8_t)(i * i + i / 7 + n);
	assert_int_equal(iw_crc32c_vpclmul_copy(state, dst, src, n), iw_crc32c_scalar(state, src, n));
	assert_memory_equal(dst, src, n);
	free(src);
	free(dst);
}

/* Every length around the blocks of 128 and the parts of 32 octets, with several states. */
static void
test_against_the_reference(void **state)
{
	(void)state;
	if (!iw_crc32c_vpclmul_usable())
		skip();
	for (size_t n = IW_CRC32C_VPCLMUL_MIN; n < 700; n++)
		assert_copy((uint32_t)n * 2654435761u, n);
	for (size_t n = 700; n < 70000; n = n * 5 / 4 + 1)
		assert_copy(IW_CRC32C_INIT, n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_reference)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
