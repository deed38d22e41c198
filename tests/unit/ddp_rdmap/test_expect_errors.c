/* SPDX-License-Identifier: BSD-3-Clause */
/* The expectation table held against the RFCs' own rules and against the codecs: a row that cannot be right must not
 * wait for the day when somebody believes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "expect_errors.h"
#include "replay.h"

static const struct expect_world world = {
	.stag = {0, 0x11111101, 0x22222202, 0x33333303, 0x44444404, 0x55555505, 0x11111106, 0x77777707, 0x88888808},
	.base = {0, 0x10000, 0x20000, 0x30000, 0x40000, 0x50000, 0x10000, 0x70000, 0x80000},
};

static uint32_t
fault_at(const struct expect_row *row)
{
	return row->fault_at ? row->fault_at : row->n;
}

/* RFC 5040 Fig. 10: which types carry which copies; versions carry none. */
static void
test_copies_fit_the_code(void **state)
{
	for (size_t i = 0; i < EXPECT_ROWS; i++) {
		const struct expect_row *row = &expect_rows[i];
		const struct expect_fpdu *f = &row->fpdu[fault_at(row) - 1];
		bool version = (row->layer == 1 && row->etype == 1 && row->code == 4) ||
			       (row->layer == 1 && row->etype == 2 && row->code == 6) ||
			       (row->layer == 0 && row->etype == 2 && row->code == 5);

		if (row->n == 0 || row->n > 4 || fault_at(row) > row->n)
			fail_msg("%s %s: FPDUs", row->name, row->what);
		if (row->outcome != EXPECT_TERMINATE) {
			assert_false(row->md || row->r);
			continue;
		}
		if (!rdmap_hdr_is_defined(row->layer, row->etype, row->code))
			fail_msg("%s %s: no such code", row->name, row->what);
		if (row->md != (row->layer != 2 && !version))
			fail_msg("%s %s: M, D", row->name, row->what);
		if (row->r != (row->layer == 0 && row->etype == 1 && f->read))
			fail_msg("%s %s: R", row->name, row->what);
	}
}

/* Every row of the table that is one FPDU's doing is here. */
static void
test_no_row_is_missing(void **state)
{
	static const char *const names[] = {"F1",  "F3",  "F4",  "F5",  "F6",  "F7",  "F9",  "D1",  "D2",  "D3",
					    "D4",  "D5",  "D6",  "D7",  "D8",  "D9",  "D10", "D11", "D12", "D14",
					    "D15", "D16", "D17", "D18", "R1",  "R2",  "R3",  "R4",  "R5",  "R6",
					    "R7",  "R8",  "R9",  "R10", "R11", "R12", "R13", "R14", "R17", "R18"};
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		size_t n = 0;

		for (size_t i = 0; i < EXPECT_ROWS; i++)
			n += strcmp(expect_rows[i].name, names[k]) == 0;
		if (n == 0)
			fail_msg("%s", names[k]);
	}
}

static uint32_t
build_all(const struct expect_row *row, uint8_t *out)
{
	uint8_t *fpdu = malloc(EXPECT_FPDU_MAX);
	uint32_t len = 0;

	for (uint32_t i = 0; i < row->n; i++) {
		uint32_t n = expect_build(row, i, &world, fpdu);

		assert_int_equal((n + row->fpdu[i].missing) % 4, 0);
		memcpy(out + len, fpdu, n);
		len += n;
	}
	free(fpdu);
	return len;
}

/* Where the codecs alone can tell a fault of that FPDU, it has the row's code; where they find one in an accepted row,
 * the row is wrong. */
static bool
judge_row(const struct expect_row *row, uint8_t *octets)
{
	struct pcap_stream stream = {.octets = octets, .len = build_all(row, octets)};
	struct tally tally = {0};
	struct replay r = {.stream = &stream,
			   .crc = !(row->setup & EXPECT_CRC_OFF),
			   .reads = row->setup & EXPECT_READ ? 1 : 0,
			   .msn = {row->setup & EXPECT_MSN_WRAP ? 0xfffffffe : 0},
			   .tally = &tally};
	enum rdmap_fault fault;
	const struct rdmap_err *err;

	if (row->outcome == EXPECT_RESET || row->outcome == EXPECT_TERM_IN)
		return false;
	fault = replay_stream(&r, 0);
	if (fault == RDMAP_FAULT_NONE || (row->outcome == EXPECT_TERMINATE && tally.fpdus != fault_at(row)))
		return row->outcome == EXPECT_ACCEPT;
	err = rdmap_err_get(fault);
	if (row->outcome != EXPECT_TERMINATE || err->layer != row->layer || err->etype != row->etype ||
	    err->code != row->code || (err->copies != RDMAP_ERR_NONE) != row->md)
		fail_msg("%s %s: %s", row->name, row->what, err->name);
	return true;
}

static void
test_codecs_agree(void **state)
{
	uint8_t *octets = malloc(4 * EXPECT_FPDU_MAX);
	uint32_t judged = 0;

	for (size_t i = 0; i < EXPECT_ROWS; i++)
		judged += judge_row(&expect_rows[i], octets);
	free(octets);
	assert_true(judged > 90);
}

/* The Terminates that come in (R11 to R13) read as the rows say. */
static void
test_terminates_in(void **state)
{
	uint8_t *octets = malloc(4 * EXPECT_FPDU_MAX);

	for (size_t i = 0; i < EXPECT_ROWS; i++) {
		const struct expect_row *row = &expect_rows[i];
		struct rdmap_term t;
		bool odd = row->fpdu[0].msn != 1 || row->fpdu[0].mo != 0;

		if (row->outcome != EXPECT_TERM_IN)
			continue;
		build_all(row, octets);
		rdmap_hdr_term_parse(octets + 20, fpdu_hdr_length_parse(octets) - 18u, &t);
		if ((t.malformed || odd) != row->malformed)
			fail_msg("%s %s: malformed", row->name, row->what);
		if (row->malformed && !row->layer && !row->etype && !row->code)
			continue;
		if (t.layer != row->layer || t.etype != row->etype || t.code != row->code)
			fail_msg("%s %s: %u/%u/%02x", row->name, row->what, t.layer, t.etype, t.code);
	}
	free(octets);
}

/* The builder against golden octets of real peers. */
static void
test_builder(void **state)
{
	static const struct expect_read read = {.size = 0x0bb8, .src = EXPECT_RW};
	static const struct expect_row send = {
		.fpdu = {{EXPECT_SEND(1, 0, 16), .body = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"}}, .n = 1};
	static const struct expect_row rows = {.fpdu = {{EXPECT_UNTAGGED(0x41, 0x41, 1, 7, 0, 0), .read = &read}},
					       .n = 1};
	uint8_t *out = malloc(EXPECT_FPDU_MAX);

	assert_int_equal(expect_build(&send, 0, &world, out), 40);
	assert_memory_equal(out, "\x00\x22\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0", 20);
	assert_memory_equal(out + 36, "\x84\x60\x9a\x12", 4);
	assert_int_equal(expect_build(&rows, 0, &world, out), 52);
	assert_memory_equal(out, "\x00\x2e\x41\x41\0\0\0\0\0\0\0\x01\0\0\0\x07\0\0\0\0", 20);
	assert_memory_equal(out + 32, "\0\0\x0b\xb8\x11\x11\x11\x01\0\0\0\0\0\x01\0\0", 16);
	free(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_fit_the_code),
		cmocka_unit_test(test_no_row_is_missing),
		cmocka_unit_test(test_codecs_agree),
		cmocka_unit_test(test_terminates_in),
		cmocka_unit_test(test_builder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
