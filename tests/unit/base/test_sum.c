/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "sum_avx2.h"

#define LONGEST 9000

/* By the definition (RFC 1071 §1), a word of two octets at a time; folded, in the order of memory. */
static uint16_t
by_definition(const uint8_t *p, size_t n)
{
	uint32_t sum = 0;
	uint8_t word[2];
	uint16_t folded;

	for (size_t i = 0; i < n; i += 2) {
		sum += (uint32_t)p[i] << 8 | (i + 1 < n ? p[i + 1] : 0);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	word[0] = (uint8_t)(sum >> 8);
	word[1] = (uint8_t)sum;
	memcpy(&folded, word, sizeof(folded));
	return folded;
}

static void
fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * i + i / 3);
}

/* RFC 1071 §3. */
static void
test_example(void **state)
{
	static const uint8_t p[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(__builtin_bswap16(iw_sum_fold(iw_sum(p, sizeof(p)))), 0xddf2);
	assert_int_equal(iw_sum_fold(iw_sum(p, 0)), 0);
}

/* All lengths that a packet has, in buffers of exactly that size and at every alignment of a vector. */
static void
test_every_length(void **state)
{
	(void)state;
	for (size_t n = 0; n <= LONGEST; n += 1 + (n > 600) * 7) {
		size_t align = n % 33;
		uint8_t *p = malloc(align + n + 1);

		assert_non_null(p);
		fill(p, align + n);
		assert_int_equal(iw_sum_fold(iw_sum(p + align, n)), by_definition(p + align, n));
		assert_int_equal(iw_sum_fold(iw_sum_scalar(p + align, n)), by_definition(p + align, n));
		if (iw_sum_avx2_usable())
			assert_int_equal(iw_sum(p + align, n), iw_sum_scalar(p + align, n));
		free(p);
	}
}

/* All ones: the most that is ever added; no carry is lost. */
static void
test_carries(void **state)
{
	uint8_t *p = malloc(1 << 20);

	(void)state;
	assert_non_null(p);
	memset(p, 0xff, 1 << 20);
	assert_int_equal(iw_sum(p, 1 << 20), UINT64_C(0xffffffff) << 18);
	assert_int_equal(iw_sum_fold(iw_sum(p, 1 << 20)), 0xffff);
	free(p);
}

/* RFC 1071 §2 (B): a piece that begins behind an odd number of octets. */
static void
test_join(void **state)
{
	uint8_t p[600];

	(void)state;
	fill(p, sizeof(p));
	for (size_t cut = 0; cut <= sizeof(p); cut++) {
		uint64_t sum = iw_sum_join(iw_sum(p, cut), cut, iw_sum(p + cut, sizeof(p) - cut));

		assert_int_equal(iw_sum_fold(sum), by_definition(p, sizeof(p)));
	}
}

static void
test_fold(void **state)
{
	static const struct {
		uint64_t sum;
		uint16_t folded;
	} rows[] = {{0, 0},
		    {0xffff, 0xffff},
		    {0x10000, 1},
		    {0x1ffff, 1},
		    {UINT32_MAX, 0xffff},
		    {UINT64_MAX, 0xffff},
		    {UINT64_C(0xffffffff00000000), 0xffff},
		    {UINT64_C(0x0001000200030004), 10},
		    {UINT64_C(0xfffeffffffffffff), 0xfffe}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(iw_sum_fold(rows[i].sum), rows[i].folded);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example), cmocka_unit_test(test_every_length), cmocka_unit_test(test_carries),
		cmocka_unit_test(test_join),    cmocka_unit_test(test_fold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
