/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "mbufpool.h"

#define PIECES 5
#define TOTAL 20
static const uint32_t piece_len[PIECES] = {3, 0, 7, 1, 9};

static struct rte_mempool *pool;
static struct iw_view views[PIECES];

/* Octets 0..19 in five pieces (one is empty), each behind other octets of its mbuf. */
static int
make(void **state)
{
	uint8_t next = 0;

	(void)state;
	pool = mbufpool_create("view", 128, 0);
	for (uint32_t i = 0; i < PIECES; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, 64) : NULL;

		if (!p)
			return -1;
		memset(p, 0xee, 64);
		views[i] = (struct iw_view){.m = m, .off = 5 * i, .len = piece_len[i]};
		for (uint32_t k = 0; k < piece_len[i]; k++)
			p[5 * i + k] = next++;
	}
	return next == TOTAL ? 0 : -1;
}

static int
unmake(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < PIECES; i++)
		rte_pktmbuf_free(views[i].m);
	mbufpool_destroy(pool);
	return 0;
}

static void
test_total(void **state)
{
	(void)state;
	assert_int_equal(iw_view_total(views, PIECES), TOTAL);
	assert_int_equal(iw_view_total(views, 0), 0);
	assert_int_equal(*iw_view_data(&views[2]), 3);
}

/* Every cut, also beyond the end: what is there is copied, nothing more is written. */
static void
test_copy_at_every_cut(void **state)
{
	(void)state;
	for (uint32_t off = 0; off <= TOTAL + 2; off++) {
		for (uint32_t len = 0; len <= TOTAL + 2; len++) {
			uint32_t there = off >= TOTAL ? 0 : TOTAL - off, want = len < there ? len : there;
			uint8_t *dst = malloc(len + 1);

			assert_non_null(dst);
			memset(dst, 0xcc, len + 1);
			assert_int_equal(iw_view_copy(views, PIECES, off, dst, len), want);
			for (uint32_t i = 0; i <= len; i++)
				assert_int_equal(dst[i], i < want ? off + i : 0xcc);
			free(dst);
		}
	}
}

/* Pieces that [off, off + len) touches. */
static uint32_t
touched(uint32_t off, uint32_t len)
{
	uint32_t begin = 0, n = 0;

	for (uint32_t i = 0; i < PIECES; begin += piece_len[i++])
		n += piece_len[i] > 0 && begin < off + len && off < begin + piece_len[i];
	return n;
}

static void
test_slice_at_every_cut(void **state)
{
	(void)state;
	for (uint32_t off = 0; off <= TOTAL + 1; off++) {
		for (uint32_t len = 1; len <= TOTAL + 1; len++) {
			bool fits = off + len <= TOTAL;
			uint32_t need = touched(off, len);

			for (uint32_t max = 0; max <= PIECES; max++) {
				struct iw_view out[PIECES + 1];
				uint32_t n = iw_view_slice(views, PIECES, off, len, out, max);
				uint8_t got[TOTAL + 1];

				assert_int_equal(n, fits && need <= max ? need : 0);
				if (n == 0)
					continue;
				assert_int_equal(iw_view_total(out, n), len);
				assert_int_equal(iw_view_copy(out, n, 0, got, sizeof(got)), len);
				for (uint32_t i = 0; i < len; i++)
					assert_int_equal(got[i], off + i);
			}
		}
	}
}

static void
test_slice_of_a_length_that_would_wrap(void **state)
{
	struct iw_view out[PIECES];

	(void)state;
	assert_int_equal(iw_view_slice(views, PIECES, 1, UINT32_MAX, out, PIECES), 0);
	assert_int_equal(iw_view_slice(views, PIECES, UINT32_MAX, 2, out, PIECES), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_copy_at_every_cut),
		cmocka_unit_test(test_slice_at_every_cut),
		cmocka_unit_test(test_slice_of_a_length_that_would_wrap),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
