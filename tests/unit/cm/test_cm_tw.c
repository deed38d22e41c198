/* SPDX-License-Identifier: BSD-3-Clause */
/* TIMEWAIT_EXIT: whose it is, and ids that are used again (docs/cm.md). */
#include "cmsim.h"

static struct cmsim s;
static struct cmsim_pair p;
static uint32_t done;

static int
connect_again(struct cmsim_host *h, iw_cm_id id, const struct iw_cm_event *ev)
{
	if (ev->type == IW_CM_CLOSE || (ev->type == IW_CM_CONNECT_REPLY && ev->status)) {
		if (done++ == 0) {
			struct iw_cm_attr a = {.timewait_exit = true};

			p.qa = cmsim_qp(h);
			assert_int_equal(cmsim_connect(h, id, p.qa, &a), 0);
		}
	}
	return 0;
}

/* From inside the handler of the last event the id can be used again; its older TIME_WAIT record is nobody's then. */
static void
test_used_again(void **state)
{
	struct iw_cm_attr a = {.timewait_exit = true};

	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_pair(&s, &p, &a, &a);
	s.h[0].hook = connect_again;
	done = 0;
	cmsim_disconnect(&s.h[0], p.a, false);
	cmsim_run(&s, 1 * IW_SEC);
	assert_int_equal(cmsim_count(&s.h[1], IW_CM_CONNECT_REQUEST), 2);
	p.b = cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, 1)->id;
	assert_int_equal(cmsim_accept(&s.h[1], p.b, cmsim_qp(&s.h[1]), NULL), 0);
	cmsim_run(&s, 200 * IW_SEC);
	assert_int_equal(cmsim_count(&s.h[0], IW_CM_TIMEWAIT_EXIT), 0);
	cmsim_disconnect(&s.h[0], p.a, false);
	cmsim_run(&s, 59 * IW_SEC);
	assert_int_equal(cmsim_count(&s.h[0], IW_CM_TIMEWAIT_EXIT), 0);
	cmsim_run(&s, 3 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a),
			    "CONNECT_REPLY(0) CLOSE(0) CONNECT_REPLY(0) CLOSE(0) TIMEWAIT_EXIT");
	cmsim_close(&s);

	cmsim_open(&s, NULL); /* after a refusal */
	p.qa = cmsim_qp(&s.h[0]);
	p.a = cmsim_id(&s.h[0]);
	s.h[0].hook = connect_again;
	done = 0;
	assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, NULL), 0);
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(CONNREFUSED) CONNECT_REPLY(CONNREFUSED)");
	cmsim_close(&s);
}

/* TIMEWAIT_EXIT: to whoever asked for it and closed first; cancelled by listen; not to a new id in the same slot. */
static void
test_timewait_exit(void **state)
{
	struct iw_cm_attr yes = {.timewait_exit = true}, no = {.timewait_exit = false};
	struct iw_addr any = {.port = 5000};

	(void)state;
	for (int how = 0; how < 4; how++) {
		memset(&p, 0, sizeof(p));
		cmsim_open(&s, NULL);
		cmsim_pair(&s, &p, how == 1 ? &no : &yes, &yes);
		cmsim_disconnect(&s.h[0], p.a, false);
		cmsim_run(&s, 1 * IW_SEC);
		if (how == 2)
			assert_int_equal(cm_listen(s.h[0].cm, p.a, &any, 1), 0);
		if (how == 3)
			cmsim_destroy(&s.h[0], p.a);
		cmsim_run(&s, 100 * IW_SEC);
		assert_int_equal(cmsim_count(&s.h[0], IW_CM_TIMEWAIT_EXIT), how == 0);
		assert_int_equal(cmsim_count(&s.h[1], IW_CM_TIMEWAIT_EXIT), 0); /* it closed second */
		cmsim_close(&s);
	}
}

/* Who listens is told likewise, when it closed first. */
static void
test_passive(void **state)
{
	struct iw_cm_attr yes = {.timewait_exit = true};

	(void)state;
	for (int asks = 0; asks < 2; asks++) {
		memset(&p, 0, sizeof(p));
		cmsim_open(&s, NULL);
		cmsim_pair(&s, &p, NULL, asks ? &yes : NULL);
		cmsim_disconnect(&s.h[1], p.b, false);
		cmsim_run(&s, 100 * IW_SEC);
		assert_int_equal(cmsim_count(&s.h[1], IW_CM_TIMEWAIT_EXIT), asks);
		cmsim_close(&s);
	}
}

/* Each connection of an id asks for itself. */
static void
test_not_asked_again(void **state)
{
	struct iw_cm_attr yes = {.timewait_exit = true};

	(void)state;
	memset(&p, 0, sizeof(p));
	cmsim_open(&s, NULL);
	cmsim_pair(&s, &p, &yes, NULL);
	cmsim_disconnect(&s.h[0], p.a, false);
	cmsim_run(&s, 100 * IW_SEC);
	assert_int_equal(cmsim_count(&s.h[0], IW_CM_TIMEWAIT_EXIT), 1);
	p.qa = cmsim_qp(&s.h[0]);
	assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, NULL), 0);
	cmsim_run(&s, 1 * IW_SEC);
	p.b = cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, 1)->id;
	assert_int_equal(cmsim_accept(&s.h[1], p.b, cmsim_qp(&s.h[1]), NULL), 0);
	cmsim_run(&s, 1 * IW_SEC);
	cmsim_disconnect(&s.h[0], p.a, false);
	cmsim_run(&s, 100 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a),
			    "CONNECT_REPLY(0) CLOSE(0) TIMEWAIT_EXIT CONNECT_REPLY(0) CLOSE(0)");
	cmsim_close(&s);
}

/* A connect cancels it, also one that comes to nothing. */
static void
test_cancelled_by_connect(void **state)
{
	struct iw_cm_attr yes = {.timewait_exit = true};
	struct iw_addr to;

	(void)state;
	memset(&p, 0, sizeof(p));
	cmsim_open(&s, NULL);
	cmsim_pair(&s, &p, &yes, &yes);
	cmsim_disconnect(&s.h[0], p.a, false);
	cmsim_run(&s, 1 * IW_SEC);
	to = cmsim_addr(&s, 1);
	to.port = 7; /* nobody listens */
	s.h[0].seen[0].owed_replies++;
	assert_int_equal(cm_connect(s.h[0].cm, p.a, &to, cmsim_qp(&s.h[0]), NULL, s.now_ns), 0);
	cmsim_run(&s, 200 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0) CLOSE(0) CONNECT_REPLY(CONNREFUSED)");
	cmsim_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_used_again),
		cmocka_unit_test(test_timewait_exit),
		cmocka_unit_test(test_passive),
		cmocka_unit_test(test_not_asked_again),
		cmocka_unit_test(test_cancelled_by_connect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
