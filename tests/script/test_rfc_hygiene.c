/* SPDX-License-Identifier: BSD-3-Clause */
/* Hygiene: RFC 7323, 5961, 6191, 1337, 4987, 6056, 5927, 1191. */
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
       OUT(A, 1, 301, 0, .tsecr = 1012), SEND(100), OUT(A, 1, 301, 100, .opt = O_TS, .tsecr = 1012));
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

/* §6.3: less than asked for; §6.2: the plateau where the router does not say. */
SCRIPT(test_RFC1191, PASSIVE(O_MSS), SEND(2920), OUT(A, 1, 1, 1460, .n = 2), ICMP(3, 4, 1400, 1), OUT(A, 1, 1, 1360),
       OUT(A, 1361, 1, 100), OUT(A, 1461, 1, 1360), OUT(A, 2821, 1, 100), IN(A, 1, 2921, 0), SEND(1460),
       OUT(A, 2921, 1, 1360), OUT(A, 4281, 1, 100));
SCRIPT(test_RFC1191_plateau, PASSIVE(O_MSS), SEND(1460), OUT(A, 1, 1, 1460), ICMP(3, 4, 0, 1),
       OUT(A, 1, 1, 0, .any = ANY_LEN), SKIP(0), IN(A, 1, 1461, 0), STATE(ESTABLISHED));

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_RFC7323),         cmocka_unit_test(test_RFC7323_wrap),
		cmocka_unit_test(test_RFC7323_active),  cmocka_unit_test(test_RFC7323_rttm),
		cmocka_unit_test(test_RFC6691),         cmocka_unit_test(test_RFC5961),
		cmocka_unit_test(test_RFC6191),         cmocka_unit_test(test_RFC1337),
		cmocka_unit_test(test_RFC4987),         cmocka_unit_test(test_RFC6056),
		cmocka_unit_test(test_RFC5927),         cmocka_unit_test(test_RFC1191),
		cmocka_unit_test(test_RFC1191_plateau),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
