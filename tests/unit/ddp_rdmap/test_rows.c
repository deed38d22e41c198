/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the error tables (expect_errors.h), each against a real QP: as the initiator's and as the responder's
 * first FPDUs, whole, cut in views and octet by octet.  Memory outside of what the good FPDUs wrote stays untouched. */
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

#define ARENA 0x60000u
#define RECV_OFF 0x20000u
#define RECV_STEP 0x18000u

static const uint32_t mr_off[EXPECT_STAGS] = {
	[EXPECT_RW] = 0x10000,   [EXPECT_RO] = 0x12000,   [EXPECT_WO] = 0x14000,     [EXPECT_OTHER_PD] = 0x16000,
	[EXPECT_GONE] = 0x18000, [EXPECT_SINK] = 0x1a000, [EXPECT_UNKNOWN] = 0x1c000};

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
	x->recv_mr = pair_mr(x->v, RECV_OFF, ARENA - RECV_OFF, IW_LOCAL_WRITE);
	for (uint32_t i = 0; i < row->recvs; i++)
		assert_int_equal(pair_recv(x->v, i, x->v->arena + RECV_OFF + i * RECV_STEP, row->recv_len,
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
		off = RECV_OFF + (f->msn - first) * RECV_STEP + f->mo;
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
	uint32_t to = row->placed ? RECV_OFF : ARENA;

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

static void
run_octets(struct world *x, const struct expect_row *row)
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < row->n; i++) {
		x->at[i] = len;
		len += expect_build(row, i, &x->w, x->octets + len);
	}
	x->image = malloc(ARENA);
	memcpy(x->image, x->v->arena, ARENA);
	pair_inject(&x->p, x->v, x->octets, len);
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
	free(x->octets);
	pair_close(&x->p);
}

static void
run_row(const struct expect_row *row, bool initiator, uint32_t view, uint32_t step)
{
	struct pair_opts o = {.ird = EXPECT_IRD,
			      .arena = ARENA,
			      .no_crc = row->setup & EXPECT_CRC_OFF,
			      .room = 8948,
			      .view = view,
			      .step = step};
	struct world x = {.image = NULL};

	pair_open(&x.p, &o);
	x.v = initiator ? &x.p.a : &x.p.b;
	x.peer = initiator ? &x.p.b : &x.p.a;
	x.octets = malloc(4 * EXPECT_FPDU_MAX);
	set_up(&x, row);
	run_octets(&x, row);
	check_sent(&x, row);
	check_end(&x, row);
	check_completions(&x, row);
	check_memory(&x, row);
	tear_down(&x);
}

static bool
is_big(const struct expect_row *row)
{
	return row->fpdu[0].payload > 500;
}

static void
run_rows(bool initiator, uint32_t view, uint32_t step)
{
	for (uint32_t i = 0; i < EXPECT_ROWS; i++) {
		const struct expect_row *row = &expect_rows[i];

		/* A responder sends nothing, not even a Read, before it heard something. */
		if (!initiator && row->setup & EXPECT_READ)
			continue;
		if (is_big(row) && (step || view))
			run_row(row, initiator, 1448, 10000);
		else
			run_row(row, initiator, view, step);
	}
}

static void
test_rows_whole(void **state)
{
	(void)state;
	run_rows(true, 0, 0);
}

static void
test_rows_at_responder(void **state)
{
	(void)state;
	run_rows(false, 0, 0);
}

/* F8: any cut, the same result. */
static void
test_F8_octet_by_octet(void **state)
{
	(void)state;
	run_rows(true, 0, 1);
}

static void
test_F8_views(void **state)
{
	(void)state;
	run_rows(true, 3, 0);
	run_rows(false, 17, 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_whole),
		cmocka_unit_test(test_rows_at_responder),
		cmocka_unit_test(test_F8_octet_by_octet),
		cmocka_unit_test(test_F8_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
