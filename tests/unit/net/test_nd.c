/* SPDX-License-Identifier: BSD-3-Clause */
#include "nd.h"

#include <stdio.h>

#include "net6_test.h"

static struct rte_mempool *pool;
static struct net_counters counters;
static struct own_table own;
static const uint8_t ours[6] = {2, 0, 0, 0, 0, 1}, peer[6] = {2, 0, 0, 0, 0, 2};

#define NS(target) "87 00 0000 00000000" target
#define NA(flags, target) "88 00 0000 " flags "000000" target
#define SLLA "01 01 020000000009"
#define TLLA "02 01 020000000009"
#define GONE6 "fe80 0000 0000 0000 0000 0000 0000 0003 " /* ours, but tentative */

static int
setup(void **state)
{
	struct iw_addr a = addr6(OURS6), b = addr6(GONE6);

	(void)state;
	pool = mbufpool_create("nd", TEST_MAX, 0);
	own_init(&own);
	return !own_add(&own, &a, 64, false, 0) || !own_add(&own, &b, 64, true, 0);
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

/* RFC 4861 §7.1.1, §7.1.2, §7.2.3, §7.2.5; RFC 4862 §5.4. */
static const struct {
	const char *src_dst, *message;
	uint8_t hop_limit;
	bool ok, learn, confirm, answer, conflict;
	enum neigh_how how;
	const char *who, *mac;
} rows[] = {
	{PEER6 ASKED6, NS(OURS6) SLLA, 255, true, true, false, true, false, NEIGH_ASKED_US, PEER6, "020000000009"},
	{PEER6 OURS6, NS(OURS6) SLLA, 255, true, true, false, true, false, NEIGH_ASKED_US, PEER6, "020000000009"},
	{PEER6 OURS6, NS(OURS6), 255, true, false, false, true, false, NEIGH_ASKED_US, PEER6, "020000000002"},
	{PEER6 ASKED6, NS(PEER6) SLLA, 255, true, false, false, false, false, NEIGH_ASKED_US, PEER6, NULL},
	/* a probe for what we have, and for what we are about to take */
	{ANY6 ASKED6, NS(OURS6), 255, true, false, false, true, false, NEIGH_ASKED_US, NULL, "020000000002"},
	{ANY6 ASKED6, NS(GONE6), 255, true, false, false, false, true, NEIGH_ASKED_US, NULL, "020000000002"},
	/* a question for what we are about to take is no conflict and not answered */
	{PEER6 ASKED6, NS(GONE6) SLLA, 255, true, false, false, false, false, NEIGH_ASKED_US, PEER6, NULL},
	/* answers */
	{PEER6 OURS6, NA("60", PEER6) TLLA, 255, true, true, false, false, false, NEIGH_ANSWERED, PEER6,
	 "020000000009"},
	{PEER6 OURS6, NA("40", PEER6) TLLA, 255, true, true, false, false, false, NEIGH_ANSWERED, PEER6,
	 "020000000009"},
	{PEER6 OURS6, NA("60", PEER6), 255, true, false, true, false, false, NEIGH_ANSWERED, PEER6, NULL},
	{PEER6 ALL_NODES6, NA("20", PEER6) TLLA, 255, true, true, false, false, false, NEIGH_SEEN, PEER6,
	 "020000000009"},
	{PEER6 ALL_NODES6, NA("00", PEER6) TLLA, 255, true, true, false, false, false, NEIGH_SEEN, PEER6,
	 "020000000009"},
	{PEER6 ALL_NODES6, NA("00", PEER6), 255, true, false, false, false, false, NEIGH_SEEN, PEER6, NULL},
	/* somebody else has ours */
	{PEER6 ALL_NODES6, NA("20", OURS6) TLLA, 255, true, false, false, false, true, NEIGH_SEEN, NULL,
	 "020000000009"},
	{PEER6 ALL_NODES6, NA("20", GONE6) TLLA, 255, true, false, false, false, true, NEIGH_SEEN, NULL,
	 "020000000009"},
	{GONE6 ALL_NODES6, NA("20", GONE6) TLLA, 255, true, false, false, false, true, 0, NULL, "020000000009"},
	{OURS6 ALL_NODES6, NS(PEER6) SLLA, 255, true, false, false, false, true, 0, NULL, "020000000009"},
	/* not valid */
	{PEER6 OURS6, NS(OURS6) SLLA, 254, false, 0, 0, 0, 0, 0, NULL, NULL},
	{PEER6 OURS6, NS(ALL_NODES6) SLLA, 255, false, 0, 0, 0, 0, 0, NULL, NULL},
	{ANY6 OURS6, NS(OURS6), 255, false, 0, 0, 0, 0, 0, NULL, NULL},
	{ANY6 ASKED6, NS(OURS6) SLLA, 255, false, 0, 0, 0, 0, 0, NULL, NULL},
	{ANY6 ALL_NODES6, NA("20", PEER6) TLLA, 255, false, 0, 0, 0, 0, 0, NULL, NULL},
	{PEER6 ALL_NODES6, NA("60", PEER6) TLLA, 255, false, 0, 0, 0, 0, 0, NULL, NULL},
	{PEER6 OURS6, NA("60", ALL_NODES6) TLLA, 255, false, 0, 0, 0, 0, 0, NULL, NULL},
	{PEER6 OURS6, NA("60", PEER6) "02 01 ffffffffffff", 255, false, 0, 0, 0, 0, 0, NULL, NULL},
	{PEER6 OURS6, NA("60", PEER6) "02 01 000000000000", 255, false, 0, 0, 0, 0, 0, NULL, NULL},
	{PEER6 OURS6, NS(OURS6) "01 00 020000000009", 255, false, 0, 0, 0, 0, 0, NULL, NULL},
};

static void
test_meaning(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = ip6_frame("", rows[i].src_dst, 58, rows[i].hop_limit, rows[i].message);
		struct rte_mbuf *m = packet_crumbs(pool, in.b, in.len);
		struct ipv6_rx ip;
		struct nd_rx rx;
		bool ok;

		memset(&counters, 0, sizeof(counters));
		assert_true(ipv6_rx(&own, m, 0, ipv6_is_group(in.b + 24), &counters, &ip));
		ok = nd_rx(&own, m, &ip, peer, &counters, &rx);
		if (ok != rows[i].ok || counters.rx_nd_invalid != !ok)
			fail_msg("row %zu", i);
		if (ok && (rx.learn != rows[i].learn || rx.confirm != rows[i].confirm || rx.answer != rows[i].answer ||
			   rx.conflict != rows[i].conflict || (rows[i].learn && rx.how != rows[i].how)))
			fail_msg("row %zu: %d %d %d %d %d", i, rx.learn, rx.confirm, rx.answer, rx.conflict, rx.how);
		if (ok && rows[i].who)
			assert_memory_equal(rx.who, hex(rows[i].who).b, 16);
		if (ok && rows[i].mac)
			assert_memory_equal(rx.mac, hex(rows[i].mac).b, 6);
		rte_pktmbuf_free(m);
	}
}

/* With other options in front of ours: as long as we look, and one option more. */
static void
test_longest(void **state)
{
	(void)state;
	for (int others = 28; others <= 29; others++) {
		char message[2000];
		size_t at = (size_t)snprintf(message, sizeof(message), "%s", NS(OURS6));
		struct rte_mbuf *m;
		struct ipv6_rx ip;
		struct nd_rx rx;
		struct bytes in;

		for (int i = 0; i < others; i++)
			at += (size_t)snprintf(message + at, sizeof(message) - at, "0e 01 000000000000 ");
		snprintf(message + at, sizeof(message) - at, SLLA);
		in = ip6_frame("", PEER6 ASKED6, 58, 255, message);
		m = packet_crumbs(pool, in.b, in.len);
		memset(&counters, 0, sizeof(counters));
		assert_true(ipv6_rx(&own, m, 0, true, &counters, &ip));
		assert_int_equal(nd_rx(&own, m, &ip, peer, &counters, &rx), others == 28);
		assert_int_equal(counters.rx_nd_invalid, others == 29);
		if (others == 28)
			assert_memory_equal(rx.mac, hex("020000000009").b, 6);
		rte_pktmbuf_free(m);
	}
}

static void
assert_made(struct rte_mbuf *m, const char *eth, const char *src_dst, const char *message)
{
	struct bytes want = ip6_frame(eth, src_dst, 58, 255, message);

	assert_non_null(m);
	want.b[15] = 0; /* no ECN on ND */
	assert_int_equal(m->pkt_len, want.len);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), want.b, want.len);
	rte_pktmbuf_free(m);
}

#define E(dst) dst "020000000001 86dd"

static void
test_frames(void **state)
{
	struct bytes src = hex(OURS6), target = hex(PEER6), in;
	struct rte_mbuf *m;
	struct ipv6_rx ip;
	struct nd_rx rx;

	(void)state;
	assert_made(nd_solicit(ours, pool, src.b, target.b, NULL), E("3333ff000002"),
		    OURS6 "ff02 0000 0000 0000 0000 0001 ff00 0002", NS(PEER6) "01 01 020000000001");
	assert_made(nd_solicit(ours, pool, src.b, target.b, peer), E("020000000002"), OURS6 PEER6,
		    NS(PEER6) "01 01 020000000001");
	assert_made(nd_solicit(ours, pool, ipv6_any, src.b, NULL), E("3333ff000001"), ANY6 ASKED6, NS(OURS6));
	assert_made(nd_announce(ours, pool, src.b), E("333300000001"), OURS6 ALL_NODES6,
		    NA("20", OURS6) "02 01 020000000001");
	for (int probe = 0; probe < 2; probe++) {
		in = ip6_frame("", probe ? ANY6 ASKED6 : PEER6 ASKED6, 58, 255, probe ? NS(OURS6) : NS(OURS6) SLLA);
		m = packet(pool, in.b, in.len);
		assert_true(ipv6_rx(&own, m, 0, true, &counters, &ip));
		assert_true(nd_rx(&own, m, &ip, peer, &counters, &rx));
		if (probe)
			assert_made(nd_answer(ours, pool, &ip, &rx), E("333300000001"), OURS6 ALL_NODES6,
				    NA("20", OURS6) "02 01 020000000001");
		else
			assert_made(nd_answer(ours, pool, &ip, &rx), E("020000000009"), OURS6 PEER6,
				    NA("60", OURS6) "02 01 020000000001");
		rte_pktmbuf_free(m);
	}
	mbufpool_set_fuse(pool, 1);
	assert_null(nd_announce(ours, pool, src.b));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_meaning), cmocka_unit_test(test_longest),
					   cmocka_unit_test(test_frames)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
