/* SPDX-License-Identifier: BSD-3-Clause */
/* The way down: routes, neighbours, offloads, the queue. */
#include "net_room.h"

/* The packet waits, the question goes out; the answer lets it go, header and all; the next one goes at once. */
static void
test_first_packet_waits(void **state)
{
	struct bytes want = ip_frame(PEER OURS "0800", OUR_IP PEER_IP, 6, TCP);
	struct net_route r = route_to(0x0a000002);

	(void)state;
	assert_int_equal(net_reach(net, &r), NET_REACH_ASKING);
	assert_int_equal(tx(&r, TCP), 0);
	assert_frame_hex(ASK(PEER_IP));
	assert_silence();
	assert_int_equal(net_reach(net, &r), NET_REACH_ASKING);
	assert_int_equal(rx_hex(ANSWER(PEER, PEER_IP)), NET_EATEN);
	assert_frame(&want);
	assert_int_equal(net_reach(net, &r), NET_REACH_KNOWN);
	assert_int_equal(tx(&r, TCP), 0);
	assert_frame(&want);
	assert_silence();
}

/* A packet for elsewhere goes to the gateway's address on the link, with its own in the header. */
static void
test_gateway(void **state)
{
	struct bytes want = ip_frame("0200000000fe" OURS "0800", OUR_IP "0b000002", 6, TCP);
	struct net_route r = route_to(0x0b000002);

	(void)state;
	assert_int_equal(r.mtu, 1500);
	assert_int_equal(tx(&r, TCP), 0);
	assert_frame_hex(ASK("0a0000fe"));
	assert_int_equal(rx_hex(ANSWER("0200000000fe ", "0a0000fe ")), NET_EATEN);
	assert_frame(&want);
}

static void
test_no_route(void **state)
{
	static const uint32_t refused[] = {0x0a000001, 0x0a0000ff, 0x0a000000, 0xffffffff, 0xe0000001, 0x7f000001, 0};
	struct iw_addr six, four = iw_addr_from_v4(0x0b000002, 0);
	struct net_route r;

	(void)state;
	assert_int_equal(iw_addr_parse("2001:db8::1", &six), 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct iw_addr dst = iw_addr_from_v4(refused[i], 0);

		assert_int_equal(net_route(net, &dst, &r), -IW_E_HOSTUNREACH);
	}
	assert_int_equal(net_route(net, &six, &r), -IW_E_HOSTUNREACH);
	assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH); /* a route that was refused sends nothing */
	assert_int_equal(count("tx_no_route"), 1);
	assert_int_equal(net_route(net, &four, &r), 0);
	memset(&nif.gateway, 0, sizeof(nif.gateway));
	again();
	assert_int_equal(net_route(net, &four, &r), -IW_E_HOSTUNREACH);
	assert_silence();
}

/* Three questions, then the failure is told; what waited is gone (errors B26: freed once). */
static void
test_neighbour_is_silent(void **state)
{
	struct net_route r = route_to(0x0a000002);

	(void)state;
	assert_int_equal(tx(&r, TCP), 0);
	assert_int_equal(tx(&r, TCP), 0);
	for (int i = 0; i < 3; i++) {
		assert_frame_hex(ASK(PEER_IP));
		assert_silence();
		assert_in_range(net_deadline(net), now, now + IW_SEC + SLACK);
		pass(IW_SEC + SLACK);
	}
	assert_int_equal(net_reach(net, &r), NET_REACH_FAILED);
	assert_int_equal(mbufpool_in_use(pool), 0);
	assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH);
	assert_int_equal(count("tx_unreachable"), 1);
	assert_frame_hex(ASK(PEER_IP));
	assert_silence();
	/* it is back */
	assert_int_equal(rx_hex(ANSWER(PEER, PEER_IP)), NET_EATEN);
	assert_int_equal(net_reach(net, &r), NET_REACH_KNOWN);
	assert_int_equal(tx(&r, TCP), 0);
	rte_pktmbuf_free(drain_one());
}

static void
test_waiting_in_order(void **state)
{
	static const char *const seq[] = {"00000001", "00000002", "00000003", "00000004", "00000005"};
	struct net_route r = route_to(0x0a000002);

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(tx(&r, seq[i]), 0);
	assert_int_equal(tx(&r, seq[4]), -IW_E_AGAIN);
	assert_int_equal(net_settled(net), 0);
	assert_frame_hex(ASK(PEER_IP));
	assert_int_equal(count("neigh_wait_overrun"), 1);
	assert_int_equal(rx_hex(ANSWER(PEER, PEER_IP)), NET_EATEN);
	assert_int_equal(net_settled(net), 1);
	for (int i = 0; i < 4; i++) {
		struct bytes want = ip_frame(PEER OURS "0800", OUR_IP PEER_IP, 6, seq[i]);

		assert_frame(&want);
	}
	assert_silence();
}

static void
send_and_expect(struct net_route *r, const char *eth)
{
	struct bytes want = ip_frame(eth, OUR_IP PEER_IP, 6, TCP);

	assert_int_equal(tx(r, TCP), 0);
	assert_frame(&want);
}

/* spec faults 23: gratuitous ARP, both forms, and the answer to the question after an RTO move the traffic. */
static void
test_mac_change_moves_traffic(void **state)
{
	struct net_route r = route_to(0x0a000002);

	(void)state;
	assert_int_equal(tx(&r, TCP), 0);
	assert_frame_hex(ASK(PEER_IP));
	assert_int_equal(rx_hex(ANSWER(PEER, PEER_IP)), NET_EATEN);
	rte_pktmbuf_free(drain_one());
	send_and_expect(&r, PEER OURS "0800");
	pass(2 * IW_SEC);
#define NEW "020000000077 "
	assert_int_equal(rx_hex(ALL NEW "0806" ARP_REQUEST NEW PEER_IP "000000000000" PEER_IP), NET_EATEN);
	send_and_expect(&r, NEW OURS "0800");
	/* heard, not asked for: it is asked there */
	assert_frame_hex(NEW OURS "0806" ARP_REQUEST OURS OUR_IP "000000000000" PEER_IP);
	assert_int_equal(rx_hex(ANSWER(NEW, PEER_IP)), NET_EATEN);
	pass(2 * IW_SEC);
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REPLY PEER PEER_IP ALL PEER_IP), NET_EATEN);
	send_and_expect(&r, PEER OURS "0800");
	rte_pktmbuf_free(drain_one());
	assert_int_equal(rx_hex(ANSWER(PEER, PEER_IP)), NET_EATEN);
	/* silence, RTO, question to everybody, answer from the new place */
	pass(2 * IW_SEC);
	net_reconfirm(net, &r, now);
	assert_frame_hex(ASK(PEER_IP));
	send_and_expect(&r, PEER OURS "0800");
	assert_int_equal(rx_hex(ANSWER(NEW, PEER_IP)), NET_EATEN);
	send_and_expect(&r, NEW OURS "0800");
	assert_int_equal(count("neigh_mac_changed"), 3);
	assert_silence();
}

/* Offloads: the fields that a driver reads, and the checksum that it does not make. */
static void
test_offloads(void **state)
{
	struct bytes want = ip_frame(PEER OURS "0800", OUR_IP PEER_IP, 6, TCP);
	struct net_route r;
	struct rte_mbuf *m;

	(void)state;
	assert_false(net_l4_cksum_offloaded(net));
	nif.tx_ip_cksum = nif.tx_tcp_cksum = true;
	again();
	assert_true(net_l4_cksum_offloaded(net));
	r = route_to(0x0a000002);
	assert_int_equal(tx(&r, TCP), 0);
	rte_pktmbuf_free(drain_one());
	assert_int_equal(rx_hex(ANSWER(PEER, PEER_IP)), NET_EATEN);
	m = drain_one();
	want.b[24] = want.b[25] = 0;
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), want.b, want.len);
	assert_int_equal(m->ol_flags, RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM);
	assert_int_equal(m->l2_len, 14);
	assert_int_equal(m->l3_len, 20);
	assert_int_equal(m->l4_len, 20);
	rte_pktmbuf_free(m);
}

static void
test_heads(void **state)
{
	struct net_route r = route_to(0x0a000002);
	struct bytes b = hex(TCP);
	struct net_head head;

	(void)state;
	assert_int_equal(net_tx_first(net, packet(pool, b.b, b.len), &r, NET_PROTO_TCP, 2, now, &head), 0);
	assert_int_equal(head.len, 0); /* it waits for its neighbour */
	for (int offloads = 0; offloads < 2; offloads++) {
		nif.tx_ip_cksum = nif.tx_tcp_cksum = offloads;
		again();
		r = route_to(0x0a000002);
		rx_hex(OURS PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP);
		rte_pktmbuf_free(drain_one());
		assert_head_is_as_good(&r);
	}
}

/* One frame of several segments, as DPDK wants it (rte_mbuf_core.h, RTE_MBUF_F_TX_TCP_SEG); the port is asked for no
 * more than it said. */
static void
test_grown_frame(void **state)
{
	struct bytes b = hex(TCP);
	struct net_route r = route_to(0x0a000002);
	struct net_tso tso = {.mbufs = 3, .octets = 150, .segsz = 100};
	struct net_head head;
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(net_tso(net, &r), 1);
	nif.tx_ip_cksum = nif.tx_tcp_cksum = true;
	nif.tx_tso = 44;
	nif.tx_tso_ipv4_only = true;
	again();
	r = route_to(0x0a000002);
	assert_int_equal(net_tso(net, &r), 44);
	rx_hex(OURS PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP);
	rte_pktmbuf_free(drain_one());
	m = packet(pool, b.b, 120);
	assert_int_equal(net_tx_first(net, m, &r, NET_PROTO_TCP, 0, now, &head), 0);
	m->next = packet(pool, b.b, 100);
	m->next->next = packet(pool, b.b, 50);
	net_tx_grow(m, &head, &tso);
	assert_ptr_equal(drain_one(), m);
	assert_int_equal(m->nb_segs, 3);
	assert_int_equal(m->pkt_len, 34 + 120 + 150);
	assert_int_equal(m->data_len, 34 + 120);
	assert_int_equal(m->tso_segsz, 100);
	assert_int_equal(m->l2_len + m->l3_len + m->l4_len, 54);
	assert_true(m->ol_flags & RTE_MBUF_F_TX_TCP_SEG && m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, void *, 14), hex("4500 0122").b, 4);
	rte_pktmbuf_free(m);
}

/* A head is for a queue with room. */
static void
test_head_and_queue_full(void **state)
{
	struct net_route r = route_to(0x0a000002);
	struct bytes b = hex(TCP);
	struct net_head head;

	(void)state;
	rx_hex(OURS PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP);
	rte_pktmbuf_free(drain_one());
	assert_int_equal(net_tx_first(net, packet(pool, b.b, b.len), &r, NET_PROTO_TCP, 0, now, &head), 0);
	for (uint32_t i = 1; i < NET_OUTQ; i++)
		assert_int_equal(net_tx_next(net, packet(pool, b.b, b.len), &head), 0);
	assert_int_equal(net_tx_next(net, packet(pool, b.b, b.len), &head), -IW_E_NOMEM);
	assert_int_equal(count("tx_queue_full"), 1);
	assert_int_equal(net_tx_first(net, packet(pool, b.b, b.len), &r, NET_PROTO_TCP, 0, now, &head), -IW_E_NOMEM);
	assert_int_equal(head.len, 0);
}

/* What tcp keeps is not freed, whatever becomes of the frame: sent, dropped while waiting, refused. */
static void
test_one_reference_is_consumed(void **state)
{
	struct net_route r = route_to(0x0a000002), none = {0};
	struct rte_mbuf *kept[6];

	(void)state;
	for (int i = 0; i < 6; i++) {
		kept[i] = packet(pool, "payload", 7);
		rte_mbuf_refcnt_update(kept[i], 1);
	}
	for (int i = 0; i < 5; i++)
		assert_int_equal(net_tx(net, kept[i], &r, NET_PROTO_TCP, 0, now), i < 4 ? 0 : -IW_E_AGAIN);
	assert_int_equal(rte_mbuf_refcnt_read(kept[4]), 1);
	assert_int_equal(rte_mbuf_refcnt_read(kept[3]), 2);
	rte_pktmbuf_free(drain_one());
	for (int i = 0; i < 3; i++)
		pass(IW_SEC + SLACK);
	assert_int_equal(net_tx(net, kept[5], &none, NET_PROTO_TCP, 0, now), -IW_E_HOSTUNREACH);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(rte_mbuf_refcnt_read(kept[i]), 1);
		assert_memory_equal((char *)kept[i]->buf_addr + RTE_PKTMBUF_HEADROOM, "payload", 7);
		rte_pktmbuf_free(kept[i]);
	}
}

static void
test_mtu(void **state)
{
	static const uint8_t zeros[1481];
	struct net_route r = route_to(0x0a000002);

	(void)state;
	assert_int_equal(net_tx(net, packet(pool, zeros, 1481), &r, NET_PROTO_TCP, 0, now), -IW_E_TOOBIG);
	assert_int_equal(count("tx_too_big"), 1);
	assert_silence();
	assert_int_equal(net_tx(net, packet(pool, zeros, 1480), &r, NET_PROTO_TCP, 0, now), 0);
}

/* A full queue refuses, waiting packets that are let go into one are counted, and drained in part it takes on. */
static void
test_queue_full(void **state)
{
	struct net_route r = route_to(0x0a000002), other = route_to(0x0a000003);
	struct rte_mbuf *out[100];

	(void)state;
	assert_int_equal(tx(&r, "01"), 0);
	assert_int_equal(rx_hex(ANSWER(PEER, PEER_IP)), NET_EATEN);
	assert_int_equal(tx(&other, "02"), 0);
	assert_int_equal(net_tx_space(net), NET_OUTQ - 3);
	for (uint32_t i = 3; i < NET_OUTQ; i++)
		assert_int_equal(tx(&r, "01"), 0);
	assert_int_equal(net_tx_space(net), 0);
	assert_int_equal(tx(&r, "01"), -IW_E_NOMEM);
	assert_int_equal(rx_hex(ANSWER("020000000003 ", "0a000003 ")), NET_EATEN);
	assert_int_equal(count("tx_queue_full"), 2);
	assert_int_equal(net_drain(net, out, 100), 100);
	for (int i = 0; i < 100; i++)
		rte_pktmbuf_free(out[i]);
	assert_int_equal(net_tx_space(net), 100);
	assert_int_equal(tx(&r, "01"), 0);
}

static void
test_neighbour_table_full(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		struct net_route r = route_to(0x0a000002 + i);

		assert_int_equal(tx(&r, "01"), 0);
	}
	struct net_route last = route_to(0x0a000080);

	assert_int_equal(tx(&last, "01"), -IW_E_NOMEM);
	assert_int_equal(count("tx_neigh_full"), 1);
}

/* No mbuf for the question: the packet waits on, and the next second asks. */
static void
test_question_without_mbuf(void **state)
{
	struct bytes b = hex(TCP);
	struct net_route r = route_to(0x0a000002);
	struct rte_mbuf *m = packet(pool, b.b, b.len);

	(void)state;
	mbufpool_set_fuse(pool, 1);
	assert_int_equal(net_tx(net, m, &r, NET_PROTO_TCP, 0, now), 0);
	assert_silence();
	assert_int_equal(count("neigh_ask_lost"), 1);
	pass(IW_SEC + SLACK);
	assert_frame_hex(ASK(PEER_IP));
}

static void
test_pseudo_sum(void **state)
{
	struct iw_addr a = iw_addr_from_v4(0x0a000001, 0), b = iw_addr_from_v4(0x0a000002, 0), a6, b6;

	(void)state;
	assert_int_equal(iw_cksum_fold(net_pseudo_sum(net, &a, &b, 6, 99)),
			 iw_cksum_fold(iw_cksum_pseudo4(0x0a000001, 0x0a000002, 6, 99)));
	assert_int_equal(iw_addr_parse("2001:db8::1", &a6), 0);
	assert_int_equal(iw_addr_parse("2001:db8::2", &b6), 0);
	assert_int_equal(iw_cksum_fold(net_pseudo_sum(net, &a6, &b6, 6, 99)),
			 iw_cksum_fold(iw_cksum_pseudo6(a6.ip, b6.ip, 6, 99)));
}

/* An engine with an IPv6 address: nothing of IPv4 is for it. */
static void
test_own_address_is_ipv6(void **state)
{
	struct bytes b = ip_frame(OURS PEER "0800", PEER_IP "00000000", 6, TCP);
	struct iw_addr dst = iw_addr_from_v4(0x0a000002, 0);
	struct net_route r;

	(void)state;
	assert_int_equal(iw_addr_parse("2001:db8::1", &nif.addr), 0);
	nif.prefix_len = 64;
	again();
	assert_int_equal(rx(&b), NET_DROP);
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000 00000000"), NET_EATEN);
	assert_silence();
	assert_int_equal(net_route(net, &dst, &r), -IW_E_HOSTUNREACH);
}

static void
test_memory_is_short(void **state)
{
	struct net *other = NULL;
	uint32_t fuse;

	(void)state;
	for (fuse = 1; !other && fuse < 100; fuse++) {
		iw_env_alloc_fuse = fuse;
		other = net_create(&env, &nif, 64, now);
	}
	iw_env_alloc_fuse = 0;
	assert_true(fuse > 2);
	assert_non_null(other);
	assert_memory_equal(net_if(other), &nif, sizeof(nif));
	net_destroy(other);
	net_destroy(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_first_packet_waits),
		T(test_gateway),
		T(test_no_route),
		T(test_neighbour_is_silent),
		T(test_waiting_in_order),
		T(test_mac_change_moves_traffic),
		T(test_offloads),
		T(test_heads),
		T(test_head_and_queue_full),
		T(test_grown_frame),
		T(test_one_reference_is_consumed),
		T(test_mtu),
		T(test_queue_full),
		T(test_neighbour_table_full),
		T(test_question_without_mbuf),
		T(test_pseudo_sum),
		T(test_own_address_is_ipv6),
		T(test_memory_is_short),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
