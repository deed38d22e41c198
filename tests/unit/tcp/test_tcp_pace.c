/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing: the rate, the burst, and on a connection the deadline. */
#include "tcpscript.h"

#include "tcp_pace.h"

static void
test_which_windows(void **state)
{
	struct tcp_pace_rate r = {.srtt_ns = 10 * IW_MS, .cwnd = 64000, .mss = 1000};

	assert_true(tcp_pace_applies(&r));
	r.cwnd = 63999;
	assert_false(tcp_pace_applies(&r));
	r.cwnd = 64000;
	r.srtt_ns = TCP_PACE_RTT_NS - 1;
	assert_false(tcp_pace_applies(&r));
	r.srtt_ns = 0;
	assert_false(tcp_pace_applies(&r));
}

/* As fast as the rate lets: octets in one round trip are gain * cwnd, plus one burst at the start. */
static void
test_rate(void **state)
{
	static const struct {
		uint32_t cwnd;
		uint64_t srtt_ns;
		bool slow_start;
	} t[] = {{100000, 10 * IW_MS, false},
		 {100000, 10 * IW_MS, true},
		 {10000000, 20 * IW_MS, false},
		 {TCP_CC_CWND_MAX, 60 * IW_SEC, true},
		 {TCP_CC_CWND_MAX, IW_MS, false}};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct tcp_pace_rate r = {
			.srtt_ns = t[i].srtt_ns, .cwnd = t[i].cwnd, .mss = 1000, .slow_start = t[i].slow_start};
		struct tcp_pace p = {0};
		uint64_t now = 1000 * IW_SEC, end = now + r.srtt_ns, sent = 0, first = 0;
		double ratio;

		while (sent < 3ull * r.cwnd) {
			uint64_t at = tcp_pace_next(&p, &r);

			if (at > now && first == 0)
				first = sent;
			now = at > now ? at : now;
			if (now >= end)
				break;
			/* Steps of 1/4000 window keep the loop short. */
			tcp_pace_sent(&p, &r, r.cwnd / 4000 + 1, now);
			sent += r.cwnd / 4000 + 1;
		}
		ratio = (double)(sent - first) / r.cwnd;
		assert_true(first >= 32000 || r.cwnd < 32000);
		if (t[i].slow_start)
			assert_true(ratio > 1.98 && ratio < 2.02);
		else
			assert_true(ratio > 1.18 && ratio < 1.22);
	}
}

/* A pause saves up no more than one burst: 32 segments, or what goes in 64 us where that is more. */
static void
test_no_saving_up(void **state)
{
	static const struct {
		struct tcp_pace_rate rate;
		uint32_t segments;
	} t[] = {{{.srtt_ns = 10 * IW_MS, .cwnd = 1000000, .mss = 1000}, 32},
		 {{.srtt_ns = IW_MS, .cwnd = 10000000, .mss = 1000}, 768}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tcp_pace p = {.at_ns = IW_SEC};
		uint32_t n = 0;

		while (tcp_pace_next(&p, &t[i].rate) <= 100 * IW_SEC) {
			tcp_pace_sent(&p, &t[i].rate, 1000, 100 * IW_SEC);
			n++;
		}
		assert_in_range(n, t[i].segments, t[i].segments + 8);
	}
}

/* On a connection: the first burst at once, the rest by the deadline, without any ACK; nothing is ever lost. */
static void
test_connection(void **state)
{
	struct script x;
	struct tcp_conn *c;
	uint32_t burst;

	script_init(&x);
	x.ws = true;
	script_open(&x, NULL);
	x.sim.now_ns += 40 * IW_MS;
	script_syn_ack(&x);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	c = script_conn(&x);
	c->fl->cc.cwnd = c->fl->cc.ssthresh = 200 * 1460;
	x.n = x.at = 0;
	for (uint32_t i = 0; i < 200; i++)
		script_send(&x, i * 1460, 1460);
	script_poll(&x);
	burst = x.n;
	assert_in_range(burst, 32, 34);
	assert_true(tcp_deadline(x.sim.h[0].tcp) < x.sim.now_ns + 2 * IW_MS);
	script_wait(&x, 10 * IW_MS); /* a quarter of the round trip: 0.3 windows */
	assert_in_range(x.n - burst, 55, 65);
	script_wait(&x, 20 * IW_MS);
	assert_int_equal(x.n, 200);
	assert_true(tcp_txq_flight_size(&c->fl->txq) <= c->fl->cc.cwnd);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_windows),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_no_saving_up),
		cmocka_unit_test(test_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
