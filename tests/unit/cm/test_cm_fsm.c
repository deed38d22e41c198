/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager's machine against the specification ("States and API calls", "Events", "Close"), written down
 * here a second time and in another order; and a walk through every state that one id can reach. */
#include "cm_fsm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cm_fsm_rows.h"

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))
/* Done by the step itself. */
#define SAYING                                                                                                        \
	(CM_A_SAY_REQUEST | CM_A_SAY_REPLY | CM_A_SAY_REFUSAL | CM_A_SAY_EST | CM_A_SAY_DISCONNECT | CM_A_SAY_CLOSE | \
	 CM_A_SAY_TIMEWAIT | CM_A_HUSH | CM_A_REMEMBER | CM_A_REMEMBER_AB | CM_A_FORGET)

static struct cm_state
state_in(uint8_t phase, uint32_t bits)
{
	return (struct cm_state){.phase = phase, .timer = CM_T_CONNECT, .bits = bits};
}

static void
check_row(const struct row *r)
{
	struct cm_state st = state_in(r->phase, r->bits);
	int would = cm_fsm_would(&st, (enum cm_event)r->ev);
	struct cm_step step = cm_fsm_step(&st, (enum cm_event)r->ev);
	bool good = st.phase == r->next && step.ret == r->ret && would == r->ret && (st.bits & CM_P_ALL) == r->waits &&
		    st.status == r->status && st.timer == (r->timer == KEEP ? CM_T_CONNECT : r->timer) &&
		    step.rearm == (r->timer != KEEP) && (step.actions & ~(uint32_t)SAYING) == r->actions;

	if (!good)
		fail_msg("%s x %s (bits %x): -> %s ret %d waits %x status %u timer %u actions %x",
			 cm_fsm_phase_name((enum cm_phase)r->phase), cm_fsm_event_name((enum cm_event)r->ev), r->bits,
			 cm_fsm_phase_name((enum cm_phase)st.phase), step.ret, st.bits & CM_P_ALL, st.status, st.timer,
			 step.actions);
}

static void
test_every_listed_cell(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++)
		check_row(&rows[i]);
}

/* What a call returns where the specification's table has nothing to do: by call. */
static int
idle_return(uint8_t phase, uint8_t ev)
{
	switch ((int)ev) {
	case CM_EV_LISTEN:
	case CM_EV_CONNECT:
	case CM_EV_ACCEPT:
	case CM_EV_REJECT:
		return -IW_E_INVAL;
	case CM_EV_DISCONNECT:
	case CM_EV_ABORT:
		return phase == CM_LISTENING ? -IW_E_INVAL : 0;
	default:
		return 0;
	}
}

static bool
is_listed(uint8_t phase, uint8_t ev)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].phase == phase && rows[i].ev == ev)
			return true;
	return false;
}

/* A pair that is not listed changes nothing, sends nothing, and says nothing. */
static void
test_every_other_cell(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (uint8_t p = 0; p < CM_PHASES; p++)
		for (uint8_t e = 0; e < CM_EVENT_MAX; e++) {
			struct cm_state st = state_in(p, 0), before = st;
			struct cm_step step;

			if (is_listed(p, e))
				continue;
			n++;
			step = cm_fsm_step(&st, (enum cm_event)e);
			if (memcmp(&st, &before, sizeof(st)) || step.rearm || step.ret != idle_return(p, e) ||
			    (step.actions & ~(uint32_t)CM_A_HUSH))
				fail_msg("%s x %s does something", cm_fsm_phase_name((enum cm_phase)p),
					 cm_fsm_event_name((enum cm_event)e));
		}
	assert_int_equal(CM_PHASES * CM_EVENT_MAX, 19 * 37);
	assert_true(n > 300);
}

/* The specification's own table of calls, by what the user sees: which return what. */
static void
test_calls_by_public_state(void **state)
{
	enum { OK = 0, NO = -IW_E_INVAL, RESET = -IW_E_CONNRESET, ANY = 1 };
	static const struct {
		uint8_t ev;
		int ret[7]; /* IDLE LISTENING CONN_SENT CONN_RECV ACCEPTED ESTABLISHED CLOSING */
	} table[] = {
		{CM_EV_LISTEN, {OK, NO, NO, NO, NO, NO, NO}},     {CM_EV_CONNECT, {OK, NO, NO, NO, NO, NO, NO}},
		{CM_EV_ACCEPT, {NO, NO, NO, ANY, NO, NO, NO}},    {CM_EV_REJECT, {NO, NO, NO, ANY, NO, NO, NO}},
		{CM_EV_DISCONNECT, {OK, NO, OK, OK, OK, OK, OK}}, {CM_EV_ABORT, {OK, NO, OK, OK, OK, OK, OK}},
		{CM_EV_DESTROY, {OK, OK, OK, OK, OK, OK, OK}},
	};

	(void)state;
	for (uint8_t p = 0; p < CM_PHASES; p++)
		for (uint32_t waits = 0; waits <= CM_P_ALL; waits++)
			for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
				struct cm_state st = state_in(p, waits);
				int want = table[i].ret[cm_fsm_public(&st)];
				int got = cm_fsm_would(&st, (enum cm_event)table[i].ev);

				if (p == CM_ORPHAN)
					continue; /* nobody has its handle */
				/* Only what can be: a state that is not the phase's own shows events that wait. */
				if ((waits & CM_P_REPLY && (p < CM_OPEN || waits & CM_P_EST)) ||
				    (waits & CM_P_EST && p < CM_OPEN) || (waits & CM_P_DISCONNECT && p < CM_OPEN))
					continue;
				if (want == ANY)
					assert_true(got == OK || got == RESET || p == CM_AWAIT_REQUEST ||
						    waits & CM_P_REQUEST);
				else
					assert_int_equal(got, want);
			}
}

/* ---- every state that one id can reach ---- */

/* What has been seen of an id, beside its state. */
struct seen {
	uint8_t connects; /* 1: one is open, not answered by CONNECT_REPLY */
	uint8_t shown;    /* passive: CONNECT_REQUEST was delivered */
	uint8_t accepted; /* 1: accept has returned 0, ESTABLISHED is owed */
	uint8_t up;       /* 1: CONNECT_REPLY(0) or ESTABLISHED was delivered, CLOSE is owed */
	uint8_t quiet;    /* DISCONNECT was told, or we have disconnected */
	uint8_t tcp, qp;  /* held */
};

struct node {
	struct cm_state st;
	struct seen s;
};

#define MAX_NODES 200000
static struct node nodes[MAX_NODES];
static uint32_t n_nodes;
#define HASH (1u << 20)
static uint32_t hash_slot[HASH];

static void
add_node(const struct node *n)
{
	const uint8_t *p = (const uint8_t *)n;
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < sizeof(*n); i++)
		h = (h ^ p[i]) * 16777619u;
	for (h &= HASH - 1; hash_slot[h]; h = (h + 1) & (HASH - 1))
		if (!memcmp(&nodes[hash_slot[h] - 1], n, sizeof(*n)))
			return;
	assert_true(n_nodes < MAX_NODES);
	nodes[n_nodes++] = *n;
	hash_slot[h] = n_nodes;
}

/* P14: whoever waits for the peer has a timer; nobody else has one. */
static void
check_timer(const struct cm_state *st)
{
	static const uint8_t want[CM_PHASES] = {
		[CM_AWAIT_UP] = CM_T_CONNECT,      [CM_AWAIT_REPLY] = CM_T_CONNECT, [CM_AWAIT_DELAY] = CM_T_DELAY,
		[CM_AWAIT_REQUEST] = CM_T_REQUEST, [CM_AWAIT_RTR] = CM_T_RTR,       [CM_TERM_DUE] = CM_T_LINGER,
		[CM_DRAIN] = CM_T_CLOSING,         [CM_HALF] = CM_T_CLOSING,        [CM_AWAIT_FIN] = CM_T_CLOSING,
		[CM_AWAIT_CLOSED] = CM_T_CLOSING,  [CM_TERM] = CM_T_LINGER,         [CM_ORPHAN] = CM_T_ORPHAN};

	assert_int_equal(st->timer, want[st->phase]);
}

/* P5, P6: what is held fits the phase. */
static void
check_held(const struct node *n)
{
	uint8_t p = n->st.phase;
	bool streams = cm_fsm_is_streaming(&n->st), active = p >= CM_AWAIT_UP && p <= CM_AWAIT_DELAY;

	assert_int_equal(n->s.qp, streams || active);
	assert_int_equal(n->s.tcp, streams || active || p == CM_AWAIT_REQUEST || p == CM_RECV || p == CM_ORPHAN);
	/* A state that is over has something to tell. */
	if (p == CM_REFUSED)
		assert_true(n->st.bits & CM_P_REFUSAL);
	if (p == CM_DEAD)
		assert_true(n->st.bits & CM_P_CLOSE);
}

static void
apply(struct node *n, uint32_t a, enum cm_event ev)
{
	/* Frames and streams need what they go over. */
	if (a & (CM_A_REQUEST | CM_A_REPLY | CM_A_REJECT | CM_A_START | CM_A_FIN | CM_A_TERM | CM_A_RETRY))
		assert_true(n->s.tcp);
	if (a & (CM_A_START | CM_A_QP_CLOSE))
		assert_true(n->s.qp || ev == CM_EV_ACCEPT);
	if (ev == CM_EV_CONNECT || ev == CM_EV_ACCEPT)
		n->s.qp = 1;
	if (ev == CM_EV_CONNECT || ev == CM_EV_ARRIVE || ev == CM_EV_ORPHANED)
		n->s.tcp = 1;
	if (a & CM_A_QP_END)
		n->s.qp = 0;
	if (a & (CM_A_ABORT | CM_A_FINISH | CM_A_ORPHAN))
		n->s.tcp = 0;
	if (n->st.bits & CM_F_RTR_DUE)
		assert_false(a & CM_A_ABORT);
}

/* IDLE: nothing is owed any more. */
static void
settle(struct node *n)
{
	if (n->st.phase != CM_IDLE)
		return;
	assert_false(n->s.connects || n->s.accepted || n->s.up || n->s.tcp || n->s.qp);
	n->s.shown = n->s.quiet = 0;
	n->st.status = 0;
}

static void
take(const struct node *from, enum cm_event ev, uint32_t facts)
{
	struct node n = *from;
	struct cm_step step;
	int would;

	n.st.bits |= facts;
	would = cm_fsm_would(&n.st, ev);
	step = cm_fsm_step(&n.st, ev);
	assert_int_equal(would, step.ret);
	if (ev <= CM_EV_REJECT && step.ret && step.ret != -IW_E_CONNRESET) {
		n.st.bits &= ~(uint32_t)CM_F_ALL;
		assert_memory_equal(&n, from, sizeof(n));
		return;
	}
	if (step.ret == 0) /* a refused accept binds nothing */
		apply(&n, step.actions, ev);
	else if (step.actions & (CM_A_ABORT | CM_A_FINISH | CM_A_ORPHAN))
		n.s.tcp = 0;
	if (step.actions & CM_A_FREE) {
		assert_int_equal(n.s.tcp, 0);
		assert_int_equal(n.s.qp, 0);
		return;
	}
	if (ev == CM_EV_CONNECT) {
		n.s = (struct seen){.connects = 1, .tcp = 1, .qp = 1};
	}
	if (ev == CM_EV_ACCEPT && step.ret == 0)
		n.s.accepted = 1;
	if ((ev == CM_EV_DISCONNECT || ev == CM_EV_ABORT) && n.s.up)
		n.s.quiet = 1;
	n.st.bits &= ~(uint32_t)CM_F_ALL;
	settle(&n);
	check_timer(&n.st);
	check_held(&n);
	add_node(&n);
}

/* Delivery: the language of events (P1, P2). */
static void
tell(const struct node *from)
{
	struct node n = *from;
	int status = 0, type = cm_fsm_tell(&n.st, &status);

	switch (type) {
	case -1:
		return;
	case IW_CM_CONNECT_REQUEST:
		assert_false(n.s.shown || n.s.accepted || n.s.up);
		n.s.shown = 1;
		break;
	case IW_CM_CONNECT_REPLY:
		assert_int_equal(n.s.connects, 1);
		assert_false(n.s.up);
		n.s.connects = 0;
		n.s.up = status == 0;
		assert_int_equal(cm_fsm_public(&n.st) == IW_CM_IDLE, status != 0);
		break;
	case IW_CM_ESTABLISHED_EV:
		assert_int_equal(n.s.accepted, 1);
		n.s.accepted = 0;
		n.s.up = 1;
		break;
	case IW_CM_DISCONNECT:
		assert_true(n.s.up && !n.s.quiet);
		n.s.quiet = 1;
		break;
	case IW_CM_CLOSE:
		assert_true(n.s.up);
		n.s = (struct seen){.tcp = n.s.tcp, .qp = n.s.qp};
		assert_int_equal(cm_fsm_public(&n.st), IW_CM_IDLE);
		break;
	case IW_CM_TIMEWAIT_EXIT:
		assert_false(n.s.up || n.s.connects || n.s.accepted);
		break;
	default:
		fail();
	}
	settle(&n);
	add_node(&n);
}

/* Can this come up at all?  TCP and QP speak only while they are held; start-up frames only where they are read. */
static bool
is_possible(const struct node *n, enum cm_event ev)
{
	uint8_t p = n->st.phase;

	switch ((int)ev) {
	case CM_EV_ARRIVE:
	case CM_EV_ORPHANED:
		return p == CM_IDLE && !n->st.bits && !n->st.told;
	case CM_EV_ACCEPT:
	case CM_EV_REJECT:
	case CM_EV_LISTEN:
	case CM_EV_CONNECT:
	case CM_EV_DISCONNECT:
	case CM_EV_ABORT:
	case CM_EV_DESTROY:
		return p != CM_AWAIT_REQUEST && p != CM_ORPHAN &&
		       !(n->st.bits & CM_P_REQUEST); /* the user knows the id */
	case CM_EV_UP:
	case CM_EV_FIN:
	case CM_EV_RST:
	case CM_EV_TIMEOUT:
	case CM_EV_UNREACH:
	case CM_EV_CLOSED:
		return n->s.tcp;
	case CM_EV_QP_GONE:
	case CM_EV_FIRST_FPDU:
	case CM_EV_BROKEN:
	case CM_EV_TERM:
	case CM_EV_FATAL:
	case CM_EV_DRAINED:
		return n->s.qp;
	case CM_EV_TIMER:
		return n->st.timer != CM_T_NONE;
	case CM_EV_START_FAIL:
		return p == CM_AWAIT_REPLY || p == CM_AWAIT_RTR ||
		       (p == CM_OPEN && n->st.bits & (CM_P_REPLY | CM_P_EST));
	case CM_EV_RETRY_FAIL:
		return p == CM_AWAIT_UP;
	case CM_EV_TIMEWAIT_GONE:
		return p == CM_IDLE || p == CM_DEAD;
	case CM_EV_TOLD_END:
		return false; /* cm_fsm_tell() does it */
	case CM_EV_DONE:
		return n->st.told;
	default:
		return true;
	}
}

static void
test_walk(void **state)
{
	struct node start;

	(void)state;
	memset(&start, 0, sizeof(start));
	add_node(&start);
	for (uint32_t i = 0; i < n_nodes; i++) {
		const struct node n = nodes[i];

		if (!n.st.told)
			tell(&n);
		for (uint32_t e = 0; e < CM_EVENT_MAX; e++)
			for (uint32_t facts = 0; is_possible(&n, (enum cm_event)e) && facts < 64; facts++)
				take(&n, (enum cm_event)e, facts << 16);
	}
	print_message("states reached: %u\n", n_nodes);
	assert_true(n_nodes > 200);
	for (uint8_t p = 0; p < CM_PHASES; p++) {
		bool found = false;

		for (uint32_t i = 0; i < n_nodes; i++)
			found |= nodes[i].st.phase == p;
		assert_true(found);
	}
}

static void
test_delivery_order(void **state)
{
	static const int order[] = {IW_CM_CONNECT_REQUEST, IW_CM_CONNECT_REPLY, IW_CM_ESTABLISHED_EV,
				    IW_CM_DISCONNECT,      IW_CM_CLOSE,         IW_CM_TIMEWAIT_EXIT};
	struct cm_state st = {.phase = CM_DEAD, .status = IW_E_TIMEDOUT};
	int status;

	(void)state;
	st.bits = CM_P_REQUEST | CM_P_REPLY | CM_P_EST | CM_P_DISCONNECT | CM_P_CLOSE | CM_P_TIMEWAIT;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		assert_int_equal(cm_fsm_tell(&st, &status), order[i]);
		assert_int_equal(status, order[i] == IW_CM_CLOSE ? -IW_E_TIMEDOUT : 0);
		assert_int_equal(st.told, order[i] + 1);
	}
	assert_int_equal(cm_fsm_tell(&st, &status), -1);
	assert_int_equal(st.phase, CM_IDLE);
	cm_fsm_step(&st, CM_EV_DONE);
	assert_int_equal(st.told, 0);
	assert_true(sizeof(struct cm_state) <= 16);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_listed_cell),     cmocka_unit_test(test_every_other_cell),
		cmocka_unit_test(test_calls_by_public_state), cmocka_unit_test(test_walk),
		cmocka_unit_test(test_delivery_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
