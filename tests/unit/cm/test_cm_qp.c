/* SPDX-License-Identifier: BSD-3-Clause */
/* What is read of a QP: depths, and how it has failed. */
#include "cm_qp.h"

#include "cmsim.h"

static struct cmsim s;
static struct cmsim_pair p;

static void
test_depths(void **state)
{
	static const struct {
		uint16_t ird, ord;
		bool fits;
		uint16_t want_ird, want_ord;
	} rows[] = {
		{0, 0, true, 5, 7}, {5, 7, true, 5, 7}, {1, 0, true, 1, 7}, {6, 7, false, 6, 7}, {5, 8, false, 5, 8}};
	struct iw_qp_attr attr = {.max_ird = 5, .max_ord = 7};
	struct iw_qp *qp;
	int err;

	(void)state;
	cmsim_open(&s, NULL);
	attr.send_cq = attr.recv_cq = s.h[0].cq;
	qp = qp_create(s.h[0].rdmap, s.h[0].pd, &attr, &err);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint16_t ird = rows[i].ird, ord = rows[i].ord;

		assert_int_equal(cm_qp_depths(qp, &ird, &ord), rows[i].fits);
		assert_int_equal(ird, rows[i].want_ird);
		assert_int_equal(ord, rows[i].want_ord);
	}
	cmsim_close(&s);
}

static void
test_failure(void **state)
{
	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_pair(&s, &p, NULL, NULL);
	assert_int_equal(cm_qp_failure(p.qa), CM_EVENT_MAX);
	assert_false(cm_qp_term(p.qa).valid);
	qp_fail(p.qa, RDMAP_FAULT_MPA_CRC);
	assert_int_equal(cm_qp_failure(p.qa), CM_EV_BROKEN); /* its Terminate is due */
	cmsim_run(&s, 1 * IW_SEC);
	assert_true(cm_qp_term(p.qa).sent && !cm_qp_term(p.qb).sent);
	assert_int_equal(cm_qp_term(p.qb).code, 2);
	assert_int_equal(cm_qp_failure(p.qb), CM_EV_TERM);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0) CLOSE(PROTO)");
	assert_string_equal(cmsim_story(&s.h[1], p.b), "CONNECT_REQUEST ESTABLISHED CLOSE(PROTO)");
	cmsim_close(&s);
}

/* A graceful end leaves both QPs IDLE, every other one in ERROR. */
static void
test_state_behind_the_end(void **state)
{
	(void)state;
	for (int abrupt = 0; abrupt < 2; abrupt++) {
		cmsim_open(&s, NULL);
		memset(&p, 0, sizeof(p));
		cmsim_pair(&s, &p, NULL, NULL);
		assert_int_equal(cmsim_disconnect(&s.h[0], p.a, abrupt), 0);
		cmsim_run(&s, 1 * IW_SEC);
		assert_int_equal(cmsim_count(&s.h[0], IW_CM_CLOSE) + cmsim_count(&s.h[1], IW_CM_CLOSE), 2);
		assert_int_equal(iw_qp_state(p.qa), abrupt ? IW_QP_ERROR : IW_QP_IDLE);
		assert_int_equal(iw_qp_state(p.qb), abrupt ? IW_QP_ERROR : IW_QP_IDLE);
		cmsim_close(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depths),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_state_behind_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
