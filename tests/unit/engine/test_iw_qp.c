/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "iw_time.h"
#include "pair.h"

static struct sim sim;
static struct pair pair;

static void
test_arguments(void **state)
{
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4}, bad;
	struct iw_pd *pd, *foreign;
	struct iw_engine *e;
	int err = 0;

	(void)state;
	sim_init(&sim, 1, 2, 1500);
	e = sim.host[0].engine;
	pd = iw_pd_create(sim.host[0].domain);
	foreign = iw_pd_create(sim.host[1].domain);
	attr.send_cq = attr.recv_cq = iw_cq_create(e, 64, NULL, NULL);
	bad = attr;
	assert_null(iw_qp_create(NULL, pd, &attr, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_qp_create(e, NULL, &attr, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_qp_create(e, pd, NULL, &err));
	assert_int_equal(err, -IW_E_INVAL);
	bad.send_cq = NULL;
	assert_null(iw_qp_create(e, pd, &bad, &err));
	assert_int_equal(err, -IW_E_INVAL);
	bad = attr;
	bad.recv_cq = NULL;
	assert_null(iw_qp_create(e, pd, &bad, NULL));
	bad = attr;
	bad.max_ird = IW_MAX_IRD + 1;
	assert_null(iw_qp_create(e, pd, &bad, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_qp_create(e, foreign, &attr, &err));
	assert_int_equal(err, -IW_E_PD);
	bad = attr;
	bad.sq_depth = 4096; /* more than the CQ can hold */
	assert_null(iw_qp_create(e, pd, &bad, &err));
	assert_int_equal(err, -IW_E_NOMEM);
	assert_int_equal(iw_qp_destroy(NULL), -IW_E_INVAL);
	assert_int_equal(iw_qp_set_error(NULL), -IW_E_INVAL);
	/* Nothing of all that is left. */
	assert_int_equal(iw_cq_destroy(attr.send_cq), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_pd_destroy(foreign), 0);
	sim_fini(&sim);
}

static void
test_no_more_than_max_qps(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 8, .max_qps = 3};
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4};
	struct iw_qp *qp[3];
	struct iw_pd *pd;
	int err;

	(void)state;
	sim_init_params(&sim, 1, 1, &params);
	pd = iw_pd_create(sim.host[0].domain);
	attr.send_cq = attr.recv_cq = iw_cq_create(sim.host[0].engine, 256, NULL, NULL);
	for (int i = 0; i < 3; i++) {
		qp[i] = iw_qp_create(sim.host[0].engine, pd, &attr, &err);
		assert_non_null(qp[i]);
	}
	assert_null(iw_qp_create(sim.host[0].engine, pd, &attr, &err));
	assert_int_equal(err, -IW_E_NOMEM);
	assert_int_equal(iw_qp_destroy(qp[1]), 0);
	qp[1] = iw_qp_create(sim.host[0].engine, pd, &attr, &err);
	assert_non_null(qp[1]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(iw_qp_destroy(qp[i]), 0);
	assert_int_equal(iw_cq_destroy(attr.send_cq), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	sim_fini(&sim);
}

/* Of a connected QP: the stream is reset, its id gets CLOSE, the peer too. */
static void
test_the_stream_goes_with_it(void **state)
{
	(void)state;
	for (int destroy = 0; destroy < 2; destroy++) {
		sim_init(&sim, 9, 2, 1500);
		pair_init(&pair, &sim, NULL);
		assert_true(pair_connect(&pair, 5 * IW_SEC));
		assert_int_equal(iw_qp_state(pair.end[0].qp), IW_QP_RTS);
		/* Until its RTR is acknowledged an initiator spares the peer a RST. */
		sim_run(&sim, 300 * IW_MS);
		if (destroy) {
			assert_int_equal(iw_qp_destroy(pair.end[0].qp), 0);
			pair.end[0].qp = NULL;
		} else {
			assert_int_equal(iw_qp_set_error(pair.end[0].qp), 0);
			assert_int_equal(iw_qp_state(pair.end[0].qp), IW_QP_ERROR);
		}
		assert_true(sim_until(&sim, &pair.both_closed, 5 * IW_SEC));
		assert_int_equal(pair.end[0].last.type, IW_CM_CLOSE);
		assert_int_equal(pair.end[1].last.type, IW_CM_CLOSE);
		assert_int_equal(pair.end[1].last.status, -IW_E_CONNRESET);
		assert_int_equal(iw_cm_state(pair.end[0].engine, pair.end[0].id), IW_CM_IDLE);
		pair_fini(&pair);
		sim_fini(&sim);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_no_more_than_max_qps),
		cmocka_unit_test(test_the_stream_goes_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
