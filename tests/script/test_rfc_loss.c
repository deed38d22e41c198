/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss recovery: RFC 6675, 6582, 6937, 8985, 3042, 5682, 2883, 3708, 3522, 6298. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"

#define SEG 1460
#define AT(k) (1 + (k)*SEG) /* the k-th segment begins here */
/* The initial window of 10 segments is out, n segments in all are wanted; round trip 100 ms, so RTO 300 ms. */
#define TEN_OUT(o, total) ACTIVE_RTT(o, 100 * MS), PUSH((total)*SEG), OUT(A, 1, 1, SEG, .n = 10)
#define DUP(...) IN(A, 1, 1, 0, __VA_ARGS__)

static uint32_t
cwnd_of(struct script *x)
{
	struct tcp_info info;

	assert_true(tcp_conn_info(x->tcp, x->conn, &info));
	return info.cwnd;
}

static uint32_t
ssthresh_of(struct script *x)
{
	struct tcp_info info;

	assert_true(tcp_conn_info(x->tcp, x->conn, &info));
	return info.ssthresh;
}

/* §5: three duplicates by SACK; step (2): or as much SACKed above it; NextSeg (1): holes from below. */
SCRIPT(test_RFC6675, TEN_OUT(O_MSS | O_SACK, 10), DUP(.dt = 100 * MS, .sack = {{AT(1), AT(2)}}),
       DUP(.sack = {{AT(1), AT(3)}}), DUP(.sack = {{AT(1), AT(4)}}), OUT(A, 1, 1, SEG), DUP(.sack = {{AT(1), AT(10)}}),
       IN(A, 1, AT(10), 0, .dt = 100 * MS), QUIET(5 * SEC), STATE(ESTABLISHED));
SCRIPT(test_RFC6675_holes, TEN_OUT(O_MSS | O_SACK, 10), DUP(.dt = 100 * MS, .sack = {{AT(3), AT(10)}, {AT(1), AT(2)}}),
       OUT(A, AT(0), 1, SEG), OUT(A, AT(2), 1, SEG), IN(A, 1, AT(2), 0, .dt = 100 * MS, .sack = {{AT(3), AT(10)}}),
       IN(A, 1, AT(10), 0), QUIET(5 * SEC));

/* Each later loss of the same window is sent once, not again with each further ACK. */
SCRIPT(test_RFC6675_once, TEN_OUT(O_MSS | O_SACK, 10), DUP(.dt = 100 * MS, .sack = {{AT(1), AT(4)}}), OUT(A, 1, 1, SEG),
       DUP(.sack = {{AT(1), AT(5)}}), DUP(.sack = {{AT(1), AT(6)}}), DUP(.sack = {{AT(1), AT(7)}}),
       DUP(.sack = {{AT(1), AT(8)}}), DUP(.sack = {{AT(1), AT(9)}}), DUP(.sack = {{AT(1), AT(10)}}), QUIET(50 * MS),
       IN(A, 1, AT(10), 0));

/* §3.1: what leaves in recovery is proportional to what arrives, never a burst. */
static void
proportional(struct script *x)
{
	uint32_t out = 0, n;

	for (uint32_t k = 4; k <= 11; k++) {
		const struct script_row ack = DUP(.sack = {{AT(1), AT(1) + k * SEG}});

		script_in(x, &ack);
		n = x->tail - x->head;
		x->head = x->tail;
		out += n;
		script_check(x, n <= 2, "segments for one ACK", n);
		script_check(x, out * 9 <= (k + 1) * 7 + 9, "segments in recovery after so many ACKs", out);
	}
	script_check(x, out >= 3, "segments in recovery", out);
}

static void
ends_at_ssthresh(struct script *x)
{
	script_check(x, cwnd_of(x) <= ssthresh_of(x) + SEG, "cwnd at the end of recovery", cwnd_of(x));
	script_check(x, cwnd_of(x) >= ssthresh_of(x) - SEG, "cwnd at the end of recovery", cwnd_of(x));
	x->head = x->tail;
}

SCRIPT(test_RFC6937, TEN_OUT(O_MSS | O_SACK, 40), DUP(.dt = 100 * MS, .sack = {{AT(1), AT(2)}}), OUT(A, AT(10), 1, SEG),
       DUP(.sack = {{AT(1), AT(3)}}), OUT(A, AT(11), 1, SEG), DUP(.sack = {{AT(1), AT(4)}}), OUT(A, 1, 1, SEG), SKIP(0),
       CALL(proportional), IN(A, 1, AT(12), 0, .dt = 100 * MS), CALL(ends_at_ssthresh), SKIP(0));

/* §6.2: lost once RTT and a reordering window of a quarter of it have passed; §7.2: PTO = 2 SRTT. */
SCRIPT(test_RFC8985, TEN_OUT(O_MSS | O_SACK, 10), DUP(.dt = 100 * MS, .sack = {{AT(1), AT(2)}}),
       OUT(A, 1, 1, SEG, .dt = 25 * MS, .tol = 3 * MS), IN(A, 1, AT(10), 0), QUIET(5 * SEC));
SCRIPT(test_RFC8985_reordered, TEN_OUT(O_MSS | O_SACK, 10), DUP(.dt = 100 * MS, .sack = {{AT(1), AT(2)}}),
       IN(A, 1, AT(2), 0, .dt = 15 * MS), QUIET(50 * MS), IN(A, 1, AT(10), 0));
SCRIPT(test_RFC8985_tlp, ACTIVE_RTT(O_MSS | O_SACK, 100 * MS), SEND(2 * SEG), OUT(A, 1, 1, SEG, .n = 2),
       OUT(A, AT(1), 1, SEG, .dt = 200 * MS), DUP(.dt = 100 * MS, .sack = {{AT(1), AT(2)}}), OUT(A, 1, 1, SEG),
       IN(A, 1, AT(2), 0), QUIET(5 * SEC));
SCRIPT(test_RFC8985_tlp_new, TEN_OUT(O_MSS | O_SACK, 11), OUT(A, AT(10), 1, SEG, .dt = 200 * MS), IN(A, 1, AT(11), 0),
       QUIET(5 * SEC));
/* §7.3: one probe, then the timeout. */
SCRIPT(test_RFC8985_tlp_once, ACTIVE_RTT(O_MSS | O_SACK, 100 * MS), SEND(3 * SEG), OUT(A, 1, 1, SEG, .n = 3),
       OUT(A, AT(2), 1, SEG, .dt = 200 * MS), OUT(A, AT(0), 1, SEG, .dt = 300 * MS), IN(A, 1, AT(3), 0),
       QUIET(5 * SEC));

/* The ACK that ends a recovery may tell of the next loss. */
SCRIPT(test_RFC8985_next_loss, TEN_OUT(O_MSS | O_SACK, 14), DUP(.dt = 100 * MS, .sack = {{AT(1), AT(2)}}),
       OUT(A, AT(10), 1, SEG), DUP(.sack = {{AT(1), AT(3)}}), OUT(A, AT(11), 1, SEG), DUP(.sack = {{AT(1), AT(4)}}),
       OUT(A, 1, 1, SEG), IN(A, 1, AT(10), 0, .dt = 100 * MS), OUT(A, AT(12), 1, SEG), OUT(A, AT(13), 1, SEG),
       IN(A, 1, AT(12), 0, .dt = 100 * MS, .sack = {{AT(13), AT(14)}}),
       OUT(A, AT(12), 1, SEG, .dt = 25 * MS, .tol = 3 * MS), SKIP(0));

/* §6.2 holds after a timeout as well: a retransmission that was lost is found by what was sent behind it and arrived.
 */
SCRIPT(test_RFC8985_after_rto, TEN_OUT(O_MSS | O_SACK, 10), OUT(A, AT(9), 1, SEG, .dt = 200 * MS),
       OUT(A, 1, 1, SEG, .dt = 300 * MS), IN(A, 1, AT(1), 0, .dt = 100 * MS), OUT(A, AT(1), 1, SEG, .n = 2),
       IN(A, 1, AT(1), 0, .dt = 100 * MS, .sack = {{AT(2), AT(3)}}), OUT(A, AT(1), 1, SEG), SKIP(0));

/* §7.4.2 (c): the probe was the repair, as the ACK of what came behind it tells: the window shrinks as for any loss;
 * not when a D-SACK says that the tail had arrived as well. */
static void
window_is_less(struct script *x)
{
	script_check(x, cwnd_of(x) < 10 * SEG, "cwnd", cwnd_of(x));
}

static void
window_is_whole(struct script *x)
{
	script_check(x, cwnd_of(x) >= 10 * SEG, "cwnd", cwnd_of(x));
}

#define TAIL_PROBED                                                                                                   \
	ACTIVE_RTT(O_MSS | O_SACK, 100 * MS), SEND(3 * SEG), OUT(A, 1, 1, SEG, .n = 3),                               \
		IN(A, 1, AT(2), 0, .dt = 100 * MS), OUT(A, AT(2), 1, SEG, .dt = 250 * MS, .tol = 10 * MS), SEND(SEG), \
		OUT(A, AT(3), 1, SEG)
SCRIPT(test_RFC8985_tlp_repairs, TAIL_PROBED, CALL(window_is_whole), IN(A, 1, AT(4), 0, .dt = 100 * MS),
       CALL(window_is_less), QUIET(5 * SEC));
SCRIPT(test_RFC8985_tlp_for_nothing, TAIL_PROBED, IN(A, 1, AT(4), 0, .dt = 100 * MS, .sack = {{AT(2), AT(3)}}),
       CALL(window_is_whole), QUIET(5 * SEC));

/* §2: the first two duplicates let one new segment out each; the third is fast retransmit (RFC 5681 §3.2). */
SCRIPT(test_RFC3042, TEN_OUT(O_MSS, 20), DUP(.dt = 100 * MS), OUT(A, AT(10), 1, SEG), DUP(.wnd = 65535),
       OUT(A, AT(11), 1, SEG), DUP(.wnd = 65535), OUT(A, 1, 1, SEG), SKIP(0));

/* §3.2 step 3: a partial ACK sends the next hole at once, later duplicates send nothing twice; step 5: the full one
 * ends it. */
SCRIPT(test_RFC6582, TEN_OUT(O_MSS, 10), DUP(.dt = 100 * MS), DUP(.n = 2), OUT(A, 1, 1, SEG), DUP(.n = 6),
       QUIET(50 * MS), IN(A, 1, AT(3), 0, .dt = 50 * MS), OUT(A, AT(3), 1, SEG), IN(A, 1, AT(3), 0, .n = 5),
       QUIET(50 * MS), IN(A, 1, AT(5), 0, .dt = 50 * MS), OUT(A, AT(5), 1, SEG), IN(A, 1, AT(10), 0, .dt = 50 * MS),
       QUIET(5 * SEC), STATE(ESTABLISHED));

/* Step 1: what was sent before the timeout may come twice, and its duplicates are no loss: not before more than that is
 * acknowledged. */
SCRIPT(test_RFC6582_recover, TEN_OUT(O_MSS, 10), OUT(A, 1, 1, SEG, .dt = 300 * MS), IN(A, 1, AT(10), 0, .dt = 100 * MS),
       SEND(2 * SEG), OUT(A, AT(10), 1, SEG, .n = 2), IN(A, 1, AT(10), 0, .n = 4), QUIET(50 * MS), IN(A, 1, AT(12), 0));

/* §3.1: after a timeout two ACKs that go forward: it was false, nothing is sent again. */
static void
nothing_again(struct script *x)
{
	for (uint32_t i = 0; i < x->tail - x->head; i++)
		script_check(x, script_peek(x, i)->seq - x->our_iss >= AT(12), "sent again",
			     script_peek(x, i)->seq - x->our_iss);
	x->head = x->tail;
}

/* The window is as large as before. */
static void
goes_on(struct script *x)
{
	script_check(x, x->tail - x->head >= 8, "new segments", x->tail - x->head);
	nothing_again(x);
}

SCRIPT(test_RFC5682, TEN_OUT(O_MSS | O_SACK, 40), OUT(A, AT(10), 1, SEG, .dt = 200 * MS),
       OUT(A, 1, 1, SEG, .dt = 300 * MS), IN(A, 1, AT(1), 0, .dt = 10 * MS), OUT(A, AT(11), 1, SEG, .n = 2),
       IN(A, 1, AT(2), 0, .dt = 10 * MS), CALL(nothing_again), IN(A, 1, AT(10), 0, .dt = 10 * MS), CALL(goes_on),
       SKIP(0));
/* Step (3a): the next one tells of nothing that was sent before the timeout: it was a real loss. */
SCRIPT(test_RFC5682_lost, TEN_OUT(O_MSS | O_SACK, 40), OUT(A, AT(10), 1, SEG, .dt = 200 * MS),
       OUT(A, 1, 1, SEG, .dt = 300 * MS), IN(A, 1, AT(1), 0, .dt = 100 * MS), OUT(A, AT(11), 1, SEG, .n = 2),
       IN(A, 1, AT(1), 0, .dt = 100 * MS, .sack = {{AT(11), AT(12)}}), OUT(A, AT(1), 1, SEG), SKIP(0));

/* What the peer has taken back is lost for certain: no F-RTO, the next of it goes before new data. */
SCRIPT(test_RFC5682_reneging, ACTIVE_RTT(O_MSS | O_SACK, 100 * MS), SEND(3 * SEG), OUT(A, 1, 1, SEG, .n = 3),
       DUP(.dt = 100 * MS, .sack = {{AT(1), AT(3)}}), IN(A, 1, AT(1), 0, .dt = 10 * MS),
       OUT(A, AT(1), 1, SEG, .any = ANY_TIME), PUSH(4 * SEG), QUIET(50 * MS), IN(A, 1, AT(2), 0, .dt = 50 * MS),
       OUT(A, AT(2), 1, SEG), SKIP(0));

/* And what it has SACKed then counts anew (RFC 2018 §8). */
SCRIPT(test_RFC2018_reneging, ACTIVE_RTT(O_MSS | O_SACK, 100 * MS), SEND(4 * SEG), OUT(A, 1, 1, SEG, .n = 4),
       DUP(.dt = 100 * MS, .sack = {{AT(1), AT(4)}}), OUT(A, 1, 1, SEG, .any = ANY_TIME),
       IN(A, 1, AT(1), 0, .dt = 100 * MS), OUT(A, AT(1), 1, SEG, .any = ANY_TIME),
       IN(A, 1, AT(2), 0, .dt = 50 * MS, .sack = {{AT(3), AT(4)}}), OUT(A, AT(2), 1, SEG), QUIET(50 * MS),
       IN(A, 1, AT(4), 0));

/* §4: the first block names what came twice; below the ACK, and above it inside a second block. */
SCRIPT(test_RFC2883, PASSIVE(O_MSS | O_SACK), IN(A, 1, 1, 100), OUT(A, 1, 101, 0), IN(A, 1, 1, 100),
       OUT(A, 1, 101, 0, .sack = {{1, 101}}), IN(A, 201, 1, 100), OUT(A, 1, 101, 0, .sack = {{201, 301}}),
       IN(A, 201, 1, 100), OUT(A, 1, 101, 0, .sack = {{201, 301}, {201, 301}}), IN(A, 301, 1, 100),
       OUT(A, 1, 101, 0, .sack = {{201, 401}}), IN(A, 51, 1, 100), OUT(A, 1, 151, 0, .sack = {{51, 101}, {201, 401}}));
SCRIPT(test_RFC2018, PASSIVE(O_MSS | O_SACK), IN(A, 201, 1, 100), OUT(A, 1, 1, 0, .sack = {{201, 301}}),
       IN(A, 401, 1, 100), OUT(A, 1, 1, 0, .sack = {{401, 501}, {201, 301}}), IN(A, 101, 1, 100),
       OUT(A, 1, 1, 0, .sack = {{101, 301}, {401, 501}}), IN(A, 1, 1, 100), OUT(A, 1, 301, 0, .sack = {{401, 501}}));

/* RFC 3708 §3: the D-SACK says that the retransmission was for nothing: back to the old window. */
static void
window_is_back(struct script *x)
{
	script_check(x, cwnd_of(x) >= 10 * SEG, "cwnd", cwnd_of(x));
	script_check(x, ssthresh_of(x) >= 10 * SEG, "ssthresh", ssthresh_of(x));
}

#define REORDERED                                                                                      \
	TEN_OUT(O_MSS | O_SACK, 10), DUP(.dt = 100 * MS, .sack = {{AT(1), AT(4)}}), OUT(A, 1, 1, SEG), \
		CALL(window_is_less)
SCRIPT(test_RFC3708, REORDERED, IN(A, 1, AT(10), 0, .dt = 10 * MS, .sack = {{1, AT(1)}}), CALL(window_is_back));
SCRIPT(test_RFC3708_real_loss, REORDERED, IN(A, 1, AT(10), 0, .dt = 100 * MS), CALL(window_is_less));

/* RFC 3522 §3.2, RFC 4015 §3: the ACK echoes the first transmission: back to the old window, go on with new data. */
#define TSEG 1448
static uint32_t first_ts;

static void
note_ts(struct script *x)
{
	first_ts = x->our_tsval;
}

static void
ack_of_the_first(struct script *x)
{
	const struct script_row ack = IN(A, 1, 1 + TSEG, 0, .tsecr = first_ts);

	script_check(x, x->our_tsval != first_ts, "TSval of the retransmission", x->our_tsval);
	script_in(x, &ack);
	for (uint32_t i = 0; i < x->tail - x->head; i++)
		script_check(x, script_peek(x, i)->seq - x->our_iss >= 1 + 10 * TSEG, "sent again",
			     script_peek(x, i)->seq - x->our_iss);
	script_check(x, cwnd_of(x) >= 10 * TSEG, "cwnd", cwnd_of(x));
	x->head = x->tail;
}

SCRIPT(test_RFC3522, ACTIVE_RTT(O_MSS | O_TS, 100 * MS), PUSH(40 * TSEG), OUT(A, 1, 1, TSEG, .n = 10), CALL(note_ts),
       OUT(A, 1, 1, TSEG, .dt = 300 * MS), CALL(ack_of_the_first), SKIP(0));

/* §2.2, §2.3, §5.5; §3: Karn: no sample from what was sent twice, so the backed-off value stays (§5). */
SCRIPT(test_RFC6298, ACTIVE_RTT(O_MSS, 100 * MS), SEND(100), OUT(A, 1, 1, 100), IN(A, 1, 101, 0, .dt = 200 * MS),
       SEND(100),
       /* SRTT = 7/8 100 + 1/8 200 = 112.5, RTTVAR = 3/4 50 + 1/4 100 = 62.5: RTO 362.5 ms */
       OUT(A, 101, 1, 100), OUT(A, 101, 1, 100, .dt = 362500 * IW_US), OUT(A, 101, 1, 100, .dt = 725 * MS),
       IN(A, 1, 201, 0, .dt = 50 * MS), SEND(100), OUT(A, 201, 1, 100), OUT(A, 201, 1, 100, .dt = 1450 * MS));
SCRIPT(test_RFC6298_collapse, ACTIVE_RTT(O_MSS, 100 * MS), SEND(100), OUT(A, 1, 1, 100),
       OUT(A, 1, 1, 100, .dt = 300 * MS), IN(A, 1, 101, 0, .dt = 50 * MS), SEND(100), OUT(A, 101, 1, 100),
       IN(A, 1, 201, 0, .dt = 100 * MS), SEND(100), OUT(A, 201, 1, 100),
       OUT(A, 201, 1, 100, .dt = 250 * MS, .tol = 50 * MS));
/* §5.3: an ACK of something new starts the timer again. */
SCRIPT(test_RFC6298_restart, ACTIVE_RTT(O_MSS, 100 * MS), SEND(2 * SEG), OUT(A, 1, 1, SEG, .n = 2),
       IN(A, 1, AT(1), 0, .dt = 100 * MS), OUT(A, AT(1), 1, SEG, .dt = 250 * MS, .tol = 10 * MS));

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_RFC6675),
		cmocka_unit_test(test_RFC6675_holes),
		cmocka_unit_test(test_RFC6675_once),
		cmocka_unit_test(test_RFC6937),
		cmocka_unit_test(test_RFC8985),
		cmocka_unit_test(test_RFC8985_reordered),
		cmocka_unit_test(test_RFC8985_tlp),
		cmocka_unit_test(test_RFC8985_tlp_new),
		cmocka_unit_test(test_RFC8985_tlp_once),
		cmocka_unit_test(test_RFC8985_after_rto),
		cmocka_unit_test(test_RFC3042),
		cmocka_unit_test(test_RFC5682),
		cmocka_unit_test(test_RFC5682_lost),
		cmocka_unit_test(test_RFC5682_reneging),
		cmocka_unit_test(test_RFC2018_reneging),
		cmocka_unit_test(test_RFC6582_recover),
		cmocka_unit_test(test_RFC8985_next_loss),
		cmocka_unit_test(test_RFC2883),
		cmocka_unit_test(test_RFC2018),
		cmocka_unit_test(test_RFC6582),
		cmocka_unit_test(test_RFC8985_tlp_repairs),
		cmocka_unit_test(test_RFC8985_tlp_for_nothing),
		cmocka_unit_test(test_RFC3708),
		cmocka_unit_test(test_RFC3708_real_loss),
		cmocka_unit_test(test_RFC3522),
		cmocka_unit_test(test_RFC6298),
		cmocka_unit_test(test_RFC6298_collapse),
		cmocka_unit_test(test_RFC6298_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
