/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes from one engine to another: ids that move, listeners on all of them; in one thread and in two. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ends.h"

#define MOVES 200

static struct ends s;

/* An id that moves, and what it heard. */
static struct traveller {
	struct iw_engine *at;
	iw_cm_id id;
	int moves, failed;
	bool up, closed;
} t;

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct traveller *me = context;

	assert_int_equal(id, me->id);
	assert_int_equal(event->status, 0);
	me->up |= event->type == IW_CM_CONNECT_REPLY;
	me->closed |= event->type == IW_CM_CLOSE;
	return 0;
}

static void
moved(struct iw_engine *to, iw_cm_id id, void *context)
{
	struct traveller *me = context;

	me->failed += id == 0;
	me->id = id;
	me->at = to;
	me->moves++;
}

/* Every engine listens; who is asked accepts with the QP of its end. */
static struct heard {
	int calls, errors[2];
	iw_cm_id id[2], child[2];
	bool up, closed;
} heard;

static int
end_of(const struct iw_engine *engine)
{
	return engine == s.end[1].engine;
}

static void
listening(struct iw_engine *engine, iw_cm_id id, int err, void *context)
{
	struct heard *h = context;

	h->calls++;
	h->id[end_of(engine)] = id;
	h->errors[end_of(engine)] = err;
}

static int
on_request(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct heard *h = context;
	/* Ids of two engines may have the same number; the address says where it came in. */
	int which = event->local.ip[15] == 2;

	if (event->type == IW_CM_CONNECT_REQUEST) {
		h->child[which] = id;
		return iw_cm_accept(s.end[which].engine, id, s.end[which].qp, NULL);
	}
	h->up |= event->type == IW_CM_ESTABLISHED_EV;
	h->closed |= event->type == IW_CM_CLOSE;
	return 0;
}

static void
open_all(void)
{
	ends_open(&s);
	memset(&t, 0, sizeof(t));
	memset(&heard, 0, sizeof(heard));
	t.at = s.end[0].engine;
	t.id = iw_cm_create(t.at, on_event, &t);
	assert_true(t.id != 0);
}

static void
close_all(void)
{
	for (int i = 0; i < 2; i++) {
		if (heard.id[i])
			iw_cm_destroy(s.end[i].engine, heard.id[i]);
		if (heard.child[i])
			iw_cm_destroy(s.end[i].engine, heard.child[i]);
	}
	if (t.id && t.at)
		iw_cm_destroy(t.at, t.id);
	ends_close(&s);
}

static void
listen_on_both(void)
{
	struct iw_engine *engines[] = {s.end[0].engine, s.end[1].engine};
	struct iw_addr any = {.port = ENDS_PORT};

	assert_int_equal(iw_cm_listen_all(engines, 2, &any, 4, on_request, &heard, listening), 2);
	memset(&any, 0xff, sizeof(any)); /* it was copied */
	assert_int_equal(heard.calls, 0);
	ends_turns(&s, 1);
	assert_int_equal(heard.calls, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(heard.errors[i], 0);
		assert_int_equal(iw_cm_state(engines[i], heard.id[i]), IW_CM_LISTENING);
	}
}

/* From the first engine to the second, where it connects to the first, and back when that has ended. */
static void
test_move_and_connect(void **state)
{
	(void)state;
	open_all();
	listen_on_both();
	for (int to = 1; to >= 0; to--) {
		struct iw_addr addr = ends_addr(1 - to, ENDS_PORT);
		struct iw_engine *from = t.at;
		iw_cm_id old = t.id;

		assert_int_equal(iw_cm_migrate(from, old, s.end[to].engine, moved), 0);
		assert_int_equal(iw_cm_destroy(from, old), -IW_E_STALE);
		assert_int_equal(t.moves, 1 - to);
		ends_turns(&s, 1);
		assert_int_equal(t.moves, 2 - to);
		assert_ptr_equal(t.at, s.end[to].engine);
		assert_int_equal(iw_cm_state(t.at, t.id), IW_CM_IDLE);
		if (to == 0)
			continue; /* back home */
		assert_int_equal(iw_cm_connect(t.at, t.id, &addr, s.end[to].qp, NULL), 0);
		assert_int_equal(iw_cm_migrate(t.at, t.id, from, moved), -IW_E_INVAL);
		assert_true(ends_until(&s, &t.up, 10) && ends_until(&s, &heard.up, 10));
		assert_int_equal(iw_cm_migrate(t.at, t.id, from, moved), -IW_E_INVAL);
		assert_int_equal(iw_cm_disconnect(t.at, t.id, false), 0);
		assert_true(ends_until(&s, &t.closed, 10) && ends_until(&s, &heard.closed, 10));
	}
	close_all();
}

static void
test_move_is_refused(void **state)
{
	struct iw_engine *from, *to;

	(void)state;
	open_all();
	listen_on_both();
	from = s.end[0].engine;
	to = s.end[1].engine;
	assert_int_equal(iw_cm_migrate(from, heard.id[0], to, moved), -IW_E_INVAL);
	assert_int_equal(iw_cm_migrate(from, 0, to, moved), -IW_E_STALE);
	assert_int_equal(iw_cm_migrate(NULL, t.id, to, moved), -IW_E_INVAL);
	assert_int_equal(iw_cm_migrate(from, t.id, NULL, moved), -IW_E_INVAL);
	assert_int_equal(iw_cm_migrate(from, t.id, to, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_state(from, heard.id[0]), IW_CM_LISTENING);
	/* To where it is already: a new handle. */
	assert_int_equal(iw_cm_migrate(from, t.id, from, moved), 0);
	ends_turns(&s, 1);
	assert_int_equal(t.moves, 1);
	assert_ptr_equal(t.at, from);
	close_all();
}

static void
nothing(struct iw_engine *engine, void *arg)
{
}

/* Too many calls wait: the id stays.  No id is left there: moved() says so.  The engine ends: moved() comes first. */
static void
test_no_room(void **state)
{
	struct iw_engine *to, *engines[2];
	struct iw_addr any = {.port = ENDS_PORT};
	int taken = 0;

	(void)state;
	open_all();
	engines[0] = s.end[0].engine;
	engines[1] = to = s.end[1].engine;
	while (iw_engine_call(to, nothing, NULL) == 0)
		taken++;
	assert_int_equal(iw_cm_migrate(t.at, t.id, to, moved), -IW_E_NOMEM);
	assert_int_equal(iw_cm_state(t.at, t.id), IW_CM_IDLE);
	assert_int_equal(iw_cm_listen_all(engines, 2, &any, 4, on_request, &heard, listening), 1);
	ends_turns(&s, taken);
	assert_int_equal(heard.calls, 1);
	assert_int_equal(iw_cm_listen_all(engines + 1, 1, &any, 4, on_request, &heard, listening), 1);
	ends_turns(&s, 1);
	assert_int_equal(heard.calls, 2);
	while (iw_cm_create(to, on_event, &t))
		;
	assert_int_equal(iw_cm_migrate(t.at, t.id, to, moved), 0);
	ends_turns(&s, 1);
	assert_int_equal(t.moves, 1);
	assert_int_equal(t.failed, 1);
	t.id = iw_cm_create(engines[0], on_event, &t);
	assert_int_equal(iw_cm_migrate(engines[0], t.id, to, moved), 0);
	heard.id[1] = 0;
	assert_int_equal(iw_engine_destroy(to), 0);
	s.end[1].engine = NULL;
	assert_int_equal(t.moves, 2);
	t.id = 0;
	close_all();
}

static void
test_listening_is_refused(void **state)
{
	struct iw_engine *engines[2];
	struct iw_addr any = {.port = ENDS_PORT}, one = ends_addr(1, ENDS_PORT + 1), none = {.port = 0};

	(void)state;
	open_all();
	listen_on_both();
	engines[0] = s.end[0].engine;
	engines[1] = s.end[1].engine;
	/* Taken on both; an address of one of them. */
	assert_int_equal(iw_cm_listen_all(engines, 2, &any, 4, on_request, &heard, listening), 2);
	iw_cm_destroy(engines[0], heard.id[0]);
	iw_cm_destroy(engines[1], heard.id[1]);
	ends_turns(&s, 1);
	assert_int_equal(heard.calls, 4);
	assert_int_equal(heard.errors[0], 0); /* the first one had gone before it was its turn */
	iw_cm_destroy(engines[0], heard.id[0]);
	assert_int_equal(iw_cm_listen_all(engines, 2, &one, 4, on_request, &heard, listening), 2);
	ends_turns(&s, 1);
	assert_int_equal(heard.errors[0], -IW_E_ADDRNOTAVAIL);
	assert_int_equal(heard.id[0], 0);
	assert_int_equal(heard.errors[1], 0);
	assert_int_equal(iw_cm_listen_all(engines + 1, 1, &one, 4, on_request, &heard, listening), 1);
	one = ends_addr(1, ENDS_PORT + 1);
	iw_cm_destroy(engines[1], heard.id[1]);
	ends_turns(&s, 1);
	assert_int_equal(iw_cm_listen_all(engines, 2, &none, 4, on_request, &heard, listening), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen_all(engines, 2, &any, 0, on_request, &heard, listening), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen_all(NULL, 2, &any, 4, on_request, &heard, listening), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen_all(engines, 2, &any, 4, NULL, &heard, listening), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen_all(engines, 2, &any, 4, on_request, &heard, NULL), -IW_E_INVAL);
	close_all();
}

/* ---- an engine in each of two threads ---- */

static bool over;

static void
tell_over(void)
{
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
}

static bool
is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static int
close_at_reply(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct traveller *me = context;

	on_event(id, event, context);
	if (event->type == IW_CM_CONNECT_REPLY)
		assert_int_equal(iw_cm_disconnect(me->at, id, false), 0);
	if (event->type == IW_CM_CLOSE)
		tell_over();
	return 0;
}

/* On it goes until it has moved often enough; the last stop connects. */
static void
moved_on(struct iw_engine *to, iw_cm_id id, void *context)
{
	struct traveller *me = context;
	int other = 1 - end_of(to);
	struct iw_addr addr = ends_addr(other, ENDS_PORT);

	assert_true(id != 0);
	moved(to, id, context);
	if (me->moves < MOVES)
		assert_int_equal(iw_cm_migrate(to, id, s.end[other].engine, moved_on), 0);
	else
		assert_int_equal(iw_cm_connect(to, id, &addr, s.end[1 - other].qp, NULL), 0);
}

static void *
poll_alone(void *engine)
{
	time_t end = time(NULL) + 20;

	while (!is_over() && time(NULL) < end)
		iw_engine_poll(engine);
	return NULL;
}

static void
test_two_threads(void **state)
{
	pthread_t thread;

	(void)state;
	open_all();
	listen_on_both();
	assert_int_equal(iw_cm_destroy(t.at, t.id), 0);
	t.id = iw_cm_create(t.at, close_at_reply, &t);
	over = false;
	assert_int_equal(iw_cm_migrate(t.at, t.id, s.end[1].engine, moved_on), 0);
	assert_int_equal(pthread_create(&thread, NULL, poll_alone, s.end[1].engine), 0);
	poll_alone(s.end[0].engine);
	pthread_join(thread, NULL);
	assert_true(is_over());
	assert_int_equal(t.moves, MOVES);
	assert_true(t.closed);
	close_all();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_move_and_connect), cmocka_unit_test(test_move_is_refused),
		cmocka_unit_test(test_no_room),          cmocka_unit_test(test_listening_is_refused),
		cmocka_unit_test(test_two_threads),
	};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
