/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion control: RFC 9438, 9406, 3168, 6928. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"

#define SEG 1460
#define AT(k) (1 + (k)*SEG)
#define DUP(...) IN(A, 1, 1, 0, __VA_ARGS__)

static struct tcp_info
info_of(struct script *x)
{
	struct tcp_info info;

	assert_true(tcp_conn_info(x->tcp, x->conn, &info));
	return info;
}

/* Every segment that is out is acknowledged after rtt, each by an ACK of its own, 10 us apart. */
static void
ack_all(struct script *x, uint64_t rtt)
{
	uint32_t end[SCRIPT_QUEUE], n = x->tail - x->head;

	for (uint32_t i = 0; i < n; i++)
		end[i] = script_peek(x, i)->seq - x->our_iss + script_peek(x, i)->len;
	x->head = x->tail;
	script_advance(x, x->now_ns + rtt);
	for (uint32_t i = 0; i < n; i++) {
		const struct script_row ack = IN(A, 1, end[i], 0);

		script_in(x, &ack);
		x->now_ns += 10 * IW_US;
	}
}

/* ---- RFC 9438 §4.6: ssthresh = 0.7 of the window; §4.3: Reno-friendly growth of 0.53 a round behind it ---- */

static void
seven_tenths(struct script *x)
{
	struct tcp_info i = info_of(x);

	script_check(x, i.ssthresh >= 7 * SEG - 8 && i.ssthresh <= 7 * SEG + 8, "ssthresh", i.ssthresh);
}

static void
friendly(struct script *x)
{
	uint32_t before = info_of(x).cwnd, after;

	script_check(x, before >= 6 * SEG && before <= 8 * SEG, "cwnd behind recovery", before);
	ack_all(x, 100 * MS);
	after = info_of(x).cwnd;
	script_check(x, after > before && after <= before + SEG, "growth in one round", after - before);
	x->head = x->tail;
}

SCRIPT(test_RFC9438, ACTIVE_RTT(O_MSS | O_SACK, 100 * MS), SEND(400 * SEG), OUT(A, 1, 1, SEG, .n = 10),
       DUP(.dt = 100 * MS, .sack = {{AT(1), AT(2)}}), OUT(A, AT(10), 1, SEG), DUP(.sack = {{AT(1), AT(3)}}),
       OUT(A, AT(11), 1, SEG), DUP(.sack = {{AT(1), AT(4)}}), OUT(A, 1, 1, SEG), SKIP(0), CALL(seven_tenths),
       IN(A, 1, AT(12), 0, .dt = 100 * MS), CALL(friendly), SKIP(0));

/* ---- RFC 9406 §4.2: a round whose RTT has grown by more than an eighth ends the doubling ---- */

static void
round_of(struct script *x, uint64_t rtt, uint32_t least, uint32_t most)
{
	uint32_t cwnd;

	ack_all(x, rtt);
	cwnd = info_of(x).cwnd / SEG;
	script_check(x, cwnd >= least && cwnd <= most, "cwnd in segments", cwnd);
}

static void
doubles(struct script *x)
{
	round_of(x, 100 * MS, 20, 20);
	round_of(x, 100 * MS, 38, 40);
	x->head = x->tail;
}

/* 8 samples (N_RTT_SAMPLE) tell; the other 12 ACKs count a quarter (CSS_GROWTH_DIVISOR). */
static void
slows_down(struct script *x)
{
	round_of(x, 100 * MS, 20, 20);
	round_of(x, 130 * MS, 28, 34);
	x->head = x->tail;
}

SCRIPT(test_RFC9406, ACTIVE_RTT(O_MSS | O_SACK | O_WS, 100 * MS), SEND(400 * SEG), CALL(slows_down), SKIP(0));
SCRIPT(test_RFC5681_slow_start, ACTIVE_RTT(O_MSS | O_SACK | O_WS, 100 * MS), SEND(400 * SEG), CALL(doubles), SKIP(0));

/* §4.1: the window is small again when no data was sent for an RTO, whatever else was sent. */
static void
only_acks(struct script *x)
{
	ack_all(x, 100 * MS);
	ack_all(x, 100 * MS);
	script_check(x, info_of(x).cwnd >= 30 * SEG, "cwnd before the pause", info_of(x).cwnd);
	for (uint32_t i = 0; i < 40; i++) {
		const struct script_row text = IN(A, 1 + i * 100, 1 + 30 * SEG, 100);

		script_in(x, &text);
		x->head = x->tail;
		script_advance(x, x->now_ns + 100 * MS);
	}
	x->to_send = 60 * SEG;
	script_settle(x);
	script_check(x, x->tail - x->head == 10, "segments at once after a pause", x->tail - x->head);
	x->head = x->tail;
}

SCRIPT(test_RFC5681_idle, ACTIVE_RTT(O_MSS | O_SACK | O_WS, 100 * MS), SEND(30 * SEG), CALL(only_acks), SKIP(0));

/* ---- RFC 3168 ---- */

enum { NOT_ECT = 0, ECT0 = 2, CE = 3 };
#define IS(e) .ecn = (e) + 1 /* of a segment that comes out */
#define ECN_UP                                                                              \
	LISTEN, IN(S | E | W, 0, 0, 0, .opt = O_MSS), OUT(S | A | E, 0, 1, 0, IS(NOT_ECT)), \
		IN(A, 1, 1, 0, .dt = 100 * MS)

/* §6.1.1: set-up; §6.1.2: the receiver echoes until CWR; §6.1.4: no ECT on ACKs. */
SCRIPT(test_RFC3168, ECN_UP, SEND(100), OUT(A, 1, 1, 100, IS(ECT0)), IN(A, 1, 101, 100, .ecn = ECT0),
       OUT(A, 101, 101, 0, IS(NOT_ECT)), IN(A, 101, 101, 100, .ecn = CE), OUT(A | E, 101, 201, 0, IS(NOT_ECT)),
       IN(A, 201, 101, 100, .ecn = ECT0), OUT(A | E, 101, 301, 0), IN(A | W, 301, 101, 100, .ecn = ECT0),
       OUT(A, 101, 401, 0), IN(A | W, 401, 101, 100, .ecn = CE), OUT(A | E, 101, 501, 0));

static void
half_or_so(struct script *x)
{
	uint32_t cwnd = info_of(x).cwnd;

	script_check(x, cwnd >= 5 * SEG && cwnd < 10 * SEG, "cwnd after ECE", cwnd);
}

/* §6.1.2: ECE reduces once in a round trip, the next new segment says CWR; §6.1.5: no ECT on retransmissions. */
SCRIPT(test_RFC3168_sender, ECN_UP, SEND(40 * SEG), OUT(A, 1, 1, SEG, .n = 10, IS(ECT0)),
       IN(A | E, 1, AT(1), 0, .dt = 100 * MS), CALL(half_or_so), IN(A | E, 1, AT(2), 0), CALL(half_or_so),
       IN(A | E, 1, AT(6), 0), CALL(half_or_so), OUT(A | W, AT(10), 1, SEG, IS(ECT0)), SKIP(0));
/* A window that was reduced for a loss is told as well, once. */
SCRIPT(test_RFC3168_loss, ECN_UP, SEND(40 * SEG), OUT(A, 1, 1, SEG, .n = 10), DUP(.dt = 100 * MS),
       OUT(A, AT(10), 1, SEG, IS(ECT0)), DUP(.ecn = NOT_ECT), OUT(A, AT(11), 1, SEG, IS(ECT0)), DUP(.ecn = NOT_ECT),
       OUT(A, 1, 1, SEG, IS(NOT_ECT)), IN(A, 1, AT(12), 0, .dt = 100 * MS), OUT(A | W, AT(12), 1, SEG, IS(ECT0)),
       OUT(A, AT(13), 1, SEG, IS(ECT0)), SKIP(0));
SCRIPT(test_RFC3168_rexmit, ECN_UP, SEND(100), OUT(A, 1, 1, 100, IS(ECT0)),
       OUT(A, 1, 1, 100, .any = ANY_TIME, IS(NOT_ECT)));
/* Not a set-up: only one of the flags; our SYN offers, a SYN,ACK with both flags is none. */
SCRIPT(test_RFC3168_half, LISTEN, IN(S | E, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0), SEND(100),
       OUT(A, 1, 1, 100, IS(NOT_ECT)));
SCRIPT(test_RFC3168_active, OPEN, OUT(S | E | W, 0, 0, 0, IS(NOT_ECT)), IN(S | A | E, 0, 1, 0, .opt = O_MSS),
       OUT(A, 1, 1, 0, IS(NOT_ECT)), SEND(100), OUT(A, 1, 1, 100, IS(ECT0)));
SCRIPT(test_RFC3168_bounced, OPEN, OUT(S | E | W, 0, 0, 0), IN(S | A | E | W, 0, 1, 0, .opt = O_MSS), OUT(A, 1, 1, 0),
       SEND(100), OUT(A, 1, 1, 100, IS(NOT_ECT)));

/* ---- RFC 8257 ---- */

static const struct tcp_params dctcp = {
	.max_conns = 8, .max_listeners = 1, .max_timewait = 8, .max_ooo_mbufs = 100, .cc = TCP_CC_DCTCP};

/* §3.2: ECE says what the last segment said, at once when that changes; CWR is of no importance. */
#define DCTCP_UP \
	LISTEN, IN(S | E | W, 0, 0, 0, .opt = O_MSS), OUT(S | A | E, 0, 1, 0, IS(ECT0)), IN(A, 1, 1, 0, .dt = 100 * MS)
SCRIPT_WITH(test_RFC8257, &dctcp, DCTCP_UP, IN(A, 1, 1, 100, .ecn = ECT0), OUT(A, 1, 101, 0),
	    IN(A, 101, 1, 100, .ecn = CE), OUT(A | E, 1, 201, 0), IN(A, 201, 1, 100, .ecn = CE), OUT(A | E, 1, 301, 0),
	    IN(A, 301, 1, 100, .ecn = ECT0), OUT(A, 1, 401, 0), IN(A, 401, 1, 100, .ecn = CE), OUT(A | E, 1, 501, 0));

/* §3.6: SYN, SYN-ACK and RST are marked as the rest is; CE on a SYN tells nothing.  A SYN that is sent again asks no
 * more (RFC 3168 §6.1.1.1), so it is not marked either. */
SCRIPT_WITH(test_RFC8257_syn, &dctcp, OPEN, OUT(S | E | W, 0, 0, 0, IS(ECT0)), OUT(S, 0, 0, 0, .dt = SEC, IS(NOT_ECT)),
	    IN(S | A | E, 0, 1, 0, .opt = O_MSS), OUT(A, 1, 1, 0, IS(NOT_ECT)));
SCRIPT_WITH(test_RFC8257_syn_ack, &dctcp, LISTEN, IN(S | E | W, 0, 0, 0, .opt = O_MSS, .ecn = CE),
	    OUT(S | A | E, 0, 1, 0, IS(ECT0)), IN(A, 1, 1, 100, .ecn = ECT0), OUT(A, 1, 101, 0, IS(ECT0)), ABORT,
	    OUT(R | A, 1, 101, 0, IS(ECT0)));
SCRIPT_WITH(test_RFC8257_ce_on_syn_ack, &dctcp, OPEN, OUT(S | E | W, 0, 0, 0),
	    IN(S | A | E, 0, 1, 0, .opt = O_MSS, .ecn = CE), OUT(A, 1, 1, 0, IS(ECT0)), SEND(100),
	    OUT(A, 1, 1, 100, IS(ECT0)));
SCRIPT_WITH(test_RFC8257_ce_on_text_of_syn_ack, &dctcp, OPEN, OUT(S | E | W, 0, 0, 0),
	    IN(S | A | E, 0, 1, 100, .opt = O_MSS, .ecn = CE), OUT(A, 1, 101, 0, IS(ECT0)), GOT(100),
	    IN(A, 101, 1, 100, .ecn = CE), OUT(A | E, 1, 201, 0));
SCRIPT_WITH(test_RFC8257_no_ecn, &dctcp, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0, IS(NOT_ECT)),
	    IN(A, 1, 1, 0), SEND(100), OUT(A, 1, 1, 100, IS(NOT_ECT)));

/* ---- §3.3: alpha is a moving average of the share of marked octets, g = 1/16; the cut is alpha / 2 ---- */

/* So many windows, each wholly marked or not at all. */
static void
windows(struct script *x, uint32_t n, uint8_t mark)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t end[SCRIPT_QUEUE], segments = x->tail - x->head;

		for (uint32_t k = 0; k < segments; k++)
			end[k] = script_peek(x, k)->seq - x->our_iss + script_peek(x, k)->len;
		x->head = x->tail;
		script_advance(x, x->now_ns + MS);
		for (uint32_t k = 0; k < segments; k++) {
			const struct script_row ack = IN(A | mark, 1, end[k], 0);

			script_in(x, &ack);
		}
	}
}

/* Of the window at the end of one more that is marked this share is left, in percent. */
static void
left_is(struct script *x, uint32_t percent)
{
	uint32_t before = info_of(x).cwnd, after;

	windows(x, 1, E);
	after = info_of(x).cwnd * 100 / before;
	script_check(x, after + 3 >= percent && after <= percent + 3, "percent of the window left", after);
	x->head = x->tail;
}

/* It begins at 1: a half is left. */
static void
alpha_begins_at_1(struct script *x)
{
	left_is(x, 50);
}

/* (15/16)^16 = 0.356: of the window 1 - 0.178 is left. */
static void
alpha_decays(struct script *x)
{
	windows(x, 16, 0);
	left_is(x, 82);
}

/* Windows are marked one after the other: 1 - (1 - 0.356) (15/16)^4 = 0.503. */
static void
alpha_rises(struct script *x)
{
	windows(x, 16, 0);
	windows(x, 4, E);
	left_is(x, 75);
}

#define DCTCP_FLOWS \
	LISTEN, IN(S | E | W, 0, 0, 0, .opt = O_MSS), OUT(S | A | E, 0, 1, 0), IN(A, 1, 1, 0), SEND(4000 * SEG)
SCRIPT_WITH(test_RFC8257_alpha_at_first, &dctcp, DCTCP_FLOWS, CALL(alpha_begins_at_1), SKIP(0));
SCRIPT_WITH(test_RFC8257_alpha_decays, &dctcp, DCTCP_FLOWS, CALL(alpha_decays), SKIP(0));
SCRIPT_WITH(test_RFC8257_alpha_rises, &dctcp, DCTCP_FLOWS, CALL(alpha_rises), SKIP(0));

/* RFC 6928 §2. */
SCRIPT(test_RFC6928, PASSIVE(O_MSS), SEND(30 * SEG), OUT(A, 1, 1, SEG, .n = 10));
SCRIPT(test_RFC6928_syn_lost, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0), OUT(S | A, 0, 1, 0, .dt = SEC),
       IN(A, 1, 1, 0), SEND(30 * SEG), OUT(A, 1, 1, SEG), SKIP(0));

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_RFC9438),
		cmocka_unit_test(test_RFC9406),
		cmocka_unit_test(test_RFC5681_slow_start),
		cmocka_unit_test(test_RFC5681_idle),
		cmocka_unit_test(test_RFC3168),
		cmocka_unit_test(test_RFC3168_sender),
		cmocka_unit_test(test_RFC3168_loss),
		cmocka_unit_test(test_RFC3168_rexmit),
		cmocka_unit_test(test_RFC3168_half),
		cmocka_unit_test(test_RFC3168_active),
		cmocka_unit_test(test_RFC3168_bounced),
		cmocka_unit_test(test_RFC8257),
		cmocka_unit_test(test_RFC8257_syn),
		cmocka_unit_test(test_RFC8257_syn_ack),
		cmocka_unit_test(test_RFC8257_ce_on_syn_ack),
		cmocka_unit_test(test_RFC8257_ce_on_text_of_syn_ack),
		cmocka_unit_test(test_RFC8257_no_ecn),
		cmocka_unit_test(test_RFC8257_alpha_at_first),
		cmocka_unit_test(test_RFC8257_alpha_decays),
		cmocka_unit_test(test_RFC8257_alpha_rises),
		cmocka_unit_test(test_RFC6928),
		cmocka_unit_test(test_RFC6928_syn_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
