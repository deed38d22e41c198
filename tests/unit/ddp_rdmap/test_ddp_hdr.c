/* SPDX-License-Identifier: BSD-3-Clause */
#include "ddp_hdr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fpdu_hdr.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Control octets of each message, last and not last; RFC 5041 Fig. 3, 4. */
static const struct row {
	const char *name;
	uint8_t octets[DDP_HDR_MAX_LEN];
	struct ddp_hdr h;
} rows[] = {
	{"Write RTR of siw",
	 {0xc1, 0x40, 0, 0, 0, 1},
	 {.tagged = true, .last = true, .dv = 1, .rv = 1, .opcode = 0, .hdr_len = 14, .stag = 1}},
	{"Write, not last",
	 {0x81, 0x40, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 7, 8},
	 {.tagged = true, .dv = 1, .rv = 1, .opcode = 0, .hdr_len = 14, .stag = 0xdeadbeef, .to = 0x0102030405060708}},
	{"Read Response, last",
	 {0xc1, 0x42, 0, 0, 0, 2, 0xff, 0, 0, 0, 0, 0, 0, 9},
	 {.tagged = true,
	  .last = true,
	  .dv = 1,
	  .rv = 1,
	  .opcode = 2,
	  .hdr_len = 14,
	  .stag = 2,
	  .to = 0xff00000000000009}},
	{"Read Request",
	 {0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0},
	 {.last = true, .dv = 1, .rv = 1, .opcode = 1, .hdr_len = 18, .qn = 1, .msn = 7}},
	{"Send, not last",
	 {0x01, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 1, 0, 1, 0, 2},
	 {.dv = 1, .rv = 1, .opcode = 3, .hdr_len = 18, .msn = 0x80000001, .mo = 0x10002}},
	{"Send with SE and Invalidate",
	 {0x41, 0x46, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 4},
	 {.last = true, .dv = 1, .rv = 1, .opcode = 6, .hdr_len = 18, .stag = 0x12345678, .msn = 0xffffffff, .mo = 4}},
	{"Terminate",
	 {0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0},
	 {.last = true, .dv = 1, .rv = 1, .opcode = 7, .hdr_len = 18, .qn = 2, .msn = 1}},
	{"reserved bits, other versions",
	 {0x7e, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	 {.last = true, .rsvd = 15, .dv = 2, .rv = 2, .rdmap_rsvd = 3, .opcode = 15, .hdr_len = 18}},
};

static void
check(const struct row *row, const struct ddp_hdr *h)
{
	const struct ddp_hdr *w = &row->h;

	if (h->tagged != w->tagged || h->last != w->last || h->rsvd != w->rsvd || h->dv != w->dv || h->rv != w->rv ||
	    h->rdmap_rsvd != w->rdmap_rsvd || h->opcode != w->opcode || h->hdr_len != w->hdr_len)
		fail_msg("%s: control", row->name);
	if (h->stag != w->stag || h->to != w->to || h->qn != w->qn || h->msn != w->msn || h->mo != w->mo)
		fail_msg("%s: fields", row->name);
}

/* Every length: below the header it fails and reads nothing behind the octets, from there on it succeeds. */
static void
test_parse(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (uint32_t n = 0; n <= 24; n++) {
			uint8_t *copy = calloc(1, n ? n : 1);
			struct ddp_hdr h;

			memcpy(copy, rows[i].octets, n < DDP_HDR_MAX_LEN ? n : DDP_HDR_MAX_LEN);
			assert_int_equal(ddp_hdr_parse(copy, n, &h), n >= rows[i].h.hdr_len);
			if (n >= rows[i].h.hdr_len)
				check(&rows[i], &h);
			free(copy);
		}
		assert_int_equal(ddp_hdr_len(rows[i].octets[0]), rows[i].h.hdr_len);
	}
}

static void
test_emit(void **state)
{
	uint8_t out[DDP_HDR_MAX_LEN];

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(ddp_hdr_emit(&rows[i].h, out, rows[i].h.hdr_len), rows[i].h.hdr_len);
		if (memcmp(out, rows[i].octets, rows[i].h.hdr_len) != 0)
			fail_msg("%s", rows[i].name);
		assert_int_equal(ddp_hdr_emit(&rows[i].h, out, rows[i].h.hdr_len - 1u), 0);
	}
}

/* The image has two octets of zeros in front, where an FPDU has its length. */
static void
test_image(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ddp_hdr_image image = ddp_hdr_image(&rows[i].h);
		const uint8_t *octets = (const uint8_t *)&image;

		assert_memory_equal(octets, "\0\0", DDP_HDR_FRONT_LEN);
		if (memcmp(octets + DDP_HDR_FRONT_LEN, rows[i].octets, rows[i].h.hdr_len) != 0)
			fail_msg("%s", rows[i].name);
		image.word[0] |= fpdu_hdr_length_word(0x1234);
		assert_memory_equal(octets, "\x12\x34", DDP_HDR_FRONT_LEN);
	}
}

/* Lossless: all 65536 pairs of control octets come back. */
/* Only TO, or MO, is moved on: as the emitted header of the later segment, also where it wraps. */
static void
test_advance(void **state)
{
	static const uint32_t by[] = {0, 1, 1428, UINT32_MAX};
	uint8_t out[DDP_HDR_MAX_LEN], want[DDP_HDR_MAX_LEN];

	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t k = 0; k < COUNT(by); k++) {
			struct ddp_hdr h = rows[i].h;

			ddp_hdr_emit(&h, out, sizeof(out));
			ddp_hdr_advance(out, by[k]);
			h.to += h.tagged ? by[k] : 0;
			h.mo += h.tagged ? 0 : by[k];
			ddp_hdr_emit(&h, want, sizeof(want));
			assert_memory_equal(out, want, h.hdr_len);
		}
}

static void
test_every_control_pair(void **state)
{
	for (uint32_t v = 0; v < 65536; v++) {
		uint8_t in[DDP_HDR_MAX_LEN] = {
			(uint8_t)(v >> 8), (uint8_t)v, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
		uint8_t out[DDP_HDR_MAX_LEN] = {0};
		struct ddp_hdr h;

		assert_true(ddp_hdr_parse(in, sizeof(in), &h));
		assert_int_equal(ddp_hdr_emit(&h, out, sizeof(out)), h.hdr_len);
		assert_memory_equal(in, out, h.hdr_len);
	}
}

static void
test_builders(void **state)
{
	uint8_t out[DDP_HDR_MAX_LEN];
	struct ddp_hdr h = ddp_hdr_tagged(2, false, 0x0a0b0c0d, 0x1122334455667788);

	assert_int_equal(ddp_hdr_emit(&h, out, sizeof(out)), 14);
	assert_memory_equal(out, "\x81\x42\x0a\x0b\x0c\x0d\x11\x22\x33\x44\x55\x66\x77\x88", 14);
	h = ddp_hdr_untagged(4, true, 0x01020304, 0, 5, 6);
	assert_int_equal(ddp_hdr_emit(&h, out, sizeof(out)), 18);
	assert_memory_equal(out, "\x41\x44\x01\x02\x03\x04\0\0\0\0\0\0\0\x05\0\0\0\x06", 18);
	h = ddp_hdr_untagged(1, true, 0, 1, 1, 0);
	assert_int_equal(ddp_hdr_emit(&h, out, sizeof(out)), 18);
	assert_memory_equal(out, "\x41\x41\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0", 18);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_emit),
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_advance),
		cmocka_unit_test(test_every_control_pair),
		cmocka_unit_test(test_builders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
