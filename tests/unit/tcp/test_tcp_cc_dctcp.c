/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 8257 §3.3 to §3.5, §4.2. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tcp_cc.h"

#define MSS 1000u

static struct tcp_cc
avoiding(uint32_t cwnd)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_dctcp, MSS, false);
	cc.cwnd = cc.ssthresh = cwnd;
	return cc;
}

/* A window of n ACKs of one segment, the first `marked` with ECE. */
static void
window(struct tcp_cc *cc, uint32_t *una, uint32_t n, uint32_t marked)
{
	uint32_t nxt = *una + n * MSS;

	for (uint32_t i = 0; i < n; i++) {
		*una += MSS;
		cc->ops->on_una(cc, &(struct tcp_cc_ack){
					    .una = *una, .nxt = nxt + (i + 1) * MSS, .acked = MSS, .ece = i < marked});
	}
}

/* Alpha by the formula in floating point, from 1; never above 1; to 0 in the end (§4.2). */
static void
test_alpha(void **state)
{
	struct tcp_cc cc = avoiding(20 * MSS);
	double alpha = 1.0;
	uint32_t una = 0xffff0000u;

	(void)state;
	assert_int_equal(cc.dctcp.alpha, TCP_CC_DCTCP_ONE);
	window(&cc, &una, 1, 1); /* beyond the first WindowEnd */
	for (uint32_t i = 0; i < 60; i++) {
		static const uint32_t marks[] = {0, 0, 0, 5, 10, 20, 0, 1};
		uint32_t n = marks[i % 8];

		window(&cc, &una, 20, n);
		alpha = alpha * 15 / 16 + n / 20.0 / 16;
		assert_true(fabs(cc.dctcp.alpha / 65536.0 - alpha) < 0.05);
		assert_true(cc.dctcp.alpha <= TCP_CC_DCTCP_ONE);
	}
	for (uint32_t i = 0; i < 400; i++)
		window(&cc, &una, 20, 0);
	assert_int_equal(cc.dctcp.alpha, 0);
	for (uint32_t i = 0; i < 400; i++)
		window(&cc, &una, 20, 20);
	assert_true(cc.dctcp.alpha > TCP_CC_DCTCP_ONE * 99 / 100);
}

/* §3.3: the first WindowEnd is SND.UNA, so the first ACK ends the first window. */
static void
test_first_window(void **state)
{
	struct tcp_cc cc = avoiding(20 * MSS);
	uint32_t una = 0xffff0000u;

	(void)state;
	window(&cc, &una, 1, 0);
	assert_int_equal(cc.dctcp.alpha, TCP_CC_DCTCP_ONE * 15 / 16);
}

/* Step 9: by alpha / 2; loss by half, whatever alpha is (§3.5). */
static void
test_reaction(void **state)
{
	struct tcp_cc cc = avoiding(20 * MSS);

	(void)state;
	cc.dctcp.alpha = TCP_CC_DCTCP_ONE / 10;
	cc.ops->enter_recovery(&cc, TCP_CC_ECN, 20 * MSS, 1);
	assert_in_range(cc.cwnd, 19000, 19001);
	assert_int_equal(cc.ssthresh, cc.cwnd);
	cc = avoiding(20 * MSS);
	cc.ops->enter_recovery(&cc, TCP_CC_ECN, 20 * MSS, 1); /* alpha 1: as RFC 3168 has it */
	assert_int_equal(cc.cwnd, 10 * MSS);
	cc = avoiding(20 * MSS);
	cc.dctcp.alpha = 0;
	cc.ops->enter_recovery(&cc, TCP_CC_LOSS, 20 * MSS, 1);
	assert_int_equal(cc.ssthresh, 10 * MSS);
	cc = avoiding(3 * MSS);
	cc.ops->enter_recovery(&cc, TCP_CC_ECN, 3 * MSS, 1);
	assert_int_equal(cc.cwnd, 2 * MSS);
}

/* §3.4: one segment a window. */
static void
test_growth(void **state)
{
	struct tcp_cc cc = avoiding(10 * MSS);

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		cc.ops->on_ack(&cc, &(struct tcp_cc_ack){.acked = MSS, .cwnd_limited = true});
	assert_int_equal(cc.cwnd, 11 * MSS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alpha),
		cmocka_unit_test(test_first_window),
		cmocka_unit_test(test_reaction),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
