/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 9438 §4, against the formulas evaluated step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "iw_time.h"
#include "tcp_cc.h"

#define MSS 1000
#define C 0.4
#define BETA 0.7

static struct tcp_cc
fresh(uint32_t segments)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_cubic, MSS, false);
	cc.cwnd = segments * MSS;
	return cc;
}

/* A whole window is acknowledged segment by segment in one round trip; returns the time after it. */
static uint64_t
round_trip(struct tcp_cc *cc, uint64_t now, uint64_t rtt)
{
	uint32_t n = cc->cwnd / MSS;

	for (uint32_t i = 0; i < n; i++)
		cc->ops->on_ack(cc, &(struct tcp_cc_ack){.now_ns = now + rtt * (i + 1) / n,
							 .srtt_ns = rtt,
							 .acked = MSS,
							 .cwnd_limited = true});
	return now + rtt;
}

static void
assert_near(double got, double want, double tolerance)
{
	if (got < want - tolerance || got > want + tolerance)
		fail_msg("%f, not %f", got, want);
}

static void
lose(struct tcp_cc *cc, uint64_t now)
{
	cc->ops->enter_recovery(cc, TCP_CC_LOSS, cc->cwnd, now);
	cc->ops->exit_recovery(cc, now);
}

/* §4.6: beta = 0.7 of the flight, at least 2 segments; W_max and cwnd_prior are cwnd before. */
static void
test_decrease(void **state)
{
	struct tcp_cc cc = fresh(1000);

	(void)state;
	lose(&cc, 1);
	assert_int_equal(cc.cwnd, 700 * MSS);
	assert_near(cc.cubic.w_max, 1000, 0.001);
	assert_near(cc.cubic.cwnd_prior, 1000, 0.001);
	/* §4.7, fast convergence: below W_max, so it makes more room. */
	lose(&cc, 2);
	assert_near(cc.cubic.w_max, 700 * (1 + BETA) / 2, 0.001);
	assert_int_equal(cc.cwnd, 490 * MSS);
	cc = fresh(2);
	lose(&cc, 1);
	assert_int_equal(cc.cwnd, 2 * MSS);
	/* ECN may go down to one segment. */
	cc = fresh(1);
	cc.ops->enter_recovery(&cc, TCP_CC_ECN, MSS, 1);
	assert_int_equal(cc.cwnd, MSS);
	assert_int_equal(cc.ssthresh, 2 * MSS);
}

/* §4.2: cwnd follows C * (t - K)^3 + W_max, one RTT ahead at most: concave to W_max at K, then convex.  With an RTT of
 * 100 ms and 1000 segments Reno is far below. */
static void
test_concave_and_convex(void **state)
{
	struct tcp_cc cc = fresh(1000);
	const uint64_t rtt = 100 * IW_MS, start = 5 * IW_SEC;
	const double k = 9.0856; /* cube root of 300 / 0.4 */
	uint64_t now = start;
	double before = 700;

	(void)state;
	lose(&cc, start);
	while (now < start + 18 * IW_SEC) {
		double t, low, high, cwnd;

		now = round_trip(&cc, now, rtt);
		t = (double)(now - start) / IW_SEC;
		low = C * (t - 0.25 - k) * (t - 0.25 - k) * (t - 0.25 - k) + 1000;
		high = C * (t + 0.1 - k) * (t + 0.1 - k) * (t + 0.1 - k) + 1000;
		cwnd = (double)cc.cwnd / MSS;
		assert_true(cwnd >= before);
		if (t > 1 && (cwnd < low - 2 || cwnd > high + 1))
			fail_msg("t %f: %f not in %f..%f", t, cwnd, low, high);
		before = cwnd;
	}
	assert_near(cc.cubic.k, k, 0.001);
	assert_true(before > 1200);
}

/* §4.3: short RTT and small window: it grows as AIMD(3 * 0.3 / 1.7, 0.7) until cwnd_prior, then as Reno. */
static void
test_reno_friendly(void **state)
{
	struct tcp_cc cc = fresh(20);
	const uint64_t rtt = IW_MS;
	uint64_t now = IW_SEC;
	uint32_t trips = 0;

	(void)state;
	lose(&cc, now);
	assert_int_equal(cc.cwnd, 14 * MSS);
	while (cc.cwnd < 20 * MSS && trips < 100) {
		now = round_trip(&cc, now, rtt);
		trips++;
	}
	assert_in_range(trips, 10, 13); /* 6 segments at 0.529 a round trip */
	for (trips = 0; cc.cwnd < 30 * MSS && trips < 100; trips++)
		now = round_trip(&cc, now, rtt);
	assert_in_range(trips, 9, 11); /* 10 at 1 */
}

/* §4.2: no more than half a window more in one round trip. */
static void
test_target_is_bounded(void **state)
{
	struct tcp_cc cc = fresh(10);
	uint64_t now = IW_SEC;

	(void)state;
	lose(&cc, now);
	cc.ops->on_ack(&cc, &(struct tcp_cc_ack){.now_ns = now, .srtt_ns = IW_SEC, .acked = MSS, .cwnd_limited = true});
	now += 100 * IW_SEC; /* the cubic is at 400,000 by now */
	for (int i = 0; i < 3; i++) {
		uint32_t cwnd = cc.cwnd;

		now = round_trip(&cc, now, IW_SEC);
		assert_in_range(cc.cwnd, cwnd + 1, (uint32_t)(cwnd * 1.65) + 1);
	}
}

/* §4.2, §5.8: time in which cwnd was not the limit does not count. */
static void
test_application_limited_time_does_not_count(void **state)
{
	struct tcp_cc cc = fresh(1000), idle;
	uint64_t now = IW_SEC;

	(void)state;
	lose(&cc, now);
	for (int i = 0; i < 5; i++)
		now = round_trip(&cc, now, 100 * IW_MS);
	idle = cc;
	for (uint64_t t = 0; t <= 60 * IW_SEC; t += IW_SEC)
		idle.ops->on_ack(&idle, &(struct tcp_cc_ack){.now_ns = now + t, .srtt_ns = 100 * IW_MS, .acked = MSS});
	assert_int_equal(idle.cwnd, cc.cwnd);
	round_trip(&cc, now, 100 * IW_MS);
	round_trip(&idle, now + 60 * IW_SEC, 100 * IW_MS);
	assert_near(idle.cwnd, cc.cwnd, 2);
}

/* §4.8: after a timeout K = 0 and W_max is the window when avoidance begins. */
static void
test_timeout(void **state)
{
	struct tcp_cc cc = fresh(100);
	uint64_t now = IW_SEC;

	(void)state;
	cc.ops->on_rto(&cc, 100 * MSS, true, now);
	assert_int_equal(cc.ssthresh, 70 * MSS);
	assert_int_equal(cc.cwnd, MSS);
	while (tcp_cc_slow_start(&cc))
		now = round_trip(&cc, now, 100 * IW_MS);
	now = round_trip(&cc, now, 100 * IW_MS);
	assert_true(cc.cubic.k == 0);
	assert_near(cc.cubic.w_max, 70, 3);
	assert_near(cc.cubic.cwnd_prior, 100, 0.001);
}

/* §4.9.2: everything is as it was. */
static void
test_spurious(void **state)
{
	struct tcp_cc cc = fresh(1000), before;
	uint64_t now = IW_SEC;

	(void)state;
	lose(&cc, now);
	for (int i = 0; i < 20; i++)
		now = round_trip(&cc, now, 100 * IW_MS);
	before = cc;
	lose(&cc, now);
	cc.ops->undo(&cc);
	assert_int_equal(cc.cwnd, before.cwnd);
	assert_int_equal(cc.ssthresh, before.ssthresh);
	assert_true(cc.cubic.w_max == before.cubic.w_max && cc.cubic.k == before.cubic.k &&
		    cc.cubic.epoch_ns == before.cubic.epoch_ns && cc.cubic.w_est == before.cubic.w_est);
}

/* Back in the first slow start, HyStart++ looks at round trips from the beginning. */
static void
test_spurious_in_first_slow_start(void **state)
{
	struct tcp_cc cc = fresh(100);

	(void)state;
	cc.ssthresh = TCP_CC_SSTHRESH_INIT;
	cc.hystart.css_rounds = 3;
	lose(&cc, IW_SEC);
	cc.ops->undo(&cc);
	assert_int_equal(cc.ssthresh, TCP_CC_SSTHRESH_INIT);
	assert_int_equal(cc.hystart.css_rounds, 0);
	assert_true(cc.hystart.base_ns == IW_NEVER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decrease),
		cmocka_unit_test(test_concave_and_convex),
		cmocka_unit_test(test_reno_friendly),
		cmocka_unit_test(test_target_is_bounded),
		cmocka_unit_test(test_application_limited_time_does_not_count),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_spurious),
		cmocka_unit_test(test_spurious_in_first_slow_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
