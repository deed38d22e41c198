/* SPDX-License-Identifier: BSD-3-Clause */
/* Which segments are let in: by table, then end to end in every state (RFC 9293 §3.10.7.4, RFC 5961, RFC 7323). */
#include "tcpscript.h"

#include "tcp_accept.h"

#define NXT 5000u
#define WND 1000u

/* A connection with RCV.NXT 5000, RCV.WND 1000, SND.UNA 900, SND.NXT 1000, MAX.SND.WND 300. */
static struct tcp_conn
make(enum tcp_state state, uint32_t wnd)
{
	struct tcp_conn c = {
		.state = (uint8_t)state, .snd_una = 900, .snd_nxt = 1000, .snd_max_wnd = 300, .irs = NXT - 1};

	tcp_rxq_init(&c.rxq, NXT - (state >= TCP_CLOSE_WAIT));
	c.rcv_adv = NXT + wnd;
	return c;
}

static const enum tcp_state synchronized[] = {TCP_ESTABLISHED, TCP_FIN_WAIT_1, TCP_FIN_WAIT_2,
					      TCP_CLOSE_WAIT,  TCP_CLOSING,    TCP_LAST_ACK};
#define N_SYNCHRONIZED (sizeof(synchronized) / sizeof(synchronized[0]))

struct row {
	uint32_t seq, len, ack;
	uint8_t flags;
	enum tcp_accept_verdict want;
};

static void
check_rows(const struct row *rows, uint32_t n, enum tcp_state state, uint32_t wnd)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tcp_conn c = make(state, wnd);
		struct tcp_seg seg = {
			.seq = rows[i].seq, .len = rows[i].len, .ack = rows[i].ack, .flags = rows[i].flags};

		if (tcp_accept_check(&c, &seg, IW_SEC) != rows[i].want)
			fail_msg("state %s window %u row %u: %d", tcp_fsm_state_name(state), wnd, i,
				 tcp_accept_check(&c, &seg, IW_SEC));
	}
}

/* RFC 5961 §3.2 (spec T1): the edges of the window. */
static void
test_T1_rst(void **state)
{
	static const struct row rows[] = {
		{NXT - 1, 0, 0, TCP_RST, TCP_ACCEPT_RST_OUTSIDE},
		{NXT, 0, 0, TCP_RST, TCP_ACCEPT_RST},
		{NXT, 0, 1, TCP_RST | TCP_ACK, TCP_ACCEPT_RST},
		{NXT + 1, 0, 0, TCP_RST, TCP_ACCEPT_RST_INSIDE},
		{NXT + WND - 1, 0, 0, TCP_RST, TCP_ACCEPT_RST_INSIDE},
		{NXT + WND, 0, 0, TCP_RST, TCP_ACCEPT_RST_OUTSIDE},
		{NXT + 0x80000000u, 0, 0, TCP_RST, TCP_ACCEPT_RST_OUTSIDE},
		{NXT + 1, 0, 0, TCP_RST | TCP_SYN, TCP_ACCEPT_RST_INSIDE},
	};
	static const struct row closed[] = {
		{NXT - 1, 0, 0, TCP_RST, TCP_ACCEPT_RST_OUTSIDE},
		{NXT, 0, 0, TCP_RST, TCP_ACCEPT_RST},
		{NXT + 1, 0, 0, TCP_RST, TCP_ACCEPT_RST_OUTSIDE},
	};

	for (uint32_t i = 0; i < N_SYNCHRONIZED; i++) {
		check_rows(rows, sizeof(rows) / sizeof(rows[0]), synchronized[i], WND);
		check_rows(closed, sizeof(closed) / sizeof(closed[0]), synchronized[i], 0);
	}
	check_rows(rows, sizeof(rows) / sizeof(rows[0]), TCP_SYN_RCVD, WND);
}

/* RFC 5961 §4.2 (spec T2): whatever its sequence number. */
static void
test_T2_syn(void **state)
{
	static const struct row rows[] = {
		{NXT - 1, 0, 0, TCP_SYN, TCP_ACCEPT_SYN},
		{NXT, 0, 0, TCP_SYN, TCP_ACCEPT_SYN},
		{NXT + 5, 0, 950, TCP_SYN | TCP_ACK, TCP_ACCEPT_SYN},
		{NXT + 0x40000000u, 0, 0, TCP_SYN, TCP_ACCEPT_SYN},
		{NXT, 10, 950, TCP_SYN | TCP_FIN | TCP_ACK, TCP_ACCEPT_SYN},
	};
	static const struct row syn_rcvd[] = {
		{NXT - 1, 0, 0, TCP_SYN, TCP_ACCEPT_SYN_AGAIN},
		{NXT - 1, 0, 901, TCP_SYN | TCP_ACK, TCP_ACCEPT_SYN_ACK},
		{NXT - 1, 0, 1000, TCP_SYN | TCP_ACK, TCP_ACCEPT_SYN_ACK},
		{NXT - 1, 0, 900, TCP_SYN | TCP_ACK, TCP_ACCEPT_BAD_ACK_SYN},
		{NXT - 1, 0, 1001, TCP_SYN | TCP_ACK, TCP_ACCEPT_BAD_ACK_SYN},
		{NXT, 0, 0, TCP_SYN, TCP_ACCEPT_SYN},
	};

	for (uint32_t i = 0; i < N_SYNCHRONIZED; i++)
		check_rows(rows, sizeof(rows) / sizeof(rows[0]), synchronized[i], WND);
	check_rows(syn_rcvd, sizeof(syn_rcvd) / sizeof(syn_rcvd[0]), TCP_SYN_RCVD, WND);
}

/* RFC 5961 §5.2 (spec T3): SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT, with text and with FIN. */
static void
test_T3_ack(void **state)
{
	static const struct row rows[] = {
		{NXT, 0, 600, TCP_ACK, TCP_ACCEPT_PASS},
		{NXT, 0, 599, TCP_ACK, TCP_ACCEPT_BAD_ACK},
		{NXT, 0, 1000, TCP_ACK, TCP_ACCEPT_PASS},
		{NXT, 0, 1001, TCP_ACK, TCP_ACCEPT_BAD_ACK},
		{NXT, 10, 599, TCP_ACK, TCP_ACCEPT_BAD_ACK},
		{NXT, 10, 1001, TCP_ACK, TCP_ACCEPT_BAD_ACK},
		{NXT, 0, 1001, TCP_ACK | TCP_FIN, TCP_ACCEPT_BAD_ACK},
		{NXT, 10, 0, 0, TCP_ACCEPT_NO_ACK},
		{NXT, 0, 0, TCP_FIN, TCP_ACCEPT_NO_ACK},
	};
	static const struct row syn_rcvd[] = {
		{NXT, 0, 900, TCP_ACK, TCP_ACCEPT_BAD_ACK_SYN},
		{NXT, 0, 901, TCP_ACK, TCP_ACCEPT_PASS},
		{NXT, 0, 1000, TCP_ACK, TCP_ACCEPT_PASS},
		{NXT, 0, 1001, TCP_ACK, TCP_ACCEPT_BAD_ACK_SYN},
	};

	for (uint32_t i = 0; i < N_SYNCHRONIZED; i++)
		check_rows(rows, sizeof(rows) / sizeof(rows[0]), synchronized[i], WND);
	check_rows(syn_rcvd, sizeof(syn_rcvd) / sizeof(syn_rcvd[0]), TCP_SYN_RCVD, WND);
}

/* RFC 9293 table 6. */
static void
test_acceptability(void **state)
{
	static const struct row open[] = {
		{NXT - 1, 0, 950, TCP_ACK, TCP_ACCEPT_OUTSIDE_EMPTY},
		{NXT, 0, 950, TCP_ACK, TCP_ACCEPT_PASS},
		{NXT + WND - 1, 0, 950, TCP_ACK, TCP_ACCEPT_PASS},
		{NXT + WND, 0, 950, TCP_ACK, TCP_ACCEPT_OUTSIDE_EMPTY},
		{NXT - 10, 10, 950, TCP_ACK, TCP_ACCEPT_OUTSIDE},
		{NXT - 10, 11, 950, TCP_ACK, TCP_ACCEPT_PASS},
		{NXT + WND - 1, 50, 950, TCP_ACK, TCP_ACCEPT_PASS},
		{NXT + WND, 50, 950, TCP_ACK, TCP_ACCEPT_OUTSIDE},
		{NXT - 1, 0, 950, TCP_ACK | TCP_FIN, TCP_ACCEPT_OUTSIDE},
	};
	static const struct row zero[] = {
		{NXT, 0, 950, TCP_ACK, TCP_ACCEPT_PASS},        {NXT, 1, 950, TCP_ACK, TCP_ACCEPT_ACK_ONLY},
		{NXT, 1, 1001, TCP_ACK, TCP_ACCEPT_BAD_ACK},    {NXT - 1, 1, 950, TCP_ACK, TCP_ACCEPT_OUTSIDE},
		{NXT + 1, 1, 950, TCP_ACK, TCP_ACCEPT_OUTSIDE}, {NXT - 1, 0, 950, TCP_ACK, TCP_ACCEPT_OUTSIDE_EMPTY},
	};

	for (uint32_t i = 0; i < N_SYNCHRONIZED; i++) {
		check_rows(open, sizeof(open) / sizeof(open[0]), synchronized[i], WND);
		check_rows(zero, sizeof(zero) / sizeof(zero[0]), synchronized[i], 0);
	}
}

/* RFC 7323 §5.3, §5.5 (spec T5) and §3.2 (spec T6). */
static void
test_T5_T6_timestamps(void **state)
{
	static const uint64_t day = 24 * 3600 * IW_SEC;
	const struct {
		uint32_t tsval;
		bool has_ts;
		uint8_t flags;
		uint32_t len, seq;
		uint64_t age_ns;
		enum tcp_accept_verdict want;
	} rows[] = {
		{1000, true, TCP_ACK, 0, NXT, 0, TCP_ACCEPT_PASS},
		{999, true, TCP_ACK, 0, NXT, 0, TCP_ACCEPT_PAWS_EMPTY},
		{999, true, TCP_ACK, 5, NXT, 0, TCP_ACCEPT_PAWS},
		{999, true, TCP_ACK, 5, NXT + 0x20000000u, 0, TCP_ACCEPT_PAWS}, /* before the sequence test */
		{999, true, TCP_RST, 0, NXT, 0, TCP_ACCEPT_RST},
		{1000u + 0x80000001u, true, TCP_ACK, 0, NXT, 0, TCP_ACCEPT_PAWS_EMPTY},
		{1000u + 0x7fffffffu, true, TCP_ACK, 0, NXT, 0, TCP_ACCEPT_PASS},
		{999, true, TCP_ACK, 5, NXT, 25 * day, TCP_ACCEPT_PASS},
		{999, true, TCP_ACK, 5, NXT, 23 * day, TCP_ACCEPT_PAWS},
		{0, false, TCP_ACK, 5, NXT, 0, TCP_ACCEPT_NO_TS},
		{0, false, TCP_ACK | TCP_SYN, 0, NXT, 0, TCP_ACCEPT_SYN}, /* RFC 5961 §4.2 */
		{0, false, TCP_RST, 0, NXT, 0, TCP_ACCEPT_RST},
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tcp_conn c = make(TCP_ESTABLISHED, WND);
		struct tcp_seg seg = {.seq = rows[i].seq,
				      .len = rows[i].len,
				      .ack = 950,
				      .flags = rows[i].flags,
				      .has_ts = rows[i].has_ts,
				      .tsval = rows[i].tsval};

		tcp_conn_set(&c, TCP_CONN_TS);
		c.ts_recent = 1000;
		c.ts_recent_ns = IW_SEC;
		if (tcp_accept_check(&c, &seg, IW_SEC + rows[i].age_ns) != rows[i].want)
			fail_msg("row %u", i);
		/* Not negotiated: the option is ignored. */
		tcp_conn_clear(&c, TCP_CONN_TS);
		assert_true(tcp_accept_check(&c, &seg, IW_SEC) != TCP_ACCEPT_PAWS);
		assert_true(tcp_accept_check(&c, &seg, IW_SEC) != TCP_ACCEPT_NO_TS);
	}
}

/* RFC 5961 §7: ten in five seconds, for each connection on its own. */
static void
test_challenge_limit(void **state)
{
	struct tcp_conn c = make(TCP_ESTABLISHED, WND), d = make(TCP_ESTABLISHED, WND);
	uint64_t now = 100 * IW_SEC;
	uint32_t sent = 0;

	for (uint32_t i = 0; i < 1000; i++)
		sent += tcp_accept_challenge(&c, TCP_CHALLENGES, now);
	assert_int_equal(sent, TCP_CHALLENGES);
	assert_true(tcp_accept_challenge(&d, TCP_CHALLENGES, now));
	assert_false(tcp_accept_challenge(&c, TCP_CHALLENGES, now + TCP_CHALLENGE_NS - 1));
	assert_true(tcp_accept_challenge(&c, TCP_CHALLENGES, now + TCP_CHALLENGE_NS));
}

/* The same, end to end: what comes out, and what becomes of the connection. */
static void
test_T1_rst_in_every_state(void **state)
{
	for (uint32_t i = 0; i < N_SYNCHRONIZED; i++) {
		static const int32_t offset[] = {-1, 1, 1000, -100000};
		struct script x;
		bool orderly = synchronized[i] == TCP_CLOSING || synchronized[i] == TCP_LAST_ACK;

		script_init(&x);
		script_reach(&x, synchronized[i]);
		for (uint32_t k = 0; k < sizeof(offset) / sizeof(offset[0]); k++) {
			script_in(&x, TCP_RST, x.seq + (uint32_t)offset[k], 0, 0);
			if (offset[k] > 0)
				script_expect(&x, TCP_ACK, x.ack, x.seq);
			script_expect_silence(&x);
			assert_int_equal(script_state(&x), synchronized[i]);
		}
		x.bits = 0;
		script_in(&x, TCP_RST, x.seq, 0, 0);
		script_expect_silence(&x);
		assert_int_equal(script_state(&x), TCP_CLOSED);
		assert_int_equal(x.bits, orderly ? TCP_READY_CLOSED : TCP_READY_RST);
		script_fini(&x);
	}
}

static void
test_T2_T3_in_every_state(void **state)
{
	for (uint32_t i = 0; i < N_SYNCHRONIZED; i++) {
		struct script x;

		script_init(&x);
		script_reach(&x, synchronized[i]);
		script_in(&x, TCP_SYN, x.seq + 77777777, 0, 0);
		script_expect(&x, TCP_ACK, x.ack, x.seq);
		script_in(&x, TCP_SYN, x.seq, 0, 0);
		script_expect(&x, TCP_ACK, x.ack, x.seq);
		script_in(&x, TCP_ACK, x.seq, x.ack + 1, 0);
		script_expect(&x, TCP_ACK, x.ack, x.seq);
		script_in(&x, TCP_ACK, x.seq, x.ack - 200000, 5);
		script_expect(&x, TCP_ACK, x.ack, x.seq);
		script_in(&x, 0, x.seq, 0, 5);
		script_in(&x, TCP_FIN, x.seq, 0, 0);
		script_expect_silence(&x);
		assert_int_equal(script_state(&x), synchronized[i]);
		assert_int_equal(script_counter(&x, "tcp.rx_syn_challenged"), 2);
		assert_int_equal(script_counter(&x, "tcp.rx_bad_ack"), 2);
		script_fini(&x);
	}
}

/* Spec T4: a flood of bad RSTs. */
static void
test_T4_flood(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	for (uint32_t i = 0; i < 1000; i++) {
		script_in(&x, TCP_RST, x.seq + 5, 0, 0);
		script_poll(&x);
	}
	assert_int_equal(x.n - x.at, TCP_CHALLENGES);
	assert_int_equal(script_counter(&x, "tcp.challenges_limited"), 1000 - TCP_CHALLENGES);
	/* Honest data is acknowledged as ever. */
	x.at = x.n;
	script_data(&x, 100);
	script_data(&x, 100);
	script_expect(&x, TCP_ACK, x.ack, x.seq);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T1_rst),
		cmocka_unit_test(test_T2_syn),
		cmocka_unit_test(test_T3_ack),
		cmocka_unit_test(test_acceptability),
		cmocka_unit_test(test_T5_T6_timestamps),
		cmocka_unit_test(test_challenge_limit),
		cmocka_unit_test(test_T1_rst_in_every_state),
		cmocka_unit_test(test_T2_T3_in_every_state),
		cmocka_unit_test(test_T4_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
