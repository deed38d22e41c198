/* SPDX-License-Identifier: BSD-3-Clause */
/* The state machine of a QP: pure, made from qp_fsm.def. */
#ifndef QP_FSM_H
#define QP_FSM_H

#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum qp_fsm_state {
#define QP_FSM_STATE(name, pub, rx, tx) QP_FSM_##name,
#include "qp_fsm.def"
#undef QP_FSM_STATE
	QP_FSM_STATES
};

enum qp_fsm_event {
#define QP_FSM_EVENT(name) QP_EV_##name,
#include "qp_fsm.def"
#undef QP_FSM_EVENT
	QP_FSM_EVENTS
};

enum qp_fsm_action {
	QP_DO_FLUSH_SQ = 1 << 0,
	QP_DO_FLUSH_RQ = 1 << 1,
	QP_DO_FLUSH = QP_DO_FLUSH_SQ | QP_DO_FLUSH_RQ,
	QP_DO_RUN = 1 << 2, /* there may be something to send */
	QP_OUT_TERM_SENT = 1 << 3,
	QP_OUT_TERM_RECV = 1 << 4,
	QP_OUT_FATAL = 1 << 5,
	QP_OUT_DRAINED = 1 << 6,
	QP_OUT_FIRST_FPDU = 1 << 7
};

struct qp_fsm {
	uint8_t state; /* enum qp_fsm_state */
};

/* One step: moves the state, returns the actions (enum qp_fsm_action bits).  An event that means nothing in a
 * state changes nothing and asks for nothing. */
uint32_t qp_fsm_step(struct qp_fsm *fsm, enum qp_fsm_event event);

/* Columns of the state. */
enum iw_qp_state qp_fsm_public(enum qp_fsm_state state);
bool qp_fsm_receives(enum qp_fsm_state state);
bool qp_fsm_sends(enum qp_fsm_state state);
const char *qp_fsm_state_name(enum qp_fsm_state state);

#endif
