/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_fsm.h"

#include <assert.h>
#include <stddef.h>

#define SAME CM_PHASES
#define KEEP CM_DEADLINES
#define CM_SAME SAME
#define CM_T_KEEP KEEP

/* The model opens the tables for mutants. */
#ifndef CM_FSM_TABLE
#define CM_FSM_TABLE static const
#endif

/* Up to six names of actions, made into bits. */
#define ACT1(a) CM_A_##a
#define ACT2(a, ...) CM_A_##a | ACT1(__VA_ARGS__)
#define ACT3(a, ...) CM_A_##a | ACT2(__VA_ARGS__)
#define ACT4(a, ...) CM_A_##a | ACT3(__VA_ARGS__)
#define ACT5(a, ...) CM_A_##a | ACT4(__VA_ARGS__)
#define ACT_PICK(a, b, c, d, e, name, ...) name
#define ACTIONS(...) (ACT_PICK(__VA_ARGS__, ACT5, ACT4, ACT3, ACT2, ACT1, )(__VA_ARGS__))

enum rule_id {
#define CM_RULE(name, when, next, status, timer, other, ...) RULE_##name,
#include "cm_fsm.def"
#undef CM_RULE
	RULE_END
};

struct rule {
	uint8_t next, status, timer;
	uint8_t other; /* enum rule_id */
	uint32_t when, actions;
};

CM_FSM_TABLE struct rule rules[] = {
#define CM_RULE(name, when, next, status, timer, other, ...) \
	{CM_##next, IW_E_##status, CM_T_##timer, RULE_##other, CM_##when, ACTIONS(__VA_ARGS__)},
#include "cm_fsm.def"
#undef CM_RULE
};

/* The three parts of the grid. */
CM_FSM_TABLE uint8_t active[CM_EVENT_MAX][CM_AWAIT_REQUEST] = {
#define CM_ACTIVE(ev, a, b, c, d, e, f, g) \
	[CM_EV_##ev] = {RULE_##a, RULE_##b, RULE_##c, RULE_##d, RULE_##e, RULE_##f, RULE_##g},
#include "cm_fsm.def"
#undef CM_ACTIVE
};

CM_FSM_TABLE uint8_t passive[CM_EVENT_MAX][CM_AWAIT_RTR - CM_AWAIT_REQUEST] = {
#define CM_PASSIVE(ev, a, b, c) [CM_EV_##ev] = {RULE_##a, RULE_##b, RULE_##c},
#include "cm_fsm.def"
#undef CM_PASSIVE
};

CM_FSM_TABLE uint8_t stream[CM_EVENT_MAX][CM_PHASES - CM_AWAIT_RTR] = {
#define CM_STREAM(ev, a, b, c, d, e, f, g, h, i) \
	[CM_EV_##ev] = {RULE_##a, RULE_##b, RULE_##c, RULE_##d, RULE_##e, RULE_##f, RULE_##g, RULE_##h, RULE_##i},
#include "cm_fsm.def"
#undef CM_STREAM
};

_Static_assert(CM_AWAIT_REQUEST == 7 && CM_AWAIT_RTR == 10 && CM_PHASES == 19, "the columns of the grid");
_Static_assert(sizeof(struct cm_state) <= 16, "design: the state is at most 16 octets");

static uint8_t
cell(uint8_t phase, enum cm_event ev)
{
	if (phase < CM_AWAIT_REQUEST)
		return active[ev][phase];
	return phase < CM_AWAIT_RTR ? passive[ev][phase - CM_AWAIT_REQUEST] : stream[ev][phase - CM_AWAIT_RTR];
}

/* The rule that applies; chains are short, and end in a rule without a condition. */
static const struct rule *
rule_of(const struct cm_state *st, enum cm_event ev)
{
	uint8_t id;

	assert(st->phase < CM_PHASES && ev < CM_EVENT_MAX);
	id = cell(st->phase, ev);
	while ((st->bits & rules[id].when) != rules[id].when) {
		id = rules[id].other;
		assert(id != RULE_END);
	}
	return &rules[id];
}

static bool
says_status(const struct rule *r)
{
	return r->actions & (CM_A_SAY_REFUSAL | CM_A_SAY_CLOSE);
}

int
cm_fsm_would(const struct cm_state *st, enum cm_event ev)
{
	const struct rule *r = rule_of(st, ev);

	return says_status(r) ? 0 : -(int)r->status;
}

/* Events to deliver and memory: taken back first, then added. */
CM_FSM_TABLE struct effect {
	uint32_t action, clear, set;
} effects[] = {
	{CM_A_SAY_REFUSAL, CM_P_ALL & ~CM_P_TIMEWAIT, CM_P_REFUSAL},
	{CM_A_HUSH, CM_P_DISCONNECT, 0},
	{CM_A_CANCEL_TW, CM_P_TIMEWAIT, 0},
	{CM_A_SAY_REQUEST, 0, CM_P_REQUEST},
	{CM_A_SAY_REPLY, 0, CM_P_REPLY},
	{CM_A_SAY_EST, 0, CM_P_EST},
	{CM_A_SAY_DISCONNECT, 0, CM_P_DISCONNECT},
	{CM_A_SAY_CLOSE, 0, CM_P_CLOSE},
	{CM_A_SAY_TIMEWAIT, 0, CM_P_TIMEWAIT},
	{CM_A_REMEMBER, 0, CM_M_LATER},
	{CM_A_REMEMBER_AB, 0, CM_M_LATER | CM_M_LATER_ABORT},
	{CM_A_FORGET, CM_M_ALL, 0},
};

static uint32_t
bits_after(uint32_t bits, uint32_t actions)
{
	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		if (actions & effects[i].action)
			bits = (bits & ~effects[i].clear) | effects[i].set;
	return bits;
}

/* Ends that a peer between Reply and RTR must not see. */
CM_FSM_TABLE uint32_t rude = CM_A_ABORT | CM_A_FINISH;
/* Ends that make a message which is half sent look as if nothing was missing. */
CM_FSM_TABLE uint32_t meek = CM_A_ORPHAN;

/* How a connection is let go, whatever the rule says.  Between Reply and RTR an initiator never resets: a RST instead
 * of the RTR hits a bug in Linux' peer.  Otherwise a message that was cut ends in a RST. */
static uint32_t
let_go(uint32_t bits, uint32_t actions)
{
	if (bits & CM_F_RTR_DUE)
		return actions & rude ? (actions & ~rude) | CM_A_ORPHAN : actions;
	return bits & CM_F_CUT && actions & meek ? (actions & ~meek) | CM_A_ABORT : actions;
}

struct cm_step
cm_fsm_step(struct cm_state *st, enum cm_event ev)
{
	const struct rule *r = rule_of(st, ev);
	struct cm_step step = {.actions = let_go(st->bits, r->actions)};

	if (says_status(r))
		st->status = r->status;
	else
		step.ret = -(int)r->status;
	st->bits = bits_after(st->bits, r->actions);
	if (r->next != SAME)
		st->phase = r->next;
	if (r->timer != KEEP) {
		step.rearm = r->timer != CM_T_NONE || st->timer != CM_T_NONE;
		st->timer = r->timer;
	}
	if (ev == CM_EV_DONE)
		st->told = 0;
	return step;
}

int
cm_fsm_tell(struct cm_state *st, int *status)
{
	static const uint8_t types[] = {IW_CM_CONNECT_REQUEST, IW_CM_CONNECT_REPLY, IW_CM_CONNECT_REPLY,
					IW_CM_ESTABLISHED_EV,  IW_CM_DISCONNECT,    IW_CM_CLOSE,
					IW_CM_TIMEWAIT_EXIT};
	uint32_t waiting = st->bits & CM_P_ALL, first = waiting & -waiting;
	int type;

	if (!waiting)
		return -1;
	type = types[__builtin_ctz(first)];
	*status = first & (CM_P_REFUSAL | CM_P_CLOSE) ? -(int)st->status : 0;
	st->bits &= ~first;
	st->told = (uint8_t)(type + 1);
	if (first & (CM_P_REFUSAL | CM_P_CLOSE))
		(void)cm_fsm_step(st, CM_EV_TOLD_END);
	return type;
}

/* ---- columns of the phases ---- */

static const struct {
	const char *name;
	uint8_t seen;
	bool streams, starts;
} phases[CM_PHASES] = {
#define CM_PHASE(phase, state, is_stream, is_start) \
	[CM_##phase] = {.name = #phase, .seen = IW_CM_##state, .streams = is_stream, .starts = is_start},
#include "cm_fsm.def"
#undef CM_PHASE
};

enum iw_cm_state
cm_fsm_public(const struct cm_state *st)
{
	if (st->bits & CM_P_REPLY)
		return IW_CM_CONN_SENT;
	if (st->bits & CM_P_EST)
		return IW_CM_ACCEPTED;
	if (st->bits & CM_P_DISCONNECT)
		return IW_CM_ESTABLISHED;
	return (enum iw_cm_state)phases[st->phase].seen;
}

bool
cm_fsm_is_streaming(const struct cm_state *st)
{
	return phases[st->phase].streams;
}

bool
cm_fsm_is_starting(const struct cm_state *st)
{
	return phases[st->phase].starts || st->bits & (CM_P_REQUEST | CM_P_REPLY | CM_P_REFUSAL);
}

const char *
cm_fsm_phase_name(enum cm_phase phase)
{
	assert(phase < CM_PHASES);
	return phases[phase].name;
}

const char *
cm_fsm_event_name(enum cm_event ev)
{
	static const char *const names[CM_EVENT_MAX] = {
#define CM_EVENT(name) #name,
#include "cm_fsm.def"
#undef CM_EVENT
	};

	assert(ev < CM_EVENT_MAX);
	return names[ev];
}
