/* SPDX-License-Identifier: BSD-3-Clause */
/* FPDUs as they are written, with markers (RFC 5044 §4.3, §4.4; M8). */
#include "mpa_tx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ddp_tx.h"
#include "pair.h"
#include "qp_obj.h"

/* RFC 5044 Fig. 5: the first FPDU of a stream; Fig. 6: a marker between header and data. */
static void
test_M8_golden(void **state)
{
	static const uint8_t zero[24];
	struct wr_piece piece = {.p = (uint8_t *)(uintptr_t)zero, .len = 24};
	static const uint8_t fig5[] = "\0\0\0\0\x00\x2a\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0";
	static const uint8_t fig6[] = "\x00\x2a\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x14";
	uint8_t out[64];
	struct mpa_tx b = {.base = out, .room = 1448, .crc = true, .markers = true, .gap = 0};
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);

	(void)state;
	ddp_tx_segment(&b, &h, &piece, 1, 24);
	assert_int_equal(b.used, 52);
	assert_int_equal(b.gap, 508 - 48);
	assert_memory_equal(out, fig5, 24);
	assert_memory_equal(out + 48, "\x52\x23\x99\x83", 4);

	b = (struct mpa_tx){.base = out, .room = 1448, .crc = true, .markers = true, .gap = 20};
	h.msn = 2;
	ddp_tx_segment(&b, &h, &piece, 1, 24);
	assert_int_equal(b.used, 52);
	assert_memory_equal(out, fig6, 24);
	assert_memory_equal(out + 48, "\x84\x92\x58\x98", 4);
}

/* Between pad and CRC it is of this FPDU and in its CRC; behind the CRC it is of the next one. */
static void
test_M8_places(void **state)
{
	uint8_t out[64];

	(void)state;
	for (uint16_t gap = 0; gap <= 48; gap += 4) {
		struct mpa_tx b = {.base = out, .room = 1448, .crc = true, .markers = true, .gap = gap};
		struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 2);
		uint8_t data[] = "0123456789";
		struct wr_piece piece = {.p = data, .len = 10};
		uint32_t len = mpa_tx_len(&b, 24), crc;

		ddp_tx_segment(&b, &h, &piece, 1, 10);
		assert_int_equal(b.used, len);
		assert_int_equal(len, gap < 32 ? 36 : 32);
		assert_int_equal(b.gap, gap < 32 ? 508 - (32 - gap) : gap - 32);
		crc = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, out, len - 4));
		assert_int_equal(fpdu_hdr_crc_parse(out + len - 4), crc);
		if (gap < 32)
			assert_memory_equal(out + gap, ((uint8_t[]){0, 0, 0, (uint8_t)gap}), 4);
		assert_memory_equal(out + (gap == 0 ? 4 : 0), "\x00\x18", 2);
	}
}

/* A walk over the stream by the rules of the RFC alone: a marker at each 512th octet, pointing to its FPDU; none
 * elsewhere. */
static void
walk(const uint8_t *p, uint32_t len)
{
	for (uint32_t at = 0; at < len;) {
		uint32_t length_at = at % 512 == 0 ? at + 4 : at, left;

		if (at % 512 == 0)
			assert_memory_equal(p + at, "\0\0\0\0", 4);
		left = fpdu_hdr_len(fpdu_hdr_length_parse(p + length_at));
		for (at = length_at; left > 0; left -= 4, at += 4) {
			if (at % 512 == 0 && at != length_at) {
				assert_int_equal(mpa_hdr_marker_parse(p + at), at - length_at);
				at += 4;
			}
		}
		assert_true(at <= len);
	}
}

static void
transfer(uint32_t room, uint32_t view, uint32_t step, uint32_t len, uint32_t count)
{
	struct pair p;
	struct iw_mr *from, *to;

	pair_open(&p,
		  &(struct pair_opts){.markers = true, .room = room, .view = view, .step = step, .arena = 1u << 18});
	from = pair_mr(&p.a, 0, 1u << 17, 0);
	to = pair_mr(&p.b, 1u << 17, 1u << 17, IW_REMOTE_WRITE | IW_REMOTE_READ);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(pair_rdma(&p.a, i, IW_WR_RDMA_WRITE, p.a.arena + i, len, iw_mr_lkey(from),
					   p.b.arena + (1u << 17) + i * len, iw_mr_rkey(to), 0),
				 0);
	while (pair_fill(&p, &p.a))
		;
	walk(p.b.in.p, p.b.in.len);
	pair_deliver(&p, &p.b);
	pair_pump(&p);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	for (uint32_t i = 0; i < count; i++)
		assert_memory_equal(p.b.arena + (1u << 17) + i * len, p.a.arena + i, len);
	assert_true(pair_untouched(&p.b, (1u << 17) + count * len, 1000));
	pair_close(&p);
}

static void
test_M8_transfer(void **state)
{
	(void)state;
	transfer(1448, 0, 0, 20000, 3);
	transfer(1448, 1000, 777, 1500, 40);
	transfer(1448, 7, 3, 1200, 4);
	transfer(8948, 0, 0, 60000, 2);
	transfer(8948, 500, 0, 1, 100);
	transfer(100, 0, 11, 700, 20); /* room counts as 140 */
	for (uint32_t len = 480; len < 540; len++)
		transfer(1447 + len % 4, 0, 0, len, 30);
}

/* The least room still takes the least MULPDU with its marker (RFC 5044 §3). */
static void
test_M8_mulpdu(void **state)
{
	(void)state;
	assert_int_equal(mpa_hdr_mulpdu_marked(1448), 1430);
	assert_int_equal(mpa_hdr_mulpdu_marked(512), 502);
	assert_int_equal(mpa_hdr_mulpdu_marked(513), 498);
	assert_int_equal(mpa_hdr_mulpdu_marked(1), 128);
	for (uint32_t emss = 140; emss <= 9000; emss++)
		for (uint32_t gap = 0; gap < 512; gap += 4) {
			uint32_t len = fpdu_hdr_len(mpa_hdr_mulpdu_marked(emss));

			assert_true(len + 4 * mpa_hdr_markers(gap, len) <= emss);
		}
}

/* Gap and count together, against counting octet by octet. */
static void
test_M8_arithmetic(void **state)
{
	(void)state;
	for (uint32_t gap = 0; gap < 512; gap += 4) {
		uint32_t left = gap, markers = 0;

		for (uint32_t n = 0; n < 2100; n++) {
			assert_int_equal(mpa_hdr_markers(gap, n), markers);
			assert_int_equal(mpa_hdr_marker_gap(gap, n), left);
			if (left == 0) {
				markers++;
				left = 508;
			}
			left--;
		}
	}
}

/* The longest FPDU there can be, with its 130 markers, in as many views as tcp hands over. */
static void
test_M8_longest(void **state)
{
	struct ddp_hdr h;
	uint8_t *plain = malloc(70000), *data = malloc(65536);
	struct pair p;
	uint32_t n, at = 0, crc;
	uint8_t *marked = malloc(70000);

	(void)state;
	pair_open(&p, &(struct pair_opts){.rx_markers = true, .view = 350, .arena = 1u << 18});
	h = ddp_hdr_tagged(0, true, iw_mr_rkey(pair_mr(&p.b, 0, 65521, IW_REMOTE_WRITE)), (uintptr_t)p.b.arena);
	for (uint32_t i = 0; i < 65521; i++)
		data[i] = (uint8_t)(i * 31 + (i >> 8));
	n = pair_fpdu(plain, &h, data, 65521);
	for (uint32_t i = 0; i < n; i++) {
		if (at % 512 == 0) {
			mpa_hdr_marker_emit(marked + at, (uint16_t)(at ? at - 4 : 0));
			at += 4;
		}
		marked[at++] = plain[i];
	}
	crc = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, marked, at - 4));
	fpdu_hdr_crc_emit(marked + at - 4, crc);
	pair_inject(&p, &p.b, marked, at);
	assert_int_equal(p.b.fpdus_in, 1);
	assert_memory_equal(p.b.arena, data, 65521);
	pair_close(&p);
	free(plain);
	free(marked);
	free(data);
}

/* What mpa_tx_sum() says is the sum of what stands there: short pieces and long ones, behind odd numbers of octets, in
 * several FPDUs, with and without CRC and markers. */
static void
test_sum(void **state)
{
	static const uint32_t lens[][3] = {{0, 0, 0},       {1, 0, 0},          {64, 0, 0},      {1023, 1, 0},
					   {1024, 0, 0},    {1, 1024, 1},       {3, 1500, 2001}, {2047, 1, 1025},
					   {5000, 7, 1300}, {1025, 1025, 1025}, {13, 4097, 2}};
	uint8_t *data = malloc(5000), *out = malloc(20000);
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 2);

	(void)state;
	for (uint32_t i = 0; i < 5000; i++)
		data[i] = (uint8_t)(i * i + i / 5);
	for (uint32_t r = 0; r < 4 * sizeof(lens) / sizeof(lens[0]); r++) {
		struct mpa_tx b = {
			.base = out, .room = 20000, .crc = r & 1, .markers = r & 2, .sums = true, .gap = 512};
		const uint32_t *len = lens[r / 4];

		for (uint32_t fpdus = 0; fpdus < 2; fpdus++) {
			struct wr_piece pieces[3];

			for (uint32_t k = 0; k < 3; k++)
				pieces[k] = (struct wr_piece){.p = data, .len = len[k]};
			ddp_tx_segment(&b, &h, pieces, 3, len[0] + len[1] + len[2]);
		}
		assert_int_equal(mpa_tx_sum(&b), iw_sum_fold(iw_sum_scalar(out, b.used)));
	}
	free(data);
	free(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),        cmocka_unit_test(test_M8_golden),
		cmocka_unit_test(test_M8_places),  cmocka_unit_test(test_M8_transfer),
		cmocka_unit_test(test_M8_mulpdu),  cmocka_unit_test(test_M8_arithmetic),
		cmocka_unit_test(test_M8_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
