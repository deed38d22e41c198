/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells: what other threads ring to have an engine look at a QP, CQ or SRQ.  A stack of intrusive entries with many
 * producers and one consumer; an entry is in it once at most, so it cannot be full. */
#ifndef DOOR_H
#define DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bell.h"

enum door_kind { DOOR_QP, DOOR_CQ, DOOR_SRQ, DOOR_POLLED };

struct door {
	struct door *next;
	uint32_t rung;
	uint8_t kind; /* enum door_kind */
};

struct door_stack {
	_Alignas(64) struct door *top;
	const struct iw_bell *bell; /* of the consumer, which may sleep; NULL: it does not */
};

/* Any thread.  What was written before is seen by whoever takes the entry. */
static inline void
door_ring(struct door_stack *s, struct door *d)
{
	if (__atomic_exchange_n(&d->rung, 1, __ATOMIC_ACQ_REL))
		return;
	d->next = __atomic_load_n(&s->top, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&s->top, &d->next, d, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	iw_bell_ring(s->bell);
}

/* The consumer: the whole stack. */
static inline struct door *
door_take(struct door_stack *s)
{
	if (!__atomic_load_n(&s->top, __ATOMIC_RELAXED))
		return NULL;
	return __atomic_exchange_n(&s->top, NULL, __ATOMIC_ACQUIRE);
}

/* The consumer has this entry in hand: from here on it can be rung again.  Returns the one behind it. */
static inline struct door *
door_answer(struct door *d)
{
	struct door *next = d->next;

	__atomic_exchange_n(&d->rung, 0, __ATOMIC_ACQ_REL);
	return next;
}

#endif
