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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_busy_while_a_qp_uses_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
