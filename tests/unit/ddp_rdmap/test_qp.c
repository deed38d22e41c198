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
#include "domain.h"
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

/* The request at fault says what was wrong; the ones behind it are flushed. */
static void
test_status_of_the_request_at_fault(void **state)
{
	static const struct {
		uint32_t mr_len, recv_len, send_len;
		uint32_t inv; /* 1: an STag that does not exist */
		uint8_t status;
	} rows[] = {
		{64, 16, 17, 0, IW_WC_LOC_LEN_ERR},   /* D12 */
		{15, 16, 16, 0, IW_WC_LOC_PROT_ERR},  /* the SGE is longer than what is registered */
		{64, 16, 16, 1, IW_WC_LOC_QP_OP_ERR}, /* R10 */
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pair p;
		struct iw_sge sge;
		struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1};
		struct iw_mr *mr;

		pair_open(&p, &(struct pair_opts){.ird = 4});
		mr = pair_mr(&p.b, OFF, rows[i].mr_len, IW_LOCAL_WRITE);
		assert_int_equal(pair_recv(&p.b, 1, p.b.arena + OFF, rows[i].recv_len, iw_mr_lkey(mr)), 0);
		assert_int_equal(pair_recv(&p.b, 2, p.b.arena + OFF, rows[i].recv_len, iw_mr_lkey(mr)), 0);
		sge = (struct iw_sge){.addr = (uintptr_t)p.a.arena,
				      .length = rows[i].send_len,
				      .lkey = iw_mr_lkey(pair_mr(&p.a, 0, 64, 0))};
		wr.opcode = rows[i].inv ? IW_WR_SEND_INV : IW_WR_SEND;
		wr.invalidate_rkey = 0x12345678;
		assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
		pair_pump(&p);
		expect_wc(&p.b, 1, IW_WC_RECV, rows[i].status);
		expect_wc(&p.b, 2, IW_WC_RECV, IW_WC_WR_FLUSH_ERR);
		assert_true(rows[i].inv || pair_untouched(&p.b, 0, 0x2000));
		pair_close(&p);
	}
}

/* R17: the sink was taken back while the Read was under way. */
static void
test_R17_sink_gone(void **state)
{
	struct pair p;
	struct iw_mr *to, *from;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	to = pair_mr(&p.a, OFF, 64, IW_LOCAL_WRITE);
	from = pair_mr(&p.b, OFF, 64, IW_REMOTE_READ);
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, p.a.arena + OFF, 64, iw_mr_lkey(to), p.b.arena + OFF,
				   iw_mr_rkey(from), 0),
			 0);
	pair_fill(&p, &p.a);
	assert_int_equal(iw_mr_dereg(to), 0);
	pair_pump(&p);
	assert_true(pair_untouched(&p.a, 0, 0x2000));
	expect_wc(&p.a, 1, IW_WC_RDMA_READ, IW_WC_LOC_PROT_ERR);
	pair_close(&p);
}

/* S5: taken back between two segments of a Write: not an octet afterwards. */
static void
test_S5_write_target_gone(void **state)
{
	struct pair p;
	struct iw_mr *mr;
	struct ddp_hdr h;
	uint8_t f[64];
	struct iw_terminate t;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	mr = pair_mr(&p.b, OFF, 64, IW_REMOTE_WRITE);
	h = ddp_hdr_tagged(0, false, iw_mr_rkey(mr), (uintptr_t)p.b.arena + OFF);
	pair_inject(&p, &p.b, f, pair_fpdu(f, &h, "01234567", 8));
	assert_memory_equal(p.b.arena + OFF, "01234567", 8);
	assert_int_equal(iw_mr_dereg(mr), 0);
	h.to += 8;
	h.last = true;
	pair_inject(&p, &p.b, f, pair_fpdu(f, &h, "89abcdef", 8));
	assert_true(pair_untouched(&p.b, OFF + 8, 64));
	iw_qp_terminate_info(p.b.qp, &t);
	assert_int_equal(t.layer << 4 | t.etype, 0x11);
	assert_int_equal(t.code, 0);
	pair_close(&p);
}

/* D17: empty segments without end are bounded. */
static void
test_D17_endless_empty_segments(void **state)
{
	struct pair p;
	struct ddp_hdr h = ddp_hdr_untagged(3, false, 0, 0, 1, 0);
	uint8_t f[64];
	uint32_t n = pair_fpdu(f, &h, NULL, 0), sent = 0;
	struct iw_terminate t;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	assert_int_equal(pair_recv(&p.b, 1, NULL, 0, 0), 0);
	while (iw_qp_state(p.b.qp) == IW_QP_RTS && sent++ < 5000)
		pair_inject(&p, &p.b, f, n);
	assert_true(sent > 100 && sent < 2000);
	iw_qp_terminate_info(p.b.qp, &t);
	assert_int_equal(t.layer << 4 | t.etype, 0x10);
	expect_wc(&p.b, 1, IW_WC_RECV, IW_WC_WR_FLUSH_ERR);
	pair_close(&p);
}

/* D13: a message that goes on and on ends at its buffer, long before a counter could wrap. */
static void
test_D13_never_last(void **state)
{
	struct pair p;
	struct ddp_hdr h = ddp_hdr_untagged(3, false, 0, 0, 1, 0);
	uint8_t f[1200] = {0}, data[1000] = {0};
	struct iw_terminate t;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	assert_int_equal(
		pair_recv(&p.b, 1, p.b.arena + OFF, 3500, iw_mr_lkey(pair_mr(&p.b, OFF, 3500, IW_LOCAL_WRITE))), 0);
	for (int i = 0; i < 4; i++, h.mo += 1000)
		pair_inject(&p, &p.b, f, pair_fpdu(f, &h, data, 1000));
	iw_qp_terminate_info(p.b.qp, &t);
	assert_int_equal(t.layer << 4 | t.etype, 0x12);
	assert_int_equal(t.code, 5);
	assert_true(pair_untouched(&p.b, OFF + 3000, 1000));
	expect_wc(&p.b, 1, IW_WC_RECV, IW_WC_LOC_LEN_ERR);
	pair_close(&p);
}

static uint64_t
counter(const struct pair_side *s, const char *name)
{
	struct iw_counter_list l = rdmap_counter_list(s->rdmap);

	for (uint32_t i = 0; i < l.n; i++)
		if (!strcmp(l.names[i], name))
			return l.values[i];
	fail_msg("no counter %s", name);
	return 0;
}

static void
test_counters(void **state)
{
	struct pair p;
	uint8_t junk[8] = {0};

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, NULL, 0, 0, NULL, 0, 0), 0);
	pair_pump(&p);
	pair_inject(&p, &p.b, junk, sizeof(junk));
	pair_pump(&p);
	assert_int_equal(counter(&p.a, "rdmap.tx_fpdus"), 1);
	assert_int_equal(counter(&p.a, "rdmap.tx_octets"), 20);
	assert_int_equal(counter(&p.b, "rdmap.rx_octets"), 14);
	assert_int_equal(counter(&p.b, "rdmap.fault_MPA_CRC"), 1);
	assert_int_equal(counter(&p.b, "rdmap.fault_INV_STREAM"), 0);
	assert_int_equal(counter(&p.b, "rdmap.tx_terminates"), 1);
	assert_int_equal(counter(&p.a, "rdmap.rx_terminates"), 1);
	assert_int_equal(rdmap_qp_count(p.a.rdmap), 1);
	assert_int_equal(rdmap_cq_count(p.a.rdmap), 1);
	pair_close(&p);
}

/* The n-th allocation of an engine fails: nothing is left behind. */
static void
test_short_of_memory(void **state)
{
	struct pair p;
	const struct rdmap_params params = {.max_qps = 4};
	uint32_t readers;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	readers = p.a.domain->readers;
	for (uint32_t fuse = 1; fuse <= 7; fuse++) {
		iw_env_alloc_fuse = fuse;
		assert_null(rdmap_create(&p.a.env, p.a.domain, NULL, &params));
		assert_int_equal(p.a.domain->readers, readers);
	}
	iw_env_alloc_fuse = 0;
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
		cmocka_unit_test(test_status_of_the_request_at_fault),
		cmocka_unit_test(test_R17_sink_gone),
		cmocka_unit_test(test_S5_write_target_gone),
		cmocka_unit_test(test_D17_endless_empty_segments),
		cmocka_unit_test(test_D13_never_last),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_short_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
