/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* RFC 5040 Fig. 4 (opcode, tagged, QN, Invalidate, solicited), Fig. 5 to 7 for what follows the DDP header; RFC 7306
 * Fig. 2, 4, 6 and 7. */
static const struct {
	bool tagged;
	uint8_t qn;
	uint16_t min, max;
	bool single, takes_recv, invalidates, solicited;
	uint8_t wc, rx_wc;
} expected[12] = {
	{true, 0, 14, 65535, false, false, false, false, IW_WC_RDMA_WRITE, RDMAP_OPS_WC_NONE},
	{false, 1, 46, 46, true, false, false, false, IW_WC_RDMA_READ, RDMAP_OPS_WC_NONE},
	{true, 0, 14, 65535, false, false, false, false, RDMAP_OPS_WC_NONE, IW_WC_RDMA_READ},
	{false, 0, 18, 65535, false, true, false, false, IW_WC_SEND, IW_WC_RECV},
	{false, 0, 18, 65535, false, true, true, false, IW_WC_SEND, IW_WC_RECV},
	{false, 0, 18, 65535, false, true, false, true, IW_WC_SEND, IW_WC_RECV},
	{false, 0, 18, 65535, false, true, true, true, IW_WC_SEND, IW_WC_RECV},
	{false, 2, 18, 65535, true, false, false, false, RDMAP_OPS_WC_NONE, RDMAP_OPS_WC_NONE},
	{false, 0, 18, 65535, true, true, false, false, IW_WC_IMM, IW_WC_RECV},
	{false, 0, 18, 65535, true, true, false, true, IW_WC_IMM, IW_WC_RECV},
	{false, 1, 70, 70, true, false, false, false, RDMAP_OPS_WC_NONE, RDMAP_OPS_WC_NONE},
	{false, 3, 30, 30, true, false, false, false, RDMAP_OPS_WC_NONE, RDMAP_OPS_WC_NONE},
};

static void
test_rows(void **state)
{
	for (uint8_t op = 0; op < 12; op++) {
		const struct rdmap_op *row = rdmap_ops_get(op);

		assert_true(row->known);
		assert_int_equal(row->tagged, expected[op].tagged);
		assert_int_equal(row->qn, expected[op].qn);
		assert_int_equal(row->ulpdu_min, expected[op].min);
		assert_int_equal(row->ulpdu_max, expected[op].max);
		assert_int_equal(row->single, expected[op].single);
		assert_int_equal(row->takes_recv, expected[op].takes_recv);
		assert_int_equal(row->invalidates, expected[op].invalidates);
		assert_int_equal(row->solicited, expected[op].solicited);
		assert_int_equal(row->wc, expected[op].wc);
		assert_int_equal(row->rx_wc, expected[op].rx_wc);
	}
}

/* R2: 12 to 15 are unknown; every opcode has a row and a name of its own. */
static void
test_R2_unknown(void **state)
{
	for (uint8_t op = 0; op < 16; op++) {
		assert_int_equal(rdmap_ops_get(op)->known, op < 12);
		assert_non_null(rdmap_ops_get(op)->name);
		for (uint8_t other = 0; other < op; other++)
			assert_string_not_equal(rdmap_ops_get(op)->name, rdmap_ops_get(other)->name);
	}
	assert_int_equal(RDMAP_OP_MAX, 16);
	assert_ptr_equal(rdmap_ops_get(0xf3), rdmap_ops_get(3)); /* 4 bits */
}

static void
test_enum(void **state)
{
	assert_int_equal(RDMAP_OP_WRITE, 0);
	assert_int_equal(RDMAP_OP_READ_REQ, 1);
	assert_int_equal(RDMAP_OP_READ_RESP, 2);
	assert_int_equal(RDMAP_OP_SEND, 3);
	assert_int_equal(RDMAP_OP_SEND_INV, 4);
	assert_int_equal(RDMAP_OP_SEND_SE, 5);
	assert_int_equal(RDMAP_OP_SEND_SE_INV, 6);
	assert_int_equal(RDMAP_OP_TERMINATE, 7);
	assert_int_equal(RDMAP_QN_SEND, 0);
	assert_int_equal(RDMAP_QN_READ_REQ, 1);
	assert_int_equal(RDMAP_QN_TERMINATE, 2);
	assert_int_equal(RDMAP_QN_ATOMIC_RESP, 3);
	assert_int_equal(RDMAP_OP_IMM, 8);
	assert_int_equal(RDMAP_OP_IMM_SE, 9);
	assert_int_equal(RDMAP_OP_ATOMIC_REQ, 10);
	assert_int_equal(RDMAP_OP_ATOMIC_RESP, 11);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_R2_unknown),
		cmocka_unit_test(test_enum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
