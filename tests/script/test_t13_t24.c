/* SPDX-License-Identifier: BSD-3-Clause */
/* T13-T24: lengths, flags, FIN, opening and closing at once, TIME_WAIT, SYN floods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"

/* ---- T13 ---- */

static struct rte_mbuf *
data_frame(struct script *x, uint32_t len)
{
	static uint8_t text[64];
	struct wire_seg s = {.src = WIRE_PEER,
			     .dst = WIRE_US,
			     .sport = x->peer_port,
			     .dport = x->our_port,
			     .flags = A,
			     .seq = x->iss + 1 + (uint32_t)x->got,
			     .ack = x->our_iss + 1,
			     .wnd = 65535,
			     .len = len,
			     .data = text};

	for (uint32_t i = 0; i < len; i++)
		text[i] = script_octet(x->got + i);
	return wire_build(x->env.data_pool, &s);
}

/* Each is dropped: shorter than its headers, longer than the frame, cut off anywhere. */
static void
bad_lengths(struct script *x)
{
	static const uint16_t lengths4[] = {0, 19, 20, 39, 61, 1500, 65535},
			      lengths6[] = {0, 1, 8, 19, 41, 1480, 65535};
	uint16_t whole = wire_is_v6() ? 94 : 74;
	struct rte_mbuf *m;

	for (uint32_t i = 0; i < sizeof(lengths4) / sizeof(lengths4[0]); i++) {
		m = data_frame(x, 20);
		wire_set_length(m, wire_is_v6() ? lengths6[i] : lengths4[i]);
		script_frame(x, m);
	}
	for (uint16_t cut = 1; cut <= whole; cut++) {
		m = data_frame(x, 20);
		rte_pktmbuf_trim(m, cut);
		script_frame(x, m);
	}
	script_settle(x);
}

/* Ethernet's padding is no text. */
static void
padded(struct script *x)
{
	struct rte_mbuf *m = data_frame(x, 2);

	memset(rte_pktmbuf_append(m, 4), 0xaa, 4);
	script_frame(x, m);
	script_settle(x);
}

SCRIPT(test_T13, PASSIVE(O_MSS), CALL(bad_lengths), STATE(ESTABLISHED), GOT(0), CALL(padded), OUT(A, 1, 3, 0), GOT(2));

/* MUST-2, MUST-3. */
SCRIPT(test_T14, PASSIVE(O_MSS), IN(A, 1, 1, 100, .bad_cksum = true), IN(R, 1, 0, 0, .bad_cksum = true),
       COUNTER("rx_bad_cksum", 2), GOT(0), STATE(ESTABLISHED), IN(A, 1, 1, 100), OUT(A, 1, 101, 0));

/* RFC 9293 §3.10.7; every combination: the matrix. */
SCRIPT(test_T15, PASSIVE(O_MSS), IN(0, 1, 0, 0), IN(0, 1, 0, 100), IN(P | U, 1, 0, 100), IN(F, 1, 0, 0),
       STATE(ESTABLISHED), GOT(0), IN(F | S, 1, 0, 0), OUT(A, 1, 1, 0), IN(S | A, 1, 1, 0, .dt = SEC), OUT(A, 1, 1, 0),
       IN(F | S | R | P | A | U, 0, 1, 0), STATE(ESTABLISHED), IN(F | S | R | P | A | U, 1, 1, 0), STATE(CLOSED));
SCRIPT(test_T15_syn_sent, OPEN, OUT(S, 0, 0, 0), IN(F, 0, 0, 0), IN(F | A, 0, 1, 0), IN(0, 0, 0, 100), STATE(SYN_SENT));
SCRIPT(test_T15_data_on_syn, LISTEN, IN(S, 0, 0, 100, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(A, 1, 1, 100),
       OUT(A, 1, 101, 0), GOT(100));

/* RFC 9293 §3.10.7.4 eighth: only in order; remembered, not acted on. */
SCRIPT(test_T16, PASSIVE(O_MSS), IN(F | A, 101, 1, 0), OUT(A, 1, 1, 0), STATE(ESTABLISHED), NOT_READY(TCP_READY_FIN),
       IN(A, 1, 1, 100), OUT(A, 1, 102, 0), STATE(CLOSE_WAIT), READY(TCP_READY_FIN), GOT(100), IN(A, 102, 1, 50),
       SKIP(0), GOT(100), STATE(CLOSE_WAIT));
SCRIPT(test_T16_with_text, PASSIVE(O_MSS), IN(F | A, 51, 1, 50), OUT(A, 1, 1, 0), IN(A, 201, 1, 50), SKIP(0),
       IN(A, 1, 1, 50), OUT(A, 1, 102, 0), GOT(100), STATE(CLOSE_WAIT), COUNTER("rx_fin_ignored", 0));
/* The hole before it is filled, and more: the stream has ended there. */
SCRIPT(test_T16_text_behind, PASSIVE(O_MSS), IN(F | A, 101, 1, 0), OUT(A, 1, 1, 0), IN(A, 1, 1, 300), OUT(A, 1, 102, 0),
       GOT(100), STATE(CLOSE_WAIT));
/* Where the stream ends is said once; who says it anew is not believed, nor who contradicts what has come. */
SCRIPT(test_T16_twice, PASSIVE(O_MSS), IN(F | A, 101, 1, 0), OUT(A, 1, 1, 0), IN(F | A, 201, 1, 0), OUT(A, 1, 1, 0),
       COUNTER("rx_fin_ignored", 1), IN(F | A, 101, 1, 0), OUT(A, 1, 1, 0), COUNTER("rx_fin_ignored", 1),
       IN(A, 1, 1, 300), OUT(A, 1, 102, 0), GOT(100), STATE(CLOSE_WAIT));
SCRIPT(test_T16_within_text, PASSIVE(O_MSS), IN(A, 51, 1, 50), OUT(A, 1, 1, 0), IN(F | A, 1, 1, 50), OUT(A, 1, 101, 0),
       GOT(100), STATE(ESTABLISHED), NOT_READY(TCP_READY_FIN), COUNTER("rx_fin_ignored", 1));
/* The text still lies in the window, the FIN does not: it has to come again. */
SCRIPT_WITH(test_T16_beyond_window, &script_small, PASSIVE(O_MSS), HOLD, IN(F | A, SMALL - 1023, 1, 1024),
	    OUT(A, 1, 1, 0), IN(A, 1, 1, 1024, .n = 15), SKIP(0), STATE(ESTABLISHED), NOT_READY(TCP_READY_FIN), READ(0),
	    OUT(A, 1, SMALL + 1, 0, .wnd = SMALL), GOT(SMALL), COUNTER("rx_fin_ignored", 1), IN(F | A, SMALL + 1, 1, 0),
	    OUT(A, 1, SMALL + 2, 0), STATE(CLOSE_WAIT));
SCRIPT(test_T16_again, PASSIVE(O_MSS), CLOSE, OUT(F | A, 1, 1, 0), IN(A, 1, 2, 0), IN(F | A, 1, 2, 0), OUT(A, 2, 2, 0),
       STATE(TIME_WAIT), IN(F | A, 1, 2, 0, .dt = 40 * SEC), OUT(A, 2, 2, 0), QUIET(59 * SEC), STATE(TIME_WAIT),
       QUIET(2 * SEC), STATE(CLOSED));

/* MUST-30..33, RFC 6093: in line, whatever the pointer. */
SCRIPT(test_T17, LISTEN, IN(S | U, 0, 0, 0, .opt = O_MSS, .urp = 9), OUT(S | A, 0, 1, 0),
       IN(A | U, 1, 1, 0, .urp = 65535), STATE(ESTABLISHED), IN(A | U, 1, 1, 100, .urp = 0), OUT(A, 1, 101, 0),
       IN(A | U, 101, 1, 100, .urp = 1), OUT(A, 1, 201, 0), IN(A | U, 201, 1, 100, .urp = 65535), OUT(A, 1, 301, 0),
       IN(A | U, 401, 1, 100, .urp = 50), OUT(A, 1, 301, 0), IN(A | U, 301, 1, 100, .urp = 101), OUT(A, 1, 501, 0),
       IN(A, 501, 1, 1, .urp = 77), OUT(A, 1, 502, 0), GOT(501));

/* MUST-10, MUST-11, RFC 9293 §3.5 figure 8. */
SCRIPT(test_T18, OPEN, OUT(S, 0, 0, 0), IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), STATE(SYN_RCVD),
       IN(S | A, 0, 1, 0, .opt = O_MSS), SKIP(0), STATE(ESTABLISHED), READY(TCP_READY_UP), IN(A, 1, 1, 100),
       OUT(A, 1, 101, 0));
SCRIPT(test_T18_syn_lost, OPEN, OUT(S, 0, 0, 0), OUT(S, 0, 0, 0, .dt = SEC), IN(S, 0, 0, 0, .opt = O_MSS),
       OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0), STATE(ESTABLISHED));
SCRIPT(test_T18_syn_ack_lost, OPEN, OUT(S, 0, 0, 0), IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0),
       OUT(S | A, 0, 1, 0, .dt = SEC), IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0),
       STATE(ESTABLISHED));
SCRIPT(test_T18_reset, OPEN, OUT(S, 0, 0, 0), IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(R, 1, 0, 0),
       STATE(CLOSED), READY(TCP_READY_RST));

/* RFC 9293 §3.6 figure 13. */
#define CLOSING_BOTH CLOSE, OUT(F | A, 1, 1, 0), IN(F | A, 1, 1, 0), OUT(A, 2, 2, 0), STATE(CLOSING)
SCRIPT(test_T19, ACTIVE(O_MSS), CLOSING_BOTH, IN(A, 2, 2, 0), STATE(TIME_WAIT),
       READY(TCP_READY_FIN | TCP_READY_CLOSED));
SCRIPT(test_T19_fin_lost, ACTIVE(O_MSS), CLOSING_BOTH, OUT(F | A, 1, 2, 0, .dt = 200 * MS), IN(A, 2, 2, 0),
       STATE(TIME_WAIT));
SCRIPT(test_T19_ack_lost, ACTIVE(O_MSS), CLOSING_BOTH, IN(F | A, 1, 1, 0), OUT(A, 2, 2, 0), IN(F | A, 1, 2, 0),
       OUT(A, 2, 2, 0), OUT(F | A, 1, 2, 0, .dt = 200 * MS), IN(A, 2, 2, 0), STATE(TIME_WAIT), IN(F | A, 1, 2, 0),
       OUT(A, 2, 2, 0));

/* RFC 9293 §3.5.1: figures 10 and 9. */
SCRIPT(test_T20, PASSIVE(O_MSS), SEND(100), OUT(A, 1, 1, 100), IN(R, 1, 0, 0), STATE(CLOSED), READY(TCP_READY_RST));
SCRIPT(test_T20_syn_again, OPEN, OUT(S, 0, 0, 0), IN(A, 300, 100, 0), OUT(R, 100, 0, 0), STATE(SYN_SENT),
       OUT(S, 0, 0, 0), IN(S | A, 0, 1, 0, .opt = O_MSS), OUT(A, 1, 1, 0), STATE(ESTABLISHED));

/* Bounded once nobody reads any more; a half-closed connection lives on. */
#define HALF_CLOSED PASSIVE(O_MSS), CLOSE, OUT(F | A, 1, 1, 0), IN(A, 1, 2, 0), STATE(FIN_WAIT_2)
SCRIPT(test_T21, HALF_CLOSED, RELEASE, QUIET(50 * SEC), COUNT(1), SKIP(200 * SEC), COUNT(0));
/* Nobody reads any more when the peer acknowledges the FIN: 60 s from there. */
SCRIPT(test_T21_released_before, PASSIVE(O_MSS), CLOSE, OUT(F | A, 1, 1, 0), RELEASE, IN(A, 1, 2, 0), QUIET(50 * SEC),
       COUNT(1), SKIP(20 * SEC), COUNT(0));
SCRIPT(test_T21_half_close, HALF_CLOSED, QUIET(1000 * SEC), STATE(FIN_WAIT_2), IN(A, 1, 2, 100), OUT(A, 2, 101, 0),
       GOT(100));

/* ---- T22: RFC 6191 §2, MUST-13, RFC 1337 ---- */

#define TIMEWAIT(o)                                                                                          \
	PASSIVE(o), IN(A, 1, 1, 100), OUT(A, 1, 101, 0), CLOSE, OUT(F | A, 1, 101, 0), IN(F | A, 101, 2, 0), \
		OUT(A, 2, 102, 0), STATE(TIME_WAIT)
#define NEW_SYN(seq, o, ...) IN(S, seq, 0, 0, .opt = (o), __VA_ARGS__)
#define ACCEPTED(seq) OUT(S | A, 0, (seq) + 1, 0)

/* Previous life with timestamps, the last TSval 1000; the last sequence number is the FIN's, 101. */
SCRIPT(test_T22_ts_greater, TIMEWAIT(O_MSS | O_TS), NEW_SYN(50, O_MSS | O_TS, .tsval = 1001), ACCEPTED(50));
SCRIPT(test_T22_ts_equal_seq_greater, TIMEWAIT(O_MSS | O_TS), NEW_SYN(102, O_MSS | O_TS, .tsval = 1000), ACCEPTED(102));
SCRIPT(test_T22_ts_equal_seq_not, TIMEWAIT(O_MSS | O_TS), NEW_SYN(101, O_MSS | O_TS, .tsval = 1000), QUIET(SEC),
       STATE(TIME_WAIT));
SCRIPT(test_T22_ts_less, TIMEWAIT(O_MSS | O_TS), NEW_SYN(102, O_MSS | O_TS, .tsval = 999), QUIET(SEC),
       STATE(TIME_WAIT));
SCRIPT(test_T22_no_ts_now, TIMEWAIT(O_MSS | O_TS), NEW_SYN(101, O_MSS), QUIET(SEC), STATE(TIME_WAIT),
       NEW_SYN(102, O_MSS), ACCEPTED(102));
SCRIPT(test_T22_ts_now, TIMEWAIT(O_MSS), NEW_SYN(50, O_MSS | O_TS), ACCEPTED(50));
static uint32_t old_iss;

static void
note_iss(struct script *x)
{
	old_iss = x->our_iss;
}

static void
above_old(struct script *x)
{
	script_check(x, (int32_t)(x->our_iss - (old_iss + 2)) >= 0, "new ISS minus old SND.NXT",
		     x->our_iss - (old_iss + 2));
}

SCRIPT(test_T22, TIMEWAIT(O_MSS), CALL(note_iss), NEW_SYN(101, O_MSS), QUIET(SEC), STATE(TIME_WAIT),
       NEW_SYN(102, O_MSS), ACCEPTED(102), CALL(above_old));
/* An old duplicate SYN is found out by the peer's RST: back to TIME_WAIT (MAY-2). */
SCRIPT(test_T22_back, TIMEWAIT(O_MSS), NEW_SYN(5000, O_MSS), ACCEPTED(5000), IN(R, 5001, 0, 0), STATE(TIME_WAIT));
SCRIPT(test_T22_burst, TIMEWAIT(O_MSS), NEW_SYN(5000, O_MSS, .burst = true), NEW_SYN(5000, O_MSS), ACCEPTED(5000),
       SKIP(0), IN(A, 5001, 1, 0), STATE(ESTABLISHED), COUNT(2));
SCRIPT(test_T22_2msl, TIMEWAIT(O_MSS), QUIET(59 * SEC), STATE(TIME_WAIT), QUIET(2 * SEC), STATE(CLOSED));

/* RFC 9293 §3.10.7.4 fourth: the exception for a new SYN is not for SYN-ACKs (RFC 5961 §4). */
SCRIPT(test_T22_syn_ack, TIMEWAIT(O_MSS), IN(S | A, 50000, 2, 0), OUT(A, 2, 102, 0), STATE(TIME_WAIT));

/* RFC 1337 §2 figure 1, with fix F1. */
SCRIPT(test_T23, TIMEWAIT(O_MSS), IN(A, 51, 1, 50), OUT(A, 2, 102, 0), IN(R, 102, 0, 0), IN(R | A, 102, 2, 0),
       COUNTER("rx_timewait_dropped", 2), STATE(TIME_WAIT), QUIET(SEC), STATE(TIME_WAIT));

/* ---- T24: RFC 4987 §3.5, §3.6 ---- */

static void
syn_flood(struct script *x)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < 3000; i++) {
		const struct script_row syn = {.what = ROW_IN,
					       .flags = S,
					       .opt = O_MSS,
					       .src = WIRE_PEER + i % 8,
					       .sport = (uint16_t)(1024 + i)};

		script_in(x, &syn);
		x->head = x->tail;
		if (tcp_conn_count(x->tcp) > most)
			most = tcp_conn_count(x->tcp);
	}
	script_check(x, most <= 64, "connections during the flood", most);
	script_next_peer(x, 40000);
}

SCRIPT(test_T24, LISTEN, CALL(syn_flood), IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0),
       STATE(ESTABLISHED), IN(A, 1, 1, 100), OUT(A, 1, 101, 0), GOT(100));
SCRIPT(test_T24_forged, LISTEN, CALL(syn_flood), IN(A, 1, 12345, 0), OUT(R, 12345, 0, 0), IN(A, 1, 54321, 100),
       OUT(R, 54321, 0, 0));
static const struct tcp_params few_syns = {
	.max_conns = 8, .max_listeners = 1, .max_timewait = 8, .max_ooo_mbufs = 64, .max_syn = 1};

/* A cookie holds what was agreed on: a segment no longer than the peer takes, scale, timestamps and SACK; it is good
 * for that ISN of the peer's. */
SCRIPT_WITH(test_T24_cookie_mss, &few_syns, LISTEN, CALL(syn_flood), IN(S, 0, 0, 0, .opt = O_MSS, .mss = 1300),
	    OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0), STATE(ESTABLISHED), COUNTER("syn_cookies_taken", 1), SEND(2440),
	    OUT(A, 1, 1, 1220, .n = 2), IN(A, 1, 2441, 0));
SCRIPT_WITH(test_T24_cookie_options, &few_syns, LISTEN, CALL(syn_flood),
	    IN(S, 0, 0, 0, .opt = O_MSS | O_TS | O_WS | O_SACK, .ws = 5),
	    OUT(S | A, 0, 1, 0, .opt = O_TS | O_WS | O_SACK), IN(A, 1, 1, 0, .wnd = 91), STATE(ESTABLISHED),
	    COUNTER("syn_cookies_taken", 1), PUSH(5000), OUT(A, 1, 1, 1448, .n = 2, .opt = O_TS), QUIET(MS),
	    IN(A, 101, 1, 100, .wnd = 91), OUT(A, 2897, 1, 0, .sack = {{101, 201}}));
static void
old_peer_again(struct script *x)
{
	syn_flood(x);
	script_next_peer(x, SCRIPT_PEER_PORT);
}

/* A cookie cannot lie above what the 4-tuple's last life has sent (RFC 9293 MAY-2): the SYN has to come again. */
SCRIPT_WITH(test_T24_cookie_time_wait, &few_syns, TIMEWAIT(O_MSS), CALL(old_peer_again), NEW_SYN(5000, O_MSS),
	    COUNTER("rx_syn_nomem", 1), STATE(TIME_WAIT));
SCRIPT_WITH(test_T24_cookie_isn, &few_syns, LISTEN, CALL(syn_flood), IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0),
	    IN(A, 1001, 1, 100), OUT(R, 1, 0, 0), IN(A, 1, 1, 100), OUT(A, 1, 101, 0), STATE(ESTABLISHED),
	    COUNTER("syn_cookies_taken", 1));
/* What is half open ends by itself. */
SCRIPT(test_T24_expires, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), OUT(S | A, 0, 1, 0, .dt = SEC),
       OUT(S | A, 0, 1, 0, .dt = 2 * SEC), SKIP(600 * SEC), COUNT(0));

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T13),
		cmocka_unit_test(test_T14),
		cmocka_unit_test(test_T15),
		cmocka_unit_test(test_T15_syn_sent),
		cmocka_unit_test(test_T15_data_on_syn),
		cmocka_unit_test(test_T16),
		cmocka_unit_test(test_T16_with_text),
		cmocka_unit_test(test_T16_again),
		cmocka_unit_test(test_T16_text_behind),
		cmocka_unit_test(test_T16_twice),
		cmocka_unit_test(test_T16_within_text),
		cmocka_unit_test(test_T16_beyond_window),
		cmocka_unit_test(test_T24_cookie_time_wait),
		cmocka_unit_test(test_T22_syn_ack),
		cmocka_unit_test(test_T24_cookie_mss),
		cmocka_unit_test(test_T24_cookie_options),
		cmocka_unit_test(test_T24_cookie_isn),
		cmocka_unit_test(test_T17),
		cmocka_unit_test(test_T18),
		cmocka_unit_test(test_T18_syn_lost),
		cmocka_unit_test(test_T18_syn_ack_lost),
		cmocka_unit_test(test_T18_reset),
		cmocka_unit_test(test_T19),
		cmocka_unit_test(test_T19_fin_lost),
		cmocka_unit_test(test_T19_ack_lost),
		cmocka_unit_test(test_T20),
		cmocka_unit_test(test_T20_syn_again),
		cmocka_unit_test(test_T21),
		cmocka_unit_test(test_T21_released_before),
		cmocka_unit_test(test_T21_half_close),
		cmocka_unit_test(test_T22),
		cmocka_unit_test(test_T22_ts_greater),
		cmocka_unit_test(test_T22_ts_equal_seq_greater),
		cmocka_unit_test(test_T22_ts_equal_seq_not),
		cmocka_unit_test(test_T22_ts_less),
		cmocka_unit_test(test_T22_no_ts_now),
		cmocka_unit_test(test_T22_ts_now),
		cmocka_unit_test(test_T22_back),
		cmocka_unit_test(test_T22_burst),
		cmocka_unit_test(test_T22_2msl),
		cmocka_unit_test(test_T23),
		cmocka_unit_test(test_T24),
		cmocka_unit_test(test_T24_forged),
		cmocka_unit_test(test_T24_expires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
