/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_hdr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The 28 octets of the Read Request in rping-crc.pcap (RFC 5040 §4.4). */
static const uint8_t req_octets[] = {0x17, 0xf7, 0x28, 0x00, 0x00, 0x00, 0x55, 0x9a, 0x90, 0xdd,
				     0x26, 0x10, 0x00, 0x00, 0x0b, 0xb8, 0xc1, 0xb7, 0x7c, 0x00,
				     0x00, 0x00, 0x56, 0x0d, 0x4a, 0x5d, 0x42, 0xc0};
static const struct rdmap_read_req req = {.sink_stag = 0x17f72800,
					  .sink_to = 0x0000559a90dd2610,
					  .size = 3000,
					  .src_stag = 0xc1b77c00,
					  .src_to = 0x0000560d4a5d42c0};

static void
check_req(const struct rdmap_read_req *a, const struct rdmap_read_req *b)
{
	assert_int_equal(a->sink_stag, b->sink_stag);
	assert_true(a->sink_to == b->sink_to);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->src_stag, b->src_stag);
	assert_true(a->src_to == b->src_to);
}

static void
test_read_req(void **state)
{
	uint8_t out[28];

	for (uint32_t n = 0; n <= 28; n++) {
		uint8_t *copy = malloc(n ? n : 1);
		struct rdmap_read_req got;

		memcpy(copy, req_octets, n);
		assert_int_equal(rdmap_hdr_read_req_parse(copy, n, &got), n == 28);
		if (n == 28)
			check_req(&got, &req);
		free(copy);
		assert_int_equal(rdmap_hdr_read_req_emit(&req, out, n), n == 28 ? 28 : 0);
	}
	assert_memory_equal(out, req_octets, 28);
}

/* ---- Terminate ---- */

#define WRITE_HDR "\xc1\x40\xde\xad\xbe\xef\0\0\0\0\0\0\x12\x34"
#define REQ_HDR "\x41\x41\0\0\0\0\0\0\0\x01\0\0\0\x09\0\0\0\0"
#define REQ_BODY "\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0\0\0\0\0\x05"

/* RFC 5040 §4.8: its order of bits, and siw's as measured. */
static const struct term_row {
	const char *name, *octets;
	uint32_t len;
	bool swapped;
	uint8_t layer, etype, code;
	bool m, d, r;
	uint16_t seg_len;
} term_rows[] = {
	{"CRC error", "\x20\x02\0\0", 4, false, 2, 0, 2, 0, 0, 0, 0},
	{"CRC error, siw", "\x02\x02\0\0", 4, true, 2, 0, 2, 0, 0, 0, 0},
	{"short length, siw", "\x02\x03\0\0", 4, true, 2, 0, 3, 0, 0, 0, 0},
	{"IRD 2/0/06 of a correct peer: cannot be told from siw's opcode error", "\x20\x06\0\0", 4, false, 2, 0, 6, 0,
	 0, 0, 0},
	{"opcode error without copies, RFC", "\x02\x06\0\0", 4, false, 0, 2, 6, 0, 0, 0, 0},
	{"RDMAP local catastrophic, siw", "\x00\xff\0\0", 4, false, 0, 0, 0xff, 0, 0, 0, 0},
	{"unspecified, siw without copies", "\x20\xff\0\0", 4, true, 0, 2, 0xff, 0, 0, 0, 0},
	{"hardware's LLP type 3: neither order exists", "\x23\x02\0\0", 4, false, 2, 3, 2, 0, 0, 0, 0},
	{"M alone", "\x12\x02\x80\0\0\x21", 6, false, 1, 2, 2, 1, 0, 0, 0x21},
	{"D alone still has the length", "\x12\x02\x40\0\0\x21" REQ_HDR, 24, false, 1, 2, 2, 0, 1, 0, 0x21},
	{"Write to a bad STag", "\x11\x00\xc0\0\0\x22" WRITE_HDR, 20, false, 1, 1, 0, 1, 1, 0, 0x22},
	{"Write to a bad STag, siw", "\x11\x00\x03\0\0\x14" WRITE_HDR, 20, true, 1, 1, 0, 1, 1, 0, 0x14},
	{"no buffer", "\x12\x02\xc0\0\0\x2e" REQ_HDR, 24, false, 1, 2, 2, 1, 1, 0, 0x2e},
	{"no buffer, siw", "\x21\x02\x03\0\0\x1c" REQ_HDR, 24, true, 1, 2, 2, 1, 1, 0, 0x1c},
	{"opcode with copies, siw", "\x20\x06\x03\0\0\x1c" REQ_HDR, 24, true, 0, 2, 6, 1, 1, 0, 0x1c},
	{"Read of a bad STag", "\x01\x00\xe0\0\0\x2e" REQ_HDR REQ_BODY, 52, false, 0, 1, 0, 1, 1, 1, 0x2e},
	{"Read of a bad STag, siw", "\x10\x00\x07\0\0\x1c" REQ_HDR REQ_BODY, 52, true, 0, 1, 0, 1, 1, 1, 0x1c},
	{"IRD exceeded, siw", "\x20\x07\x03\0\0\x1c" REQ_HDR, 24, true, 0, 2, 7, 1, 1, 0, 0x1c},
	{"reserved bits are ignored", "\x11\x01\xd8\xff\0\x22" WRITE_HDR, 20, false, 1, 1, 1, 1, 1, 0, 0x22},
	{"reserved bits in siw's places", "\x12\x02\xc3\x00\x00\x2e" REQ_HDR, 24, false, 1, 2, 2, 1, 1, 0, 0x2e},
	{"M and D decide even where only the other order exists", "\x20\x09\xc0\x00\x00\x2e" REQ_HDR, 24, false, 2, 0,
	 9, 1, 1, 0, 0x2e},
	{"the same, siw", "\x02\x05\x03\x00\x00\x2e" REQ_HDR, 24, true, 2, 0, 5, 1, 1, 0, 0x2e},
	{"R without D", "\x01\x00\x20\0" REQ_BODY, 32, false, 0, 1, 0, 0, 0, 1, 0},
	{"tagged with R", "\x01\x00\xe0\0\0\x2e" WRITE_HDR REQ_BODY, 48, false, 0, 1, 0, 1, 1, 1, 0x2e},
};

static void
check_term(const struct term_row *row, const struct rdmap_term *t)
{
	if (t->nibbles_swapped != row->swapped || t->layer != row->layer || t->etype != row->etype ||
	    t->code != row->code)
		fail_msg("%s: order or code", row->name);
	if (t->has_length != row->m || t->has_ddp != row->d || t->has_rdmap != row->r || t->seg_len != row->seg_len)
		fail_msg("%s: copies", row->name);
	if (t->malformed)
		fail_msg("%s: malformed", row->name);
	if (row->d && t->ddp.tagged)
		assert_true(t->ddp.stag == 0xdeadbeef && t->ddp.to == 0x1234 && t->ddp.opcode == 0);
	else if (row->d)
		assert_true(t->ddp.qn == 1 && t->ddp.msn == 9 && t->ddp.opcode == 1);
	if (row->r)
		check_req(&t->read, &(struct rdmap_read_req){1, 2, 3, 4, 5});
}

static void
parse_copy(const void *octets, uint32_t n, struct rdmap_term *t)
{
	uint8_t *copy = malloc(n ? n : 1);

	memcpy(copy, octets, n);
	rdmap_hdr_term_parse(copy, n, t);
	free(copy);
}

static void
test_term_parse(void **state)
{
	struct rdmap_term t;

	for (size_t i = 0; i < COUNT(term_rows); i++) {
		parse_copy(term_rows[i].octets, term_rows[i].len, &t);
		check_term(&term_rows[i], &t);
	}
}

/* R12: truncated anywhere: malformed, no read behind the octets, and only what is whole is claimed. */
static void
test_R12_truncated(void **state)
{
	for (size_t i = 0; i < COUNT(term_rows); i++) {
		const struct term_row *row = &term_rows[i];
		uint32_t length_end = 4 + (row->m || row->d ? 2 : 0);
		uint32_t ddp_end = length_end + (row->d ? ddp_hdr_len((uint8_t)row->octets[6]) : 0);
		struct rdmap_term t;

		for (uint32_t n = 0; n < row->len; n++) {
			parse_copy(row->octets, n, &t);
			assert_true(t.malformed);
			assert_int_equal(t.has_length, row->m && n >= length_end);
			assert_int_equal(t.has_ddp, row->d && n >= ddp_end);
			assert_false(t.has_rdmap);
			if (n >= 4)
				assert_int_equal(t.code, row->code);
		}
	}
}

/* R12: octets left over, up to a payload of 64 KiB. */
static void
test_R12_too_long(void **state)
{
	uint8_t *big = calloc(1, 65535 - 18);
	struct rdmap_term t;

	for (size_t i = 0; i < COUNT(term_rows); i++) {
		memcpy(big, term_rows[i].octets, term_rows[i].len);
		rdmap_hdr_term_parse(big, term_rows[i].len + 1, &t);
		assert_true(t.malformed);
		rdmap_hdr_term_parse(big, 65535 - 18, &t);
		assert_true(t.malformed);
		assert_int_equal(t.code, term_rows[i].code);
	}
	free(big);
}

/* R12: all embedded opcodes, both forms of DDP header: nothing but the T bit is looked at. */
static void
test_R12_embedded_opcodes(void **state)
{
	for (uint32_t op = 0; op < 32; op++) {
		uint8_t octets[24] = {0x12, 0x01, 0xc0, 0, 0, 99, op & 16 ? 0xc1 : 0x41, (uint8_t)(0x40 | (op & 15))};
		struct rdmap_term t;

		parse_copy(octets, op & 16 ? 20 : 24, &t);
		assert_false(t.malformed);
		assert_true(t.has_ddp);
		assert_int_equal(t.ddp.opcode, op & 15);
		assert_int_equal(t.ddp.tagged, op >> 4);
	}
}

/* RFC order always; there and back. */
static void
test_term_emit(void **state)
{
	uint8_t out[RDMAP_HDR_TERM_MAX];

	for (size_t i = 0; i < COUNT(term_rows); i++) {
		const struct term_row *row = &term_rows[i];
		struct rdmap_term t, back;

		parse_copy(row->octets, row->len, &t);
		assert_int_equal(rdmap_hdr_term_emit(&t, out, row->len), row->len);
		assert_int_equal(out[0], row->layer << 4 | row->etype);
		assert_int_equal(out[1], row->code);
		assert_int_equal(out[2], (row->m ? 0x80 : 0) | (row->d ? 0x40 : 0) | (row->r ? 0x20 : 0));
		assert_int_equal(out[3], 0);
		assert_memory_equal(out + 4, row->octets + 4, row->len - 4);
		assert_int_equal(rdmap_hdr_term_emit(&t, out, row->len - 1), 0);
		rdmap_hdr_term_parse(out, row->len, &back);
		if (row->m || row->d)
			assert_int_equal(back.layer, row->layer);
		assert_false(back.malformed);
	}
	assert_int_equal(RDMAP_HDR_TERM_MAX, 52); /* 70 - 18: fits any MULPDU */
}

/* All 65536 triples: as many as the RFCs have. */
static void
test_is_defined(void **state)
{
	static const struct {
		uint8_t layer, etype;
		int codes;
	} groups[] = {{0, 0, 256}, {0, 1, 7}, {0, 2, 6}, {1, 0, 1}, {1, 1, 5}, {1, 2, 6}, {2, 0, 7}};
	int want[16][16] = {{0}};

	for (size_t i = 0; i < COUNT(groups); i++)
		want[groups[i].layer][groups[i].etype] = groups[i].codes;
	for (uint8_t layer = 0; layer < 16; layer++) {
		for (uint8_t etype = 0; etype < 16; etype++) {
			int n = 0;

			for (int code = 0; code < 256; code++)
				n += rdmap_hdr_is_defined(layer, etype, (uint8_t)code);
			assert_int_equal(n, want[layer][etype]);
		}
	}
	assert_false(rdmap_hdr_is_defined(0, 1, 5));
	assert_false(rdmap_hdr_is_defined(0, 2, 4));
	assert_false(rdmap_hdr_is_defined(1, 2, 0));
	assert_false(rdmap_hdr_is_defined(2, 0, 0));
	assert_false(rdmap_hdr_is_defined(2, 3, 2)); /* what some hardware sends */
}

/* RFC 7306 Fig. 4, 6, 7: what is written is read again; reserved bits are ignored; short is refused. */
static void
test_rfc7306(void **state)
{
	static const struct rdmap_atomic_req atomic = {.code = 2,
						       .id = 0x01020304,
						       .stag = 0xa1a2a3a4,
						       .to = 0x1122334455667788,
						       .data = 1,
						       .mask = 2,
						       .compare = UINT64_MAX,
						       .compare_mask = 4};
	static const struct rdmap_atomic_resp resp = {.id = 9, .original = 0x8877665544332211};
	struct rdmap_atomic_req req_back;
	struct rdmap_atomic_resp resp_back;
	uint8_t b[52];
	uint64_t imm;

	assert_int_equal(rdmap_hdr_atomic_req_emit(&atomic, b, sizeof(b)), 52);
	assert_memory_equal(b, "\0\0\0\2\1\2\3\4\xa1\xa2\xa3\xa4\x11\x22\x33\x44\x55\x66\x77\x88\0\0\0\0\0\0\0\1", 28);
	b[0] = b[1] = b[2] = 0xff;
	b[3] |= 0xf0;
	assert_true(rdmap_hdr_atomic_req_parse(b, 52, &req_back));
	assert_true(req_back.code == atomic.code && req_back.id == atomic.id && req_back.stag == atomic.stag &&
		    req_back.to == atomic.to && req_back.data == atomic.data && req_back.mask == atomic.mask &&
		    req_back.compare == atomic.compare && req_back.compare_mask == atomic.compare_mask);
	assert_false(rdmap_hdr_atomic_req_parse(b, 51, &req_back));
	assert_int_equal(rdmap_hdr_atomic_req_emit(&atomic, b, 51), 0);
	assert_int_equal(rdmap_hdr_atomic_resp_emit(&resp, b, 12), 12);
	assert_memory_equal(b, "\0\0\0\x09\x88\x77\x66\x55\x44\x33\x22\x11", 12);
	assert_true(rdmap_hdr_atomic_resp_parse(b, 12, &resp_back));
	assert_int_equal(resp_back.id, 9);
	assert_true(resp_back.original == resp.original);
	assert_false(rdmap_hdr_atomic_resp_parse(b, 11, &resp_back));
	assert_int_equal(rdmap_hdr_atomic_resp_emit(&resp, b, 11), 0);
	assert_int_equal(rdmap_hdr_imm_emit(0x0102030405060708, b, 8), 8);
	assert_memory_equal(b, "\1\2\3\4\5\6\7\x08", 8);
	assert_true(rdmap_hdr_imm_parse(b, 8, &imm));
	assert_true(imm == 0x0102030405060708);
	assert_false(rdmap_hdr_imm_parse(b, 7, &imm));
	assert_int_equal(rdmap_hdr_imm_emit(1, b, 7), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_req),
		cmocka_unit_test(test_term_parse),
		cmocka_unit_test(test_R12_truncated),
		cmocka_unit_test(test_R12_too_long),
		cmocka_unit_test(test_R12_embedded_opcodes),
		cmocka_unit_test(test_term_emit),
		cmocka_unit_test(test_is_defined),
		cmocka_unit_test(test_rfc7306),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
