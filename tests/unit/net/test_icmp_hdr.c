/* SPDX-License-Identifier: BSD-3-Clause */
#include "icmp_hdr.h"

#include "net_test.h"

/* RFC 1191 §4: type 3 code 4, checksum, unused, next hop's MTU. */
static void
test_parse(void **state)
{
	struct bytes in = hex("03 04 abcd ffff 05dc");
	struct icmp_hdr h;

	(void)state;
	assert_true(icmp_hdr_parse(in.b, in.len, &h));
	assert_int_equal(h.type, ICMP_UNREACHABLE);
	assert_int_equal(h.code, ICMP_CODE_TOOBIG);
	assert_int_equal(h.mtu, 1500);
	for (uint32_t len = 0; len < ICMP_HDR_LEN; len++)
		assert_false(icmp_hdr_parse(in.b, len, &h));
}

/* RFC 792: 3, 4, 5, 11 and 12 are about a packet. */
static void
test_errors(void **state)
{
	(void)state;
	for (int type = 0; type < 256; type++)
		assert_int_equal(icmp_hdr_is_error((uint8_t)type),
				 (type >= 3 && type <= 5) || type == 11 || type == 12);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse), cmocka_unit_test(test_errors)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
