/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record.h"

static const struct record sample = {.kind = RECORD_RUN,
				     .verb = 2,
				     .test = 1,
				     .size = 0x01020304,
				     .tx_depth = 0x11121314,
				     .rx_depth = 0x21222324,
				     .inline_size = 0x31323334,
				     .qps = 0x41424344,
				     .cq_mod = 0x45464748,
				     .outs = 0x494a4b4c,
				     .flags = 0x4d4e4f50,
				     .count = UINT64_C(0x9192939495969798),
				     .bad = UINT64_C(0xa1a2a3a4a5a6a7a8),
				     .rkey = 0x51525354,
				     .iters = UINT64_C(0x6162636465666768),
				     .in_addr = UINT64_C(0x7172737475767778),
				     .credit_addr = UINT64_C(0x8182838485868788)};

static void
test_there_and_back(void **state)
{
	static const uint8_t head[] = {'i', 'w', 'p', 'f', 3, RECORD_RUN, 2, 1, 1, 2, 3, 4};
	uint8_t wire[RECORD_LEN];
	struct record r;

	(void)state;
	record_emit(&sample, wire);
	assert_memory_equal(wire, head, sizeof(head));
	memset(&r, 0, sizeof(r));
	assert_true(record_parse(wire, RECORD_LEN, &r));
	assert_true(r.kind == sample.kind && r.verb == sample.verb && r.test == sample.test && r.size == sample.size &&
		    r.tx_depth == sample.tx_depth && r.rx_depth == sample.rx_depth &&
		    r.inline_size == sample.inline_size && r.qps == sample.qps && r.rkey == sample.rkey &&
		    r.iters == sample.iters && r.in_addr == sample.in_addr && r.credit_addr == sample.credit_addr &&
		    r.cq_mod == sample.cq_mod && r.outs == sample.outs && r.flags == sample.flags &&
		    r.count == sample.count && r.bad == sample.bad);
}

static void
test_something_else(void **state)
{
	uint8_t wire[RECORD_LEN];
	struct record r;

	(void)state;
	record_emit(&sample, wire);
	assert_false(record_parse(wire, RECORD_LEN - 1, &r));
	assert_false(record_parse(wire, RECORD_LEN + 1, &r));
	assert_false(record_parse(wire, 0, &r));
	for (int i = 0; i < 5; i++) { /* magic and version */
		wire[i] ^= 1;
		assert_false(record_parse(wire, RECORD_LEN, &r));
		wire[i] ^= 1;
	}
	assert_true(record_parse(wire, RECORD_LEN, &r));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_something_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
