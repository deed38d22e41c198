/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_fsm.h"

#include <assert.h>

_Static_assert(sizeof(struct qp_fsm) <= 16, "the model hashes it");

struct state_row {
	const char *name;
	uint8_t pub;
	bool receives, sends;
};

static const struct state_row states[QP_FSM_STATES] = {
#define QP_FSM_STATE(st, p, rx, tx) \
	[QP_FSM_##st] = {.name = #st, .pub = IW_QP_##p, .receives = (rx) != 0, .sends = (tx) != 0},
#include "qp_fsm.def"
#undef QP_FSM_STATE
};

/* The model opens the table for mutants. */
#ifndef QP_FSM_TABLE
#define QP_FSM_TABLE static const
#endif

struct cell {
	uint8_t listed, next;
	uint16_t actions;
};

QP_FSM_TABLE struct cell cells[QP_FSM_STATES][QP_FSM_EVENTS] = {
#define QP_FSM_CELL(st, ev, to, what) \
	[QP_FSM_##st][QP_EV_##ev] = {.listed = 1, .next = QP_FSM_##to, .actions = (uint16_t)(what)},
#include "qp_fsm.def"
#undef QP_FSM_CELL
};

uint32_t
qp_fsm_step(struct qp_fsm *fsm, enum qp_fsm_event event)
{
	const struct cell *cell;

	assert(fsm->state < QP_FSM_STATES && event < QP_FSM_EVENTS);
	cell = &cells[fsm->state][event];
	if (!cell->listed)
		return 0;
	fsm->state = cell->next;
	return cell->actions;
}

enum iw_qp_state
qp_fsm_public(enum qp_fsm_state state)
{
	return (enum iw_qp_state)states[state].pub;
}

bool
qp_fsm_receives(enum qp_fsm_state state)
{
	return states[state].receives;
}

bool
qp_fsm_sends(enum qp_fsm_state state)
{
	return states[state].sends;
}

const char *
qp_fsm_state_name(enum qp_fsm_state state)
{
	return states[state].name;
}
