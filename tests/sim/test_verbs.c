/* SPDX-License-Identifier: BSD-3-Clause */
/* Every verb between two whole stacks, both ways, on a clean and on a lossy wire: what is placed, what completes where,
 * with which flags. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"
#include "pair.h"

#define AREA 200000u
#define IOVA UINT64_C(0x200000000)
#define RIGHTS (IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC)

static const uint32_t lengths[] = {0, 1, 3, 1441, 1442, 1443, 20001, AREA};

struct side {
	struct pair_end *end;
	uint8_t *src, *dst;
	struct iw_mr *src_mr, *dst_mr;
};

struct world {
	struct sim *sim;
	struct pair pair;
	struct side side[2];
	uint64_t id;
};

static void
open_side(struct side *s, struct pair_end *end, uint32_t seed)
{
	s->end = end;
	s->src = oracle_between(AREA);
	s->dst = oracle_between(AREA);
	s->src_mr = iw_mr_reg(end->pd, s->src, AREA, RIGHTS | IW_MW_BIND, NULL);
	s->dst_mr = iw_mr_reg(end->pd, s->dst, AREA, RIGHTS | IW_MW_BIND, NULL);
	for (uint32_t i = 0; i < AREA; i++)
		s->src[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + seed);
	memset(s->dst, 0, AREA);
}

static void
set_up(struct world *w, const struct sim_wire *wire)
{
	const struct iw_qp_attr attr = {.sq_depth = 32, .rq_depth = 32, .max_ird = 2, .max_ord = 2};

	memset(w, 0, sizeof(*w));
	w->sim = malloc(sizeof(*w->sim));
	sim_init(w->sim, 42, 2, 1500);
	w->sim->wire = *wire;
	pair_init(&w->pair, w->sim, &attr);
	for (int i = 0; i < 2; i++)
		open_side(&w->side[i], &w->pair.end[i], (uint32_t)i * 101);
	w->pair.end[0].attr.connect_timeout_ms = 60000;
	assert_true(pair_connect(&w->pair, 60 * IW_SEC));
}

static void
tear_down(struct world *w)
{
	assert_true(pair_disconnect(&w->pair, 300 * IW_SEC));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(iw_mr_dereg(w->side[i].src_mr), 0);
		assert_int_equal(iw_mr_dereg(w->side[i].dst_mr), 0);
	}
	pair_fini(&w->pair);
	sim_run(w->sim, 400 * IW_SEC);
	sim_fini(w->sim);
	free(w->sim);
}

static struct iw_wc
next_wc(struct world *w, const struct side *s)
{
	uint64_t end = w->sim->now_ns + 100 * IW_SEC;
	struct iw_wc wc;

	while (iw_cq_poll(s->end->cq, &wc, 1) == 0) {
		assert_true(w->sim->now_ns < end);
		sim_step(w->sim, end);
	}
	return wc;
}

static void
post(struct world *w, struct side *s, struct iw_send_wr wr)
{
	wr.wr_id = ++w->id;
	wr.flags |= IW_SEND_SIGNALED;
	assert_int_equal(iw_post_send(s->end->qp, &wr, NULL), 0);
}

static void
done(struct world *w, const struct side *s, uint8_t opcode, uint8_t status)
{
	struct iw_wc wc = next_wc(w, s);

	assert_string_equal(iw_wc_status_name(wc.status), iw_wc_status_name(status));
	assert_string_equal(iw_wc_opcode_name(wc.opcode), iw_wc_opcode_name(opcode));
	assert_int_equal(wc.wr_id, w->id);
}

static void
post_recv(struct side *s, uint32_t len)
{
	struct iw_sge sge = {(uintptr_t)s->dst, len, iw_mr_lkey(s->dst_mr)};
	struct iw_recv_wr wr = {.wr_id = len, .sg_list = &sge, .num_sge = 1};

	assert_int_equal(iw_post_recv(s->end->qp, &wr, NULL), 0);
}

static struct iw_wc
received(struct world *w, const struct side *s, uint16_t flags)
{
	struct iw_wc wc = next_wc(w, s);

	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.opcode, IW_WC_RECV);
	assert_int_equal(wc.flags, flags);
	return wc;
}

/* Sends of every kind and length; the ones that invalidate take back a fast registration of the peer's. */
static void
sends(struct world *w, struct side *a, struct side *b, struct iw_mr *fast, uint32_t len)
{
	for (int kind = 0; kind < 4; kind++) {
		struct iw_sge sge = {(uintptr_t)a->src, len, iw_mr_lkey(a->src_mr)};
		struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .flags = kind & 1 ? IW_SEND_SOLICITED : 0};
		uint16_t flags = (kind & 1 ? IW_WC_SOLICITED : 0) | (kind & 2 ? IW_WC_WITH_INV : 0);
		struct iw_iov iov = {b->dst, AREA};
		struct iw_wc wc;

		if (kind & 2) {
			post(w, b,
			     (struct iw_send_wr){.opcode = IW_WR_FAST_REG,
						 .reg = {fast, &iov, 1, iw_rkey_next(iw_mr_rkey(fast)), IOVA,
							 IW_REMOTE_READ | IW_REMOTE_INVALIDATE}});
			done(w, b, IW_WC_FAST_REG, IW_WC_SUCCESS);
			wr.opcode = IW_WR_SEND_INV;
			wr.invalidate_rkey = iw_mr_rkey(fast);
		}
		memset(b->dst, 0xee, AREA);
		post_recv(b, len);
		post(w, a, wr);
		done(w, a, IW_WC_SEND, IW_WC_SUCCESS);
		wc = received(w, b, flags);
		assert_int_equal(wc.byte_len, len);
		if (kind & 2)
			assert_int_equal(wc.invalidated_rkey, iw_mr_rkey(fast));
		assert_memory_equal(b->dst, a->src, len);
		assert_int_equal(len < AREA ? b->dst[len] : 0xee, 0xee);
	}
}

/* Writes and Reads through a registration, a window, and scattered memory. */
static void
one_sided(struct world *w, struct side *a, struct side *b, uint64_t remote, uint32_t rkey, const uint8_t *there,
	  uint32_t len)
{
	struct iw_sge sge = {(uintptr_t)a->src, len, iw_mr_lkey(a->src_mr)};

	memset(b->dst, 0xee, AREA);
	post_recv(b, 0);
	post(w, a,
	     (struct iw_send_wr){.opcode = IW_WR_RDMA_WRITE_IMM,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .flags = IW_SEND_SOLICITED,
				 .remote_addr = remote,
				 .rkey = rkey,
				 .imm_data = UINT64_MAX - len});
	done(w, a, IW_WC_RDMA_WRITE, IW_WC_SUCCESS);
	assert_true(received(w, b, IW_WC_WITH_IMM | IW_WC_SOLICITED).imm_data == UINT64_MAX - len);
	if (there)
		assert_memory_equal(there, a->src, len);
	memset(a->dst, 0xee, AREA);
	sge = (struct iw_sge){(uintptr_t)a->dst, len, iw_mr_lkey(a->dst_mr)};
	post(w, a,
	     (struct iw_send_wr){
		     .opcode = IW_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1, .remote_addr = remote, .rkey = rkey});
	done(w, a, IW_WC_RDMA_READ, IW_WC_SUCCESS);
	assert_memory_equal(a->dst, a->src, len);
	assert_int_equal(len < AREA ? a->dst[len] : 0xee, 0xee);
}

static void
through_window(struct world *w, struct side *a, struct side *b, struct iw_mw *mw)
{
	struct iw_mw_bind bind = {mw,
				  b->dst_mr,
				  (uintptr_t)b->dst + 100,
				  5000,
				  iw_rkey_next(iw_mw_rkey(mw)),
				  IW_REMOTE_READ | IW_REMOTE_WRITE};

	post(w, b, (struct iw_send_wr){.opcode = IW_WR_BIND_MW, .bind = bind});
	done(w, b, IW_WC_BIND_MW, IW_WC_SUCCESS);
	one_sided(w, a, b, bind.addr, iw_mw_rkey(mw), b->dst + 100, 5000);
	post(w, b, (struct iw_send_wr){.opcode = IW_WR_LOCAL_INV, .invalidate_rkey = iw_mw_rkey(mw)});
	done(w, b, IW_WC_LOCAL_INV, IW_WC_SUCCESS);
}

static void
through_pages(struct world *w, struct side *a, struct side *b, struct iw_mr *fast)
{
	struct iw_iov iov[8];

	for (int i = 0; i < 8; i++)
		iov[i] = (struct iw_iov){b->dst + 20000 * (7 - i), 1000 + (uint64_t)i};
	post(w, b,
	     (struct iw_send_wr){
		     .opcode = IW_WR_FAST_REG,
		     .reg = {fast, iov, 8, iw_rkey_next(iw_mr_rkey(fast)), IOVA, IW_REMOTE_READ | IW_REMOTE_WRITE}});
	done(w, b, IW_WC_FAST_REG, IW_WC_SUCCESS);
	one_sided(w, a, b, IOVA, iw_mr_rkey(fast), NULL, 8028);
	for (uint32_t i = 0, at = 0; i < 8; at += 1000 + i, i++)
		assert_memory_equal(b->dst + 20000 * (7 - i), a->src + at, 1000 + i);
	post(w, b, (struct iw_send_wr){.opcode = IW_WR_LOCAL_INV, .invalidate_rkey = iw_mr_rkey(fast)});
	done(w, b, IW_WC_LOCAL_INV, IW_WC_SUCCESS);
}

/* A Read whose sink is given out for it alone: registered, read into, taken back, in one chain. */
static void
read_into_pages(struct world *w, struct side *a, struct side *b, struct iw_mr *fast)
{
	struct iw_iov iov[2] = {{a->dst + 9000, 700}, {a->dst, 3000}};
	uint32_t key = iw_rkey_next(iw_mr_rkey(fast));
	struct iw_sge sge = {IOVA, 3700, key};
	const struct iw_send_wr read = {.wr_id = w->id + 2,
					.opcode = IW_WR_RDMA_READ_INV,
					.flags = IW_SEND_SIGNALED,
					.sg_list = &sge,
					.num_sge = 1,
					.invalidate_rkey = key,
					.remote_addr = (uintptr_t)b->src,
					.rkey = iw_mr_rkey(b->src_mr)};
	const struct iw_send_wr reg = {.next = &read,
				       .wr_id = w->id + 1,
				       .opcode = IW_WR_FAST_REG,
				       .reg = {fast, iov, 2, key, IOVA, IW_LOCAL_WRITE}};

	assert_int_equal(iw_post_send(a->end->qp, &reg, NULL), 0);
	w->id += 2;
	done(w, a, IW_WC_RDMA_READ, IW_WC_SUCCESS);
	assert_memory_equal(a->dst + 9000, b->src, 700);
	assert_memory_equal(a->dst, b->src + 700, 3000);
	post(w, a, (struct iw_send_wr){.opcode = IW_WR_LOCAL_INV, .invalidate_rkey = key});
	done(w, a, IW_WC_LOCAL_INV, IW_WC_LOC_QP_OP_ERR); /* it is taken back already */
}

static void
atomics(struct world *w, struct side *a, struct side *b)
{
	uint64_t *word = (uint64_t *)(b->dst + 64), *old = (uint64_t *)(a->dst + 128);
	struct iw_sge sge = {(uintptr_t)old, 8, iw_mr_lkey(a->dst_mr)};
	struct iw_send_wr wr = {.opcode = IW_WR_FETCH_ADD,
				.sg_list = &sge,
				.num_sge = 1,
				.remote_addr = (uintptr_t)word,
				.rkey = iw_mr_rkey(b->dst_mr),
				.atomic = {.data = 5}};

	*word = UINT64_MAX - 1;
	post(w, a, wr);
	done(w, a, IW_WC_FETCH_ADD, IW_WC_SUCCESS);
	assert_true(*old == UINT64_MAX - 1);
	assert_int_equal(*word, 3);
	wr.opcode = IW_WR_CMP_SWAP;
	wr.atomic = (struct iw_atomic){.data = 0x77, .mask = 0xff, .compare = 3, .compare_mask = UINT64_MAX};
	post(w, a, wr);
	done(w, a, IW_WC_CMP_SWAP, IW_WC_SUCCESS);
	assert_int_equal(*old, 3);
	assert_int_equal(*word, 0x77);
	for (int i = 0; i < 20; i++) { /* more than the ORD takes at once */
		wr.opcode = IW_WR_FETCH_ADD;
		wr.atomic = (struct iw_atomic){.data = 1};
		post(w, a, wr);
	}
	w->id -= 20;
	for (int i = 0; i < 20; i++) {
		w->id++;
		done(w, a, IW_WC_FETCH_ADD, IW_WC_SUCCESS);
	}
	assert_int_equal(*word, 0x77 + 20);
}

static void
immediate(struct world *w, struct side *a, struct side *b)
{
	post_recv(b, 8);
	post(w, a, (struct iw_send_wr){.opcode = IW_WR_IMM, .imm_data = 0x1122334455667788});
	done(w, a, IW_WC_IMM, IW_WC_SUCCESS);
	assert_true(received(w, b, IW_WC_WITH_IMM).imm_data == 0x1122334455667788);
}

static void
all_verbs(const struct sim_wire *wire)
{
	struct world w;

	set_up(&w, wire);
	for (int i = 0; i < 2; i++) {
		struct side *a = &w.side[i], *b = &w.side[!i];
		struct iw_mr *fast_a = iw_mr_create_fast(a->end->engine, a->end->pd, 16, NULL);
		struct iw_mr *fast_b = iw_mr_create_fast(b->end->engine, b->end->pd, 16, NULL);
		struct iw_mw *mw = iw_mw_create(b->end->engine, b->end->pd, NULL);

		for (uint32_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			sends(&w, a, b, fast_b, lengths[k]);
			one_sided(&w, a, b, (uintptr_t)b->dst, iw_mr_rkey(b->dst_mr), b->dst, lengths[k]);
		}
		immediate(&w, a, b);
		through_window(&w, a, b, mw);
		through_pages(&w, a, b, fast_b);
		read_into_pages(&w, a, b, fast_a);
		atomics(&w, a, b);
		assert_int_equal(iw_mr_dereg(fast_a), 0);
		assert_int_equal(iw_mr_dereg(fast_b), 0);
		assert_int_equal(iw_mw_destroy(mw), 0);
	}
	tear_down(&w);
}

static void
test_clean(void **state)
{
	(void)state;
	all_verbs(&(struct sim_wire){.delay_ns = 10 * IW_US});
}

static void
test_lossy(void **state)
{
	(void)state;
	all_verbs(&(struct sim_wire){.delay_ns = 100 * IW_US, .jitter_ns = 50 * IW_US, .loss = 0.02, .dup = 0.02});
}

struct heard {
	uint32_t n;
	struct iw_async_event ev;
};

static void
on_async(struct iw_engine *engine, const struct iw_async_event *event, void *context)
{
	struct heard *h = context;

	(void)engine;
	h->n++;
	h->ev = *event;
}

/* A misaligned atomic: its request fails for the requester, both users hear why, the streams end. */
static void
test_error(void **state)
{
	struct heard heard[2] = {{0}};
	struct iw_sge sge;
	struct world w;

	(void)state;
	set_up(&w, &(struct sim_wire){.delay_ns = 10 * IW_US});
	for (int i = 0; i < 2; i++)
		assert_int_equal(iw_engine_set_async(w.side[i].end->engine, on_async, &heard[i]), 0);
	assert_int_equal(iw_engine_set_async(NULL, on_async, NULL), -IW_E_INVAL);
	sge = (struct iw_sge){(uintptr_t)w.side[0].dst, 8, iw_mr_lkey(w.side[0].dst_mr)};
	post(&w, &w.side[0],
	     (struct iw_send_wr){.opcode = IW_WR_FETCH_ADD,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .remote_addr = (uintptr_t)w.side[1].dst + 4,
				 .rkey = iw_mr_rkey(w.side[1].dst_mr)});
	done(&w, &w.side[0], IW_WC_FETCH_ADD, IW_WC_REM_OP_ERR);
	assert_true(sim_until(w.sim, &w.pair.both_closed, 100 * IW_SEC));
	assert_int_equal(heard[0].n, 1);
	assert_int_equal(heard[0].ev.type, IW_ASYNC_QP_TERMINATE);
	assert_ptr_equal(heard[0].ev.qp, w.side[0].end->qp);
	assert_int_equal(heard[1].n, 1);
	assert_int_equal(heard[1].ev.type, IW_ASYNC_QP_FATAL);
	assert_int_equal(heard[1].ev.term.code, 0x07);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(iw_mr_dereg(w.side[i].src_mr), 0);
		assert_int_equal(iw_mr_dereg(w.side[i].dst_mr), 0);
	}
	pair_fini(&w.pair);
	sim_run(w.sim, 400 * IW_SEC);
	sim_fini(w.sim);
	free(w.sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_clean), cmocka_unit_test(test_lossy),
					   cmocka_unit_test(test_error)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
