/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine that sleeps is woken by calls, by posts of other threads, by what other engines hand over, and by its
 * timers; and what a poll costs that finds nothing, which is printed. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>
#include <rte_cycles.h>

#include "ends.h"

#define SECOND UINT64_C(1000000000)
#define WAIT_MS 30000

static struct ends s;

/* Until there is nothing to do but to wait. */
static void
settle(void)
{
	time_t end = time(NULL) + 20;
	int quiet = 0;

	while (quiet < 100 && time(NULL) < end)
		quiet = iw_engine_poll(s.end[0].engine) + iw_engine_poll(s.end[1].engine) == 0 ? quiet + 1 : 0;
	assert_int_equal(quiet, 100);
}

static int
readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_true(fd >= 0);
	return poll(&p, 1, ms);
}

static int called;

static void
count_call(struct iw_engine *engine, void *arg)
{
	bool frames;

	called++;
	/* Inside a handler nobody sleeps. */
	assert_int_equal(iw_engine_arm(engine, &frames), -IW_E_BUSY);
	assert_int_equal(iw_engine_sleep(engine, SECOND), 0);
}

static void *
call_it(void *engine)
{
	assert_int_equal(iw_engine_call(engine, count_call, NULL), 0);
	return NULL;
}

static void
test_woken_by_a_call(void **state)
{
	pthread_t thread;
	bool frames = true;
	int fd;

	(void)state;
	called = 0;
	ends_open(&s);
	settle();
	for (int i = 0; i < 100; i++) {
		fd = iw_engine_arm(s.end[0].engine, &frames);
		assert_false(frames); /* a wire has no interrupts */
		assert_int_equal(readable(fd, 0), 0);
		assert_int_equal(pthread_create(&thread, NULL, call_it, s.end[0].engine), 0);
		assert_int_equal(readable(fd, WAIT_MS), 1);
		pthread_join(thread, NULL);
		iw_engine_disarm(s.end[0].engine);
		/* It waits: there is nothing to sleep for. */
		assert_int_equal(iw_engine_arm(s.end[0].engine, &frames), -IW_E_BUSY);
		assert_int_equal(iw_engine_sleep(s.end[0].engine, SECOND), 0);
		assert_int_equal(called, i);
		assert_true(iw_engine_poll(s.end[0].engine) > 0);
		assert_int_equal(called, i + 1);
	}
	ends_close(&s);
}

static void *
post_it(void *arg)
{
	struct end *e = &s.end[0];
	struct iw_sge sge = {(uintptr_t)e->area, 64, iw_mr_lkey(e->mr)};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_SIGNALED};

	assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
	return arg;
}

static void
test_woken_by_a_post(void **state)
{
	struct iw_sge sge = {0};
	struct iw_recv_wr recv = {.sg_list = &sge, .num_sge = 1};
	pthread_t thread;
	bool frames;
	int fd;

	(void)state;
	ends_open_as(&s, &(struct ends_how){.foreign_poster = true});
	ends_connect(&s);
	sge = (struct iw_sge){(uintptr_t)s.end[1].area, 64, iw_mr_lkey(s.end[1].mr)};
	for (int i = 0; i < 20; i++) {
		assert_int_equal(iw_post_recv(s.end[1].qp, &recv, NULL), 0);
		settle();
		fd = iw_engine_arm(s.end[0].engine, &frames);
		assert_int_equal(readable(fd, 0), 0);
		assert_int_equal(pthread_create(&thread, NULL, post_it, NULL), 0);
		assert_int_equal(readable(fd, WAIT_MS), 1);
		pthread_join(thread, NULL);
		iw_engine_disarm(s.end[0].engine);
		assert_int_equal(iw_engine_arm(s.end[0].engine, &frames), -IW_E_BUSY);
		ends_reap(&s, 0, 1);
		ends_reap(&s, 1, 1);
	}
	ends_close(&s);
}

/* What was posted after the last poll, or found no mbuf in it, is to be polled for. */
static void
test_own_posts_do_not_wait(void **state)
{
	struct iw_sge sge;
	struct iw_recv_wr recv = {.sg_list = &sge, .num_sge = 1};
	bool frames;

	(void)state;
	ends_open(&s);
	ends_connect(&s);
	sge = (struct iw_sge){(uintptr_t)s.end[1].area, 64, iw_mr_lkey(s.end[1].mr)};
	assert_int_equal(iw_post_recv(s.end[1].qp, &recv, NULL), 0);
	settle();
	assert_ptr_equal(post_it(&s), &s);
	assert_int_equal(iw_engine_arm(s.end[0].engine, &frames), -IW_E_BUSY);
	ends_reap(&s, 0, 1);
	ends_reap(&s, 1, 1);
	ends_close(&s);
}

/* With a second to sleep blindly a timer that is due earlier is kept, and nothing is lost: the claim of addresses, a
 * connection, its end. */
static void
test_sleeps_until_a_timer(void **state)
{
	time_t end = time(NULL) + 30;

	(void)state;
	ends_open(&s);
	ends_start(&s);
	while (!(s.end[0].up && s.end[1].up) && time(NULL) < end)
		for (int i = 0; i < 2; i++)
			if (iw_engine_poll(s.end[i].engine) == 0)
				assert_int_equal(iw_engine_sleep(s.end[i].engine, 100000), 0);
	assert_true(s.end[0].up && s.end[1].up);
	ends_close(&s);
}

static void
test_errors(void **state)
{
	bool frames;

	(void)state;
	assert_int_equal(iw_engine_arm(NULL, &frames), -IW_E_INVAL);
	iw_engine_disarm(NULL);
	assert_int_equal(iw_engine_sleep(NULL, 1), -IW_E_INVAL);
	ends_open(&s);
	assert_int_equal(iw_engine_arm(s.end[0].engine, NULL), -IW_E_INVAL);
	ends_close(&s);
}

/* The process has as many descriptors open as it may. */
static void
test_no_descriptor(void **state)
{
	struct rlimit old, none;
	bool frames;

	(void)state;
	ends_open(&s);
	while (iw_engine_poll(s.end[0].engine) > 0)
		;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(iw_engine_arm(s.end[0].engine, &frames), -IW_E_NOMEM);
	assert_int_equal(iw_engine_sleep(s.end[0].engine, 1), -IW_E_NOMEM);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_true(iw_engine_arm(s.end[0].engine, &frames) >= 0);
	iw_engine_disarm(s.end[0].engine);
	ends_close(&s);
}

static int
nothing(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	return 0;
}

/* Three engines, one queue: those without are woken when something is theirs. */
static void
test_woken_by_another_engine(void **state)
{
	struct iw_domain *domain = iw_domain_create();
	struct iw_engine *peer, *team[3];
	struct iw_engine_params params = {.prefix_len = 24, .max_conns = 16, .num_mbufs = 2047, .no_claim = true};
	struct iw_addr to = ends_addr(0, 4420);
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4};
	struct iw_pd *pd = iw_pd_create(domain);
	struct iw_qp *qp;
	uint16_t a, b;
	int fd[3], woken = 0, err;
	bool frames;
	iw_cm_id id;
	char why[160];

	(void)state;
	assert_int_equal(iw_wire_create("sleepteam", 256, &a, &b), 0);
	params.port_id = a;
	params.addr = ends_addr(0, 0);
	assert_int_equal(iw_engines_create(domain, &params, 3, team, why, sizeof(why)), 0);
	params.port_id = b;
	params.addr = ends_addr(1, 0);
	peer = iw_engine_create(domain, &params, &err, why, sizeof(why));
	assert_non_null(peer);
	attr.send_cq = attr.recv_cq = iw_cq_create(peer, 16, NULL, NULL);
	qp = iw_qp_create(peer, pd, &attr, &err);
	id = iw_cm_create(peer, nothing, NULL);
	assert_int_equal(iw_cm_connect(peer, id, &to, qp, NULL), 0);
	for (int i = 1; i < 3; i++) {
		iw_engine_poll(team[i]);
		fd[i] = iw_engine_arm(team[i], &frames);
		assert_true(frames); /* none comes but by the others */
		assert_int_equal(readable(fd[i], 0), 0);
	}
	/* The question where we are is shown to all. */
	iw_engine_poll(peer);
	iw_engine_poll(team[0]);
	for (int i = 1; i < 3; i++) {
		woken += readable(fd[i], WAIT_MS);
		iw_engine_disarm(team[i]);
		assert_int_equal(iw_engine_arm(team[i], &frames), -IW_E_BUSY);
		assert_true(iw_engine_poll(team[i]) > 0);
	}
	assert_int_equal(woken, 2);
	/* The first one minds the others' queue when they are gone: then frames do not wake it. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(iw_engine_destroy(team[i]), 0);
	iw_cm_destroy(peer, id);
	iw_qp_destroy(qp);
	iw_cq_destroy(attr.send_cq);
	assert_int_equal(iw_engine_destroy(peer), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_domain_destroy(domain), 0);
	iw_wire_destroy(a, b);
}

/* The best of many batches: other programs take their share of the time. */
static void
test_cost_of_an_idle_poll(void **state)
{
	uint64_t best = UINT64_MAX;

	(void)state;
	ends_open(&s);
	ends_connect(&s);
	settle();
	for (int batch = 0; batch < 500; batch++) {
		uint64_t begin = rte_rdtsc(), took;

		for (int i = 0; i < 100; i++)
			iw_engine_poll(s.end[0].engine);
		took = rte_rdtsc() - begin;
		best = took < best ? took : best;
	}
	printf("an idle poll: %.1f ns\n", (double)best / 100 * 1e9 / (double)rte_get_tsc_hz());
	assert_true(best > 0);
	ends_close(&s);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_woken_by_a_call),         cmocka_unit_test(test_woken_by_a_post),
		cmocka_unit_test(test_own_posts_do_not_wait),   cmocka_unit_test(test_sleeps_until_a_timer),
		cmocka_unit_test(test_woken_by_another_engine), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_no_descriptor),           cmocka_unit_test(test_cost_of_an_idle_poll),
	};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
