/* SPDX-License-Identifier: BSD-3-Clause */
/* Who a segment is for, SYN_SENT, and that the fast path is taken when it should be (RFC 9293 §3.10.7). */
#include "tcpscript.h"

/* ---- §3.10.7.1: nobody ---- */

static void
test_nobody_gets_rst(void **state)
{
	struct script x;
	struct tcp_seg seg;

	script_init(&x);
	script_in(&x, TCP_ACK, 100, 777, 0);
	seg = script_expect(&x, TCP_RST, 777, 0);
	assert_int_equal(seg.sport, x.our_port);
	assert_int_equal(seg.dport, x.peer_port);
	assert_int_equal(seg.wnd, 0);
	script_in(&x, TCP_SYN, 100, 0, 0);
	script_expect(&x, TCP_RST | TCP_ACK, 0, 101);
	script_in(&x, TCP_FIN, 100, 0, 10);
	script_expect(&x, TCP_RST | TCP_ACK, 0, 111);
	script_in(&x, TCP_SYN | TCP_ACK, 100, 5, 0);
	script_expect(&x, TCP_RST, 5, 0);
	script_in(&x, 0, 100, 0, 0);
	script_expect(&x, TCP_RST | TCP_ACK, 0, 100);
	/* Never a RST for a RST. */
	script_in(&x, TCP_RST, 100, 0, 0);
	script_in(&x, TCP_RST | TCP_ACK, 100, 777, 0);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.rx_nobody"), 5);
	assert_int_equal(script_counter(&x, "tcp.rx_nobody_rst"), 2);
	script_fini(&x);
}

/* Hands a packet in with addresses of our choice, below the IP checks. */
static void
raw_in(struct script *x, struct iw_addr src, struct iw_addr dst, const struct tcp_seg *seg)
{
	struct rte_mbuf *m = sim_mbuf(&x->sim.h[1], 0, 0);
	struct net_pkt pkt = {.src = src, .dst = dst, .proto = 6, .l4_cksum_good = true};

	pkt.l4_len = tcp_hdr_push(m, seg);
	tcp_rx(x->sim.h[0].tcp, m, &pkt, x->sim.now_ns);
}

/* RFC 9293 MUST-57, MUST-63, LAND (spec T33): dropped without a word. */
static void
test_T33_bogus_addresses(void **state)
{
	static const uint32_t bad[] = {0, 0xe0000001u, 0xffffffffu, 0x0a0000ffu, 0xf0000001u};
	struct script x;
	struct tcp_seg seg;
	struct iw_addr us, peer, other;

	script_init(&x);
	script_listen(&x, 4);
	us = x.sim.h[0].nif.addr;
	peer = x.sim.h[1].nif.addr;
	seg = script_seg(&x, TCP_SYN, 100, 0);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		raw_in(&x, iw_addr_from_v4(bad[i], 0), us, &seg);
		raw_in(&x, peer, iw_addr_from_v4(bad[i], 0), &seg);
	}
	assert_int_equal(iw_addr_parse("ff02::1", &other), 0);
	raw_in(&x, other, other, &seg);
	raw_in(&x, (struct iw_addr){.port = 0}, us, &seg); /* :: */
	seg.dport = 1;                                     /* nobody there: no RST to a group either */
	raw_in(&x, peer, iw_addr_from_v4(0xe0000001u, 0), &seg);
	seg = script_seg(&x, TCP_SYN, 100, 0);
	seg.sport = 0;
	raw_in(&x, peer, us, &seg);
	seg.sport = seg.dport;
	raw_in(&x, us, us, &seg); /* LAND */
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.rx_bad_addr"), 15);
	assert_int_equal(tcp_conn_count(x.sim.h[0].tcp), 0);
	script_fini(&x);
}

static void
test_T14_bad_checksum_and_header(void **state)
{
	struct script x;
	struct rte_mbuf *m;
	struct net_pkt pkt = {.proto = 6, .l4_cksum_good = true, .l4_len = 19};

	script_init(&x);
	script_established(&x);
	x.bad_cksum = true;
	script_in(&x, TCP_ACK, x.seq, x.ack, 10);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.rx_bad_cksum"), 1);
	m = sim_mbuf(&x.sim.h[1], 0, 40);
	tcp_rx(x.sim.h[0].tcp, m, &pkt, x.sim.now_ns);
	assert_int_equal(script_counter(&x, "tcp.rx_bad_hdr"), 1);
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), 0);
	script_fini(&x);
}

/* ---- §3.10.7.3: SYN_SENT ---- */

static void
test_syn_sent(void **state)
{
	/* our: relative to our ISS */
	const struct {
		uint8_t flags;
		uint32_t ack_rel;
		uint8_t answer; /* flags of it; 0: none */
		enum tcp_state next;
		uint32_t bits;
	} rows[] = {
		{TCP_ACK, 0, TCP_RST, TCP_SYN_SENT, 0},
		{TCP_ACK, 2, TCP_RST, TCP_SYN_SENT, 0},
		{TCP_ACK, 1, 0, TCP_SYN_SENT, 0},
		{TCP_SYN | TCP_ACK, 0, TCP_RST, TCP_SYN_SENT, 0},
		{TCP_SYN | TCP_ACK, 1, TCP_ACK, TCP_ESTABLISHED, TCP_READY_UP},
		{TCP_SYN, 0, TCP_SYN | TCP_ACK, TCP_SYN_RCVD, 0},
		{TCP_RST, 0, 0, TCP_SYN_SENT, 0},
		{TCP_RST | TCP_ACK, 0, 0, TCP_SYN_SENT, 0},
		{TCP_RST | TCP_ACK, 2, 0, TCP_SYN_SENT, 0},
		{TCP_RST | TCP_ACK, 1, 0, TCP_CLOSED, TCP_READY_RST},
		{TCP_FIN, 0, 0, TCP_SYN_SENT, 0},
		{TCP_FIN | TCP_ACK, 1, 0, TCP_SYN_SENT, 0},
		{0, 0, 0, TCP_SYN_SENT, 0},
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct script x;
		struct tcp_seg seg;

		script_init(&x);
		script_open(&x, NULL);
		script_in(&x, rows[i].flags, SCRIPT_ISS, x.our_iss + rows[i].ack_rel, 0);
		if (rows[i].answer == TCP_RST) {
			seg = script_out(&x);
			assert_int_equal(seg.flags, TCP_RST);
			assert_int_equal(seg.seq, x.our_iss + rows[i].ack_rel);
			seg = script_out(&x); /* T20: at once, but only once for each SYN */
			assert_int_equal(seg.flags & (TCP_SYN | TCP_ACK), TCP_SYN);
			assert_int_equal(seg.seq, x.our_iss);
			script_in(&x, rows[i].flags, SCRIPT_ISS, x.our_iss + rows[i].ack_rel, 0);
			assert_int_equal(script_out(&x).flags, TCP_RST);
		} else if (rows[i].answer == TCP_ACK) {
			script_expect(&x, TCP_ACK, x.our_iss + 1, SCRIPT_ISS + 1);
		} else if (rows[i].answer) {
			script_expect(&x, rows[i].answer, x.our_iss, SCRIPT_ISS + 1);
		}
		script_expect_silence(&x);
		if (script_state(&x) != rows[i].next || x.bits != rows[i].bits)
			fail_msg("row %u: state %d bits 0x%x", i, script_state(&x), x.bits);
		script_fini(&x);
	}
}

/* Text and FIN that came with the SYN-ACK count. */
static void
test_syn_ack_with_text_and_fin(void **state)
{
	struct script x;
	struct tcp_seg seg;

	script_init(&x);
	script_open(&x, NULL);
	seg = script_seg(&x, TCP_SYN | TCP_ACK | TCP_FIN, SCRIPT_ISS, x.our_iss + 1);
	script_in_seg(&x, &seg, 10);
	script_expect(&x, TCP_ACK, x.our_iss + 1, SCRIPT_ISS + 12);
	assert_int_equal(script_state(&x), TCP_CLOSE_WAIT);
	assert_int_equal(x.bits, TCP_READY_UP | TCP_READY_RX | TCP_READY_FIN);
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), 10);
	script_fini(&x);
}

/* Spec T18: crossing SYNs; the SYN-ACK that crosses ours establishes (RFC 9293 figure 8), so does a bare ACK. */
static void
test_T18_simultaneous_open(void **state)
{
	for (uint32_t bare = 0; bare < 2; bare++) {
		struct script x;
		struct tcp_seg seg;

		script_init(&x);
		script_open(&x, NULL);
		script_syn(&x);
		script_expect(&x, TCP_SYN | TCP_ACK, x.our_iss, SCRIPT_ISS + 1);
		assert_int_equal(script_state(&x), TCP_SYN_RCVD);
		if (bare) {
			script_in(&x, TCP_ACK, SCRIPT_ISS + 1, x.our_iss + 1, 0);
		} else {
			seg = script_seg(&x, TCP_SYN | TCP_ACK, SCRIPT_ISS, x.our_iss + 1);
			script_syn_options(&x, &seg);
			script_in_seg(&x, &seg, 0);
			script_expect(&x, TCP_ACK, x.our_iss + 1, SCRIPT_ISS + 1);
		}
		script_expect_silence(&x);
		assert_int_equal(script_state(&x), TCP_ESTABLISHED);
		assert_int_equal(x.bits, TCP_READY_UP);
		script_fini(&x);
	}
}

/* SYN_RCVD of an active opener: a RST refuses it (RFC 9293 §3.10.7.4, second step). */
static void
test_T18_refused_after_crossing(void **state)
{
	struct script x;

	script_init(&x);
	script_reach(&x, TCP_SYN_RCVD);
	script_in(&x, TCP_RST, SCRIPT_ISS + 1, 0, 0);
	script_expect_silence(&x);
	assert_int_equal(x.bits, TCP_READY_RST);
	assert_int_equal(script_state(&x), TCP_CLOSED);
	script_fini(&x);
}

/* ---- the fast path ---- */

static void
test_fast_path(void **state)
{
	struct script x;

	script_init(&x);
	x.ts = x.sack = x.ws = true;
	script_established(&x);
	for (uint32_t i = 0; i < 10; i++) {
		script_data(&x, 100);
		x.tsval++;
	}
	assert_int_equal(script_counter(&x, "tcp.rx_fast"), 10);
	script_skip(&x);
	script_send(&x, 0, 500);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	assert_int_equal(script_counter(&x, "tcp.rx_fast"), 11);
	assert_true(tcp_txq_empty(&script_conn(&x)->fl->txq));
	/* Out of order: not fast, and neither is what fills the hole; then fast again. */
	script_in(&x, TCP_ACK, x.seq + 10, x.ack, 10);
	script_in(&x, TCP_ACK, x.seq, x.ack, 10);
	assert_int_equal(script_counter(&x, "tcp.rx_fast"), 11);
	x.seq += 20;
	script_data(&x, 1);
	assert_int_equal(script_counter(&x, "tcp.rx_fast"), 12);
	/* The ACK is bounded on both sides there as well. */
	script_in(&x, TCP_ACK, x.seq, x.ack + 1, 5);
	assert_int_equal(script_counter(&x, "tcp.rx_fast"), 12);
	assert_int_equal(script_counter(&x, "tcp.rx_bad_ack"), 1);
	assert_int_equal(script_conn(&x)->ts_recent, x.tsval);
	script_fini(&x);
}

/* Spec T17: urgent data is in line, whatever the pointer says. */
static void
test_T17_urgent(void **state)
{
	static const uint16_t urp[] = {0, 1, 5, 65535};
	struct script x;
	uint64_t place = 0;

	script_init(&x);
	script_established(&x);
	for (uint32_t i = 0; i < sizeof(urp) / sizeof(urp[0]); i++) {
		x.urp = urp[i];
		script_in(&x, TCP_ACK | TCP_URG, x.seq, x.ack, 10);
		x.seq += 10;
	}
	x.urp = 9;
	script_in(&x, TCP_ACK | TCP_URG, x.seq, x.ack, 0);
	assert_int_equal(sim_read(&x.sim.h[0], x.conn, &place, UINT32_MAX), 40);
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	script_fini(&x);
}

/* Spec T15: every combination of flags in every state leaves a legal state and no crash; nothing without ACK or RST
 * or SYN ever moves a synchronized one. */
static void
test_T15_all_flags_in_all_states(void **state)
{
	for (uint32_t st = TCP_SYN_SENT; st <= TCP_LAST_ACK; st++)
		for (uint32_t flags = 0; flags < 64; flags++) {
			struct script x;
			enum tcp_state before, after;

			script_init(&x);
			script_reach(&x, (enum tcp_state)st);
			before = script_state(&x);
			script_in(&x, (uint8_t)flags, x.seq, x.ack, 3);
			script_skip(&x);
			after = script_state(&x);
			assert_true(before == after || tcp_fsm_may_move(before, after) || after == TCP_TIME_WAIT ||
				    after == TCP_CLOSE_WAIT);
			if (st > TCP_SYN_RCVD && !(flags & (TCP_ACK | TCP_RST)))
				assert_int_equal(after, before);
			if (st > TCP_SYN_RCVD && (flags & TCP_RST))
				assert_int_equal(after, TCP_CLOSED);
			script_fini(&x);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_gets_rst),
		cmocka_unit_test(test_T33_bogus_addresses),
		cmocka_unit_test(test_T14_bad_checksum_and_header),
		cmocka_unit_test(test_syn_sent),
		cmocka_unit_test(test_syn_ack_with_text_and_fin),
		cmocka_unit_test(test_T18_simultaneous_open),
		cmocka_unit_test(test_T18_refused_after_crossing),
		cmocka_unit_test(test_fast_path),
		cmocka_unit_test(test_T17_urgent),
		cmocka_unit_test(test_T15_all_flags_in_all_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
