/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 5681 §3.1, §3.2; RFC 6582; RFC 3465 §2.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tcp_cc.h"

static struct tcp_cc
avoiding(uint32_t cwnd)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_newreno, 1000, false);
	cc.cwnd = cc.ssthresh = cwnd;
	return cc;
}

/* One SMSS for each window acknowledged, however the ACKs are cut. */
static void
test_avoidance_adds_one_segment_a_window(void **state)
{
	static const uint32_t cuts[] = {1, 500, 1000, 2000, 20000};

	(void)state;
	for (size_t c = 0; c < sizeof(cuts) / sizeof(cuts[0]); c++) {
		struct tcp_cc cc = avoiding(20000);

		for (uint32_t window = 0; window < 5; window++) {
			uint32_t cwnd = cc.cwnd;

			for (uint32_t done = 0; done < cwnd; done += cuts[c])
				cc.ops->on_ack(&cc, &(struct tcp_cc_ack){.acked = cuts[c] < cwnd - done ? cuts[c]
													: cwnd - done,
									 .cwnd_limited = true});
			assert_int_equal(cc.cwnd, cwnd + 1000);
		}
	}
}

/* RFC 5681 §3.1: never more than SMSS for an ACK, however much it acknowledges. */
static void
test_one_ack_adds_one_segment_at_most(void **state)
{
	struct tcp_cc cc = avoiding(20000);

	(void)state;
	cc.ops->on_ack(&cc, &(struct tcp_cc_ack){.acked = 0x7fffffff, .cwnd_limited = true});
	assert_int_equal(cc.cwnd, 21000);
	cc.ops->on_ack(&cc, &(struct tcp_cc_ack){.acked = 19999, .cwnd_limited = true});
	assert_int_equal(cc.cwnd, 21000);
	cc.ops->on_ack(&cc, &(struct tcp_cc_ack){.acked = 19999, .cwnd_limited = false});
	assert_int_equal(cc.cwnd, 21000);
}

/* ssthresh = max(FlightSize / 2, 2 * SMSS): of the flight, not of cwnd. */
static void
test_recovery(void **state)
{
	struct tcp_cc cc = avoiding(20000);

	(void)state;
	cc.ops->enter_recovery(&cc, TCP_CC_LOSS, 12000, 1);
	assert_int_equal(cc.ssthresh, 6000);
	assert_int_equal(cc.cwnd, 20000); /* PRR's from here on */
	cc.ops->exit_recovery(&cc, 2);
	assert_int_equal(cc.cwnd, 6000);
	assert_false(tcp_cc_slow_start(&cc));
	cc.ops->enter_recovery(&cc, TCP_CC_LOSS, 3000, 3);
	assert_int_equal(cc.ssthresh, 2000);
	cc = avoiding(20000);
	cc.ops->enter_recovery(&cc, TCP_CC_ECN, 20000, 1);
	assert_int_equal(cc.cwnd, 10000);
	assert_int_equal(cc.ssthresh, 10000);
}

static void
test_rto(void **state)
{
	struct tcp_cc cc = avoiding(20000);

	(void)state;
	cc.ops->on_rto(&cc, 18000, true, 1);
	assert_int_equal(cc.cwnd, 1000);
	assert_int_equal(cc.ssthresh, 9000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_avoidance_adds_one_segment_a_window),
		cmocka_unit_test(test_one_ack_adds_one_segment_at_most),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_rto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
