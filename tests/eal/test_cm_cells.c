/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call in every state, brought by iw_engine_call() from another thread; ids move to a third engine. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "cells.h"
#include "ends.h"

#define SECONDS 10
#define IDLE_TURNS 300

static struct ends pair, other;
static bool asleep[2];
static int arrivals;

static int
turn(void)
{
	int work = 0;

	for (int i = 0; i < 2; i++)
		if (!asleep[i])
			work += iw_engine_poll(pair.end[i].engine);
	return work + iw_engine_poll(other.end[0].engine);
}

static bool
until(bool (*done)(void))
{
	time_t end = time(NULL) + SECONDS;

	while (!done() && time(NULL) < end)
		turn();
	return done();
}

static void
settle(void)
{
	for (int idle = 0; idle < IDLE_TURNS; idle++)
		if (turn() > 0)
			idle = 0;
}

static void
put_to_sleep(uint32_t host, bool is_asleep)
{
	asleep[host] = is_asleep;
}

/* ---- from another thread ---- */

static struct letter {
	void (*fn)(void);
	uint32_t host;
	bool ran;
} letter;

static bool
is_run(void)
{
	return letter.ran;
}

static void
open_letter(struct iw_engine *engine, void *arg)
{
	struct letter *l = arg;

	l->fn();
	l->ran = true;
}

static void *
send_letter(void *arg)
{
	struct letter *l = arg;

	if (iw_engine_call(pair.end[l->host].engine, open_letter, l) != 0)
		return NULL;
	return l;
}

static void
call(void (*fn)(void), uint32_t host)
{
	pthread_t thread;
	void *sent;

	letter = (struct letter){fn, host, false};
	assert_int_equal(pthread_create(&thread, NULL, send_letter, &letter), 0);
	assert_int_equal(pthread_join(thread, &sent), 0);
	assert_ptr_equal(sent, &letter);
	assert_true(until(is_run));
}

static void
moved(struct iw_engine *to, iw_cm_id id, void *context)
{
	assert_ptr_equal(to, other.end[0].engine);
	assert_int_equal(iw_cm_state(to, id), IW_CM_IDLE);
	assert_int_equal(iw_cm_destroy(to, id), 0);
	arrivals++;
}

static int
migrate(struct iw_engine *from, iw_cm_id id)
{
	return iw_cm_migrate(from, id, other.end[0].engine, moved);
}

static const struct cells_net net_calls = {
	.until = until, .settle = settle, .sleep = put_to_sleep, .call = call, .migrate = migrate};

static struct iw_addr
addr(uint32_t host, uint16_t port)
{
	return ends_addr((int)host, port);
}

static void
test_from_another_thread(void **state)
{
	struct cells_net net = net_calls;

	(void)state;
	ends_open(&pair);
	ends_open(&other);
	net.addr = addr;
	for (int i = 0; i < 2; i++) {
		net.engine[i] = pair.end[i].engine;
		net.domain[i] = pair.end[i].domain;
	}
	cells_open(&net);
	for (uint32_t stage = 0; stage < CELLS_AT_REST; stage++)
		for (uint32_t what = 0; what < CELLS_CALLS; what++)
			cells_play((enum cells_stage)stage, (enum cells_call)what, CELLS_NO_OTHER);
	/* Where TIME_WAIT takes a minute. */
	for (uint32_t stage = CELLS_AT_REST; stage < CELLS_IN_TIMEWAIT; stage++)
		cells_play((enum cells_stage)stage, CELLS_MIGRATE, CELLS_NO_OTHER);
	cells_close();
	assert_int_equal(arrivals, 3); /* IDLE; inside CONNECT_REPLY(error) and CLOSE */
	ends_close(&other);
	ends_close(&pair);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_from_another_thread)};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
