/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 9293 state x event -> next state + actions.  Pure: no connection, no time, no effect. */
#ifndef TCP_FSM_H
#define TCP_FSM_H

#include <stdint.h>

#include "tcp_face.h"

#define TCP_STATES (TCP_TIME_WAIT + 1)

enum tcp_event {
	TCP_EV_PASSIVE_OPEN,
	TCP_EV_ACTIVE_OPEN,
	TCP_EV_RCV_SYN,     /* the peer's SYN; in SYN_SENT: without an ACK of ours */
	TCP_EV_RCV_SYN_ACK, /* SYN_SENT: with the ACK of our SYN */
	TCP_EV_SYN_ACKED,   /* SYN_RCVD: our SYN is acknowledged */
	TCP_EV_FIN_ACKED,   /* our FIN is acknowledged */
	TCP_EV_RCV_FIN,     /* the peer's FIN is next in order */
	TCP_EV_RCV_RST,     /* a RST that RFC 5961 lets through */
	TCP_EV_CLOSE,       /* the user: nothing more to send */
	TCP_EV_ABORT,       /* the user: over */
	TCP_EV_TIMEOUT,     /* SYN retries, user timeout, keepalive, FIN_WAIT_2 limit */
	TCP_EV_UNREACH      /* no way to the peer, during the handshake only */
};
#define TCP_EVENTS (TCP_EV_UNREACH + 1)

enum tcp_action {
	TCP_ACT_SYN = 1 << 0,          /* a SYN is to be sent */
	TCP_ACT_SYN_ACK = 1 << 1,      /* a SYN-ACK is to be sent */
	TCP_ACT_ACK = 1 << 2,          /* an ACK at once */
	TCP_ACT_FIN = 1 << 3,          /* a FIN behind what is queued */
	TCP_ACT_RST = 1 << 4,          /* a RST <SEQ=SND.NXT> */
	TCP_ACT_FLUSH = 1 << 5,        /* nothing is to be sent or retransmitted any more */
	TCP_ACT_LINGER = 1 << 6,       /* bound the wait for the peer's FIN */
	TCP_ACT_TIME_WAIT = 1 << 7,    /* leave a TIME_WAIT record */
	TCP_ACT_DEFER_CLOSE = 1 << 8,  /* CLOSE again when ESTABLISHED */
	TCP_ACT_UP = 1 << 9,           /* tell the owner: READY_UP */
	TCP_ACT_GOT_FIN = 1 << 10,     /* READY_FIN */
	TCP_ACT_GOT_RST = 1 << 11,     /* READY_RST */
	TCP_ACT_TIMED_OUT = 1 << 12,   /* READY_TIMEOUT */
	TCP_ACT_GOT_UNREACH = 1 << 13, /* READY_UNREACH */
	TCP_ACT_ENDED = 1 << 14        /* READY_CLOSED */
};

struct tcp_step {
	enum tcp_state next;
	uint32_t actions;
};

/* The move; {state, 0} when the event means nothing there. */
struct tcp_step tcp_fsm_step(enum tcp_state state, enum tcp_event event);

/* Whether some event leads from one state to the other. */
bool tcp_fsm_may_move(enum tcp_state from, enum tcp_state to);

const char *tcp_fsm_state_name(enum tcp_state state);

#endif
