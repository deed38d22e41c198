/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose business a frame is, when several engines have the port: by kind, in one piece and in crumbs. */
#include "shown.h"

#include "net_test.h"

#define V4 "020000000001 020000000002 0800 45 00 0020 0000 "
#define ATOM "4000 40 "
#define ENDS4 " 0000 0a000002 0a000001 "
#define V6 "020000000001 020000000002 86dd 60000000 "
#define ENDS6 " ff fe80 000000000000 0000000000000002 fe80 000000000000 0000000000000001 "
#define REST " 00 00 0000 00000000 00000000"

static const struct row {
	const char *name, *octets;
	enum shown_to to;
} rows[] = {
	{"ARP", "ffffffffffff 020000000002 0806 0001 0800 06 04 0001", SHOWN_TO_ALL},
	{"ARP, tagged", "ffffffffffff 020000000002 8100 0007 0806 0001 0800 06 04 0001", SHOWN_TO_ALL},
	{"TCP", V4 ATOM "06" ENDS4 REST, SHOWN_TO_ONE},
	{"UDP", V4 ATOM "11" ENDS4 REST, SHOWN_TO_LEAD},
	{"echo request (RFC 792)", V4 ATOM "01" ENDS4 "08" REST, SHOWN_TO_LEAD},
	{"unreachable", V4 ATOM "01" ENDS4 "03" REST, SHOWN_TO_ALL},
	{"time exceeded", V4 ATOM "01" ENDS4 "0b" REST, SHOWN_TO_ALL},
	{"unreachable, behind an option of IPv4",
	 "020000000001 020000000002 0800 46 00 0024 0000 4000 40 01 0000 0a000002 0a000001 08000000 03" REST,
	 SHOWN_TO_ALL},
	{"a fragment of ICMP", V4 "2000 40 01" ENDS4 "03" REST, SHOWN_TO_LEAD},
	{"TCP over IPv6", V6 "000c 06" ENDS6 REST, SHOWN_TO_ONE},
	{"packet too big (RFC 4443)", V6 "000c 3a" ENDS6 "02" REST, SHOWN_TO_ALL},
	{"echo request (RFC 4443)", V6 "000c 3a" ENDS6 "80" REST, SHOWN_TO_LEAD},
	{"router advertisement (RFC 4861)", V6 "000c 3a" ENDS6 "86" REST, SHOWN_TO_LEAD},
	{"solicitation (RFC 4861)", V6 "000c 3a" ENDS6 "87" REST, SHOWN_TO_ALL},
	{"advertisement (RFC 4861)", V6 "000c 3a" ENDS6 "88" REST, SHOWN_TO_ALL},
	{"too big, behind options", V6 "0014 3c" ENDS6 "3a00 0104 00000000 02" REST, SHOWN_TO_ALL},
	{"options that end in the padding", V6 "0008 3c" ENDS6 "3a01 0104 00000000 0000000000000000 02" REST,
	 SHOWN_TO_ONE},
	{"TCP, behind options", V6 "0014 3c" ENDS6 "0600 0104 00000000" REST, SHOWN_TO_ONE},
	{"MLD (RFC 3810)", V6 "0014 00" ENDS6 "3a00 0502 00000000 8f" REST, SHOWN_TO_LEAD},
	{"nothing known", "020000000001 020000000002 88b5 0000", SHOWN_TO_ONE},
	{"cut in Ethernet", "020000000001 02", SHOWN_TO_ONE},
	{"cut in IPv4", "020000000001 020000000002 0800 45 00 0020", SHOWN_TO_ONE},
	{"cut in ICMP", V4 ATOM "01" ENDS4 "03 00", SHOWN_TO_ONE},
	{"cut in IPv6", V6 "000c", SHOWN_TO_ONE},
	{"cut in ICMPv6", V6 "0002 3a" ENDS6 "02 00", SHOWN_TO_ONE},
	{"nothing", "", SHOWN_TO_ONE},
};

static void
test_rows(void **state)
{
	struct rte_mempool *pool = mbufpool_create("shown", TEST_MAX, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes b = hex(rows[i].octets);
		struct rte_mbuf *m[] = {packet(pool, b.b, b.len), packet_crumbs(pool, b.b, b.len)};

		for (int k = 0; k < 2; k++) {
			if (shown_to(m[k]) != rows[i].to)
				fail_msg("%s", rows[i].name);
			rte_pktmbuf_free(m[k]);
		}
	}
	mbufpool_destroy(pool);
}

/* Whatever the octets are, nothing behind them is read. */
static void
test_any_length(void **state)
{
	struct rte_mempool *pool = mbufpool_create("shown", TEST_MAX, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes b = hex(rows[i].octets);

		for (uint32_t len = 0; len <= b.len; len++) {
			struct rte_mbuf *m = packet(pool, b.b, len);

			assert_true(shown_to(m) <= SHOWN_TO_ALL);
			rte_pktmbuf_free(m);
		}
	}
	mbufpool_destroy(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_any_length)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
