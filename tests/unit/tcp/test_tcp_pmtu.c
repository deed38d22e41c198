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
	assert_true(tcp_txq_empty(&script_conn(&x)->txq));
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T32_hard_and_soft),
		cmocka_unit_test(test_T32_too_big),
		cmocka_unit_test(test_T32_plateaus_and_floor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
