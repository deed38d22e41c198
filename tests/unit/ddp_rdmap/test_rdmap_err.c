/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define F(name) RDMAP_FAULT_##name

/* Written down again from the tables of the RFCs, not from the list under test. */
static const struct {
	enum rdmap_fault fault;
	uint8_t layer, etype, code;
	enum rdmap_err_copies copies;
} rows[] = {
	/* RFC 5044 §8 and RFC 6581 §8 (M14 to M16, F1 to F3) */
	{F(MPA_TCP_LOST), 2, 0, 1, RDMAP_ERR_NONE},
	{F(MPA_CRC), 2, 0, 2, RDMAP_ERR_NONE},
	{F(MPA_MARKER), 2, 0, 3, RDMAP_ERR_NONE},
	{F(MPA_LENGTH), 2, 0, 3, RDMAP_ERR_NONE},
	{F(MPA_STARTUP), 2, 0, 4, RDMAP_ERR_NONE},
	{F(MPA_LOCAL), 2, 0, 5, RDMAP_ERR_NONE},
	{F(MPA_IRD), 2, 0, 6, RDMAP_ERR_NONE},
	{F(MPA_RTR), 2, 0, 7, RDMAP_ERR_NONE},
	/* RFC 5041 §7.2 (D1 to D13, R8, R9) */
	{F(DDP_LOCAL), 1, 0, 0, RDMAP_ERR_MD},
	{F(DDP_T_STAG), 1, 1, 0, RDMAP_ERR_MD},
	{F(DDP_T_BOUNDS), 1, 1, 1, RDMAP_ERR_MD},
	{F(DDP_T_STREAM), 1, 1, 2, RDMAP_ERR_MD},
	{F(DDP_T_WRAP), 1, 1, 3, RDMAP_ERR_MD},
	{F(DDP_T_VERSION), 1, 1, 4, RDMAP_ERR_NONE},
	{F(DDP_T_ACCESS), 1, 1, 0, RDMAP_ERR_MD},
	{F(DDP_U_QN), 1, 2, 1, RDMAP_ERR_MD},
	{F(DDP_U_NO_BUFFER), 1, 2, 2, RDMAP_ERR_MD},
	{F(DDP_U_MSN), 1, 2, 3, RDMAP_ERR_MD},
	{F(DDP_U_MO), 1, 2, 4, RDMAP_ERR_MD},
	{F(DDP_U_TOO_LONG), 1, 2, 5, RDMAP_ERR_MD},
	{F(DDP_U_VERSION), 1, 2, 6, RDMAP_ERR_NONE},
	{F(READ_IRD), 1, 2, 2, RDMAP_ERR_MD},
	/* RFC 5040 Fig. 9, 10 (R1 to R10, D14, D18) */
	{F(RDMAP_LOCAL), 0, 0, 0, RDMAP_ERR_NONE},
	{F(RDMAP_VERSION), 0, 2, 5, RDMAP_ERR_NONE},
	{F(RDMAP_OPCODE), 0, 2, 6, RDMAP_ERR_MD},
	{F(RDMAP_TAGGED), 0, 2, 6, RDMAP_ERR_MD},
	{F(RDMAP_OPCODE_CHANGED), 0, 2, 6, RDMAP_ERR_MD},
	{F(RDMAP_INTERLEAVED), 0, 2, 6, RDMAP_ERR_MD},
	{F(RDMAP_STREAM), 0, 2, 7, RDMAP_ERR_MD},
	{F(RDMAP_GLOBAL), 0, 2, 8, RDMAP_ERR_MD},
	{F(RDMAP_UNSPECIFIED), 0, 2, 0xff, RDMAP_ERR_MD},
	{F(READ_STAG), 0, 1, 0, RDMAP_ERR_MDR},
	{F(READ_BOUNDS), 0, 1, 1, RDMAP_ERR_MDR},
	{F(READ_ACCESS), 0, 1, 2, RDMAP_ERR_MDR},
	{F(READ_STREAM), 0, 1, 3, RDMAP_ERR_MDR},
	{F(READ_WRAP), 0, 1, 4, RDMAP_ERR_MDR},
	{F(READ_NO_LAST), 0, 2, 0xff, RDMAP_ERR_MD},
	{F(RESP_UNEXPECTED), 0, 2, 6, RDMAP_ERR_MD},
	{F(RESP_STAG), 1, 1, 0, RDMAP_ERR_MD},
	{F(RESP_TO), 1, 1, 1, RDMAP_ERR_MD},
	{F(RESP_TOO_LONG), 1, 1, 1, RDMAP_ERR_MD},
	{F(RESP_TOO_SHORT), 1, 1, 1, RDMAP_ERR_MD},
	{F(RESP_SINK_GONE), 1, 1, 0, RDMAP_ERR_MD},
	{F(INV_STAG), 0, 2, 9, RDMAP_ERR_MD},
	{F(INV_STREAM), 0, 1, 9, RDMAP_ERR_MD},
	/* RFC 7306 §5.2, §8 (R16) */
	{F(ATOMIC_ALIGN), 0, 2, 7, RDMAP_ERR_MD},
	{F(ATOMIC_CODE), 0, 2, 6, RDMAP_ERR_MD},
	{F(ATOMIC_UNEXPECTED), 1, 2, 2, RDMAP_ERR_MD},
	{F(ATOMIC_ID), 0, 2, 0xff, RDMAP_ERR_MD},
	{F(ATOMIC_NO_LAST), 0, 2, 0xff, RDMAP_ERR_MD},
	{F(IMM_LENGTH), 0, 2, 0xff, RDMAP_ERR_MD},
};

static void
test_rows(void **state)
{
	assert_int_equal(COUNT(rows), RDMAP_FAULT_MAX - 1); /* every fault is in the table */
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rdmap_err *err = rdmap_err_get(rows[i].fault);

		if (err->layer != rows[i].layer || err->etype != rows[i].etype || err->code != rows[i].code ||
		    err->copies != rows[i].copies)
			fail_msg("%s", err->name);
		assert_true(rdmap_hdr_is_defined(err->layer, err->etype, err->code));
	}
}

static void
test_names(void **state)
{
	assert_string_equal(rdmap_err_get(F(MPA_CRC))->name, "MPA_CRC");
	for (int a = 1; a < RDMAP_FAULT_MAX; a++)
		for (int b = 1; b < a; b++)
			assert_string_not_equal(rdmap_err_get(a)->name, rdmap_err_get(b)->name);
}

static const struct rdmap_read_req read_req = {1, 2, 3, 4, 5};

/* RFC 5040 Fig. 10: which copies go with which fault and which segment. */
static void
test_term_copies(void **state)
{
	struct ddp_hdr req = ddp_hdr_untagged(1, true, 0, 1, 9, 0), write = ddp_hdr_tagged(0, true, 7, 8);
	struct ddp_hdr tagged_req = ddp_hdr_tagged(1, true, 7, 8);
	struct rdmap_term t;

	for (size_t i = 0; i < COUNT(rows); i++) {
		enum rdmap_err_copies copies = rows[i].copies;

		rdmap_err_term(rows[i].fault, &req, 46, &read_req, &t);
		assert_int_equal(t.layer, rows[i].layer);
		assert_int_equal(t.etype, rows[i].etype);
		assert_int_equal(t.code, rows[i].code);
		assert_int_equal(t.has_length, copies != RDMAP_ERR_NONE);
		assert_int_equal(t.has_ddp, copies != RDMAP_ERR_NONE);
		assert_int_equal(t.has_rdmap, copies == RDMAP_ERR_MDR);
		assert_int_equal(t.seg_len, copies != RDMAP_ERR_NONE ? 46 : 0);
		rdmap_err_term(rows[i].fault, &write, 1442, NULL, &t);
		assert_int_equal(t.has_ddp, copies != RDMAP_ERR_NONE);
		assert_false(t.has_rdmap);
		/* "if possible": no segment at hand */
		rdmap_err_term(rows[i].fault, NULL, 0, NULL, &t);
		assert_false(t.has_length || t.has_ddp || t.has_rdmap);
	}
	/* R only for a real Read Request: not for a Send with Invalidate, not for a tagged one. */
	req.opcode = 4;
	rdmap_err_term(F(READ_STAG), &req, 46, &read_req, &t);
	assert_true(t.has_ddp && !t.has_rdmap);
	rdmap_err_term(F(READ_STAG), &tagged_req, 46, &read_req, &t);
	assert_true(t.has_ddp && !t.has_rdmap);
}

/* Whole payloads. */
static void
test_term_octets(void **state)
{
	struct ddp_hdr req = ddp_hdr_untagged(1, true, 0, 1, 9, 0), write = ddp_hdr_tagged(0, true, 0xdeadbeef, 0x1234);
	uint8_t out[RDMAP_HDR_TERM_MAX];
	struct rdmap_term t;

	rdmap_err_term(F(MPA_CRC), &write, 20, NULL, &t);
	assert_int_equal(rdmap_hdr_term_emit(&t, out, sizeof(out)), 4);
	assert_memory_equal(out, "\x20\x02\x00\x00", 4); /* RFC 5040 §4.8 */
	rdmap_err_term(F(DDP_T_STAG), &write, 0x22, NULL, &t);
	assert_int_equal(rdmap_hdr_term_emit(&t, out, sizeof(out)), 20);
	assert_memory_equal(out, "\x11\x00\xc0\x00\x00\x22\xc1\x40\xde\xad\xbe\xef\0\0\0\0\0\0\x12\x34", 20);
	rdmap_err_term(F(READ_BOUNDS), &req, 46, &read_req, &t);
	assert_int_equal(rdmap_hdr_term_emit(&t, out, sizeof(out)), 52);
	assert_memory_equal(out, "\x01\x01\xe0\x00\x00\x2e\x41\x41\0\0\0\0\0\0\0\x01\0\0\0\x09\0\0\0\0", 24);
	assert_memory_equal(out + 24, "\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0\0\0\0\0\x05", 28);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_term_copies),
		cmocka_unit_test(test_term_octets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
