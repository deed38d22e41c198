/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv4.h"

#include "iw_addr.h"
#include "net_face.h"
#include "net_test.h"

static struct rte_mempool *pool;
static struct net_counters counters;

/* 10.0.0.1/24, gateway 10.0.0.254 */
static const struct ipv4_if host = {.own = 0x0a000001, .mask = 0xffffff00, .gateway = 0x0a0000fe, .mtu = 1500};

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("ipv4", TEST_MAX, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

static uint64_t
counted(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(counters) / sizeof(uint64_t); i++)
		sum += ((const uint64_t *)&counters)[i];
	return sum;
}

/* A good packet with 4 octets of payload and 4 of Ethernet padding; its header checksum is put right unless the row
 * is about that. */
#define GOOD "45 00 0018 0000 4000 40 06 0000 0a000002 0a000001 01020304 00000000"

static struct bytes
good(void)
{
	struct bytes b = hex(GOOD);

	slow_cksum_put(b.b, 0, 20, 10);
	return b;
}

struct rule {
	const char *octets;
	bool link_broadcast, keep_cksum;
	bool ok, broadcast;
	const uint64_t *counter;
};

static void
check_rule(const struct rule *r, struct rte_mbuf *m)
{
	struct ipv4_rx rx;

	memset(&counters, 0, sizeof(counters));
	assert_int_equal(ipv4_rx(&host, m, 2, r->link_broadcast, &counters, &rx), r->ok);
	assert_int_equal(counted(), r->counter ? 1 : 0);
	if (r->counter)
		assert_int_equal(*r->counter, 1);
	if (r->ok)
		assert_int_equal(rx.broadcast, r->broadcast);
	rte_pktmbuf_free(m);
}

#define SRC(ip) "45 00 0018 0000 4000 40 06 0000 " ip " 0a000001 01020304"
#define DST(ip) "45 00 0018 0000 4000 40 06 0000 0a000002 " ip " 01020304"

/* The rules of ipv4.c, violated one at a time (RFC 791 §3.1, RFC 1122 §3.2.1; spec tcp T13, T14, T33), with the packet
 * cut into two segments at each octet. */
static const struct rule rules[] = {
	{GOOD, false, false, true, false, NULL},
	/* 1, 2, 3 */
	{"45 00 0018 0000 4000 40 06 0000 0a000002 0a0000", 0, true, false, 0, &counters.rx_ipv4_short},
	{"", false, true, false, false, &counters.rx_ipv4_short},
	{"55 00 0018 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_version},
	{"05 00 0018 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_version},
	{"65 00 0018 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_version},
	{"44 00 0018 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_ihl},
	{"40 00 0018 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_ihl},
	/* 4: below 20; below the options */
	{"45 00 0013 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_len},
	{"45 00 0000 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_len},
	{"46 00 0017 0000 4000 40 06 0000 0a000002 0a000001 01010101 01020304", 0, 0, false, 0, &counters.rx_ipv4_len},
	/* 5: one octet more than there is; header longer than the frame */
	{"45 00 0019 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_truncated},
	{"45 00 ffff 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_truncated},
	{"4f 00 003c 0000 4000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_truncated},
	/* 6 */
	{GOOD, false, true, false, false, &counters.rx_ipv4_cksum},
	/* 7: this network, loopback, multicast, reserved, broadcasts, the subnet's edges */
	{SRC("00000000"), 0, 0, false, 0, &counters.rx_ipv4_bad_src},
	{SRC("00000005"), 0, 0, false, 0, &counters.rx_ipv4_bad_src},
	{SRC("7f000001"), 0, 0, false, 0, &counters.rx_ipv4_bad_src},
	{SRC("e0000001"), 0, 0, false, 0, &counters.rx_ipv4_bad_src},
	{SRC("f0000001"), 0, 0, false, 0, &counters.rx_ipv4_bad_src},
	{SRC("ffffffff"), 0, 0, false, 0, &counters.rx_ipv4_bad_src},
	{SRC("0a0000ff"), 0, 0, false, 0, &counters.rx_ipv4_bad_src},
	{SRC("0a000000"), 0, 0, false, 0, &counters.rx_ipv4_bad_src},
	{SRC("0a0001ff"), 0, 0, true, 0, NULL}, /* not our subnet: cannot be known */
	/* 8: LAND */
	{SRC("0a000001"), 0, 0, false, 0, &counters.rx_ipv4_own_src},
	/* 9 */
	{DST("0a000003"), 0, 0, false, 0, &counters.rx_ipv4_not_ours},
	{DST("e0000001"), 0, 0, false, 0, &counters.rx_ipv4_not_ours},
	{DST("0a000000"), 0, 0, false, 0, &counters.rx_ipv4_not_ours},
	{DST("0a0001ff"), true, 0, false, 0, &counters.rx_ipv4_not_ours},
	{DST("00000000"), 0, 0, false, 0, &counters.rx_ipv4_not_ours},
	{DST("ffffffff"), true, 0, true, true, NULL},
	{DST("0a0000ff"), true, 0, true, true, NULL},
	/* 10: RFC 1122 §3.3.6 */
	{GOOD, true, false, false, false, &counters.rx_ipv4_link_broadcast},
	/* 11: first, middle, last of a datagram, and a DF that lies */
	{"45 00 0018 0000 2000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_fragment},
	{"45 00 0018 0000 2001 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_fragment},
	{"45 00 0018 0000 0001 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_fragment},
	{"45 00 0018 0000 6000 40 06 0000 0a000002 0a000001 01020304", 0, 0, false, 0, &counters.rx_ipv4_fragment},
	/* no rules: TTL 0 and 1 (RFC 1122 §3.2.1.7), the reserved flag, any TOS, an empty payload */
	{"45 00 0018 0000 4000 00 06 0000 0a000002 0a000001 01020304", 0, 0, true, 0, NULL},
	{"45 00 0018 0000 4000 01 06 0000 0a000002 0a000001 01020304", 0, 0, true, 0, NULL},
	{"45 ff 0018 0000 c000 40 06 0000 0a000002 0a000001 01020304", 0, 0, true, 0, NULL},
	{"45 00 0014 0000 4000 40 06 0000 0a000002 0a000001", 0, 0, true, 0, NULL},
};

static void
test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct bytes in = hex(rules[i].octets), at2 = {.len = 2};

		if (!rules[i].keep_cksum && in.len >= 20) {
			uint32_t ihl = (in.b[0] & 15u) * 4;

			slow_cksum_put(in.b, 0, ihl < 20 ? 20 : ihl > in.len ? in.len : ihl, 10);
		}
		memcpy(at2.b + 2, in.b, in.len);
		at2.len += in.len;
		for (uint32_t cut = 0; cut <= at2.len; cut++)
			check_rule(&rules[i], packet_cut(pool, at2.b, at2.len, cut));
		check_rule(&rules[i], packet_crumbs(pool, at2.b, at2.len));
	}
}

/* Options of each length, with octets that no option parser would like; the checksum covers them. */
static void
test_options_are_skipped(void **state)
{
	(void)state;
	for (uint32_t ihl = 6; ihl <= 15; ihl++) {
		struct bytes in = good();
		struct ipv4_rx rx;
		struct rte_mbuf *m;

		in.b[0] = (uint8_t)(0x40 | ihl);
		in.len = ihl * 4 + 8;
		in.b[3] = (uint8_t)in.len;
		memset(in.b + 20, 0x83, in.len - 20);
		slow_cksum_put(in.b, 0, ihl * 4, 10);
		m = packet_crumbs(pool, in.b, in.len);
		assert_true(ipv4_rx(&host, m, 0, false, &counters, &rx));
		assert_int_equal(rx.hdr.hdr_len, ihl * 4);
		rte_pktmbuf_free(m);
		in.b[ihl * 4 - 1] ^= 1;
		m = packet(pool, in.b, in.len);
		assert_false(ipv4_rx(&host, m, 0, false, &counters, &rx));
		rte_pktmbuf_free(m);
	}
}

/* spec T14: the port's word is taken only when it says good and is to be trusted. */
static void
test_port_checks_checksum(void **state)
{
	static const struct {
		bool trust;
		uint64_t flag;
		bool bad_is_taken;
	} rows[] = {
		{true, RTE_MBUF_F_RX_IP_CKSUM_GOOD, true},     {true, RTE_MBUF_F_RX_IP_CKSUM_NONE, true},
		{true, RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN, false}, {true, RTE_MBUF_F_RX_IP_CKSUM_BAD, false},
		{false, RTE_MBUF_F_RX_IP_CKSUM_GOOD, false},   {false, RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ipv4_if ifc = host;
		struct bytes in = hex(GOOD);
		struct ipv4_rx rx;
		struct rte_mbuf *bad = packet(pool, in.b, in.len);
		struct rte_mbuf *fine = packet(pool, good().b, in.len);

		ifc.trust_rx_cksum = rows[i].trust;
		bad->ol_flags = fine->ol_flags = rows[i].flag;
		assert_int_equal(ipv4_rx(&ifc, bad, 0, false, &counters, &rx), rows[i].bad_is_taken);
		assert_true(ipv4_rx(&ifc, fine, 0, false, &counters, &rx));
		rte_pktmbuf_free(bad);
		rte_pktmbuf_free(fine);
	}
}

static void
test_next_hop(void **state)
{
	static const struct ipv4_if lonely = {.own = 0x0a000001, .mask = 0xffffff00};
	static const struct ipv4_if ptp = {.own = 0x0a000001, .mask = 0xfffffffe}; /* RFC 3021 */
	static const struct ipv4_if alone = {.own = 0x0a000001, .mask = 0xffffffff, .gateway = 0x0a0000fe};
	static const struct ipv4_if flat = {.own = 0x0a000001, .mask = 0};
	static const struct ipv4_if none = {.own = 0, .mask = 0xffffffff};
	static const struct {
		const struct ipv4_if *ifc;
		uint32_t dst, hop; /* hop 0: none */
	} rows[] = {
		{&host, 0x0a000002, 0x0a000002},
		{&host, 0x0b000002, 0x0a0000fe},
		{&host, 0x0a0000fe, 0x0a0000fe},
		{&host, 0x0a000001, 0},
		{&host, 0x0a0000ff, 0},
		{&host, 0x0a000000, 0},
		{&host, 0xffffffff, 0},
		{&host, 0xe0000001, 0},
		{&host, 0xf0000001, 0},
		{&host, 0x7f000001, 0},
		{&host, 0x00000001, 0},
		{&host, 0, 0},
		{&lonely, 0x0a000002, 0x0a000002},
		{&lonely, 0x0b000002, 0},
		{&ptp, 0x0a000000, 0x0a000000},
		{&alone, 0x0a000002, 0x0a0000fe},
		{&flat, 0x0b000002, 0x0b000002},
		{&none, 0x0a000002, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t hop = 0;

		assert_int_equal(ipv4_next_hop(rows[i].ifc, rows[i].dst, &hop), rows[i].hop != 0);
		if (rows[i].hop)
			assert_int_equal(hop, rows[i].hop);
	}
}

static void
test_if_from(void **state)
{
	struct netif nif = {.mtu = 9000, .tx_ip_cksum = true};
	struct ipv4_if ifc = ipv4_if_from(&nif, 0x0a000001, 24);

	(void)state;
	assert_int_equal(ifc.own, 0x0a000001);
	assert_int_equal(ifc.mask, 0xffffff00);
	assert_int_equal(ifc.gateway, 0);
	assert_int_equal(ifc.mtu, 9000);
	assert_true(ifc.tx_ip_cksum);
	assert_false(ifc.tx_tcp_cksum);
	assert_int_equal(ipv4_if_from(&nif, 1, 0).mask, 0);
	assert_int_equal(ipv4_if_from(&nif, 1, 32).mask, 0xffffffff);
	assert_int_equal(ipv4_if_from(&nif, 0, 0).own, 0);
}

/* The header in front and the offload fields, for each thing that a port may do. */
static void
test_emit(void **state)
{
	static const struct {
		bool ip, tcp;
		uint8_t proto;
		uint64_t flags;
		uint32_t l4_len;
	} rows[] = {
		{false, false, NET_PROTO_TCP, 0, 0},
		{true, false, NET_PROTO_TCP, RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM, 24},
		{false, true, NET_PROTO_TCP, RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_TCP_CKSUM, 24},
		{true, true, NET_PROTO_TCP, RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM, 24},
		{true, true, NET_PROTO_ICMP, RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM, 0},
	};
	struct bytes tcp = hex("1234 5678 00000001 00000002 6010 ffff 0000 0000 020405b4 aabb");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ipv4_if ifc = host;
		struct rte_mbuf *m = packet(pool, tcp.b, tcp.len);
		struct bytes want = hex("45 01 002e 0000 4000 40 06 0000 0a000001 0b000009");

		ifc.tx_ip_cksum = rows[i].ip;
		ifc.tx_tcp_cksum = rows[i].tcp;
		want.b[9] = rows[i].proto;
		if (!rows[i].ip)
			slow_cksum_put(want.b, 0, 20, 10);
		/* traces of an earlier transmission, and a mark that is not ours */
		m->ol_flags = RTE_MBUF_F_TX_TCP_CKSUM | RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_RX_FDIR;
		m->tx_offload = UINT64_MAX;
		ipv4_emit(&ifc, m, 0x0b000009, rows[i].proto, 1, 14);
		assert_int_equal(m->pkt_len, 46);
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), want.b, 20);
		assert_memory_equal(rte_pktmbuf_mtod_offset(m, void *, 20), tcp.b, tcp.len);
		assert_int_equal(m->ol_flags, rows[i].flags | RTE_MBUF_F_RX_FDIR);
		assert_int_equal(m->l2_len, rows[i].flags ? 14 : 0);
		assert_int_equal(m->l3_len, rows[i].flags ? 20 : 0);
		assert_int_equal(m->l4_len, rows[i].l4_len);
		assert_int_equal(m->tso_segsz, 0);
		rte_pktmbuf_free(m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_options_are_skipped),
		cmocka_unit_test(test_port_checks_checksum),
		cmocka_unit_test(test_next_hop),
		cmocka_unit_test(test_if_from),
		cmocka_unit_test(test_emit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
