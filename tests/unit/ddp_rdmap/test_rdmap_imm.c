/* SPDX-License-Identifier: BSD-3-Clause */
/* Immediate Data (RFC 7306 §6), alone and behind a Write. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "qp_obj.h"
#include "rdmap_ops.h"

#define IMM UINT64_C(0x0123456789abcdef)
#define DST 0x10000

static int
post_imm(struct pair_side *s, uint64_t id, uint8_t opcode, uint64_t imm, uint8_t flags)
{
	struct iw_send_wr wr = {.wr_id = id, .opcode = opcode, .flags = flags, .imm_data = imm};

	return iw_post_send(s->qp, &wr, NULL);
}

/* §6.2, Fig. 7: 26 octets of ULPDU, opcode 8 or 9, QN 0, its MSN, the value with the greatest octet first. */
static void
test_octets(void **state)
{
	static const uint8_t expected[2][28] = {
		{0, 26, 0x41, 0x48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 35, 69, 103, 137, 171, 205, 239},
		{0, 26, 0x41, 0x49, 0, 0, 0, 0,  0,  0,   0,   0,   0,   0,
		 0, 2,  0,    0,    0, 0, 1, 35, 69, 103, 137, 171, 205, 239}};
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.no_crc = true});
	assert_int_equal(post_imm(&p.a, 1, IW_WR_IMM, IMM, 0), 0);
	assert_int_equal(post_imm(&p.a, 2, IW_WR_IMM, IMM, IW_SEND_SOLICITED), 0);
	pair_fill(&p, &p.a);
	assert_int_equal(p.b.in.len, 64);
	assert_memory_equal(p.b.in.p, expected[0], 28);
	assert_memory_equal(p.b.in.p + 32, expected[1], 28);
	pair_close(&p);
}

/* §6.3: one receive each, whatever it holds, in the order of the Sends; its memory stays as it is. */
static void
test_delivery(void **state)
{
	struct pair p;
	struct iw_mr *mr;
	struct iw_wc wc;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	mr = pair_mr(&p.b, DST, 64, IW_LOCAL_WRITE);
	assert_int_equal(pair_recv(&p.b, 1, p.b.arena + DST, 64, iw_mr_lkey(mr)), 0);
	assert_int_equal(pair_recv(&p.b, 2, NULL, 0, 0), 0);
	assert_int_equal(pair_recv(&p.b, 3, NULL, 0, 0), 0);
	assert_int_equal(post_imm(&p.a, 1, IW_WR_IMM, IMM, IW_SEND_SIGNALED), 0);
	assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, 0), 0);
	assert_int_equal(post_imm(&p.a, 3, IW_WR_IMM, UINT64_MAX, IW_SEND_SOLICITED), 0);
	pair_pump(&p);
	wc = pair_wc(&p.a);
	assert_int_equal(wc.opcode, IW_WC_IMM);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	wc = pair_wc(&p.b);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(wc.opcode, IW_WC_RECV);
	assert_int_equal(wc.flags, IW_WC_WITH_IMM);
	assert_true(wc.imm_data == IMM);
	assert_int_equal(wc.byte_len, 0);
	assert_true(pair_untouched(&p.b, DST, 64));
	assert_int_equal(pair_wc(&p.b).flags, 0);
	wc = pair_wc(&p.b);
	assert_int_equal(wc.flags, IW_WC_WITH_IMM | IW_WC_SOLICITED);
	assert_true(wc.imm_data == UINT64_MAX);
	pair_close(&p);
}

/* §6: a Write of any length with Immediate Data: all octets are there when it is delivered; one completion here. */
static void
test_write_imm(void **state)
{
	static const uint32_t lens[] = {0, 1, 3, 1428, 1429, 100000};
	struct pair p;
	struct iw_mr *src, *dst;

	(void)state;
	pair_open(&p, &(struct pair_opts){.view = 500});
	src = pair_mr(&p.a, 0, 100000, 0);
	dst = pair_mr(&p.b, DST, 100000, IW_REMOTE_WRITE);
	for (uint32_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct iw_sge sge = {(uintptr_t)p.a.arena, lens[i], iw_mr_lkey(src)};
		struct iw_send_wr wr = {.wr_id = i,
					.sg_list = &sge,
					.num_sge = 1,
					.opcode = IW_WR_RDMA_WRITE_IMM,
					.flags = IW_SEND_SIGNALED | (i & 1 ? IW_SEND_SOLICITED : 0),
					.remote_addr = (uintptr_t)p.b.arena + DST,
					.rkey = iw_mr_rkey(dst),
					.imm_data = i + 7};
		struct iw_wc wc;

		memset(p.b.arena + DST, 0xee, 100000);
		assert_int_equal(pair_recv(&p.b, i, NULL, 0, 0), 0);
		assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
		pair_pump(&p);
		wc = pair_wc(&p.a);
		assert_int_equal(wc.opcode, IW_WC_RDMA_WRITE);
		assert_int_equal(wc.status, IW_WC_SUCCESS);
		assert_true(pair_no_wc(&p.a));
		wc = pair_wc(&p.b);
		assert_int_equal(wc.flags, IW_WC_WITH_IMM | (i & 1 ? IW_WC_SOLICITED : 0));
		assert_true(wc.imm_data == i + 7);
		assert_memory_equal(p.b.arena + DST, p.a.arena, lens[i]);
		assert_int_equal(p.b.arena[DST + lens[i]], lens[i] < 100000 ? 0xee : pair_pattern(&p.b, DST + lens[i]));
	}
	pair_close(&p);
}

/* Inline, and with nothing else between the Write and its Immediate Data on a link of the least room. */
static void
test_write_imm_inline_small_room(void **state)
{
	struct pair p;
	struct iw_mr *dst;
	struct iw_sge sge;
	struct iw_send_wr wr;

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 136});
	dst = pair_mr(&p.b, DST, 256, IW_REMOTE_WRITE);
	sge = (struct iw_sge){(uintptr_t)p.a.arena, 256, 0};
	wr = (struct iw_send_wr){.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IW_WR_RDMA_WRITE_IMM,
				 .flags = IW_SEND_INLINE,
				 .remote_addr = (uintptr_t)p.b.arena + DST,
				 .rkey = iw_mr_rkey(dst),
				 .imm_data = 5};
	assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
	assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_recv(&p.b, 1, NULL, 0, 0), 0);
	assert_int_equal(pair_recv(&p.b, 2, NULL, 0, 0), 0);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).imm_data, 5);
	assert_int_equal(pair_wc(&p.b).flags, 0);
	assert_memory_equal(p.b.arena + DST, p.a.arena, 256);
	pair_close(&p);
}

/* R16: another length than eight octets, or more segments than one: 0/2/ff with the header; no receive: 1/2/02. */
static void
test_R16_length(void **state)
{
	static const struct {
		uint32_t len;
		bool last, posted;
		uint8_t layer, etype, code;
	} rows[] = {
		{0, true, true, 0, 2, 0xff},  {7, true, true, 0, 2, 0xff},  {9, true, true, 0, 2, 0xff},
		{8, false, true, 0, 2, 0xff}, {8, true, false, 1, 2, 0x02},
	};
	static const uint8_t body[16];
	uint8_t fpdu[64];

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint8_t op = RDMAP_OP_IMM; op <= RDMAP_OP_IMM_SE; op++) {
			struct ddp_hdr h = ddp_hdr_untagged(op, rows[i].last, 0, 0, 1, 0);
			struct iw_terminate t;
			struct pair p;

			pair_open(&p, &(struct pair_opts){0});
			if (rows[i].posted)
				assert_int_equal(pair_recv(&p.b, 1, NULL, 0, 0), 0);
			pair_inject(&p, &p.b, fpdu, pair_fpdu(fpdu, &h, body, rows[i].len));
			iw_qp_terminate_info(p.b.qp, &t);
			assert_true(t.valid && t.sent);
			assert_int_equal(t.layer, rows[i].layer);
			assert_int_equal(t.etype, rows[i].etype);
			assert_int_equal(t.code, rows[i].code);
			assert_int_equal(p.b.qp->term_out[2], 0xc0); /* M, D */
			if (rows[i].posted)
				assert_int_equal(pair_wc(&p.b).status, IW_WC_WR_FLUSH_ERR);
			assert_true(pair_no_wc(&p.b));
			pair_close(&p);
		}
}

static void
test_bad_requests(void **state)
{
	struct iw_sge sge = {0, 0, 0};
	struct iw_send_wr with_sge = {.opcode = IW_WR_IMM, .sg_list = &sge, .num_sge = 1};
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	assert_int_equal(iw_post_send(p.a.qp, &with_sge, NULL), -IW_E_INVAL);
	assert_int_equal(post_imm(&p.a, 1, IW_WR_IMM, 1, IW_SEND_INLINE), -IW_E_INVAL);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_octets),     cmocka_unit_test(test_delivery),
		cmocka_unit_test(test_write_imm),  cmocka_unit_test(test_write_imm_inline_small_room),
		cmocka_unit_test(test_R16_length), cmocka_unit_test(test_bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
