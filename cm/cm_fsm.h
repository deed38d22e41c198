/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager's machine: state x event -> next state, actions, return value.  One table, cm_fsm.def.  Pure:
 * no connection, no QP, no time.  What it must know of the world stands in the state as facts, set before a step. */
#ifndef CM_FSM_H
#define CM_FSM_H

#include <iwarp/connect.h>
#include <iwarp/err.h>
#include <stdbool.h>
#include <stdint.h>

/* Where the connection of an id stands, by what it waits for.  Richer than enum iw_cm_state. */
enum cm_phase {
#define CM_PHASE(name, ...) CM_##name,
#include "cm_fsm.def"
#undef CM_PHASE
	CM_PHASES
};

enum cm_event {
#define CM_EVENT(name) CM_EV_##name,
#include "cm_fsm.def"
#undef CM_EVENT
	CM_EVENT_MAX
};

/* Bits of a state.  The low ones are events not delivered yet, in the order in which they are delivered. */
enum cm_bit {
	CM_ALWAYS = 0,
	CM_P_REQUEST = 1 << 0,    /* CONNECT_REQUEST */
	CM_P_REPLY = 1 << 1,      /* CONNECT_REPLY(0) */
	CM_P_REFUSAL = 1 << 2,    /* CONNECT_REPLY(-status) */
	CM_P_EST = 1 << 3,        /* ESTABLISHED */
	CM_P_DISCONNECT = 1 << 4, /* DISCONNECT */
	CM_P_CLOSE = 1 << 5,      /* CLOSE(-status) */
	CM_P_TIMEWAIT = 1 << 6,   /* TIMEWAIT_EXIT */
	CM_P_ALL = (1 << 7) - 1,
	/* memory: a disconnect while ACCEPTED */
	CM_M_LATER = 1 << 8,
	CM_M_LATER_ABORT = 1 << 9,
	CM_M_ALL = CM_M_LATER | CM_M_LATER_ABORT,
	/* facts */
	CM_F_RETRY = 1 << 16, /* revision 2 was asked with, no octet came back, once more with revision 1 is allowed */
	CM_F_P2P = 1 << 17,   /* peer-to-peer was agreed on (responder: asked for) */
	CM_F_DELAY = 1 << 18, /* first_fpdu_delay is wanted */
	CM_F_RTR_DUE = 1 << 19, /* initiator: the RTR has not certainly arrived: no RST */
	CM_F_CUT = 1 << 20,     /* a message of ours is half in TCP, or a Terminate is due */
	CM_F_MID = 1 << 21,     /* a FIN now cuts: FPDU or message unfinished, or Reads of ours outstanding */
	CM_F_ALL = 0x3f << 16
};

/* Which deadline runs; one at a time (cm_timer.h). */
enum cm_deadline {
	CM_T_NONE,
	CM_T_CONNECT,
	CM_T_DELAY,
	CM_T_REQUEST,
	CM_T_RTR,
	CM_T_CLOSING,
	CM_T_LINGER,
	CM_T_ORPHAN,
	CM_DEADLINES
};

struct cm_state {
	uint8_t phase;  /* enum cm_phase; written by cm_fsm_step() only */
	uint8_t status; /* enum iw_err, positive: of the refusal or CLOSE that is pending */
	uint8_t timer;  /* enum cm_deadline */
	uint8_t told;   /* enum iw_cm_event_type + 1 being delivered; 0: none */
	uint32_t bits;
};

/* What a step asks for, to be done in this order.  In the table they are listed without CM_A_. */
enum cm_action {
	CM_A_NOTHING = 0,
	CM_A_RETRY = 1 << 0,      /* let go of the connection, open another for revision 1 */
	CM_A_REQUEST = 1 << 1,    /* send the Request */
	CM_A_REPLY = 1 << 2,      /* send the Reply */
	CM_A_REJECT = 1 << 3,     /* send a Reply with R */
	CM_A_TERM = 1 << 4,       /* send a start-up Terminate */
	CM_A_START = 1 << 5,      /* QP to RTS, stream to the QP, RTR */
	CM_A_QP_CLOSE = 1 << 6,   /* graceful close of the QP */
	CM_A_QP_END = 1 << 7,     /* let go of the QP; if it had started it is flushed, with the status */
	CM_A_FIN = 1 << 8,        /* FIN behind everything */
	CM_A_ABORT = 1 << 9,      /* RST and let go of the connection */
	CM_A_FINISH = 1 << 10,    /* FIN if there was none, let go: TCP ends alone */
	CM_A_ORPHAN = 1 << 11,    /* FIN, then the connection lives on as an ORPHAN */
	CM_A_AGAIN = 1 << 12,     /* the event is to be fed again when what is in order has been read */
	CM_A_ENTER = 1 << 13,     /* counts in its listener's backlog from now on */
	CM_A_LEAVE = 1 << 14,     /* the listener has nothing to do with it any more */
	CM_A_UNLISTEN = 1 << 15,  /* stop listening, LISTENER_GONE to the children */
	CM_A_CANCEL_TW = 1 << 16, /* forget about an older TIME_WAIT record */
	CM_A_FREE = 1 << 17,      /* free the id: always the last */
	/* done by the step itself; they are set in the result too */
	CM_A_SAY_REQUEST = 1 << 18,
	CM_A_SAY_REPLY = 1 << 19,
	CM_A_SAY_REFUSAL = 1 << 20,
	CM_A_SAY_EST = 1 << 21,
	CM_A_SAY_DISCONNECT = 1 << 22,
	CM_A_SAY_CLOSE = 1 << 23,
	CM_A_SAY_TIMEWAIT = 1 << 24,
	CM_A_HUSH = 1 << 25,        /* DISCONNECT is not to be delivered any more */
	CM_A_REMEMBER = 1 << 26,    /* disconnect when ESTABLISHED has been delivered */
	CM_A_REMEMBER_AB = 1 << 27, /* the same, abruptly */
	CM_A_FORGET = 1 << 28       /* that is over */
};

struct cm_step {
	int ret;          /* of a call: 0 or -IW_E_* */
	uint32_t actions; /* enum cm_action */
	bool rearm;       /* the timer changed: arm st->timer, or cancel it when CM_T_NONE */
};

/* One step.  Facts are read from st->bits and left there. */
struct cm_step cm_fsm_step(struct cm_state *st, enum cm_event ev);

/* What the step would return, without taking it. */
int cm_fsm_would(const struct cm_state *st, enum cm_event ev);

/* Takes the next event to be delivered off the state: its type, and *status (0 or -IW_E_*).  Returns -1 when there is
 * none.  Until cm_fsm_step(DONE) st->told keeps the type. */
int cm_fsm_tell(struct cm_state *st, int *status);

/* How the user sees it: what was not delivered has not happened for him. */
enum iw_cm_state cm_fsm_public(const struct cm_state *st);

/* The stream of that phase belongs to the QP. */
bool cm_fsm_is_streaming(const struct cm_state *st);

/* What only start-up needs is needed: for frames to come, or for an event not delivered yet. */
bool cm_fsm_is_starting(const struct cm_state *st);

const char *cm_fsm_phase_name(enum cm_phase phase);
const char *cm_fsm_event_name(enum cm_event ev);

#endif
