/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth.h"

#include "net_test.h"

static struct rte_mempool *pool;
static const struct eth_self ours = {.mac = {2, 0, 0, 0, 0, 1}};
static struct net_counters counters;

#define OURS "020000000001"
#define PEER "020000000002"

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("eth", TEST_MAX, 0);
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

/* spec faults 39: each kind of frame has its verdict and its name. */
static void
test_kinds(void **state)
{
	static const struct {
		const char *octets;
		enum eth_kind kind;
		bool broadcast;
		uint32_t l3_off;
		const uint64_t *counter;
	} rows[] = {
		{OURS PEER "0800 45", ETH_IPV4, false, 14, NULL},
		{OURS PEER "0806 00", ETH_ARP, false, 14, NULL},
		{"ffffffffffff" PEER "0806 00", ETH_ARP, true, 14, NULL},
		{OURS PEER "8100 2000 0800 45", ETH_IPV4, false, 18, NULL},
		{OURS PEER "8100 2001 0800 45", ETH_DROP, false, 0, &counters.rx_vlan},
		{OURS PEER "86dd 60", ETH_DROP, false, 0, &counters.rx_ipv6_off},
		{OURS PEER "88b5 00", ETH_DROP, false, 0, &counters.rx_unknown_ethertype},
		{OURS PEER "0026 4242", ETH_DROP, false, 0, &counters.rx_llc},
		{OURS PEER "05ff 4242", ETH_DROP, false, 0, &counters.rx_llc},
		{"020000000003" PEER "0800 45", ETH_DROP, false, 0, &counters.rx_not_our_mac},
		{"000000000000" PEER "0800 45", ETH_DROP, false, 0, &counters.rx_not_our_mac},
		{"01005e000001" PEER "0800 45", ETH_DROP, false, 0, &counters.rx_multicast},
		{"333300000001" PEER "86dd 60", ETH_DROP, false, 0, &counters.rx_multicast},
		{OURS "000000000000 0800 45", ETH_DROP, false, 0, &counters.rx_bad_src_mac},
		{OURS "ffffffffffff 0800 45", ETH_DROP, false, 0, &counters.rx_bad_src_mac},
		{OURS "01005e000001 0800 45", ETH_DROP, false, 0, &counters.rx_bad_src_mac},
		{OURS PEER "08", ETH_DROP, false, 0, &counters.rx_runt},
		{OURS PEER "8100 0000 08", ETH_DROP, false, 0, &counters.rx_runt},
		{"", ETH_DROP, false, 0, &counters.rx_runt},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = hex(rows[i].octets);

		for (uint32_t cut = 0; cut <= in.len; cut++) {
			struct rte_mbuf *m = packet_cut(pool, in.b, in.len, cut);
			struct eth_frame f;

			memset(&counters, 0, sizeof(counters));
			f = eth_rx(m, &ours, &counters);
			assert_int_equal(f.kind, rows[i].kind);
			assert_int_equal(counted(), rows[i].counter ? 1 : 0);
			if (rows[i].counter)
				assert_int_equal(*rows[i].counter, 1);
			if (f.kind != ETH_DROP) {
				assert_int_equal(f.group, rows[i].broadcast);
				assert_int_equal(f.l3_off, rows[i].l3_off);
			}
			rte_pktmbuf_free(m);
		}
	}
}

/* The port has taken the tag out. */
static void
test_stripped_tag(void **state)
{
	struct bytes in = hex(OURS PEER "0800 45");
	struct rte_mbuf *m = packet(pool, in.b, in.len);

	(void)state;
	memset(&counters, 0, sizeof(counters));
	m->vlan_tci = 0x6000;
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	assert_int_equal(eth_rx(m, &ours, &counters).kind, ETH_IPV4);
	m->vlan_tci = 0x6007;
	assert_int_equal(eth_rx(m, &ours, &counters).kind, ETH_DROP);
	assert_int_equal(counters.rx_vlan, 1);
	rte_pktmbuf_free(m);
}

/* spec faults 40: a driver that lies about lengths. */
static void
test_lengths_lie(void **state)
{
	struct bytes in = hex(OURS PEER "0800 45");
	struct rte_mbuf *m = packet(pool, in.b, in.len);

	(void)state;
	memset(&counters, 0, sizeof(counters));
	m->pkt_len += 100;
	assert_int_equal(eth_rx(m, &ours, &counters).kind, ETH_DROP);
	rte_pktmbuf_free(m);
	m = packet_cut(pool, in.b, in.len, 7);
	m->pkt_len -= 1;
	assert_int_equal(eth_rx(m, &ours, &counters).kind, ETH_DROP);
	assert_int_equal(counters.rx_bad_mbuf, 2);
	rte_pktmbuf_free(m);
}

static void
test_emit(void **state)
{
	struct rte_mbuf *m = packet(pool, "ab", 2);

	(void)state;
	eth_emit(m, hex(PEER).b, ours.mac, ETH_TYPE_IPV4);
	assert_int_equal(m->pkt_len, 16);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), hex(PEER OURS "0800 6162").b, 16);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_stripped_tag),
		cmocka_unit_test(test_lengths_lie),
		cmocka_unit_test(test_emit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
