/* SPDX-License-Identifier: BSD-3-Clause */
#include "vlan.h"

#include "eth.h"
#include "net_test.h"

#define OURS "020000000001 "
#define PEER "020000000002 "

static struct rte_mempool *pool;

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("vlan", TEST_MAX, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

/* IEEE 802.1Q §6.9: the tag of a port, priority tags, service tags; in the frame or taken out by the port. */
static void
test_whose_frames(void **state)
{
	static const struct {
		const char *octets;
		int stripped; /* TCI that the port took out; -1: none */
		bool vlan_0, vlan_5;
	} rows[] = {
		{OURS PEER "0800 45", -1, true, false},
		{OURS PEER "8100 e000 0800 45", -1, true, false},
		{OURS PEER "8100 0005 0800 45", -1, false, true},
		{OURS PEER "8100 f005 0800 45", -1, false, true},
		{OURS PEER "8100 0006 0800 45", -1, false, false},
		{OURS PEER "8100 0fff 0800 45", -1, false, false},
		{OURS PEER "88a8 0005 0800 45", -1, false, false},
		{OURS PEER "0800 45", 0x0005, false, true},
		{OURS PEER "0800 45", 0xe005, false, true},
		{OURS PEER "0800 45", 0x0006, false, false},
		{OURS PEER "0800 45", 0xe000, true, false},
		{OURS PEER "8100 0005 0800 45", 0x0005, false, false},
		{OURS PEER "8100 0005 0800 45", 0x0006, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int vlan = 0; vlan <= 5; vlan += 5) {
			struct bytes in = hex(rows[i].octets);
			struct rte_mbuf *m = packet(pool, in.b, in.len);
			struct eth_self self = {.mac = {2, 0, 0, 0, 0, 1}, .vlan = (uint16_t)vlan};
			struct net_counters counters = {0};
			bool want = vlan ? rows[i].vlan_5 : rows[i].vlan_0;

			if (rows[i].stripped >= 0) {
				m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
				m->vlan_tci = (uint16_t)rows[i].stripped;
			}
			if ((eth_rx(m, &self, &counters).kind == ETH_IPV4) != want || counters.rx_vlan != !want)
				fail_msg("row %zu in VLAN %d", i, vlan);
			rte_pktmbuf_free(m);
		}
}

static void
test_push(void **state)
{
	struct bytes in = hex(OURS PEER "0800 4500"), out = hex(OURS PEER "8100 0fa5 0800 4500");
	struct rte_mbuf *m = packet(pool, in.b, in.len);

	(void)state;
	m->l2_len = 14; /* a port that makes checksums counts it */
	m->l3_len = 20;
	vlan_push(m, 0xfa5, false);
	assert_int_equal(m->pkt_len, out.len);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), out.b, out.len);
	assert_int_equal(m->l2_len, 18);
	assert_int_equal(m->l3_len, 20);
	assert_int_equal(m->ol_flags & RTE_MBUF_F_TX_VLAN, 0);
	rte_pktmbuf_free(m);
	m = packet(pool, in.b, in.len);
	vlan_push(m, 0xfa5, true);
	assert_int_equal(m->pkt_len, in.len);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), in.b, in.len);
	assert_int_equal(m->vlan_tci, 0xfa5);
	assert_true(m->ol_flags & RTE_MBUF_F_TX_VLAN);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_whose_frames), cmocka_unit_test(test_push)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
