/* SPDX-License-Identifier: BSD-3-Clause */
#include "cksum.h"

#include "net_test.h"

static struct rte_mempool *pool;

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("cksum", TEST_MAX, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

/* RFC 1071 §3: the numerical example. */
static void
test_rfc1071_example(void **state)
{
	static const uint8_t p[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(iw_cksum_fold(iw_cksum_add(0, 0, p, 8)), 0xddf2);
	assert_int_equal(iw_cksum_finish(iw_cksum_add(0, 0, p, 8)), 0x220d);
	/* odd pieces: 00 | 01 f2 03 | f4 f5 f6 f7 */
	assert_int_equal(iw_cksum_fold(iw_cksum_add(iw_cksum_add(iw_cksum_add(0, 0, p, 1), 1, p + 1, 3), 4, p + 4, 4)),
			 0xddf2);
}

static void
fill(uint8_t *p, uint32_t len, uint32_t seed)
{
	srand(seed);
	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)rand();
}

/* RFC 1071 §2 (A), (B): every way to cut 41 octets into three pieces gives the same sum. */
static void
test_any_pieces(void **state)
{
	uint8_t p[41];
	uint16_t want;

	(void)state;
	fill(p, sizeof(p), 1);
	want = slow_sum(p, sizeof(p));
	for (uint32_t a = 0; a <= sizeof(p); a++)
		for (uint32_t b = a; b <= sizeof(p); b++) {
			uint32_t sum = iw_cksum_add(0, 0, p, a);

			sum = iw_cksum_add(sum, a, p + a, b - a);
			sum = iw_cksum_add(sum, b, p + b, sizeof(p) - b);
			assert_int_equal(iw_cksum_fold(sum), want);
		}
}

static void
test_every_length(void **state)
{
	uint8_t p[600];

	(void)state;
	fill(p, sizeof(p), 2);
	for (uint32_t len = 0; len <= sizeof(p); len++)
		assert_int_equal(iw_cksum_fold(iw_cksum_add(0, 0, p, len)), slow_sum(p, len));
}

/* The most that an IP packet can hold, all ones: no carry is lost. */
static void
test_no_carry_is_lost(void **state)
{
	uint8_t *p = malloc(65535);
	uint32_t sum = 0;

	(void)state;
	memset(p, 0xff, 65535);
	assert_int_equal(iw_cksum_fold(iw_cksum_add(0, 0, p, 65535)), slow_sum(p, 65535));
	for (uint32_t i = 0; i < 65535; i++)
		sum = iw_cksum_add(sum, i, p + i, 1);
	assert_int_equal(iw_cksum_fold(sum), slow_sum(p, 65535));
	free(p);
}

/* A payload sum made on its own is put behind a header of even or odd length. */
static void
test_join(void **state)
{
	uint8_t p[100];

	(void)state;
	fill(p, sizeof(p), 3);
	for (uint32_t at = 0; at <= 41; at++) {
		uint32_t kept = iw_cksum_add(0, 0, p + at, 57);

		assert_int_equal(iw_cksum_fold(iw_cksum_join(iw_cksum_add(0, 0, p, at), at, kept)),
				 slow_sum(p, at + 57));
	}
}

static void
test_mbuf_and_views(void **state)
{
	uint8_t p[60];

	(void)state;
	fill(p, sizeof(p), 4);
	for (uint32_t cut = 0; cut <= sizeof(p); cut++) {
		struct rte_mbuf *m = packet_cut(pool, p, sizeof(p), cut);
		struct iw_view v[2] = {{.m = m, .off = 0, .len = cut}, {.m = m->next, .off = 0, .len = 60 - cut}};

		for (uint32_t from = 0; from < 4; from++)
			assert_int_equal(iw_cksum_fold(iw_cksum_add_mbuf(0, m, from, 51)), slow_sum(p + from, 51));
		/* behind the end there is nothing */
		assert_int_equal(iw_cksum_fold(iw_cksum_add_mbuf(0, m, 55, 1000)), slow_sum(p + 55, 5));
		assert_int_equal(iw_cksum_fold(iw_cksum_add_views(0, 0, v, 2)), slow_sum(p, sizeof(p)));
		rte_pktmbuf_free(m);
	}
}

/* RFC 9293 §3.1: source, destination, zero, protocol, length. */
static void
test_pseudo4(void **state)
{
	struct bytes want = hex("c0a80001 0afffe02 0006 012d");

	(void)state;
	assert_int_equal(iw_cksum_fold(iw_cksum_pseudo4(0xc0a80001, 0x0afffe02, 6, 0x12d)), slow_sum(want.b, want.len));
}

/* RFC 8200 §8.1: source, destination, 32-bit length, three zeros, next header. */
static void
test_pseudo6(void **state)
{
	struct bytes want = hex("fe80000000000000 020304fffe050607 20010db8000000000000000000000001 00012345 00000006");

	(void)state;
	assert_int_equal(iw_cksum_fold(iw_cksum_pseudo6(want.b, want.b + 16, 6, 0x12345)), slow_sum(want.b, want.len));
}

static void
test_good(void **state)
{
	uint8_t p[40];

	(void)state;
	fill(p, sizeof(p), 5);
	slow_cksum_put(p, 0, sizeof(p), 16);
	assert_true(iw_cksum_good(iw_cksum_add(0, 0, p, sizeof(p))));
	for (uint32_t bit = 0; bit < 8 * sizeof(p); bit++) {
		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(iw_cksum_good(iw_cksum_add(0, 0, p, sizeof(p))));
		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc1071_example),
		cmocka_unit_test(test_any_pieces),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_no_carry_is_lost),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_mbuf_and_views),
		cmocka_unit_test(test_pseudo4),
		cmocka_unit_test(test_pseudo6),
		cmocka_unit_test(test_good),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
