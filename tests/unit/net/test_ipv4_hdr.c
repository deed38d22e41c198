/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv4_hdr.h"

#include "net_test.h"

static void
test_parse(void **state)
{
	struct bytes in = hex("4f 03 0123 4567 2001 40 06 89ab c0a80001 0a000002");
	struct ipv4_hdr h;

	(void)state;
	assert_true(ipv4_hdr_parse(in.b, in.len, &h));
	assert_int_equal(h.version, 4);
	assert_int_equal(h.hdr_len, 60);
	assert_int_equal(h.ecn, 3);
	assert_int_equal(h.total_len, 0x123);
	assert_int_equal(h.ttl, 64);
	assert_int_equal(h.proto, 6);
	assert_int_equal(h.src, 0xc0a80001);
	assert_int_equal(h.dst, 0x0a000002);
	assert_true(h.fragment);
	assert_int_equal(h.frag_off, 1);
	for (uint32_t len = 0; len < IPV4_HDR_LEN; len++)
		assert_false(ipv4_hdr_parse(in.b, len, &h));
}

/* RFC 791 §3.1: bit 0 reserved, bit 1 DF, bit 2 MF, then the offset. */
static void
test_what_is_a_fragment(void **state)
{
	static const struct {
		uint16_t field;
		bool fragment;
	} rows[] = {{0x0000, false}, {0x4000, false}, {0x8000, false}, {0x2000, true},
		    {0x0001, true},  {0x1fff, true},  {0x6000, true},  {0x4001, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = hex("45 00 0014 0000 0000 40 06 0000 c0a80001 0a000002");
		struct ipv4_hdr h;

		in.b[6] = (uint8_t)(rows[i].field >> 8);
		in.b[7] = (uint8_t)rows[i].field;
		assert_true(ipv4_hdr_parse(in.b, in.len, &h));
		assert_int_equal(h.fragment, rows[i].fragment);
	}
}

/* Don't fragment, TTL 64, identification 0; the checksum is the known one of these octets or left to the port. */
static void
test_emit(void **state)
{
	struct ipv4_hdr h = {
		.ecn = 2, .ttl = IPV4_TTL, .proto = 6, .total_len = 1500, .src = 0xc0a80001, .dst = 0xc0a800c7};
	struct bytes want = hex("45 02 05dc 0000 4000 40 06 0000 c0a80001 c0a800c7");
	uint8_t out[IPV4_HDR_LEN];

	(void)state;
	ipv4_hdr_emit(out, &h, false);
	assert_memory_equal(out, want.b, IPV4_HDR_LEN);
	slow_cksum_put(want.b, 0, IPV4_HDR_LEN, 10);
	ipv4_hdr_emit(out, &h, true);
	assert_memory_equal(out, want.b, IPV4_HDR_LEN);
	assert_int_equal(slow_sum(out, IPV4_HDR_LEN), 0xffff);
}

/* RFC 1624 §3: what is put right is what would have been summed, also where the checksum is 0 or was. */
static void
test_another_length(void **state)
{
	static const uint32_t src[] = {0xc0a80001, 0x00000000, 0xffffffff, 0x3a19c0a8};

	(void)state;
	for (size_t s = 0; s < sizeof(src) / sizeof(src[0]); s++)
		for (uint32_t to = 20; to < 65536; to += 7) {
			struct ipv4_hdr h = {.ttl = IPV4_TTL, .proto = 6, .src = src[s], .dst = 0x0a000002};
			uint8_t out[IPV4_HDR_LEN], want[IPV4_HDR_LEN];

			for (int with_cksum = 0; with_cksum < 2; with_cksum++) {
				h.total_len = (uint16_t)(to * 31);
				ipv4_hdr_emit(out, &h, with_cksum);
				ipv4_hdr_set_total_len(out, (uint16_t)to, with_cksum);
				h.total_len = (uint16_t)to;
				ipv4_hdr_emit(want, &h, with_cksum);
				assert_memory_equal(out, want, IPV4_HDR_LEN);
			}
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_what_is_a_fragment),
		cmocka_unit_test(test_emit),
		cmocka_unit_test(test_another_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
