/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth_hdr.h"

#include "net_test.h"

static void
test_parse(void **state)
{
	static const struct {
		const char *name, *octets;
		uint16_t type, vlan;
		uint32_t len;
	} rows[] = {
		{"plain", "020000000001 020000000002 0800", 0x0800, 0, 14},
		{"tag 0 with a priority", "020000000001 020000000002 8100 e000 0800", 0x0800, 0, 18},
		{"tag 5", "020000000001 020000000002 8100 6005 0806", 0x0806, 5, 18},
		{"802.1ad tag", "020000000001 020000000002 88a8 0fff 0800", 0x0800, 0xfff, 18},
		{"two tags: the inner one is a type that nobody knows", "020000000001 020000000002 8100 0000 8100 0001",
		 0x8100, 0, 18},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = hex(rows[i].octets);
		struct eth_hdr h;

		assert_true(eth_hdr_parse(in.b, in.len, &h));
		assert_int_equal(h.type, rows[i].type);
		assert_int_equal(h.vlan, rows[i].vlan);
		assert_int_equal(h.len, rows[i].len);
		assert_memory_equal(h.dst, in.b, 6);
		assert_memory_equal(h.src, in.b + 6, 6);
		for (uint32_t len = 0; len < rows[i].len; len++)
			assert_false(eth_hdr_parse(in.b, len, &h));
	}
}

static void
test_emit(void **state)
{
	struct bytes want = hex("0200000000aa 0200000000bb 86dd");
	uint8_t out[ETH_HDR_LEN];

	(void)state;
	eth_hdr_emit(out, want.b, want.b + 6, 0x86dd);
	assert_memory_equal(out, want.b, ETH_HDR_LEN);
	eth_hdr_set_dst(out, want.b + 6);
	assert_memory_equal(out, hex("0200000000bb 0200000000bb 86dd").b, ETH_HDR_LEN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse), cmocka_unit_test(test_emit)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
