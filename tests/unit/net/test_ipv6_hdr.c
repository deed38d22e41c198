/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv6_hdr.h"

#include "net6_test.h"

/* RFC 8200 §3: every field in its place, both ways. */
static void
test_fields(void **state)
{
	struct bytes in = hex("6 b2 abcde 1234 06 40" OURS6 FAR6);
	uint8_t out[IPV6_HDR_LEN];
	struct ipv6_hdr h;

	(void)state;
	assert_true(ipv6_hdr_parse(in.b, in.len, &h));
	assert_int_equal(h.version, 6);
	assert_int_equal(h.ecn, 2); /* traffic class 0xb2 */
	assert_int_equal(h.flow, 0xabcde);
	assert_int_equal(h.payload_len, 0x1234);
	assert_int_equal(h.next, 6);
	assert_int_equal(h.hop_limit, 64);
	assert_memory_equal(h.src, hex(OURS6).b, 16);
	assert_memory_equal(h.dst, hex(FAR6).b, 16);
	ipv6_hdr_emit(out, &h);
	in.b[1] = 0x2a; /* we send no DSCP */
	in.b[0] = 0x60;
	assert_memory_equal(out, in.b, sizeof(out));
	h.payload_len = 0xfffe;
	ipv6_hdr_set_payload_len(out, 0xfffe);
	ipv6_hdr_emit(in.b, &h);
	assert_memory_equal(out, in.b, sizeof(out));
	for (uint32_t len = 0; len < IPV6_HDR_LEN; len++)
		assert_false(ipv6_hdr_parse(in.b, len, &h));
}

/* §4.3 to §4.6: length in units of 8 without the first; the fragment header has none. */
static void
test_extensions(void **state)
{
	static const struct {
		const char *octets;
		uint8_t kind, next;
		uint32_t len;
		uint8_t left;
		bool fragment;
	} rows[] = {
		{"06 00 0000 00000000", IPV6_EXT_HOP_BY_HOP, 6, 8, 0, false},
		{"3c 02 0000 00000000", IPV6_EXT_DEST_OPTIONS, 60, 24, 0, false},
		{"06 ff 0003 00000000", IPV6_EXT_ROUTING, 6, 2048, 3, true},
		{"06 ff 0000 12345678", IPV6_EXT_FRAGMENT, 6, 8, 0, false},
		{"06 00 0001 12345678", IPV6_EXT_FRAGMENT, 6, 8, 1, true},
		{"06 00 0008 12345678", IPV6_EXT_FRAGMENT, 6, 8, 8, true},
		{"06 00 0006 12345678", IPV6_EXT_FRAGMENT, 6, 8, 6, false}, /* reserved bits */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = hex(rows[i].octets);
		struct ipv6_ext e;

		assert_true(ipv6_hdr_ext_parse(in.b, in.len, rows[i].kind, &e));
		assert_int_equal(e.next, rows[i].next);
		assert_int_equal(e.len, rows[i].len);
		assert_int_equal(e.segments_left, rows[i].left);
		assert_int_equal(e.fragment, rows[i].fragment);
		assert_false(ipv6_hdr_ext_parse(in.b, 7, rows[i].kind, &e));
	}
}

/* §4.2: the two highest bits say what who does not know an option does; 00: skip it. */
static void
test_options(void **state)
{
	static const struct {
		const char *octets;
		bool ok;
	} rows[] = {
		{"0600 01 04 00000000", true},   {"0600 000000000000", true},      {"0600 05 02 0000 0100", true},
		{"0600 1e 04 00000000", true},   {"0600 3e 04 00000000", true},    {"0600 41 04 00000000", false},
		{"0600 81 04 00000000", false},  {"0600 c2 04 00010000", false},   {"0600 01 05 00000000", false},
		{"0600 01 03 000000 01", false}, {"0600 00 c9 00 0000 00", false}, {"0600 00 00 00 00 00 1e", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = hex(rows[i].octets);

		assert_int_equal(in.len, 8);
		if (ipv6_hdr_options_skippable(in.b, in.len) != rows[i].ok)
			fail_msg("row %zu", i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_extensions),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
