/* SPDX-License-Identifier: BSD-3-Clause */
#include "wr.h"

#include <pthread.h>

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "qp_obj.h"

static void
test_bad_requests(void **state)
{
	struct iw_sge sge[2] = {{.addr = 1000, .length = 300}, {.addr = 2000, .length = UINT32_MAX}};
	const struct {
		struct iw_send_wr wr;
		int err;
	} rows[] = {
		{{.opcode = IW_WR_SEND}, 0},
		{{.opcode = IW_WR_SEND, .sg_list = sge, .num_sge = 1}, 0},
		{{.opcode = IW_WR_BIND_MW + 1}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .num_sge = 1}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .num_sge = -1, .sg_list = sge}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .num_sge = IW_MAX_SGE + 1, .sg_list = sge}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .flags = 0x80}, -IW_E_INVAL},
		{{.opcode = IW_WR_RDMA_WRITE, .flags = IW_SEND_SOLICITED}, -IW_E_INVAL},
		{{.opcode = IW_WR_RDMA_READ, .flags = IW_SEND_INLINE}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .flags = IW_SEND_INLINE, .sg_list = sge, .num_sge = 1}, -IW_E_TOOBIG},
		{{.opcode = IW_WR_SEND, .sg_list = sge, .num_sge = 2}, -IW_E_TOOBIG},
		{{.opcode = IW_WR_SEND, .sg_list = sge + 1, .num_sge = 1}, 0},
		{{.opcode = IW_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 1, .remote_addr = UINT64_MAX - 298},
		 -IW_E_INVAL},
		{{.opcode = IW_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 1, .remote_addr = UINT64_MAX - 299}, 0},
	};
	struct wr_send slot;

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (wr_send_copy(&slot, &rows[i].wr, false) != rows[i].err)
			fail_msg("row %u", i);
	sge[0].addr = UINT64_MAX - 100;
	assert_int_equal(wr_send_copy(&slot, &rows[1].wr, false), -IW_E_INVAL);
}

/* A chain is posted up to the first bad one. */
static void
test_chain(void **state)
{
	struct pair p;
	struct iw_send_wr c = {.wr_id = 3}, b = {.wr_id = 2, .opcode = 99, .next = &c}, a = {.wr_id = 1, .next = &b};
	const struct iw_send_wr *bad = NULL;
	const struct iw_recv_wr r2 = {.num_sge = 1}, r1 = {.wr_id = 1, .next = &r2}, *rbad = NULL;

	(void)state;
	pair_open(&p, &(struct pair_opts){.attr = {.sq_sig_all = true}});
	assert_int_equal(iw_post_send(p.a.qp, &a, &bad), -IW_E_INVAL);
	assert_ptr_equal(bad, &b);
	assert_int_equal(iw_post_recv(p.b.qp, &r1, &rbad), -IW_E_INVAL);
	assert_ptr_equal(rbad, &r2);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.a).wr_id, 1); /* sq_sig_all */
	assert_true(pair_no_wc(&p.a));
	assert_int_equal(pair_wc(&p.b).wr_id, 1);
	assert_int_equal(iw_post_send(NULL, &a, NULL), -IW_E_INVAL);
	pair_close(&p);
}

/* B14, S13: a full queue says so at once; a slot is free again when its completion was polled, unsignalled ones when
 * they are done. */
static void
test_B14_full_queue(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.attr = {.sq_depth = 4, .rq_depth = 4}, .cq_depth = 8});
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pair_send(&p.a, i, NULL, 0, 0, IW_SEND_SIGNALED), 0);
		assert_int_equal(pair_recv(&p.b, i, NULL, 0, 0), 0);
	}
	assert_int_equal(pair_send(&p.a, 9, NULL, 0, 0, 0), -IW_E_NOMEM);
	assert_int_equal(pair_recv(&p.b, 9, NULL, 0, 0), -IW_E_NOMEM);
	pair_pump(&p);
	assert_int_equal(pair_send(&p.a, 9, NULL, 0, 0, 0), -IW_E_NOMEM);
	assert_int_equal(pair_recv(&p.b, 9, NULL, 0, 0), -IW_E_NOMEM);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pair_wc(&p.a).wr_id, i);
		assert_int_equal(pair_wc(&p.b).wr_id, i);
		assert_int_equal(pair_send(&p.a, 4 + i, NULL, 0, 0, 0), 0);
		assert_int_equal(pair_recv(&p.b, 4 + i, NULL, 0, 0), 0);
	}
	assert_int_equal(pair_send(&p.a, 9, NULL, 0, 0, 0), -IW_E_NOMEM);
	pair_pump(&p);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pair_wc(&p.b).wr_id, 3 + i);
	assert_int_equal(pair_wc(&p.a).wr_id, 3);
	for (int i = 0; i < 4; i++) /* the unsignalled ones hold no slot */
		assert_int_equal(pair_send(&p.a, 10, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_wc(&p.b).wr_id, 6);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pair_recv(&p.b, 20, NULL, 0, 0), 0);
	pair_pump(&p);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	pair_close(&p);
}

/* Random scatter and gather lists on both sides, for Send, Write and Read; octet for octet. */
#define SRC 0x1000
#define DST 0x100000
#define SPAN 0x40000

static uint32_t seed = 12345;

static uint32_t
draw(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

static int
random_sges(const struct pair_side *s, uint32_t off, uint32_t lkey, uint32_t total, struct iw_sge *sge)
{
	int n = 1 + (int)draw(IW_MAX_SGE);

	for (int i = 0; i < n; i++) {
		uint32_t part = i == n - 1 ? total : draw(total + 1);

		off += draw(100);
		sge[i] = (struct iw_sge){.addr = (uintptr_t)s->arena + off, .length = part, .lkey = lkey};
		off += part;
		total -= part;
	}
	return n;
}

static void
check_gathered(const struct pair_side *a, const struct iw_sge *from, const struct pair_side *b, struct iw_sge *to,
	       int nt)
{
	uint32_t f = 0, fo = 0;

	(void)b;
	for (int t = 0; t < nt; t++)
		for (uint32_t i = 0; i < to[t].length; i++) {
			while (fo == from[f].length) {
				f++;
				fo = 0;
			}
			if (((uint8_t *)(uintptr_t)to[t].addr)[i] !=
			    pair_pattern(a, (uint32_t)(from[f].addr - (uintptr_t)a->arena) + fo))
				fail_msg("SGE %d octet %u", t, i);
			fo++;
		}
}

static void
test_random_sges(void **state)
{
	struct pair p;
	struct iw_mr *src, *dst, *back;

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448, .view = 700});
	src = pair_mr(&p.a, SRC, SPAN, 0);
	dst = pair_mr(&p.b, DST, SPAN, IW_LOCAL_WRITE | IW_REMOTE_READ);
	back = pair_mr(&p.a, DST, SPAN, IW_LOCAL_WRITE);
	for (int round = 0; round < 150; round++) {
		struct iw_sge from[IW_MAX_SGE], to[IW_MAX_SGE], sink[IW_MAX_SGE];
		uint32_t total = draw(round % 10 ? 6000 : 60000);
		struct iw_send_wr wr = {.sg_list = from, .opcode = IW_WR_SEND};
		struct iw_recv_wr rr = {.sg_list = to};
		struct iw_sge whole[1] = {{.addr = (uintptr_t)p.b.arena + DST, .length = total}};

		wr.num_sge = random_sges(&p.a, SRC, iw_mr_lkey(src), total, from);
		rr.num_sge = random_sges(&p.b, DST, iw_mr_lkey(dst), total, to);
		assert_int_equal(iw_post_recv(p.b.qp, &rr, NULL), 0);
		assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
		pair_pump(&p);
		assert_int_equal(pair_wc(&p.b).byte_len, total);
		check_gathered(&p.a, from, &p.b, to, rr.num_sge);
		for (uint32_t i = 0; i < SPAN; i++) /* the sink of before is the source now */
			p.b.arena[DST + i] = pair_pattern(&p.b, DST + i);
		wr = (struct iw_send_wr){.opcode = IW_WR_RDMA_READ,
					 .sg_list = sink,
					 .flags = IW_SEND_SIGNALED,
					 .remote_addr = (uintptr_t)p.b.arena + DST,
					 .rkey = iw_mr_rkey(dst)};
		wr.num_sge = random_sges(&p.a, DST, iw_mr_lkey(back), total, sink);
		assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
		pair_pump(&p);
		assert_int_equal(pair_wc(&p.a).byte_len, total);
		check_gathered(&p.b, whole, &p.a, sink, wr.num_sge);
	}
	pair_close(&p);
}

/* D22: one posting thread of the user, the engine on another. */
struct poster {
	struct pair_side *s;
	uint64_t n;
};

static void *
post_on(void *arg)
{
	struct poster *t = arg;

	for (uint64_t i = 0; i < t->n;)
		if (pair_send(t->s, i, NULL, 0, 0, 0) == 0)
			i++;
	return NULL;
}

static void
test_foreign_poster(void **state)
{
	struct pair p;
	struct poster t = {.s = &p.a, .n = 3000};
	uint64_t got = 0, posted = 0;
	pthread_t thread;

	(void)state;
	pair_open(
		&p,
		&(struct pair_opts){
			.attr = {.foreign_poster = true, .recv_back_pressure = true, .sq_depth = 16, .rq_depth = 64}});
	for (; posted < 64; posted++)
		assert_int_equal(pair_recv(&p.b, posted, NULL, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, post_on, &t), 0);
	while (got < t.n) {
		struct iw_wc wc;

		pair_fill(&p, &p.a);
		pair_deliver(&p, &p.b);
		while (iw_cq_poll(p.b.cq, &wc, 1) == 1) {
			assert_int_equal(wc.status, IW_WC_SUCCESS);
			assert_int_equal(wc.wr_id, got++);
			assert_int_equal(pair_recv(&p.b, posted++, NULL, 0, 0), 0);
		}
	}
	pthread_join(thread, NULL);
	pair_close(&p);
}

/* A post that comes just when the queues were flushed still completes, flushed. */
static void
test_foreign_post_too_late(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.attr = {.foreign_poster = true}});
	qp_stream_end(p.a.qp, -IW_E_CONNRESET);
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, 0), -IW_E_NOTCONN);
	p.a.qp->may_post_send = p.a.qp->may_post_recv = 1; /* as that thread still saw it */
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_recv(&p.a, 2, NULL, 0, 0), 0);
	rdmap_doorbells(p.a.rdmap);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_WR_FLUSH_ERR);
	assert_true(pair_no_wc(&p.a));
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_requests),   cmocka_unit_test(test_chain),
		cmocka_unit_test(test_B14_full_queue), cmocka_unit_test(test_random_sges),
		cmocka_unit_test(test_foreign_poster), cmocka_unit_test(test_foreign_post_too_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
