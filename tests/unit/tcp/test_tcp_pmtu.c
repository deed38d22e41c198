/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors (RFC 9293 §3.9.2.2, RFC 5927, RFC 1191; spec T32). */
#include "tcpscript.h"

#include "tcp_pmtu.h"

#define HOST(x) ((x).sim.h[0].tcp)

static void
icmp(struct script *x, int kind, uint32_t seq, uint16_t mtu)
{
	struct net_icmp_err err = {
		.local = x->sim.h[0].nif.addr, .remote = x->sim.h[1].nif.addr, .seq = seq, .mtu = mtu};

	err.kind = kind;
	err.local.port = x->our_port;
	err.remote.port = x->peer_port;
	tcp_icmp_err(HOST(*x), &err, x->sim.now_ns);
}

/* Hard errors end a handshake and nothing else; the quoted octet has to be in flight. */
static void
test_T32_hard_and_soft(void **state)
{
	struct script x;

	script_init(&x);
	script_open(&x, NULL);
	icmp(&x, NET_ICMP_HARD, x.our_iss + 1, 0);
	icmp(&x, NET_ICMP_HARD, x.our_iss - 1, 0);
	icmp(&x, NET_ICMP_SOFT, x.our_iss, 0);
	x.peer_port++;
	icmp(&x, NET_ICMP_HARD, x.our_iss, 0);
	x.peer_port--;
	script_poll(&x);
	assert_int_equal(script_state(&x), TCP_SYN_SENT);
	icmp(&x, NET_ICMP_HARD, x.our_iss, 0);
	script_poll(&x);
	assert_int_equal(x.bits, TCP_READY_UNREACH);
	assert_int_equal(script_counter(&x, "tcp.icmp_ignored"), 4);
	script_fini(&x);
	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 100);
	script_poll(&x);
	icmp(&x, NET_ICMP_HARD, x.our_iss + 1, 0);
	script_poll(&x);
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	script_fini(&x);
}

/* What is in flight in longer segments is re-cut and sent at once; the window is not punished. */
static void
test_T32_too_big(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 1460);
	script_send(&x, 1460, 200);
	script_skip(&x);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1 + 1660, 1000); /* not in flight */
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss, 1000);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1, 1500); /* not lower */
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1, 1000);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 960);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 2, 0); /* while it waits to be sent again: no loss */
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 1, x.seq).len, 960);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 961, x.seq).len, 500);
	script_expect_silence(&x);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_OPEN);
	assert_int_equal(script_counter(&x, "tcp.icmp_pmtu"), 1);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1661, 0);
	assert_true(tcp_txq_empty(&script_conn(&x)->fl->txq));
	script_fini(&x);
}

/* MTU 0: the next plateau; absurd ones are bounded. */
static void
test_T32_plateaus_and_floor(void **state)
{
	struct script x;

	assert_int_equal(tcp_pmtu_plateau(1500), 1492);
	assert_int_equal(tcp_pmtu_plateau(1492), 1006);
	assert_int_equal(tcp_pmtu_plateau(296), 68);
	assert_int_equal(tcp_pmtu_plateau(65535), 32000);
	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 1460);
	script_skip(&x);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1, 0);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1452);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1, 1);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, TCP_MSS_MIN);
	script_skip(&x);
	script_fini(&x);
}

/* Sends len octets and has them acknowledged. */
static void
send_acked(struct script *x, uint64_t *place, uint32_t len)
{
	script_send(x, *place, len);
	*place += len;
	script_skip(x);
	script_in(x, TCP_ACK, x->seq, x->our_iss + 1 + (uint32_t)*place, 0);
	script_skip(x);
}

/* RFC 5927 §7.2: a claim against experience waits for the time-out of what it quotes, and is forgotten when that is
 * acknowledged: whoever forges it has to keep the segment from arriving as well. */
static void
test_T32_forged_too_big(void **state)
{
	struct script x;
	uint64_t place = 0;

	script_init(&x);
	script_established(&x);
	for (uint32_t i = 0; i < 8; i++)
		send_acked(&x, &place, 1460);
	script_send(&x, place, 1460);
	script_skip(&x);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1 + (uint32_t)place, 600);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	assert_int_equal(script_counter(&x, "tcp.icmp_pending"), 1);
	place += 1460;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1 + (uint32_t)place, 0);
	script_send(&x, place, 1460);
	script_skip(&x);
	script_wait(&x, 700 * IW_MS); /* RTOs for another reason */
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	script_skip(&x);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1 + (uint32_t)place, 600);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	script_wait(&x, IW_SEC); /* the quoted one times out: it was true */
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 560);
	script_fini(&x);
}

/* RFC 1191 §6.3: the link's size is tried again ten minutes later. */
static void
test_T32_raised_again(void **state)
{
	struct script x;
	uint64_t place = 0;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 1460);
	script_skip(&x);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1, 1000);
	place = 1460;
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1461, 0);
	script_skip(&x);
	script_wait(&x, 599 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 960);
	script_wait(&x, 2 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	assert_int_equal(script_counter(&x, "tcp.pmtu_raised"), 1);
	/* Nothing has proven it: the next claim is believed at once. */
	script_send(&x, place, 1460);
	script_skip(&x);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1461, 1000);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 960);
	script_skip(&x);
	script_fini(&x);
}

/* A path that swallows full segments and says nothing (RFC 4821 §7.7): three time-outs, then smaller ones, of copies,
 * until something gets through; no less than 576.  Short segments never lower anything. */
static void
test_black_hole(void **state)
{
	struct script x;
	uint32_t longest = 0;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 1460);
	script_send(&x, 1460, 1460);
	script_skip(&x);
	script_wait(&x, 1200 * IW_MS); /* 0.2, 0.6 s */
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	script_wait(&x, IW_SEC); /* 1.4 s */
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1240);
	script_wait(&x, 3 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 536);
	assert_int_equal(script_counter(&x, "tcp.black_holes"), 2);
	script_skip(&x);
	script_wait(&x, 35 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 536);
	for (; x.at < x.n; x.at++)
		longest = x.out[x.at].len > longest ? x.out[x.at].len : longest;
	assert_int_equal(longest, 536);
	/* Everything arrives now, each segment on its own. */
	for (uint32_t i = 0; i < 20 && !tcp_txq_empty(&script_conn(&x)->fl->txq); i++) {
		script_in(&x, TCP_ACK, x.seq, script_conn(&x)->fl->txq.nxt, 0);
		script_skip(&x);
	}
	assert_true(tcp_txq_empty(&script_conn(&x)->fl->txq));
	assert_int_equal(script_state(&x), TCP_ESTABLISHED);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 536);
	script_wait(&x, 11 * IW_SEC); /* perhaps it was an outage */
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	script_fini(&x);

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 500);
	script_wait(&x, 60 * IW_SEC);
	assert_int_equal(script_counter(&x, "tcp.black_holes"), 0);
	script_fini(&x);
}

/* Who has found a hole again waits eight times as long before the link's MTU is tried. */
static void
test_black_hole_again(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_conn(&x)->mtu_retries = 1;
	script_send(&x, 0, 1460);
	script_wait(&x, 2200 * IW_MS);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1240);
	script_skip(&x);
	for (uint32_t i = 0; i < 4 && !tcp_txq_empty(&script_conn(&x)->fl->txq); i++) {
		script_in(&x, TCP_ACK, x.seq, script_conn(&x)->fl->txq.nxt, 0);
		script_skip(&x);
	}
	script_wait(&x, 70 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1240);
	script_wait(&x, 12 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	assert_int_equal(script_conn(&x)->mtu_retries, 2);
	/* no longer apart than that */
	script_send(&x, 1460, 1460);
	script_wait(&x, 2200 * IW_MS);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 2921, 0);
	script_wait(&x, 700 * IW_SEC);
	assert_int_equal(script_conn(&x)->mtu_retries, 2);
	script_fini(&x);
}

/* A router has told, then segments vanish: what the router said holds as long as it would have. */
static void
test_black_hole_behind_too_big(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 1460);
	script_skip(&x);
	icmp(&x, NET_ICMP_TOOBIG, x.our_iss + 1, 1400);
	script_wait(&x, 3 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1240);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1461, 0);
	script_wait(&x, 100 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1240);
	script_wait(&x, 600 * IW_SEC);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, 1460);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T32_hard_and_soft),      cmocka_unit_test(test_T32_too_big),
		cmocka_unit_test(test_T32_plateaus_and_floor), cmocka_unit_test(test_T32_forged_too_big),
		cmocka_unit_test(test_T32_raised_again),       cmocka_unit_test(test_black_hole),
		cmocka_unit_test(test_black_hole_again),       cmocka_unit_test(test_black_hole_behind_too_big),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
