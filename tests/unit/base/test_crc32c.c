/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c_sse42.h"
#include "sum.h"

#define LONGEST 9000
#define ALIGNMENTS 32
static uint8_t data[LONGEST + 64], dst[LONGEST + 1];

static int
fill(void **state)
{
	uint32_t x = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (uint8_t)(x >> 24);
	}
	return 0;
}

/* By the definition: the reversed polynomial of RFC 3720 §12.1, one bit at a time. */
static uint32_t
crc_bitwise(uint32_t state, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		state ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			state = state >> 1 ^ (state & 1 ? 0x82f63b78 : 0);
	}
	return state;
}

/* RFC 3720 appendix B.4 and the check value of the CRC catalogues. */
static void
test_known_values(void **state)
{
	uint8_t up[32], down[32], zero[32] = {0}, ones[32];
	const struct {
		const void *p;
		size_t n;
		uint32_t crc;
	} rows[] = {
		{"", 0, 0},
		{"123456789", 9, 0xe3069283},
		{zero, 32, 0x8a9136aa},
		{ones, 32, 0x62a8ab43},
		{up, 32, 0x46dd794e},
		{down, 32, 0x113fdb5c},
		{"123456789\x83\x92\x06\xe3", 13, IW_CRC32C_SEALED},
	};

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	for (uint8_t i = 0; i < 32; i++) {
		up[i] = i;
		down[i] = (uint8_t)(31 - i);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t init = IW_CRC32C_INIT;

		assert_int_equal(iw_crc32c_final(iw_crc32c(init, rows[i].p, rows[i].n)), rows[i].crc);
		assert_int_equal(iw_crc32c_final(iw_crc32c_scalar(init, rows[i].p, rows[i].n)), rows[i].crc);
	}
}

static void
test_scalar_is_the_definition(void **state)
{
	(void)state;
	for (size_t n = 0; n < 600; n++)
		assert_int_equal(iw_crc32c_scalar((uint32_t)n * 77777, data, n),
				 crc_bitwise((uint32_t)n * 77777, data, n));
}

/* All ways agree with the reference about n octets with that CRC, from an alignment to another. */
static void
assert_all_ways(const uint8_t *src, size_t n, uint32_t init, uint32_t want)
{
	uint16_t want_sum = iw_sum_fold(iw_sum_scalar(src, n));
	uint64_t sum = 1;

	dst[n] = 0x5a;
	assert_int_equal(iw_crc32c(init, src, n), want);
	assert_int_equal(iw_crc32c_sum(init, src, n, &sum), want);
	assert_int_equal(iw_sum_fold(sum), want_sum);
	assert_int_equal(iw_crc32c_copy(init, dst, src, n), want);
	assert_memory_equal(dst, src, n);
	memset(dst, 0, n);
	assert_int_equal(iw_crc32c_copy_sum(init, dst, src, n, &sum), want);
	assert_memory_equal(dst, src, n);
	assert_int_equal(iw_sum_fold(sum), want_sum);
	assert_int_equal(dst[n], 0x5a);
	assert_int_equal(iw_crc32c_short(init, src, n), want);
	if (iw_crc32c_sse42_usable())
		assert_int_equal(iw_crc32c_sse42(init, src, n), want);
}

/* Every length that a packet can have.  The alignment goes round; all of them for every length when IW_TEST_LONG is
 * set, which takes minutes. */
static void
test_lengths_and_alignments(void **state)
{
	size_t step = getenv("IW_TEST_LONG") ? 1 : ALIGNMENTS;

	(void)state;
	for (size_t align = 0; align < ALIGNMENTS; align++) {
		uint32_t want = IW_CRC32C_INIT;

		for (size_t n = 0; n <= LONGEST; n++) {
			if (n % step == align % step || n <= 320)
				assert_all_ways(data + align, n, IW_CRC32C_INIT, want);
			want = iw_crc32c_scalar(want, data + align + n, 1);
		}
	}
}

/* Around where one way takes over from another, in buffers that end there: a sanitizer sees one octet too many. */
static void
test_exact_buffers(void **state)
{
	static const size_t around[] = {0, 8, 32, 64, 96, 160, 192, 256, 320, 768, 1024, 1120, 2240, 4096, 4480, 9000};

	(void)state;
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		for (size_t n = around[i] < 3 ? 0 : around[i] - 3; n < around[i] + 3; n++) {
			uint8_t *src = malloc(n), *to = malloc(n);
			uint32_t want, init = (uint32_t)n * 2654435761u;
			uint64_t sum;

			assert_true(n == 0 || (src && to));
			for (size_t k = 0; k < n; k++)
				src[k] = (uint8_t)(k * k + k / 7 + n);
			want = iw_crc32c_scalar(init, src, n);
			assert_int_equal(iw_crc32c(init, src, n), want);
			assert_int_equal(iw_crc32c_sum(init, src, n, &sum), want);
			assert_int_equal(iw_crc32c_copy(init, to, src, n), want);
			assert_int_equal(iw_crc32c_copy_sum(init, to, src, n, &sum), want);
			free(src);
			free(to);
		}
}

/* SGEs and markers cut anywhere: every cut into two pieces gives the whole's value. */
static void
test_cuts(void **state)
{
	static const size_t lengths[] = {1, 7, 64, 255, 256, 257, 1460, LONGEST};
	uint8_t *copy = malloc(LONGEST);

	(void)state;
	assert_non_null(copy);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t n = lengths[i], step = n > 300 ? 37 : 1;
		uint32_t want = iw_crc32c_scalar(IW_CRC32C_INIT, data, n);

		for (size_t cut = 0; cut <= n; cut += step) {
			uint32_t s = iw_crc32c(IW_CRC32C_INIT, data, cut);

			assert_int_equal(iw_crc32c(s, data + cut, n - cut), want);
			s = iw_crc32c_copy(IW_CRC32C_INIT, copy, data, cut);
			assert_int_equal(iw_crc32c_copy(s, copy + cut, data + cut, n - cut), want);
			assert_memory_equal(copy, data, n);
		}
	}
	free(copy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_scalar_is_the_definition),
		cmocka_unit_test(test_lengths_and_alignments),
		cmocka_unit_test(test_exact_buffers),
		cmocka_unit_test(test_cuts),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
