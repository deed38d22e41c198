/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours of IPv6, asked and heard; those of IPv4 are in test_net.c and test_net_tx.c. */
#include <stdio.h>

#include "net6_room.h"

#define V6 OURS PEER "86dd "

static struct net_route
route6(const char *dst)
{
	struct iw_addr a = addr6(dst);
	struct net_route r;

	a.port = 4420;
	assert_int_equal(net_route(net, &a, &r), 0);
	return r;
}

/* Who asks is answered and known: no question before the first packet to it. */
static void
test_solicitation_is_answered(void **state)
{
	struct net_route r = route6(PEER6);

	(void)state;
	assert_int_equal(rx6(ASKED_MAC PEER "86dd", PEER6 ASKED6, 58, 255, NS(OURS6) "01 01 020000000002"), NET_EATEN);
	assert_nd(PEER OURS "86dd", OURS6 PEER6, NA("60", OURS6) WE_ARE);
	assert_silence();
	assert_int_equal(count("nd_answered"), 1);
	assert_int_equal(net_reach(net, &r), NET_REACH_KNOWN);
	assert_int_equal(tx(&r, TCP), 0);
	rte_pktmbuf_free(drain_one());
	assert_silence();
}

/* RFC 4861 §7.2.2: the group is asked, the packet waits and leaves with the answer. */
static void
test_asked_before_use(void **state)
{
	struct net_route r = route6(PEER6);
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(tx(&r, TCP), 0);
	assert_nd("3333ff000002" OURS "86dd", OURS6 "ff02 0000 0000 0000 0000 0001 ff00 0002", NS(PEER6) FROM_US);
	assert_silence();
	assert_int_equal(net_reach(net, &r), NET_REACH_ASKING);
	answer6("020000000002", PEER6);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(PEER OURS "86dd").b, 14);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, void *, 38), hex(PEER6).b, 16);
	rte_pktmbuf_free(m);
	assert_silence();
	assert_int_equal(net_reach(net, &r), NET_REACH_KNOWN);
}

/* Aging: the first question goes to the neighbour alone; an answer without an address confirms it (§7.2.5). */
static void
test_confirmation(void **state)
{
	struct net_route r = route6(PEER6);

	(void)state;
	tx(&r, TCP);
	answer6("020000000002", PEER6);
	rte_pktmbuf_free(drain_one());
	rte_pktmbuf_free(drain_one());
	pass(61 * IW_SEC);
	assert_int_equal(tx(&r, TCP), 0);
	rte_pktmbuf_free(drain_one());
	assert_nd(PEER OURS "86dd", OURS6 PEER6, NS(PEER6) FROM_US);
	assert_int_equal(rx6(V6, PEER6 OURS6, 58, 255, NA("40", PEER6)), NET_EATEN);
	pass(5 * IW_SEC);
	assert_int_equal(tx(&r, TCP), 0);
	rte_pktmbuf_free(drain_one());
	assert_silence();
	assert_int_equal(net_reach(net, &r), NET_REACH_KNOWN);
}

/* Who never said where it is cannot confirm that: the packet waits on (§7.2.5). */
static void
test_confirms_nothing(void **state)
{
	struct net_route r = route6(PEER6);

	(void)state;
	assert_int_equal(tx(&r, TCP), 0);
	rte_pktmbuf_free(drain_one());
	assert_int_equal(rx6(V6, PEER6 OURS6, 58, 255, NA("60", PEER6)), NET_EATEN);
	assert_silence();
	assert_int_equal(net_reach(net, &r), NET_REACH_ASKING);
}

/* Three questions, then it has failed. */
static void
test_no_answer(void **state)
{
	struct net_route r = route6(PEER6);

	(void)state;
	tx(&r, TCP);
	for (int i = 0; i < 3; i++) {
		assert_nd("3333ff000002" OURS "86dd", OURS6 "ff02 0000 0000 0000 0000 0001 ff00 0002",
			  NS(PEER6) FROM_US);
		pass(IW_SEC + SLACK);
	}
	assert_silence();
	assert_int_equal(net_reach(net, &r), NET_REACH_FAILED);
	assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH);
	rte_pktmbuf_free(drain_one()); /* one a second as long as there is something to send */
}

/* A neighbour, or the gateway, moves to another station: an unsolicited advertisement with override, or a gratuitous
 * ARP, is followed at once (§7.2.5, RFC 826); without override it is not. */
static void
test_moves(void **state)
{
	static const char *const moved = "020000000009";
	struct net_route r6 = route6(PEER6), r4 = route_to(0x0b000002);
	struct rte_mbuf *m;

	(void)state;
	tx(&r6, TCP);
	answer6("020000000002", PEER6);
	tx(&r4, TCP);
	rx_hex(ANSWER(PEER, "0a0000fe"));
	while (net_drain(net, &m, 1))
		rte_pktmbuf_free(m);
	assert_int_equal(
		rx6(ALL_NODES_MAC "020000000009 86dd", PEER6 ALL_NODES6, 58, 255, NA("00", PEER6) "02 01 020000000009"),
		NET_EATEN);
	assert_int_equal(tx(&r6, TCP), 0);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(PEER).b, 6);
	rte_pktmbuf_free(m);
	assert_int_equal(
		rx6(ALL_NODES_MAC "020000000009 86dd", PEER6 ALL_NODES6, 58, 255, NA("20", PEER6) "02 01 020000000009"),
		NET_EATEN);
	assert_int_equal(rx_hex(ALL "020000000009 0806" ARP_REQUEST "020000000009 0a0000fe 000000000000 0a0000fe"),
			 NET_EATEN);
	assert_int_equal(tx(&r6, TCP), 0);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(moved).b, 6);
	rte_pktmbuf_free(m);
	while (net_drain(net, &m, 1)) /* to be confirmed */
		rte_pktmbuf_free(m);
	assert_int_equal(tx(&r4, TCP), 0);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(moved).b, 6);
	rte_pktmbuf_free(m);
	assert_int_equal(count("neigh_mac_changed"), 2);
}

/* Without the override flag what is known stays, even if the answer was asked for; it is confirmed when it is used.
 * Where nothing is known the flag is of no importance, asked for or not (§7.2.5). */
static void
test_override(void **state)
{
	static const char *const unknown[] = {"40", "00"};
	struct net_route r;
	struct rte_mbuf *m;

	(void)state;
	for (int i = 0; i < 2; i++) {
		char message[160];

		again();
		r = route6(PEER6);
		tx(&r, TCP);
		rte_pktmbuf_free(drain_one());
		snprintf(message, sizeof(message), "88 00 0000 %s000000 %s 02 01 020000000002", unknown[i], PEER6);
		assert_int_equal(rx6(V6, PEER6 OURS6, 58, 255, message), NET_EATEN);
		m = drain_one();
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(PEER OURS "86dd").b, 14);
		rte_pktmbuf_free(m);
		assert_int_equal(net_reach(net, &r), NET_REACH_KNOWN);
	}
	again();
	r = route6(PEER6);
	tx(&r, TCP);
	answer6("020000000002", PEER6);
	while (net_drain(net, &m, 1))
		rte_pktmbuf_free(m);
	pass(2 * IW_SEC);
	assert_int_equal(rx6(OURS "020000000009 86dd", PEER6 OURS6, 58, 255, NA("40", PEER6) "02 01 020000000009"),
			 NET_EATEN);
	assert_int_equal(tx(&r, TCP), 0);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(PEER).b, 6);
	rte_pktmbuf_free(m);
	assert_nd(PEER OURS "86dd", OURS6 PEER6, NS(PEER6) FROM_US);
	assert_int_equal(count("neigh_mac_changed"), 0);
	/* the same address again, without the flag, is an answer like any other */
	assert_int_equal(rx6(V6, PEER6 OURS6, 58, 255, NA("40", PEER6) "02 01 020000000002"), NET_EATEN);
	pass(5 * IW_SEC);
	assert_int_equal(tx(&r, TCP), 0);
	rte_pktmbuf_free(drain_one());
	assert_silence();
}

/* TCP's suspicion (RFC 9293 §3.8.3 R1): everybody is asked at once, and the answer of another station is believed. */
static void
test_suspicion(void **state)
{
	struct net_route r = route6(PEER6);
	struct rte_mbuf *m;

	(void)state;
	tx(&r, TCP);
	answer6("020000000002", PEER6);
	while (net_drain(net, &m, 1))
		rte_pktmbuf_free(m);
	pass(2 * IW_SEC);
	net_reconfirm(net, &r, now);
	assert_nd("3333ff000002" OURS "86dd", OURS6 "ff02 0000 0000 0000 0000 0001 ff00 0002", NS(PEER6) FROM_US);
	answer6("020000000009", PEER6);
	assert_int_equal(tx(&r, TCP), 0);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex("020000000009").b, 6);
	rte_pktmbuf_free(m);
	assert_silence();
}

static void
test_own_echo(void **state)
{
	(void)state;
	assert_int_equal(rx6(ASKED_MAC OURS "86dd", ANY6 ASKED6, 58, 255, NS(OURS6)), NET_DROP);
	assert_int_equal(count("rx_nd_own"), 1);
	assert_silence();
}

static void
test_answer_without_mbuf(void **state)
{
	struct bytes b = ip6_frame(V6, PEER6 OURS6, 58, 255, NS(OURS6) "01 01 020000000002");
	struct rte_mbuf *m = packet(pool, b.b, b.len);
	struct net_icmp_err err;
	struct net_pkt pkt;

	(void)state;
	mbufpool_set_fuse(pool, 1);
	assert_int_equal(rx_mbuf(m, &pkt, &err), NET_EATEN);
	assert_int_equal(count("nd_answer_lost"), 1);
	assert_silence();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {T6(test_solicitation_is_answered),
					   T6(test_asked_before_use),
					   T6(test_confirmation),
					   T6(test_confirms_nothing),
					   T6(test_no_answer),
					   T6(test_moves),
					   T6(test_override),
					   T6(test_suspicion),
					   T6(test_own_echo),
					   T6(test_answer_without_mbuf)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
