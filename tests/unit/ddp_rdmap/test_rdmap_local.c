/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that send nothing, and the fences that they need. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mr.h"
#include "pair.h"
#include "qp_obj.h"

#define OFF 0x1000

static int
post(struct pair_side *s, uint64_t id, uint32_t stag, uint8_t flags)
{
	struct iw_send_wr wr = {
		.wr_id = id, .opcode = IW_WR_LOCAL_INV, .invalidate_rkey = stag, .flags = IW_SEND_SIGNALED | flags};

	return iw_post_send(s->qp, &wr, NULL);
}

static struct iw_mr *
reg_qp(struct pair_side *s, uint32_t access)
{
	int err;
	struct iw_mr *mr = iw_mr_reg_qp(s->qp, s->arena + OFF, 4096, access, &err);

	assert_int_equal(err, 0);
	return mr;
}

/* Nothing goes out, and no room in TCP is needed: it is done when the engine looks at the QP. */
static void
test_invalidate(void **state)
{
	struct pair p;
	struct iw_mr *mr;
	struct iw_wc wc;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	mr = reg_qp(&p.a, IW_REMOTE_READ);
	assert_int_equal(mr_check(&p.a.qp->user, iw_mr_rkey(mr), (uintptr_t)p.a.arena + OFF, 1, IW_REMOTE_READ), MR_OK);
	assert_int_equal(post(&p.a, 1, iw_mr_rkey(mr), 0), 0);
	assert_null(rdmap_run_next(p.a.rdmap));
	wc = pair_wc(&p.a);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.opcode, IW_WC_LOCAL_INV);
	assert_int_equal(mr_check(&p.a.qp->user, iw_mr_rkey(mr), (uintptr_t)p.a.arena + OFF, 1, IW_REMOTE_READ),
			 MR_STAG);
	rdmap_quiescent(p.a.rdmap);
	pair_close(&p);
}

/* What is not this QP's own: the request fails, the stream goes on. */
static void
test_fails_alone(void **state)
{
	struct pair p;
	struct iw_mr *mr;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	mr = pair_mr(&p.a, OFF, 4096, IW_REMOTE_READ); /* the PD's: S17 */
	assert_int_equal(pair_recv(&p.b, 1, NULL, 0, 0), 0);
	assert_int_equal(post(&p.a, 1, iw_mr_rkey(mr), 0), 0);
	assert_int_equal(post(&p.a, 2, 0xdeadbeef, 0), 0);
	mr->scope = p.a.qp->user.serial + 1;
	assert_int_equal(post(&p.a, 3, iw_mr_rkey(mr), 0), 0);
	assert_int_equal(pair_send(&p.a, 4, NULL, 0, 0, IW_SEND_SIGNALED), 0);
	pair_pump(&p);
	for (uint64_t i = 1; i < 4; i++) {
		struct iw_wc wc = pair_wc(&p.a);

		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.status, IW_WC_LOC_QP_OP_ERR);
	}
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	assert_int_equal(pair_wc(&p.b).status, IW_WC_SUCCESS);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
	pair_close(&p);
}

/* Two fences: one waits for Reads, the other for all that is before it; without one the sink goes while its Read is
 * under way (R17). */
static void
test_fences(void **state)
{
	static const uint8_t fences[] = {0, IW_SEND_FENCE, IW_SEND_LOCAL_FENCE};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct pair p;
		struct iw_mr *sink, *src;

		pair_open(&p, &(struct pair_opts){0});
		sink = reg_qp(&p.a, IW_LOCAL_WRITE);
		src = pair_mr(&p.b, OFF, 4096, IW_REMOTE_READ);
		assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, p.a.arena + OFF, 4096, iw_mr_lkey(sink),
					   p.b.arena + OFF, iw_mr_rkey(src), IW_SEND_SIGNALED),
				 0);
		assert_int_equal(post(&p.a, 2, iw_mr_lkey(sink), fences[i]), 0);
		pair_fill(&p, &p.a);
		assert_int_equal(iw_ring_count(&p.a.qp->sq->ring), 2);
		assert_int_equal(p.a.qp->sq->sent - p.a.qp->sq->ring.tail, i ? 1 : 2);
		pair_pump(&p);
		if (i == 0) {
			assert_int_equal(pair_wc(&p.a).status, IW_WC_LOC_PROT_ERR);
		} else {
			assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
			assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
			assert_memory_equal(p.a.arena + OFF, p.b.arena + OFF, 4096);
		}
		pair_close(&p);
	}
}

/* The local fence also holds back what only waits for completions to retire. */
static void
test_local_fence_waits_for_retirement(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	assert_int_equal(pair_recv(&p.b, 1, NULL, 0, 0), 0);
	assert_int_equal(pair_recv(&p.b, 2, NULL, 0, 0), 0);
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, NULL, 0, 0, NULL, 0, 0), 0);
	assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_send(&p.a, 3, NULL, 0, 0, IW_SEND_LOCAL_FENCE), 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	assert_int_equal(pair_wc(&p.b).wr_id, 1);
	assert_true(pair_no_wc(&p.b));
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).wr_id, 2);
	pair_close(&p);
}

/* A Read with local invalidate: valid until all octets are there, then no more; several SGEs, one STag on the wire. */
static void
test_read_inv(void **state)
{
	struct pair p;
	struct iw_mr *sink, *src;
	struct iw_sge sge[IW_MAX_SGE];
	struct iw_send_wr wr = {.sg_list = sge, .num_sge = IW_MAX_SGE, .opcode = IW_WR_RDMA_READ_INV};
	struct iw_wc wc;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	sink = reg_qp(&p.a, IW_LOCAL_WRITE);
	src = pair_mr(&p.b, OFF, 4096, IW_REMOTE_READ);
	for (int i = 0; i < IW_MAX_SGE; i++)
		sge[i] = (struct iw_sge){(uintptr_t)p.a.arena + OFF + 256 * (15 - i), 256, iw_mr_lkey(sink)};
	wr.flags = IW_SEND_SIGNALED;
	wr.remote_addr = (uintptr_t)p.b.arena + OFF;
	wr.rkey = iw_mr_rkey(src);
	wr.invalidate_rkey = iw_mr_lkey(sink);
	assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
	pair_pump(&p);
	wc = pair_wc(&p.a);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.opcode, IW_WC_RDMA_READ);
	assert_int_equal(wc.byte_len, 4096);
	for (int i = 0; i < IW_MAX_SGE; i++)
		assert_memory_equal(p.a.arena + OFF + 256 * (15 - i), p.b.arena + OFF + 256 * i, 256);
	assert_int_equal(mr_check(&p.a.qp->user, iw_mr_lkey(sink), (uintptr_t)p.a.arena + OFF, 1, 0), MR_STAG);
	/* Of nothing, naming what is invalid by now: the Read is done, the invalidation is not. */
	wr.num_sge = 0;
	assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_LOC_QP_OP_ERR);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
	pair_close(&p);
}

/* More of them than one turn takes, around Sends: all in order. */
static void
test_many_in_order(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.attr = {.sq_depth = 512}});
	assert_int_equal(pair_recv(&p.b, 1, NULL, 0, 0), 0);
	for (uint64_t i = 0; i < 400; i++)
		assert_int_equal(i == 200 ? pair_send(&p.a, i, NULL, 0, 0, IW_SEND_SIGNALED) : post(&p.a, i, 1, 0), 0);
	pair_pump(&p);
	for (uint64_t i = 0; i < 400; i++) {
		struct iw_wc wc = pair_wc(&p.a);

		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.status, i == 200 ? IW_WC_SUCCESS : IW_WC_LOC_QP_OP_ERR);
	}
	assert_int_equal(pair_wc(&p.b).status, IW_WC_SUCCESS);
	pair_close(&p);
}

/* A graceful close waits for them, and they do not need the peer. */
static void
test_close_drains(void **state)
{
	struct pair p;
	struct iw_mr *mr;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	mr = reg_qp(&p.a, 0);
	assert_int_equal(post(&p.a, 1, iw_mr_lkey(mr), 0), 0);
	qp_close(p.a.qp);
	assert_false(p.a.out_bits & RDMAP_OUT_DRAINED);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	assert_true(p.a.out_bits & RDMAP_OUT_DRAINED);
	pair_close(&p);
}

static void
test_bad_requests(void **state)
{
	struct iw_sge sge = {0, 0, 0};
	struct iw_send_wr wr = {.opcode = IW_WR_LOCAL_INV, .sg_list = &sge, .num_sge = 1};
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), -IW_E_INVAL);
	assert_int_equal(post(&p.a, 1, 1, IW_SEND_SOLICITED), -IW_E_INVAL);
	assert_int_equal(post(&p.a, 1, 1, IW_SEND_INLINE), -IW_E_INVAL);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_invalidate),   cmocka_unit_test(test_fails_alone),
		cmocka_unit_test(test_fences),       cmocka_unit_test(test_local_fence_waits_for_retirement),
		cmocka_unit_test(test_read_inv),     cmocka_unit_test(test_many_in_order),
		cmocka_unit_test(test_close_drains), cmocka_unit_test(test_bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
