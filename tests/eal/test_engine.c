/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an engine with a port: connect, transfer, calls, handlers, destroy; every mbuf comes back. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ends.h"
#include "stat_of.h"

static struct ends s;

static void
post(int from, uint8_t opcode, uint32_t at, uint32_t len, uint32_t remote_at)
{
	struct end *e = &s.end[from], *peer = &s.end[1 - from];
	struct iw_sge sge = {(uintptr_t)e->area + at, len, iw_mr_lkey(e->mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)peer->area + remote_at,
				.rkey = iw_mr_rkey(peer->mr)};

	assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
}

static void
post_recv(int which, uint32_t at, uint32_t len)
{
	struct iw_sge sge = {(uintptr_t)s.end[which].area + at, len, iw_mr_lkey(s.end[which].mr)};
	struct iw_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

	assert_int_equal(iw_post_recv(s.end[which].qp, &wr, NULL), 0);
}

static void
test_connect_transfer_close(void **state)
{
	enum { LEN = 60000 };

	(void)state;
	ends_open(&s);
	for (uint32_t i = 0; i < LEN; i++)
		s.end[0].area[i] = (uint8_t)(i * 7 + i / 251);
	ends_connect(&s);
	post_recv(1, LEN, LEN);
	post(0, IW_WR_RDMA_WRITE, 0, LEN, 0);
	post(0, IW_WR_SEND, 0, LEN, 0);
	ends_reap(&s, 0, 2);
	ends_reap(&s, 1, 1);
	assert_memory_equal(s.end[1].area, s.end[0].area, LEN);
	assert_memory_equal(s.end[1].area + LEN, s.end[0].area, LEN);
	post(0, IW_WR_RDMA_READ, 2 * LEN, LEN, LEN);
	ends_reap(&s, 0, 1);
	assert_memory_equal(s.end[0].area + 2 * LEN, s.end[0].area, LEN);
	assert_int_equal(iw_cm_disconnect(s.end[0].engine, s.end[0].id, false), 0);
	assert_true(ends_until(&s, &s.end[0].closed, 10) && ends_until(&s, &s.end[1].closed, 10));
	assert_int_equal(s.end[0].status, 0);
	assert_int_equal(s.end[1].status, 0);
	ends_close(&s);
}

/* With a connection up and work under way: the peer learns of it by RST, nothing leaks. */
static void
test_destroy_in_the_middle(void **state)
{
	(void)state;
	ends_open(&s);
	ends_connect(&s);
	for (int i = 0; i < 20; i++)
		post(0, IW_WR_RDMA_WRITE, 0, 100000, 0);
	ends_turns(&s, 3);
	/* With its id, its QP and its CQ. */
	assert_int_equal(iw_engine_destroy(s.end[0].engine), 0);
	s.end[0].engine = NULL;
	assert_true(ends_until(&s, &s.end[1].closed, 10));
	assert_int_equal(s.end[1].status, -IW_E_CONNRESET);
	ends_close(&s);
}

/* However much is posted: the other end gets the first frames while the next are made. */
static void
test_a_turn_sends_so_much(void **state)
{
	enum { TURN = (128 << 10) / 1500, WRITES = 10 };
	time_t end = time(NULL) + 30;
	uint64_t before, most = 0, sent;

	(void)state;
	ends_open(&s);
	ends_connect(&s);
	/* Until the congestion window is no bound any more. */
	while (most < TURN && time(NULL) < end) {
		for (int i = 0; i < WRITES; i++)
			post(0, IW_WR_RDMA_WRITE, 0, ENDS_AREA, 0);
		for (int i = 0; i < 20; i++) {
			before = stat_of(s.end[0].engine, "port.tx_frames");
			assert_true(iw_engine_poll(s.end[0].engine) >= 0);
			sent = stat_of(s.end[0].engine, "port.tx_frames") - before;
			most = sent > most ? sent : most;
			assert_true(iw_engine_poll(s.end[1].engine) >= 0);
		}
		ends_reap(&s, 0, WRITES);
	}
	assert_int_equal(most, TURN);
	ends_close(&s);
}

static enum iw_cm_event_type destroy_at;
static struct end *destroyed;

static int
destroy_at_event(struct end *e, iw_cm_id id, const struct iw_cm_event *event)
{
	if (event->type != destroy_at || e->up)
		return 0;
	assert_int_equal(iw_engine_destroy(e->engine), 0);
	/* It is there until the poll ends: any call is still legal. */
	assert_int_equal(iw_cm_destroy(e->engine, id), 0);
	destroyed = e;
	return -1;
}

/* By the clock, not by the number of polls: how many fit into one second is the machine's affair. */
static void
run_until_destroyed(void)
{
	time_t end = time(NULL) + 11;

	while (!destroyed && time(NULL) < end)
		for (int k = 0; k < 2 && !destroyed; k++)
			assert_true(iw_engine_poll(s.end[k].engine) >= 0);
	assert_non_null(destroyed);
	destroyed->engine = NULL;
}

/* Of either end, at each event of a set-up: the engine goes when that poll ends, with its id, QP and CQ. */
static void
test_destroy_inside_a_handler(void **state)
{
	static const enum iw_cm_event_type at[] = {IW_CM_CONNECT_REQUEST, IW_CM_CONNECT_REPLY, IW_CM_ESTABLISHED_EV};

	(void)state;
	for (int i = 0; i < 3; i++) {
		ends_open(&s);
		s.on_event = destroy_at_event;
		destroy_at = at[i];
		destroyed = NULL;
		ends_start(&s);
		run_until_destroyed();
		ends_turns(&s, 100);
		ends_close(&s);
	}
}

static int busy, calls;
static pthread_t caller, ran_on;

static int
poll_inside(struct end *e, iw_cm_id id, const struct iw_cm_event *event)
{
	busy += iw_engine_poll(e->engine) == -IW_E_BUSY;
	return 0;
}

static void
poll_in_call(struct iw_engine *engine, void *arg)
{
	ran_on = pthread_self();
	calls++;
	if (arg)
		busy += iw_engine_poll(engine) == -IW_E_BUSY;
}

static void
test_poll_inside_a_handler(void **state)
{
	(void)state;
	busy = 0;
	ends_open(&s);
	s.on_event = poll_inside;
	ends_connect(&s);
	assert_int_equal(busy, 3); /* REQUEST, REPLY, ESTABLISHED */
	assert_int_equal(iw_engine_call(s.end[0].engine, poll_in_call, &s), 0);
	ends_turns(&s, 1);
	assert_int_equal(busy, 4);
	ends_close(&s);
}

static void *
call_from_here(void *arg)
{
	caller = pthread_self();
	for (int i = 0; i < 100; i++)
		assert_int_equal(iw_engine_call(arg, poll_in_call, NULL), 0);
	return NULL;
}

static void
test_call_from_another_thread(void **state)
{
	pthread_t thread;
	int accepted = 0;

	(void)state;
	ends_open(&s);
	calls = 0;
	assert_int_equal(pthread_create(&thread, NULL, call_from_here, s.end[0].engine), 0);
	pthread_join(thread, NULL);
	assert_int_equal(calls, 0);
	ends_turns(&s, 20);
	assert_int_equal(calls, 100);
	assert_true(pthread_equal(ran_on, pthread_self()));
	assert_false(pthread_equal(ran_on, caller));
	/* The ring is full at some point, and says so; what it took is run. */
	while (accepted < 10000 && iw_engine_call(s.end[0].engine, poll_in_call, NULL) == 0)
		accepted++;
	assert_true(accepted >= 100 && accepted < 10000);
	assert_int_equal(iw_engine_call(s.end[0].engine, poll_in_call, NULL), -IW_E_NOMEM);
	ends_turns(&s, accepted);
	assert_int_equal(calls, 100 + accepted);
	assert_int_equal(iw_engine_call(NULL, poll_in_call, NULL), -IW_E_INVAL);
	assert_int_equal(iw_engine_call(s.end[0].engine, NULL, NULL), -IW_E_INVAL);
	ends_close(&s);
}

static void
destroy_in_call(struct iw_engine *engine, void *arg)
{
	calls++;
	assert_int_equal(iw_engine_destroy(engine), 0);
}

static void
test_destroy_inside_a_call(void **state)
{
	(void)state;
	ends_open(&s);
	calls = 0;
	assert_int_equal(iw_engine_call(s.end[0].engine, destroy_in_call, NULL), 0);
	assert_true(iw_engine_poll(s.end[0].engine) >= 0);
	assert_int_equal(calls, 1);
	s.end[0].engine = NULL;
	ends_close(&s);
}

static int
never(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	fail_msg("%s", iw_cm_event_name(event->type));
	return 0;
}

static void
test_listening_twice(void **state)
{
	struct iw_addr addr, any = {.port = ENDS_PORT}, theirs = ends_addr(0, ENDS_PORT);
	struct iw_engine *e;
	iw_cm_id first, second;

	(void)state;
	ends_open(&s);
	addr = ends_addr(1, ENDS_PORT);
	e = s.end[1].engine;
	first = iw_cm_create(e, never, NULL);
	second = iw_cm_create(e, never, NULL);
	assert_int_equal(iw_cm_listen(e, first, &addr, 4), 0);
	assert_int_equal(iw_cm_listen(e, second, &addr, 4), -IW_E_ADDRINUSE);
	assert_int_equal(iw_cm_listen(e, second, &theirs, 4), -IW_E_ADDRNOTAVAIL);
	assert_int_equal(iw_cm_destroy(e, first), 0);
	assert_int_equal(iw_cm_listen(e, second, &any, 4), 0);
	first = iw_cm_create(e, never, NULL);
	assert_int_equal(iw_cm_listen(e, first, &any, 4), -IW_E_ADDRINUSE);
	assert_int_equal(iw_cm_destroy(e, first), 0);
	assert_int_equal(iw_cm_destroy(e, second), 0);
	ends_close(&s);
}

static void
test_time(void **state)
{
	struct iw_addr nobody = ends_addr(1, 9);
	uint64_t before, at;

	(void)state;
	ends_open(&s);
	for (int i = 0; i < 1000; i++) {
		before = iw_engine_now(s.end[0].engine);
		assert_true(iw_engine_now(s.end[i & 1].engine) >= before);
	}
	/* A SYN that is not answered is to be sent again: the deadline is near. */
	s.end[0].id = iw_cm_create(s.end[0].engine, never, NULL);
	nobody.ip[15] = 99;
	assert_int_equal(iw_cm_connect(s.end[0].engine, s.end[0].id, &nobody, s.end[0].qp, NULL), 0);
	assert_true(iw_engine_poll(s.end[0].engine) >= 0);
	at = iw_engine_next_deadline(s.end[0].engine);
	assert_true(at != IW_NO_DEADLINE && at < iw_engine_now(s.end[0].engine) + UINT64_C(11000000000));
	assert_true(iw_engine_next_deadline(NULL) == IW_NO_DEADLINE);
	assert_true(iw_engine_now(NULL) == 0);
	ends_close(&s);
}

static void
test_counters(void **state)
{
	struct iw_stat stats[512];
	uint64_t conns = 0, frames = 0;
	int n;

	(void)state;
	ends_open(&s);
	ends_connect(&s);
	n = iw_engine_stats(s.end[0].engine, stats, 512);
	assert_true(n > 50 && n < 512);
	for (int i = 0; i < n; i++) {
		assert_non_null(strchr(stats[i].name, '.'));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(stats[i].name, stats[k].name);
		if (strcmp(stats[i].name, "engine.events") == 0)
			conns = stats[i].value;
		frames += stats[i].value;
	}
	assert_int_equal(conns, 1);
	assert_true(frames > 5);
	assert_int_equal(iw_engine_stats(s.end[0].engine, NULL, 0), n);
	assert_int_equal(iw_engine_stats(s.end[0].engine, NULL, 1), -IW_E_INVAL);
	assert_int_equal(iw_engine_stats(NULL, stats, 1), -IW_E_INVAL);
	ends_close(&s);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect_transfer_close),
		cmocka_unit_test(test_destroy_in_the_middle),
		cmocka_unit_test(test_a_turn_sends_so_much),
		cmocka_unit_test(test_destroy_inside_a_handler),
		cmocka_unit_test(test_poll_inside_a_handler),
		cmocka_unit_test(test_call_from_another_thread),
		cmocka_unit_test(test_destroy_inside_a_call),
		cmocka_unit_test(test_listening_twice),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_counters),
	};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
