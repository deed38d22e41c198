/* SPDX-License-Identifier: BSD-3-Clause */
#include "arp_hdr.h"

#include "net_test.h"

#define SAMPLE "0001 0800 06 04 0002 020000000002 0a000002 020000000001 0a000001"

static void
test_parse_and_emit(void **state)
{
	struct bytes in = hex(SAMPLE);
	uint8_t out[ARP_HDR_LEN];
	struct arp_hdr h;

	(void)state;
	assert_true(arp_hdr_parse(in.b, in.len, &h));
	assert_int_equal(h.op, ARP_OP_REPLY);
	assert_int_equal(h.sender_ip, 0x0a000002);
	assert_int_equal(h.target_ip, 0x0a000001);
	assert_memory_equal(h.sender_mac, hex("020000000002").b, 6);
	assert_memory_equal(h.target_mac, hex("020000000001").b, 6);
	arp_hdr_emit(out, &h);
	assert_memory_equal(out, in.b, ARP_HDR_LEN);
	for (uint32_t len = 0; len < ARP_HDR_LEN; len++)
		assert_false(arp_hdr_parse(in.b, len, &h));
}

/* RFC 826: hardware and protocol space and both lengths decide whether it is for us to read. */
static void
test_other_spaces(void **state)
{
	(void)state;
	for (uint32_t at = 0; at < 6; at++) {
		struct bytes in = hex(SAMPLE);
		struct arp_hdr h;

		in.b[at] ^= 0x10;
		assert_false(arp_hdr_parse(in.b, in.len, &h));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse_and_emit), cmocka_unit_test(test_other_spaces)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
