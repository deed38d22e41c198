/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics (RFC 7306 §5). */
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

#define WORD 0x10000
#define OLD 0x2000 /* where the original value goes, at a */

struct world {
	struct pair p;
	struct iw_mr *old, *word;
};

static void
set_up(struct world *w, const struct pair_opts *opts)
{
	pair_open(&w->p, opts);
	w->old = pair_mr(&w->p.a, OLD, 4096, IW_LOCAL_WRITE);
	w->word = pair_mr(&w->p.b, WORD, 4096, IW_REMOTE_ATOMIC | IW_REMOTE_READ);
}

static void
put(const struct world *w, uint64_t v)
{
	memcpy(w->p.b.arena + WORD, &v, 8);
}

static uint64_t
get(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static int
post(struct world *w, uint8_t opcode, uint32_t at, struct iw_atomic a)
{
	struct iw_sge sge = {(uintptr_t)w->p.a.arena + OLD, 8, iw_mr_lkey(w->old)};
	struct iw_send_wr wr = {.wr_id = 9,
				.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)w->p.b.arena + WORD + at,
				.rkey = iw_mr_rkey(w->word),
				.atomic = a};

	return iw_post_send(w->p.a.qp, &wr, NULL);
}

/* §5.1.1, as its pseudocode has it, bit by bit. */
static uint64_t
add_by_bits(uint64_t old, uint64_t data, uint64_t mask)
{
	uint64_t result = 0, carry = 0;

	for (int bit = 0; bit < 64; bit++) {
		uint64_t sum = carry + (old >> bit & 1) + (data >> bit & 1);

		carry = sum >> 1 && !(mask >> bit & 1);
		result |= (sum & 1) << bit;
	}
	return result;
}

static uint64_t seed = 88172645463325252u;

static uint64_t
draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* The pictures of Fig. 4 and 6: octets of request and answer. */
static void
test_octets(void **state)
{
	struct world w;
	const uint8_t *f;
	uint64_t to;

	(void)state;
	set_up(&w, &(struct pair_opts){.no_crc = true});
	put(&w, 0x1122334455667788);
	assert_int_equal(
		post(&w, IW_WR_CMP_SWAP, 0, (struct iw_atomic){0x0102030405060708, 0x1112131415161718, 0x21, 0x31}), 0);
	pair_fill(&w.p, &w.p.a);
	f = w.p.b.in.p;
	assert_int_equal(w.p.b.in.len, 76);
	assert_memory_equal(f, "\x00\x46\x41\x4a\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0", 28);
	to = (uintptr_t)w.p.b.arena + WORD;
	for (int i = 0; i < 4; i++)
		assert_int_equal(f[28 + i], iw_mr_rkey(w.word) >> (24 - 8 * i) & 0xff);
	for (int i = 0; i < 8; i++)
		assert_int_equal(f[32 + i], to >> (56 - 8 * i) & 0xff);
	assert_memory_equal(f + 40, "\1\2\3\4\5\6\7\x08\x11\x12\x13\x14\x15\x16\x17\x18", 16);
	assert_memory_equal(f + 56, "\0\0\0\0\0\0\0\x21\0\0\0\0\0\0\0\x31", 16);
	pair_deliver(&w.p, &w.p.b);
	pair_fill(&w.p, &w.p.b);
	f = w.p.a.in.p;
	assert_int_equal(w.p.a.in.len, 36);
	assert_memory_equal(f, "\x00\x1e\x41\x4b\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\0\0\0\0\0", 24);
	assert_memory_equal(f + 24, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
	pair_close(&w.p);
}

/* §5.2.1: of a FetchAdd the compare fields are 0 and all ones on the wire. */
static void
test_fetch_add_fields(void **state)
{
	struct world w;

	(void)state;
	set_up(&w, &(struct pair_opts){.no_crc = true});
	assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){1, 2, 3, 4}), 0);
	pair_fill(&w.p, &w.p.a);
	assert_int_equal(w.p.b.in.p[23], 0);
	assert_memory_equal(w.p.b.in.p + 56, "\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16);
	pair_close(&w.p);
}

static void
test_fetch_add(void **state)
{
	struct world w;

	(void)state;
	set_up(&w, &(struct pair_opts){0});
	for (int i = 0; i < 200; i++) {
		uint64_t old = i % 5 ? draw() : UINT64_MAX, data = draw(), mask = i % 3 ? draw() : 0;
		struct iw_wc wc;

		put(&w, old);
		assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){.data = data, .mask = mask}), 0);
		pair_pump(&w.p);
		wc = pair_wc(&w.p.a);
		assert_int_equal(wc.status, IW_WC_SUCCESS);
		assert_int_equal(wc.opcode, IW_WC_FETCH_ADD);
		assert_int_equal(wc.byte_len, 8);
		assert_true(get(w.p.a.arena + OLD) == old);
		assert_true(get(w.p.b.arena + WORD) == add_by_bits(old, data, mask));
		assert_true(pair_untouched(&w.p.b, WORD + 8, 64));
		assert_true(pair_untouched(&w.p.a, OLD + 8, 64));
	}
	pair_close(&w.p);
}

/* §5.1.2: compared and swapped under their masks; compare mask 0 is a swap. */
static void
test_cmp_swap(void **state)
{
	struct world w;

	(void)state;
	set_up(&w, &(struct pair_opts){0});
	for (int i = 0; i < 200; i++) {
		uint64_t old = draw();
		struct iw_atomic a = {draw(), draw(), draw(), i % 4 == 0 ? 0 : draw()};
		uint64_t expected;

		if (i % 2)
			a.compare = (old & a.compare_mask) | (draw() & ~a.compare_mask);
		expected = ((a.compare ^ old) & a.compare_mask) == 0 ? (old & ~a.mask) | (a.data & a.mask) : old;
		put(&w, old);
		assert_int_equal(post(&w, IW_WR_CMP_SWAP, 0, a), 0);
		pair_pump(&w.p);
		assert_int_equal(pair_wc(&w.p.a).opcode, IW_WC_CMP_SWAP);
		assert_true(get(w.p.a.arena + OLD) == old);
		assert_true(get(w.p.b.arena + WORD) == expected);
	}
	pair_close(&w.p);
}

/* §5.2, §5.4: Reads and atomics share the ORD, their MSN and their order: what a Read saw before the atomic in front of
 * it is not what is there after it. */
static void
test_order_among_reads(void **state)
{
	struct world w;
	struct iw_mr *sink;

	(void)state;
	set_up(&w, &(struct pair_opts){.ird = 2, .ord = 2});
	sink = pair_mr(&w.p.a, 0x8000, 4096, IW_LOCAL_WRITE);
	put(&w, 100);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){.data = 1}), 0);
		assert_int_equal(pair_rdma(&w.p.a, 20 + i, IW_WR_RDMA_READ, w.p.a.arena + 0x8000 + 8 * i, 8,
					   iw_mr_lkey(sink), w.p.b.arena + WORD, iw_mr_rkey(w.word), IW_SEND_SIGNALED),
				 0);
	}
	pair_fill(&w.p, &w.p.a);
	assert_int_equal(qp_fifo_count(&w.p.a.qp->reads_pos), 2);
	assert_int_equal(w.p.b.in.len, 76 + 52);
	assert_int_equal(w.p.b.in.p[76 + 15], 2); /* MSN of the Read */
	pair_pump(&w.p);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(pair_wc(&w.p.a).opcode, IW_WC_FETCH_ADD);
		assert_int_equal(pair_wc(&w.p.a).wr_id, 20 + i);
		assert_int_equal(get(w.p.a.arena + 0x8000 + 8 * i), 101 + i);
	}
	assert_int_equal(get(w.p.b.arena + WORD), 106);
	pair_close(&w.p);
}

#define WRAPS UINT32_MAX /* the last octets there are, and the first */

struct row {
	const char *what;
	uint32_t at;
	uint32_t stag; /* xor'd */
	uint8_t code;  /* AOpCode */
	uint32_t msn, qn, len;
	bool last;
	uint8_t layer, etype, err;
};

/* R16 and what a Read Request would get; never with a copy of the request (RFC 7306 §8.1). */
static void
test_R16_requests(void **state)
{
	static const struct row rows[] = {
		{"aligned", 8, 0, 2, 1, 1, 52, true, 0xff, 0, 0},
		{"misaligned by 1", 1, 0, 0, 1, 1, 52, true, 0, 2, 0x07},
		{"misaligned by 4", 4, 0, 2, 1, 1, 52, true, 0, 2, 0x07},
		{"AOpCode 1", 0, 0, 1, 1, 1, 52, true, 0, 2, 0x06},
		{"AOpCode 15", 0, 0, 15, 1, 1, 52, true, 0, 2, 0x06},
		{"STag", 0, 1, 0, 1, 1, 52, true, 0, 1, 0x00},
		{"bounds", 4096, 0, 0, 1, 1, 52, true, 0, 1, 0x01},
		{"TO wraps", WRAPS, 0, 0, 1, 1, 52, true, 0, 1, 0x04},
		{"half beyond", 4092, 0, 0, 1, 1, 52, true, 0, 1, 0x01},
		{"MSN", 0, 0, 0, 2, 1, 52, true, 1, 2, 0x03},
		{"QN", 0, 0, 0, 1, 0, 52, true, 1, 2, 0x01},
		{"too long", 0, 0, 0, 1, 1, 53, true, 1, 2, 0x05},
		{"too short", 0, 0, 0, 1, 1, 51, true, 2, 0, 0x03},
		{"without L", 0, 0, 0, 1, 1, 52, false, 0, 2, 0xff},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct world w;
		struct rdmap_atomic_req req = {.code = r->code, .data = 5, .mask = 0};
		struct ddp_hdr h = ddp_hdr_untagged(RDMAP_OP_ATOMIC_REQ, r->last, 0, r->qn, r->msn, 0);
		uint8_t body[64] = {0}, fpdu[128];
		struct iw_terminate t;

		set_up(&w, &(struct pair_opts){0});
		req.stag = iw_mr_rkey(w.word) ^ r->stag;
		req.to = r->at == WRAPS ? UINT64_MAX - 3 : (uintptr_t)w.p.b.arena + WORD + r->at;
		rdmap_hdr_atomic_req_emit(&req, body, sizeof(body));
		pair_inject(&w.p, &w.p.b, fpdu, pair_fpdu(fpdu, &h, body, r->len));
		iw_qp_terminate_info(w.p.b.qp, &t);
		if (r->layer == 0xff) {
			assert_false(t.valid);
			pair_close(&w.p);
			continue;
		}
		if (!t.valid || t.layer != r->layer || t.etype != r->etype || t.code != r->err)
			fail_msg("%s: %d %u/%u/%02x", r->what, t.valid, t.layer, t.etype, t.code);
		assert_int_equal(w.p.b.qp->term_out[2], t.layer == 2 ? 0 : 0xc0);
		pair_fill(&w.p, &w.p.b);
		assert_true(pair_untouched(&w.p.b, WORD, 4096));
		pair_close(&w.p);
	}
}

/* Rights and streams: another right is none; a wrap is told from bounds. */
static void
test_R16_rights(void **state)
{
	static const uint32_t rights[] = {IW_REMOTE_READ, IW_REMOTE_WRITE, IW_LOCAL_WRITE};

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct world w;
		struct iw_terminate t;
		struct iw_mr *mr;

		set_up(&w, &(struct pair_opts){0});
		mr = pair_mr(&w.p.b, WORD, 4096, i < 3 ? rights[i] : IW_REMOTE_ATOMIC);
		if (i == 3)
			mr->scope = w.p.b.qp->user.serial + 1;
		w.word = mr;
		assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){.data = 1}), 0);
		pair_pump(&w.p);
		iw_qp_terminate_info(w.p.b.qp, &t);
		assert_int_equal(t.layer << 8 | t.etype << 4 | t.code, i < 3 ? 0x012 : 0x013);
		assert_int_equal(pair_wc(&w.p.a).status, IW_WC_REM_ACCESS_ERR);
		assert_true(pair_untouched(&w.p.b, WORD, 64));
		pair_close(&w.p);
	}
}

/* R8, RFC 7306 §5.2.2: one more than the IRD. */
static void
test_R8_ird(void **state)
{
	struct world w;
	struct iw_terminate t;

	(void)state;
	set_up(&w, &(struct pair_opts){.ird = 2});
	w.p.a.qp->ord = 16;
	for (int i = 0; i < 3; i++)
		assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){.data = 1}), 0);
	pair_pump(&w.p);
	iw_qp_terminate_info(w.p.b.qp, &t);
	assert_int_equal(t.layer << 8 | t.etype << 4 | t.code, 0x122);
	pair_close(&w.p);
}

/* What answers may not be. */
static void
test_R16_responses(void **state)
{
	static const struct {
		int asked; /* 0: nothing, 1: an atomic, 2: a Read, then an atomic */
		uint32_t id, msn, len;
		bool last;
		uint32_t err; /* layer, type, code */
	} rows[] = {
		{0, 0, 1, 12, true, 0x1202},  {2, 0, 1, 12, true, 0x1202}, {1, 1, 1, 12, true, 0x02ff},
		{1, 0, 2, 12, true, 0x1203},  {1, 0, 1, 13, true, 0x1205}, {1, 0, 1, 11, true, 0x2003},
		{1, 0, 1, 12, false, 0x02ff}, {1, 0, 1, 12, true, 0xffff},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rdmap_atomic_resp resp = {.id = rows[i].id, .original = 77};
		struct ddp_hdr h = ddp_hdr_untagged(RDMAP_OP_ATOMIC_RESP, rows[i].last, 0, 3, rows[i].msn, 0);
		uint8_t body[32] = {0}, fpdu[64];
		struct world w;
		struct iw_terminate t;

		set_up(&w, &(struct pair_opts){0});
		if (rows[i].asked == 2)
			assert_int_equal(pair_rdma(&w.p.a, 1, IW_WR_RDMA_READ, NULL, 0, 0, NULL, 0, 0), 0);
		if (rows[i].asked)
			assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){.data = 1}), 0);
		pair_fill(&w.p, &w.p.a);
		rdmap_hdr_atomic_resp_emit(&resp, body, sizeof(body));
		pair_inject(&w.p, &w.p.a, fpdu, pair_fpdu(fpdu, &h, body, rows[i].len));
		iw_qp_terminate_info(w.p.a.qp, &t);
		if (rows[i].err == 0xffff) {
			assert_false(t.valid);
			assert_int_equal(get(w.p.a.arena + OLD), 77);
		} else {
			if ((t.layer << 12 | t.etype << 8 | t.code) != (int)rows[i].err)
				fail_msg("row %u: %u/%u/%02x", i, t.layer, t.etype, t.code);
			assert_true(pair_untouched(&w.p.a, OLD, 64));
		}
		pair_close(&w.p);
	}
}

/* The word's registration is taken back between request and turn: not carried out. */
static void
test_S6_gone_before_its_turn(void **state)
{
	struct world w;
	struct iw_terminate t;

	(void)state;
	set_up(&w, &(struct pair_opts){0});
	assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){.data = 1}), 0);
	pair_fill(&w.p, &w.p.a);
	pair_deliver(&w.p, &w.p.b);
	assert_int_equal(iw_mr_dereg(w.word), 0);
	pair_fill(&w.p, &w.p.b);
	iw_qp_terminate_info(w.p.b.qp, &t);
	assert_int_equal(t.layer << 8 | t.etype << 4 | t.code, 0x010);
	assert_true(pair_untouched(&w.p.b, WORD, 64));
	pair_close(&w.p);
}

/* The place for the original value: checked before the peer is asked, and again when the answer comes. */
static void
test_sink(void **state)
{
	struct world w;

	(void)state;
	set_up(&w, &(struct pair_opts){0});
	w.old = pair_mr(&w.p.a, OLD, 4096, 0);
	assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){.data = 1}), 0);
	pair_pump(&w.p);
	assert_int_equal(pair_wc(&w.p.a).status, IW_WC_LOC_ACCESS_ERR);
	assert_true(pair_untouched(&w.p.b, WORD, 64));
	pair_close(&w.p);

	set_up(&w, &(struct pair_opts){0});
	assert_int_equal(post(&w, IW_WR_FETCH_ADD, 0, (struct iw_atomic){.data = 1}), 0);
	pair_fill(&w.p, &w.p.a);
	assert_int_equal(iw_mr_dereg(w.old), 0);
	pair_pump(&w.p);
	assert_int_equal(pair_wc(&w.p.a).status, IW_WC_LOC_PROT_ERR);
	assert_true(pair_untouched(&w.p.a, OLD, 64));
	pair_close(&w.p);
}

static void
test_bad_requests(void **state)
{
	struct world w;
	struct iw_sge sge[2] = {{.length = 4}, {.length = 4}};
	struct iw_send_wr wr = {.opcode = IW_WR_FETCH_ADD, .sg_list = sge, .num_sge = 2};

	(void)state;
	set_up(&w, &(struct pair_opts){0});
	assert_int_equal(iw_post_send(w.p.a.qp, &wr, NULL), -IW_E_INVAL);
	wr.num_sge = 1;
	assert_int_equal(iw_post_send(w.p.a.qp, &wr, NULL), -IW_E_INVAL);
	sge[0].length = 8;
	wr.flags = IW_SEND_INLINE;
	assert_int_equal(iw_post_send(w.p.a.qp, &wr, NULL), -IW_E_INVAL);
	wr.flags = IW_SEND_SOLICITED;
	assert_int_equal(iw_post_send(w.p.a.qp, &wr, NULL), -IW_E_INVAL);
	pair_close(&w.p);
	set_up(&w, &(struct pair_opts){.ord = PAIR_NONE});
	assert_int_equal(post(&w, IW_WR_CMP_SWAP, 0, (struct iw_atomic){0}), -IW_E_INVAL);
	pair_close(&w.p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_octets),
		cmocka_unit_test(test_fetch_add_fields),
		cmocka_unit_test(test_fetch_add),
		cmocka_unit_test(test_cmp_swap),
		cmocka_unit_test(test_order_among_reads),
		cmocka_unit_test(test_R16_requests),
		cmocka_unit_test(test_R16_rights),
		cmocka_unit_test(test_R8_ird),
		cmocka_unit_test(test_R16_responses),
		cmocka_unit_test(test_S6_gone_before_its_turn),
		cmocka_unit_test(test_sink),
		cmocka_unit_test(test_bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
