/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_fsm.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Written from RFC 5040 §6 and docs/cm.md, "Closing", not from the table. */
struct row {
	enum qp_fsm_state from;
	enum qp_fsm_event event;
	enum qp_fsm_state to;
	uint32_t actions;
};

#define FLUSH (QP_DO_FLUSH_SQ | QP_DO_FLUSH_RQ)

static const struct row rows[] = {
	/* A responder sends nothing before the first FPDU (RFC 5044 §7.1.2 rule 4). */
	{QP_FSM_IDLE, QP_EV_START_INITIATOR, QP_FSM_RTS, QP_DO_RUN},
	{QP_FSM_IDLE, QP_EV_START_RESPONDER, QP_FSM_HELD, 0},
	{QP_FSM_HELD, QP_EV_FPDU, QP_FSM_RTS, QP_OUT_FIRST_FPDU | QP_DO_RUN},
	/* It closes before it may send: its queue is flushed, FIN at once; it can still receive. */
	{QP_FSM_HELD, QP_EV_CLOSE, QP_FSM_DRAINED, QP_DO_FLUSH_SQ | QP_OUT_DRAINED},
	{QP_FSM_RTS, QP_EV_CLOSE, QP_FSM_DRAINING, QP_DO_RUN},
	{QP_FSM_DRAINING, QP_EV_EMPTY, QP_FSM_DRAINED, QP_OUT_DRAINED},
	{QP_FSM_DRAINED, QP_EV_END_OK, QP_FSM_DEAD, FLUSH},
	/* M22: the first FPDU is bad. */
	{QP_FSM_HELD, QP_EV_FAULT, QP_FSM_TERMINATING, FLUSH | QP_DO_RUN},
	{QP_FSM_RTS, QP_EV_FAULT, QP_FSM_TERMINATING, FLUSH | QP_DO_RUN},
	{QP_FSM_DRAINING, QP_EV_FAULT, QP_FSM_TERMINATING, FLUSH | QP_DO_RUN},
	{QP_FSM_DRAINED, QP_EV_FAULT, QP_FSM_ERROR, FLUSH | QP_OUT_FATAL}, /* R18 */
	{QP_FSM_TERMINATING, QP_EV_TERM_SENT, QP_FSM_TERMINATED, QP_OUT_TERM_SENT},
	{QP_FSM_TERMINATED, QP_EV_END_OK, QP_FSM_ERROR, 0},
	{QP_FSM_RTS, QP_EV_TERM_RECV, QP_FSM_ERROR, FLUSH | QP_OUT_TERM_RECV}, /* R11 */
	{QP_FSM_DRAINED, QP_EV_TERM_RECV, QP_FSM_ERROR, FLUSH | QP_OUT_TERM_RECV},
	{QP_FSM_RTS, QP_EV_END_ERR, QP_FSM_ERROR, FLUSH},
	{QP_FSM_RTS, QP_EV_END_OK, QP_FSM_DEAD, FLUSH},
	{QP_FSM_RTS, QP_EV_KILL, QP_FSM_ERROR, FLUSH},
	{QP_FSM_IDLE, QP_EV_KILL, QP_FSM_ERROR, FLUSH},
	{QP_FSM_IDLE, QP_EV_END_ERR, QP_FSM_IDLE, 0},             /* it never had that stream */
	{QP_FSM_TERMINATING, QP_EV_FAULT, QP_FSM_TERMINATING, 0}, /* R14: the first one counts */
	{QP_FSM_ERROR, QP_EV_START_INITIATOR, QP_FSM_ERROR, 0},
	{QP_FSM_DEAD, QP_EV_START_RESPONDER, QP_FSM_DEAD, 0},
};

static void
test_rows(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct qp_fsm fsm = {.state = (uint8_t)rows[i].from};
		uint32_t actions = qp_fsm_step(&fsm, rows[i].event);

		if (fsm.state != rows[i].to || actions != rows[i].actions)
			fail_msg("row %u: %s, %x", i, qp_fsm_state_name(fsm.state), actions);
	}
}

static void
test_public_states(void **state)
{
	static const enum iw_qp_state want[QP_FSM_STATES] = {[QP_FSM_IDLE] = IW_QP_IDLE,
							     [QP_FSM_HELD] = IW_QP_RTS,
							     [QP_FSM_RTS] = IW_QP_RTS,
							     [QP_FSM_DRAINING] = IW_QP_CLOSING,
							     [QP_FSM_DRAINED] = IW_QP_CLOSING,
							     [QP_FSM_TERMINATING] = IW_QP_TERMINATE,
							     [QP_FSM_TERMINATED] = IW_QP_TERMINATE,
							     [QP_FSM_ERROR] = IW_QP_ERROR,
							     [QP_FSM_DEAD] = IW_QP_IDLE};

	(void)state;
	for (int s = 0; s < QP_FSM_STATES; s++)
		assert_int_equal(qp_fsm_public(s), want[s]);
}

/* Every cell of every path: what must hold whatever happens in whatever order. */
struct path {
	uint8_t state;
	uint8_t term_sent, drained, flushed, term_recv, fatal, first; /* how often */
	uint8_t ended;                                                /* no longer receives */
};

static struct path queue[100000];
static uint32_t n_queue;

static void
add(const struct path *p)
{
	for (uint32_t i = 0; i < n_queue; i++)
		if (!memcmp(&queue[i], p, sizeof(*p)))
			return;
	assert_true(n_queue < 100000);
	queue[n_queue++] = *p;
}

static void
step(const struct path *from, enum qp_fsm_event event)
{
	struct qp_fsm fsm = {.state = from->state};
	uint32_t a = qp_fsm_step(&fsm, event);
	struct path p = *from;

	assert_true(fsm.state < QP_FSM_STATES);
	p.state = fsm.state;
	p.term_sent += !!(a & QP_OUT_TERM_SENT);
	p.term_recv += !!(a & QP_OUT_TERM_RECV);
	p.drained += !!(a & QP_OUT_DRAINED);
	p.fatal += !!(a & QP_OUT_FATAL);
	p.flushed += !!(a & QP_DO_FLUSH_RQ);
	if (event == QP_EV_FPDU && a) /* the room raises it once for a stream */
		p.first = p.first < 2 ? p.first + 1 : 2;
	assert_true(p.term_sent <= 1 && p.drained <= 1 && p.term_recv <= 1 && p.fatal <= 1);
	assert_false(p.term_recv && p.term_sent); /* never one in answer to one */
	assert_false(p.drained && p.term_sent);   /* nothing behind a FIN */
	/* Both queues are flushed when the state leaves those that complete work, exactly once. */
	assert_int_equal(p.flushed, fsm.state != QP_FSM_IDLE && !qp_fsm_receives(fsm.state));
	assert_true(!qp_fsm_sends(fsm.state) || qp_fsm_receives(fsm.state));
	if (from->state == QP_FSM_ERROR)
		assert_true(fsm.state == QP_FSM_ERROR && a == 0);
	add(&p);
}

static void
test_every_path(void **state)
{
	const struct path start = {.state = QP_FSM_IDLE};
	bool reached[QP_FSM_STATES] = {false};

	(void)state;
	add(&start);
	for (uint32_t i = 0; i < n_queue; i++) {
		reached[queue[i].state] = true;
		for (int e = 0; e < QP_FSM_EVENTS; e++)
			step(&queue[i], (enum qp_fsm_event)e);
	}
	for (int s = 0; s < QP_FSM_STATES; s++)
		assert_true(reached[s]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_public_states),
		cmocka_unit_test(test_every_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
