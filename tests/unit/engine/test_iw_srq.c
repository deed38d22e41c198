/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pair.h"

static struct sim sim;
static struct pair pair;

static void
test_arguments(void **state)
{
	struct iw_srq *srq;
	struct iw_pd *pd;
	int err;

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	pd = iw_pd_create(sim.host[0].domain);
	assert_null(iw_srq_create(NULL, pd, NULL, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_srq_create(sim.host[0].engine, NULL, NULL, NULL));
	srq = iw_srq_create(sim.host[0].engine, pd, &(struct iw_srq_attr){.context = &sim}, &err);
	assert_int_equal(err, 0);
	assert_ptr_equal(iw_srq_context(srq), &sim);
	assert_int_equal(iw_pd_destroy(pd), -IW_E_BUSY);
	assert_int_equal(iw_srq_destroy(srq), 0);
	assert_int_equal(iw_srq_destroy(srq), -IW_E_STALE);
	assert_int_equal(iw_srq_destroy(NULL), -IW_E_INVAL);
	assert_int_equal(iw_pd_destroy(pd), 0);
	sim_fini(&sim);
}

/* A fast registration and a window hold their PD; both know when they are gone, and whom they belong to. */
static void
test_mr_fast_and_mw(void **state)
{
	struct iw_engine *e;
	struct iw_pd *pd, *foreign;
	struct iw_mr *mr;
	struct iw_mw *mw;
	int err;

	(void)state;
	sim_init(&sim, 1, 2, 1500);
	e = sim.host[0].engine;
	pd = iw_pd_create(sim.host[0].domain);
	foreign = iw_pd_create(sim.host[1].domain);
	assert_null(iw_mr_create_fast(NULL, pd, 1, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_create_fast(e, foreign, 1, &err));
	assert_int_equal(err, -IW_E_PD);
	assert_null(iw_mw_create(NULL, pd, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mw_create(e, foreign, &err));
	assert_int_equal(err, -IW_E_PD);
	mr = iw_mr_create_fast(e, pd, 1, &err);
	mw = iw_mw_create(e, pd, &err);
	assert_int_not_equal(iw_mr_rkey(mr), 0);
	assert_int_not_equal(iw_mw_rkey(mw), 0);
	assert_int_equal(iw_mr_dereg((struct iw_mr *)mw), -IW_E_INVAL);
	assert_int_equal(iw_pd_destroy(pd), -IW_E_BUSY);
	assert_int_equal(iw_mr_dereg(mr), 0);
	assert_int_equal(iw_mr_dereg(mr), -IW_E_STALE);
	assert_int_equal(iw_mw_destroy(mw), 0);
	assert_int_equal(iw_mw_destroy(mw), -IW_E_STALE);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_pd_destroy(foreign), 0);
	sim_fini(&sim);
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	(void)id;
	(void)event;
	(void)context;
	return 0;
}

/* Neither connect nor accept takes a QP that is gone. */
static void
test_stale_qp_at_cm(void **state)
{
	struct iw_addr to = sim_addr(1, 4791);
	iw_cm_id id;

	(void)state;
	sim_init(&sim, 1, 2, 1500);
	pair_init(&pair, &sim, NULL);
	id = iw_cm_create(pair.end[0].engine, on_event, NULL);
	assert_int_not_equal(id, 0);
	assert_int_equal(iw_qp_destroy(pair.end[0].qp), 0);
	assert_int_equal(iw_cm_connect(pair.end[0].engine, id, &to, pair.end[0].qp, NULL), -IW_E_STALE);
	assert_int_equal(iw_cm_accept(pair.end[0].engine, id, pair.end[0].qp, NULL), -IW_E_STALE);
	assert_int_equal(iw_cm_destroy(pair.end[0].engine, id), 0);
	pair.end[0].qp = NULL;
	pair_fini(&pair);
	sim_fini(&sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_mr_fast_and_mw),
		cmocka_unit_test(test_stale_qp_at_cm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
