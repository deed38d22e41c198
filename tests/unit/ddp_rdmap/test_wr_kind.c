/* SPDX-License-Identifier: BSD-3-Clause */
#include "wr_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NONE RDMAP_OP_MAX

/* What each request begins with on the wire, plain and with a solicited event (RFC 5040 §1.2, §4.1; RFC 7306 §5.2,
 * §6.3); what it may carry and ask for. */
static const struct {
	uint8_t opcode, wire, wire_se, wc, data;
	bool inl, remote, asks, se;
} expected[] = {
	{IW_WR_SEND, 3, 5, IW_WC_SEND, WR_DATA_SOURCE, true, false, false, true},
	{IW_WR_SEND_INV, 4, 6, IW_WC_SEND, WR_DATA_SOURCE, true, false, false, true},
	{IW_WR_RDMA_WRITE, 0, 0, IW_WC_RDMA_WRITE, WR_DATA_SOURCE, true, true, false, false},
	{IW_WR_RDMA_READ, 1, 1, IW_WC_RDMA_READ, WR_DATA_SINK, false, true, true, false},
	{IW_WR_RDMA_READ_INV, 1, 1, IW_WC_RDMA_READ, WR_DATA_SINK, false, true, true, false},
	{IW_WR_IMM, 8, 9, IW_WC_IMM, WR_DATA_NONE, false, false, false, true},
	{IW_WR_RDMA_WRITE_IMM, 0, 0, IW_WC_RDMA_WRITE, WR_DATA_SOURCE, true, true, false, true},
	{IW_WR_FETCH_ADD, 10, 10, IW_WC_FETCH_ADD, WR_DATA_WORD, false, true, true, false},
	{IW_WR_CMP_SWAP, 10, 10, IW_WC_CMP_SWAP, WR_DATA_WORD, false, true, true, false},
	{IW_WR_LOCAL_INV, NONE, NONE, IW_WC_LOCAL_INV, WR_DATA_NONE, false, false, false, false},
	{IW_WR_FAST_REG, NONE, NONE, IW_WC_FAST_REG, WR_DATA_NONE, false, false, false, false},
	{IW_WR_BIND_MW, NONE, NONE, IW_WC_BIND_MW, WR_DATA_NONE, false, false, false, false},
};

static void
test_rows(void **state)
{
	assert_int_equal(WR_KINDS, sizeof(expected) / sizeof(expected[0]));
	for (uint32_t i = 0; i < WR_KINDS; i++) {
		const struct wr_kind *k = wr_kind_get(expected[i].opcode);

		assert_int_equal(expected[i].opcode, i);
		assert_int_equal(k->wire, expected[i].wire);
		assert_int_equal(k->wire_se, expected[i].wire_se);
		assert_int_equal(k->wc, expected[i].wc);
		assert_int_equal(k->data, expected[i].data);
		assert_int_equal(k->inl, expected[i].inl);
		assert_int_equal(k->remote, expected[i].remote);
		assert_int_equal(k->asks, expected[i].asks);
		assert_int_equal(k->se, expected[i].se);
		assert_int_equal(wr_kind_is_local(expected[i].opcode), expected[i].wire == NONE);
		assert_true(strlen(k->name) > 0);
	}
	assert_int_equal(wr_kind_get(IW_WR_SEND_INV)->inv, WR_INV_PEER);
	assert_int_equal(wr_kind_get(IW_WR_RDMA_READ_INV)->inv, WR_INV_OWN);
	assert_int_equal(wr_kind_get(IW_WR_LOCAL_INV)->inv, WR_INV_OWN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
