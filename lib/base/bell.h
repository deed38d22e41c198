/* SPDX-License-Identifier: BSD-3-Clause */
/* Wakes a thread that sleeps: whoever has left something for it rings.  While nobody sleeps that is a fence and a load.
 */
#ifndef BELL_H
#define BELL_H

#include <stdbool.h>
#include <stdint.h>

struct iw_bell {
	uint32_t asleep;
	int fd;
	void (*notify)(int fd); /* makes fd readable */
};

/* Any thread, behind what it has left.  NULL: there is nobody to wake. */
static inline void
iw_bell_ring(const struct iw_bell *b)
{
	if (!b)
		return;
	/* Either this load sees that it sleeps, or it sees what was left when it looks for the last time. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&b->asleep, __ATOMIC_RELAXED))
		b->notify(b->fd);
}

/* The thread itself: about to sleep, it looks once more afterwards; or awake again. */
static inline void
iw_bell_set(struct iw_bell *b, bool asleep)
{
	__atomic_store_n(&b->asleep, asleep, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
