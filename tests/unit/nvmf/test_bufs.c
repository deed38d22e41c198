/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bufs.h"

static void
test_take_and_give(void **state)
{
	static const struct {
		uint32_t len;
		int chunks;
		size_t last; /* octets of the last element */
	} rows[] = {{1, 1, 1},
		    {BUFS_CHUNK, 1, BUFS_CHUNK},
		    {BUFS_CHUNK + 1, 2, 1},
		    {BUFS_CHUNK * BUFS_MAX, BUFS_MAX, BUFS_CHUNK}};
	struct iovec iov[BUFS_MAX];
	struct bufs b;

	(void)state;
	assert_true(bufs_open(&b, BUFS_CHUNK * BUFS_MAX + 5));
	assert_int_equal(b.num, BUFS_MAX);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t sum = 0;

		assert_int_equal(bufs_take(&b, rows[i].len, iov), rows[i].chunks);
		assert_int_equal(b.num_free, b.num - (uint32_t)rows[i].chunks);
		for (int k = 0; k < rows[i].chunks; k++) {
			sum += iov[k].iov_len;
			memset(iov[k].iov_base, k + 1, iov[k].iov_len); /* it is ours, and nobody else's */
		}
		for (int k = 0; k < rows[i].chunks; k++)
			assert_int_equal(*(uint8_t *)iov[k].iov_base, k + 1);
		assert_int_equal(sum, rows[i].len);
		assert_int_equal(iov[rows[i].chunks - 1].iov_len, rows[i].last);
		bufs_give(&b, iov, rows[i].chunks);
		assert_int_equal(b.num_free, b.num);
	}
	bufs_close(&b);
}

/* All or nothing; what came back last goes out first. */
static void
test_not_enough(void **state)
{
	struct iovec a[BUFS_MAX], c[BUFS_MAX];
	struct bufs b;

	(void)state;
	assert_true(bufs_open(&b, 4 * BUFS_CHUNK));
	assert_int_equal(bufs_take(&b, 3 * BUFS_CHUNK, a), 3);
	assert_int_equal(bufs_take(&b, 2 * BUFS_CHUNK, c), 0);
	assert_int_equal(b.num_free, 1);
	bufs_give(&b, a, 3);
	assert_int_equal(bufs_take(&b, 10, c), 1);
	assert_ptr_equal(c[0].iov_base, a[0].iov_base);
	bufs_give(&b, c, 1);
	bufs_close(&b);
}

/* Sixteen parts of 4 KiB in as many chunks meet in no set of a cache of which a way is 64 KiB; each is in a page of its
 * chunk, as direct I/O wants it. */
static void
test_small_parts_are_spread(void **state)
{
	struct iovec iov[16];
	uint32_t seen = 0;
	struct bufs b;

	(void)state;
	assert_true(bufs_open(&b, 16 * BUFS_CHUNK));
	for (int i = 0; i < 16; i++) {
		size_t at;

		assert_int_equal(bufs_take(&b, BUFS_PAGE, &iov[i]), 1);
		at = (size_t)((uint8_t *)iov[i].iov_base - b.base) % BUFS_CHUNK;
		assert_int_equal(at % BUFS_PAGE, 0);
		seen |= 1u << at / BUFS_PAGE;
	}
	assert_int_equal(seen, 0xffff);
	for (int i = 0; i < 16; i++)
		bufs_give(&b, &iov[i], 1);
	bufs_close(&b);
}

static void
test_zeroes_are_nobodys(void **state)
{
	struct iovec iov[BUFS_MAX];
	struct bufs b;

	(void)state;
	assert_true(bufs_open(&b, 2 * BUFS_CHUNK));
	assert_int_equal(bufs_take(&b, 2 * BUFS_CHUNK, iov), 2);
	for (int i = 0; i < 2; i++)
		memset(iov[i].iov_base, 0xff, BUFS_CHUNK);
	for (uint32_t i = 0; i < BUFS_CHUNK; i++)
		assert_int_equal(b.zeroes[i], 0);
	assert_true(b.zeroes >= b.base && b.zeroes + BUFS_CHUNK <= b.base + b.len); /* registered with the rest */
	bufs_give(&b, iov, 2);
	bufs_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_and_give),
		cmocka_unit_test(test_not_enough),
		cmocka_unit_test(test_small_parts_are_spread),
		cmocka_unit_test(test_zeroes_are_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
