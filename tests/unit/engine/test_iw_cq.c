/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pair.h"

static struct sim sim;

static void
test_arguments(void **state)
{
	struct iw_cq *cq;

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	assert_null(iw_cq_create(NULL, 8, NULL, NULL));
	assert_null(iw_cq_create(sim.host[0].engine, 0, NULL, NULL));
	assert_int_equal(iw_cq_destroy(NULL), -IW_E_INVAL);
	for (uint32_t fuse = 1; fuse <= 2; fuse++) {
		iw_env_alloc_fuse = fuse;
		cq = iw_cq_create(sim.host[0].engine, 8, NULL, NULL);
		if (iw_env_alloc_fuse == 0)
			assert_null(cq);
		else
			assert_int_equal(iw_cq_destroy(cq), 0);
		iw_env_alloc_fuse = 0;
	}
	sim_fini(&sim);
}

static void
test_busy_while_a_qp_uses_it(void **state)
{
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4};
	struct iw_pd *pd;
	struct iw_qp *qp;
	int err;

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	pd = iw_pd_create(sim.host[0].domain);
	attr.send_cq = iw_cq_create(sim.host[0].engine, 8, NULL, NULL);
	attr.recv_cq = iw_cq_create(sim.host[0].engine, 8, NULL, NULL);
	qp = iw_qp_create(sim.host[0].engine, pd, &attr, &err);
	assert_non_null(qp);
	assert_int_equal(iw_cq_destroy(attr.send_cq), -IW_E_BUSY);
	assert_int_equal(iw_cq_destroy(attr.recv_cq), -IW_E_BUSY);
	assert_int_equal(iw_qp_destroy(qp), 0);
	assert_int_equal(iw_cq_destroy(attr.send_cq), 0);
	assert_int_equal(iw_cq_destroy(attr.recv_cq), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	sim_fini(&sim);
}

static int written[4], n_written;

static void
note_fd(int fd)
{
	written[n_written++ & 3] = fd;
}

static void
count(struct iw_cq *cq, void *context)
{
	(void)cq;
	++*(int *)context;
}

/* Armed, a CQ that fires writes its eventfd and calls its handler, once; the engine that cannot write says so. */
static void
test_eventfd(void **state)
{
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4};
	const struct iw_recv_wr wr = {.wr_id = 1};
	struct iw_engine *e;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
	int calls = 0;

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	e = sim.host[0].engine;
	pd = iw_pd_create(sim.host[0].domain);
	cq = iw_cq_create(e, 8, count, &calls);
	assert_int_equal(iw_cq_set_eventfd(cq, 5), -IW_E_NOTSUP);
	e->notify = note_fd;
	assert_int_equal(iw_cq_set_eventfd(cq, 5), 0);
	assert_int_equal(iw_cq_set_eventfd(cq, -2), -IW_E_INVAL);
	assert_int_equal(iw_cq_set_eventfd(NULL, 5), -IW_E_INVAL);
	attr.send_cq = attr.recv_cq = cq;
	qp = iw_qp_create(e, pd, &attr, NULL);
	assert_int_equal(iw_post_recv(qp, &wr, NULL), 0);
	assert_int_equal(iw_cq_arm(cq, false), 0);
	assert_int_equal(engine_deliver(e), 0);
	assert_int_equal(iw_qp_set_error(qp), 0);
	assert_int_equal(engine_deliver(e), 1);
	assert_int_equal(engine_deliver(e), 0);
	assert_int_equal(n_written, 1);
	assert_int_equal(written[0], 5);
	assert_int_equal(calls, 1);
	assert_int_equal(iw_cq_set_eventfd(cq, -1), 0);
	assert_int_equal(iw_cq_arm(cq, true), 0); /* a failed one waits */
	engine_tx(e, NULL, 0, e->now_ns);         /* doorbells */
	assert_int_equal(engine_deliver(e), 1);
	assert_int_equal(n_written, 1);
	assert_int_equal(calls, 2);
	assert_int_equal(iw_cq_resize(cq, 16), 0);
	assert_int_equal(iw_cq_resize(NULL, 16), -IW_E_INVAL);
	assert_int_equal(iw_qp_destroy(qp), 0);
	assert_int_equal(iw_qp_destroy(qp), -IW_E_STALE);
	assert_int_equal(iw_qp_set_error(qp), -IW_E_STALE);
	assert_int_equal(iw_cq_destroy(cq), 0);
	assert_int_equal(iw_cq_destroy(cq), -IW_E_STALE);
	assert_int_equal(iw_cq_resize(cq, 16), -IW_E_STALE);
	assert_int_equal(iw_cq_set_eventfd(cq, 1), -IW_E_STALE);
	assert_int_equal(iw_pd_destroy(pd), 0);
	sim_fini(&sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_busy_while_a_qp_uses_it),
		cmocka_unit_test(test_eventfd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
