/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the error tables (expect_errors.h), one test for each, against a real QP: as the initiator's and as the
 * responder's first FPDUs, whole, cut in views and octet by octet, and with markers in the stream.  Memory outside of
 * what the good FPDUs wrote stays untouched.
 * Rows that are more than some FPDUs have tests of the same name elsewhere: D13 and D17 in test_qp.c, R15 in
 * test_rdmap_tx.c. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expect_errors.h"
#include "pair.h"
#include "qp_obj.h"
#include "stag.h"

#define RECV_OFF 0x20000u
#define RECV_STEP(row) (is_big(row) ? 0x18000u : 0x1000u)
#define ARENA(row) (RECV_OFF + 2 * RECV_STEP(row))

static const uint32_t mr_off[EXPECT_STAGS] = {
	[EXPECT_RW] = 0x10000,   [EXPECT_RO] = 0x12000,   [EXPECT_WO] = 0x14000,     [EXPECT_OTHER_PD] = 0x16000,
	[EXPECT_GONE] = 0x18000, [EXPECT_SINK] = 0x1a000, [EXPECT_UNKNOWN] = 0x1c000};

static uint8_t octets[4 * EXPECT_FPDU_MAX];

struct world {
	struct pair p;
	struct pair_side *v, *peer; /* the QP under test; the one whose stream collects what it sends */
	struct expect_world w;
	struct iw_pd *other_pd;
	struct iw_mr *mr[EXPECT_STAGS], *recv_mr;
	uint8_t *image; /* what the arena must hold */
	uint8_t *octets;
	uint32_t at[5]; /* where each FPDU begins in octets */
};

static bool
is_big(const struct expect_row *row)
{
	return row->fpdu[0].payload > 500;
}

static struct iw_mr *
reg(struct world *x, enum expect_stag which, struct iw_pd *pd, uint32_t access)
{
	x->mr[which] = iw_mr_reg(pd, x->v->arena + mr_off[which], EXPECT_MR_LEN, access, NULL);
	assert_non_null(x->mr[which]);
	x->w.stag[which] = iw_mr_rkey(x->mr[which]);
	x->w.base[which] = (uintptr_t)x->v->arena + mr_off[which];
	return x->mr[which];
}

static void
make_stags(struct world *x)
{
	x->other_pd = iw_pd_create(x->v->domain);
	reg(x, EXPECT_RW, x->v->pd, IW_REMOTE_READ | IW_REMOTE_WRITE);
	reg(x, EXPECT_RO, x->v->pd, IW_REMOTE_READ);
	reg(x, EXPECT_WO, x->v->pd, IW_REMOTE_WRITE);
	reg(x, EXPECT_OTHER_PD, x->other_pd, IW_REMOTE_READ | IW_REMOTE_WRITE);
	assert_int_equal(iw_mr_dereg(reg(x, EXPECT_GONE, x->v->pd, IW_REMOTE_READ | IW_REMOTE_WRITE)), 0);
	x->mr[EXPECT_GONE] = NULL;
	reg(x, EXPECT_SINK, x->v->pd, IW_LOCAL_WRITE);
	x->w.stag[EXPECT_UNKNOWN] = stag_make(&x->v->domain->perm, 77777, 3, 0x5a);
	x->w.base[EXPECT_UNKNOWN] = (uintptr_t)x->v->arena + mr_off[EXPECT_UNKNOWN];
	x->w.stag[EXPECT_BAD_KEY] = x->w.stag[EXPECT_RW] ^ 0x21;
	x->w.base[EXPECT_BAD_KEY] = x->w.base[EXPECT_RW];
}

static void
discard(struct world *x)
{
	pair_fill(&x->p, x->v);
	x->peer->in.len = x->peer->in.avail = 0;
}

static void
set_up(struct world *x, const struct expect_row *row)
{
	make_stags(x);
	x->recv_mr = pair_mr(x->v, RECV_OFF, ARENA(row) - RECV_OFF, IW_LOCAL_WRITE);
	for (uint32_t i = 0; i < row->recvs; i++)
		assert_int_equal(pair_recv(x->v, i, x->v->arena + RECV_OFF + i * RECV_STEP(row), row->recv_len,
					   iw_mr_lkey(x->recv_mr)),
				 0);
	if (row->setup & EXPECT_READ) {
		assert_int_equal(pair_rdma(x->v, 99, IW_WR_RDMA_READ, x->v->arena + mr_off[EXPECT_SINK],
					   EXPECT_READ_LEN, x->w.stag[EXPECT_SINK], NULL, 1, IW_SEND_SIGNALED),
				 0);
		discard(x);
	}
	if (row->setup & EXPECT_SINK_GONE) {
		assert_int_equal(iw_mr_dereg(x->mr[EXPECT_SINK]), 0);
		x->mr[EXPECT_SINK] = NULL;
	}
	if (row->setup & EXPECT_MSN_WRAP)
		x->v->qp->queue[0].msn = 0xffffffff;
	if (row->setup & EXPECT_OUR_FIN) {
		qp_close(x->v->qp);
		discard(x);
		assert_true(x->v->out_bits & RDMAP_OUT_DRAINED);
	}
}

/* Puts one good FPDU into the image. */
static void
apply(struct world *x, const struct expect_row *row, uint32_t i)
{
	const struct expect_fpdu *f = &row->fpdu[i];
	uint8_t op = f->rdmap & 15;
	uint32_t first = row->setup & EXPECT_MSN_WRAP ? 0xffffffff : 1, off = 0;

	if (f->read || op == 7)
		return;
	if (f->ddp & 0x80)
		off = (uint32_t)((uint64_t)f->to + x->w.base[f->stag] - (uintptr_t)x->v->arena);
	else
		off = RECV_OFF + (f->msn - first) * RECV_STEP(row) + f->mo;
	if (f->payload)
		expect_payload(x->image + off, f, &x->w);
}

/* The FPDU that is at fault: its number from 1; one behind the last when there is none. */
static uint32_t
fault_at(const struct expect_row *row)
{
	if (row->outcome == EXPECT_ACCEPT)
		return row->n + 1;
	if (row->outcome == EXPECT_TERM_IN)
		return 1;
	if (row->setup & EXPECT_PEER_FIN)
		return row->fpdu[row->n - 1].missing ? row->n : row->n + 1;
	return row->fault_at ? row->fault_at : row->n;
}

static void
check_memory(struct world *x, const struct expect_row *row)
{
	uint32_t to = row->placed ? RECV_OFF : ARENA(row);

	for (uint32_t i = 0; i + 1 < fault_at(row) && i < row->n; i++)
		apply(x, row, i);
	assert_memory_equal(x->v->arena, x->image, to);
}

static void
check_terminate(struct world *x, const struct expect_row *row, const uint8_t *t)
{
	const uint8_t *bad = x->octets + x->at[fault_at(row) - 1];
	static const uint8_t head[] = {0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0};
	bool alt = t[20] == (row->alt_layer << 4 | row->alt_etype) && t[21] == row->alt_code && row->alt_code;
	uint32_t hdr = bad[2] & 0x80 ? 14 : 18;
	struct iw_terminate info;

	assert_memory_equal(t + 2, head, sizeof(head));
	if (!alt) {
		assert_int_equal(t[20], row->layer << 4 | row->etype);
		assert_int_equal(t[21], row->code);
	}
	assert_int_equal(t[22], (row->md ? 0xc0 : 0) | (row->r ? 0x20 : 0));
	assert_int_equal(t[23], 0);
	assert_int_equal(t[0] << 8 | t[1], 18 + 4 + (row->md ? 2 + hdr : 0) + (row->r ? 28 : 0));
	if (row->md) {
		assert_memory_equal(t + 24, bad, 2);
		assert_memory_equal(t + 26, bad + 2, hdr);
	}
	if (row->r)
		assert_memory_equal(t + 26 + hdr, bad + 2 + hdr, 28);
	iw_qp_terminate_info(x->v->qp, &info);
	assert_true(info.valid && info.sent);
	assert_int_equal(info.layer << 4 | info.etype, t[20]);
	assert_int_equal(info.code, t[21]);
}

/* Walks what the QP has sent: Read Responses, and perhaps a Terminate at the end. */
static void
check_sent(struct world *x, const struct expect_row *row)
{
	const struct pair_stream *s = &x->peer->in;
	uint32_t responses = 0;
	bool term = false;

	for (uint32_t off = 0; off < s->len;) {
		const uint8_t *f = s->p + off;
		uint32_t ulpdu = (uint32_t)f[0] << 8 | f[1];

		assert_false(term); /* nothing behind a Terminate */
		responses += f[2] == 0xc1 && f[3] == 0x42;
		term = f[3] == 0x47;
		if (term)
			check_terminate(x, row, f);
		off += 2 + ulpdu + (-(ulpdu + 2) & 3) + 4;
	}
	assert_int_equal(term, row->outcome == EXPECT_TERMINATE);
	assert_int_equal(responses, row->responses);
}

static void
check_completions(struct world *x, const struct expect_row *row)
{
	uint32_t good = 0, recvs = 0, reads = 0;
	bool ended = row->outcome != EXPECT_ACCEPT;
	struct iw_wc wc;

	while (iw_cq_poll(x->v->cq, &wc, 1) == 1) {
		if (wc.opcode == IW_WC_RDMA_READ) {
			reads++;
			continue;
		}
		assert_int_equal(wc.wr_id, recvs++);
		good += wc.status == IW_WC_SUCCESS;
		assert_true(wc.status != IW_WC_SUCCESS || good == recvs);
	}
	assert_int_equal(good, row->received);
	if (ended)
		assert_int_equal(recvs, row->recvs);
	if (ended || row->name[0] == 'R')
		assert_int_equal(reads, row->setup & EXPECT_READ ? 1 : 0);
}

static void
check_end(struct world *x, const struct expect_row *row)
{
	enum iw_qp_state state = iw_qp_state(x->v->qp);
	uint32_t bits = x->v->out_bits & (RDMAP_OUT_TERM_SENT | RDMAP_OUT_TERM_RECV | RDMAP_OUT_FATAL);
	struct iw_terminate info;

	iw_qp_terminate_info(x->v->qp, &info);
	switch (row->outcome) {
	case EXPECT_ACCEPT:
		assert_int_equal(state, IW_QP_RTS);
		assert_int_equal(bits, 0);
		break;
	case EXPECT_TERMINATE:
		assert_int_equal(state, IW_QP_TERMINATE);
		assert_int_equal(bits, RDMAP_OUT_TERM_SENT);
		break;
	case EXPECT_TERM_IN:
		assert_int_equal(state, IW_QP_ERROR);
		assert_int_equal(bits, RDMAP_OUT_TERM_RECV);
		assert_true(info.valid && !info.sent);
		assert_int_equal(info.malformed, row->malformed);
		if (!row->malformed || row->code) {
			assert_int_equal(info.layer << 4 | info.etype, row->layer << 4 | row->etype);
			assert_int_equal(info.code, row->code);
		}
		break;
	case EXPECT_RESET:
		assert_int_equal(state, IW_QP_ERROR);
		assert_int_equal(bits, row->setup & EXPECT_PEER_FIN ? 0 : RDMAP_OUT_FATAL);
		break;
	}
}

/* The CRC at the end of an FPDU with markers: off from the right value by what it was off without them. */
static void
remake_crc(const uint8_t *plain, uint32_t n, uint8_t *marked, uint32_t m)
{
	uint32_t was = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, plain, n - 4));
	uint32_t now = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, marked, m - 4));

	for (int i = 0; i < 4; i++)
		marked[m - 4 + (uint32_t)i] ^= (uint8_t)(was >> 8 * i) ^ (uint8_t)(now >> 8 * i);
}

/* Puts markers into the octets of the peer (RFC 5044 §4.3), and makes the CRCs as right or wrong as they were. */
static uint32_t
mark(const struct world *x, const struct expect_row *row, uint32_t len, uint8_t *out)
{
	uint32_t n = row->n, at = 0, length_at = 0, from = 0;

	for (uint32_t i = 0, k = 0; i < len; i++) {
		bool begins = k < n && i == x->at[k], ends = i + 1 == (k < n ? x->at[k] : len);

		if (begins) {
			from = at;
			k++;
			ends = i + 1 == (k < n ? x->at[k] : len);
		}
		if (at % 512 == 0) {
			uint32_t pointer = begins ? 0 : at - length_at;

			memcpy(out + at, (const uint8_t[]){0, 0, (uint8_t)(pointer >> 8), (uint8_t)pointer}, 4);
			at += 4;
		}
		if (begins)
			length_at = at;
		out[at++] = x->octets[i];
		if (ends && i + 1 - x->at[k - 1] >= 8)
			remake_crc(x->octets + x->at[k - 1], i + 1 - x->at[k - 1], out + from, at - from);
	}
	return at;
}

static void
run_octets(struct world *x, const struct expect_row *row)
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < row->n; i++) {
		x->at[i] = len;
		len += expect_build(row, i, &x->w, x->octets + len);
	}
	x->image = malloc(ARENA(row));
	memcpy(x->image, x->v->arena, ARENA(row));
	if (x->p.o.rx_markers) {
		static uint8_t marked[4 * EXPECT_FPDU_MAX + 4096];

		len = mark(x, row, len, marked);
		pair_inject(&x->p, x->v, marked, len);
	} else {
		pair_inject(&x->p, x->v, x->octets, len);
	}
	if (row->setup & EXPECT_PEER_FIN) { /* what cm makes of a FIN (F7) */
		assert_int_equal(qp_is_mid_message(x->v->qp), row->outcome == EXPECT_RESET);
		if (qp_is_mid_message(x->v->qp))
			qp_stream_end(x->v->qp, -IW_E_CONNRESET);
	}
	pair_fill(&x->p, x->v);
}

static void
tear_down(struct world *x)
{
	for (int i = 0; i < EXPECT_STAGS; i++)
		if (x->mr[i])
			assert_int_equal(iw_mr_dereg(x->mr[i]), 0);
	assert_int_equal(iw_pd_destroy(x->other_pd), 0);
	free(x->image);
	pair_close(&x->p);
}

enum { INITIATOR = 1, MARKERS = 2 };

static void
run_row(const struct expect_row *row, unsigned how, uint32_t view, uint32_t step)
{
	struct pair_opts o = {.ird = EXPECT_IRD,
			      .arena = ARENA(row),
			      .no_crc = row->setup & EXPECT_CRC_OFF,
			      .rx_markers = how & MARKERS,
			      .room = 8948,
			      .view = view,
			      .step = step};
	struct world x = {.image = NULL};

	pair_open(&x.p, &o);
	x.v = how & INITIATOR ? &x.p.a : &x.p.b;
	x.peer = how & INITIATOR ? &x.p.b : &x.p.a;
	x.octets = octets;
	set_up(&x, row);
	run_octets(&x, row);
	check_sent(&x, row);
	check_end(&x, row);
	check_completions(&x, row);
	check_memory(&x, row);
	tear_down(&x);
}

/* Every row of that name; returns how many. */
static uint32_t
run_rows(const char *name, unsigned how, uint32_t view, uint32_t step)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < EXPECT_ROWS; i++) {
		const struct expect_row *row = &expect_rows[i];

		if (strcmp(row->name, name))
			continue;
		n++;
		/* A responder sends nothing, not even a Read, before it heard something. */
		if (!(how & INITIATOR) && row->setup & EXPECT_READ)
			continue;
		if (is_big(row) && (step || view))
			run_row(row, how, 1448, 10000);
		else
			run_row(row, how, view, step);
	}
	return n;
}

/* F8: however the octets are cut, the result is the same. */
static void
run_name(const char *name)
{
	assert_true(run_rows(name, INITIATOR, 0, 0) > 0);
	run_rows(name, 0, 0, 0);
	run_rows(name, INITIATOR, 0, 1);
	run_rows(name, INITIATOR, 3, 0);
	run_rows(name, 0, 17, 5);
	run_rows(name, INITIATOR | MARKERS, 0, 0);
	run_rows(name, MARKERS, 3, 7);
	run_rows(name, MARKERS, 0, 1);
}

/* clang-format off */
#define ROWS(X)                                                                                                      \
	X(F1) X(F3) X(F4) X(F5) X(F6) X(F7) X(F9)                                                                    \
	X(D1) X(D2) X(D3) X(D4) X(D5) X(D6) X(D7) X(D8) X(D9) X(D10) X(D11) X(D12) X(D14) X(D15) X(D16) X(D17) X(D18) \
	X(R1) X(R2) X(R3) X(R4) X(R5) X(R6) X(R7) X(R8) X(R9) X(R10) X(R11) X(R12) X(R13) X(R14) X(R17) X(R18)
/* clang-format on */

#define ROW_TEST(name)                        \
	static void test_##name(void **state) \
	{                                     \
		(void)state;                  \
		run_name(#name);              \
	}
ROWS(ROW_TEST)

/* F8: three FPDUs and one octet of the next in one burst; then the rest, at every cut. */
static void
test_F8(void **state)
{
	static const struct expect_row row = {
		"F8",
		"three and a bit",
		0,
		2,
		64,
		{{EXPECT_SEND(1, 0, 13)}, {EXPECT_WRITE(RW, 0, 16)}, {EXPECT_WRITE(RW, 64, 7)}, {EXPECT_SEND(2, 0, 30)}},
		4,
		EXPECT_OK(2)};

	(void)state;
	for (uint32_t step = 1; step < 160; step += step < 70 ? 1 : 7) {
		run_row(&row, INITIATOR, 0, step);
		run_row(&row, MARKERS, 0, step);
	}
	for (uint32_t view = 1; view < 40; view++)
		run_row(&row, 0, view, 0);
}

/* F2: a marker of a good FPDU whose FPDUPTR is wrong, CRC right: L2/E0/C3 without copies; its two low bits and the
 * reserved half do not count. */
static void
one_marker(uint32_t octet, uint8_t flip, bool bad)
{
	static const struct expect_row row = {
		"F2", "", 0, 1, 64, {{EXPECT_SEND(1, 0, 8)}}, 1, EXPECT_FAULT(2, 0, 0x03)};
	static const struct expect_row good = {"F2", "", 0, 1, 64, {{EXPECT_SEND(1, 0, 8)}}, 1, EXPECT_OK(1)};
	struct pair_opts o = {.ird = EXPECT_IRD, .arena = ARENA(&row), .rx_markers = true, .room = 8948};
	struct world x = {.image = NULL};
	uint8_t marked[128];
	uint32_t len;

	pair_open(&x.p, &o);
	x.v = &x.p.a;
	x.peer = &x.p.b;
	x.octets = octets;
	set_up(&x, &row);
	len = expect_build(&row, 0, &x.w, x.octets);
	len = mark(&x, &row, len, marked);
	marked[octet] ^= flip;
	memset(marked + len - 4, 0, 4);
	remake_crc((const uint8_t *)"\0\0\0\0", 4, marked, len); /* off by that of nothing: 0 */
	x.image = malloc(ARENA(&row));
	memcpy(x.image, x.v->arena, ARENA(&row));
	pair_inject(&x.p, x.v, marked, len);
	pair_fill(&x.p, x.v);
	check_sent(&x, bad ? &row : &good);
	check_end(&x, bad ? &row : &good);
	check_completions(&x, bad ? &row : &good);
	check_memory(&x, bad ? &row : &good);
	tear_down(&x);
}

static void
test_F2(void **state)
{
	(void)state;
	for (uint32_t bit = 0; bit < 32; bit++)
		one_marker(bit / 8, (uint8_t)(0x80 >> bit % 8), bit >= 16 && bit < 30);
}

int
main(void)
{
#define ROW_ENTRY(name) cmocka_unit_test(test_##name),
	const struct CMUnitTest tests[] = {ROWS(ROW_ENTRY) cmocka_unit_test(test_F2), cmocka_unit_test(test_F8)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
