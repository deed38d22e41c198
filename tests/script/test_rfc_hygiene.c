/* SPDX-License-Identifier: BSD-3-Clause */
/* Hygiene: RFC 7323, 5961, 6191, 1337, 4987, 6056, 5927, 1191, 8201, 4821, 5482. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"

/* §3.2: agreed on by both SYNs, then on every segment; §4.3 (2): the echo is of the segment that moved the edge. */
SCRIPT(test_RFC7323, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS | O_TS | O_WS, .tsval = 1000),
       OUT(S | A, 0, 1, 0, .opt = O_MSS | O_TS | O_WS, .tsecr = 1000), IN(A, 1, 1, 0, .tsval = 1001),
       IN(A, 1, 1, 100, .tsval = 1005), OUT(A, 1, 101, 0, .opt = O_TS, .tsecr = 1005),
       IN(A, 201, 1, 100, .tsval = 1010), OUT(A, 1, 101, 0, .tsecr = 1005), IN(A, 101, 1, 100, .tsval = 1012),
       OUT(A, 1, 301, 0, .tsecr = 1012), SEND(100), OUT(A, 1, 301, 100, .opt = O_TS, .tsecr = 1012), CLOSE,
       OUT(F | A, 101, 301, 0, .opt = O_TS, .tsecr = 1012), ABORT, OUT(R | A, 102, 301, 0, .opt = O_TS));
/* The clock wraps: newer is a matter of 32 bits. */
SCRIPT(test_RFC7323_wrap, LISTEN, IN(S, 0, 0, 0, .opt = O_MSS | O_TS, .tsval = 0xfffffff0u),
       OUT(S | A, 0, 1, 0, .tsecr = 0xfffffff0u), IN(A, 1, 1, 0, .tsval = 0xfffffff8u), IN(A, 1, 1, 100, .tsval = 4),
       OUT(A, 1, 101, 0, .tsecr = 4), IN(A, 101, 1, 100, .tsval = 0xffffffffu), OUT(A, 1, 101, 0, .tsecr = 4),
       GOT(100));
/* We offer; a peer that does not answer in kind gets none. */
SCRIPT(test_RFC7323_active, OPEN, OUT(S, 0, 0, 0, .opt = O_MSS | O_TS | O_WS | O_SACK),
       IN(S | A, 0, 1, 0, .opt = O_MSS), OUT(A, 1, 1, 0, .no_opt = O_TS), SEND(1460),
       OUT(A, 1, 1, 1460, .no_opt = O_TS));
/* §4.1: a round trip from the echo although the segment was sent twice: RTO follows it. */
SCRIPT(test_RFC7323_rttm, ACTIVE_RTT(O_MSS | O_TS, 100 * MS), SEND(100), OUT(A, 1, 1, 100),
       OUT(A, 1, 1, 100, .dt = 300 * MS), IN(A, 1, 101, 0, .dt = 100 * MS), SEND(100), OUT(A, 101, 1, 100),
       OUT(A, 101, 1, 100, .dt = 250 * MS, .tol = 50 * MS));
/* Appendix: EMSS is MSS less the option (RFC 6691). */
SCRIPT(test_RFC6691, PASSIVE(O_MSS | O_TS), SEND(1460), OUT(A, 1, 1, 1448), OUT(A, 1449, 1, 12));

/* §3.2, §4.2, §5.2 in one life, while data flows both ways. */
SCRIPT(test_RFC5961, PASSIVE(O_MSS | O_TS | O_SACK), SEND(1448), OUT(A, 1, 1, 1448), IN(A, 1, 1449, 0),
       IN(R, 1000, 0, 0), OUT(A, 1449, 1, 0), IN(S, 77, 0, 0, .dt = SEC), OUT(A, 1449, 1, 0),
       IN(A, 1, 1450, 100, .dt = SEC), OUT(A, 1449, 1, 0), IN(A, 1, 1449, 100), OUT(A, 1449, 101, 0), GOT(100),
       IN(R | A, 101, 5, 0), STATE(CLOSED), READY(TCP_READY_RST));

#define TIMEWAIT(o) PASSIVE(o), CLOSE, OUT(F | A, 1, 1, 0), IN(F | A, 1, 2, 0), OUT(A, 2, 2, 0), STATE(TIME_WAIT)

/* §2: the new life works, on the old one's 4-tuple. */
SCRIPT(test_RFC6191, TIMEWAIT(O_MSS | O_TS), IN(S, 0, 0, 0, .opt = O_MSS | O_TS, .ts_add = 1), OUT(S | A, 0, 1, 0),
       IN(A, 1, 1, 100, .ts_add = 1), OUT(A, 1, 101, 0), STATE(ESTABLISHED), GOT(100), COUNTER("timewait_reused", 1));
/* §2, fix F1: two kinds of assassination. */
SCRIPT(test_RFC1337, TIMEWAIT(O_MSS), IN(A, 0, 2, 1), OUT(A, 2, 2, 0), IN(R, 2, 0, 0), STATE(TIME_WAIT),
       IN(A, 2, 700, 0), OUT(A, 2, 2, 0), IN(R, 2, 0, 0), STATE(TIME_WAIT), IN(F | A, 1, 2, 0), OUT(A, 2, 2, 0));

/* ---- RFC 4987 §3: no state that a stranger can fill ---- */

static void
strangers(struct script *x)
{
	static const struct script_row syn = IN(S, 0, 0, 0, .opt = O_MSS | O_TS | O_WS | O_SACK);

	for (uint16_t i = 0; i < 500; i++) {
		script_next_peer(x, (uint16_t)(5000 + i));
		x->our_port = SCRIPT_PORT;
		script_in(x, &syn);
		x->head = x->tail;
	}
	script_next_peer(x, 9999);
	x->our_port = SCRIPT_PORT;
}

SCRIPT(test_RFC4987, LISTEN, CALL(strangers), IN(S, 0, 0, 0, .opt = O_MSS), OUT(S | A, 0, 1, 0),
       IN(A, 1, 1, 100, .dt = 20 * MS), OUT(A, 1, 101, 0), STATE(ESTABLISHED), GOT(100), SKIP(400 * SEC), COUNT(1));

/* RFC 9293 MUST-15: a SYN without the option, with a record of it and when only a cookie remembers. */
#define NO_MSS(octets) PASSIVE(0), SEND(1460), OUT(A, 1, 1, octets), SKIP(0)
#define NO_MSS_COOKIE(octets)                                                                                    \
	LISTEN, CALL(strangers), IN(S, 0, 0, 0), OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0, .dt = 20 * MS), SEND(1460), \
		OUT(A, 1, 1, octets), SKIP(0)
SCRIPT(test_MUST15, NO_MSS(536));
SCRIPT(test_MUST15_cookie, NO_MSS_COOKIE(536));
SCRIPT(test_MUST15_v6, NO_MSS(1220));
SCRIPT(test_MUST15_cookie_v6, NO_MSS_COOKIE(1220));

/* RFC 6056 §3.2: the range is wide, the choice random. */
static void
spread(struct script *x)
{
	uint16_t least = UINT16_MAX, most = 0;

	for (uint32_t i = 0; i < 48; i++) {
		static const struct script_row rows[] = {ROW(ROW_OPEN, .len = 0), OUT(S, 0, 0, 0), ABORT, RELEASE};

		script_next_peer(x, 3333);
		script_play(x, "a port", rows, 4);
		least = x->our_port < least ? x->our_port : least;
		most = x->our_port > most ? x->our_port : most;
	}
	script_check(x, most - least > 8000, "spread of 48 ports", most - least);
}

SCRIPT(test_RFC6056, CALL(spread));

/* §4.1: only what is in flight; §5.2: hard errors are soft in synchronized states; in SYN_SENT they count. */
SCRIPT(test_RFC5927, PASSIVE(O_MSS), SEND(1000), OUT(A, 1, 1, 1000), ICMP(3, 3, 0, 0), ICMP(3, 3, 0, 1),
       ICMP(3, 2, 0, 500), ICMP(3, 3, 0, 1001), STATE(ESTABLISHED), NOT_READY(TCP_READY_UNREACH), IN(A, 1, 1001, 0),
       ICMP(3, 4, 600, 1), SEND(1460), OUT(A, 1001, 1, 1460));

/* §7.2: what contradicts experience waits until the segment that it quotes times out; when that is acknowledged, it was
 * a lie. */
#define PROVEN ACTIVE_RTT(O_MSS, 100 * MS), SEND(7300), OUT(A, 1, 1, 1460, .n = 5), IN(A, 1, 7301, 0, .dt = 100 * MS)
SCRIPT(test_RFC5927_proven, PROVEN, SEND(1460), OUT(A, 7301, 1, 1460), ICMP(3, 4, 1300, 7301),
       OUT(A, 7301, 1, 1260, .dt = 300 * MS, .tol = 150 * MS), SKIP(0), IN(A, 1, 8761, 0));
/* The new size has not been proven by what the old one was. */
SCRIPT(test_RFC5927_new_size, PROVEN, SEND(1460), OUT(A, 7301, 1, 1460), ICMP(3, 4, 1300, 7301),
       OUT(A, 7301, 1, 1260, .dt = 300 * MS, .tol = 150 * MS), SKIP(0), ICMP(3, 4, 1280, 7301), OUT(A, 7301, 1, 1240),
       SKIP(0), IN(A, 1, 8761, 0));
SCRIPT(test_RFC5927_lie, PROVEN, SEND(1460), OUT(A, 7301, 1, 1460), ICMP(3, 4, 1300, 7301),
       IN(A, 1, 8761, 0, .dt = 50 * MS), SEND(1460), OUT(A, 8761, 1, 1460),
       OUT(A, 8761, 1, 1460, .dt = 300 * MS, .tol = 150 * MS), IN(A, 1, 10221, 0));

/* §6.3: less than asked for; §6.2: the plateau where the router does not say. */
SCRIPT(test_RFC1191, PASSIVE(O_MSS), SEND(2920), OUT(A, 1, 1, 1460, .n = 2), ICMP(3, 4, 1400, 1), OUT(A, 1, 1, 1360),
       OUT(A, 1361, 1, 100), OUT(A, 1461, 1, 1360), OUT(A, 2821, 1, 100), IN(A, 1, 2921, 0), SEND(1460),
       OUT(A, 2921, 1, 1360), OUT(A, 4281, 1, 100));
SCRIPT(test_RFC1191_plateau, PASSIVE(O_MSS), SEND(1460), OUT(A, 1, 1, 1460), ICMP(3, 4, 0, 1),
       OUT(A, 1, 1, 0, .any = ANY_LEN), SKIP(0), IN(A, 1, 1461, 0), STATE(ESTABLISHED));

/* §4: no report of less than 1280 is obeyed (the numbers are those of IPv4 with the same MSS: 20 less). */
SCRIPT(test_RFC8201, PASSIVE(O_MSS), SEND(1460), OUT(A, 1, 1, 1460), ICMP(3, 4, 0, 1), ICMP(3, 4, 1200, 1),
       ICMP(3, 4, 1259, 1), QUIET(100 * MS), ICMP(3, 4, 1260, 1), OUT(A, 1, 1, 1220), OUT(A, 1221, 1, 240),
       IN(A, 1, 1461, 0), SEND(1460), OUT(A, 1461, 1, 1220), OUT(A, 2681, 1, 240));

/* ---- RFC 4821 §7.7: full segments get no answer and nobody says why ---- */

static void
sent_again_shorter(struct script *x)
{
	uint32_t full = 0, len;

	do {
		x->head = x->tail;
		script_advance(x, x->now_ns + 30 * SEC);
		len = script_peek(x, 0)->len;
		script_check(x, script_peek(x, 0)->seq - x->our_iss == 1, "sent again", script_peek(x, 0)->seq);
		full += len == 1460;
	} while (len > 1240 && full < 8);
	script_check(x, full >= 1 && full <= 4, "full segments before a shorter one", full);
	script_check(x, len >= 1000 && len <= 1240, "octets of the shorter one", len);
	x->head = x->tail;
}

static void
stays_short(struct script *x)
{
	script_check(x, script_peek(x, 0)->len <= 1240, "octets of a later segment", script_peek(x, 0)->len);
	x->head = x->tail;
}

SCRIPT(test_RFC4821, ACTIVE_RTT(O_MSS, 100 * MS), SEND(1460), OUT(A, 1, 1, 1460), CALL(sent_again_shorter),
       IN(A, 1, 1461, 0), STATE(ESTABLISHED), SEND(1460), CALL(stays_short), SKIP(0));
/* IPv6 goes no lower than 1280 (the numbers are those of IPv4: 20 less). */
static void
never_shorter(struct script *x)
{
	uint64_t end = x->now_ns + 60 * SEC;

	while (x->now_ns < end) {
		script_advance(x, end);
		for (; x->head != x->tail; x->head++)
			script_check(x, script_peek(x, 0)->seq - x->our_iss != 1 || script_peek(x, 0)->len >= 1220,
				     "octets of a segment", script_peek(x, 0)->len);
	}
}

SCRIPT(test_RFC8201_black_hole, ACTIVE_RTT(O_MSS, 100 * MS), SEND(1460), OUT(A, 1, 1, 1460), CALL(never_shorter),
       COUNTER("black_holes", 2));
/* What is short is lost for another reason. */
SCRIPT(test_RFC4821_short, ACTIVE_RTT(O_MSS, 100 * MS), SEND(500), OUT(A, 1, 1, 500), SKIP(10 * SEC), IN(A, 1, 501, 0),
       SEND(1460), OUT(A, 501, 1, 1460));

/* ---- RFC 5482 §2: how long data may be unacknowledged is the connection's own ---- */

static void
ten_seconds(struct script *x)
{
	x->attr.user_timeout_ns = 10 * SEC;
}

SCRIPT(test_RFC5482, CALL(ten_seconds), ACTIVE_RTT(O_MSS, 100 * MS), SEND(100), SKIP(9 * SEC), STATE(ESTABLISHED),
       NOT_READY(TCP_READY_TIMEOUT), SKIP(2 * SEC), READY(TCP_READY_TIMEOUT), STATE(CLOSED));
/* An ACK of something new begins it anew; without data nothing runs. */
SCRIPT(test_RFC5482_progress, CALL(ten_seconds), ACTIVE_RTT(O_MSS, 100 * MS), SEND(100), SKIP(8 * SEC), IN(A, 1, 51, 0),
       SKIP(8 * SEC), STATE(ESTABLISHED), IN(A, 1, 101, 0), SKIP(60 * SEC), STATE(ESTABLISHED));

int
main(void)
{
	/* An MTU that the router does not tell, one below the least, an MSS that is not told: IPv4's and IPv6's own. */
	const struct CMUnitTest v4[] = {cmocka_unit_test(test_RFC1191_plateau), cmocka_unit_test(test_MUST15),
					cmocka_unit_test(test_MUST15_cookie)},
				v6[] = {cmocka_unit_test(test_RFC8201), cmocka_unit_test(test_RFC8201_black_hole),
					cmocka_unit_test(test_MUST15_v6), cmocka_unit_test(test_MUST15_cookie_v6)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_RFC7323),          cmocka_unit_test(test_RFC7323_wrap),
		cmocka_unit_test(test_RFC7323_active),   cmocka_unit_test(test_RFC7323_rttm),
		cmocka_unit_test(test_RFC6691),          cmocka_unit_test(test_RFC5961),
		cmocka_unit_test(test_RFC6191),          cmocka_unit_test(test_RFC1337),
		cmocka_unit_test(test_RFC4987),          cmocka_unit_test(test_RFC6056),
		cmocka_unit_test(test_RFC5927),          cmocka_unit_test(test_RFC5927_proven),
		cmocka_unit_test(test_RFC5927_lie),      cmocka_unit_test(test_RFC5927_new_size),
		cmocka_unit_test(test_RFC1191),          cmocka_unit_test(test_RFC4821),
		cmocka_unit_test(test_RFC4821_short),    cmocka_unit_test(test_RFC5482),
		cmocka_unit_test(test_RFC5482_progress),
	};
	int bad = wire_is_v6() ? cmocka_run_group_tests(v6, NULL, NULL) : cmocka_run_group_tests(v4, NULL, NULL);

	return bad + cmocka_run_group_tests(tests, NULL, NULL);
}
