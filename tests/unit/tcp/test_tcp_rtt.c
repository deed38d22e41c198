/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec T27; RFC 6298 §2, §5; RFC 8985 §6.2 step 1. */
#include "tcp_rtt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
test_T27_before_a_sample(void **state)
{
	struct tcp_rtt r;

	(void)state;
	tcp_rtt_init(&r, 0);
	assert_true(tcp_rtt_rto(&r) == IW_SEC); /* §2.1 */
	assert_false(tcp_rtt_has_sample(&r));
	assert_true(tcp_rtt_min(&r) == IW_NEVER);
}

/* §2.2, §2.3, with numbers done by hand. */
static void
test_T27_smoothing(void **state)
{
	struct tcp_rtt r;

	(void)state;
	tcp_rtt_init(&r, IW_MS);
	tcp_rtt_sample(&r, 100 * IW_MS, 0);
	assert_true(r.srtt_ns == 100 * IW_MS && r.rttvar_ns == 50 * IW_MS);
	assert_true(tcp_rtt_rto(&r) == 300 * IW_MS);
	tcp_rtt_sample(&r, 200 * IW_MS, 0);
	/* RTTVAR = 3/4 * 50 + 1/4 * |100 - 200| with the SRTT before; SRTT = 7/8 * 100 + 1/8 * 200. */
	assert_true(r.rttvar_ns == 62500 * IW_US && r.srtt_ns == 112500 * IW_US);
	assert_true(tcp_rtt_rto(&r) == 362500 * IW_US);
	tcp_rtt_sample(&r, 12500 * IW_US, 0);
	assert_true(r.rttvar_ns == 71875 * IW_US && r.srtt_ns == 100 * IW_MS);
	assert_true(r.latest_ns == 12500 * IW_US && tcp_rtt_has_sample(&r));
}

static void
test_T27_bounds(void **state)
{
	struct tcp_rtt r;

	(void)state;
	tcp_rtt_init(&r, 0);
	for (int i = 0; i < 200; i++)
		tcp_rtt_sample(&r, 0, 0);
	assert_true(tcp_rtt_rto(&r) == 200 * IW_MS); /* the floor */
	assert_true(r.srtt_ns > 0 && tcp_rtt_has_sample(&r));
	for (int i = 0; i < 200; i++)
		tcp_rtt_sample(&r, UINT64_MAX, 0);
	assert_true(tcp_rtt_rto(&r) == 60 * IW_SEC);
	assert_true(r.srtt_ns <= 60 * IW_SEC);
	tcp_rtt_init(&r, 5 * IW_MS); /* profile datacenter */
	for (int i = 0; i < 200; i++)
		tcp_rtt_sample(&r, 20 * IW_US, 0);
	assert_true(tcp_rtt_rto(&r) == 5 * IW_MS);
	/* §2.4 of the variance term: never zero, at least a clock tick. */
	tcp_rtt_init(&r, 1);
	for (int i = 0; i < 200; i++)
		tcp_rtt_sample(&r, IW_MS, 0);
	assert_true(tcp_rtt_rto(&r) >= IW_MS + 16384);
	tcp_rtt_init(&r, UINT64_MAX);
	tcp_rtt_sample(&r, IW_MS, 0);
	assert_true(tcp_rtt_rto(&r) == 60 * IW_SEC);
}

/* §5.5: doubles, stops at 60 s, does not overflow after any number of timeouts; §5: a sample ends it. */
static void
test_T27_back_off(void **state)
{
	struct tcp_rtt r;
	uint64_t want = 200 * IW_MS;

	(void)state;
	tcp_rtt_init(&r, 0);
	tcp_rtt_sample(&r, 10 * IW_MS, 0);
	for (int i = 0; i < 100000; i++) {
		assert_true(tcp_rtt_rto(&r) == want);
		tcp_rtt_timeout(&r);
		want = want * 2 > 60 * IW_SEC ? 60 * IW_SEC : want * 2;
	}
	tcp_rtt_progress(&r); /* Karn: kept until there is a sample */
	assert_true(tcp_rtt_rto(&r) == 60 * IW_SEC);
	tcp_rtt_timeout(&r);
	assert_true(tcp_rtt_rto(&r) == 60 * IW_SEC);
	tcp_rtt_sample(&r, 10 * IW_MS, 0);
	tcp_rtt_timeout(&r);
	tcp_rtt_progress(&r);
	tcp_rtt_timeout(&r);
	assert_int_equal(r.backoff, 1);
	assert_true(tcp_rtt_rto(&r) == 800 * IW_MS);
	tcp_rtt_sample(&r, 10 * IW_MS, 0);
	assert_true(tcp_rtt_rto(&r) == 200 * IW_MS);
}

/* §5.7 */
static void
test_T27_after_a_lost_syn_the_rto_is_3_s(void **state)
{
	struct tcp_rtt r;

	(void)state;
	tcp_rtt_init(&r, 0);
	tcp_rtt_timeout(&r);
	tcp_rtt_established(&r, true);
	assert_true(tcp_rtt_rto(&r) == 3 * IW_SEC);
	tcp_rtt_sample(&r, 10 * IW_MS, 0);
	assert_true(tcp_rtt_rto(&r) == 200 * IW_MS);
	tcp_rtt_init(&r, 0);
	tcp_rtt_sample(&r, 10 * IW_MS, 0);
	tcp_rtt_established(&r, false);
	assert_true(tcp_rtt_rto(&r) == 200 * IW_MS);
}

/* The least RTT adapts when the path gets longer, within 10 minutes. */
static void
test_min_rtt_is_windowed(void **state)
{
	struct tcp_rtt r;
	uint64_t now = IW_SEC;

	(void)state;
	tcp_rtt_init(&r, 0);
	tcp_rtt_sample(&r, 10 * IW_MS, now);
	tcp_rtt_sample(&r, 30 * IW_MS, now);
	assert_true(tcp_rtt_min(&r) == 10 * IW_MS);
	for (; now < 599 * IW_SEC; now += IW_SEC) {
		tcp_rtt_sample(&r, 30 * IW_MS, now);
		assert_true(tcp_rtt_min(&r) == 10 * IW_MS);
	}
	for (; now < 605 * IW_SEC; now += IW_SEC)
		tcp_rtt_sample(&r, 30 * IW_MS, now);
	assert_true(tcp_rtt_min(&r) == 30 * IW_MS);
	tcp_rtt_sample(&r, 5 * IW_MS, now);
	assert_true(tcp_rtt_min(&r) == 5 * IW_MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T27_before_a_sample),
		cmocka_unit_test(test_T27_smoothing),
		cmocka_unit_test(test_T27_bounds),
		cmocka_unit_test(test_T27_back_off),
		cmocka_unit_test(test_T27_after_a_lost_syn_the_rto_is_3_s),
		cmocka_unit_test(test_min_rtt_is_windowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
