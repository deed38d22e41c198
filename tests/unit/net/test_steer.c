/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash against the verification suite that vendors of NICs use (Microsoft, "Verifying the RSS hash calculation"),
 * and against DPDK's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <iwarp/connect.h>
#include <rte_thash.h>

#include "steer.h"

static const uint8_t key[STEER_KEY] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
				       0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
				       0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
				       0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

static const struct row {
	const char *from, *to;
	uint16_t from_port, to_port;
	uint32_t hash;
} rows[] = {
	{"66.9.149.187", "161.142.100.80", 2794, 1766, 0x51ccc178},
	{"199.92.111.2", "65.69.140.83", 14230, 4739, 0xc626b0ea},
	{"24.19.198.95", "12.22.207.184", 12898, 38024, 0x5c2b394a},
	{"38.27.205.30", "209.142.163.6", 48228, 2217, 0xafc7327f},
	{"153.39.163.191", "202.188.127.2", 44251, 1303, 0x10e828a2},
	{"3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766, 0x40207d3d},
	{"3ffe:501:8::260:97ff:fe40:efab", "ff02::1", 14230, 4739, 0xdde51bbf},
	{"3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", 44251, 38024, 0x02d1feef},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static struct iw_addr
addr(const char *text, uint16_t port)
{
	struct iw_addr a = {.port = 0};

	assert_int_equal(iw_addr_parse(text, &a), 0);
	a.port = port;
	return a;
}

/* A table as long as it may be shows nine bits of the hash. */
static void
test_verification_suite(void **state)
{
	struct steer s;

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		struct iw_addr from = addr(rows[i].from, rows[i].from_port), to = addr(rows[i].to, rows[i].to_port);

		for (uint32_t n = 1; n <= STEER_MAX; n += 7)
			for (uint32_t entries = 1; entries <= STEER_TABLE; entries *= 2) {
				steer_init(&s, key, n, entries);
				assert_int_equal(steer_home(&s, &from, &to), rows[i].hash % entries % n);
			}
	}
}

/* RFC 4291's scopes are not in a packet. */
static void
test_scope_does_not_count(void **state)
{
	struct iw_addr from = addr("fe80::1%3", 1), to = addr("fe80::2", 2), plain = addr("fe80::1", 1);
	struct steer s;

	(void)state;
	steer_init(&s, key, 64, STEER_TABLE);
	assert_int_equal(steer_home(&s, &from, &to), steer_home(&s, &plain, &to));
}

static void
test_as_dpdk_does(void **state)
{
	uint32_t words[9], seed = 1;
	uint8_t octets[36];

	(void)state;
	for (int round = 0; round < 1000; round++) {
		uint32_t len = round % 2 ? 36 : 12;

		for (uint32_t i = 0; i < len; i++)
			octets[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
		for (uint32_t i = 0; i < len / 4; i++)
			words[i] = (uint32_t)octets[4 * i] << 24 | (uint32_t)octets[4 * i + 1] << 16 |
				   (uint32_t)octets[4 * i + 2] << 8 | octets[4 * i + 3];
		assert_int_equal(steer_hash(key, octets, len), rte_softrss(words, len / 4, key));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verification_suite),
		cmocka_unit_test(test_scope_does_not_count),
		cmocka_unit_test(test_as_dpdk_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
