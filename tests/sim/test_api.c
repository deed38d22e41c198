/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad input at the API, on whole engines: NULL, handles of every kind that were destroyed, requests that cannot be
 * posted, memory that is short.  Each call says so, and nothing else happens. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain.h"
#include "env.h"
#include "iw_time.h"
#include "pair.h"

static struct sim *s;
static struct pair p;
static struct iw_engine *e;
static struct iw_pd *pd;
static struct iw_qp *qp;
static uint8_t memory[4096];

static void
open_world(bool connect)
{
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4};

	s = malloc(sizeof(*s));
	sim_init(s, 9, 2, 1500);
	pair_init(&p, s, &attr);
	assert_true(!connect || pair_connect(&p, 10 * IW_SEC));
	e = p.end[0].engine;
	pd = p.end[0].pd;
	qp = p.end[0].qp;
}

static void
close_world(void)
{
	pair_fini(&p);
	sim_run(s, 200 * IW_SEC);
	sim_fini(s);
	free(s);
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	return 0;
}

/* What each call says to objects that are not there: NULL, or destroyed. */
static void
check_qp(struct iw_qp *q, int says)
{
	struct iw_terminate t = {.valid = true};
	struct iw_addr to = sim_addr(1, 9);
	const struct iw_send_wr send = {.opcode = IW_WR_SEND}, *bad_send = NULL;
	const struct iw_recv_wr recv = {.wr_id = 1}, *bad_recv = NULL;
	struct iw_qp_info info;
	iw_cm_id id = iw_cm_create(e, on_event, NULL);
	int err = 0;

	assert_int_equal(iw_post_send(q, &send, &bad_send), says);
	assert_ptr_equal(bad_send, &send);
	assert_int_equal(iw_post_recv(q, &recv, &bad_recv), says);
	assert_ptr_equal(bad_recv, &recv);
	assert_int_equal(iw_qp_query(q, &info), says);
	assert_int_equal(iw_qp_set_error(q), says);
	assert_int_equal(iw_qp_destroy(q), says);
	assert_null(iw_mr_reg_qp(q, memory, 8, 0, &err));
	assert_int_equal(err, says);
	assert_int_equal(iw_cm_connect(e, id, &to, q, NULL), says);
	assert_int_equal(iw_cm_accept(e, id, q, NULL), says);
	assert_int_equal(iw_qp_state(q), IW_QP_ERROR);
	assert_null(iw_qp_context(q));
	iw_qp_terminate_info(q, &t);
	assert_false(t.valid);
	assert_int_equal(iw_cm_destroy(e, id), 0);
}

static void
check_cq(struct iw_cq *cq, int says)
{
	struct iw_qp_attr attr = {.send_cq = cq, .recv_cq = p.end[0].cq};
	struct iw_wc wc;
	int err = 0;

	assert_int_equal(iw_cq_poll(cq, &wc, 1), says);
	assert_int_equal(iw_cq_arm(cq, false), says);
	assert_int_equal(iw_cq_resize(cq, 64), says);
	assert_int_equal(iw_cq_set_eventfd(cq, -1), says);
	assert_int_equal(iw_cq_destroy(cq), says);
	assert_null(iw_qp_create(e, pd, &attr, &err));
	assert_int_equal(err, says);
	attr = (struct iw_qp_attr){.send_cq = p.end[0].cq, .recv_cq = cq};
	assert_null(iw_qp_create(e, pd, &attr, &err));
	assert_int_equal(err, says);
}

static void
check_srq(struct iw_srq *srq, int says)
{
	struct iw_qp_attr attr = {.send_cq = p.end[0].cq, .recv_cq = p.end[0].cq, .srq = srq};
	const struct iw_recv_wr recv = {.wr_id = 1}, *bad = NULL;
	int err = 0;

	assert_int_equal(iw_post_srq_recv(srq, &recv, &bad), says);
	assert_ptr_equal(bad, &recv);
	assert_int_equal(iw_srq_set_limit(srq, 1), says);
	assert_int_equal(iw_srq_destroy(srq), says);
	assert_null(iw_srq_context(srq));
	if (srq) { /* none is none */
		assert_null(iw_qp_create(e, pd, &attr, &err));
		assert_int_equal(err, says);
	}
}

/* Posted to a QP in RTS: what a request names is looked at first. */
static int
post_reg(struct iw_mr *mr)
{
	const struct iw_iov iov = {memory, 8};
	const struct iw_send_wr wr = {.opcode = IW_WR_FAST_REG, .reg = {.mr = mr, .iov = &iov, .num_iov = 1}};

	return iw_post_send(qp, &wr, NULL);
}

static int
post_bind(struct iw_mw *mw, struct iw_mr *mr)
{
	const struct iw_send_wr wr = {.opcode = IW_WR_BIND_MW,
				      .bind = {.mw = mw, .mr = mr, .addr = (uintptr_t)memory, .length = 8}};

	return iw_post_send(qp, &wr, NULL);
}

static void
check_mr(struct iw_mr *mr, int says)
{
	struct iw_mw *mw = iw_mw_create(e, pd, NULL);

	assert_int_equal(post_reg(mr), says);
	assert_int_equal(post_bind(mw, mr), says);
	assert_int_equal(iw_mw_destroy(mw), 0);
	assert_int_equal(iw_mr_dereg(mr), says);
	assert_int_equal(iw_mr_lkey(mr), 0);
	assert_int_equal(iw_mr_rkey(mr), 0);
}

static void
check_mw(struct iw_mw *mw, int says)
{
	struct iw_mr *mr = iw_mr_reg(pd, memory, 8, IW_MW_BIND | IW_LOCAL_WRITE, NULL);

	assert_int_equal(post_bind(mw, mr), says);
	assert_int_equal(iw_mr_dereg(mr), 0);
	assert_int_equal(iw_mw_destroy(mw), says);
	assert_int_equal(iw_mw_rkey(mw), 0);
}

static void
check_pd(struct iw_pd *none, int says)
{
	struct iw_qp_attr attr = {.send_cq = p.end[0].cq, .recv_cq = p.end[0].cq};
	struct iw_iov iov = {memory, 8};
	int err = 0;

	assert_null(iw_mr_reg(none, memory, 8, 0, &err));
	assert_int_equal(err, says);
	err = 0;
	assert_null(iw_mr_reg_iov(none, &iov, 1, 0, 0, &err));
	assert_int_equal(err, says);
	err = 0;
	assert_null(iw_mr_create_fast(e, none, 1, &err));
	assert_int_equal(err, says);
	err = 0;
	assert_null(iw_mw_create(e, none, &err));
	assert_int_equal(err, says);
	err = 0;
	assert_null(iw_srq_create(e, none, &(struct iw_srq_attr){.depth = 8}, &err));
	assert_int_equal(err, says);
	err = 0;
	assert_null(iw_qp_create(e, none, &attr, &err));
	assert_int_equal(err, says);
	assert_int_equal(iw_pd_destroy(none), says);
}

static void
check_id(struct iw_engine *engine, iw_cm_id id, int says)
{
	struct iw_addr a = sim_addr(1, 9);
	struct iw_cm_load load;

	assert_int_equal(iw_cm_listen(engine, id, &a, 1), says);
	assert_int_equal(iw_cm_connect(engine, id, &a, qp, NULL), says);
	assert_int_equal(iw_cm_accept(engine, id, qp, NULL), says);
	assert_int_equal(iw_cm_reject(engine, id, NULL, 0), says);
	assert_int_equal(iw_cm_disconnect(engine, id, true), says);
	assert_int_equal(iw_cm_set_context(engine, id, NULL), says);
	assert_int_equal(iw_cm_addrs(engine, id, &a, NULL), says);
	assert_int_equal(iw_cm_load(engine, id, &load), says);
	assert_int_equal(iw_cm_destroy(engine, id), says);
	assert_int_equal(iw_cm_state(engine, id), IW_CM_IDLE);
}

static void
test_null(void **state)
{
	int err;

	(void)state;
	open_world(true);
	check_qp(NULL, -IW_E_INVAL);
	check_cq(NULL, -IW_E_INVAL);
	check_srq(NULL, -IW_E_INVAL);
	check_mr(NULL, -IW_E_INVAL);
	check_mw(NULL, -IW_E_INVAL);
	check_pd(NULL, -IW_E_INVAL);
	check_id(NULL, 1, -IW_E_INVAL);
	check_id(e, 0, -IW_E_STALE);
	assert_null(iw_pd_create(NULL));
	assert_null(iw_cq_create(NULL, 8, NULL, NULL));
	assert_null(iw_cq_create(e, 0, NULL, NULL));
	assert_null(iw_srq_create(NULL, pd, NULL, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_create_fast(NULL, pd, 1, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mw_create(NULL, pd, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_qp_create(NULL, pd, NULL, NULL));
	assert_int_equal(iw_cm_create(e, NULL, NULL), 0);
	assert_int_equal(iw_cm_create(NULL, on_event, NULL), 0);
	assert_int_equal(iw_domain_destroy(NULL), -IW_E_INVAL);
	assert_int_equal(iw_domain_destroy(s->host[0].domain), -IW_E_BUSY);
	assert_int_equal(iw_engine_set_async(NULL, NULL, NULL), -IW_E_INVAL);
	assert_int_equal(iw_engine_stats(NULL, NULL, 0), -IW_E_INVAL);
	close_world();
}

static void
test_destroyed(void **state)
{
	struct iw_qp_attr attr;
	struct iw_srq *srq;
	struct iw_mr *mr[3];
	struct iw_pd *old;
	struct iw_mw *mw;
	struct iw_cq *cq;
	struct iw_qp *q;
	iw_cm_id id;

	(void)state;
	open_world(true);
	cq = iw_cq_create(e, 64, NULL, NULL);
	old = iw_pd_create(s->host[0].domain);
	srq = iw_srq_create(e, old, &(struct iw_srq_attr){.depth = 8}, NULL);
	attr = (struct iw_qp_attr){.send_cq = cq, .recv_cq = cq, .sq_depth = 4, .srq = srq};
	q = iw_qp_create(e, old, &attr, NULL);
	mr[0] = iw_mr_reg(old, memory, 8, 0, NULL);
	mr[1] = iw_mr_reg_qp(q, memory, 8, 0, NULL);
	mr[2] = iw_mr_create_fast(e, old, 4, NULL);
	mw = iw_mw_create(e, old, NULL);
	id = iw_cm_create(e, on_event, NULL);
	assert_true(cq && old && srq && q && mr[0] && mr[1] && mr[2] && mw && id);
	assert_int_equal(iw_pd_destroy(old), -IW_E_BUSY);
	assert_int_equal(iw_cq_destroy(cq), -IW_E_BUSY);
	assert_int_equal(iw_srq_destroy(srq), -IW_E_BUSY);
	assert_int_equal(iw_qp_destroy(q), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(iw_mr_dereg(mr[i]), 0);
	assert_int_equal(iw_mw_destroy(mw), 0);
	assert_int_equal(iw_srq_destroy(srq), 0);
	assert_int_equal(iw_pd_destroy(old), 0);
	assert_int_equal(iw_cq_destroy(cq), 0);
	assert_int_equal(iw_cm_destroy(e, id), 0);
	check_qp(q, -IW_E_STALE);
	for (int i = 0; i < 3; i++)
		check_mr(mr[i], -IW_E_STALE);
	check_mw(mw, -IW_E_STALE);
	check_srq(srq, -IW_E_STALE);
	check_cq(cq, -IW_E_STALE);
	check_pd(old, -IW_E_STALE);
	check_id(e, id, -IW_E_STALE);
	close_world();
}

/* Objects of different engines, PDs and domains. */
static void
test_strangers(void **state)
{
	struct iw_qp_attr attr;
	struct iw_srq *srq;
	struct iw_pd *other;
	int err;

	(void)state;
	open_world(false);
	other = iw_pd_create(s->host[0].domain);
	srq = iw_srq_create(p.end[1].engine, p.end[1].pd, &(struct iw_srq_attr){.depth = 8}, NULL);
	attr = (struct iw_qp_attr){.send_cq = p.end[0].cq, .recv_cq = p.end[0].cq, .sq_depth = 4, .srq = srq};
	assert_null(iw_qp_create(e, pd, &attr, &err)); /* an SRQ is for the QPs of one engine */
	assert_int_equal(err, -IW_E_INVAL);
	assert_int_equal(iw_srq_destroy(srq), 0);
	srq = iw_srq_create(e, other, &(struct iw_srq_attr){.depth = 8}, NULL);
	attr.srq = srq;
	assert_null(iw_qp_create(e, pd, &attr, &err));
	assert_int_equal(err, -IW_E_PD);
	assert_int_equal(iw_srq_destroy(srq), 0);
	attr.srq = NULL;
	attr.send_cq = p.end[1].cq;
	assert_null(iw_qp_create(e, pd, &attr, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_qp_create(e, p.end[1].pd, &(struct iw_qp_attr){.send_cq = p.end[0].cq, .recv_cq = p.end[0].cq},
				 &err));
	assert_int_equal(err, -IW_E_PD);
	assert_null(iw_srq_create(e, p.end[1].pd, &(struct iw_srq_attr){.depth = 8}, &err));
	assert_int_equal(err, -IW_E_PD);
	assert_null(iw_mr_create_fast(e, p.end[1].pd, 1, &err));
	assert_int_equal(err, -IW_E_PD);
	assert_null(iw_mw_create(e, p.end[1].pd, &err));
	assert_int_equal(err, -IW_E_PD);
	assert_int_equal(iw_pd_destroy(other), 0);
	close_world();
}

static struct iw_qp *foreign;

static int
accept_with_foreign(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	bool *asked = context;

	*asked |= event->type == IW_CM_CONNECT_REQUEST;
	assert_int_equal(iw_cm_accept(p.end[1].engine, id, foreign, NULL), -IW_E_INVAL);
	return 1;
}

/* A QP of another engine is known here by a handle that names another one. */
static void
test_strange_qp(void **state)
{
	struct iw_qp_attr attr;
	struct iw_addr to = sim_addr(1, 4793);
	iw_cm_id listener, id;
	bool asked = false;
	int err;

	(void)state;
	open_world(false);
	attr = (struct iw_qp_attr){.send_cq = p.end[0].cq, .recv_cq = p.end[0].cq};
	foreign = iw_qp_create(e, pd, &attr, &err);
	listener = iw_cm_create(p.end[1].engine, accept_with_foreign, &asked);
	assert_int_equal(iw_cm_listen(p.end[1].engine, listener, &to, 1), 0);
	id = iw_cm_create(e, on_event, NULL);
	assert_int_equal(iw_cm_connect(e, id, &to, p.end[1].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_connect(e, id, &to, qp, NULL), 0);
	assert_true(sim_until(s, &asked, IW_SEC));
	sim_run(s, IW_SEC);
	assert_int_equal(iw_qp_state(foreign), IW_QP_IDLE);
	assert_int_equal(iw_qp_destroy(foreign), 0);
	assert_int_equal(iw_cm_destroy(e, id), 0);
	assert_int_equal(iw_cm_destroy(p.end[1].engine, listener), 0);
	close_world();
}

/* Requests that are refused at the post, and leave the QP as it was. */
static void
test_posts(void **state)
{
	static struct iw_sge sge[IW_MAX_SGE + 1], big[2] = {{1, UINT32_MAX, 0}, {1, 1, 0}},
						  wraps = {UINT64_MAX - 3, 8, 0}, last = {UINT64_MAX - 3, 4, 0};
	const struct {
		struct iw_send_wr wr;
		int says;
	} sends[] = {
		{{.opcode = 200}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .flags = 0x80}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .num_sge = IW_MAX_SGE + 1, .sg_list = sge}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .num_sge = -1, .sg_list = sge}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .num_sge = 1}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .num_sge = 1, .sg_list = &wraps}, -IW_E_INVAL},
		{{.opcode = IW_WR_SEND, .num_sge = 2, .sg_list = big}, -IW_E_TOOBIG},
		{{.opcode = IW_WR_RDMA_READ, .num_sge = 2, .sg_list = big}, -IW_E_TOOBIG},
		{{.opcode = IW_WR_SEND, .flags = IW_SEND_INLINE, .num_sge = 1, .sg_list = big}, -IW_E_TOOBIG},
		{{.opcode = IW_WR_IMM, .num_sge = 1, .sg_list = &last}, -IW_E_INVAL},
		{{.opcode = IW_WR_FETCH_ADD, .num_sge = 0}, -IW_E_INVAL},
		{{.opcode = IW_WR_FETCH_ADD, .num_sge = 1, .sg_list = &last}, -IW_E_INVAL}, /* not eight octets */
		{{.opcode = IW_WR_FAST_REG}, -IW_E_INVAL},
		{{.opcode = IW_WR_BIND_MW}, -IW_E_INVAL},
	};
	const struct iw_send_wr *bad;
	struct iw_send_wr ok = {.opcode = IW_WR_SEND};
	struct iw_recv_wr recv = {.num_sge = 2, .sg_list = big};

	(void)state;
	open_world(false);
	assert_int_equal(iw_post_send(qp, &ok, NULL), -IW_E_NOTCONN);
	close_world();
	open_world(true);
	for (size_t i = 0; i < sizeof(sends) / sizeof(sends[0]); i++) {
		int says = iw_post_send(qp, &sends[i].wr, &bad);

		if (says != sends[i].says || bad != &sends[i].wr)
			fail_msg("send %zu: %s", i, iw_err_name(says));
	}
	assert_int_equal(iw_post_recv(qp, &recv, NULL), -IW_E_TOOBIG);
	recv = (struct iw_recv_wr){.num_sge = 1, .sg_list = &wraps};
	assert_int_equal(iw_post_recv(qp, &recv, NULL), -IW_E_INVAL);
	recv.num_sge = 0;
	for (int i = 0; i < 4; i++)
		assert_int_equal(iw_post_recv(qp, &recv, NULL), 0);
	assert_int_equal(iw_post_recv(qp, &recv, NULL), -IW_E_NOMEM);
	for (int i = 0; i < 4; i++)
		assert_int_equal(iw_post_recv(p.end[1].qp, &recv, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(iw_post_send(qp, &ok, NULL), 0);
	assert_int_equal(iw_post_send(qp, &ok, &bad), -IW_E_NOMEM);
	assert_ptr_equal(bad, &ok);
	sim_run(s, 10 * IW_MS);
	assert_int_equal(iw_qp_state(qp), IW_QP_RTS);
	assert_int_equal(iw_qp_set_error(qp), 0);
	assert_int_equal(iw_post_send(qp, &ok, NULL), -IW_E_NOTCONN);
	assert_int_equal(iw_post_recv(qp, &recv, NULL), -IW_E_NOTCONN);
	close_world();
}

static int
post_shared(struct iw_srq *srq, int num_sge, const struct iw_sge *list)
{
	struct iw_recv_wr recv = {.num_sge = num_sge, .sg_list = list};

	return iw_post_srq_recv(srq, &recv, NULL);
}

static void
test_shared_posts(void **state)
{
	struct iw_sge big[2] = {{1, UINT32_MAX, 0}, {1, 1, 0}};
	struct iw_srq *srq;

	(void)state;
	open_world(false);
	srq = iw_srq_create(e, pd, &(struct iw_srq_attr){.depth = 4}, NULL);
	assert_int_equal(post_shared(srq, 1, NULL), -IW_E_INVAL);
	assert_int_equal(post_shared(srq, -1, big), -IW_E_INVAL);
	assert_int_equal(post_shared(srq, 2, big), -IW_E_TOOBIG);
	for (int i = 0; i < 4; i++)
		assert_int_equal(post_shared(srq, 0, NULL), 0);
	assert_int_equal(post_shared(srq, 0, NULL), -IW_E_NOMEM);
	assert_int_equal(iw_srq_set_limit(srq, 5), -IW_E_INVAL);
	assert_int_equal(iw_srq_destroy(srq), 0);
	close_world();
}

/* Memory is short at each place in turn, until it is not: nothing is left behind. */
static void
test_no_memory(void **state)
{
	struct iw_qp_attr attr;
	struct iw_iov iov = {memory, 8};
	uint32_t refused[4] = {0};
	struct iw_mr *mr;
	int err;

	(void)state;
	open_world(false);
	attr = (struct iw_qp_attr){.send_cq = p.end[0].cq, .recv_cq = p.end[0].cq, .sq_depth = 4, .rq_depth = 4};
	for (uint32_t fuse = 1; fuse < 8; fuse++) {
		struct iw_srq *srq;
		struct iw_cq *cq;
		struct iw_qp *q;

		iw_env_alloc_fuse = fuse;
		mr = iw_mr_reg_iov(pd, &iov, 1, 0, 0, &err);
		assert_int_equal(err, mr ? 0 : -IW_E_NOMEM);
		refused[0] += !mr;
		assert_int_equal(mr ? iw_mr_dereg(mr) : 0, 0);
		iw_env_alloc_fuse = fuse;
		mr = iw_mr_create_fast(e, pd, 4, &err);
		assert_int_equal(err, mr ? 0 : -IW_E_NOMEM);
		refused[1] += !mr;
		assert_int_equal(mr ? iw_mr_dereg(mr) : 0, 0);
		iw_env_alloc_fuse = fuse;
		srq = iw_srq_create(e, pd, &(struct iw_srq_attr){.depth = 8}, &err);
		assert_int_equal(err, srq ? 0 : -IW_E_NOMEM);
		refused[2] += !srq;
		assert_int_equal(srq ? iw_srq_destroy(srq) : 0, 0);
		iw_env_alloc_fuse = fuse;
		q = iw_qp_create(e, pd, &attr, &err);
		assert_int_equal(err, q ? 0 : -IW_E_NOMEM);
		refused[3] += !q;
		assert_int_equal(q ? iw_qp_destroy(q) : 0, 0);
		iw_env_alloc_fuse = 0;
		cq = iw_cq_create(e, 8, NULL, NULL);
		iw_env_alloc_fuse = 1;
		assert_int_equal(iw_cq_resize(cq, 4096), -IW_E_NOMEM);
		iw_env_alloc_fuse = 0;
		assert_int_equal(iw_cq_destroy(cq), 0);
	}
	for (int i = 0; i < 4; i++)
		assert_true(refused[i] > 0 && refused[i] < 7);
	assert_int_equal(iw_cq_resize(p.end[0].cq, 1), -IW_E_BUSY);
	close_world();
}

/* Windows share the places of registrations, which come by the thousand. */
static void
test_no_memory_for_windows(void **state)
{
	static struct iw_mw *mw[3 * DOMAIN_CHUNK + 1];
	uint32_t n = 0;
	int err = 0;

	(void)state;
	open_world(false);
	while (n < 3 * DOMAIN_CHUNK && err == 0) {
		iw_env_alloc_fuse = 1;
		mw[n] = iw_mw_create(e, pd, &err);
		n += mw[n] != NULL;
	}
	assert_int_equal(err, -IW_E_NOMEM);
	iw_env_alloc_fuse = 0;
	mw[n] = iw_mw_create(e, pd, &err);
	assert_non_null(mw[n]);
	for (uint32_t i = 0; i <= n; i++)
		assert_int_equal(iw_mw_destroy(mw[i]), 0);
	close_world();
}

static void
test_names(void **state)
{
	(void)state;
	for (int i = IW_QP_IDLE; i <= IW_QP_ERROR; i++)
		assert_string_not_equal(iw_qp_state_name(i), iw_qp_state_name(i + 1));
	for (int i = 0; i < 9; i++)
		assert_string_not_equal(iw_wc_status_name(i), iw_wc_status_name(i + 1));
	for (int i = 0; i < 9; i++)
		assert_string_not_equal(iw_wc_opcode_name(i), iw_wc_opcode_name(i + 1));
	assert_non_null(iw_qp_state_name(-1));
	assert_non_null(iw_wc_status_name(99));
	assert_non_null(iw_wc_opcode_name(99));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_null),      cmocka_unit_test(test_destroyed),
		cmocka_unit_test(test_strangers), cmocka_unit_test(test_strange_qp),
		cmocka_unit_test(test_posts),     cmocka_unit_test(test_shared_posts),
		cmocka_unit_test(test_no_memory), cmocka_unit_test(test_no_memory_for_windows),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
