/* SPDX-License-Identifier: BSD-3-Clause */
#include "srq.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cq.h"
#include "pair.h"
#include "qp.h"
#include "rdmap_ctx.h"

/* A host with an SRQ and several QPs; what their peers send is made by hand. */
struct world {
	struct pair p; /* its b is the host */
	struct iw_srq *srq;
	struct iw_qp *qp[8];
	uint32_t qps, msn[8];
};

static struct iw_srq *
make_srq(struct pair_side *s, struct iw_srq_attr attr)
{
	int err = -1;
	struct iw_srq *srq = srq_create(s->rdmap, s->pd, &attr, &err);

	assert_int_equal(err, 0);
	return srq;
}

static int
post(struct iw_srq *srq, uint64_t id, void *addr, uint32_t len, uint32_t lkey)
{
	struct iw_sge sge = {.addr = (uintptr_t)addr, .length = len, .lkey = lkey};
	struct iw_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = len > 0};

	return iw_post_srq_recv(srq, &wr, NULL);
}

static void
set_up(struct world *w, uint32_t qps, struct iw_srq_attr srq, struct iw_qp_attr attr)
{
	const struct qp_stream st = {.conn = 7, .revision = 2, .crc = true, .initiator = true, .ird = 4, .ord = 4};

	memset(w, 0, sizeof(*w));
	pair_open(&w->p, &(struct pair_opts){0});
	w->srq = make_srq(&w->p.b, srq);
	attr.srq = w->srq;
	attr.send_cq = attr.send_cq ? attr.send_cq : w->p.b.cq;
	attr.recv_cq = attr.recv_cq ? attr.recv_cq : w->p.b.cq;
	attr.sq_depth = 4;
	for (w->qps = 0; w->qps < qps; w->qps++) {
		int err = -1;

		w->qp[w->qps] = qp_create(w->p.b.rdmap, w->p.b.pd, &attr, &err);
		assert_int_equal(err, 0);
		assert_int_equal(qp_start(w->qp[w->qps], &st, 1), 0);
		w->msn[w->qps] = 1;
	}
}

static void
tear_down(struct world *w)
{
	for (uint32_t i = 0; i < w->qps; i++)
		qp_destroy(w->qp[i]);
	assert_int_equal(srq_destroy(w->srq), 0);
	pair_close(&w->p);
}

/* One segment of a message for the i-th QP. */
static void
send(struct world *w, uint32_t i, uint32_t mo, uint32_t len, bool last)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, last, 0, 0, w->msn[i], mo);
	struct iw_qp *own = w->p.b.qp;
	static uint8_t body[1000], fpdu[1100];

	memset(body, (int)(0x10 * (i + 1)), sizeof(body));
	w->msn[i] += last;
	w->p.b.qp = w->qp[i];
	pair_inject(&w->p, &w->p.b, fpdu, pair_fpdu(fpdu, &h, body, len));
	w->p.b.qp = own;
}

static bool
alive(const struct world *w, uint32_t i)
{
	return iw_qp_state(w->qp[i]) == IW_QP_RTS;
}

/* A receive belongs to the message that takes it first, until that message has come; completions name their QP. */
static void
test_first_come(void **state)
{
	struct world w;
	struct iw_mr *mr;
	struct iw_wc wc;

	(void)state;
	set_up(&w, 3, (struct iw_srq_attr){.depth = 8}, (struct iw_qp_attr){0});
	mr = pair_mr(&w.p.b, 0, 4096, IW_LOCAL_WRITE);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(post(w.srq, i, w.p.b.arena + 1000 * i, 1000, iw_mr_lkey(mr)), 0);
	send(&w, 0, 0, 400, false);
	send(&w, 1, 0, 100, true);
	send(&w, 2, 0, 0, true);
	send(&w, 0, 400, 600, true);
	wc = pair_wc(&w.p.b);
	assert_ptr_equal(wc.qp, w.qp[1]);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(wc.byte_len, 100);
	wc = pair_wc(&w.p.b);
	assert_ptr_equal(wc.qp, w.qp[2]);
	assert_int_equal(wc.wr_id, 2);
	wc = pair_wc(&w.p.b);
	assert_ptr_equal(wc.qp, w.qp[0]);
	assert_int_equal(wc.wr_id, 0);
	assert_int_equal(wc.byte_len, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(w.p.b.arena[i], 0x10);
	assert_int_equal(w.p.b.arena[1000], 0x20);
	send(&w, 0, 0, 0, true); /* D9: there is none left */
	assert_false(alive(&w, 0));
	assert_true(alive(&w, 1));
	tear_down(&w);
}

/* S13: as many as it is deep are posted, under way, or completed and not polled; polling makes room, in any number of
 * turns, also for those whose CQ is gone. */
static void
test_S13_depth(void **state)
{
	struct world w;

	(void)state;
	set_up(&w, 2, (struct iw_srq_attr){.depth = 4}, (struct iw_qp_attr){0});
	for (int round = 0; round < 20; round++) {
		for (uint64_t i = 0; i < 4; i++)
			assert_int_equal(post(w.srq, i, NULL, 0, 0), 0);
		assert_int_equal(post(w.srq, 9, NULL, 0, 0), -IW_E_NOMEM);
		send(&w, 0, 0, 0, false);
		send(&w, 1, 0, 0, true);
		assert_int_equal(post(w.srq, 9, NULL, 0, 0), -IW_E_NOMEM); /* under way, and not polled */
		assert_int_equal(pair_wc(&w.p.b).wr_id, 1);
		assert_int_equal(post(w.srq, 9, NULL, 0, 0), 0);
		assert_int_equal(post(w.srq, 9, NULL, 0, 0), -IW_E_NOMEM);
		send(&w, 0, 0, 0, true);
		for (int i = 0; i < 3; i++)
			send(&w, 1, 0, 0, true);
		for (int i = 0; i < 4; i++)
			pair_wc(&w.p.b);
	}
	tear_down(&w);
}

/* S13: each CQ reserves the SRQ's depth once, whatever the number of its QPs. */
static void
test_S13_cq_room(void **state)
{
	struct world w;
	struct iw_cq *cq;
	struct iw_qp_attr attr = {.sq_depth = 4};
	struct iw_qp *a, *b;
	int err;

	(void)state;
	set_up(&w, 0, (struct iw_srq_attr){.depth = 8}, attr);
	cq = cq_create(w.p.b.rdmap, 16, NULL, NULL);
	attr.srq = w.srq;
	attr.send_cq = attr.recv_cq = cq;
	a = qp_create(w.p.b.rdmap, w.p.b.pd, &attr, &err);
	b = qp_create(w.p.b.rdmap, w.p.b.pd, &attr, &err);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(cq->reserved, 16);
	assert_null(qp_create(w.p.b.rdmap, w.p.b.pd, &attr, &err));
	assert_int_equal(err, -IW_E_NOMEM);
	assert_int_equal(srq_destroy(w.srq), -IW_E_BUSY);
	qp_destroy(a);
	assert_int_equal(cq->reserved, 12);
	qp_destroy(b);
	assert_int_equal(cq->reserved, 0);
	assert_int_equal(cq_destroy(cq), 0);
	tear_down(&w);
}

/* A CQ that goes takes its completions along; their receives may be posted anew. */
static void
test_cq_gone(void **state)
{
	struct world w;
	struct iw_cq *cq;
	struct pair *p = &w.p;

	(void)state;
	set_up(&w, 0, (struct iw_srq_attr){.depth = 2}, (struct iw_qp_attr){0});
	cq = cq_create(p->b.rdmap, 16, NULL, NULL);
	{
		const struct qp_stream st = {.conn = 7, .revision = 2, .crc = true, .initiator = true};
		struct iw_qp_attr attr = {.srq = w.srq, .send_cq = cq, .recv_cq = cq, .sq_depth = 4};

		w.qp[0] = qp_create(p->b.rdmap, p->b.pd, &attr, NULL);
		assert_int_equal(qp_start(w.qp[0], &st, 1), 0);
		w.msn[0] = 1;
	}
	assert_int_equal(post(w.srq, 1, NULL, 0, 0), 0);
	assert_int_equal(post(w.srq, 2, NULL, 0, 0), 0);
	send(&w, 0, 0, 0, true);
	send(&w, 0, 0, 0, true);
	assert_int_equal(post(w.srq, 3, NULL, 0, 0), -IW_E_NOMEM);
	qp_destroy(w.qp[0]);
	assert_int_equal(post(w.srq, 3, NULL, 0, 0), -IW_E_NOMEM);
	assert_int_equal(cq_destroy(cq), 0);
	assert_int_equal(post(w.srq, 3, NULL, 0, 0), 0);
	assert_int_equal(post(w.srq, 4, NULL, 0, 0), 0);
	assert_int_equal(post(w.srq, 5, NULL, 0, 0), -IW_E_NOMEM);
	tear_down(&w);
}

/* RFC 5042 §6.4.3.1: one event when fewer than `limit` are posted; none again before it is asked for again. */
static void
test_limit_event(void **state)
{
	struct world w;
	struct iw_async_event ev;

	(void)state;
	set_up(&w, 1, (struct iw_srq_attr){.depth = 8, .limit = 2}, (struct iw_qp_attr){0});
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(post(w.srq, i, NULL, 0, 0), 0);
	send(&w, 0, 0, 0, true);
	send(&w, 0, 0, 0, true);
	assert_false(rdmap_async_next(w.p.b.rdmap, &ev));
	send(&w, 0, 0, 0, true);
	assert_true(rdmap_async_next(w.p.b.rdmap, &ev));
	assert_int_equal(ev.type, IW_ASYNC_SRQ_LIMIT);
	assert_ptr_equal(ev.srq, w.srq);
	send(&w, 0, 0, 0, true);
	assert_false(rdmap_async_next(w.p.b.rdmap, &ev));
	assert_int_equal(iw_srq_set_limit(w.srq, 1), 0); /* it is so already */
	assert_int_equal(iw_srq_set_limit(w.srq, 9), -IW_E_INVAL);
	assert_true(rdmap_async_next(w.p.b.rdmap, &ev));
	assert_false(rdmap_async_next(w.p.b.rdmap, &ev));
	assert_int_equal(iw_srq_set_limit(w.srq, 8), 0);
	tear_down(&w); /* an event that nobody took goes along */
}

/* S11: a hostile stream and seven honest ones: it gets what it may have, then 1/2/02; the others are all served. */
static void
test_S11_hog(void **state)
{
	struct world w;
	struct iw_qp_info info;
	struct iw_terminate t;

	(void)state;
	set_up(&w, 8, (struct iw_srq_attr){.depth = 16}, (struct iw_qp_attr){.srq_limit = 3});
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(post(w.srq, i, NULL, 0, 0), 0);
	for (int i = 0; i < 3; i++)
		send(&w, 7, 0, 0, true);
	assert_int_equal(iw_qp_query(w.qp[7], &info), 0);
	assert_int_equal(info.srq_used, 3);
	assert_ptr_equal(info.srq, w.srq);
	assert_true(alive(&w, 7));
	send(&w, 7, 0, 0, true);
	iw_qp_terminate_info(w.qp[7], &t);
	assert_int_equal(t.layer << 8 | t.etype << 4 | t.code, 0x122);
	for (uint32_t i = 0; i < 7; i++)
		send(&w, i, 0, 0, true);
	for (int i = 0; i < 10; i++)
		assert_int_equal(pair_wc(&w.p.b).status, IW_WC_SUCCESS);
	for (int i = 0; i < 30; i++) { /* who is polled may go on */
		assert_int_equal(post(w.srq, 50, NULL, 0, 0), 0);
		send(&w, 2, 0, 0, true);
		assert_int_equal(pair_wc(&w.p.b).status, IW_WC_SUCCESS);
	}
	for (uint32_t i = 0; i < 7; i++)
		assert_true(alive(&w, i));
	tear_down(&w);
}

/* Back-pressure: who found none goes on when one is posted, one each. */
static void
test_waiters(void **state)
{
	struct world w;

	(void)state;
	set_up(&w, 3, (struct iw_srq_attr){.depth = 8}, (struct iw_qp_attr){.recv_back_pressure = true});
	for (uint32_t i = 0; i < 3; i++) {
		send(&w, i, 0, 0, true);
		assert_true(w.qp[i]->rx_waits);
		w.p.b.in.len = w.p.b.in.avail = 0; /* the next stream's turn */
	}
	w.p.b.out_bits = 0;
	assert_int_equal(post(w.srq, 1, NULL, 0, 0), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(w.qp[i]->out_bits & RDMAP_OUT_RX_RESUME);
	w.msn[1] = 1;
	send(&w, 1, 0, 0, true);
	assert_ptr_equal(pair_wc(&w.p.b).qp, w.qp[1]);
	tear_down(&w);
}

/* S11 with back-pressure: who waits at its own limit goes on when its completions are polled, with nothing posted. */
static void
test_S11_polled(void **state)
{
	struct world w;

	(void)state;
	set_up(&w, 2, (struct iw_srq_attr){.depth = 8},
	       (struct iw_qp_attr){.srq_limit = 2, .recv_back_pressure = true});
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(post(w.srq, i, NULL, 0, 0), 0);
	for (int i = 0; i < 3; i++)
		send(&w, 0, 0, 0, true);
	assert_true(w.qp[0]->rx_waits);
	w.p.b.in.len = w.p.b.in.avail = 0;
	assert_int_equal(post(w.srq, 8, NULL, 0, 0), -IW_E_NOMEM);
	rdmap_doorbells(w.p.b.rdmap);
	assert_true(w.qp[0]->rx_waits);
	w.qp[0]->out_bits = 0;
	assert_ptr_equal(pair_wc(&w.p.b).qp, w.qp[0]);
	rdmap_doorbells(w.p.b.rdmap);
	assert_true(w.qp[0]->out_bits & RDMAP_OUT_RX_RESUME);
	assert_false(w.qp[0]->rx_waits);
	w.msn[0] = 3;
	send(&w, 0, 0, 0, true);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pair_wc(&w.p.b).status, IW_WC_SUCCESS);
	assert_true(alive(&w, 0));
	tear_down(&w);
}

/* What was under way when a stream breaks is flushed, the rest is the others'. */
static void
test_flush(void **state)
{
	struct world w;
	struct iw_wc wc;

	(void)state;
	set_up(&w, 2, (struct iw_srq_attr){.depth = 4}, (struct iw_qp_attr){0});
	assert_int_equal(post(w.srq, 1, NULL, 0, 0), 0);
	assert_int_equal(post(w.srq, 2, NULL, 0, 0), 0);
	send(&w, 0, 0, 0, false);
	qp_stream_end(w.qp[0], -IW_E_CONNRESET);
	wc = pair_wc(&w.p.b);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(wc.status, IW_WC_WR_FLUSH_ERR);
	assert_true(pair_no_wc(&w.p.b));
	send(&w, 1, 0, 0, true);
	assert_int_equal(pair_wc(&w.p.b).wr_id, 2);
	tear_down(&w);
}

static void
test_bad_arguments(void **state)
{
	struct world w;
	struct iw_srq_attr attr = {.depth = 4, .limit = 5};
	const struct iw_recv_wr bad = {.num_sge = 1}, good = {.next = &bad}, *at = NULL;
	struct iw_qp_attr qa;
	struct iw_srq *gone;
	struct iw_pd *pd;
	int err;

	(void)state;
	set_up(&w, 1, (struct iw_srq_attr){.depth = 8}, (struct iw_qp_attr){0});
	assert_null(srq_create(w.p.b.rdmap, w.p.b.pd, &attr, &err));
	assert_int_equal(err, -IW_E_INVAL);
	attr = (struct iw_srq_attr){.depth = 5, .limit = 9};
	assert_null(srq_create(w.p.b.rdmap, w.p.b.pd, &attr, &err));
	attr.limit = 8; /* the depth is 8, as iw_srq_set_limit() has it */
	gone = srq_create(w.p.b.rdmap, w.p.b.pd, &attr, &err);
	assert_non_null(gone);
	assert_int_equal(srq_destroy(gone), 0);
	attr = (struct iw_srq_attr){.depth = 1 << 20};
	assert_null(srq_create(w.p.b.rdmap, w.p.b.pd, &attr, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(srq_create(w.p.b.rdmap, w.p.a.pd, NULL, &err));
	assert_int_equal(err, -IW_E_PD);
	assert_null(srq_create(w.p.b.rdmap, NULL, NULL, &err));
	assert_int_equal(err, -IW_E_INVAL);
	for (uint32_t fuse = 1; fuse <= 2; fuse++) {
		iw_env_alloc_fuse = fuse;
		assert_null(srq_create(w.p.b.rdmap, w.p.b.pd, NULL, &err));
		assert_int_equal(err, -IW_E_NOMEM);
	}
	iw_env_alloc_fuse = 0;
	assert_int_equal(iw_post_recv(w.qp[0], &good, NULL), -IW_E_INVAL); /* its receives come from the SRQ */
	assert_int_equal(iw_post_srq_recv(w.srq, &good, &at), -IW_E_INVAL);
	assert_ptr_equal(at, &bad);
	assert_int_equal(iw_ring_count(&w.srq->ring), 1);
	assert_int_equal(iw_post_srq_recv(NULL, &good, NULL), -IW_E_INVAL);
	gone = make_srq(&w.p.b, (struct iw_srq_attr){0});
	assert_int_equal(gone->ring.mask + 1, 1024);
	assert_int_equal(srq_destroy(gone), 0);
	assert_int_equal(iw_post_srq_recv(gone, &good, NULL), -IW_E_STALE);
	assert_int_equal(iw_srq_set_limit(gone, 0), -IW_E_STALE);
	assert_null(iw_srq_context(gone));
	qa = (struct iw_qp_attr){.send_cq = w.p.b.cq, .recv_cq = w.p.b.cq, .srq = gone};
	assert_null(qp_create(w.p.b.rdmap, w.p.b.pd, &qa, &err));
	assert_int_equal(err, -IW_E_STALE);
	pd = iw_pd_create(w.p.b.domain);
	qa.srq = w.srq;
	assert_null(qp_create(w.p.b.rdmap, pd, &qa, &err));
	assert_int_equal(err, -IW_E_PD);
	assert_int_equal(iw_pd_destroy(pd), 0);
	tear_down(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_come),  cmocka_unit_test(test_S13_depth),
		cmocka_unit_test(test_S13_cq_room), cmocka_unit_test(test_cq_gone),
		cmocka_unit_test(test_limit_event), cmocka_unit_test(test_S11_hog),
		cmocka_unit_test(test_S11_polled),  cmocka_unit_test(test_waiters),
		cmocka_unit_test(test_flush),       cmocka_unit_test(test_bad_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
