/* SPDX-License-Identifier: BSD-3-Clause */
/* Every wait ends (list in tcp_timer.h). */
#include "tcpscript.h"

#include "tcp_timer.h"

static bool
near_to(uint64_t value, uint64_t want)
{
	return value >= want && value <= want + want / 100 + 100 * IW_US;
}

/* When the next segment comes out, from now; 0: none for an hour. */
static uint64_t
next_after(struct script *x, uint64_t limit_ns)
{
	uint64_t from = x->sim.now_ns;
	uint32_t rounds = 0;

	x->at = x->n;
	while (x->at == x->n) {
		uint64_t next = sim_next(&x->sim);

		if (++rounds == 100000)
			fail_msg("no progress: now %lu, deadlines %lu %lu %lu", (unsigned long)x->sim.now_ns,
				 (unsigned long)tcp_deadline(x->sim.h[0].tcp),
				 (unsigned long)net_deadline(x->sim.h[0].net),
				 (unsigned long)net_deadline(x->sim.h[1].net));

		if (next > from + limit_ns)
			return 0;
		x->sim.now_ns = next > x->sim.now_ns ? next : x->sim.now_ns + 1;
		script_poll(x);
	}
	return x->sim.now_ns - from;
}

/* RFC 6298 §5: first RTO from SRTT (200 ms floor), then doubled, to 60 s; given up after R2 = 100 s (RFC 9293
 * MUST-21); progress ends the back-off. */
static void
test_T27_rto_back_off(void **state)
{
	struct script x;
	uint64_t rto = 200 * IW_MS, at;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 100);
	script_poll(&x);
	for (uint32_t i = 0; i < 8; i++) {
		at = next_after(&x, 3600 * IW_SEC);
		if (!near_to(at, rto))
			fail_msg("retransmission %u after %lu us, not %lu", i, (unsigned long)at / 1000,
				 (unsigned long)rto / 1000);
		assert_int_equal(x.out[x.n - 1].seq, x.our_iss + 1);
		assert_int_equal(x.out[x.n - 1].len, 100);
		rto = rto * 2 < 60 * IW_SEC ? rto * 2 : 60 * IW_SEC;
	}
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 101, 0);
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	assert_int_equal(next_after(&x, 3600 * IW_SEC), 0);
	/* What was acknowledged had been sent again, so it tells no round trip: the back-off stays (RFC 6298 §5)... */
	script_send(&x, 0, 100);
	script_poll(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 201, 0);
	/* ...until new data do. */
	script_send(&x, 0, 100);
	script_poll(&x);
	assert_true(next_after(&x, 3600 * IW_SEC) < 210 * IW_MS);
	script_fini(&x);
}

static void
test_T27_user_timeout(void **state)
{
	struct script x;
	struct tcp_attr attr = {.user_timeout_ns = 5 * IW_SEC};
	uint64_t start;

	script_init(&x);
	script_established(&x);
	tcp_adopt(x.sim.h[0].tcp, x.conn, 5, &attr);
	script_wait(&x, 1000 * IW_SEC); /* idle: nothing to give up */
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	script_send(&x, 0, 100);
	script_poll(&x);
	start = x.sim.now_ns;
	while (!x.bits && x.sim.now_ns < start + 100 * IW_SEC)
		script_wait(&x, 10 * IW_MS);
	assert_int_equal(x.bits, TCP_READY_TIMEOUT);
	assert_true(near_to(x.sim.now_ns - start, 5 * IW_SEC));
	assert_int_equal(x.out[x.n - 1].flags, TCP_RST | TCP_ACK);
	assert_int_equal(script_state(&x), TCP_CLOSED);
	script_fini(&x);
}

/* 1 s, 2 s, 4 s ...: seven retries, then TIMEOUT. */
static void
test_syn_retries(void **state)
{
	struct script x;
	uint64_t rto = IW_SEC;

	script_init(&x);
	script_open(&x, NULL);
	for (uint32_t i = 0; i < TCP_SYN_RETRIES; i++) {
		assert_true(near_to(next_after(&x, 3600 * IW_SEC), rto));
		assert_int_equal(x.out[x.n - 1].flags, TCP_SYN);
		assert_int_equal(x.out[x.n - 1].seq, x.our_iss);
		rto = rto * 2 < 60 * IW_SEC ? rto * 2 : 60 * IW_SEC;
	}
	assert_int_equal(x.bits, 0);
	assert_int_equal(next_after(&x, 3600 * IW_SEC), 0);
	script_wait(&x, 120 * IW_SEC);
	assert_int_equal(x.bits, TCP_READY_TIMEOUT);
	script_fini(&x);
}

static void
test_syn_timeout(void **state)
{
	struct script x;
	struct tcp_attr attr = {.syn_timeout_ns = 10 * IW_SEC};

	script_init(&x);
	script_open(&x, &attr);
	script_wait(&x, 9999 * IW_MS);
	assert_int_equal(x.bits, 0);
	script_wait(&x, 2 * IW_MS);
	assert_int_equal(x.bits, TCP_READY_TIMEOUT);
	script_fini(&x);
}

/* RFC 6298 §5.7: the SYN timed out: RTO 3 s when data begins, and one segment for a start (RFC 6928 §2). */
static void
test_T27_syn_lost(void **state)
{
	struct script x;

	script_init(&x);
	script_open(&x, NULL);
	next_after(&x, 10 * IW_SEC);
	script_syn_ack(&x);
	script_skip(&x);
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	assert_int_equal(script_conn(&x)->fl->cc.cwnd, script_conn(&x)->emss);
	script_send(&x, 0, 100);
	script_poll(&x);
	assert_true(near_to(next_after(&x, 100 * IW_SEC), 3 * IW_SEC));
	script_fini(&x);
}

/* Half-open passive connections end quietly and free their place. */
static void
test_syn_ack_retries(void **state)
{
	struct script x;
	uint32_t n = 0;

	script_init(&x);
	script_listen(&x, 1);
	script_syn(&x);
	script_poll(&x);
	while (next_after(&x, 100 * IW_SEC)) {
		assert_int_equal(x.out[x.n - 1].flags, TCP_SYN | TCP_ACK);
		n++;
	}
	script_wait(&x, 100 * IW_SEC);
	assert_int_equal(n, TCP_SYN_ACK_RETRIES);
	assert_int_equal(x.bits, 0);
	assert_int_equal(tcp_syn_count(x.sim.h[0].tcp), 0);
	assert_int_equal(script_counter(&x, "tcp.syn_expired"), 1);
	x.seq = SCRIPT_ISS;
	script_syn(&x);
	script_poll(&x);
	assert_int_equal(tcp_syn_count(x.sim.h[0].tcp), 1);
	script_fini(&x);
}

/* RFC 9293 §3.8.4 (spec T31). */
static void
test_T31_keepalive(void **state)
{
	struct script x;
	struct tcp_attr attr = {.keepalive_ns = 20 * IW_SEC};
	uint32_t n;

	script_init(&x);
	script_established(&x);
	assert_int_equal(next_after(&x, 100000 * IW_SEC), 0); /* off by default (MUST-25) */
	tcp_adopt(x.sim.h[0].tcp, x.conn, 5, &attr);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	tcp_adopt(x.sim.h[0].tcp, x.conn, 5, &attr);
	for (uint32_t i = 0; i < 5; i++) { /* a peer that answers is never given up */
		assert_true(near_to(next_after(&x, 100 * IW_SEC), 20 * IW_SEC));
		assert_int_equal(x.out[x.n - 1].seq, x.ack - 1);
		assert_int_equal(x.out[x.n - 1].len, 0);
		script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	}
	assert_true(near_to(next_after(&x, 100 * IW_SEC), 20 * IW_SEC));
	for (n = 1; next_after(&x, 100 * IW_SEC) && x.bits == 0; n++)
		assert_int_equal(x.out[x.n - 1].seq, x.ack - 1);
	assert_int_equal(n, TCP_KEEPALIVE_PROBES);
	assert_int_equal(x.bits, TCP_READY_TIMEOUT);
	script_fini(&x);
}

/* Segments that anybody could have made up are no sign of life: outside the window, or of an ACK never sent. */
static void
test_T31_keepalive_not_by_strangers(void **state)
{
	struct tcp_attr attr = {.keepalive_ns = 5 * IW_SEC, .keepalive_step_ms = 500, .keepalive_probes = 3};
	struct script x;

	(void)state;
	script_init(&x);
	script_established(&x);
	tcp_adopt(x.sim.h[0].tcp, x.conn, 5, &attr);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	for (uint32_t i = 0; i < 20 && x.bits == 0; i++) {
		script_wait(&x, IW_SEC / 2);
		if (x.bits)
			break;
		script_in(&x, TCP_ACK, x.seq + (1u << 30), x.ack, 0);
		script_in(&x, TCP_ACK, x.seq, x.ack + (1u << 30), 0);
		script_in(&x, TCP_RST, x.seq + (1u << 30), 0, 0);
	}
	assert_int_equal(x.bits, TCP_READY_TIMEOUT);
	script_fini(&x);
}

/* The storage target's numbers: dead after idle + n x interval, to the tick (spec T31). */
static void
test_T31_keepalive_numbers(void **state)
{
	struct script x;
	struct tcp_attr attr = {.keepalive_ns = 5 * IW_SEC, .keepalive_step_ms = 500, .keepalive_probes = 3};
	uint64_t start;

	script_init(&x);
	script_established(&x);
	tcp_adopt(x.sim.h[0].tcp, x.conn, 5, &attr);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	start = x.sim.now_ns;
	assert_true(near_to(next_after(&x, 100 * IW_SEC), 5 * IW_SEC));
	for (uint32_t i = 1; i < 3; i++)
		assert_true(near_to(next_after(&x, 100 * IW_SEC), IW_SEC / 2));
	assert_int_equal(x.bits, 0);
	next_after(&x, 100 * IW_SEC);
	assert_int_equal(x.bits, TCP_READY_TIMEOUT);
	assert_true(x.sim.now_ns - start >= 6500 * IW_MS);
	script_fini(&x);
}

/* RFC 5482 §1: the user timeout holds for probes; MUST-29: not one alone. */
static void
test_T31_keepalive_user_timeout(void **state)
{
	static const struct {
		uint32_t step_ms, user_timeout_ms;
		uint8_t probes, want;
		uint32_t end_ms; /* from the first probe */
	} rows[] = {{2000, 5000, 9, 3, 5000}, {0, 5000, 9, 2, 5000}, {10000, 5000, 9, 2, 5000},
		    {500, 5000, 3, 3, 1500},  {0, 0, 0, 9, 45000},   {60000, 0, 5, 2, 100000}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tcp_attr attr = {.keepalive_ns = 20 * IW_SEC,
					.keepalive_step_ms = rows[i].step_ms,
					.keepalive_probes = rows[i].probes,
					.user_timeout_ns = rows[i].user_timeout_ms * IW_MS};
		uint32_t probes = 0;
		struct script x;
		uint64_t first;

		script_init(&x);
		script_established(&x);
		tcp_adopt(x.sim.h[0].tcp, x.conn, 5, &attr);
		assert_true(near_to(next_after(&x, 100 * IW_SEC), 20 * IW_SEC));
		first = x.sim.now_ns;
		do
			probes++;
		while (next_after(&x, 100 * IW_SEC) && x.bits == 0);
		assert_int_equal(x.bits, TCP_READY_TIMEOUT);
		assert_int_equal(probes, rows[i].want);
		assert_true(near_to(x.sim.now_ns - first, rows[i].end_ms * IW_MS));
		script_fini(&x);
	}
}

/* RFC 9293 MUST-26: none while data is outstanding; when it is acknowledged the idle time counts anew. */
static void
test_T31_keepalive_with_data(void **state)
{
	struct script x;
	struct tcp_attr attr = {.keepalive_ns = 5 * IW_SEC};

	script_init(&x);
	script_established(&x);
	tcp_adopt(x.sim.h[0].tcp, x.conn, 5, &attr);
	script_send(&x, 0, 100);
	script_skip(&x);
	script_wait(&x, 60 * IW_SEC);
	assert_int_equal(script_counter(&x, "tcp.tx_probes"), 0);
	for (; x.at < x.n; x.at++)
		assert_int_equal(x.out[x.at].len, 100);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	assert_true(near_to(next_after(&x, 100 * IW_SEC), 5 * IW_SEC));
	assert_int_equal(x.out[x.n - 1].len, 0);
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	script_fini(&x);
}

/* Spec T10, T36: a zero window in the closing states is probed too, and the FIN follows the data when it opens. */
static void
test_T10_T36_persist_in_closing_states(void **state)
{
	static const enum tcp_state from[] = {TCP_ESTABLISHED, TCP_CLOSE_WAIT};
	static const enum tcp_state to[] = {TCP_FIN_WAIT_1, TCP_LAST_ACK};

	for (uint32_t i = 0; i < 2; i++) {
		struct script x;
		uint64_t gap = 0;

		script_init(&x);
		script_reach(&x, from[i]);
		x.wnd = 0;
		script_in(&x, TCP_ACK, x.seq, x.ack, 0);
		script_send(&x, 0, 100);
		script_close(&x);
		assert_int_equal(script_state(&x), to[i]); /* when the FIN is queued, not when it is sent */
		x.at = x.n;
		for (uint32_t k = 0; k < 12; k++) { /* far beyond the user timeout, while it answers */
			uint64_t next = next_after(&x, 100 * IW_SEC);

			assert_true(next >= gap && next <= 61 * IW_SEC);
			gap = next;
			assert_int_equal(x.out[x.n - 1].len, 1);
			assert_int_equal(x.out[x.n - 1].flags & TCP_FIN, 0);
			script_in(&x, TCP_ACK, x.seq, x.out[x.n - 1].seq, 0);
		}
		assert_int_equal(script_state(&x), to[i]);
		x.at = x.n;
		x.wnd = 1000;
		script_in(&x, TCP_ACK, x.seq, x.our_iss + 1, 0);
		assert_int_equal(script_out(&x).len, 100);
		assert_int_equal(script_out(&x).flags & (TCP_FIN | TCP_ACK), TCP_FIN | TCP_ACK);
		script_expect_silence(&x);
		script_fini(&x);
	}
}

/* Spec T36: neither an mbuf nor a record is left when the FIN is due: it goes when there is one again. */
static void
test_T36_fin_without_memory(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	mbufpool_set_fuse(x.sim.h[0].env.ctl_pool, 1);
	tcp_close(x.sim.h[0].tcp, x.conn, x.sim.now_ns);
	assert_int_equal(script_state(&x), TCP_FIN_WAIT_1);
	sim_poll(&x.sim, &x.sim.h[0]);
	assert_int_equal(x.sim.n, 0);
	assert_int_equal(script_counter(&x, "tcp.tx_no_mbuf"), 1);
	script_wait(&x, 5 * IW_MS);
	assert_int_equal(script_out(&x).flags, TCP_FIN | TCP_ACK);
	script_fini(&x);
}

/* Spec T21: bounded when nobody owns it any more, not for a half close. */
static void
test_T21_fin_wait_2(void **state)
{
	struct script x;

	script_init(&x);
	script_reach(&x, TCP_FIN_WAIT_2);
	script_wait(&x, 1000 * IW_SEC);
	assert_int_equal(script_state(&x), TCP_FIN_WAIT_2);
	tcp_release(x.sim.h[0].tcp, x.conn, x.sim.now_ns);
	script_wait(&x, 59 * IW_SEC);
	assert_int_equal(tcp_conn_count(x.sim.h[0].tcp), 1);
	script_wait(&x, 2 * IW_SEC);
	assert_int_equal(tcp_conn_count(x.sim.h[0].tcp), 0);
	assert_int_equal(x.out[x.n - 1].flags, TCP_RST | TCP_ACK);
	script_fini(&x);
}

/* Released with data that a peer at zero window never takes: 160 s at most, although it answers. */
static void
test_released_is_bounded(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	x.wnd = 0;
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	script_send(&x, 0, 100);
	script_close(&x);
	tcp_release(x.sim.h[0].tcp, x.conn, x.sim.now_ns);
	for (uint32_t i = 0; i < 159; i++) {
		script_wait(&x, IW_SEC);
		script_in(&x, TCP_ACK, x.seq, x.our_iss + 1, 0);
		assert_int_equal(tcp_conn_count(x.sim.h[0].tcp), 1);
	}
	script_wait(&x, 2 * IW_SEC);
	assert_int_equal(tcp_conn_count(x.sim.h[0].tcp), 0);
	script_fini(&x);
}

/* RFC 9293 MUST-37 (spec T10): never given up while the peer answers; given up when it does not. */
static void
test_T10_persist(void **state)
{
	struct script x;
	uint64_t rto = 200 * IW_MS, at;

	script_init(&x);
	script_established(&x);
	x.wnd = 0;
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	script_send(&x, 0, 100);
	script_expect_silence(&x);
	for (uint32_t i = 0; i < 20; i++) {
		at = next_after(&x, 100 * IW_SEC);
		assert_true(near_to(at, rto));
		assert_int_equal(x.out[x.n - 1].seq, x.our_iss + 1);
		assert_int_equal(x.out[x.n - 1].len, 1);
		rto = rto * 2 < 60 * IW_SEC ? rto * 2 : 60 * IW_SEC;
		script_in(&x, TCP_ACK, x.seq, x.our_iss + 1, 0);
	}
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	/* The window opens: the whole record, from its first octet, at once. */
	x.wnd = 5000;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1, 0);
	x.at = x.n;
	script_expect(&x, TCP_ACK, x.our_iss + 1, x.seq);
	assert_int_equal(x.out[x.n - 1].len, 100);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 101, 0);
	/* Shut again, and silent: R2. */
	x.wnd = 0;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 101, 0);
	script_send(&x, 0, 100);
	script_poll(&x);
	script_wait(&x, 102 * IW_SEC);
	assert_int_equal(x.bits & TCP_READY_TIMEOUT, TCP_READY_TIMEOUT);
	script_fini(&x);
}

/* A RST behind a closed window counts only at RCV.NXT (RFC 9293 §3.10.7.4, RFC 5961 §3.2): where the probe's octet
 * was not taken, that is before it.  With an open window it is SND.NXT. */
static void
test_rst_lies_in_the_window(void **state)
{
	static const struct {
		uint16_t wnd;
		uint32_t sent, seq; /* seq: beyond the first octet */
	} rows[] = {{0, 100, 0}, {5000, 100, 100}, {60, 100, 60}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct script x;

		script_init(&x);
		script_established(&x);
		x.wnd = rows[i].wnd;
		if (x.wnd != 60)
			script_in(&x, TCP_ACK, x.seq, x.ack, 0);
		script_send(&x, 0, rows[i].sent);
		script_poll(&x);
		if (x.wnd == 60) /* shrunk behind what was sent */
			script_in(&x, TCP_ACK, x.seq, x.our_iss + 1, 0);
		script_wait(&x, 250 * IW_MS);
		script_in(&x, TCP_ACK, x.seq, x.our_iss + 1, 0);
		script_skip(&x);
		tcp_abort(x.sim.h[0].tcp, x.conn, x.sim.now_ns);
		script_expect(&x, TCP_RST | TCP_ACK, x.our_iss + 1 + rows[i].seq, x.seq);
		script_fini(&x);
	}
}

/* The probe's octet is taken while the window stays shut, then the rest. */
static void
test_T10_probe_octet_taken(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	x.wnd = 0;
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	script_send(&x, 0, 100);
	script_poll(&x);
	next_after(&x, IW_SEC);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 2, 0); /* taken */
	next_after(&x, 2 * IW_SEC);
	assert_int_equal(x.out[x.n - 1].len, 1);
	x.wnd = 1000;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 2, 0);
	x.at = x.n;
	script_expect(&x, TCP_ACK, x.our_iss + 1, x.seq);
	assert_int_equal(x.out[x.n - 1].len, 100);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 101, 0);
	assert_true(tcp_txq_empty(&script_conn(&x)->fl->txq));
	assert_int_equal(script_conn(&x)->snd_nxt, x.our_iss + 101);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T27_rto_back_off),
		cmocka_unit_test(test_T27_user_timeout),
		cmocka_unit_test(test_syn_retries),
		cmocka_unit_test(test_syn_timeout),
		cmocka_unit_test(test_T27_syn_lost),
		cmocka_unit_test(test_syn_ack_retries),
		cmocka_unit_test(test_T31_keepalive),
		cmocka_unit_test(test_T21_fin_wait_2),
		cmocka_unit_test(test_released_is_bounded),
		cmocka_unit_test(test_T10_persist),
		cmocka_unit_test(test_rst_lies_in_the_window),
		cmocka_unit_test(test_T10_probe_octet_taken),
		cmocka_unit_test(test_T31_keepalive_numbers),
		cmocka_unit_test(test_T31_keepalive_user_timeout),
		cmocka_unit_test(test_T31_keepalive_not_by_strangers),
		cmocka_unit_test(test_T31_keepalive_with_data),
		cmocka_unit_test(test_T10_T36_persist_in_closing_states),
		cmocka_unit_test(test_T36_fin_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
