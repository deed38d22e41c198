/* SPDX-License-Identifier: BSD-3-Clause */
/* T25-T36: numbers, retransmission timer, SACK, queues, keepalive, ICMP, bursts, shortage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <iwarp/err.h>

#include "mbufpool.h"
#include "script.h"

/* ---- T25: MUST-8, MUST-9, RFC 6528 §3 ---- */

#define ISNS 48

static void
open_and_forget(struct script *x, uint16_t peer_port)
{
	static const struct script_row rows[] = {OPEN, OUT(S, 0, 0, 0), ABORT, RELEASE};

	script_next_peer(x, peer_port);
	script_play(x, "an ISN", rows, 4);
}

static void
draw_isns(uint8_t secret, uint32_t *isn)
{
	static struct script x;

	script_init_secret(&x, NULL, secret);
	for (uint16_t i = 0; i < ISNS; i++) {
		open_and_forget(&x, (uint16_t)(3000 + i));
		isn[i] = x.our_iss;
	}
	x.now_ns += SEC;
	open_and_forget(&x, 3000);
	isn[ISNS] = x.our_iss;
	script_fini(&x);
}

static void
test_T25(void **state)
{
	uint32_t isn[ISNS + 1], other[ISNS + 1], same = 0, bits = 0;

	(void)state;
	draw_isns(7, isn);
	draw_isns(8, other);
	/* The same 4-tuple later: by the clock, one step in 4 us (MUST-8). */
	assert_in_range(isn[ISNS] - isn[0], 225000, 275000);
	for (uint32_t i = 0; i < ISNS; i++) {
		same += isn[i] == other[i];
		bits += (uint32_t)__builtin_popcount(isn[i] ^ isn[(i + 1) % ISNS]);
		for (uint32_t k = 0; k < i; k++)
			assert_true(isn[i] != isn[k]);
	}
	assert_int_equal(same, 0);
	assert_in_range(bits, ISNS * 12, ISNS * 20); /* neighbours differ in half of 32 bits */
}

/* ---- T26: RFC 6056 §3 ---- */

static void
ports(struct script *x)
{
	uint16_t port[32];
	uint32_t next = 0;

	for (uint32_t i = 0; i < 32; i++) {
		static const struct script_row rows[] = {ROW(ROW_OPEN, .len = 0), OUT(S, 0, 0, 0)};

		script_next_peer(x, 3333);
		script_play(x, "a port", rows, 2);
		port[i] = x->our_port;
		script_check(x, port[i] >= 1024 && port[i] != SCRIPT_PORT, "port", port[i]);
		for (uint32_t k = 0; k < i; k++)
			script_check(x, port[k] != port[i], "port twice", port[i]);
		next += i && (uint16_t)(port[i] - port[i - 1]) < 16;
	}
	script_check(x, next < 4, "ports that follow one another", next);
}

SCRIPT(test_T26, LISTEN, CALL(ports));

/* Every port leads to this peer already: an error of its own; another peer is not concerned; the port that becomes free
 * is found. */
static void
test_T26_exhausted(void **state)
{
	const struct tcp_params many = {
		.max_conns = 32770, .max_flights = 32770, .max_listeners = 1, .max_timewait = 8, .max_ooo_mbufs = 8};
	struct iw_addr any = {0}, peer = wire_addr(WIRE_PEER, 3333), other = wire_addr(WIRE_PEER, 3334);
	struct tcp_info info = {0}, again = {0};
	uint32_t conn, first = 0, n = 0;
	static struct script x;
	int err;

	(void)state;
	script_init(&x, &many);
	while ((err = tcp_open(x.tcp, &any, &peer, NULL, 5, x.now_ns, &conn)) == 0 && n < 65536) {
		first = n++ ? first : conn;
		assert_int_equal(tcp_conn_count(x.tcp), n);
	}
	assert_int_equal(err, -IW_E_ADDRNOTAVAIL);
	assert_in_range(n, 16384, 32768);
	assert_int_equal(tcp_conn_count(x.tcp), n);
	assert_int_equal(tcp_open(x.tcp, &any, &other, NULL, 5, x.now_ns, &conn), 0);
	assert_true(tcp_conn_info(x.tcp, first, &info));
	tcp_abort(x.tcp, first, x.now_ns);
	tcp_release(x.tcp, first, x.now_ns);
	assert_int_equal(tcp_open(x.tcp, &any, &peer, NULL, 5, x.now_ns, &conn), 0);
	assert_true(tcp_conn_info(x.tcp, conn, &again));
	assert_int_equal(again.local.port, info.local.port);
	assert_int_equal(tcp_open(x.tcp, &any, &peer, NULL, 5, x.now_ns, &conn), -IW_E_ADDRNOTAVAIL);
	script_fini(&x);
}

/* MUST-18..23, RFC 6298 §2.1, §5.5, §5.7; SYN: 7 retries. */
SCRIPT(test_T27, OPEN, OUT(S, 0, 0, 0), OUT(S, 0, 0, 0, .dt = SEC), OUT(S, 0, 0, 0, .dt = 2 * SEC),
       OUT(S, 0, 0, 0, .dt = 4 * SEC), OUT(S, 0, 0, 0, .dt = 8 * SEC), OUT(S, 0, 0, 0, .dt = 16 * SEC),
       OUT(S, 0, 0, 0, .dt = 32 * SEC), SKIP(0), OUT(S, 0, 0, 0, .dt = 62 * SEC, .tol = 3 * SEC), QUIET(30 * SEC),
       NOT_READY(TCP_READY_TIMEOUT), SKIP(100 * SEC), READY(TCP_READY_TIMEOUT), STATE(CLOSED));
SCRIPT(test_T27_data, ACTIVE_RTT(O_MSS, 100 * MS), SEND(100), OUT(A, 1, 1, 100), OUT(A, 1, 1, 100, .dt = 300 * MS),
       OUT(A, 1, 1, 100, .dt = 600 * MS), OUT(A, 1, 1, 100, .dt = 1200 * MS), OUT(A, 1, 1, 100, .dt = 2400 * MS),
       OUT(A, 1, 1, 100, .dt = 4800 * MS), OUT(A, 1, 1, 100, .dt = 9600 * MS), SKIP(70 * SEC),
       NOT_READY(TCP_READY_TIMEOUT), SKIP(60 * SEC), READY(TCP_READY_TIMEOUT), STATE(CLOSED));
SCRIPT(test_T27_syn_timed_out, OPEN, OUT(S, 0, 0, 0), OUT(S, 0, 0, 0, .dt = SEC), IN(S | A, 0, 1, 0, .opt = O_MSS),
       OUT(A, 1, 1, 0), SEND(100), OUT(A, 1, 1, 100), OUT(A, 1, 1, 100, .dt = 3 * SEC));

/* RFC 2018 §3, RFC 6675 §2: blocks outside (SND.UNA, SND.NXT] tell nothing; three of them are no three duplicates. */
SCRIPT(test_T28, ACTIVE_RTT(O_MSS | O_SACK, 10 * MS), SEND(7300), OUT(A, 1, 1, 1460, .n = 5),
       IN(A, 1, 1, 0, .sack = {{100000, 101460}}), IN(A, 1, 1, 0, .sack = {{1461, 1461}}),
       IN(A, 1, 1, 0, .sack = {{2921, 1461}}), IN(A, 1, 1, 0, .sack = {{1461, 9000}}),
       IN(A, 1, 1, 0, .sack = {{0x80000000u, 0x90000000u}}), IN(A, 1, 7301, 0), STATE(ESTABLISHED), SEND(100),
       OUT(A, 7301, 1, 100));
/* Reneging: what was SACKed and then lost is sent again after the timeout (RFC 2018 §8). */
SCRIPT(test_T28_reneging, ACTIVE_RTT(O_MSS | O_SACK, 100 * MS), SEND(2920), OUT(A, 1, 1, 1460, .n = 2),
       IN(A, 1, 1, 0, .dt = 100 * MS, .sack = {{1461, 2921}}), SKIP(2 * SEC), IN(A, 1, 1461, 0),
       OUT(A, 1461, 1, 0, .any = ANY_TIME | ANY_LEN), SKIP(0), IN(A, 1, 2921, 0), QUIET(10 * SEC));

/* RFC 2883 §4, §5: one more probe of a closed window brings an octet that was taken: a duplicate, and no bad block. */
SCRIPT(test_T28_dsack_of_a_probe, ACTIVE(O_MSS | O_SACK), IN(A, 1, 1, 0, .wnd0 = true), SEND(1000),
       OUT(A, 1, 1, 1, .dt = 200 * MS), IN(A, 1, 2, 0, .wnd0 = true), OUT(A, 1, 1, 1, .any = ANY_TIME),
       IN(A, 1, 2, 0, .wnd0 = true, .sack = {{1, 2}}), COUNTER("rx_dsack", 1), COUNTER("rx_bad_sack", 0),
       IN(A, 1, 2, 0), OUT(A, 1, 1, 1000), IN(A, 1, 1001, 0));
/* §4 (3): ours ends with what came before, also of a segment whose rest finds the window closed. */
SCRIPT_WITH(test_T28_dsack_of_a_part, &script_small, PASSIVE(O_MSS | O_SACK), HOLD, IN(A, 1, 1, 1024, .n = 16), SKIP(0),
	    IN(A, SMALL - 99, 1, 200), OUT(A, 1, SMALL + 1, 0, .wnd0 = true, .sack = {{SMALL - 99, SMALL + 1}}));

/* The first that came stays (RFC 9293 §3.4: it is the same octet); what was delivered never changes. */
SCRIPT(test_T29, PASSIVE(O_MSS), IN(A, 101, 1, 100), OUT(A, 1, 1, 0), IN(A, 101, 1, 100, .other = true),
       OUT(A, 1, 1, 0), IN(A, 1, 1, 100), OUT(A, 1, 201, 0), GOT(200), IN(A, 1, 1, 200, .other = true),
       OUT(A, 1, 201, 0), GOT(200), IN(A, 201, 1, 100), OUT(A, 1, 301, 0), GOT(300));

/* ---- T30 ---- */

static const struct tcp_params few_ooo = {.max_conns = 8, .max_listeners = 1, .max_timewait = 8, .max_ooo_mbufs = 4};

static void
bounded(struct script *x)
{
	uint64_t kept = (x->got - 1000) / 100, dropped = script_counter(x, "rx_ooo_dropped");

	script_check(x, x->got >= 1000 && x->got <= 1400, "octets delivered with room for 4 segments", x->got);
	script_check(x, dropped == 20 - kept, "segments dropped of 20", dropped);
}

SCRIPT_WITH(test_T30, &few_ooo, PASSIVE(O_MSS | O_SACK), IN(A, 1001, 1, 100, .n = 4), SKIP(0),
	    IN(A, 1401, 1, 100, .n = 16), SKIP(0), IN(A, 1, 1, 1000), OUT(A, 1, 0, 0, .any = ANY_ACK), CALL(bounded),
	    IN(A, 1001, 1, 100, .n = 20), SKIP(0), GOT(3000));

/* ---- T31: MUST-24..29 ---- */

static void
keepalive_10_s(struct script *x)
{
	x->attr.keepalive_ns = 10 * SEC;
}

SCRIPT(test_T31, CALL(keepalive_10_s), PASSIVE(O_MSS), OUT(A, 0, 1, 0, .dt = 10 * SEC, .any = ANY_LEN), IN(A, 1, 1, 0),
       OUT(A, 0, 1, 0, .dt = 10 * SEC, .any = ANY_LEN), OUT(A, 0, 1, 0, .any = ANY_LEN | ANY_TIME), IN(A, 1, 1, 0),
       STATE(ESTABLISHED), NOT_READY(TCP_READY_TIMEOUT), QUIET(9 * SEC), SKIP(200 * SEC), READY(TCP_READY_TIMEOUT),
       STATE(CLOSED));
/* Given anew, it begins anew. */
static void
two_probes(struct script *x)
{
	x->attr.keepalive_ns = 10 * SEC;
	x->attr.keepalive_probes = 2;
}

static void
given_again(struct script *x)
{
	tcp_adopt(x->tcp, x->conn, 1, &x->attr);
}

/* Longer between probes than before the first: each answer counts all the same. */
static void
long_steps(struct script *x)
{
	two_probes(x);
	x->attr.keepalive_step_ms = 30000;
}

#define PROBE OUT(A, 0, 1, 0, .any = ANY_LEN | ANY_TIME)
SCRIPT(test_T31_given_again, CALL(two_probes), PASSIVE(O_MSS), PROBE, PROBE, CALL(given_again), PROBE, PROBE,
       STATE(ESTABLISHED), SKIP(20 * SEC), READY(TCP_READY_TIMEOUT));
#define ANSWERED PROBE, IN(A, 1, 1, 0)
SCRIPT(test_T31_long_steps, CALL(long_steps), PASSIVE(O_MSS), ANSWERED, ANSWERED, ANSWERED, ANSWERED,
       STATE(ESTABLISHED), NOT_READY(TCP_READY_TIMEOUT));
SCRIPT(test_T31_off, PASSIVE(O_MSS), QUIET(86400 * SEC), STATE(ESTABLISHED));

/* MUST-54..56, RFC 5927 §4, §5.2, §7.2; RFC 6633. */
SCRIPT(test_T32, PASSIVE(O_MSS), SEND(1000), OUT(A, 1, 1, 1000), ICMP(3, 0, 0, 1), ICMP(3, 1, 0, 1), ICMP(3, 2, 0, 1),
       ICMP(3, 3, 0, 1), ICMP(3, 5, 0, 1), ICMP(11, 0, 0, 1), ICMP(12, 0, 0, 1), ICMP(4, 0, 0, 1),
       ICMP(5, 1, 0x0a000003, 1), STATE(ESTABLISHED), NOT_READY(TCP_READY_UNREACH | TCP_READY_RST), IN(A, 1, 1001, 0));
SCRIPT(test_T32_syn, OPEN, OUT(S, 0, 0, 0), ICMP(3, 3, 0, 7), ICMP(3, 0, 0, 0), STATE(SYN_SENT), ICMP(3, 3, 0, 0),
       STATE(CLOSED), READY(TCP_READY_UNREACH));
/* A SYN is too long for no path. */
SCRIPT(test_T32_syn_too_big, OPEN, OUT(S, 0, 0, 0), ICMP(3, 4, 1300, 0), IN(S | A, 0, 1, 0, .opt = O_MSS),
       OUT(A, 1, 1, 0), SEND(1460), OUT(A, 1, 1, 1460));
/* Path MTU: sent again in smaller pieces; absurd, larger or forged values change nothing: quoted must be an octet from
 * SND.UNA on, before SND.NXT. */
SCRIPT(test_T32_pmtu, PASSIVE(O_MSS), SEND(1460), OUT(A, 1, 1, 1460), ICMP(3, 4, 1300, 100000), ICMP(3, 4, 1500, 1),
       ICMP(3, 4, 9000, 1), ICMP(3, 4, 1300, 0), ICMP(3, 4, 1300, 1461), QUIET(100 * MS), COUNTER("icmp_ignored", 5),
       COUNTER("icmp_pmtu", 0), ICMP(3, 4, 1300, 1), OUT(A, 1, 1, 1260), OUT(A, 1261, 1, 200), IN(A, 1, 1461, 0),
       SEND(1460), OUT(A, 1461, 1, 1260), OUT(A, 2721, 1, 200), IN(A, 1, 2921, 0));

static void
no_tiny_segments(struct script *x)
{
	uint32_t n = x->tail - x->head;

	script_check(x, n <= 24, "segments of 1460 octets after MTU 0 and 68", n);
	x->head = x->tail;
}

SCRIPT(test_T32_pmtu_tiny, PASSIVE(O_MSS), SEND(1460), OUT(A, 1, 1, 1460), ICMP(3, 4, 68, 1), SKIP(0), ICMP(3, 4, 0, 1),
       CALL(no_tiny_segments), SKIP(SEC), IN(A, 1, 1461, 0), STATE(ESTABLISHED), SEND(1460), CALL(no_tiny_segments));

/* ---- T33: MUST-57, MUST-63, RFC 1122 §3.2.1.3, §3.3.6 ---- */

static void
bogus_syns(struct script *x)
{
	static const struct {
		uint32_t src, dst;
		uint8_t mac;    /* of the destination, its first octet */
		bool broadcast; /* which IPv6 does not have */
	} syn[] = {
		{0, WIRE_US, 2},
		{0xffffffff, WIRE_US, 2},
		{WIRE_ALL_NODES, WIRE_US, 2},
		{0x0a0000ff, WIRE_US, 2, true},
		{WIRE_PEER, 0x0a0000ff, 2, true},
		{WIRE_PEER, 0xffffffff, 2},
		{WIRE_PEER, WIRE_ALL_NODES, 2},
		{WIRE_PEER, WIRE_US, 0xff},
		{WIRE_LOOPBACK, WIRE_US, 2},
	};

	for (uint32_t i = 0; i < sizeof(syn) / sizeof(syn[0]); i++) {
		struct wire_seg s = {.src = syn[i].src,
				     .dst = syn[i].dst,
				     .sport = 3333,
				     .dport = SCRIPT_PORT,
				     .flags = S,
				     .seq = 1,
				     .wnd = 65535};
		struct rte_mbuf *m;

		if (syn[i].broadcast && wire_is_v6())
			continue;
		m = wire_build(x->env.data_pool, &s);
		if (syn[i].mac == 0xff)
			memset(rte_pktmbuf_mtod(m, uint8_t *), 0xff, 6);
		script_frame(x, m);
		script_settle(x);
		script_check(x, x->head == x->tail, "answered bogus SYN", i);
	}
}

static void
land(struct script *x)
{
	struct wire_seg s = {.src = WIRE_US,
			     .dst = WIRE_US,
			     .sport = SCRIPT_PORT,
			     .dport = SCRIPT_PORT,
			     .flags = S,
			     .seq = 1,
			     .wnd = 65535};

	script_frame(x, wire_build(x->env.data_pool, &s));
	script_settle(x);
}

SCRIPT(test_T33, LISTEN, CALL(bogus_syns), CALL(land), QUIET(10 * SEC), COUNT(0));

/* ---- T34: MUST-58, MUST-59 ---- */

static void
two_acks(struct script *x)
{
	uint32_t n;

	script_settle(x);
	n = x->tail - x->head;
	script_check(x, n >= 1 && n <= 2, "ACKs for a burst of 32", n);
	script_check(x, script_peek(x, n - 1)->ack - x->iss == 3201, "last ACK", script_peek(x, n - 1)->ack - x->iss);
	x->head = x->tail;
}

SCRIPT(test_T34, PASSIVE(O_MSS), IN(A, 1, 1, 100, .n = 32, .burst = true), CALL(two_acks), GOT(3200));
/* RST in the middle: what was in order before it can be read, what follows is for nobody. */
SCRIPT(test_T34_reset, PASSIVE(O_MSS), HOLD, IN(A, 1, 1, 100, .n = 2, .burst = true), IN(R, 201, 0, 0, .burst = true),
       IN(A, 201, 1, 100, .n = 4), SKIP(0), STATE(CLOSED), READY(TCP_READY_RST), READ(0), GOT(200), RELEASE, COUNT(0));

/* SHLD-3, RFC 2525 §2.17. */
SCRIPT(test_T35, PASSIVE(O_MSS), HOLD, IN(A, 1, 1, 100), OUT(A, 1, 101, 0), RELEASE,
       OUT(R, 1, 101, 0, .any = ANY_FLAGS), COUNT(0));
SCRIPT(test_T35_all_read, PASSIVE(O_MSS), IN(A, 1, 1, 100), OUT(A, 1, 101, 0), CLOSE, OUT(F | A, 1, 101, 0), RELEASE,
       IN(F | A, 101, 2, 0), OUT(A, 2, 102, 0), COUNT(0));
SCRIPT(test_T35_behind_fin, PASSIVE(O_MSS), HOLD, CLOSE, OUT(F | A, 1, 1, 0), IN(A, 1, 2, 100), OUT(A, 2, 101, 0),
       STATE(FIN_WAIT_2), RELEASE, OUT(R, 2, 101, 0, .any = ANY_FLAGS), COUNT(0));
/* Text after that is for nobody: RST (RFC 1122 §4.2.2.13). */
SCRIPT(test_T35_late_text, PASSIVE(O_MSS), CLOSE, OUT(F | A, 1, 1, 0), IN(A, 1, 2, 0), RELEASE, IN(A, 1, 2, 100),
       OUT(R, 2, 1, 0, .any = ANY_FLAGS | ANY_ACK), COUNT(0));

/* ---- T36 ---- */

static void
pool_is_empty(struct script *x)
{
	mbufpool_set_fuse(x->env.ctl_pool, 1);
}

SCRIPT(test_T36, ACTIVE(O_MSS), CALL(pool_is_empty), CLOSE, STATE(FIN_WAIT_1),
       OUT(F | A, 1, 1, 0, .dt = 500 * MS, .tol = 500 * MS), IN(F | A, 1, 2, 0), OUT(A, 2, 2, 0), STATE(TIME_WAIT));
SCRIPT(test_T36_window_0, ACTIVE(O_MSS), IN(A, 1, 1, 0, .wnd0 = true), CLOSE, STATE(FIN_WAIT_1),
       OUT(F | A, 1, 1, 0, .dt = 500 * MS, .tol = 500 * MS), IN(A, 1, 2, 0), STATE(FIN_WAIT_2));
SCRIPT(test_T36_behind_data, ACTIVE(O_MSS), IN(A, 1, 1, 0, .wnd0 = true), SEND(100), CLOSE, STATE(FIN_WAIT_1),
       OUT(A, 1, 1, 1, .dt = 200 * MS), IN(A, 1, 1, 0), OUT(A, 1, 1, 100), OUT(F | A, 101, 1, 0), IN(A, 1, 102, 0),
       STATE(FIN_WAIT_2));

/* The octet of a probe was not taken: a RST behind it lay outside the window (RFC 5961 §3.2). */
SCRIPT(test_T36_abort_behind_probe, ACTIVE(O_MSS), IN(A, 1, 1, 0, .wnd0 = true), SEND(1000),
       OUT(A, 1, 1, 1, .dt = 200 * MS), IN(A, 1, 1, 0, .wnd0 = true), ABORT, OUT(R | A, 1, 1, 0));

int
main(void)
{
	const struct CMUnitTest plain[] = {cmocka_unit_test(test_T25)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T26),
		cmocka_unit_test(test_T26_exhausted),
		cmocka_unit_test(test_T27),
		cmocka_unit_test(test_T27_data),
		cmocka_unit_test(test_T27_syn_timed_out),
		cmocka_unit_test(test_T28),
		cmocka_unit_test(test_T28_reneging),
		cmocka_unit_test(test_T28_dsack_of_a_probe),
		cmocka_unit_test(test_T28_dsack_of_a_part),
		cmocka_unit_test(test_T29),
		cmocka_unit_test(test_T30),
		cmocka_unit_test(test_T31),
		cmocka_unit_test(test_T31_off),
		cmocka_unit_test(test_T31_given_again),
		cmocka_unit_test(test_T31_long_steps),
		cmocka_unit_test(test_T32_syn_too_big),
		cmocka_unit_test(test_T36_abort_behind_probe),
		cmocka_unit_test(test_T32),
		cmocka_unit_test(test_T32_syn),
		cmocka_unit_test(test_T32_pmtu),
		cmocka_unit_test(test_T32_pmtu_tiny),
		cmocka_unit_test(test_T33),
		cmocka_unit_test(test_T34),
		cmocka_unit_test(test_T34_reset),
		cmocka_unit_test(test_T35),
		cmocka_unit_test(test_T35_all_read),
		cmocka_unit_test(test_T35_behind_fin),
		cmocka_unit_test(test_T35_late_text),
		cmocka_unit_test(test_T36),
		cmocka_unit_test(test_T36_window_0),
		cmocka_unit_test(test_T36_behind_data),
	};

	return RUN_PLAIN(plain) + cmocka_run_group_tests(tests, NULL, NULL);
}
