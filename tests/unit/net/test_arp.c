/* SPDX-License-Identifier: BSD-3-Clause */
#include "arp.h"

#include "eth.h"
#include "net_test.h"

static struct rte_mempool *pool;
static const struct arp_self self = {.mac = {2, 0, 0, 0, 0, 1}, .ip = 0x0a000001};
static struct net_counters counters;

#define REQUEST "0001 0800 06 04 0001 "
#define REPLY "0001 0800 06 04 0002 "
#define PEER "020000000002 0a000002 "
#define FOR_US " 0a000001"

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("arp", TEST_MAX, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

static bool
rx(const struct arp_self *who, const char *octets, struct arp_rx *out)
{
	struct bytes in = hex(octets);
	struct rte_mbuf *m = packet_crumbs(pool, in.b, in.len);
	bool ok;

	memset(&counters, 0, sizeof(counters));
	memset(out, 0xff, sizeof(*out));
	ok = arp_rx(who, m, 0, &counters, out);
	rte_pktmbuf_free(m);
	return ok;
}

/* RFC 826 "Packet Reception", RFC 5227 §2.1.1 and §2.4, spec faults 23. */
static void
test_meaning(void **state)
{
	static const struct {
		const char *octets;
		bool ok, learn, answer;
		enum neigh_how how;
		const uint64_t *counter;
	} rows[] = {
		{REQUEST PEER "000000000000" FOR_US, true, true, true, NEIGH_ASKED_US, &counters.rx_arp},
		{REPLY PEER "020000000001" FOR_US, true, true, false, NEIGH_ANSWERED, &counters.rx_arp},
		{REQUEST PEER "000000000000 0a000003", true, true, false, NEIGH_SEEN, &counters.rx_arp},
		/* gratuitous, both forms */
		{REQUEST PEER "000000000000 0a000002", true, true, false, NEIGH_SEEN, &counters.rx_arp},
		{REPLY PEER "ffffffffffff 0a000002", true, true, false, NEIGH_SEEN, &counters.rx_arp},
		/* a probe for our address */
		{REQUEST "020000000002 00000000 000000000000" FOR_US, true, false, true, NEIGH_ASKED_US,
		 &counters.rx_arp},
		/* conflicts: request, reply, announcement */
		{REQUEST "020000000002 0a000001 000000000000 0a000003", false, false, false, 0,
		 &counters.rx_arp_conflict},
		{REPLY "020000000002 0a000001 020000000001 0a000001", false, false, false, 0,
		 &counters.rx_arp_conflict},
		{REQUEST "020000000002 0a000001 000000000000 0a000001", false, false, false, 0,
		 &counters.rx_arp_conflict},
		{REQUEST "020000000001 0a000001 000000000000 0a000001", false, false, false, 0, &counters.rx_arp_own},
		/* senders that cannot be */
		{REQUEST "ffffffffffff 0a000002 000000000000" FOR_US, false, false, false, 0,
		 &counters.rx_arp_bad_sender},
		{REPLY "01005e000001 0a000002 000000000000" FOR_US, false, false, false, 0,
		 &counters.rx_arp_bad_sender},
		{REPLY "000000000000 0a000002 000000000000" FOR_US, false, false, false, 0,
		 &counters.rx_arp_bad_sender},
		{REPLY "020000000002 ffffffff 000000000000" FOR_US, false, false, false, 0,
		 &counters.rx_arp_bad_sender},
		{REPLY "020000000002 e0000001 000000000000" FOR_US, false, false, false, 0,
		 &counters.rx_arp_bad_sender},
		{REPLY "020000000002 7f000001 000000000000" FOR_US, false, false, false, 0,
		 &counters.rx_arp_bad_sender},
		/* malformed */
		{"0001 0800 06 04 0003 " PEER "000000000000" FOR_US, false, false, false, 0,
		 &counters.rx_arp_malformed},
		{"0006 0800 06 04 0001 " PEER "000000000000" FOR_US, false, false, false, 0,
		 &counters.rx_arp_malformed},
		{REQUEST PEER "000000000000 0a0000", false, false, false, 0, &counters.rx_arp_malformed},
		{"", false, false, false, 0, &counters.rx_arp_malformed},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arp_rx out;

		assert_int_equal(rx(&self, rows[i].octets, &out), rows[i].ok);
		assert_int_equal(*rows[i].counter, 1);
		if (!rows[i].ok)
			continue;
		assert_int_equal(out.learn, rows[i].learn);
		assert_int_equal(out.answer, rows[i].answer);
		assert_int_equal(out.how, rows[i].how);
	}
}

/* An engine whose address is not IPv4 answers nobody, not even who asks for 0.0.0.0. */
static void
test_no_address(void **state)
{
	struct arp_self nobody = self;
	struct arp_rx out;

	(void)state;
	nobody.ip = 0;
	assert_true(rx(&nobody, REQUEST PEER "000000000000 00000000", &out));
	assert_false(out.answer);
	assert_false(out.learn);
}

static void
assert_frame(struct rte_mbuf *m, const char *want)
{
	struct bytes b = hex(want);

	assert_non_null(m);
	assert_int_equal(m->pkt_len, 60);
	assert_int_equal(b.len, 42);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), b.b, b.len);
	for (uint32_t i = b.len; i < 60; i++)
		assert_int_equal(*rte_pktmbuf_mtod_offset(m, uint8_t *, i), 0);
	rte_pktmbuf_free(m);
}

static void
test_frames(void **state)
{
	struct arp_rx out;

	(void)state;
	assert_true(rx(&self, REQUEST PEER "000000000000" FOR_US, &out));
	assert_frame(arp_reply(&self, pool, &out.hdr),
		     "020000000002 020000000001 0806"
		     "0001 0800 06 04 0002 020000000001 0a000001 020000000002 0a000002");
	assert_frame(arp_request(&self, pool, 0x0a000009, NULL),
		     "ffffffffffff 020000000001 0806"
		     "0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000009");
	assert_frame(arp_request(&self, pool, 0x0a000009, hex("020000000009").b),
		     "020000000009 020000000001 0806"
		     "0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000009");
}

static void
test_empty_pool(void **state)
{
	(void)state;
	mbufpool_set_fuse(pool, 1);
	assert_null(arp_request(&self, pool, 0x0a000009, NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meaning),
		cmocka_unit_test(test_no_address),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_empty_pool),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
