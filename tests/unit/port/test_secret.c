/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "secret.h"

/* The system may give no more than 256 octets at a time: what is longer is filled all the same, and no further. */
static void
test_filled_to_the_end(void **state)
{
	static uint8_t a[4097], b[4097];
	static const size_t lens[] = {0, 1, 32, 256, 257, 4096};

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		uint32_t zeros = 0;

		memset(a, 0, sizeof(a));
		assert_int_equal(secret_fill(a, lens[i]), 0);
		assert_int_equal(a[lens[i]], 0);
		for (size_t k = 0; k < lens[i]; k++)
			zeros += a[k] == 0;
		/* One in 256 is expected; an eighth never comes. */
		assert_true(zeros <= 1 + lens[i] / 8);
	}
	assert_int_equal(secret_fill(a, 32), 0);
	assert_int_equal(secret_fill(b, 32), 0);
	assert_memory_not_equal(a, b, 32);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filled_to_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
