/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv6_ext.h"

#include "ipv6_hdr.h"
#include "net6_test.h"

#define PAD "01 04 00000000 "

static struct rte_mempool *pool;

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("ext", TEST_MAX, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

static struct net_counters counters;

/* RFC 8200 §4, RFC 5095, RFC 6946: each header by itself, in rows, out of order, cut. */
static void
test_each_by_name(void **state)
{
	static const struct {
		uint8_t next;
		const char *octets;
		uint8_t proto;
		uint32_t skipped;
		const uint64_t *counter; /* NULL: taken */
	} rows[] = {
		{6, "", 6, 0, NULL},
		{58, "", 58, 0, NULL},
		{17, "", 17, 0, NULL},
		{0, "06 00" PAD, 6, 8, NULL},
		{60, "06 00" PAD, 6, 8, NULL},
		{43, "06 00 00 00 00000000", 6, 8, NULL},
		{43, "06 00 fd 00 00000000", 6, 8, NULL},
		{44, "06 00 0000 12345678", 6, 8, NULL},
		{0, "3c 00" PAD "2b 00" PAD "2c 00 00 00 00000000 06 00 0000 12345678", 6, 32, NULL},
		{43, "06 00 02 01 00000000", 0, 0, &counters.rx_ipv6_routing},
		{44, "06 00 0001 12345678", 0, 0, &counters.rx_ipv6_fragment},
		{44, "06 00 05a0 12345678", 0, 0, &counters.rx_ipv6_fragment},
		{0, "06 00 c2 04 00010000", 0, 0, &counters.rx_ipv6_option},
		{60, "06 00 c9 04 00000000", 0, 0, &counters.rx_ipv6_option},
		{60, "00 00" PAD "06 00" PAD, 0, 0, &counters.rx_ipv6_ext_order},
		{50, "00000000 00000000", 0, 0, &counters.rx_ipv6_ext_unknown},
		{51, "06 01 0000 00000000", 0, 0, &counters.rx_ipv6_ext_unknown},
		{135, "3b 00 0000 00000000", 0, 0, &counters.rx_ipv6_ext_unknown},
		{139, "3b 00 0000 00000000", 0, 0, &counters.rx_ipv6_ext_unknown},
		{140, "3b 00 0000 00000000", 0, 0, &counters.rx_ipv6_ext_unknown},
		{59, "", 0, 0, &counters.rx_ipv6_no_next},
		{0, "3b 00" PAD, 0, 0, &counters.rx_ipv6_no_next},
		{0, "", 0, 0, &counters.rx_ipv6_ext_short},
		{0, "06 00 01 03 000000", 0, 0, &counters.rx_ipv6_ext_short},
		{0, "06 01" PAD, 0, 0, &counters.rx_ipv6_ext_short},
		{60, "3c 00" PAD "3c 00" PAD "3c 00" PAD "3c 00" PAD "3c 00" PAD "3c 00" PAD "06 00" PAD, 0, 0,
		 &counters.rx_ipv6_ext_long},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = hex(rows[i].octets);

		for (uint32_t cut = 0; cut <= in.len; cut++) {
			struct rte_mbuf *m = packet_cut(pool, in.b, in.len, cut);
			uint32_t off = 0, len = in.len;
			uint8_t next = rows[i].next;
			bool ok;

			memset(&counters, 0, sizeof(counters));
			ok = ipv6_ext_skip(m, &next, &off, &len, &counters);
			if (ok != !rows[i].counter || (rows[i].counter && *rows[i].counter != 1))
				fail_msg("row %zu cut %u", i, cut);
			if (ok) {
				assert_int_equal(next, rows[i].proto);
				assert_int_equal(off, rows[i].skipped);
				assert_int_equal(len, in.len - rows[i].skipped);
			}
			rte_pktmbuf_free(m);
		}
	}
}

/* What stands behind the packet in its frame is not the header's. */
static void
test_packet_ends_before_its_frame(void **state)
{
	struct bytes in = hex("06 01" PAD "00000000 00000000");
	struct rte_mbuf *m = packet(pool, in.b, in.len);

	(void)state;
	for (uint32_t cut = 0; cut <= in.len; cut++) {
		uint32_t off = 0, len = in.len - cut;
		uint8_t next = 60;

		memset(&counters, 0, sizeof(counters));
		assert_int_equal(ipv6_ext_skip(m, &next, &off, &len, &counters), cut == 0);
		assert_int_equal(counters.rx_ipv6_ext_short, cut != 0);
	}
	rte_pktmbuf_free(m);
}

/* Exactly as long as we look, and 8 octets more. */
static void
test_longest(void **state)
{
	(void)state;
	for (uint32_t units = 31; units <= 32; units++) {
		struct bytes in = {.len = (units + 1) * 8, .b = {6, (uint8_t)units}};
		struct rte_mbuf *m = packet(pool, in.b, in.len);
		uint32_t off = 0, len = in.len;
		uint8_t next = 60;

		memset(&counters, 0, sizeof(counters));
		assert_int_equal(ipv6_ext_skip(m, &next, &off, &len, &counters), units == 31);
		assert_int_equal(counters.rx_ipv6_ext_long, units == 32);
		rte_pktmbuf_free(m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_by_name),
		cmocka_unit_test(test_packet_ends_before_its_frame),
		cmocka_unit_test(test_longest),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
