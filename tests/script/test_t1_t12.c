/* SPDX-License-Identifier: BSD-3-Clause */
/* T1-T12: blind attacks, timestamps, windows, options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"

/* RFC 5961 §3.2. */
SCRIPT(test_T1, PASSIVE(O_MSS), IN(R, 0, 0, 0), IN(R, 65536, 0, 0), IN(R, 2, 0, 0), OUT(A, 1, 1, 0),
       IN(R, 65535, 0, 0, .dt = SEC), OUT(A, 1, 1, 0), STATE(ESTABLISHED), NOT_READY(TCP_READY_RST), IN(R, 1, 0, 0),
       STATE(CLOSED), READY(TCP_READY_RST));
SCRIPT(test_T1_syn_sent, OPEN, OUT(S, 0, 0, 0), IN(R, 0, 0, 0), IN(R | A, 0, 0, 0), IN(R | A, 0, 2, 0), STATE(SYN_SENT),
       IN(R | A, 0, 1, 0), STATE(CLOSED), READY(TCP_READY_RST));
SCRIPT(test_T1_syn_rcvd, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(R, 0, 0, 0), IN(R, 65536, 0, 0),
       IN(R, 2, 0, 0), OUT(A, 1, 1, 0), IN(R, 1, 0, 0), IN(A, 1, 1, 0), OUT(R, 1, 0, 0));
SCRIPT_WITH(test_T1_window_0, &script_small, PASSIVE(O_MSS), HOLD, IN(A, 1, 1, 1024, .n = 16), SKIP(0),
	    IN(R, SMALL, 0, 0), IN(R, SMALL + 2, 0, 0), STATE(ESTABLISHED), IN(R, SMALL + 1, 0, 0), STATE(CLOSED));

/* RFC 5961 §4.2; RFC 9293 §3.5.1 figure 9: a restarted peer gets through in the end. */
SCRIPT(test_T2, PASSIVE(O_MSS), IN(S, 1, 0, 0), OUT(A, 1, 1, 0), IN(S, 2, 0, 0, .dt = SEC), OUT(A, 1, 1, 0),
       IN(S, 4000000, 0, 0, .dt = SEC), OUT(A, 1, 1, 0), IN(R, 1, 0, 0), STATE(CLOSED), IN(S, 4000000, 0, 0),
       OUT(S | A, 0, 4000001, 0));
/* The corner that RFC 5961 §4.2 names: ISS = RCV.NXT - 1. */
SCRIPT(test_T2_corner, PASSIVE(O_MSS), IN(S, 0, 0, 0), OUT(A, 1, 1, 0), STATE(ESTABLISHED));
SCRIPT(test_T2_syn_rcvd, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(S, 0, 0, 0, .opt = O_MSS),
       OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0), STATE(ESTABLISHED));

/* RFC 5961 §5.2: SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT, MAX.SND.WND = 65535. */
SCRIPT(test_T3, PASSIVE(O_MSS), SEND(1000), OUT(A, 1, 1, 1000), IN(A, 1, 1001, 0), IN(A, 1, 1001u - 65536, 100),
       OUT(A, 1001, 1, 0), GOT(0), IN(A, 1, 1001u - 65535, 100), OUT(A, 1001, 101, 0), GOT(100),
       IN(A, 101, 1002, 100, .dt = SEC), OUT(A, 1001, 101, 0), GOT(100), IN(F | A, 101, 1002, 0, .dt = SEC),
       OUT(A, 1001, 101, 0), STATE(ESTABLISHED), IN(A, 101, 1001, 100), OUT(A, 1001, 201, 0), GOT(200));
SCRIPT(test_T3_syn_rcvd, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(A, 1, 0, 0), OUT(R, 0, 0, 0),
       IN(A, 1, 2, 0), OUT(R, 2, 0, 0), IN(A, 1, 1, 0), STATE(ESTABLISHED));

/* ---- T4: RFC 5961 §7 ---- */

static uint32_t
answers(struct script *x)
{
	uint32_t n = x->tail - x->head;

	x->head = x->tail;
	return n;
}

static void
flood(struct script *x)
{
	static const struct script_row rst = IN(R, 500, 0, 0);
	uint32_t n = 0;

	for (uint32_t i = 0; i < 2000; i++) {
		x->now_ns += IW_US;
		script_in(x, &rst);
		n += answers(x);
	}
	script_check(x, n >= 1 && n <= 10, "challenge ACKs for 2000 RSTs in 2 ms", n);
}

/* Another connection's first challenge is not eaten by the flood (CVE-2016-5696). */
static void
other_peer(struct script *x)
{
	script_next_peer(x, 3334);
	x->our_port = SCRIPT_PORT;
}

SCRIPT(test_T4, PASSIVE(O_MSS), CALL(flood), IN(A, 1, 1, 100), OUT(A, 1, 101, 0), GOT(100), CALL(other_peer),
       IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0), IN(R, 500, 0, 0), OUT(A, 1, 1, 0));

/* RFC 7323 §5.3. */
SCRIPT(test_T5, PASSIVE(O_MSS | O_TS), IN(A, 1, 1, 100, .ts_add = -1), OUT(A, 1, 1, 0, .opt = O_TS, .tsecr = 1000),
       GOT(0), IN(A, 301, 1, 100, .ts_add = 500), OUT(A, 1, 1, 0, .tsecr = 1000), IN(A, 1, 1, 300, .ts_add = 10),
       OUT(A, 1, 401, 0, .tsecr = 1010), GOT(400), IN(R, 401, 0, 0, .ts_add = -900), STATE(CLOSED));
/* RFC 7323 §5.5: 24 days idle, then the comparison would be wrong. */
SCRIPT(test_T5_24_days, PASSIVE(O_MSS | O_TS), IN(A, 1, 1, 100), OUT(A, 1, 101, 0), QUIET(25 * 86400 * SEC),
       IN(A, 101, 1, 100), OUT(A, 1, 201, 0), GOT(200));

/* RFC 7323 §3.2. */
SCRIPT(test_T6, PASSIVE(O_MSS | O_TS), IN(A, 1, 1, 100, .no_opt = O_TS), GOT(0), STATE(ESTABLISHED), IN(A, 1, 1, 100),
       OUT(A, 1, 101, 0, .opt = O_TS), IN(R, 101, 0, 0, .no_opt = O_TS), STATE(CLOSED));
SCRIPT(test_T6_not_agreed, PASSIVE(O_MSS), IN(A, 1, 1, 100, .opt = O_TS, .tsval = 5), OUT(A, 1, 101, 0, .no_opt = O_TS),
       IN(A, 101, 1, 100, .opt = O_TS, .tsval = 4), OUT(A, 1, 201, 0, .no_opt = O_TS));

/* ---- T7: RFC 7323 §5.4, §7.1 ---- */
static uint32_t first_tsval, isn_tsval;

static void
note_tsval(struct script *x)
{
	first_tsval = x->our_tsval;
	isn_tsval = x->our_tsval;
}

static void
tick_rate(struct script *x)
{
	uint32_t ticks = x->our_tsval - first_tsval;

	script_check(x, ticks >= 1 && ticks <= 1000, "ticks of the timestamp clock in a second", ticks);
	first_tsval = x->our_tsval;
}

static void
not_back(struct script *x)
{
	script_check(x, (int32_t)(x->our_tsval - first_tsval) >= 0, "TSval of the 4-tuple's next life", x->our_tsval);
	script_next_peer(x, 3334);
}

static void
not_alike(struct script *x)
{
	uint32_t apart = x->our_tsval - first_tsval;

	script_check(x, apart > 100000 && apart < (uint32_t)-100000, "two 4-tuples' clocks, apart", apart);
}

SCRIPT(test_T7, OPEN, OUT(S, 0, 0, 0, .opt = O_TS), CALL(note_tsval), OUT(S, 0, 0, 0, .dt = SEC), CALL(tick_rate),
       ABORT, RELEASE, OPEN, OUT(S, 0, 0, 0), CALL(not_back), OPEN, OUT(S, 0, 0, 0), CALL(not_alike));

/* ---- T8: RFC 7323 §2.2, §2.3 ---- */
static void
window_is_16384(struct script *x)
{
	struct tcp_info info;

	assert_true(tcp_conn_info(x->tcp, x->conn, &info));
	script_check(x, info.snd_wnd == 16384, "SND.WND", info.snd_wnd);
}

SCRIPT(test_T8, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS | O_WS, .ws = 15), OUT(S | A, 0, 1, 0, .opt = O_WS, .wnd = 65535),
       IN(A, 1, 1, 0, .wnd = 1), CALL(window_is_16384), IN(A, 1, 1, 0, .wnd = 1, .raw = "\1\3\3\2", .raw_len = 4),
       CALL(window_is_16384));
SCRIPT(test_T8_not_offered, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0, .no_opt = O_WS));
/* The very first write is a large one: the initial window (RFC 6928) leaves at once. */
SCRIPT(test_T8_first_write, PASSIVE(O_MSS | O_WS), SEND(1 << 20), OUT(A, 1, 1, 1460, .n = 10));

/* RFC 9293 §3.8.6, SHLD-16..18: the peer's edge moves left, by something and by all. */
SCRIPT(test_T9, ACTIVE(O_MSS), SEND(2920), OUT(A, 1, 1, 1460, .n = 2), IN(A, 1, 1461, 0, .wnd = 500),
       OUT(A, 1461, 1, 0, .any = ANY_LEN, .dt = 200 * MS), IN(A, 1, 2921, 0), STATE(ESTABLISHED), SEND(100),
       OUT(A, 2921, 1, 100));
SCRIPT(test_T9_by_all, ACTIVE(O_MSS), SEND(2920), OUT(A, 1, 1, 1460, .n = 2), IN(A, 1, 1461, 0, .wnd0 = true),
       OUT(A, 1461, 1, 0, .any = ANY_LEN, .dt = 200 * MS), IN(A, 1, 1461, 0),
       OUT(A, 1461, 1, 0, .any = ANY_LEN, .dt = 400 * MS), IN(A, 1, 2921, 0), STATE(ESTABLISHED));
/* SHLD-14: our own never does. */
SCRIPT_WITH(test_T9_ours, &script_small, PASSIVE(O_MSS), HOLD, IN(A, 1, 1, 1460),
	    OUT(A, 1, 1461, 0, .wnd = SMALL - 1460), IN(A, 1461, 1, 4, .n = 2), OUT(A, 1, 1469, 0, .wnd = SMALL - 1468),
	    IN(A, 1469, 1, 1460, .n = 2), OUT(A, 1, 4389, 0, .wnd = SMALL - 4388), READ(100), IN(A, 4389, 1, 100),
	    OUT(A, 1, 4489, 0, .wnd = SMALL - 4488), READ(0), OUT(A, 1, 4489, 0, .wnd = SMALL));

/* MUST-35..37, RFC 9293 §3.8.6.1: probes after an RTO, backed off, for ever while they are answered. */
SCRIPT(test_T10, ACTIVE(O_MSS), IN(A, 1, 1, 0, .wnd0 = true), SEND(1000), OUT(A, 1, 1, 1, .dt = 200 * MS),
       IN(A, 1, 1, 0, .wnd0 = true), OUT(A, 1, 1, 1, .dt = 400 * MS), IN(A, 1, 1, 0, .wnd0 = true),
       OUT(A, 1, 1, 1, .dt = 800 * MS), IN(A, 1, 1, 0, .wnd0 = true), OUT(A, 1, 1, 1, .dt = 1600 * MS), IN(A, 1, 1, 0),
       OUT(A, 1, 1, 1000), IN(A, 1, 1001, 0), STATE(ESTABLISHED));

static void
answer_probes(struct script *x)
{
	static const struct script_row ack = IN(A, 1, 1, 0, .wnd0 = true);
	uint64_t end = x->now_ns + 1000 * SEC;
	uint32_t n = 0;

	while (x->now_ns < end) {
		script_advance(x, end);
		if (x->head != x->tail) {
			n += answers(x);
			script_in(x, &ack);
		}
	}
	script_check(x, n >= 14 && n <= 30, "probes in 1000 s", n);
}

SCRIPT(test_T10_for_ever, ACTIVE(O_MSS), IN(A, 1, 1, 0, .wnd0 = true), SEND(1000), CALL(answer_probes),
       STATE(ESTABLISHED), NOT_READY(TCP_READY_TIMEOUT), IN(A, 1, 1, 0), OUT(A, 1, 1, 1000));
/* Our window is 0: a probe is answered, its ACK counts (RFC 9293 §3.10.7.4 first). */
SCRIPT_WITH(test_T10_ours, &script_small, PASSIVE(O_MSS), HOLD, IN(A, 1, 1, 1024, .n = 16), SKIP(0), SEND(1000),
	    OUT(A, 1, SMALL + 1, 1000), IN(A, SMALL + 1, 1001, 1), OUT(A, 1001, SMALL + 1, 0, .wnd0 = true),
	    QUIET(5 * SEC), IN(A | U, SMALL + 1, 1001, 0, .urp = 5), READ(0), OUT(A, 1001, SMALL + 1, 0, .wnd = SMALL),
	    IN(A, SMALL + 1, 1001, 100), OUT(A, 1001, SMALL + 101, 0));
SCRIPT(test_T10_window_1, ACTIVE(O_MSS), IN(A, 1, 1, 0, .wnd = 1), SEND(1000),
       OUT(A, 1, 1, 1, .dt = 550 * MS, .tol = 450 * MS), IN(A, 1, 2, 0), OUT(A, 2, 1, 999));

/* MUST-38, MUST-39, RFC 9293 §3.8.6.2. */
SCRIPT_WITH(test_T11, &script_small, PASSIVE(O_MSS), HOLD, IN(A, 1, 1, 1024, .n = 16), SKIP(0), READ(1), READ(1),
	    READ(1000), QUIET(SEC), READ(457), QUIET(SEC), READ(1), OUT(A, 1, SMALL + 1, 0, .wnd = 1460));
SCRIPT(test_T11_sender, ACTIVE(O_MSS), IN(A, 1, 1, 0, .wnd = 100), SEND(1000),
       OUT(A, 1, 1, 100, .dt = 550 * MS, .tol = 450 * MS));

/* MUST-5..7, MUST-64, MUST-68: what is illegal is dropped, what is unknown is skipped. */
SCRIPT(test_T12, PASSIVE(O_MSS), IN(A, 1, 1, 10, .raw = "\376\4ab", .raw_len = 4), OUT(A, 1, 11, 0),
       IN(A, 11, 1, 10, .raw = "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1",
	  .raw_len = 40),
       OUT(A, 1, 21, 0), IN(A, 21, 1, 10, .raw = "\0\5\0\1", .raw_len = 4), OUT(A, 1, 31, 0),
       IN(A, 31, 1, 10, .raw = "\376\0\1\1", .raw_len = 4), IN(A, 31, 1, 10, .raw = "\376\1\1\1", .raw_len = 4),
       IN(A, 31, 1, 10, .raw = "\376\5\1\1", .raw_len = 4), IN(A, 31, 1, 10, .raw = "\1\1\1\376", .raw_len = 4),
       IN(A, 31, 1, 10, .data_offset = 1), IN(A, 31, 1, 10, .data_offset = 4), IN(A, 31, 1, 10, .data_offset = 15),
       STATE(ESTABLISHED), GOT(30), IN(A, 31, 1, 10, .raw = "\2\4\1\1", .raw_len = 4), OUT(A, 1, 41, 0), SEND(1460),
       OUT(A, 1, 41, 1460));
/* Wrong lengths of known ones on a SYN: no answer, or one that has not agreed to them. */
SCRIPT(test_T12_syn, LISTEN, IN(S, 0, 0, 0, .raw = "\2\5\5\264\0\0\0\0", .raw_len = 8),
       IN(S, 0, 0, 0, .raw = "\3\4\7\0", .raw_len = 4), IN(S, 0, 0, 0, .raw = "\4\3\0\0", .raw_len = 4),
       IN(S, 0, 0, 0, .raw = "\10\11\0\0\0\0\0\0\0\0\0\0", .raw_len = 12), IN(S, 0, 0, 0, .opt = O_MSS),
       OUT(S | A, 0, 1, 0, .no_opt = O_WS | O_SACK | O_TS));

int
main(void)
{
	const struct CMUnitTest plain[] = {cmocka_unit_test(test_T7)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T1),
		cmocka_unit_test(test_T1_syn_sent),
		cmocka_unit_test(test_T1_syn_rcvd),
		cmocka_unit_test(test_T1_window_0),
		cmocka_unit_test(test_T2),
		cmocka_unit_test(test_T2_corner),
		cmocka_unit_test(test_T2_syn_rcvd),
		cmocka_unit_test(test_T3),
		cmocka_unit_test(test_T3_syn_rcvd),
		cmocka_unit_test(test_T4),
		cmocka_unit_test(test_T5),
		cmocka_unit_test(test_T5_24_days),
		cmocka_unit_test(test_T6),
		cmocka_unit_test(test_T6_not_agreed),
		cmocka_unit_test(test_T8),
		cmocka_unit_test(test_T8_not_offered),
		cmocka_unit_test(test_T8_first_write),
		cmocka_unit_test(test_T9),
		cmocka_unit_test(test_T9_by_all),
		cmocka_unit_test(test_T9_ours),
		cmocka_unit_test(test_T10),
		cmocka_unit_test(test_T10_for_ever),
		cmocka_unit_test(test_T10_ours),
		cmocka_unit_test(test_T10_window_1),
		cmocka_unit_test(test_T11),
		cmocka_unit_test(test_T11_sender),
		cmocka_unit_test(test_T12),
		cmocka_unit_test(test_T12_syn),
	};

	return RUN_PLAIN(plain) + cmocka_run_group_tests(tests, NULL, NULL);
}
