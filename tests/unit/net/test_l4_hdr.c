/* SPDX-License-Identifier: BSD-3-Clause */
#include "l4_hdr.h"

#include "net_test.h"

#define TCP "1234 5678 9abcdef0 00000001 80 10 ffff 0000 0000"

static void
test_quote(void **state)
{
	struct bytes in = hex(TCP);
	struct l4_quote q;

	(void)state;
	assert_true(l4_hdr_quote_parse(in.b, L4_HDR_QUOTE, &q));
	assert_int_equal(q.src_port, 0x1234);
	assert_int_equal(q.dst_port, 0x5678);
	assert_int_equal(q.seq, 0x9abcdef0);
	for (uint32_t len = 0; len < L4_HDR_QUOTE; len++)
		assert_false(l4_hdr_quote_parse(in.b, len, &q));
}

/* RFC 9293 §3.1: data offset in words, the high four bits of octet 12. */
static void
test_tcp_len(void **state)
{
	struct bytes in = hex(TCP);

	(void)state;
	assert_int_equal(l4_hdr_tcp_len(in.b, in.len), 32);
	assert_int_equal(l4_hdr_tcp_len(in.b, 13), 32);
	assert_int_equal(l4_hdr_tcp_len(in.b, 12), 0);
	in.b[12] = 0x5f;
	assert_int_equal(l4_hdr_tcp_len(in.b, in.len), 20);
	in.b[12] = 0xf0;
	assert_int_equal(l4_hdr_tcp_len(in.b, in.len), 60);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_quote), cmocka_unit_test(test_tcp_len)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
