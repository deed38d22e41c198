/* SPDX-License-Identifier: BSD-3-Clause */
/* Life and death of a QP: start, graceful close, errors, flush, destruction. */
#include "qp.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cq.h"
#include "pair.h"

#define OFF 0x1000

static void
post_reads(struct pair *p, uint64_t first, uint64_t n)
{
	struct iw_mr *to = pair_mr(&p->a, OFF, 64, IW_LOCAL_WRITE), *from = pair_mr(&p->b, OFF, 64, IW_REMOTE_READ);

	for (uint64_t i = first; i < first + n; i++)
		assert_int_equal(pair_rdma(&p->a, i, IW_WR_RDMA_READ, p->a.arena + OFF, 64, iw_mr_lkey(to),
					   p->b.arena + OFF, iw_mr_rkey(from), IW_SEND_SIGNALED),
				 0);
}

static void
expect_wc(struct pair_side *s, uint64_t id, uint8_t opcode, uint8_t status)
{
	struct iw_wc wc = pair_wc(s);

	assert_int_equal(wc.wr_id, id);
	assert_int_equal(wc.opcode, opcode);
	assert_int_equal(wc.status, status);
	assert_ptr_equal(wc.qp, s->qp);
}

/* Graceful: the queue drains, own Reads included, then DRAINED; receiving goes on. */
static void
test_close_drains(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 1, .ord = 1});
	post_reads(&p, 1, 2);
	assert_int_equal(pair_send(&p.a, 3, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_recv(&p.b, 9, NULL, 0, 0), 0);
	assert_int_equal(pair_recv(&p.a, 8, NULL, 0, 0), 0);
	qp_close(p.a.qp);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_CLOSING);
	assert_int_equal(pair_send(&p.a, 4, NULL, 0, 0, 0), -IW_E_NOTCONN);
	pair_fill(&p, &p.a);
	assert_false(p.a.out_bits & RDMAP_OUT_DRAINED);
	pair_pump(&p);
	assert_true(p.a.out_bits & RDMAP_OUT_DRAINED);
	expect_wc(&p.a, 1, IW_WC_RDMA_READ, IW_WC_SUCCESS);
	expect_wc(&p.a, 2, IW_WC_RDMA_READ, IW_WC_SUCCESS);
	expect_wc(&p.b, 9, IW_WC_RECV, IW_WC_SUCCESS);
	assert_int_equal(pair_send(&p.b, 5, NULL, 0, 0, 0), 0);
	pair_pump(&p);
	expect_wc(&p.a, 8, IW_WC_RECV, IW_WC_SUCCESS);
	qp_stream_end(p.a.qp, 0);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_IDLE);
	assert_false(qp_is_free(p.a.qp)); /* dead for new streams */
	assert_int_equal(pair_recv(&p.a, 8, NULL, 0, 0), -IW_E_NOTCONN);
	pair_close(&p);
}

/* Read Requests that came are answered before DRAINED; one that comes after it ends the stream by RST. */
static void
test_close_answers_first(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	post_reads(&p, 1, 1);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	qp_close(p.b.qp);
	assert_false(p.b.out_bits & RDMAP_OUT_DRAINED);
	pair_fill(&p, &p.b);
	assert_true(p.b.out_bits & RDMAP_OUT_DRAINED);
	pair_deliver(&p, &p.a);
	expect_wc(&p.a, 1, IW_WC_RDMA_READ, IW_WC_SUCCESS);
	post_reads(&p, 2, 1);
	pair_pump(&p);
	assert_true(p.b.out_bits & RDMAP_OUT_FATAL);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_ERROR);
	pair_close(&p);
}

/* A responder that heard nothing may send nothing: flushed, FIN at once. */
static void
test_close_before_first_fpdu(void **state)
{
	struct pair p;
	struct rdmap_out out;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	assert_int_equal(pair_send(&p.b, 1, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_recv(&p.b, 2, NULL, 0, 0), 0);
	qp_close(p.b.qp);
	assert_true(rdmap_out_next(p.b.rdmap, &out));
	assert_ptr_equal(out.qp, p.b.qp);
	assert_int_equal(out.bits, RDMAP_OUT_DRAINED);
	expect_wc(&p.b, 1, IW_WC_SEND, IW_WC_WR_FLUSH_ERR); /* unsignalled, but in error */
	assert_true(pair_no_wc(&p.b));
	assert_int_equal(pair_fill(&p, &p.b), 0);
	assert_int_equal(pair_send(&p.a, 3, NULL, 0, 0, 0), 0);
	pair_pump(&p);
	expect_wc(&p.b, 2, IW_WC_RECV, IW_WC_SUCCESS);
	pair_close(&p);
}

/* P10: each request once, in order, SQ and RQ; what waited behind a Read too. */
static void
test_flush_order(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(pair_recv(&p.a, 100 + i, NULL, 0, 0), 0);
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, IW_SEND_SIGNALED), 0);
	post_reads(&p, 2, 1);
	assert_int_equal(pair_send(&p.a, 3, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_send(&p.a, 4, NULL, 0, 0, IW_SEND_FENCE), 0);
	pair_fill(&p, &p.a);
	qp_stream_end(p.a.qp, -IW_E_CONNRESET);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_ERROR);
	expect_wc(&p.a, 1, IW_WC_SEND, IW_WC_SUCCESS);
	expect_wc(&p.a, 2, IW_WC_RDMA_READ, IW_WC_FATAL_ERR); /* under way when the stream broke */
	expect_wc(&p.a, 3, IW_WC_SEND, IW_WC_WR_FLUSH_ERR);
	expect_wc(&p.a, 4, IW_WC_SEND, IW_WC_WR_FLUSH_ERR);
	for (uint64_t i = 0; i < 3; i++)
		expect_wc(&p.a, 100 + i, IW_WC_RECV, IW_WC_WR_FLUSH_ERR);
	assert_true(pair_no_wc(&p.a));
	assert_int_equal(pair_send(&p.a, 5, NULL, 0, 0, 0), -IW_E_NOTCONN);
	qp_set_error(p.a.qp);
	qp_stream_end(p.a.qp, 0);
	assert_true(pair_no_wc(&p.a));
	pair_close(&p);
}

/* B29: in every state, also before a stream: destroyed QPs have flushed, and their completions stay readable. */
static void
test_B29_destroy_in_each_state(void **state)
{
	(void)state;
	for (int when = 0; when < 5; when++) {
		struct pair p;
		struct iw_qp *qp;

		pair_open(&p, &(struct pair_opts){.ird = 4});
		qp = p.a.qp;
		assert_int_equal(pair_recv(&p.a, 1, NULL, 0, 0), 0);
		assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, 0), 0);
		if (when == 1)
			qp_close(qp);
		if (when == 2)
			qp_stream_end(qp, 0);
		if (when == 3)
			qp_fail(qp, RDMAP_FAULT_MPA_IRD);
		if (when == 4)
			qp_set_error(qp);
		qp_destroy(qp);
		expect_wc(&p.a, 2, IW_WC_SEND, IW_WC_WR_FLUSH_ERR);
		expect_wc(&p.a, 1, IW_WC_RECV, IW_WC_WR_FLUSH_ERR);
		assert_true(pair_no_wc(&p.a));
		assert_int_equal(rdmap_qp_count(p.a.rdmap), 0);
		assert_null(rdmap_run_next(p.a.rdmap));
		pair_close(&p);
	}
}

/* M14, M15: what cm finds in the Reply goes out as a Terminate. */
static void
test_M14_fail(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.rtr = QP_RTR_WRITE});
	qp_fail(p.a.qp, RDMAP_FAULT_MPA_IRD);
	assert_int_equal(pair_fill(&p, &p.a), 1);
	assert_memory_equal(p.b.in.p, "\x00\x16\x41\x47", 4); /* no RTR any more */
	assert_memory_equal(p.b.in.p + 20, "\x20\x06\0\0", 4);
	pair_close(&p);
}

static void
test_handles(void **state)
{
	struct pair p;
	uint32_t handle;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	handle = qp_handle(p.a.qp);
	assert_ptr_equal(qp_at(p.a.rdmap, handle), p.a.qp);
	assert_null(qp_at(p.a.rdmap, 0));
	assert_int_equal(qp_conn(p.a.qp), 7);
	qp_destroy(p.a.qp);
	assert_null(qp_at(p.a.rdmap, handle));
	pair_close(&p);
}

static void
test_bind(void **state)
{
	struct pair p;
	struct iw_qp_attr attr = {0};
	struct qp_stream st = {.initiator = true, .ird = 17, .ord = 1};
	struct iw_qp *qp;
	int err = -1;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	attr.send_cq = attr.recv_cq = p.a.cq;
	qp = qp_create(p.a.rdmap, p.a.pd, &attr, &err);
	assert_true(qp_is_free(qp));
	assert_int_equal(qp_bind(qp, 5), 0);
	assert_false(qp_is_free(qp));
	assert_int_equal(qp_owner(qp), 5);
	assert_int_equal(qp_bind(qp, 6), -IW_E_INVAL);
	qp_unbind(qp);
	assert_true(qp_is_free(qp));
	assert_int_equal(qp_bind(p.a.qp, 6), -IW_E_INVAL);   /* it has a stream */
	assert_int_equal(qp_start(qp, &st, 0), -IW_E_INVAL); /* more than its own IRD */
	st = (struct qp_stream){.initiator = true, .rtr = QP_RTR_READ, .ord = 0};
	assert_int_equal(qp_start(qp, &st, 0), -IW_E_INVAL);
	assert_int_equal(qp_start(p.a.qp, &st, 0), -IW_E_INVAL);
	pair_close(&p);
}

static void
test_create_arguments(void **state)
{
	struct pair p;
	struct iw_qp_attr good = {0}, attr;
	struct iw_pd *alien;
	struct iw_cq *cq;
	int err = 0;

	(void)state;
	pair_open(&p, &(struct pair_opts){.cq_depth = 512});
	alien = p.b.pd;
	good.send_cq = good.recv_cq = p.a.cq;
	assert_null(qp_create(p.a.rdmap, alien, &good, &err));
	assert_int_equal(err, -IW_E_PD);
	attr = good;
	attr.recv_cq = p.b.cq; /* of another engine */
	assert_null(qp_create(p.a.rdmap, p.a.pd, &attr, &err));
	assert_int_equal(err, -IW_E_INVAL);
	attr = good;
	attr.max_ird = IW_MAX_IRD + 1;
	assert_null(qp_create(p.a.rdmap, p.a.pd, &attr, &err));
	assert_int_equal(err, -IW_E_INVAL);
	attr = good;
	attr.sq_depth = UINT32_MAX;
	assert_null(qp_create(p.a.rdmap, p.a.pd, &attr, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(qp_create(p.a.rdmap, NULL, &good, &err));
	assert_int_equal(err, -IW_E_INVAL);
	attr = good; /* S13: 256 are taken by the pair's own */
	attr.sq_depth = 256;
	attr.rq_depth = 1;
	assert_null(qp_create(p.a.rdmap, p.a.pd, &attr, &err));
	assert_int_equal(err, -IW_E_NOMEM);
	cq = cq_create(p.a.rdmap, 1, NULL, NULL); /* the second attach fails: the first is given back */
	attr.recv_cq = cq;
	attr.rq_depth = 2;
	assert_null(qp_create(p.a.rdmap, p.a.pd, &attr, &err));
	assert_int_equal(cq_destroy(cq), 0);
	attr = good;
	attr.sq_depth = attr.rq_depth = 128;
	iw_env_alloc_fuse = 1;
	assert_null(qp_create(p.a.rdmap, p.a.pd, &attr, &err));
	assert_int_equal(err, -IW_E_NOMEM);
	iw_env_alloc_fuse = 0;
	assert_non_null(qp_create(p.a.rdmap, p.a.pd, &attr, &err));
	pair_close(&p);
}

/* R10 and the good case: the STag is dead afterwards, the receive says which. */
static void
test_R10_send_with_invalidate(void **state)
{
	struct pair p;
	struct iw_mr *mr;
	struct iw_send_wr wr = {.wr_id = 1, .opcode = IW_WR_SEND_INV, .flags = IW_SEND_SOLICITED};
	struct iw_wc wc;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	mr = iw_mr_reg_qp(p.b.qp, p.b.arena, 64, IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE, NULL);
	wr.invalidate_rkey = iw_mr_rkey(mr);
	assert_int_equal(pair_recv(&p.b, 5, NULL, 0, 0), 0);
	assert_int_equal(pair_recv(&p.b, 6, NULL, 0, 0), 0);
	assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
	pair_pump(&p);
	wc = pair_wc(&p.b);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.flags, IW_WC_WITH_INV | IW_WC_SOLICITED);
	assert_int_equal(wc.invalidated_rkey, iw_mr_rkey(mr));
	assert_int_equal(pair_rdma(&p.a, 2, IW_WR_RDMA_WRITE, p.a.arena, 8, iw_mr_lkey(pair_mr(&p.a, 0, 8, 0)),
				   p.b.arena, iw_mr_rkey(mr), 0),
			 0);
	pair_pump(&p);
	assert_true(pair_untouched(&p.b, 0, 64));
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_TERMINATE);
	assert_true(p.a.out_bits & RDMAP_OUT_TERM_RECV);
	assert_int_equal(iw_mr_dereg(mr), 0);
	pair_close(&p);
}

/* A Terminate blames the oldest request that was under way. */
static void
test_terminate_blames_the_read(void **state)
{
	struct pair p;
	struct iw_mr *to;
	struct iw_terminate t;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	to = pair_mr(&p.a, OFF, 64, IW_LOCAL_WRITE);
	assert_int_equal(
		pair_rdma(&p.a, 1, IW_WR_RDMA_READ, p.a.arena + OFF, 64, iw_mr_lkey(to), p.b.arena, 0xdeadbeef, 0), 0);
	assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, 0), 0);
	pair_pump(&p);
	expect_wc(&p.a, 1, IW_WC_RDMA_READ, IW_WC_REM_ACCESS_ERR);
	expect_wc(&p.a, 2, IW_WC_SEND, IW_WC_WR_FLUSH_ERR);
	iw_qp_terminate_info(p.a.qp, &t);
	assert_true(t.valid && !t.sent && !t.nibbles_swapped && !t.malformed);
	assert_int_equal(t.layer << 4 | t.etype, 0x01);
	assert_int_equal(t.code, 0);
	assert_int_equal(pair_fill(&p, &p.a), 0); /* rule 18 */
	pair_close(&p);
}

/* D9 with back-pressure: the Send waits in the stream, and goes on when a receive is posted. */
static void
test_D9_back_pressure(void **state)
{
	struct pair p;
	struct rdmap_out out;

	(void)state;
	pair_open(&p, &(struct pair_opts){.attr = {.recv_back_pressure = true}});
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, NULL, 0, 0, NULL, 0, 0), 0);
	assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, 0), 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	assert_int_equal(p.b.fpdus_in, 1);
	assert_int_equal(p.b.in.len, 24);
	assert_false(rdmap_out_next(p.b.rdmap, &out));
	assert_int_equal(pair_recv(&p.b, 5, NULL, 0, 0), 0);
	assert_true(rdmap_out_next(p.b.rdmap, &out));
	assert_int_equal(out.bits, RDMAP_OUT_RX_RESUME);
	pair_deliver(&p, &p.b);
	expect_wc(&p.b, 5, IW_WC_RECV, IW_WC_SUCCESS);
	assert_int_equal(p.b.in.len, 0);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_drains),
		cmocka_unit_test(test_close_answers_first),
		cmocka_unit_test(test_close_before_first_fpdu),
		cmocka_unit_test(test_flush_order),
		cmocka_unit_test(test_B29_destroy_in_each_state),
		cmocka_unit_test(test_M14_fail),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_bind),
		cmocka_unit_test(test_create_arguments),
		cmocka_unit_test(test_R10_send_with_invalidate),
		cmocka_unit_test(test_terminate_blames_the_read),
		cmocka_unit_test(test_D9_back_pressure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
