/* SPDX-License-Identifier: BSD-3-Clause */
/* The way down of IPv6 and through a VLAN; that of IPv4 is in test_net_tx.c. */
#include <stdio.h>

#include "net6_room.h"

static struct net_route
meet(const char *dst, const char *next_hop)
{
	struct iw_addr a = addr6(dst);
	struct net_route r;
	struct rte_mbuf *m;

	a.port = 4420;
	assert_int_equal(net_route(net, &a, &r), 0);
	assert_int_equal(tx(&r, TCP), 0);
	answer6("020000000002", next_hop);
	while (net_drain(net, &m, 1))
		rte_pktmbuf_free(m);
	return r;
}

/* Every octet of a frame; the label is the flow's own (RFC 6437). */
static void
test_frame(void **state)
{
	struct net_route r = meet(PEER6, PEER6), other;
	struct bytes want = ip6_frame(PEER OURS "86dd", OURS6 PEER6, 6, 64, TCP);
	struct iw_addr peer = addr6(PEER6);

	(void)state;
	assert_int_equal(tx(&r, TCP), 0);
	assert_true(r.flow <= 0xfffff);
	want.b[15] = (uint8_t)(0x20 | r.flow >> 16);
	want.b[16] = (uint8_t)(r.flow >> 8);
	want.b[17] = (uint8_t)r.flow;
	assert_frame(&want);
	assert_silence();
	peer.port = 4421;
	assert_int_equal(net_route(net, &peer, &other), 0);
	assert_int_not_equal(r.flow, other.flow);
	peer.port = 4420;
	assert_int_equal(net_route(net, &peer, &other), 0);
	assert_int_equal(r.flow, other.flow);
	assert_head_is_as_good(&r);
	env.secret[0] ^= 1;
	assert_int_equal(net_route(net, &peer, &other), 0);
	assert_int_not_equal(r.flow, other.flow);
	env.secret[0] ^= 1;
}

static void
test_routes(void **state)
{
	static const char *const refused[] = {OURS6, GLOBAL6, ANY6, ALL_NODES6, FAR6};
	struct iw_addr gateway = addr6(PEER6), far = addr6(FAR6), elsewhere = link6(PEER6),
		       four = iw_addr_from_v4(0x0a000001, 0);
	struct net_route r;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct iw_addr dst = addr6(refused[i]);

		assert_int_equal(net_route(net, &dst, &r), -IW_E_HOSTUNREACH);
		assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH);
	}
	elsewhere.scope++;
	assert_int_equal(net_route(net, &elsewhere, &r), -IW_E_HOSTUNREACH);
	assert_int_equal(net_route_from(net, &four, &gateway, &r), -IW_E_HOSTUNREACH); /* of two families */
	net_own_gateway6(net, &gateway);
	for (size_t i = 0; i + 1 < sizeof(refused) / sizeof(refused[0]); i++) { /* all but FAR6 */
		struct iw_addr dst = addr6(refused[i]);

		assert_int_equal(net_route(net, &dst, &r), -IW_E_HOSTUNREACH);
	}
	assert_int_equal(net_route(net, &far, &r), 0);
	assert_int_equal(net_reach(net, &r), NET_REACH_ASKING);
	assert_memory_equal(r.src.ip, hex(GLOBAL6).b, 16);
	net_own_gateway6(net, NULL); /* a route that was kept leads nowhere, either (RFC 4861 §6.3.4) */
	assert_int_equal(net_reach(net, &r), NET_REACH_FAILED);
	assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH);
	assert_int_equal(net_route(net, &far, &r), -IW_E_HOSTUNREACH);
	nif.gateway6 = iw_addr_from_v4(0x0a0000fe, 0);
	again();
	assert_int_equal(net_route(net, &far, &r), -IW_E_HOSTUNREACH);
	/* the gateway field takes either family */
	nif.gateway = addr6(PEER6);
	again();
	assert_int_equal(net_route(net, &far, &r), 0);
}

static void
test_mtu(void **state)
{
	struct net_route r = meet(PEER6, PEER6);
	static const uint8_t zeros[1461];

	(void)state;
	assert_int_equal(r.mtu, 1500);
	assert_int_equal(net_tx(net, packet(pool, zeros, 1460), &r, NET_PROTO_TCP, 0, now), 0);
	rte_pktmbuf_free(drain_one());
	assert_int_equal(net_tx(net, packet(pool, zeros, 1461), &r, NET_PROTO_TCP, 0, now), -IW_E_TOOBIG);
}

/* What routers tell holds for new routes of IPv6 only, and between the least of IPv6 and the port's own. */
static void
test_mtu_of_the_link(void **state)
{
	static const struct {
		uint16_t told, mtu;
	} rows[] = {{1400, 1400}, {1280, 1280}, {1279, 1500}, {0, 1500}, {1499, 1499}, {1500, 1500}, {9000, 1500}};
	struct iw_addr peer = addr6(PEER6);
	struct net_route r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		net_own_mtu6(net, rows[i].told);
		assert_int_equal(net_route(net, &peer, &r), 0);
		assert_int_equal(r.mtu, rows[i].mtu);
		assert_int_equal(route_to(0x0a000002).mtu, 1500);
	}
}

/* To a group, for the host path: no neighbour, the hop limit that is asked for, from nobody if need be. */
static void
test_group(void **state)
{
	static const uint8_t nobody[16];
	struct bytes dst = hex("ff02 0000 0000 0000 0000 0000 0000 0016"), l4 = hex("3a 00 05 02 0000 0100 8f00 0000");
	struct net_group_tx group = {.src = nobody, .dst = dst.b, .proto = 0, .hop_limit = 1};
	struct bytes want = ip6_frame("333300000016" OURS "86dd", ANY6 "ff02 0000 0000 0000 0000 0000 0000 0016", 0, 1,
				      "3a 00 05 02 0000 0100 8f00 0000");

	(void)state;
	want.b[15] = 0;
	assert_int_equal(net_tx_group(net, packet(pool, l4.b, l4.len), &group), 0);
	assert_frame(&want);
	assert_silence();
}

/* Every kind of frame of a port in a VLAN has the tag, and only tagged ones are heard. */
static void
test_vlan(void **state)
{
	struct net_route r;
	struct rte_mbuf *m;

	(void)state;
	nif.vlan = 5;
	again();
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP), NET_DROP);
	assert_int_equal(count("rx_vlan"), 1);
	assert_int_equal(rx_hex(ALL PEER "8100 0005 0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP), NET_EATEN);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(PEER OURS "8100 0005 0806").b, 18);
	rte_pktmbuf_free(m);
	r = route_to(0x0a000002);
	assert_int_equal(tx(&r, TCP), 0);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(PEER OURS "8100 0005 0800 4502 0028").b, 22);
	assert_int_equal(m->pkt_len, 58);
	rte_pktmbuf_free(m);
	assert_head_is_as_good(&r);
	/* what waited is tagged when it goes, once */
	r = route_to(0x0a000003);
	assert_int_equal(tx(&r, TCP), 0);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(ALL OURS "8100 0005 0806").b, 18);
	rte_pktmbuf_free(m);
	rx_hex(OURS "020000000003 8100 0005 0806" ARP_REPLY "020000000003 0a000003" OURS OUR_IP);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex("020000000003" OURS "8100 0005 0800 4502 0028").b, 22);
	rte_pktmbuf_free(m);
	assert_silence();
}

static void
test_vlan_by_the_port(void **state)
{
	struct net_route r;
	struct rte_mbuf *m;

	(void)state;
	nif.vlan = 5;
	nif.tx_vlan = nif.tx_tcp_cksum = nif.tx_ip_cksum = true;
	again();
	r = route_to(0x0a000002);
	assert_int_equal(tx(&r, TCP), 0);
	m = drain_one();
	assert_true(m->ol_flags & RTE_MBUF_F_TX_VLAN);
	assert_int_equal(m->vlan_tci, 5);
	rte_pktmbuf_free(m);
	rx_hex(OURS PEER "8100 0005 0806" ARP_REPLY PEER PEER_IP OURS OUR_IP);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(PEER OURS "0800 4502 0028").b, 18);
	assert_int_equal(m->l2_len, 14);
	assert_true(m->ol_flags & RTE_MBUF_F_TX_VLAN && m->ol_flags & RTE_MBUF_F_TX_TCP_CKSUM);
	rte_pktmbuf_free(m);
	assert_head_is_as_good(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {T6(test_frame),           T6(test_routes), T6(test_mtu),
					   T6(test_mtu_of_the_link), T6(test_group),  T6(test_vlan),
					   T6(test_vlan_by_the_port)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
