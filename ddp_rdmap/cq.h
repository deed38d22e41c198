/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: a ring with one producer (the engine) and one consumer (whoever polls).  It cannot overflow: QPs
 * reserve room for their queues when they attach, and a work request's slot is free for the next post only when
 * its completion was polled (wr.h; RFC 5042 §6.4.3.2). */
#ifndef CQ_H
#define CQ_H

#include <iwarp/err.h>
#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "door.h"
#include "list.h"

enum cq_arm { CQ_DISARMED, CQ_ARMED_SOLICITED, CQ_ARMED };

#define CQ_MAGIC 0x43515103u

/* Poller and engine have a cache line each. */
struct iw_cq { /* NOLINT(clang-analyzer-optin.performance.Padding) */
	struct iw_wc *ring;
	uint64_t mask;
	struct rdmap *rdmap;
	iw_cq_handler handler;
	void *context;
	uint32_t magic;
	int fd; /* eventfd; -1: none */
	uint32_t handle;
	uint32_t users;    /* QPs, once for each direction, and SRQs */
	uint64_t reserved; /* entries for QPs that are attached */
	uint64_t left;     /* entries for QPs that have detached, until everything before left_at was polled */
	uint64_t left_at;
	struct iw_link notify; /* in rdmap's list: fired, handler not called yet */
	struct door door;
	bool limited;         /* a QP may have no more than so many of an SRQ's receives here that were not polled */
	struct iw_list held;  /* QPs that wait for a poll for this reason (struct srq_user) */
	uint32_t poll_wanted; /* there are some; whoever polls takes it back and rings `polled` */
	struct door polled;
	uint32_t armed;             /* enum cq_arm; poller sets, the engine takes it back when it fires */
	_Alignas(64) uint64_t head; /* engine: the next to be written */
	uint64_t tail_seen;         /* engine: not all that was read, perhaps */
	uint64_t urgent;            /* engine: behind the last one that is solicited or an error */
	_Alignas(64) uint64_t tail; /* poller: the next to be read */
};

/* Gives it another ring; contract of iw_cq_resize(). */
int cq_resize(struct iw_cq *cq, uint32_t depth);

/* Entries for another QP's queue of n; -IW_E_NOMEM: the CQ is too short. */
int cq_attach(struct iw_cq *cq, uint32_t n);
void cq_detach(struct iw_cq *cq, uint32_t n);

/* Adds a completion, fires the handler if it is armed for this one.  Returns its position. */
uint64_t cq_push(struct iw_cq *cq, const struct iw_wc *wc);

/* Something in `held` waits for the next poll.  It may have come already: look again afterwards. */
void cq_want_poll(struct iw_cq *cq);

/* Fires when it is armed for something that was not polled; also for its doorbell: who arms it rings, and completions
 * may have come before the engine knew. */
void cq_fire(struct iw_cq *cq);

/* ---- inline ---- */

/* 0, or what is wrong with a CQ that a user names. */
static inline int
cq_named(const struct iw_cq *cq)
{
	if (!cq)
		return -IW_E_INVAL;
	return __atomic_load_n(&cq->magic, __ATOMIC_ACQUIRE) == CQ_MAGIC ? 0 : -IW_E_STALE;
}

/* The completion at this position was polled. */
static inline bool
cq_is_polled(const struct iw_cq *cq, uint64_t pos)
{
	return __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE) > pos;
}

#endif
