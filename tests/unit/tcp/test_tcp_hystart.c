/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 9406 §4.2, driven by rounds of ten ACKs. */
#include "tcp_hystart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "iw_time.h"

#define MSS 1000u

/* One round: `acks` ACKs of one segment, each with this RTT; true: slow start has ended. */
static bool
round_of(struct tcp_cc *cc, uint32_t *una, uint32_t acks, uint64_t rtt_ns)
{
	uint32_t nxt = *una + acks * MSS;
	bool over = false;

	for (uint32_t i = 0; i < acks; i++) {
		*una += MSS;
		over |= tcp_hystart_ack(cc, &(struct tcp_cc_ack){.rtt_ns = rtt_ns,
								 .una = *una,
								 .nxt = *una == nxt ? nxt + acks * MSS : nxt,
								 .acked = MSS,
								 .cwnd_limited = true});
	}
	return over;
}

static struct tcp_cc
starting(void)
{
	struct tcp_cc cc;

	tcp_cc_init(&cc, &tcp_cc_cubic, MSS, false);
	return cc;
}

/* RttThresh = max(4 ms, min(last / 8, 16 ms)): just below and at it. */
static void
test_threshold(void **state)
{
	static const struct {
		uint64_t base_ms, thresh_ms;
	} t[] = {{10, 4}, {80, 10}, {400, 16}};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (uint32_t at = 0; at < 2; at++) {
			struct tcp_cc cc = starting();
			uint32_t una = 0xffffe000u; /* it wraps */

			round_of(&cc, &una, 10, t[i].base_ms * IW_MS);
			round_of(&cc, &una, 10, t[i].base_ms * IW_MS);
			assert_int_equal(cc.hystart.css_rounds, 0);
			assert_int_equal(cc.cwnd, 10 * MSS + 20 * MSS);
			round_of(&cc, &una, 10, (t[i].base_ms + t[i].thresh_ms) * IW_MS - !at);
			assert_int_equal(cc.hystart.css_rounds > 0, at);
		}
}

/* N_RTT_SAMPLE: seven samples say nothing. */
static void
test_too_few_samples(void **state)
{
	struct tcp_cc cc = starting();
	uint32_t una = 0;

	(void)state;
	for (uint64_t rtt = 10; rtt < 300; rtt += 30)
		assert_false(round_of(&cc, &una, 7, rtt * IW_MS));
	assert_int_equal(cc.hystart.css_rounds, 0);
}

/* CSS: a quarter of the growth; five rounds, the one it began in counts; then slow start is over. */
static void
test_css(void **state)
{
	struct tcp_cc cc = starting();
	uint32_t una = 0, before, rounds = 2; /* the next one */

	(void)state;
	round_of(&cc, &una, 10, 20 * IW_MS);
	round_of(&cc, &una, 10, 20 * IW_MS);
	round_of(&cc, &una, 10, 30 * IW_MS);
	assert_true(cc.hystart.css_rounds > 0);
	before = cc.cwnd;
	while (!round_of(&cc, &una, 10, 30 * IW_MS) && rounds < 20)
		rounds++;
	assert_int_equal(rounds, 5);
	assert_int_equal(cc.cwnd, before + 4 * 10 * MSS / 4);
}

/* The delay falls below the baseline: it was jitter; back to doubling. */
static void
test_resume(void **state)
{
	struct tcp_cc cc = starting();
	uint32_t una = 0, before;

	(void)state;
	round_of(&cc, &una, 10, 20 * IW_MS);
	round_of(&cc, &una, 10, 20 * IW_MS);
	round_of(&cc, &una, 10, 30 * IW_MS);
	assert_true(cc.hystart.css_rounds > 0);
	round_of(&cc, &una, 7, 29 * IW_MS); /* N_RTT_SAMPLE: seven say nothing */
	assert_true(cc.hystart.css_rounds > 0);
	round_of(&cc, &una, 10, 29 * IW_MS);
	assert_int_equal(cc.hystart.css_rounds, 0);
	before = cc.cwnd;
	round_of(&cc, &una, 10, 29 * IW_MS);
	assert_int_equal(cc.cwnd, before + 10 * MSS);
}

/* In CUBIC: ssthresh is set; later slow starts do without it (§4.3). */
static void
test_in_cubic(void **state)
{
	struct tcp_cc cc = starting();
	struct tcp_cc_ack ack = {.srtt_ns = 30 * IW_MS, .acked = MSS, .cwnd_limited = true};

	(void)state;
	for (uint32_t i = 0; i < 200 && tcp_cc_slow_start(&cc); i++) {
		ack.now_ns = IW_SEC + i * IW_MS;
		ack.rtt_ns = (i < 20 ? 20 : 35) * IW_MS;
		ack.una += MSS;
		ack.nxt = ack.una + 10 * MSS;
		cc.ops->on_ack(&cc, &ack);
	}
	assert_false(tcp_cc_slow_start(&cc));
	assert_int_equal(cc.ssthresh, cc.cwnd);
	assert_true(cc.cwnd < 60 * MSS);
	cc.ops->on_rto(&cc, cc.cwnd, true, 2 * IW_SEC);
	cc.ops->on_ack(&cc, &ack);
	assert_int_equal(cc.cwnd, 2 * MSS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threshold), cmocka_unit_test(test_too_few_samples), cmocka_unit_test(test_css),
		cmocka_unit_test(test_resume),    cmocka_unit_test(test_in_cubic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
