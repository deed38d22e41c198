/* SPDX-License-Identifier: BSD-3-Clause */
/* Text, FIN, when an ACK leaves, the window that is advertised (RFC 9293 §3.10.7.4 seventh and eighth step, §3.8.6). */
#include "tcpscript.h"

static uint32_t
poll_once(struct script *x)
{
	uint32_t before = x->n;

	sim_poll(&x->sim, &x->sim.h[0]);
	for (struct sim_frame f; sim_take(&x->sim, 1, &f);) {
		struct net_icmp_err err;
		struct net_pkt pkt;

		if (net_rx(x->sim.h[1].net, f.m, x->sim.now_ns, &pkt, &err) == NET_TCP)
			script_capture(x, f.m, &pkt);
	}
	return x->n - before;
}

/* The first segments are acknowledged one by one. */
static void
use_up_quick_acks(struct script *x)
{
	for (uint32_t i = 0; i < TCP_RCVBUF_QUICK_ACKS; i++) {
		script_data(x, 100);
		assert_int_equal(poll_once(x), 1);
		script_expect(x, TCP_ACK, x->ack, x->seq);
	}
}

/* A sender that counts ACKs grows by them (RFC 5681 §3.1): at the start and after a pause longer than the RTO each
 * segment gets its ACK, and a burst still only one. */
static void
test_quick_acks(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	use_up_quick_acks(&x);
	script_data(&x, 100);
	assert_int_equal(poll_once(&x), 0);
	script_skip(&x);
	x.sim.now_ns += 150 * IW_MS; /* shorter than the RTO */
	script_data(&x, 100);
	assert_int_equal(poll_once(&x), 0);
	script_skip(&x);
	x.sim.now_ns += 250 * IW_MS;
	use_up_quick_acks(&x);
	script_data(&x, 100);
	assert_int_equal(poll_once(&x), 0);
	script_fini(&x);
}

/* Design D24: one segment waits for the end of the next poll, two do not. */
static void
test_D24_when_an_ack_leaves(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	use_up_quick_acks(&x);
	script_data(&x, 100);
	assert_int_equal(poll_once(&x), 0);
	assert_true(tcp_deadline(x.sim.h[0].tcp) <= x.sim.now_ns); /* that poll must come */
	assert_int_equal(poll_once(&x), 1);
	script_expect(&x, TCP_ACK, x.ack, x.seq);
	assert_int_equal(poll_once(&x), 0);
	script_data(&x, 100);
	script_data(&x, 100);
	assert_int_equal(poll_once(&x), 1);
	script_expect(&x, TCP_ACK, x.ack, x.seq);
	/* One, and one more in the next poll: at the end of that. */
	script_data(&x, 100);
	assert_int_equal(poll_once(&x), 0);
	script_data(&x, 100);
	assert_int_equal(poll_once(&x), 1);
	script_expect(&x, TCP_ACK, x.ack, x.seq);
	/* An answer carries it. */
	script_data(&x, 100);
	assert_int_equal(poll_once(&x), 0);
	script_send(&x, 0, 50);
	assert_int_equal(poll_once(&x), 1);
	assert_int_equal(x.out[x.n - 1].len, 50);
	assert_int_equal(x.out[x.n - 1].ack, x.seq);
	assert_int_equal(poll_once(&x), 0);
	script_fini(&x);
}

/* RFC 9293 MUST-58, MUST-59 (spec T34): a burst gets one ACK. */
static void
test_T34_burst_gets_one_ack(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	for (uint32_t i = 0; i < 32; i++)
		script_data(&x, 100);
	assert_int_equal(poll_once(&x), 1);
	script_expect(&x, TCP_ACK, x.ack, x.seq);
	script_expect_silence(&x);
	script_fini(&x);
}

/* RFC 5681 §4.2: at once when out of order, with SACK (RFC 2018), when a hole is filled, for a duplicate (RFC 2883). */
static void
test_out_of_order(void **state)
{
	struct script x;
	struct tcp_seg seg;
	uint64_t place = 0;

	script_init(&x);
	x.sack = true;
	script_established(&x);
	script_in(&x, TCP_ACK, x.seq + 100, x.ack, 50);
	assert_int_equal(poll_once(&x), 1);
	seg = script_expect(&x, TCP_ACK, x.ack, x.seq);
	assert_int_equal(seg.n_sack, 1);
	assert_int_equal(seg.sack[0].from, x.seq + 100);
	assert_int_equal(seg.sack[0].to, x.seq + 150);
	script_in(&x, TCP_ACK, x.seq + 200, x.ack, 50);
	seg = script_expect(&x, TCP_ACK, x.ack, x.seq);
	assert_int_equal(seg.n_sack, 2);
	assert_int_equal(seg.sack[0].from, x.seq + 200);
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), 0);
	script_in(&x, TCP_ACK, x.seq, x.ack, 100);
	assert_int_equal(poll_once(&x), 1);
	seg = script_expect(&x, TCP_ACK, x.ack, x.seq + 150);
	assert_int_equal(seg.n_sack, 1);
	script_in(&x, TCP_ACK, x.seq + 50, x.ack, 50); /* wholly old */
	assert_int_equal(poll_once(&x), 1);
	seg = script_expect(&x, TCP_ACK, x.ack, x.seq + 150);
	assert_int_equal(seg.n_sack, 2);
	assert_int_equal(seg.sack[0].from, x.seq + 50);
	assert_int_equal(seg.sack[0].to, x.seq + 100);
	script_in(&x, TCP_ACK, x.seq + 150, x.ack, 50);
	seg = script_expect(&x, TCP_ACK, x.ack, x.seq + 250);
	assert_int_equal(seg.n_sack, 0);
	assert_int_equal(sim_read(&x.sim.h[0], x.conn, &place, UINT32_MAX), 250);
	script_fini(&x);
}

/* ---- FIN ---- */

/* Spec T16: only in order; remembered when it came early; nothing behind it counts. */
static void
test_T16_fin(void **state)
{
	struct script x;
	uint64_t place = 0;

	script_init(&x);
	script_established(&x);
	script_in(&x, TCP_ACK | TCP_FIN, x.seq + 100, x.ack, 50); /* its hole is open */
	script_expect(&x, TCP_ACK, x.ack, x.seq);
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	assert_int_equal(x.bits, 0);
	script_in(&x, TCP_ACK, x.seq + 150, x.ack, 10); /* behind the FIN */
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.ack, 100);
	script_expect(&x, TCP_ACK, x.ack, x.seq + 151);
	assert_int_equal(script_state(&x), TCP_CLOSE_WAIT);
	assert_int_equal(x.bits, TCP_READY_RX | TCP_READY_FIN);
	assert_int_equal(sim_read(&x.sim.h[0], x.conn, &place, UINT32_MAX), 150);
	/* It comes again: acknowledged, nothing happens; text behind it is nobody's. */
	x.bits = 0;
	script_in(&x, TCP_ACK | TCP_FIN, x.seq + 150, x.ack, 0);
	script_expect(&x, TCP_ACK, x.ack, x.seq + 151);
	script_in(&x, TCP_ACK, x.seq + 151, x.ack, 20);
	script_skip(&x);
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), 0);
	assert_int_equal(script_state(&x), TCP_CLOSE_WAIT);
	assert_int_equal(x.bits, 0);
	assert_int_equal(script_counter(&x, "tcp.rx_after_fin"), 1);
	script_fini(&x);
}

/* Data and FIN in one segment; the FIN comes without its data; the FIN's ACK is lost. */
static void
test_T16_fin_with_data(void **state)
{
	struct script x;
	uint64_t place = 0;

	script_init(&x);
	script_established(&x);
	script_in(&x, TCP_ACK | TCP_FIN, x.seq + 30, x.ack, 0);
	script_expect(&x, TCP_ACK, x.ack, x.seq);
	script_in(&x, TCP_ACK | TCP_FIN, x.seq, x.ack, 30);
	script_expect(&x, TCP_ACK, x.ack, x.seq + 31);
	assert_int_equal(x.bits, TCP_READY_RX | TCP_READY_FIN);
	script_in(&x, TCP_ACK | TCP_FIN, x.seq, x.ack, 30);
	script_expect(&x, TCP_ACK, x.ack, x.seq + 31);
	assert_int_equal(sim_read(&x.sim.h[0], x.conn, &place, UINT32_MAX), 30);
	script_fini(&x);
}

/* In-order octets stay readable after RST, until release. */
static void
test_readable_after_rst(void **state)
{
	struct script x;
	uint64_t place = 0;

	script_init(&x);
	script_established(&x);
	script_data(&x, 40);
	script_in(&x, TCP_RST, x.seq, 0, 0);
	script_poll(&x);
	assert_int_equal(x.bits, TCP_READY_RX | TCP_READY_RST);
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), 40);
	assert_int_equal(sim_read(&x.sim.h[0], x.conn, &place, 15), 15);
	assert_int_equal(sim_read(&x.sim.h[0], x.conn, &place, UINT32_MAX), 25);
	tcp_release(x.sim.h[0].tcp, x.conn, x.sim.now_ns);
	assert_int_equal(tcp_conn_count(x.sim.h[0].tcp), 0);
	script_expect_silence(&x);
	script_fini(&x);
}

/* ---- the window ---- */

/* RFC 9293 SHLD-14 (spec T9): the right edge never moves left, whatever is read and whatever comes, but for the part
 * that the window's scale cannot express (RFC 7323 §2.4); what was promised once is taken all the same (rcv_adv). */
static void
test_T9_right_edge_is_monotone(void **state)
{
	struct script x;
	uint32_t edge = 0, seen = 0, shift;
	uint64_t place = 0;

	script_init(&x);
	x.ws = true;
	script_established(&x);
	shift = script_conn(&x)->rcv_wscale;
	assert_int_equal(shift, 9); /* for the 16 MiB that it may become */
	edge = x.seq;
	for (uint32_t i = 0; i < 1200; i++) {
		struct tcp_seg seg;

		if (tcp_conn_rcv_wnd(script_conn(&x)) >= 1400)
			script_data(&x, 1 + sim_random(&x.sim) % 1400);
		if (sim_random(&x.sim) % 8 == 0)
			sim_read(&x.sim.h[0], x.conn, &place, (uint32_t)(sim_random(&x.sim) % 6000));
		if (i == 600)
			sim_read(&x.sim.h[0], x.conn, &place, UINT32_MAX);
		script_poll(&x);
		while (x.at < x.n) {
			seg = x.out[x.at++];
			assert_true(iw_seq_geq(seg.ack + ((uint32_t)seg.wnd << shift) + (1u << shift) - 1, edge));
			assert_true(iw_seq_geq(script_conn(&x)->rcv_adv, edge));
			edge = iw_seq_max(edge, seg.ack + ((uint32_t)seg.wnd << shift));
			seen++;
		}
		x.n = x.at = 0;
	}
	assert_true(seen > 300);
	script_fini(&x);
}

/* Fills the receive buffer and takes one octet after the other: no update below min(half the buffer, one segment)
 * (RFC 9293 §3.8.6.2.2, T11); zero window: the probe is answered, its octet refused; then the update comes. */
static void
test_T11_silly_window_and_zero_window(void **state)
{
	struct script x;
	uint64_t place = 0;
	uint32_t wnd;

	script_init(&x);
	x.sim.h[0].tcp->params.rcv_buf = x.sim.h[0].tcp->params.rcv_buf_max = 20000;
	script_established(&x);
	while ((wnd = tcp_conn_rcv_wnd(script_conn(&x))) > 0) {
		script_data(&x, wnd < 1460 ? wnd : 1460);
		script_skip(&x);
	}
	assert_int_equal(tcp_conn_rcv_wnd(script_conn(&x)), 0);
	script_in(&x, TCP_ACK, x.seq, x.ack, 1); /* probe */
	assert_int_equal(script_expect(&x, TCP_ACK, x.ack, x.seq).wnd, 0);
	assert_int_equal(script_counter(&x, "tcp.rx_no_window"), 1);
	assert_int_equal(script_conn(&x)->rx_outside, 1); /* S16 */
	for (uint32_t i = 0; i < 1460 - 1; i++) {
		sim_read(&x.sim.h[0], x.conn, &place, 1);
		script_expect_silence(&x);
	}
	sim_read(&x.sim.h[0], x.conn, &place, 1);
	assert_int_equal(script_expect(&x, TCP_ACK, x.ack, x.seq).wnd, 1460);
	script_fini(&x);
}

/* RFC 9293 §3.10.7.4, first step. */
static void
test_ack_counts_at_zero_window(void **state)
{
	struct script x;

	script_init(&x);
	x.sim.h[0].tcp->params.rcv_buf = x.sim.h[0].tcp->params.rcv_buf_max = 1000;
	script_established(&x);
	script_data(&x, 1000);
	script_skip(&x);
	assert_int_equal(tcp_conn_rcv_wnd(script_conn(&x)), 0);
	script_send(&x, 0, 200);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.ack, 1);
	script_skip(&x);
	assert_true(tcp_txq_empty(&script_conn(&x)->fl->txq));
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), 1000);
	script_fini(&x);
}

/* Text beyond the window is cut off; the rest waits. */
static void
test_text_beyond_window(void **state)
{
	struct script x;

	script_init(&x);
	x.sim.h[0].tcp->params.rcv_buf = x.sim.h[0].tcp->params.rcv_buf_max = 1000;
	script_established(&x);
	script_in(&x, TCP_ACK | TCP_FIN, x.seq, x.ack, 1400);
	script_expect(&x, TCP_ACK, x.ack, x.seq + 1000);
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), 1000);
	script_fini(&x);
}

/* RFC 9293 SHLD-3: new text for a connection that nobody reads any more. */
static void
test_text_after_release(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_close(&x);
	tcp_release(x.sim.h[0].tcp, x.conn, x.sim.now_ns);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	assert_int_equal(tcp_conn_count(x.sim.h[0].tcp), 1);
	script_in(&x, TCP_ACK, x.seq, x.ack, 10);
	script_expect(&x, TCP_RST | TCP_ACK, x.ack, x.seq);
	assert_int_equal(tcp_conn_count(x.sim.h[0].tcp), 0);
	script_fini(&x);
}

/* D13: an FPDU of 64 KiB in short segments came behind a hole, and so much behind it that all together are long enough
 * on the average.  One peek shows it, or its reader would wait for what is there already. */
static void
test_D13_short_segments_in_front_of_long_ones(void **state)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	struct script x;
	uint32_t at = 100, n;

	script_init(&x);
	x.ws = true;
	script_established(&x);
	script_data(&x, 100); /* its ACK opens the window */
	script_skip(&x);
	tcp_rx_consume(x.sim.h[0].tcp, x.conn, 100, x.sim.now_ns);
	script_conn(&x)->rxq.first -=
		TCP_RXQ_PROVEN; /* so much may be out of order of one that has received something */
	for (; at < 100 + 1000 * 68; at += 200)
		script_in(&x, TCP_ACK, x.seq + at, x.ack, 200);
	for (; at < 600000; at += 1400)
		script_in(&x, TCP_ACK, x.seq + at, x.ack, 1400);
	script_in(&x, TCP_ACK, x.seq, x.ack, 100);
	script_skip(&x);
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), at);
	n = tcp_rx_peek(x.sim.h[0].tcp, x.conn, views, TCP_PEEK_VIEWS);
	assert_in_range(iw_view_total(views, n), TCP_PEEK_OCTETS, at);
	tcp_rx_consume(x.sim.h[0].tcp, x.conn, at, x.sim.now_ns);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_D24_when_an_ack_leaves),
		cmocka_unit_test(test_quick_acks),
		cmocka_unit_test(test_T34_burst_gets_one_ack),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_T16_fin),
		cmocka_unit_test(test_T16_fin_with_data),
		cmocka_unit_test(test_readable_after_rst),
		cmocka_unit_test(test_T9_right_edge_is_monotone),
		cmocka_unit_test(test_T11_silly_window_and_zero_window),
		cmocka_unit_test(test_ack_counts_at_zero_window),
		cmocka_unit_test(test_text_beyond_window),
		cmocka_unit_test(test_text_after_release),
		cmocka_unit_test(test_D13_short_segments_in_front_of_long_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
