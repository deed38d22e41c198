/* SPDX-License-Identifier: BSD-3-Clause */
/* All that can happen next: each move by kind, host or connection, and what it is about. */
#ifndef MOVES_H
#define MOVES_H

#include <stddef.h>

#include "world.h"

enum move_kind {
	M_RECEIVE,
	M_RECEIVE_LAZY,
	M_HALF,
	M_RST_FIRST,
	M_RST_LOST,
	M_PROBE,
	M_READ,
	M_FORCE,
	M_TIMER,
	M_TCP_TIMEOUT,
	M_UNREACH,
	M_FILL,
	M_SEND,
	M_POST_READ,
	M_CALL,
	M_DELIVER,
	M_RETURN,
	M_DESTROY_BY_RETURN,
	M_OUT,
	M_TIMEWAIT_END,
	M_CUT,
	M_RESTART,
	M_JUNK,
	M_CROWD,
	M_KINDS
};

#define MOVES_MAX 512

struct move {
	uint8_t kind, host, at; /* at: connection or id */
	uint8_t arg;            /* call, or item */
	uint8_t fail;
};

/* The n-th of all moves that there may ever be; false: no more. */
bool moves_nth(uint32_t n, struct move *m);
/* False: it certainly cannot happen in this world. */
bool moves_may(const struct world *w, const struct move *m);
/* Does it; false: it cannot happen in this world. */
bool moves_do(struct world *w, const struct move *m);
/* It happens by itself: it needs neither a user nor bad luck. */
bool moves_is_own(const struct world *w, const struct move *m);
/* m->at is an id of m->host, not a connection. */
bool moves_is_of_a_host(uint8_t kind);
/* In words. */
void moves_say(const struct world *before, const struct move *m, char *text, size_t len);

#endif
