/* SPDX-License-Identifier: BSD-3-Clause */
/* The way up: what becomes of each received frame. */
#include "net_room.h"

static void
test_arp_request_is_answered(void **state)
{
	(void)state;
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP), NET_EATEN);
	assert_frame_hex(PEER OURS "0806" ARP_REPLY OURS OUR_IP PEER PEER_IP);
	assert_silence();
	assert_int_equal(count("arp_answered"), 1);
	/* who asked is known: no question before the first packet to it */
	struct net_route r = route_to(0x0a000002);
	struct bytes want = ip_frame(PEER OURS "0800", OUR_IP PEER_IP, 6, TCP);

	assert_int_equal(net_reach(net, &r), NET_REACH_KNOWN);
	assert_int_equal(tx(&r, TCP), 0);
	assert_frame(&want);
	assert_silence();
}

/* Probes get their answer and leave no trace; others' questions, replies nobody asked for and strangers from elsewhere
 * make no entry. */
static void
test_arp_makes_no_entry(void **state)
{
	struct net_route r = route_to(0x0a000002);

	(void)state;
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER "00000000 000000000000" OUR_IP), NET_EATEN);
	assert_frame_hex(PEER OURS "0806" ARP_REPLY OURS OUR_IP PEER "00000000");
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000 0a000003"), NET_EATEN);
	assert_int_equal(rx_hex(OURS PEER "0806" ARP_REPLY PEER PEER_IP OURS OUR_IP), NET_EATEN);
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REPLY PEER PEER_IP ALL PEER_IP), NET_EATEN);
	assert_int_equal(net_reach(net, &r), NET_REACH_ASKING);
	assert_silence();
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER "0b000002 000000000000" OUR_IP), NET_EATEN);
	assert_frame_hex(PEER OURS "0806" ARP_REPLY OURS OUR_IP PEER "0b000002");
	assert_int_equal(count("arp_learned"), 0);
}

/* RFC 5227 §2.4 (c): defended by one announcement, and by no other within 10 s; nobody's packet changes anything. */
static void
test_conflict_is_defended(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER OUR_IP "000000000000" OUR_IP), NET_DROP);
	assert_int_equal(count("rx_arp_conflict"), 3);
	assert_int_equal(count("addr_conflicts"), 3);
	assert_frame_hex(ASK(OUR_IP));
	assert_silence();
	now += 10 * IW_SEC;
	assert_int_equal(rx_hex(OURS PEER "0806" ARP_REPLY PEER OUR_IP OURS OUR_IP), NET_DROP);
	assert_frame_hex(ASK(OUR_IP));
	assert_silence();
	assert_int_equal(count("addr_announcements"), 2);
}

static void
test_arp_answer_without_mbuf(void **state)
{
	struct bytes b = hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP);
	struct rte_mbuf *m = packet(pool, b.b, b.len);
	struct net_pkt pkt;
	struct net_icmp_err err;

	(void)state;
	mbufpool_set_fuse(pool, 1);
	assert_int_equal(rx_mbuf(m, &pkt, &err), NET_EATEN);
	assert_silence();
	assert_int_equal(count("arp_answer_lost"), 1);
}

/* Everything that pkt says, for a header cut at each octet, with padding, options and a priority tag. */
static void
test_tcp_packet(void **state)
{
	static const struct {
		const char *eth;
		uint32_t l3_off, pad;
	} rows[] = {{OURS PEER "0800", 14, 0}, {OURS PEER "0800", 14, 6}, {OURS PEER "8100 6000 0800", 18, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes b = ip_frame(rows[i].eth, PEER_IP OUR_IP, 6, TCP);

		b.len += rows[i].pad;
		for (uint32_t cut = 0; cut <= b.len; cut++) {
			struct rte_mbuf *m = packet_cut(pool, b.b, b.len, cut);
			struct net_pkt pkt;
			struct net_icmp_err err;

			assert_int_equal(rx_mbuf(m, &pkt, &err), NET_TCP);
			assert_int_equal(iw_addr_v4(&pkt.src), 0x0a000002);
			assert_int_equal(iw_addr_v4(&pkt.dst), 0x0a000001);
			assert_int_equal(pkt.src.port | pkt.dst.port, 0);
			assert_int_equal(pkt.l3_off, rows[i].l3_off);
			assert_int_equal(pkt.l4_off, rows[i].l3_off + 20);
			assert_int_equal(pkt.l4_len, 20);
			assert_int_equal(pkt.proto, NET_PROTO_TCP);
			assert_int_equal(pkt.ecn, 2);
			assert_false(pkt.l4_cksum_good);
			assert_int_equal(iw_cksum_fold(pkt.pseudo_sum),
					 iw_cksum_fold(iw_cksum_pseudo4(0x0a000002, 0x0a000001, 6, 20)));
			rte_pktmbuf_free(m);
		}
	}
	assert_silence();
}

static void
test_l4_cksum_good(void **state)
{
	static const struct {
		bool trust;
		uint64_t flag;
		bool good;
	} rows[] = {
		{true, RTE_MBUF_F_RX_L4_CKSUM_GOOD, true},   {true, RTE_MBUF_F_RX_L4_CKSUM_NONE, true},
		{true, RTE_MBUF_F_RX_L4_CKSUM_BAD, false},   {true, RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN, false},
		{false, RTE_MBUF_F_RX_L4_CKSUM_GOOD, false},
	};
	struct bytes b = ip_frame(OURS PEER "0800", PEER_IP OUR_IP, 6, TCP);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rte_mbuf *m = packet(pool, b.b, b.len);
		struct net_pkt pkt;
		struct net_icmp_err err;

		nif.rx_cksum = rows[i].trust;
		again();
		m->ol_flags = rows[i].flag;
		assert_int_equal(rx_mbuf(m, &pkt, &err), NET_TCP);
		assert_int_equal(pkt.l4_cksum_good, rows[i].good);
		rte_pktmbuf_free(m);
	}
}

static void
test_verdicts(void **state)
{
	static const struct {
		const char *eth, *ip;
		uint8_t proto;
		const char *payload;
		enum net_verdict want;
		const char *counter;
	} rows[] = {
		{OURS PEER "0800", PEER_IP OUR_IP, 6, TCP, NET_TCP, "rx_tcp"},
		{OURS PEER "0800", PEER_IP OUR_IP, 6, "", NET_TCP, "rx_tcp"}, /* TCP counts its own runts */
		{OURS PEER "0800", PEER_IP OUR_IP, 17, "0000", NET_HOST, "rx_host"},
		{OURS PEER "0800", PEER_IP OUR_IP, 1, "0800 0000 00000000", NET_HOST, "rx_host"},
		{ALL PEER "0800", PEER_IP "ffffffff", 17, "0000", NET_HOST, "rx_host"},
		{ALL PEER "0800", PEER_IP "0a0000ff", 1, "0800 0000 00000000", NET_HOST, "rx_host"},
		{ALL PEER "0800", PEER_IP "0a0000ff", 1, "0303 0000 00000000", NET_HOST, "rx_host"}, /* not TCP's */
		{ALL PEER "0800", PEER_IP "0a0000ff", 6, TCP, NET_DROP, "rx_tcp_broadcast"},
		{OURS PEER "0800", PEER_IP "ffffffff", 6, TCP, NET_DROP, "rx_tcp_broadcast"},
		{ALL PEER "0800", PEER_IP OUR_IP, 6, TCP, NET_DROP, "rx_ipv4_link_broadcast"},
		{OURS PEER "0800", OUR_IP OUR_IP, 6, TCP, NET_DROP, "rx_ipv4_own_src"},
		{OURS PEER "0800", PEER_IP OUR_IP, 1, "03", NET_DROP, "rx_icmp_short"},
		{OURS PEER "86dd", PEER_IP OUR_IP, 6, TCP, NET_DROP, "rx_ipv6_off"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes b = ip_frame(rows[i].eth, rows[i].ip, rows[i].proto, rows[i].payload);

		again();
		assert_int_equal(rx(&b), rows[i].want);
		assert_int_equal(count(rows[i].counter), 1);
		assert_int_equal(mbufpool_in_use(pool), 0);
	}
}

static void
test_icmp_error_goes_up(void **state)
{
	struct bytes b =
		ip_frame(OURS PEER "0800", "0b000063" OUR_IP, 1,
			 "0304 0000 0000 0500 4500 05dc 0000 4000 01 06 0000" OUR_IP "0b000002 1111 2222 33445566");
	struct net_pkt pkt;
	struct net_icmp_err err;

	(void)state;
	slow_cksum_put(b.b, 34, b.len - 34, 36);
	assert_int_equal(rx_mbuf(packet(pool, b.b, b.len), &pkt, &err), NET_ICMP_ERR);
	assert_int_equal(err.kind, NET_ICMP_TOOBIG);
	assert_int_equal(err.mtu, 0x500);
	assert_int_equal(err.seq, 0x33445566);
	assert_int_equal(err.local.port, 0x1111);
	assert_int_equal(iw_addr_v4(&err.remote), 0x0b000002);
	assert_int_equal(mbufpool_in_use(pool), 0);
}

/* Design D19: nothing that is received is changed, as the sender may still hold it. */
static void
test_received_mbufs_are_read_only(void **state)
{
	struct bytes frames[] = {
		hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP),
		ip_frame(OURS PEER "0800", PEER_IP OUR_IP, 6, TCP),
		ip_frame(OURS PEER "0800", PEER_IP OUR_IP, 1, "0303 0000 00000000"),
		ip_frame(OURS PEER "0800", PEER_IP "0a000009", 6, TCP),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct rte_mbuf *m = packet(pool, frames[i].b, frames[i].len);
		struct rte_mbuf before;
		struct net_pkt pkt;
		struct net_icmp_err err;
		enum net_verdict v;

		rte_mbuf_refcnt_update(m, 2); /* the sender's, and ours to look at it */
		before = *m;
		v = rx_mbuf(m, &pkt, &err);
		if (v == NET_TCP || v == NET_HOST)
			rte_pktmbuf_free(m);
		assert_int_equal(rte_mbuf_refcnt_read(m), 2);
		rte_mbuf_refcnt_update(m, 1);
		assert_memory_equal(m, &before, sizeof(before));
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), frames[i].b, frames[i].len);
		rte_mbuf_refcnt_update(m, -2);
		rte_pktmbuf_free(m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_arp_request_is_answered),
		T(test_arp_makes_no_entry),
		T(test_conflict_is_defended),
		T(test_arp_answer_without_mbuf),
		T(test_tcp_packet),
		T(test_l4_cksum_good),
		T(test_verdicts),
		T(test_icmp_error_goes_up),
		T(test_received_mbufs_are_read_only),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
