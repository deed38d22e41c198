/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpa_hdr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crc32c.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t
crc(const void *p, size_t n)
{
	return iw_crc32c_final(iw_crc32c(IW_CRC32C_INIT, p, n));
}

/* ---- FPDU arithmetic ---- */

/* RFC 5044 §4.1: L + 2 + pad is a multiple of 4; sizes of each message kind. */
static void
test_fpdu_len(void **state)
{
	static const struct {
		uint32_t ulpdu, pad, fpdu;
	} rows[] = {
		{14, 0, 20}, /* RTR: zero-length Write */
		{18, 0, 24}, /* zero-length Send */
		{22, 0, 28}, /* Terminate, no copies */
		{38, 0, 44}, /* Terminate, tagged */
		{42, 0, 48}, /* Terminate, untagged */
		{46, 0, 52}, /* Read Request */
		{70, 0, 76}, /* Terminate with Read Request */
		{1, 1, 8},   {2, 0, 8}, {3, 3, 12}, {4, 2, 12}, {64768, 2, 64776}, {65535, 3, 65544},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(fpdu_hdr_pad(rows[i].ulpdu), rows[i].pad);
		assert_int_equal(fpdu_hdr_len(rows[i].ulpdu), rows[i].fpdu);
		assert_int_equal(fpdu_hdr_crc_off(rows[i].ulpdu), rows[i].fpdu - 4);
	}
	for (uint32_t l = 0; l <= 65535; l++) {
		assert_int_equal(fpdu_hdr_len(l) % 4, 0);
		assert_in_range(fpdu_hdr_len(l) - l, 6, 9);
	}
}

/* RFC 5044 §4.5 without markers; §3: 128 to 64768. */
static void
test_mulpdu(void **state)
{
	static const struct {
		uint32_t emss, mulpdu;
	} rows[] = {
		{1448, 1442},   {1460, 1454},   {1447, 1438},   {1449, 1442},   {8948, 8942},   {536, 530}, {0, 128},
		{1, 128},       {133, 128},     {134, 128},     {135, 128},     {136, 130},     {137, 130}, {140, 134},
		{64773, 64766}, {64774, 64766}, {64775, 64766}, {64776, 64768}, {65535, 64768},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(mpa_hdr_mulpdu(rows[i].emss), rows[i].mulpdu);
	/* What it promises: the FPDU fits one segment, and 4 octets more would not. */
	for (uint32_t emss = 136; emss <= 64776; emss++) {
		assert_true(fpdu_hdr_len(mpa_hdr_mulpdu(emss)) <= emss);
		assert_true(fpdu_hdr_len(mpa_hdr_mulpdu(emss) + 4) > emss);
	}
}

static void
test_length_field(void **state)
{
	uint8_t b[2];

	for (uint32_t l = 0; l <= 65535; l++) {
		fpdu_hdr_length_emit(b, (uint16_t)l);
		assert_int_equal(fpdu_hdr_length_parse(b), l);
	}
	fpdu_hdr_length_emit(b, 0x1234);
	assert_int_equal(b[0], 0x12);
	assert_int_equal(b[1], 0x34);
}

/* ---- CRC: golden vectors ---- */

/* RFC 5044 Fig. 5: marker 00000000, L 002a, Send, MSN 1, 24 zero octets. */
static const uint8_t fig5[] = {0, 0, 0, 0, 0x00, 0x2a, 0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
			       0, 0, 0, 0, 0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
/* Fig. 6: L 002a, MSN 2, marker 00000014 before the data. */
static const uint8_t fig6[] = {0x00, 0x2a, 0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0x14,
			       0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
/* From rping-crc.pcap: a 16-octet Send, a Read Request. */
static const uint8_t send16[] = {0x00, 0x22, 0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
				 0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t read_req[] = {0x00, 0x2e, 0x41, 0x41, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
				   0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x17, 0xf7, 0x28, 0x00,
				   0x00, 0x00, 0x55, 0x9a, 0x90, 0xdd, 0x26, 0x10, 0x00, 0x00, 0x0b, 0xb8,
				   0xc1, 0xb7, 0x7c, 0x00, 0x00, 0x00, 0x56, 0x0d, 0x4a, 0x5d, 0x42, 0xc0};

static const struct {
	const char *name;
	const uint8_t *octets;
	size_t len;
	uint8_t field[4];
} crc_rows[] = {
	{"RFC 5044 Fig. 5", fig5, sizeof(fig5), {0x52, 0x23, 0x99, 0x83}},
	{"RFC 5044 Fig. 6", fig6, sizeof(fig6), {0x84, 0x92, 0x58, 0x98}},
	{"Send of 16", send16, sizeof(send16), {0x84, 0x60, 0x9a, 0x12}},
	{"Read Request", read_req, sizeof(read_req), {0x86, 0x47, 0xdb, 0xbb}},
};

static void
test_crc_field(void **state)
{
	uint8_t field[4];

	assert_int_equal(crc("123456789", 9), 0xe3069283);
	for (size_t i = 0; i < COUNT(crc_rows); i++) {
		fpdu_hdr_crc_emit(field, crc(crc_rows[i].octets, crc_rows[i].len));
		if (memcmp(field, crc_rows[i].field, 4) != 0)
			fail_msg("%s", crc_rows[i].name);
		assert_int_equal(fpdu_hdr_crc_parse(crc_rows[i].field), crc(crc_rows[i].octets, crc_rows[i].len));
	}
	/* The place of the field: behind the last octet that it covers. */
	assert_int_equal(fpdu_hdr_crc_off(fpdu_hdr_length_parse(send16)), sizeof(send16));
	assert_int_equal(fpdu_hdr_crc_off(fpdu_hdr_length_parse(read_req)), sizeof(read_req));
	fpdu_hdr_crc_emit(field, 0x01020304);
	assert_memory_equal(field, "\x04\x03\x02\x01", 4);
}

/* ---- start-up frames ---- */

#define REQ "MPA ID Req Frame"
#define REP "MPA ID Rep Frame"

/* The exact octets on the heap, so that the sanitizer sees a read behind them. */
static enum mpa_hdr_verdict
parse(const void *octets, uint32_t n, bool reply, struct mpa_startup *f, uint32_t *total, uint8_t **copy)
{
	*copy = malloc(n ? n : 1);
	memcpy(*copy, octets, n);
	return mpa_hdr_startup_parse(*copy, n, reply, f, total);
}

/* Octets of real peers, and forms of M7, M10 to M13. */
static const struct golden {
	const char *name, *octets;
	uint32_t len;
	struct mpa_startup f;
	bool canonical; /* emit gives the same octets */
} golden[] = {
	{"siw request",
	 REQ "\x10\x02\x00\x04\x00\x01\x00\x01",
	 24,
	 {.enhanced = true, .rev = 2, .pd_len = 4, .ird = 1, .ord = 1},
	 true},
	{"siw request, CRC",
	 REQ "\x50\x02\x00\x04\x00\x01\x00\x01",
	 24,
	 {.crc = true, .enhanced = true, .rev = 2, .pd_len = 4, .ird = 1, .ord = 1},
	 true},
	{"siw request, peer-to-peer",
	 REQ "\x10\x02\x00\x04\x80\x01\xc0\x01",
	 24,
	 {.enhanced = true,
	  .rev = 2,
	  .pd_len = 4,
	  .peer_to_peer = true,
	  .rtr_write = true,
	  .rtr_read = true,
	  .ird = 1,
	  .ord = 1},
	 true},
	{"siw reply, peer-to-peer",
	 REP "\x10\x02\x00\x04\x80\x01\x80\x01",
	 24,
	 {.reply = true,
	  .enhanced = true,
	  .rev = 2,
	  .pd_len = 4,
	  .peer_to_peer = true,
	  .rtr_write = true,
	  .ird = 1,
	  .ord = 1},
	 true},
	{"siw, GSO hint in a reserved bit",
	 REQ "\x18\x02\x00\x04\x00\x01\x00\x01",
	 24,
	 {.enhanced = true, .rev = 2, .reserved = 0x08, .pd_len = 4, .ird = 1, .ord = 1},
	 false},
	{"perftest read_bw",
	 REQ "\x10\x02\x00\x04\x00\x80\x00\x80",
	 24,
	 {.enhanced = true, .rev = 2, .pd_len = 4, .ird = 128, .ord = 128},
	 true},
	{"perftest write_bw",
	 REQ "\x10\x02\x00\x04\x00\x00\x00\x00",
	 24,
	 {.enhanced = true, .rev = 2, .pd_len = 4},
	 true},
	{"siw reject of M = 1",
	 REP "\x30\x02\x00\x04\x00\x00\x00\x00",
	 24,
	 {.reply = true, .reject = true, .enhanced = true, .rev = 2, .pd_len = 4},
	 true},
	{"siw reject, S with PD_Length 0 (M11)",
	 REP "\x30\x02\x00\x00",
	 20,
	 {.reply = true, .reject = true, .rev = 2},
	 false},
	{"reject, S with PD_Length 3 (M11)",
	 REP "\x30\x02\x00\x03"
	     "abc",
	 23,
	 {.reply = true, .reject = true, .rev = 2, .pd_len = 3},
	 false},
	{"reject of revision 0 (M12)",
	 REP "\x20\x00\x00\x02hi",
	 22,
	 {.reply = true, .reject = true, .pd_len = 2, .private_len = 2, .private_data = (const uint8_t *)"hi"},
	 true},
	{"reject of revision 9 with S (M12)",
	 REP "\x30\x09\x00\x04wxyz",
	 24,
	 {.reply = true,
	  .reject = true,
	  .rev = 9,
	  .reserved = 0x10,
	  .pd_len = 4,
	  .private_len = 4,
	  .private_data = (const uint8_t *)"wxyz"},
	 false},
	{"revision 1", REQ "\x00\x01\x00\x00", 20, {.rev = 1}, true},
	{"revision 1, private data",
	 REP "\x40\x01\x00\x05hello",
	 25,
	 {.reply = true,
	  .crc = true,
	  .rev = 1,
	  .pd_len = 5,
	  .private_len = 5,
	  .private_data = (const uint8_t *)"hello"},
	 true},
	{"revision 1, S is reserved (M10)", REQ "\x1f\x01\x00\x00", 20, {.rev = 1, .reserved = 0x1f}, false},
	{"revision 2 without S",
	 REQ "\x00\x02\x00\x02"
	     "ab",
	 22,
	 {.rev = 2, .pd_len = 2, .private_len = 2, .private_data = (const uint8_t *)"ab"},
	 true},
	{"R in a Request (M10)", REQ "\x20\x01\x00\x00", 20, {.rev = 1}, false},
	{"M (M8)",
	 REQ "\x90\x02\x00\x04\x00\x01\x00\x01",
	 24,
	 {.markers = true, .enhanced = true, .rev = 2, .pd_len = 4, .ird = 1, .ord = 1},
	 true},
	{"not negotiated (M13)",
	 REQ "\x10\x02\x00\x06\x3f\xff\x3f\xffzz",
	 26,
	 {.enhanced = true,
	  .rev = 2,
	  .pd_len = 6,
	  .ird = 0x3fff,
	  .ord = 0x3fff,
	  .private_len = 2,
	  .private_data = (const uint8_t *)"zz"},
	 true},
	{"0x3ffe, 0 (M13), all flags",
	 REP "\x50\x02\x00\x04\xff\xfe\xc0\x00",
	 24,
	 {.reply = true,
	  .crc = true,
	  .enhanced = true,
	  .rev = 2,
	  .pd_len = 4,
	  .peer_to_peer = true,
	  .rtr_send = true,
	  .rtr_write = true,
	  .rtr_read = true,
	  .ird = 0x3ffe},
	 true},
};

static void
check_frame(const char *name, const struct mpa_startup *got, const struct mpa_startup *want)
{
	struct mpa_startup a = *got, b = *want;

	if (a.private_len != b.private_len ||
	    (a.private_len && memcmp(a.private_data, b.private_data, a.private_len) != 0))
		fail_msg("%s: private data", name);
	if (a.reply != b.reply || a.markers != b.markers || a.crc != b.crc || a.reject != b.reject ||
	    a.enhanced != b.enhanced || a.rev != b.rev || a.reserved != b.reserved || a.pd_len != b.pd_len)
		fail_msg("%s: flags, revision or length", name);
	if (a.peer_to_peer != b.peer_to_peer || a.rtr_send != b.rtr_send || a.rtr_write != b.rtr_write ||
	    a.rtr_read != b.rtr_read || a.ird != b.ird || a.ord != b.ord)
		fail_msg("%s: enhanced words", name);
}

/* M6: every prefix says NEED with the right number; the whole frame is OK, with and without octets behind it. */
static void
test_M6_every_prefix(void **state)
{
	for (size_t i = 0; i < COUNT(golden); i++) {
		const struct golden *g = &golden[i];
		uint8_t behind[64] = {0}, *copy;
		struct mpa_startup f;
		uint32_t total;

		for (uint32_t n = 0; n < g->len; n++) {
			if (parse(g->octets, n, g->f.reply, &f, &total, &copy) != MPA_HDR_NEED)
				fail_msg("%s: %u octets", g->name, n);
			assert_int_equal(total, n < 20 ? 20 : g->len);
			free(copy);
		}
		assert_int_equal(parse(g->octets, g->len, g->f.reply, &f, &total, &copy), MPA_HDR_OK);
		assert_int_equal(total, g->len);
		check_frame(g->name, &f, &g->f);
		free(copy);
		memcpy(behind, g->octets, g->len);
		memset(behind + g->len, 0xee, sizeof(behind) - g->len);
		assert_int_equal(parse(behind, sizeof(behind), g->f.reply, &f, &total, &copy), MPA_HDR_OK);
		assert_int_equal(total, g->len);
		check_frame(g->name, &f, &g->f);
		free(copy);
	}
}

static void
test_golden_emit(void **state)
{
	uint8_t out[64];

	for (size_t i = 0; i < COUNT(golden); i++) {
		const struct golden *g = &golden[i];

		if (!g->canonical)
			continue;
		assert_int_equal(mpa_hdr_startup_len(&g->f), g->len);
		assert_int_equal(mpa_hdr_startup_emit(&g->f, out, g->len), g->len);
		if (memcmp(out, g->octets, g->len) != 0)
			fail_msg("%s", g->name);
		assert_int_equal(mpa_hdr_startup_emit(&g->f, out, g->len - 1), 0);
	}
}

/* Reserved bits are sent as 0, and so is R in a Request (RFC 5044 §7.1.1). */
static void
test_emit_sends_no_reserved_bits(void **state)
{
	struct mpa_startup f = {.rev = 1, .reserved = 0x1f, .reject = true};
	uint8_t out[20];

	assert_int_equal(mpa_hdr_startup_emit(&f, out, sizeof(out)), 20);
	assert_memory_equal(out, REQ "\x00\x01\x00\x00", 20);
}

/* M1: any single bit of the key; found at the octet in which it is. */
static void
test_M1_every_key_bit(void **state)
{
	for (int reply = 0; reply < 2; reply++) {
		for (uint32_t bit = 0; bit < 128; bit++) {
			uint8_t frame[24] = {0}, *copy;
			struct mpa_startup f;
			uint32_t total;

			memcpy(frame, reply ? REP "\x10\x02\x00\x04" : REQ "\x10\x02\x00\x04", 20);
			frame[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			for (uint32_t n = 0; n <= sizeof(frame); n++) {
				enum mpa_hdr_verdict want = n <= bit / 8 ? MPA_HDR_NEED : MPA_HDR_BAD_KEY;

				assert_int_equal(parse(frame, n, reply, &f, &total, &copy), want);
				free(copy);
			}
		}
	}
}

/* M2: the other key; they differ in octet 9 ("q" and "p"). */
static void
test_M2_crossing(void **state)
{
	struct mpa_startup f;
	uint32_t total;

	assert_int_equal(mpa_hdr_startup_parse((const uint8_t *)REQ, 9, true, &f, &total), MPA_HDR_NEED);
	assert_int_equal(mpa_hdr_startup_parse((const uint8_t *)REQ, 10, true, &f, &total), MPA_HDR_BAD_KEY);
	assert_int_equal(mpa_hdr_startup_parse((const uint8_t *)REP, 9, false, &f, &total), MPA_HDR_NEED);
	assert_int_equal(mpa_hdr_startup_parse((const uint8_t *)REP, 10, false, &f, &total), MPA_HDR_BAD_KEY);
}

/* M3, M11: the borders of PD_Length, known with octet 20 and not before. */
static void
test_M3_M11_pd_length(void **state)
{
	static const struct {
		bool reply;
		uint8_t flags, rev;
		uint16_t pd_len;
		enum mpa_hdr_verdict verdict; /* with 20 octets */
	} rows[] = {
		{0, 0x00, 1, 0, MPA_HDR_OK},
		{0, 0x00, 1, 1, MPA_HDR_NEED},
		{0, 0x00, 1, 511, MPA_HDR_NEED},
		{0, 0x00, 1, 512, MPA_HDR_NEED},
		{0, 0x00, 1, 513, MPA_HDR_BAD_LENGTH},
		{0, 0x00, 1, 0x8000, MPA_HDR_BAD_LENGTH},
		{0, 0x00, 1, 0xffff, MPA_HDR_BAD_LENGTH},
		{1, 0x00, 1, 513, MPA_HDR_BAD_LENGTH},
		{1, 0x20, 1, 513, MPA_HDR_BAD_LENGTH}, /* a reject, too: nothing is allocated by that number */
		{1, 0x20, 0, 0xffff, MPA_HDR_BAD_LENGTH},
		{0, 0x10, 2, 0, MPA_HDR_BAD_ENHANCED},
		{0, 0x10, 2, 3, MPA_HDR_BAD_ENHANCED},
		{0, 0x10, 2, 4, MPA_HDR_NEED},
		{0, 0x10, 2, 512, MPA_HDR_NEED},
		{0, 0x10, 2, 513, MPA_HDR_BAD_LENGTH},
		{1, 0x10, 2, 0, MPA_HDR_BAD_ENHANCED},
		{1, 0x10, 2, 3, MPA_HDR_BAD_ENHANCED},
		{1, 0x10, 2, 4, MPA_HDR_NEED},
		{0, 0x30, 2, 0, MPA_HDR_BAD_ENHANCED}, /* R means nothing in a Request */
		{0, 0x10, 1, 0, MPA_HDR_OK},           /* nor S in revision 1 */
		{1, 0x30, 2, 0, MPA_HDR_OK},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t frame[20], *copy;
		struct mpa_startup f;
		uint32_t total;

		memcpy(frame, rows[i].reply ? REP : REQ, 16);
		frame[16] = rows[i].flags;
		frame[17] = rows[i].rev;
		fpdu_hdr_length_emit(frame + 18, rows[i].pd_len);
		assert_int_equal(parse(frame, 19, rows[i].reply, &f, &total, &copy), MPA_HDR_NEED);
		free(copy);
		if (parse(frame, 20, rows[i].reply, &f, &total, &copy) != rows[i].verdict)
			fail_msg("row %zu", i);
		free(copy);
	}
}

/* M7: only 1 and 2, in both frames; a reject counts whatever its revision. */
static void
test_M7_revisions(void **state)
{
	for (uint32_t rev = 0; rev < 256; rev++) {
		enum mpa_hdr_verdict want = rev == 1 || rev == 2 ? MPA_HDR_OK : MPA_HDR_BAD_REV;
		uint8_t frame[20];
		struct mpa_startup f;
		uint32_t total;

		memcpy(frame, REQ "\x00\x00\x00\x00", 20);
		frame[17] = (uint8_t)rev;
		assert_int_equal(mpa_hdr_startup_parse(frame, 20, false, &f, &total), want);
		memcpy(frame, REP, 16);
		assert_int_equal(mpa_hdr_startup_parse(frame, 20, true, &f, &total), want);
		frame[16] = 0x20;
		assert_int_equal(mpa_hdr_startup_parse(frame, 20, true, &f, &total), MPA_HDR_OK);
		assert_true(f.reject);
		assert_int_equal(f.rev, rev);
	}
}

/* Private data of every length there is, in both forms, there and back; one octet more is refused. */
static void
test_private_data_lengths(void **state)
{
	uint8_t data[MPA_HDR_PD_MAX + 1], out[MPA_HDR_STARTUP_MAX + 8];

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + 1);
	for (int enhanced = 0; enhanced < 2; enhanced++) {
		uint16_t max = enhanced ? 508 : 512;

		assert_int_equal(mpa_hdr_private_max(enhanced), max);
		for (uint16_t n = 0; n <= max + 1; n++) {
			struct mpa_startup a = {.rev = enhanced ? 2 : 1,
						.enhanced = enhanced,
						.private_data = data,
						.private_len = n},
					   b;
			uint32_t len = mpa_hdr_startup_emit(&a, out, sizeof(out)), total;
			uint8_t *copy;

			if (n > max) {
				assert_int_equal(len, 0);
				continue;
			}
			assert_int_equal(len, 20 + (enhanced ? 4 : 0) + n);
			assert_int_equal(parse(out, len, false, &b, &total, &copy), MPA_HDR_OK);
			a.pd_len = (uint16_t)(len - 20);
			check_frame("round trip", &b, &a);
			free(copy);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fpdu_len),
		cmocka_unit_test(test_mulpdu),
		cmocka_unit_test(test_length_field),
		cmocka_unit_test(test_crc_field),
		cmocka_unit_test(test_M6_every_prefix),
		cmocka_unit_test(test_golden_emit),
		cmocka_unit_test(test_emit_sends_no_reserved_bits),
		cmocka_unit_test(test_M1_every_key_bit),
		cmocka_unit_test(test_M2_crossing),
		cmocka_unit_test(test_M3_M11_pd_length),
		cmocka_unit_test(test_M7_revisions),
		cmocka_unit_test(test_private_data_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
