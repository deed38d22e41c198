/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners, backlog, passive opening (RFC 9293 §3.10.7.2; tcp_face.h). */
#include "tcpscript.h"

#define HOST(x) ((x).sim.h[0].tcp)

static void
test_addresses_and_ports(void **state)
{
	struct script x;
	struct iw_addr any = {0}, own, other = iw_addr_from_v4(0x0a000063u, 80);
	uint32_t l[8];

	script_init(&x);
	own = x.sim.h[0].nif.addr;
	own.port = 80;
	assert_int_equal(tcp_listen(HOST(x), &other, 1, 0, &l[0]), -IW_E_ADDRNOTAVAIL);
	assert_int_equal(tcp_listen(HOST(x), &any, 1, 0, &l[0]), 0);
	assert_true(any.port >= 32768);
	assert_int_equal(tcp_listen(HOST(x), &any, 1, 0, &l[1]), -IW_E_ADDRINUSE);
	assert_int_equal(tcp_listen(HOST(x), &own, 1, 0, &l[1]), 0);
	any.port = 0;
	assert_int_equal(tcp_listen(HOST(x), &any, 1, 0, &l[2]), 0);
	any.port = 0;
	assert_int_equal(tcp_listen(HOST(x), &any, 1, 0, &l[3]), 0);
	any.port = 0;
	assert_int_equal(tcp_listen(HOST(x), &any, 1, 0, &l[4]), -IW_E_NOMEM); /* max_listeners is 4 */
	tcp_unlisten(HOST(x), l[1], x.sim.now_ns);
	assert_int_equal(tcp_listen(HOST(x), &own, 1, 0, &l[4]), 0);
	tcp_unlisten(HOST(x), l[1], x.sim.now_ns); /* stale */
	assert_int_equal(tcp_listen(HOST(x), &own, 1, 0, &l[5]), -IW_E_NOMEM);
	script_fini(&x);
}

/* What a listener does with anything but a SYN: RST first, then ACK (RFC 9293 §3.10.7.2). */
static void
test_listen_state(void **state)
{
	static const struct {
		uint8_t flags, answer;
	} rows[] = {{TCP_RST, 0},
		    {TCP_RST | TCP_ACK, 0},
		    {TCP_RST | TCP_SYN, 0},
		    {TCP_ACK, TCP_RST},
		    {TCP_ACK | TCP_FIN, TCP_RST},
		    {TCP_SYN | TCP_ACK, TCP_RST},
		    {0, 0},
		    {TCP_FIN, 0},
		    {TCP_SYN | TCP_FIN, TCP_SYN | TCP_ACK}, /* the FIN will come again */
		    {TCP_SYN, TCP_SYN | TCP_ACK},
		    {TCP_SYN | TCP_PSH | TCP_URG, TCP_SYN | TCP_ACK}};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct script x;
		struct tcp_seg seg;

		script_init(&x);
		script_listen(&x, 4);
		script_in(&x, rows[i].flags, SCRIPT_ISS, 4711, 0);
		if (rows[i].answer) {
			seg = script_out(&x);
			assert_int_equal(seg.flags, rows[i].answer);
			if (rows[i].answer == TCP_RST)
				assert_int_equal(seg.seq, 4711);
			else
				assert_int_equal(seg.ack, SCRIPT_ISS + 1);
		}
		script_expect_silence(&x);
		assert_int_equal(tcp_conn_count(HOST(x)), 0);
		assert_int_equal(tcp_syn_count(HOST(x)), rows[i].answer == (TCP_SYN | TCP_ACK));
		script_fini(&x);
	}
}

/* The SYN-ACK offers what the SYN has offered, and its window is not scaled (RFC 7323 §2.2, spec T8). */
static void
test_T8_syn_ack_options(void **state)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct script x;
		struct tcp_seg seg;

		script_init(&x);
		x.ts = i & 1;
		x.sack = i & 2;
		x.ws = i & 4;
		script_listen(&x, 4);
		script_syn(&x);
		seg = script_out(&x);
		assert_int_equal(seg.has_ts, x.ts);
		assert_int_equal(seg.sack_perm, x.sack);
		assert_int_equal(seg.has_ws, x.ws);
		assert_int_equal(seg.mss, 1460);
		assert_int_equal(seg.wnd, 65535);
		if (x.ws)
			assert_int_equal(seg.ws, 9);
		if (x.ts)
			assert_int_equal(seg.tsecr, x.tsval);
		script_in(&x, TCP_ACK, x.seq, x.ack, 0);
		script_data(&x, 10);
		script_data(&x, 10);
		assert_int_equal(script_out(&x).wnd, x.ws ? 1048576 / 512 - 1 : 65535 - 20);
		script_fini(&x);
	}
}

/* Fault 32: full: the SYN is dropped, not refused, and counted; adopting and ending make room. */
static void
test_backlog(void **state)
{
	struct script x;
	uint32_t conn[4], ack[4];

	script_init(&x);
	script_listen(&x, 2);
	for (uint32_t i = 0; i < 3; i++) { /* a handshake takes no place */
		script_syn_from(&x, (uint16_t)(100 + i));
		ack[i] = script_out(&x).seq + 1;
	}
	assert_int_equal(tcp_conn_count(HOST(x)), 0);
	for (uint32_t i = 0; i < 2; i++) { /* established: it does */
		x.peer_port = (uint16_t)(100 + i);
		script_in(&x, TCP_ACK, SCRIPT_ISS + 1, ack[i], 0);
		script_poll(&x);
		conn[i] = x.conn;
	}
	script_syn_from(&x, 103);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.rx_backlog_full"), 1);
	/* The last ACK of the third one: silence too; it comes again, and then there is room. */
	x.peer_port = 102;
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, ack[2], 0);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.rx_backlog_full"), 2);
	assert_int_equal(tcp_conn_count(HOST(x)), 2);
	tcp_adopt(HOST(x), conn[0], 1, NULL);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, ack[2], 0);
	script_poll(&x);
	assert_int_equal(tcp_conn_count(HOST(x)), 3);
	script_syn_from(&x, 103);
	script_expect_silence(&x);
	tcp_release(HOST(x), conn[1], x.sim.now_ns);
	script_skip(&x);
	script_syn_from(&x, 103);
	assert_int_equal(script_out(&x).flags, TCP_SYN | TCP_ACK);
	/* A RST in SYN_RCVD: back to LISTEN, nobody is told. */
	x.bits = 0;
	assert_int_equal(tcp_syn_count(HOST(x)), 1);
	script_in(&x, TCP_RST, SCRIPT_ISS + 1, 0, 0);
	assert_int_equal(tcp_syn_count(HOST(x)), 0);
	assert_int_equal(script_counter(&x, "tcp.syn_reset"), 1);
	script_expect_silence(&x);
	assert_int_equal(x.bits, 0);
	script_fini(&x);
}

/* The SYN-ACK was lost: the SYN comes again and gets it again, with the same ISS. */
static void
test_T2_syn_again(void **state)
{
	struct script x;
	struct tcp_seg first, again;

	script_init(&x);
	script_listen(&x, 1);
	script_syn(&x);
	first = script_out(&x);
	x.seq = SCRIPT_ISS;
	script_syn(&x);
	again = script_out(&x);
	assert_int_equal(again.flags, TCP_SYN | TCP_ACK);
	assert_int_equal(again.seq, first.seq);
	script_expect_silence(&x);
	assert_int_equal(tcp_syn_count(HOST(x)), 1);
	script_in(&x, TCP_ACK, x.seq, x.ack - 1, 0); /* a bad ACK: RST, still SYN_RCVD */
	script_expect(&x, TCP_RST, x.ack - 1, 0);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	script_poll(&x);
	assert_int_equal(x.bits, TCP_READY_UP);
	script_fini(&x);
}

/* RFC 6298 §2: the handshake tells the RTT, also without timestamps; Karn: not when the SYN-ACK left twice, because
 * nothing came back or because the peer's SYN came again, unless a timestamp tells which one is answered. */
static void
test_rtt_of_the_handshake(void **state)
{
	static const struct {
		bool syn_again;
		uint64_t wait_ns; /* before the ACK */
		uint64_t srtt_ms;
		bool ts;
	} rows[] = {{false, 30 * IW_MS, 30, false},
		    {false, 900 * IW_MS, 900, false},
		    {true, 30 * IW_MS, 0, false},
		    {false, 1100 * IW_MS, 0, false},
		    {true, 30 * IW_MS, 30, true}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tcp_seg sent, ack;
		struct tcp_info info;
		struct script x;

		script_init(&x);
		x.ts = rows[i].ts;
		script_listen(&x, 4);
		script_syn(&x);
		sent = script_out(&x);
		if (rows[i].syn_again)
			script_syn(&x);
		script_wait(&x, rows[i].wait_ns);
		ack = script_seg(&x, TCP_ACK, x.seq, sent.seq + 1);
		ack.tsecr = sent.tsval;
		script_in_seg(&x, &ack, 0);
		script_poll(&x);
		assert_true(x.bits & TCP_READY_UP);
		assert_true(tcp_conn_info(HOST(x), x.conn, &info));
		assert_int_equal(info.srtt_ns / IW_MS, rows[i].srtt_ms);
		script_fini(&x);
	}
}

/* Spec T22: two SYNs for one TIME_WAIT record in one burst: one handshake, two SYN-ACKs alike. */
static void
test_T22_two_syns_in_one_burst(void **state)
{
	struct script x;
	struct tcp_seg seg, first, second;

	script_init(&x);
	script_listen(&x, 4);
	script_syn(&x);
	script_in(&x, TCP_ACK, x.seq, script_out(&x).seq + 1, 0);
	script_poll(&x);
	tcp_adopt(HOST(x), x.conn, 1, NULL);
	script_close(&x);
	script_in(&x, TCP_ACK | TCP_FIN, x.seq, x.ack, 0);
	script_skip(&x);
	tcp_release(HOST(x), x.conn, x.sim.now_ns);
	assert_int_equal(tcp_timewait_count(HOST(x)), 1);
	seg = script_seg(&x, TCP_SYN, x.seq + 1000, 0);
	script_in_seg(&x, &seg, 0); /* without a poll between them */
	script_in_seg(&x, &seg, 0);
	first = script_out(&x);
	second = script_out(&x);
	assert_int_equal(first.flags, TCP_SYN | TCP_ACK);
	assert_int_equal(second.flags, TCP_SYN | TCP_ACK);
	assert_int_equal(first.seq, second.seq);
	assert_int_equal(tcp_syn_count(HOST(x)), 1);
	assert_int_equal(tcp_timewait_count(HOST(x)), 1);
	x.bits = 0;
	script_in(&x, TCP_ACK, seg.seq + 1, first.seq + 1, 0);
	script_poll(&x);
	assert_int_equal(x.bits, TCP_READY_UP);
	assert_int_equal(tcp_timewait_count(HOST(x)), 0);
	assert_int_equal(script_counter(&x, "tcp.timewait_reused"), 1);
	assert_int_equal(HOST(x)->demux.used, 1);
	script_fini(&x);
}

/* UP comes with the octets that came with the handshake's ACK, still readable. */
static void
test_up_with_data(void **state)
{
	struct script x;
	struct tcp_ready r;
	uint64_t place = 0;

	script_init(&x);
	script_listen(&x, 1);
	script_syn(&x);
	script_skip(&x);
	script_in(&x, TCP_ACK | TCP_FIN, x.seq, x.ack, 30);
	assert_true(tcp_ready_next(HOST(x), &r));
	assert_int_equal(r.bits, TCP_READY_UP | TCP_READY_RX | TCP_READY_FIN);
	assert_int_equal(r.listener, x.listener);
	assert_int_equal(r.owner, 9);
	tcp_adopt(HOST(x), r.conn, 10, NULL);
	tcp_set_stream(HOST(x), r.conn, 11);
	assert_int_equal(sim_read(&x.sim.h[0], r.conn, &place, 10), 10);
	tcp_ready_again(HOST(x), r.conn);
	assert_true(tcp_ready_next(HOST(x), &r));
	assert_int_equal(r.bits, TCP_READY_RX);
	assert_int_equal(r.owner, 10);
	assert_int_equal(r.stream, 11);
	assert_int_equal(sim_read(&x.sim.h[0], r.conn, &place, UINT32_MAX), 20);
	assert_false(tcp_ready_next(HOST(x), &r));
	script_fini(&x);
}

/* Unlisten: RST for what nobody has adopted; adopted ones live on. */
static void
test_unlisten(void **state)
{
	struct script x;
	uint32_t adopted, ack;

	script_init(&x);
	script_listen(&x, 4);
	script_syn_from(&x, 100);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, script_out(&x).seq + 1, 0);
	script_poll(&x);
	adopted = x.conn;
	tcp_adopt(HOST(x), adopted, 1, NULL);
	script_syn_from(&x, 101);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, script_out(&x).seq + 1, 0);
	script_syn_from(&x, 102);
	ack = script_out(&x).seq + 1;
	assert_int_equal(tcp_conn_count(HOST(x)), 2);
	tcp_unlisten(HOST(x), x.listener, x.sim.now_ns);
	assert_int_equal(script_out(&x).flags, TCP_RST | TCP_ACK);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, ack, 0); /* the handshake ends where nobody listens */
	script_expect(&x, TCP_RST, ack, 0);
	script_expect_silence(&x);
	assert_int_equal(tcp_syn_count(HOST(x)), 0);
	assert_int_equal(tcp_conn_count(HOST(x)), 1);
	x.conn = adopted;
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	script_syn_from(&x, 103);
	assert_int_equal(script_out(&x).flags, TCP_RST | TCP_ACK);
	script_fini(&x);
}

/* Handshakes of a listener that has gone: no SYN-ACK any more, neither by time nor to the SYN that comes again. */
static void
test_unlisten_half_open(void **state)
{
	static const struct {
		uint8_t flags, answer; /* of the segment that comes; 0: none */
	} rows[] = {
		{TCP_SYN, TCP_RST | TCP_ACK}, {TCP_ACK, TCP_RST}, {TCP_ACK | TCP_FIN, TCP_RST}, {TCP_RST, 0}, {0, 0}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct script x;

		script_init(&x);
		script_listen(&x, 4);
		script_syn(&x);
		assert_int_equal(script_out(&x).flags, TCP_SYN | TCP_ACK);
		tcp_unlisten(HOST(x), x.listener, x.sim.now_ns);
		if (rows[i].flags) {
			script_in(&x, rows[i].flags, SCRIPT_ISS + !(rows[i].flags & TCP_SYN), x.ack, 0);
			assert_int_equal(tcp_syn_count(HOST(x)), 0);
		}
		if (rows[i].answer)
			assert_int_equal(script_out(&x).flags, rows[i].answer);
		script_wait(&x, 100 * IW_SEC);
		script_expect_silence(&x);
		assert_int_equal(tcp_syn_count(HOST(x)), 0);
		assert_int_equal(script_counter(&x, "tcp.syn_expired"), 1);
		script_fini(&x);
	}
}

/* A new SYN for a TIME_WAIT record was an old duplicate: the RST brings the record back (RFC 9293 MAY-2). */
static void
test_T22_old_duplicate_syn(void **state)
{
	struct script x;
	struct tcp_seg seg;
	uint32_t last_seq;

	script_init(&x);
	script_listen(&x, 4);
	script_syn(&x);
	script_in(&x, TCP_ACK, x.seq, script_out(&x).seq + 1, 0);
	script_poll(&x);
	tcp_adopt(HOST(x), x.conn, 1, NULL);
	script_close(&x);
	script_in(&x, TCP_ACK | TCP_FIN, x.seq, x.ack, 0);
	script_skip(&x);
	tcp_release(HOST(x), x.conn, x.sim.now_ns);
	assert_int_equal(tcp_timewait_count(HOST(x)), 1);
	last_seq = x.ack;
	seg = script_seg(&x, TCP_SYN, x.seq + 100000, 0);
	script_in_seg(&x, &seg, 0);
	seg = script_out(&x);
	assert_int_equal(seg.flags, TCP_SYN | TCP_ACK);
	assert_true(iw_seq_gt(seg.seq, last_seq));
	script_in(&x, TCP_RST, x.seq + 100001, 0, 0);
	script_expect_silence(&x);
	assert_int_equal(tcp_conn_count(HOST(x)), 0);
	assert_int_equal(tcp_timewait_count(HOST(x)), 1);
	/* And it still answers the peer's FIN. */
	script_in(&x, TCP_ACK | TCP_FIN, x.seq, last_seq, 0);
	script_expect(&x, TCP_ACK, last_seq, x.seq + 1);
	script_wait(&x, 61 * IW_SEC);
	assert_int_equal(tcp_timewait_count(HOST(x)), 0);
	assert_int_equal(HOST(x)->demux.used, 0);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_and_ports),
		cmocka_unit_test(test_listen_state),
		cmocka_unit_test(test_T8_syn_ack_options),
		cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_T2_syn_again),
		cmocka_unit_test(test_rtt_of_the_handshake),
		cmocka_unit_test(test_T22_two_syns_in_one_burst),
		cmocka_unit_test(test_up_with_data),
		cmocka_unit_test(test_unlisten),
		cmocka_unit_test(test_unlisten_half_open),
		cmocka_unit_test(test_T22_old_duplicate_syn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
