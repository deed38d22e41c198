/* SPDX-License-Identifier: BSD-3-Clause */
/* Deadlines of many objects in one engine (design D25): a hierarchical wheel with 16 us ticks, re-armed lazily.
 * A timer never fires early, and at most one tick plus the poll interval late.  A timer fires at most once in
 * each tick: one that is armed for the past while the wheel is being popped comes in the next tick.  No
 * callbacks: the owner pops what is due.  One thread. */
#ifndef IW_WHEEL_H
#define IW_WHEEL_H

#include <stddef.h>
#include <stdint.h>

#include "iw_time.h"
#include "list.h"

#define IW_WHEEL_TICK_SHIFT 14 /* 16.384 us */
#define IW_WHEEL_BITS 8
#define IW_WHEEL_SLOTS (1u << IW_WHEEL_BITS)
#define IW_WHEEL_LEVELS 4

/* Embedded in the object.  All zero: not armed. */
struct iw_timer {
	struct iw_link link;
	uint64_t at_ns;   /* when it is due; moved later without touching the wheel */
	uint64_t slot_at; /* tick it is filed under; 0: in `due` */
};

struct iw_wheel {
	struct iw_list slot[IW_WHEEL_LEVELS][IW_WHEEL_SLOTS];
	uint64_t bitmap[IW_WHEEL_LEVELS][IW_WHEEL_SLOTS / 64]; /* slots that may hold something */
	struct iw_list due;
	uint64_t tick;  /* everything before it was looked at */
	uint64_t next;  /* no slot before this tick holds anything; a lower bound */
	uint32_t armed; /* timers */
};

void iw_wheel_init(struct iw_wheel *w, uint64_t now_ns);

/* Sets or moves a deadline; IW_NEVER cancels.  Later costs a store, earlier files it again. */
void iw_wheel_arm(struct iw_wheel *w, struct iw_timer *t, uint64_t at_ns);

/* Disarms it; nothing when it is not armed. */
void iw_wheel_cancel(struct iw_wheel *w, struct iw_timer *t);

/* iw_wheel_due() when something may be due. */
struct iw_timer *iw_wheel_pop(struct iw_wheel *w, uint64_t now_ns);

/* The next timer that is due at now, disarmed; NULL when there is none.  Call until NULL, in each tick.  The
 * work is bounded by the timers that are armed, however far now has jumped.  Each turn of an engine asks several
 * wheels, of which hardly one has anything. */
static inline struct iw_timer *
iw_wheel_due(struct iw_wheel *w, uint64_t now_ns)
{
	uint64_t tick = now_ns >> IW_WHEEL_TICK_SHIFT;

	if (tick >= w->next || !iw_list_empty(&w->due))
		return iw_wheel_pop(w, now_ns);
	if (tick >= w->tick)
		w->tick = tick + 1;
	return NULL;
}

/* iw_wheel_due() returns nothing before this; IW_NEVER: none armed.  A lower bound, the beginning of the earliest
 * slot in use: popping at this moment either yields a timer or moves the bound on. */
uint64_t iw_wheel_deadline(const struct iw_wheel *w);

static inline int
iw_wheel_is_armed(const struct iw_timer *t)
{
	return iw_list_linked(&t->link);
}

#endif
