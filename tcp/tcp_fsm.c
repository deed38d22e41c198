/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_fsm.h"

#include <assert.h>

/* One cell of the table; `listed` tells a listed cell from an empty one. */
struct cell {
	uint8_t listed, next;
	uint16_t actions;
};

static const struct cell table[TCP_STATES][TCP_EVENTS] = {
#define TCP_FSM(state, event, to, acts) [TCP_##state][TCP_EV_##event] = {1, TCP_##to, acts},
#include "tcp_fsm.def"
#undef TCP_FSM
};

struct tcp_step
tcp_fsm_step(enum tcp_state state, enum tcp_event event)
{
	const struct cell *c = &table[state][event];

	assert(state < TCP_STATES && event < TCP_EVENTS);
	if (!c->listed)
		return (struct tcp_step){state, 0};
	return (struct tcp_step){(enum tcp_state)c->next, c->actions};
}

bool
tcp_fsm_may_move(enum tcp_state from, enum tcp_state to)
{
	for (uint32_t e = 0; e < TCP_EVENTS; e++)
		if (table[from][e].listed && table[from][e].next == to)
			return true;
	return false;
}

const char *
tcp_fsm_state_name(enum tcp_state state)
{
	static const char *const names[TCP_STATES] = {"CLOSED",      "LISTEN",     "SYN_SENT",   "SYN_RCVD",
						      "ESTABLISHED", "FIN_WAIT_1", "FIN_WAIT_2", "CLOSE_WAIT",
						      "CLOSING",     "LAST_ACK",   "TIME_WAIT"};

	assert(state < TCP_STATES);
	return names[state];
}
