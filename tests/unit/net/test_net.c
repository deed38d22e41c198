/* SPDX-License-Identifier: BSD-3-Clause */
/* The room as a whole: frames in, frames out, octet by octet. */
#include "net.h"

#include <iwarp/err.h>

#include "cksum.h"
#include "iw_addr.h"
#include "iw_time.h"
#include "net_test.h"

#define OURS "020000000001 "
#define PEER "020000000002 "
#define ALL "ffffffffffff "
#define OUR_IP "0a000001 "
#define PEER_IP "0a000002 "
#define ARP_REQUEST "0001 0800 06 04 0001 "
#define ARP_REPLY "0001 0800 06 04 0002 "
#define TCP "1234 5678 9abcdef0 00000000 5002 ffff 0000 0000"
#define SLACK (100 * IW_US)

static struct rte_mempool *pool;
static struct iw_env env;
static struct netif nif;
static struct net *net;
static uint64_t now;

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("net", TEST_MAX, 0);
	env = (struct iw_env){.data_pool = pool, .ctl_pool = pool};
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

/* 10.0.0.1/24, gateway 10.0.0.254. */
static int
begin(void **state)
{
	(void)state;
	nif = (struct netif){.mac = {2, 0, 0, 0, 0, 1}, .prefix_len = 24, .mtu = 1500};
	nif.addr = iw_addr_from_v4(0x0a000001, 0);
	nif.gateway = iw_addr_from_v4(0x0a0000fe, 0);
	now = 50 * IW_SEC;
	net = net_create(&env, &nif, 64, now);
	return net ? 0 : -1;
}

static int
end(void **state)
{
	(void)state;
	net_destroy(net);
	return mbufpool_in_use(pool) == 0 ? 0 : -1;
}

static void
again(void)
{
	net_destroy(net);
	net = net_create(&env, &nif, 64, now);
	assert_non_null(net);
}

static uint64_t
count(const char *name)
{
	return count_of(net_counter_list(net), name);
}

static enum net_verdict
rx_mbuf(struct rte_mbuf *m, struct net_pkt *pkt, struct net_icmp_err *err)
{
	return net_rx(net, m, now, pkt, err);
}

/* Receives; a packet that was handed up is freed here. */
static enum net_verdict
rx(const struct bytes *b)
{
	struct rte_mbuf *m = packet(pool, b->b, b->len);
	struct net_pkt pkt;
	struct net_icmp_err err;
	enum net_verdict v = rx_mbuf(m, &pkt, &err);

	if (v == NET_TCP || v == NET_HOST)
		rte_pktmbuf_free(m);
	return v;
}

static enum net_verdict
rx_hex(const char *octets)
{
	struct bytes b = hex(octets);

	return rx(&b);
}

/* A frame with an IPv4 header whose total length and checksum are made right; the frame may be padded afterwards. */
static struct bytes
ip_frame(const char *eth, const char *ip_src_dst, uint8_t proto, const char *payload)
{
	struct bytes b = hex(eth), ip = hex("45 02 0000 0000 4000 40 00 0000"), addr = hex(ip_src_dst),
		     p = hex(payload);
	uint32_t at = b.len;

	memcpy(b.b + at, ip.b, 12);
	memcpy(b.b + at + 12, addr.b, 8);
	memcpy(b.b + at + 20, p.b, p.len);
	b.b[at + 2] = (uint8_t)((20 + p.len) >> 8);
	b.b[at + 3] = (uint8_t)(20 + p.len);
	b.b[at + 9] = proto;
	slow_cksum_put(b.b, at, 20, at + 10);
	b.len = at + 20 + p.len;
	return b;
}

static struct rte_mbuf *
drain_one(void)
{
	struct rte_mbuf *m = NULL;

	assert_int_equal(net_drain(net, &m, 1), 1);
	return m;
}

/* The next frame out is exactly this, apart from padding of ARP. */
static void
assert_frame(const struct bytes *want)
{
	struct rte_mbuf *m = drain_one();

	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->pkt_len, want->len < 60 && want->b[13] == 6 ? 60 : want->len);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), want->b, want->len);
	rte_pktmbuf_free(m);
}

static void
assert_frame_hex(const char *octets)
{
	struct bytes b = hex(octets);

	assert_frame(&b);
}

static void
assert_silence(void)
{
	struct rte_mbuf *m;

	assert_int_equal(net_drain(net, &m, 1), 0);
}

static struct net_route
route_to(uint32_t ip)
{
	struct iw_addr dst = iw_addr_from_v4(ip, 4420);
	struct net_route r;

	assert_int_equal(net_route(net, &dst, &r), 0);
	return r;
}

static int
tx(struct net_route *r, const char *l4)
{
	struct bytes b = hex(l4);

	return net_tx(net, packet(pool, b.b, b.len), r, NET_PROTO_TCP, 2, now);
}

static void
pass(uint64_t ns)
{
	now += ns;
	net_tick(net, now);
}

#define ASK(ip) ALL OURS "0806" ARP_REQUEST OURS OUR_IP "000000000000" ip
#define ANSWER(mac, ip) OURS mac "0806" ARP_REPLY mac ip OURS OUR_IP

/* ---- receive ---- */

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

static void
test_conflict_is_counted_only(void **state)
{
	(void)state;
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER OUR_IP "000000000000" OUR_IP), NET_DROP);
	assert_int_equal(count("rx_arp_conflict"), 1);
	assert_silence();
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
		{ALL PEER "0800", PEER_IP "0a0000ff", 6, TCP, NET_DROP, "rx_tcp_broadcast"},
		{OURS PEER "0800", PEER_IP "ffffffff", 6, TCP, NET_DROP, "rx_tcp_broadcast"},
		{ALL PEER "0800", PEER_IP OUR_IP, 6, TCP, NET_DROP, "rx_ipv4_link_broadcast"},
		{OURS PEER "0800", OUR_IP OUR_IP, 6, TCP, NET_DROP, "rx_ipv4_own_src"},
		{OURS PEER "0800", PEER_IP OUR_IP, 1, "03", NET_DROP, "rx_icmp_short"},
		{OURS PEER "86dd", PEER_IP OUR_IP, 6, TCP, NET_DROP, "rx_ipv6_unsupported"},
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

/* ---- send ---- */

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
	assert_int_equal(iw_addr_v4(&r.next_hop), 0x0a0000fe);
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
	for (int i = 0; i < 5; i++)
		assert_int_equal(tx(&r, seq[i]), 0);
	assert_frame_hex(ASK(PEER_IP));
	assert_int_equal(count("neigh_wait_overrun"), 1);
	assert_int_equal(rx_hex(ANSWER(PEER, PEER_IP)), NET_EATEN);
	for (int i = 1; i < 5; i++) {
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
		assert_int_equal(net_tx(net, kept[i], &r, NET_PROTO_TCP, 0, now), 0);
	assert_int_equal(rte_mbuf_refcnt_read(kept[0]), 1); /* pushed out */
	assert_int_equal(rte_mbuf_refcnt_read(kept[1]), 2);
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

/* ---- properties ---- */

static uint64_t
sum_of_counters(void)
{
	struct iw_counter_list list = net_counter_list(net);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list.n; i++)
		sum += list.values[i];
	return sum;
}

static struct bytes
seed_frame(uint32_t which)
{
	static const char *const quote =
		"0303 0000 00000000 4500 05dc 0000 4000 01 06 0000" OUR_IP PEER_IP "1111 2222 33445566";

	switch (which) {
	case 0:
		return ip_frame(OURS PEER "0800", PEER_IP OUR_IP, 6, TCP);
	case 1:
		return ip_frame(OURS PEER "8100 0000 0800", PEER_IP OUR_IP, 6, TCP);
	case 2: {
		struct bytes b = ip_frame(OURS PEER "0800", PEER_IP OUR_IP, 1, quote);

		slow_cksum_put(b.b, 34, b.len - 34, 36);
		return b;
	}
	case 3:
		return hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP);
	case 4:
		return hex(ANSWER(PEER, PEER_IP));
	default:
		return ip_frame(ALL PEER "0800", PEER_IP "ffffffff", 17, "00");
	}
}

/* A frame that is nearly right, its header checksum repaired every other time so that later rules are reached. */
static struct bytes
mutated(void)
{
	struct bytes b = seed_frame((uint32_t)rand() % 6);
	uint32_t changes = (uint32_t)rand() % 4;

	for (uint32_t i = 0; i < changes; i++)
		b.b[(uint32_t)rand() % b.len] = (uint8_t)rand();
	if (rand() % 2 && b.b[12] == 8 && b.b[13] == 0) {
		uint32_t ihl = (b.b[14] & 15u) * 4;

		slow_cksum_put(b.b, 14, ihl < 20 ? 20 : ihl, 24);
	}
	if (rand() % 4 == 0)
		b.len = (uint32_t)rand() % (b.len + 1);
	else if (rand() % 4 == 0)
		b.len += (uint32_t)rand() % 40;
	return b;
}

static struct bytes
noise(void)
{
	struct bytes b = {.len = (uint32_t)rand() % 100};

	for (uint32_t i = 0; i < b.len; i++)
		b.b[i] = (uint8_t)rand();
	if (b.len >= 14 && rand() % 8) {
		memcpy(b.b, hex(OURS PEER "0800").b, 14);
		b.b[13] = rand() % 2 ? 0 : 6;
	}
	return b;
}

static struct rte_mbuf *
in_some_segments(const struct bytes *b)
{
	switch (rand() % 3) {
	case 0:
		return packet(pool, b->b, b->len);
	case 1:
		return packet_crumbs(pool, b->b, b->len);
	default:
		return packet_cut(pool, b->b, b->len, (uint32_t)rand() % (b->len + 1));
	}
}

/* An extra reference of each segment tells afterwards whether it was freed exactly once, or handed over. */
static void
check_ownership(struct rte_mbuf *m)
{
	struct rte_mbuf *segs[TEST_MAX];
	uint32_t n = 0;
	uint64_t before = sum_of_counters();
	struct net_pkt pkt;
	struct net_icmp_err err;
	enum net_verdict v;

	for (struct rte_mbuf *s = m; s; s = s->next) {
		segs[n++] = s;
		rte_mbuf_refcnt_update(s, 1);
	}
	v = rx_mbuf(m, &pkt, &err);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(rte_mbuf_refcnt_read(segs[i]), v == NET_TCP || v == NET_HOST ? 2 : 1);
	if (v == NET_DROP)
		assert_int_equal(sum_of_counters() - before, 2); /* rx_frames and one reason */
	if (v == NET_TCP || v == NET_HOST) {
		assert_true(pkt.l4_off >= 34 && pkt.l4_off + pkt.l4_len <= m->pkt_len);
		rte_pktmbuf_free(m);
	}
	for (uint32_t i = 0; i < n; i++)
		rte_pktmbuf_free_seg(segs[i]);
}

static void
test_random_frames(void **state)
{
	uint32_t before = 0;

	(void)state;
	srand(1);
	for (uint32_t i = 0; i < 20000; i++) {
		struct bytes b = i % 2 ? mutated() : noise();
		struct rte_mbuf *out[8];
		uint32_t n;

		check_ownership(in_some_segments(&b));
		n = net_drain(net, out, 8);
		while (n > 0)
			rte_pktmbuf_free(out[--n]);
		pass(IW_MS);
		before = mbufpool_in_use(pool);
	}
	assert_int_equal(before, 0);
	/* the walk has seen the far corners */
	assert_true(count("rx_tcp") > 100 && count("rx_icmp_err") > 100 && count("arp_answered") > 100);
	assert_true(count("rx_ipv4_ihl") && count("rx_ipv4_len") && count("rx_ipv4_truncated") &&
		    count("rx_ipv4_cksum") && count("rx_ipv4_fragment") && count("rx_runt") && count("rx_vlan") &&
		    count("rx_icmp_bad_quote") && count("rx_arp_malformed"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_arp_request_is_answered),
		T(test_arp_makes_no_entry),
		T(test_conflict_is_counted_only),
		T(test_arp_answer_without_mbuf),
		T(test_tcp_packet),
		T(test_l4_cksum_good),
		T(test_verdicts),
		T(test_icmp_error_goes_up),
		T(test_received_mbufs_are_read_only),
		T(test_first_packet_waits),
		T(test_gateway),
		T(test_no_route),
		T(test_neighbour_is_silent),
		T(test_waiting_in_order),
		T(test_mac_change_moves_traffic),
		T(test_offloads),
		T(test_one_reference_is_consumed),
		T(test_mtu),
		T(test_queue_full),
		T(test_neighbour_table_full),
		T(test_question_without_mbuf),
		T(test_pseudo_sum),
		T(test_own_address_is_ipv6),
		T(test_memory_is_short),
		T(test_random_frames),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
