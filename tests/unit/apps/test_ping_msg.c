/* SPDX-License-Identifier: BSD-3-Clause */
/* rping's message and data, as librdmacm's examples/rping.c has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ping_msg.h"

static void
test_message_on_the_wire(void **state)
{
	static const uint8_t wire[PING_MSG_LEN] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
						   0xde, 0xad, 0xbe, 0xef, 0x00, 0x01, 0x00, 0x40};
	struct ping_msg msg = {.addr = UINT64_C(0x0123456789abcdef), .rkey = 0xdeadbeef, .len = 0x10040}, back;
	uint8_t out[PING_MSG_LEN];

	(void)state;
	ping_msg_emit(&msg, out);
	assert_memory_equal(out, wire, sizeof(wire));
	ping_msg_parse(wire, &back);
	assert_true(back.addr == msg.addr && back.rkey == msg.rkey && back.len == msg.len);
}

static void
test_data_of_a_round(void **state)
{
	char buf[128];

	(void)state;
	ping_msg_fill(buf, 64, 0);
	assert_string_equal(buf, "rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr");
	ping_msg_fill(buf, 20, 1);
	assert_string_equal(buf, "rdma-ping-1: BCDEFG");
	/* 58 letters, A to z; then A again. */
	ping_msg_fill(buf, 20, 57);
	assert_string_equal(buf, "rdma-ping-57: zABCD");
	ping_msg_fill(buf, 20, 58);
	assert_string_equal(buf, "rdma-ping-58: ABCDE");
}

/* Every size down to one octet ends with a NUL and nothing behind it is touched. */
static void
test_small_sizes(void **state)
{
	char buf[64];

	(void)state;
	for (uint32_t size = 1; size < 40; size++) {
		memset(buf, 0x7e, sizeof(buf));
		ping_msg_fill(buf, size, UINT64_MAX);
		assert_int_equal(buf[size - 1], 0);
		for (uint32_t i = size; i < sizeof(buf); i++)
			assert_int_equal(buf[i], 0x7e);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message_on_the_wire),
		cmocka_unit_test(test_data_of_a_round),
		cmocka_unit_test(test_small_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
