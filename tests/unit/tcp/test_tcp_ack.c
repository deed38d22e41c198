/* SPDX-License-Identifier: BSD-3-Clause */
/* What an ACK does (RFC 9293 §3.10.7.4 fifth step; RFC 6298; RFC 7323 §4). */
#include "tcpscript.h"

#define HOST(x) ((x).sim.h[0].tcp)

/* SND.WL1, SND.WL2: an older segment never takes the window back. */
static void
test_window_update_order(void **state)
{
	struct script x;
	uint32_t una;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 100);
	script_skip(&x);
	una = x.our_iss + 1;
	x.wnd = 3000;
	script_in(&x, TCP_ACK, x.seq, una + 50, 0);
	assert_int_equal(script_conn(&x)->snd_wnd, 3000);
	x.wnd = 2000;
	script_in(&x, TCP_ACK, x.seq, una, 0); /* older ACK, same SEQ */
	assert_int_equal(script_conn(&x)->snd_wnd, 3000);
	script_in(&x, TCP_ACK, x.seq + 10, una + 50, 10); /* newer SEQ, out of order */
	assert_int_equal(script_conn(&x)->snd_wnd, 2000);
	x.wnd = 1000;
	script_in(&x, TCP_ACK, x.seq, una + 50, 5); /* older SEQ */
	assert_int_equal(script_conn(&x)->snd_wnd, 2000);
	assert_int_equal(script_conn(&x)->snd_max_wnd, 65535);
	assert_int_equal(script_conn(&x)->snd_una, una + 50);
	script_fini(&x);
}

/* Scaled behind the SYN only (RFC 7323 §2.2). */
static void
test_T8_window_scale(void **state)
{
	struct script x;

	script_init(&x);
	x.ws = true;
	x.wnd = 1000;
	script_established(&x);
	assert_int_equal(script_conn(&x)->snd_wnd, 1000);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	assert_int_equal(script_conn(&x)->snd_wnd, 1000u << 7);
	script_fini(&x);
}

/* A connection whose handshake took 30 ms. */
static void
open_30ms(struct script *x, bool ts)
{
	script_init(x);
	x->ts = ts;
	script_open(x, NULL);
	x->sim.now_ns += 30 * IW_MS;
	script_syn_ack(x);
	script_skip(x);
}

/* RTT: measured from first transmissions (Karn); with timestamps from retransmissions as well. */
static void
test_rtt_samples(void **state)
{
	for (uint32_t ts = 0; ts < 2; ts++) {
		struct script x;
		struct tcp_seg seg;

		open_30ms(&x, ts);
		assert_int_equal(script_conn(&x)->fl->rtt.srtt_ns / IW_MS, 30);
		script_send(&x, 0, 100);
		script_poll(&x);
		script_wait(&x, 300 * IW_MS); /* retransmitted once */
		seg = x.out[x.n - 1];
		assert_int_equal(seg.seq, x.our_iss + 1);
		x.sim.now_ns += 50 * IW_MS;
		x.at = x.n;
		{
			struct tcp_seg in = script_seg(&x, TCP_ACK, x.seq, x.our_iss + 101);

			in.tsecr = seg.tsval;
			script_in_seg(&x, &in, 0);
		}
		if (ts)
			assert_true(script_conn(&x)->fl->rtt.latest_ns > 50 * IW_MS &&
				    script_conn(&x)->fl->rtt.latest_ns < 160 * IW_MS);
		else
			assert_int_equal(script_conn(&x)->fl->rtt.latest_ns / IW_MS, 30);
		assert_int_equal(script_conn(&x)->fl->rtt.backoff, 0);
		script_fini(&x);
	}
}

/* RFC 7323 §4.1: only the echo of something that is on its way is a sample.  Sent, sent again after 200 ms, the ACK
 * comes after 350 ms. */
static void
test_echoes_that_tell_nothing(void **state)
{
	static const struct {
		int64_t echo_ms; /* from the first transmission */
		bool zero;       /* that is when our clock stood at 0 */
		uint64_t latest_ms;
	} rows[] = {{0, false, 350},  {1, false, 349},     {350, false, 1},        {-1, false, 30},
		    {-20, false, 30}, {-1000, false, 30},  {-2000, false, 30},     {-100000, false, 30},
		    {360, false, 30}, {100000, false, 30}, {INT32_MIN, false, 30}, {0, true, 30}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tcp_seg ack;
		struct script x;

		open_30ms(&x, true);
		x.sim.now_ns += IW_MS - x.sim.now_ns % IW_MS;
		if (rows[i].zero)
			script_conn(&x)->ts_offset = 0u - (uint32_t)(x.sim.now_ns / IW_MS);
		script_send(&x, 0, 100);
		ack = script_seg(&x, TCP_ACK, x.seq, x.our_iss + 101);
		ack.tsecr = script_out(&x).tsval + (uint32_t)rows[i].echo_ms;
		script_wait(&x, 350 * IW_MS);
		assert_int_equal(script_conn(&x)->retransmits, 1);
		script_in_seg(&x, &ack, 0);
		assert_int_equal(script_conn(&x)->fl->rtt.latest_ns / IW_MS, rows[i].latest_ms);
		script_fini(&x);
	}
}

/* An ACK inside a record keeps it (design D21); the records before it go. */
static void
test_partial_ack_keeps_record(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 100);
	script_send(&x, 100, 100);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 151, 0);
	assert_int_equal(script_conn(&x)->fl->txq.recs, 1);
	script_wait(&x, 300 * IW_MS);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 101, x.seq).len, 100);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 201, 0);
	assert_true(tcp_txq_empty(&script_conn(&x)->fl->txq));
	script_fini(&x);
}

/* The ACK of the FIN counts only when it covers the FIN. */
static void
test_fin_acked(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 100);
	script_close(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 101, 0);
	assert_int_equal(script_state(&x), TCP_FIN_WAIT_1);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 102, 0);
	assert_int_equal(script_state(&x), TCP_FIN_WAIT_2);
	script_fini(&x);
}

/* Growth needs a window that was used up (RFC 7661's reason); then slow start by what is acknowledged. */
static void
test_growth(void **state)
{
	struct script x;
	uint32_t cwnd;

	script_init(&x);
	script_established(&x);
	cwnd = script_conn(&x)->fl->cc.cwnd;
	script_send(&x, 0, 1000);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1001, 0);
	assert_int_equal(script_conn(&x)->fl->cc.cwnd, cwnd);
	for (uint32_t i = 0; i < 10; i++)
		script_send(&x, 1000 + i * 1460, 1460);
	script_skip(&x);
	for (uint32_t i = 2; i <= 10; i += 2)
		script_in(&x, TCP_ACK, x.seq, x.our_iss + 1001 + i * 1460, 0);
	assert_int_equal(script_conn(&x)->fl->cc.cwnd, cwnd + 10 * 1460);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_update_order),
		cmocka_unit_test(test_T8_window_scale),
		cmocka_unit_test(test_rtt_samples),
		cmocka_unit_test(test_partial_ack_keeps_record),
		cmocka_unit_test(test_fin_acked),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_echoes_that_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
