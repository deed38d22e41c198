/* SPDX-License-Identifier: BSD-3-Clause */
/* The way up of IPv6; that of IPv4 is in test_net.c. */
#include <stdio.h>

#include "net6_room.h"

#define V6 OURS PEER "86dd "

static void
test_verdicts(void **state)
{
	static const struct {
		const char *eth, *src_dst;
		uint8_t next, hop_limit;
		const char *payload;
		enum net_verdict want;
		const char *counter;
	} rows[] = {
		{V6, PEER6 OURS6, 6, 64, TCP, NET_TCP, "rx_tcp"},
		{V6, FAR6 GLOBAL6, 6, 1, TCP, NET_TCP, "rx_tcp"},
		{V6, FAR6 GLOBAL6, 60, 64, "06 00 01 04 00000000" TCP, NET_TCP, "rx_tcp"},
		{V6, PEER6 OURS6, 17, 64, "0000", NET_HOST, "rx_host"},
		{V6, PEER6 OURS6, 58, 64, "80 00 0000 00000000", NET_HOST, "rx_host"},
		{ALL_NODES_MAC PEER "86dd", PEER6 ALL_NODES6, 58, 255, "86 00 0000 40000000 00000000 00000000",
		 NET_HOST, "rx_host"},
		{ALL_NODES_MAC PEER "86dd", PEER6 ALL_NODES6, 58, 254, "86 00 0000 40000000 00000000 00000000",
		 NET_DROP, "rx_icmp6_hop_limit"},
		{ALL_NODES_MAC PEER "86dd", PEER6 ALL_NODES6, 0, 1, "3a 00 05 02 0000 0100 82 00 0000 00000000",
		 NET_DROP, "rx_icmp6_cksum"},
		{ALL_NODES_MAC PEER "86dd", PEER6 ALL_NODES6, 6, 64, TCP, NET_DROP, "rx_tcp_broadcast"},
		{ALL_NODES_MAC PEER "86dd", PEER6 OURS6, 6, 64, TCP, NET_DROP, "rx_ipv6_link_group"},
		{ALL_NODES_MAC PEER "0800", PEER6 OURS6, 6, 64, TCP, NET_DROP, "rx_multicast"},
		{V6, PEER6 OURS6, 58, 255, "85 00 0000 00000000", NET_DROP, "rx_icmp6_router_solicit"},
		{V6, PEER6 OURS6, 58, 255, "89 00 0000 00000000" PEER6 FAR6, NET_DROP, "rx_icmp6_redirect"},
		{V6, PEER6 OURS6, 58, 64, NS(OURS6), NET_DROP, "rx_icmp6_hop_limit"},
		{V6, PEER6 OURS6, 58, 64, "80 00", NET_DROP, "rx_icmp_short"},
		{V6, OURS6 OURS6, 6, 64, TCP, NET_DROP, "rx_ipv6_own_src"},
		{V6, OURS6 OURS6, 58, 64, "80 00 0000 00000000", NET_DROP, "rx_ipv6_own_src"},
		{V6, PEER6 FAR6, 6, 64, TCP, NET_DROP, "rx_ipv6_not_ours"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		again();
		if (rx6(rows[i].eth, rows[i].src_dst, rows[i].next, rows[i].hop_limit, rows[i].payload) !=
			    rows[i].want ||
		    count(rows[i].counter) != 1)
			fail_msg("row %zu", i);
		assert_int_equal(mbufpool_in_use(pool), 0);
		assert_silence();
	}
}

static void
test_bad_checksum(void **state)
{
	struct bytes b = ip6_frame(V6, PEER6 OURS6, 58, 255, NS(OURS6));

	(void)state;
	b.b[14 + 40 + 2] ^= 1;
	assert_int_equal(rx(&b), NET_DROP);
	assert_int_equal(count("rx_icmp6_cksum"), 1);
	assert_silence();
}

/* Everything that pkt says, behind extension headers, too; link-local addresses have their scope. */
static void
test_tcp_packet(void **state)
{
	static const struct {
		const char *src_dst;
		uint8_t next;
		const char *ext;
		uint32_t skipped, scope;
	} rows[] = {
		{PEER6 OURS6, 6, "", 0, SCOPE},
		{FAR6 GLOBAL6, 6, "", 0, 0},
		{FAR6 GLOBAL6, 0, "3c 00 01 04 00000000 06 00 01 04 00000000", 16, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char payload[200];
		struct net_icmp_err err;
		struct net_pkt pkt;
		struct rte_mbuf *m;
		struct bytes b;

		snprintf(payload, sizeof(payload), "%s %s", rows[i].ext, TCP);
		b = ip6_frame(V6, rows[i].src_dst, rows[i].next, 64, payload);
		b.len += 3; /* padding */
		m = packet_cut(pool, b.b, b.len, 57);
		assert_int_equal(rx_mbuf(m, &pkt, &err), NET_TCP);
		assert_memory_equal(pkt.src.ip, b.b + 22, 16);
		assert_memory_equal(pkt.dst.ip, b.b + 38, 16);
		assert_int_equal(pkt.src.scope, rows[i].scope);
		assert_int_equal(pkt.dst.scope, rows[i].scope);
		assert_int_equal(pkt.src.port | pkt.dst.port, 0);
		assert_int_equal(pkt.l4_off, 54 + rows[i].skipped);
		assert_int_equal(pkt.l4_len, 20);
		assert_int_equal(pkt.proto, NET_PROTO_TCP);
		assert_int_equal(pkt.ecn, 2);
		assert_int_equal(iw_cksum_fold(pkt.pseudo_sum),
				 iw_cksum_fold(iw_cksum_pseudo6(b.b + 22, b.b + 38, 6, 20)));
		rte_pktmbuf_free(m);
	}
}

static void
test_packet_too_big_goes_up(void **state)
{
	struct bytes b = ip6_frame(V6, PEER6 OURS6, 58, 64,
				   "02 00 0000 00000578 60012345 05dc 06 40" OURS6 PEER6 "1111 2222 33445566");
	struct iw_addr want = link6(PEER6), ours = link6(OURS6);
	struct net_icmp_err err;
	struct net_pkt pkt;

	(void)state;
	assert_int_equal(rx_mbuf(packet(pool, b.b, b.len), &pkt, &err), NET_ICMP_ERR);
	assert_int_equal(err.kind, NET_ICMP_TOOBIG);
	assert_int_equal(err.mtu, 1400);
	assert_int_equal(err.seq, 0x33445566);
	assert_true(iw_addr_eq_ip(&err.remote, &want));
	assert_true(iw_addr_eq_ip(&err.local, &ours));
	assert_int_equal(mbufpool_in_use(pool), 0);
}

/* Without an IPv6 address nothing of it is taken. */
static void
test_off(void **state)
{
	(void)state;
	nif.n_more = 0;
	again();
	assert_int_equal(rx6(V6, PEER6 OURS6, 6, 64, TCP), NET_DROP);
	assert_int_equal(count("rx_ipv6_off"), 1);
	assert_int_equal(rx6(ALL_NODES_MAC PEER "86dd", PEER6 ALL_NODES6, 58, 255, NS(OURS6)), NET_DROP);
	assert_int_equal(count("rx_multicast"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {T6(test_verdicts), T6(test_bad_checksum), T6(test_tcp_packet),
					   T6(test_packet_too_big_goes_up), T6(test_off)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
