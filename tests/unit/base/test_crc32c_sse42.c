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

/* Against the reference, at each length in a buffer of exactly that length. */
static void
test_against_the_reference(void **state)
{
	(void)state;
	if (!iw_crc32c_sse42_usable())
		skip();
	for (size_t n = 1; n < 300; n++) {
		uint8_t *p = malloc(n);

		assert_non_null(p);
		for (size_t i = 0; i < n; i++)
			p[i] = (uint8_t)(i * 7 + n);
		for (size_t from = 0; from < 9 && from < n; from++)
			assert_int_equal(iw_crc32c_sse42((uint32_t)n, p + from, n - from),
					 iw_crc32c_scalar((uint32_t)n, p + from, n - from));
		free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_reference)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
