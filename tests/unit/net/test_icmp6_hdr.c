/* SPDX-License-Identifier: BSD-3-Clause */
#include "icmp6_hdr.h"

#include "net6_test.h"

static void
test_message(void **state)
{
	struct bytes in = hex("02 00 abcd 00010500");
	struct icmp6_hdr h;

	(void)state;
	assert_true(icmp6_hdr_parse(in.b, in.len, &h));
	assert_int_equal(h.type, ICMP6_TOOBIG);
	assert_int_equal(h.code, 0);
	assert_int_equal(h.mtu, 0x10500);
	for (uint32_t len = 0; len < in.len; len++)
		assert_false(icmp6_hdr_parse(in.b, len, &h));
}

#define NS "87 00 0000 00000000" PEER6
#define NA "88 00 0000 60000000" PEER6

/* RFC 4861 §4.3, §4.4, §4.6, §7.1: options are skipped by length; length 0 or beyond the end ends it. */
static void
test_neighbour(void **state)
{
	static const struct {
		const char *octets;
		bool ok;
		uint8_t flags;
		const char *mac;
	} rows[] = {
		{NS, true, 0, NULL},
		{NS "01 01 020000000009", true, 0, "020000000009"},
		{NS "0e 01 020000000008 01 01 020000000009", true, 0, "020000000009"},
		{NS "02 01 020000000009", true, 0, NULL}, /* a target's address says nothing here */
		{NA "02 01 020000000009", true, 0x60, "020000000009"},
		{NA "01 01 020000000009", true, 0x60, NULL},
		{NA "02 01 020000000009 02 01 020000000008", true, 0x60, "020000000009"},
		{NA "05 02 0000 00000000 00000000 00000000", true, 0x60, NULL},
		{NS "01 00 020000000009", false, 0, NULL},
		{NS "01 02 020000000009", false, 0, NULL},
		{NS "01 01 0200000000", false, 0, NULL},
		{NS "01", false, 0, NULL},
		{"87 01 0000 00000000" PEER6, false, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = hex(rows[i].octets);
		struct icmp6_nd nd;

		if (icmp6_hdr_nd_parse(in.b, in.len, &nd) != rows[i].ok)
			fail_msg("row %zu", i);
		if (!rows[i].ok)
			continue;
		assert_memory_equal(nd.target, hex(PEER6).b, 16);
		assert_int_equal(nd.flags, rows[i].flags);
		assert_int_equal(nd.has_mac, rows[i].mac != NULL);
		if (rows[i].mac)
			assert_memory_equal(nd.mac, hex(rows[i].mac).b, 6);
		for (uint32_t len = 0; len < ICMP6_ND_LEN; len++)
			assert_false(icmp6_hdr_nd_parse(in.b, len, &nd));
	}
}

static void
test_emit(void **state)
{
	struct icmp6_nd nd = {.type = ICMP6_ND_SOLICIT, .has_mac = true, .mac = {2, 0, 0, 0, 0, 9}};
	struct bytes want = hex(NS "01 01 020000000009");
	uint8_t out[ICMP6_ND_LEN + ICMP6_ND_OPTION];

	(void)state;
	memcpy(nd.target, hex(PEER6).b, 16);
	assert_int_equal(icmp6_hdr_nd_emit(out, &nd), 32);
	assert_memory_equal(out, want.b, 32);
	nd.type = ICMP6_ND_ADVERT;
	nd.flags = 0x60;
	want = hex("88 00 abcd 60000000" PEER6 "02 01 020000000009");
	icmp6_hdr_nd_emit(out, &nd);
	icmp6_hdr_set_cksum(out, 0xabcd);
	assert_memory_equal(out, want.b, 32);
	nd.has_mac = false;
	assert_int_equal(icmp6_hdr_nd_emit(out, &nd), 24);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_neighbour),
		cmocka_unit_test(test_emit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
