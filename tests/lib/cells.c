/* SPDX-License-Identifier: BSD-3-Clause */
#include "cells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cells_grid.h"
#include "party.h"

#define PORT 4420
#define OTHER_PORT 4421
#define NOBODY 4422

static const struct cells_net *net;
static struct party parties[2], near, far;

/* The call that is to be made, by whom and when. */
static struct {
	const char *name;
	enum cells_call call;
	enum cells_stage stage;
	struct party *subject;
	struct party *in; /* in its handler */
	enum iw_cm_event_type at;
	bool armed, calling;
	int ret, then;
	iw_cm_id id;
} probe;

static bool without_listener;

const char *
cells_name(enum cells_stage stage, enum cells_call call)
{
	static char name[96];

	snprintf(name, sizeof(name), "%s in %s%s", calls[call], stage < CELLS_AT_REST ? "" : "the handler of ",
		 stages[stage].name);
	return name;
}

/* ---- the call under test ---- */

static int
state_of(const struct party *p, iw_cm_id id)
{
	return iw_cm_set_context(p->e, id, (void *)(uintptr_t)p) == -IW_E_STALE ? STALE : (int)iw_cm_state(p->e, id);
}

static int
do_call(struct party *p, enum cells_call call)
{
	return call == CELLS_MIGRATE ? net->migrate(p->e, p->id) : party_call(p, call);
}

static void
run_probe(void)
{
	struct party *p = probe.subject;

	probe.armed = false;
	probe.id = p->id;
	if (state_of(p, p->id) != (int)stages[probe.stage].state)
		fail_msg("%s: the id is in %s", probe.name, iw_cm_state_name((int)iw_cm_state(p->e, p->id)));
	parties[0].story[0] = parties[1].story[0] = 0;
	if (net->listen_in)
		net->listen_in(p->host);
	if (without_listener) {
		assert_int_equal(iw_cm_destroy(p->e, p->listener), 0);
		p->listener = 0;
	}
	probe.calling = true;
	probe.ret = do_call(p, probe.call);
	probe.calling = false;
	probe.then = state_of(p, probe.id);
}

/* A result other than 0 for an event of its own only. */
static int
probe_in(struct party *p, const struct iw_cm_event *ev)
{
	if (!probe.armed || probe.in != p || probe.at != ev->type)
		return 0;
	run_probe();
	if (probe.call != CELLS_RETURN)
		return 0;
	probe.then = STALE;
	return 1;
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *ev, void *context)
{
	struct party *p = context;

	assert_false(probe.calling); /* no event from inside a call */
	party_write_down(p, ev);
	if (ev->type == IW_CM_CONNECT_REQUEST) {
		p->before = p->id;
		p->id = id;
	}
	if (ev->type == IW_CM_CLOSE) {
		party_take_completions(p);
		assert_int_equal(p->completed, p->posted); /* flushed before */
	}
	if (probe.armed && probe.in == p && probe.at == ev->type)
		return probe_in(p, ev);
	if (ev->type == IW_CM_CONNECT_REQUEST && p->answer == PARTY_ACCEPTS)
		assert_int_equal(do_call(p, CELLS_ACCEPT), 0);
	if (ev->type == IW_CM_CONNECT_REQUEST && p->answer == PARTY_REJECTS)
		assert_int_equal(do_call(p, CELLS_REJECT), 0);
	return 0;
}

/* ---- the way to each state ---- */

static bool
is_asked(void)
{
	return parties[1].id != 0;
}

static bool
is_up(void)
{
	return strstr(parties[0].story, "REPLY(0)") && strstr(parties[1].story, "ESTABLISHED");
}

static bool
is_told(void)
{
	return strstr(parties[0].story, "DISCONNECT");
}

static bool
is_closing(void)
{
	return iw_cm_state(parties[1].e, parties[1].id) == IW_CM_CLOSING;
}

static bool
is_probed(void)
{
	return !probe.armed;
}

static void
do_connect(void)
{
	parties[0].id = iw_cm_create(parties[0].e, on_event, &parties[0]);
	assert_int_equal(do_call(&parties[0], CELLS_CONNECT), 0);
}

static void
do_ask(void)
{
	net->call(do_connect, 0);
	assert_true(net->until(is_asked));
}

static void
do_accept(void)
{
	assert_int_equal(do_call(&parties[1], CELLS_ACCEPT), 0);
}

static void
do_quit(void)
{
	assert_int_equal(do_call(&parties[0], CELLS_DISCONNECT), 0);
}

static void
do_quit_b(void)
{
	assert_int_equal(do_call(&parties[1], CELLS_DISCONNECT), 0);
}

static void
do_leave(void)
{
	assert_int_equal(do_call(&parties[0], CELLS_DESTROY), 0);
	parties[0].id = 0;
}

static void
do_up(void)
{
	parties[1].answer = PARTY_ACCEPTS;
	net->call(do_connect, 0);
	assert_true(net->until(is_up));
	net->settle();
}

static void
do_read_and_quit(void)
{
	party_post(&parties[0], IW_WR_RDMA_READ, 100);
	do_quit();
}

static void
do_write(void)
{
	party_post(&parties[0], IW_WR_RDMA_WRITE, CELLS_AREA);
}

static void
do_send(void)
{
	party_post(&parties[0], IW_WR_SEND, 100);
}

static void
do_create(void)
{
	parties[0].id = iw_cm_create(parties[0].e, on_event, &parties[0]);
}

static void
do_listen(void)
{
	do_create();
	assert_int_equal(do_call(&parties[0], CELLS_LISTEN), 0);
}

static void
close_by_parts(enum cells_stage stage)
{
	parties[1].poor = stage == CELLS_TERM;
	do_up();
	if (stage == CELLS_DRAIN || stage == CELLS_FIN_OUT) {
		net->sleep(1, true);
		net->call(stage == CELLS_DRAIN ? do_read_and_quit : do_quit, 0);
	} else if (stage == CELLS_HALF) {
		net->call(do_write, 0);
		net->call(do_quit_b, 1);
		assert_true(net->until(is_told));
		net->sleep(1, true);
	} else {
		net->call(do_send, 0);
		assert_true(net->until(is_closing));
		net->sleep(0, true);
	}
	net->settle();
}

static void
bring_to(enum cells_stage stage)
{
	if (stage == CELLS_IDLE)
		net->call(do_create, 0);
	else if (stage == CELLS_LISTENING)
		net->call(do_listen, 0);
	else if (stage == CELLS_UP_A || stage == CELLS_UP_B)
		do_up();
	else if (stage >= CELLS_DRAIN)
		close_by_parts(stage);
	else if (stage == CELLS_SYN_OUT) {
		net->sleep(1, true);
		net->call(do_connect, 0);
	} else {
		do_ask();
	}
	if (stage == CELLS_SYN_OUT || stage == CELLS_REQ_OUT || stage == CELLS_ASKED)
		net->settle();
	if (stage == CELLS_LEFT) {
		net->call(do_leave, 0);
		net->settle();
	}
	if (stage == CELLS_ACCEPTED) {
		net->sleep(0, true);
		net->call(do_accept, 1);
		net->settle();
	}
	parties[1].answer = stage == CELLS_REQ_OUT || stage == CELLS_ASKED ? PARTY_KEEPS : PARTY_ACCEPTS;
}

static enum iw_cm_event_type
event_of(enum cells_stage stage)
{
	static const enum iw_cm_event_type types[] = {IW_CM_CONNECT_REQUEST, IW_CM_CONNECT_REPLY, IW_CM_CONNECT_REPLY,
						      IW_CM_ESTABLISHED_EV,  IW_CM_DISCONNECT,    IW_CM_CLOSE,
						      IW_CM_TIMEWAIT_EXIT};

	return types[stage - CELLS_AT_REST];
}

/* Until its own handler has made the call. */
static void
probe_in_own(enum cells_stage stage)
{
	struct party *b = &parties[1];

	probe.in = probe.subject;
	probe.at = event_of(stage);
	parties[0].answer = PARTY_ACCEPTS;
	b->answer = stage == CELLS_IN_REFUSAL ? PARTY_REJECTS : PARTY_ACCEPTS;
	parties[0].attr.timewait_exit = stage == CELLS_IN_TIMEWAIT;
	if (stage >= CELLS_IN_DISCONNECT)
		do_up();
	probe.armed = true;
	net->call(stage >= CELLS_IN_DISCONNECT ? do_quit : do_connect, 0);
	assert_true(net->until(is_probed));
	b->answer = PARTY_ACCEPTS;
}

/* ---- another id of the same engine, and its peer ---- */

static int
on_near(iw_cm_id id, const struct iw_cm_event *ev, void *context)
{
	assert_false(probe.calling);
	near.id = id;
	if (ev->type == IW_CM_CONNECT_REQUEST && probe.at != IW_CM_CONNECT_REQUEST)
		assert_int_equal(do_call(&near, CELLS_ACCEPT), 0);
	if (ev->type == IW_CM_CONNECT_REPLY && ev->status == 0 && probe.at >= IW_CM_CLOSE)
		assert_int_equal(do_call(&near, CELLS_DISCONNECT), 0);
	if (probe.armed && probe.at == ev->type)
		run_probe();
	return 0;
}

static int
on_far(iw_cm_id id, const struct iw_cm_event *ev, void *context)
{
	far.id = id;
	if (ev->type == IW_CM_CONNECT_REQUEST)
		assert_int_equal(do_call(&far, CELLS_ACCEPT), 0);
	if (ev->type == IW_CM_ESTABLISHED_EV && probe.at == IW_CM_DISCONNECT)
		assert_int_equal(do_call(&far, CELLS_DISCONNECT), 0);
	return 0;
}

static void
probe_in_other(enum cells_stage other)
{
	bool passive = other == CELLS_IN_REQUEST || other == CELLS_IN_ESTABLISHED;
	struct party *p = passive ? &far : &near;
	uint32_t host = probe.subject->host;

	probe.at = event_of(other);
	party_open(&near, net->engine[host], net->domain[host], host);
	near.listener = party_listen(&near, on_near, OTHER_PORT);
	far.listener = party_listen(&far, on_far, OTHER_PORT);
	probe.armed = true;
	p->id = iw_cm_create(p->e, passive ? on_far : on_near, p);
	p->to = net->addr(passive ? host : 2, other == CELLS_IN_REFUSAL ? NOBODY : OTHER_PORT);
	p->attr.timewait_exit = probe.at == IW_CM_TIMEWAIT_EXIT;
	assert_int_equal(do_call(p, CELLS_CONNECT), 0);
	assert_true(net->until(is_probed));
}

static void
clear_others(void)
{
	if (!near.listener)
		return;
	party_clear(&near);
	party_close(&near);
	party_clear(&far);
	iw_cm_destroy(far.e, far.listener);
	near.listener = far.listener = 0;
}

/* ---- a cell ---- */

/* All of them are compared before the test fails. */
static uint32_t differences;

static void
compare(const char *what, const char *is, const char *want)
{
	if (!strcmp(is, want))
		return;
	differences++;
	print_error("%s: %s: \"%s\", not \"%s\"\n", probe.name, what, is, want);
}

static const char *
state_name(int state)
{
	return state == STALE ? "none" : iw_cm_state_name(state);
}

static uint32_t entry; /* the one that applies */

static const char *
own_events(void)
{
	return entries[entry].own ? entries[entry].own : stages[probe.stage].own;
}

static const char *
peer_events(void)
{
	return entries[entry].peer ? entries[entry].peer : stages[probe.stage].peer;
}

static bool
is_told_all(void)
{
	return !strcmp(probe.subject->story, own_events()) && !strcmp(probe.subject->peer->story, peer_events());
}

static void
check(void)
{
	int then = entries[entry].then == SAME ? (int)stages[probe.stage].state : entries[entry].then;

	compare("result", iw_err_name(probe.ret), iw_err_name(entries[entry].ret));
	compare("state", state_name(probe.then), state_name(then));
	compare("own events", probe.subject->story, own_events());
	compare("peer's events", probe.subject->peer->story, peer_events());
	if (net->heard && strcmp(entries[entry].wire, ANY) && probe.stage < CELLS_IN_REFUSAL)
		compare("on the wire", net->heard(), entries[entry].wire);
	if (then == STALE)
		assert_int_equal(iw_cm_destroy(probe.subject->e, probe.id), -IW_E_STALE);
}

static uint32_t
entry_of(enum cells_stage stage, enum cells_call call)
{
	uint32_t n = 0;

	while (n < sizeof(entries) / sizeof(entries[0]) && strcmp(entries[n].entry, grid[stage][call]) != 0)
		n++;
	return n;
}

bool
cells_play(enum cells_stage stage, enum cells_call call, enum cells_stage other)
{
	if (!strcmp(grid[stage][call], "-") || (call == CELLS_MIGRATE && !net->migrate))
		return false;
	entry = entry_of(stage, call);
	assert_true(entry < sizeof(entries) / sizeof(entries[0]));
	memset(&probe, 0, sizeof(probe));
	probe.name = cells_name(stage, call);
	probe.call = call;
	probe.stage = stage;
	probe.subject = &parties[stages[stage].host];
	if (stage < CELLS_AT_REST)
		bring_to(stage);
	if (stage >= CELLS_AT_REST)
		probe_in_own(stage);
	else if (other >= CELLS_AT_REST)
		probe_in_other(other);
	else
		net->call(run_probe, stages[stage].host);
	net->settle(); /* who sleeps finds it all at once */
	net->sleep(0, false);
	net->sleep(1, false);
	(void)net->until(is_told_all);
	net->settle();
	check();
	for (int i = 0; i < 2; i++)
		party_clear(&parties[i]);
	clear_others();
	if (!parties[1].listener)
		parties[1].listener = party_listen(&parties[1], on_event, PORT);
	net->settle();
	return true;
}

/* ---- begin and end ---- */

/* Neighbours know each other afterwards. */
void
cells_open(const struct cells_net *with)
{
	net = with;
	differences = 0;
	without_listener = false;
	memset(&near, 0, sizeof(near));
	for (uint32_t i = 0; i < 2; i++) {
		party_open(&parties[i], net->engine[i], net->domain[i], i);
		parties[i].peer = &parties[!i];
		parties[i].to = net->addr(!i, PORT);
		parties[i].listener = party_listen(&parties[i], on_event, PORT);
	}
	if (net->engine[2])
		party_open(&far, net->engine[2], net->domain[2], 2);
	do_up();
	for (int i = 0; i < 2; i++)
		party_clear(&parties[i]);
	net->settle();
}

void
cells_without_listener(void)
{
	without_listener = true;
}

bool
cells_has_listener(enum cells_stage stage)
{
	return stages[stage].host == 1;
}

void
cells_close(void)
{
	party_close(&parties[0]);
	party_close(&parties[1]);
	if (net->engine[2])
		party_close(&far);
	net->settle();
	assert_int_equal(differences, 0);
}
