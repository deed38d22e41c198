/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of a host, and what the target has on the engine where it arrived.  The engine's thread owns both; what other
 * threads may touch is said to be atomic. */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "bufs.h"

struct ctrl;

#define SHARD_MAX 64 /* engines */

struct shard {
	uint32_t number; /* of the engine */
	struct bufs bufs;
	uint64_t now_ns; /* of this turn */
	bool mind;       /* atomic: a connection is to be hung up, or has ended */
};

/* Any thread: the engine looks at its connections in its next turn.  Release: what was said before is seen then. */
static inline void
shard_mind(struct shard *s)
{
	__atomic_store_n(&s->mind, true, __ATOMIC_RELEASE);
}

enum hang_up { HANG_NOT, HANG_UP, HANG_UP_AT_ONCE };

/* For the health log, in commands and in units of 512 octets; atomic, counted by the queue's engine alone. */
struct queue_counts {
	uint64_t reads, writes, blocks_read, blocks_written;
};

/* As the controller sees it: a part of a connection. */
struct queue {
	struct shard *shard;
	struct ctrl *ctrl;    /* NULL before Fabrics Connect */
	uint16_t qid;         /* from the private data of the connection */
	uint16_t size;        /* entries, from the same */
	uint16_t sq_head;     /* of the next response */
	char traddr[64];      /* ours, as this host reached it: for the discovery log */
	uint8_t adrfam;       /* 1: IPv4, 2: IPv6 */
	bool no_flow_ctl;     /* the host disabled submission queue flow control */
	enum hang_up hang_up; /* atomic: the connection is to be closed, once the responses are out or at once */
	bool draining;        /* the connection has gone, and a disk still has commands of it */
	struct queue_counts counts;
};

static inline enum hang_up
queue_hung_up(const struct queue *q)
{
	return __atomic_load_n(&q->hang_up, __ATOMIC_RELAXED);
}

/* Any thread, as long as the queue cannot go meanwhile: its connection is to be closed; force stays.  The engine acts
 * in its next turn. */
static inline void
queue_hang_up(struct queue *q, enum hang_up how)
{
	enum hang_up was = queue_hung_up(q);

	while (was < how &&
	       !__atomic_compare_exchange_n(&q->hang_up, &was, how, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		; /* it only rises: twice at most */
	shard_mind(q->shard);
}

/* The queue's engine; others load them one by one. */
static inline void
queue_count(uint64_t *n, uint64_t by)
{
	__atomic_store_n(n, *n + by, __ATOMIC_RELAXED);
}

#endif
