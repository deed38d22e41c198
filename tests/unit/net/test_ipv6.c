/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv6.h"

#include "iw_addr.h"
#include "net6_test.h"

static struct rte_mempool *pool;
static struct net_counters counters;
static struct own_table own;

static int
setup(void **state)
{
	struct iw_addr a = addr6(OURS6), b = addr6(GLOBAL6), four = iw_addr_from_v4(0x0a000001, 0);

	(void)state;
	pool = mbufpool_create("ipv6", TEST_MAX, 0);
	own_init(&own);
	return !own_add(&own, &four, 24, false, 0) || !own_add(&own, &a, 64, false, 0) ||
	       !own_add(&own, &b, 64, false, 0);
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

#define HEAD "60000000 0004 06 40 "

/* Each rule by its name; every cut into two segments. */
static void
test_rules(void **state)
{
	static const struct {
		const char *octets;
		bool link_group;
		const uint64_t *counter; /* NULL: taken */
		uint8_t own;
		bool group;
	} rows[] = {
		{HEAD PEER6 OURS6 "00000000", false, NULL, 2, false},
		{HEAD PEER6 GLOBAL6 "00000000", false, NULL, 3, false},
		{HEAD FAR6 GLOBAL6 "00000000 ffff", false, NULL, 3, false}, /* padding */
		{HEAD PEER6 ALL_NODES6 "00000000", true, NULL, 0, true},
		{HEAD PEER6 ASKED6 "00000000", true, NULL, 2, true},
		{HEAD PEER6 "ff01 0000 0000 0000 0000 0000 0000 0001 00000000", true, NULL, 0, true},
		{"60000000 0004 3a ff " ANY6 ASKED6 "00000000", true, NULL, 2, true},
		{"60000000 0004 3a ff " OURS6 ALL_NODES6 "00000000", true, NULL, 0, true}, /* ND's business */
		{HEAD PEER6 "fe80 0000 0000 0000 0000 0000 0000", false, &counters.rx_ipv6_short, 0, false},
		{"45000000 0004 06 40 " PEER6 OURS6 "00000000", false, &counters.rx_ipv6_version, 0, false},
		{HEAD PEER6 OURS6 "000000", false, &counters.rx_ipv6_truncated, 0, false},
		{HEAD ALL_NODES6 OURS6 "00000000", false, &counters.rx_ipv6_bad_src, 0, false},
		{HEAD "0000 0000 0000 0000 0000 0000 0000 0001" OURS6 "00000000", false, &counters.rx_ipv6_bad_src, 0,
		 false},
		{HEAD "0000 0000 0000 0000 0000 ffff 0a00 0002" OURS6 "00000000", false, &counters.rx_ipv6_bad_src, 0,
		 false},
		{HEAD ANY6 OURS6 "00000000", false, &counters.rx_ipv6_bad_src, 0, false},
		{HEAD OURS6 OURS6 "00000000", false, &counters.rx_ipv6_own_src, 0, false},
		{HEAD GLOBAL6 OURS6 "00000000", false, &counters.rx_ipv6_own_src, 0, false},
		{HEAD PEER6 FAR6 "00000000", false, &counters.rx_ipv6_not_ours, 0, false},
		/* our IPv4 address in mapped form is not an IPv6 address of ours */
		{HEAD PEER6 "0000 0000 0000 0000 0000 ffff 0a00 0001 00000000", false, &counters.rx_ipv6_not_ours, 0,
		 false},
		{HEAD PEER6 "ff02 0000 0000 0000 0000 0001 ff00 0002 00000000", true, &counters.rx_ipv6_not_ours, 0,
		 false},
		{HEAD PEER6 "ff02 0000 0000 0000 0000 0000 0000 0002 00000000", true, &counters.rx_ipv6_not_ours, 0,
		 false},
		{HEAD PEER6 "ff02 0000 0000 0000 0000 0000 0000 00fb 00000000", true, &counters.rx_ipv6_not_ours, 0,
		 false},
		{HEAD PEER6 OURS6 "00000000", true, &counters.rx_ipv6_link_group, 0, false},
		{"60000000 0004 3b 40 " PEER6 OURS6 "00000000", false, &counters.rx_ipv6_no_next, 0, false},
		{"60000000 0008 2c 40 " PEER6 OURS6 "06000001 00000000", false, &counters.rx_ipv6_fragment, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = hex(rows[i].octets);

		for (uint32_t cut = 0; cut <= in.len; cut++) {
			struct rte_mbuf *m = packet_cut(pool, in.b, in.len, cut);
			struct ipv6_rx rx;
			bool ok;

			memset(&counters, 0, sizeof(counters));
			ok = ipv6_rx(&own, m, 0, rows[i].link_group, &counters, &rx);
			if (ok != !rows[i].counter || (rows[i].counter && *rows[i].counter != 1))
				fail_msg("row %zu cut %u", i, cut);
			if (ok) {
				assert_int_equal(rx.own, rows[i].own);
				assert_int_equal(rx.group, rows[i].group);
				assert_int_equal(rx.l4_off, 40);
				assert_int_equal(rx.l4_len, 4);
			}
			rte_pktmbuf_free(m);
		}
	}
}

/* An address that somebody else has is not ours. */
static void
test_duplicate_is_not_ours(void **state)
{
	struct bytes in = hex(HEAD PEER6 OURS6 "00000000");
	struct rte_mbuf *m = packet(pool, in.b, in.len);
	struct own_table other = own;
	struct ipv6_rx rx;

	(void)state;
	memset(&counters, 0, sizeof(counters));
	other.addr[2].family = OWN_UNUSABLE;
	assert_false(ipv6_rx(&other, m, 0, false, &counters, &rx));
	assert_int_equal(counters.rx_ipv6_not_ours, 1);
	rte_pktmbuf_free(m);
}

/* The header, and the offload fields for a port that makes TCP's checksum and one that does not. */
static void
test_emit(void **state)
{
	struct bytes l4 = hex("1234 5678 9abcdef0 00000000 8002 ffff 0000 0000 01010101 01010101 01010101"),
		     want = hex("602abcde 0020 06 40" OURS6 PEER6), src = hex(OURS6), dst = hex(PEER6);

	(void)state;
	for (int offload = 0; offload < 2; offload++) {
		struct ipv6_tx tx = {.src = src.b,
				     .dst = dst.b,
				     .flow = 0xabcde,
				     .proto = 6,
				     .ecn = 2,
				     .hop_limit = 64,
				     .tcp_cksum = offload};
		struct rte_mbuf *m = packet(pool, l4.b, l4.len);

		m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM; /* of an earlier life */
		m->tx_offload = UINT64_MAX;
		ipv6_emit(m, &tx, 14);
		assert_int_equal(m->pkt_len, 72);
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), want.b, 40);
		assert_memory_equal(rte_pktmbuf_mtod_offset(m, void *, 40), l4.b, 32);
		assert_int_equal(m->ol_flags, offload ? RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_CKSUM : 0);
		assert_int_equal(m->l2_len, offload ? 14 : 0);
		assert_int_equal(m->l3_len, offload ? 40 : 0);
		assert_int_equal(m->l4_len, offload ? 32 : 0);
		rte_pktmbuf_free(m);
	}
}

/* RFC 2464 §7, RFC 4291 §2.7.1. */
static void
test_groups(void **state)
{
	uint8_t mac[6], group[16];

	(void)state;
	ipv6_solicited_node(hex("2001 0db8 0000 0000 0000 0000 00ab cdef").b, group);
	assert_memory_equal(group, hex("ff02 0000 0000 0000 0000 0001 ffab cdef").b, 16);
	ipv6_group_mac(group, mac);
	assert_memory_equal(mac, hex("3333 ffab cdef").b, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_duplicate_is_not_ours),
					   cmocka_unit_test(test_emit), cmocka_unit_test(test_groups)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
