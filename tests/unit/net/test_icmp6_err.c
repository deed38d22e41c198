/* SPDX-License-Identifier: BSD-3-Clause */
#include "icmp6_err.h"

#include "iw_addr.h"
#include "net6_test.h"

static struct rte_mempool *pool;
static struct net_counters counters;
static struct own_table own;

static int
setup(void **state)
{
	struct iw_addr a = addr6(GLOBAL6), four = iw_addr_from_v4(0x0a000001, 0);

	(void)state;
	pool = mbufpool_create("icmp6", TEST_MAX, 0);
	own_init(&own);
	return !own_add(&own, &four, 24, false, 0) || !own_add(&own, &a, 64, false, 0);
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

#define MAPPED(low) "0000 0000 0000 0000 0000 ffff 0a00 " low
#define QUOTE "60012345 05dc 06 01" GLOBAL6 FAR6 "1111 2222 33445566"

/* RFC 4443 §3, RFC 8201 §4: kind of each type and code, and the names of what is not obeyed. */
static void
test_kinds(void **state)
{
	static const struct {
		const char *message;
		int kind; /* -1: dropped */
		uint16_t mtu;
		const uint64_t *counter;
	} rows[] = {
		{"01 00 0000 00000000" QUOTE, NET_ICMP_SOFT, 0, NULL},
		{"01 01 0000 00000000" QUOTE, NET_ICMP_HARD, 0, NULL},
		{"01 02 0000 00000000" QUOTE, NET_ICMP_SOFT, 0, NULL},
		{"01 03 0000 00000000" QUOTE, NET_ICMP_SOFT, 0, NULL},
		{"01 04 0000 00000000" QUOTE, NET_ICMP_HARD, 0, NULL},
		{"01 05 0000 00000000" QUOTE, NET_ICMP_HARD, 0, NULL},
		{"01 06 0000 00000000" QUOTE, NET_ICMP_HARD, 0, NULL},
		{"01 07 0000 00000000" QUOTE, -1, 0, &counters.rx_icmp_unknown_code},
		{"02 00 0000 00000500" QUOTE, NET_ICMP_TOOBIG, 1280, NULL},
		{"02 00 0000 00002328" QUOTE, NET_ICMP_TOOBIG, 9000, NULL},
		{"02 00 0000 00012345" QUOTE, NET_ICMP_TOOBIG, 65535, NULL},
		{"02 00 0000 000004ff" QUOTE, -1, 0, &counters.rx_icmp6_mtu_below_min},
		{"02 00 0000 00000000" QUOTE, -1, 0, &counters.rx_icmp6_mtu_below_min},
		{"03 00 0000 00000000" QUOTE, NET_ICMP_SOFT, 0, NULL},
		{"03 02 0000 00000000" QUOTE, -1, 0, &counters.rx_icmp_unknown_code},
		{"04 00 0000 00000000" QUOTE, NET_ICMP_SOFT, 0, NULL},
		{"04 01 0000 00000006" QUOTE, NET_ICMP_HARD, 0, NULL},
		{"04 03 0000 00000000" QUOTE, -1, 0, &counters.rx_icmp_unknown_code},
		{"64 00 0000 00000000" QUOTE, -1, 0, &counters.rx_icmp_unknown_code},
		{"01 00 0000 00", -1, 0, &counters.rx_icmp_short},
		{"01 00 0000 00000000 60012345", -1, 0, &counters.rx_icmp_bad_quote},
		{"01 00 0000 00000000 45012345 05dc 06 01" GLOBAL6 FAR6 "1111 2222 33445566", -1, 0,
		 &counters.rx_icmp_bad_quote},
		{"01 00 0000 00000000 60012345 05dc 06 01" GLOBAL6 FAR6 "1111 2222 334455", -1, 0,
		 &counters.rx_icmp_bad_quote},
		{"01 00 0000 00000000 60012345 05dc 11 01" GLOBAL6 FAR6 "1111 2222 33445566", -1, 0,
		 &counters.rx_icmp_not_tcp},
		/* our IPv4 address in mapped form: IPv4's connections are none of ICMPv6's business */
		{"01 00 0000 00000000 60012345 05dc 06 01" MAPPED("0001") MAPPED("0002") "1111 2222 33445566", -1, 0,
		 &counters.rx_icmp_not_ours},
		{"01 00 0000 00000000 60012345 05dc 06 01" FAR6 GLOBAL6 "1111 2222 33445566", -1, 0,
		 &counters.rx_icmp_not_ours},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = ip6_frame("", FAR6 GLOBAL6, 58, 64, rows[i].message);
		struct rte_mbuf *m = packet_crumbs(pool, in.b, in.len);
		struct net_icmp_err err;
		struct ipv6_rx rx;
		bool ok;

		memset(&counters, 0, sizeof(counters));
		assert_true(ipv6_rx(&own, m, 0, false, &counters, &rx));
		ok = icmp6_err_rx(&own, m, &rx, &counters, &err);
		if (ok != (rows[i].kind >= 0) || (rows[i].counter && *rows[i].counter != 1))
			fail_msg("row %zu", i);
		if (ok) {
			assert_int_equal(err.kind, rows[i].kind);
			assert_int_equal(err.mtu, rows[i].mtu);
			assert_int_equal(err.seq, 0x33445566);
			assert_int_equal(err.local.port, 0x1111);
			assert_int_equal(err.remote.port, 0x2222);
			assert_memory_equal(err.local.ip, hex(GLOBAL6).b, 16);
			assert_memory_equal(err.remote.ip, hex(FAR6).b, 16);
		}
		rte_pktmbuf_free(m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
