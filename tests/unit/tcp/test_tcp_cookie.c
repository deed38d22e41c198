/* SPDX-License-Identifier: BSD-3-Clause */
/* SYN cookies (RFC 4987 §3.6; spec T24). */
#include "tcp_cookie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "iw_addr.h"
#include "seq.h"

#define NOW (1000 * TCP_COOKIE_SLOT_NS + IW_SEC)

static const struct iw_env env = {.secret = {1, 2, 3}};

static struct tcp_tuple
tuple(uint32_t n)
{
	struct iw_addr l = iw_addr_from_v4(0x0a000001u, 4420), r = iw_addr_from_v4(0x0a000002u, (uint16_t)(1024 + n));

	return tcp_tuple_of(&l, &r);
}

static struct tcp_seg
answer(const struct tcp_seg *syn, uint32_t isn, uint32_t tsval)
{
	return (struct tcp_seg){.flags = TCP_ACK,
				.seq = syn->seq + 1,
				.ack = isn + 1,
				.wnd = 500,
				.has_ts = syn->has_ts,
				.tsval = syn->tsval + 3,
				.tsecr = tsval};
}

/* Every combination of options, at the edges of sequence number and clock. */
static void
test_T24_round_trip(void **state)
{
	static const uint32_t edges[] = {0, 1, 63, 64, 0x7fffffff, 0xffffffff};
	static const struct {
		uint16_t sent, kept;
	} mss[] = {{88, 88},     {535, 88},    {536, 536},   {1219, 536},  {1220, 1220},  {1460, 1460},
		   {1461, 1460}, {8939, 4036}, {8940, 8940}, {8960, 8940}, {65535, 8940}, {0, 88}};

	for (uint32_t i = 0; i < 6 * 16 * 8 * 12; i++) {
		struct tcp_tuple t = tuple(i);
		struct tcp_seg syn = {.flags = TCP_SYN,
				      .seq = edges[i % 6],
				      .has_ws = i / 6 % 16 != 15,
				      .ws = (uint8_t)(i / 6 % 16 % 15),
				      .has_ts = (i / 96 & 1) != 0,
				      .sack_perm = (i / 96 & 2) != 0,
				      .has_mss = true,
				      .mss = mss[i / 768].sent,
				      .tsval = 77};
		struct tcp_seg ack, got;
		uint32_t clock = edges[(i / 5) % 6], tsval = clock, isn;

		syn.flags |= i / 96 & 4 ? TCP_ECE | TCP_CWR : 0;
		isn = tcp_cookie_make(&env, &t, &syn, NOW, &tsval);
		assert_true(iw_seq_leq(tsval, clock) && clock - tsval < 64); /* spec T7: never ahead of the clock */
		ack = answer(&syn, isn, tsval);
		assert_true(tcp_cookie_take(&env, &t, &ack, NOW + IW_SEC, &got));
		assert_int_equal(got.seq, syn.seq);
		assert_int_equal(got.mss, mss[i / 768].kept);
		assert_int_equal(got.has_ts, syn.has_ts);
		assert_int_equal(got.sack_perm, syn.has_ts && syn.sack_perm);
		assert_int_equal(got.has_ws, syn.has_ts && syn.has_ws);
		assert_int_equal(got.ws, got.has_ws ? syn.ws : 0);
		assert_int_equal(got.flags, syn.has_ts ? syn.flags : TCP_SYN);
		assert_int_equal(got.tsval, ack.tsval);
	}
}

static void
test_without_mss(void **state)
{
	struct iw_addr v6[2] = {{.ip = {0xfd, [15] = 1}, .port = 4420}, {.ip = {0xfd, [15] = 2}, .port = 1024}};
	struct tcp_tuple t[2] = {tuple(0), tcp_tuple_of(&v6[0], &v6[1])};
	static const uint16_t mss[2] = {536, 1220}; /* RFC 9293 MUST-15 */

	for (uint32_t i = 0; i < 2; i++) {
		struct tcp_seg syn = {.flags = TCP_SYN, .seq = 5}, ack, got;
		uint32_t tsval = 0, isn = tcp_cookie_make(&env, &t[i], &syn, NOW, &tsval);

		ack = answer(&syn, isn, 0);
		assert_true(tcp_cookie_take(&env, &t[i], &ack, NOW, &got));
		assert_int_equal(got.mss, mss[i]);
	}
}

/* Good in its slot and the next one. */
static void
test_age(void **state)
{
	struct tcp_tuple t = tuple(0);
	struct tcp_seg syn = {.flags = TCP_SYN, .seq = 5, .has_mss = true, .mss = 1460}, ack, got;

	for (uint64_t slot = 1000; slot < 1002; slot++) {
		uint64_t begin = slot * TCP_COOKIE_SLOT_NS;
		uint32_t tsval = 0, isn = tcp_cookie_make(&env, &t, &syn, begin, &tsval);

		ack = answer(&syn, isn, 0);
		assert_true(tcp_cookie_take(&env, &t, &ack, begin + 2 * TCP_COOKIE_SLOT_NS - 1, &got));
		assert_false(tcp_cookie_take(&env, &t, &ack, begin + 2 * TCP_COOKIE_SLOT_NS, &got));
		assert_false(tcp_cookie_take(&env, &t, &ack, begin + 3 * TCP_COOKIE_SLOT_NS, &got));
	}
}

/* Every bit of what comes back is covered: ISN, IRS, ports, addresses, options, key. */
static void
test_T24_forged(void **state)
{
	struct iw_env other = {.secret = {[20] = 4}};
	struct tcp_tuple t = tuple(0);
	struct tcp_seg syn = {.flags = TCP_SYN, .seq = 5, .has_ts = true, .has_ws = true, .ws = 7}, ack, got;
	uint32_t tsval = 12345, isn = tcp_cookie_make(&env, &t, &syn, NOW, &tsval);

	for (uint32_t bit = 0; bit < 32; bit++) {
		ack = answer(&syn, isn, tsval);
		ack.ack ^= 1u << bit;
		assert_false(tcp_cookie_take(&env, &t, &ack, NOW, &got));
		ack = answer(&syn, isn, tsval);
		ack.seq ^= 1u << bit;
		assert_false(tcp_cookie_take(&env, &t, &ack, NOW, &got));
		ack = answer(&syn, isn, tsval);
		ack.tsecr ^= 1u << bit;
		assert_int_equal(tcp_cookie_take(&env, &t, &ack, NOW, &got), bit >= 6); /* above: our clock only */
	}
	for (uint32_t octet = 0; octet < sizeof(t); octet++) {
		struct tcp_tuple wrong = t;

		((uint8_t *)&wrong)[octet] ^= 1;
		ack = answer(&syn, isn, tsval);
		assert_false(tcp_cookie_take(&env, &wrong, &ack, NOW, &got));
	}
	ack = answer(&syn, isn, tsval);
	assert_false(tcp_cookie_take(&other, &t, &ack, NOW, &got));
	ack.has_ts = false;
	assert_false(tcp_cookie_take(&env, &t, &ack, NOW, &got));
	ack.has_ts = true;
	assert_true(tcp_cookie_take(&env, &t, &ack, NOW, &got));
}

/* Blind guesses: 28 bits of hash stand against them. */
static void
test_T24_guesses(void **state)
{
	struct tcp_tuple t = tuple(3);
	struct tcp_seg ack = {.flags = TCP_ACK, .seq = 6}, got;

	for (uint32_t i = 0; i < 20000; i++) {
		ack.ack = i * 2654435761u;
		assert_false(tcp_cookie_take(&env, &t, &ack, NOW, &got));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T24_round_trip), cmocka_unit_test(test_without_mss), cmocka_unit_test(test_age),
		cmocka_unit_test(test_T24_forged),     cmocka_unit_test(test_T24_guesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
