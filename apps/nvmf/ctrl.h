/* SPDX-License-Identifier: BSD-3-Clause */
/* Controllers: one for each association of a host with a subsystem; made by Connect on an admin queue. */
#ifndef CTRL_H
#define CTRL_H

#include <rte_spinlock.h>

#include "request.h"

#define CTRL_MAX 256
#define CTRL_IO_QUEUES 64
#define CTRL_AERS 4
#define CTRL_QUEUE_SIZE 256 /* entries of a queue at most */
#define CTRL_KATO_MS 100u   /* a keep-alive timeout is rounded up to a multiple of that (KAS) */

/* Properties (registers) that NVMe over Fabrics has. */
enum { PROP_CAP = 0x00, PROP_VS = 0x08, PROP_CC = 0x14, PROP_CSTS = 0x1c, PROP_NSSR = 0x20 };
#define CSTS_RDY 1u
#define CSTS_CFS 2u
#define CSTS_SHST (3u << 2) /* shutdown status */
#define CSTS_SHST_OCCURRING (1u << 2)
#define CSTS_SHST_DONE (2u << 2)

struct ctrl {
	bool used;
	bool dying;   /* its queues are being closed */
	bool expired; /* because its host was silent for too long */
	uint16_t cntlid;
	struct subsys *subsys; /* NULL: the discovery subsystem */
	uint8_t hostid[16];
	char hostnqn[CAPSULE_NQN];
	uint32_t cc, csts;  /* csts: atomic */
	uint32_t owner;     /* the engine of its admin queue */
	uint64_t kato_ns;   /* 0: no keep-alive */
	uint64_t last_seen; /* atomic: when a command came last, give or take CTRL_SEEN_NS */
	uint64_t dead_at;   /* dying: when its queues are closed by force; 0: not known yet */
	uint32_t aen_config;
	bool write_through;     /* atomic: the host disabled the volatile write cache */
	uint16_t num_io_queues; /* granted */
	uint16_t open_queues;
	struct queue *queue[CTRL_IO_QUEUES + 1]; /* by qid; 0: admin */
	struct request *aer[CTRL_AERS];
	int num_aers;
	struct queue_counts counts; /* of queues that have left */
};

/* Queues of one controller may be on several engines.  Under the lock: which controllers there are, which queues each
 * has, how many it may have, which of them are draining.  The rest is the engine's that has the admin queue, but for
 * what is atomic; its number, its subsystem and its host stay as they are while a queue is attached. */
struct ctrls {
	rte_spinlock_t lock;
	struct ctrl ctrl[CTRL_MAX];
	uint32_t next; /* where the search for a free one starts, so that numbers are reused late */
	uint32_t used;
	uint32_t changes; /* atomic: counts what came and went */
};

/* A controller with this admin queue.  NULL: all are in use, or a disk still has commands of that host that came by an
 * earlier association.  They would change blocks behind the back of the next one, whose commands are to come after. */
struct ctrl *ctrl_new(struct ctrls *all, struct subsys *subsys, const struct connect_data *d, uint32_t kato_ms,
		      struct queue *admin);

/* An I/O queue joins the controller that d names, from whichever engine. */
enum ctrl_joined {
	CTRL_JOINED,
	CTRL_NOT_YOURS, /* there is none of that number, or it is of another host or subsystem */
	CTRL_NO_QUEUE,  /* it was granted fewer queues, or is a discovery controller */
	CTRL_NOT_NOW    /* it is not enabled, or has that queue already */
};
enum ctrl_joined ctrl_join(struct ctrls *all, const struct subsys *s, const struct connect_data *d, struct queue *q);
/* The connection of a queue has gone; ctrl_detach() follows when no disk has anything of it. */
void ctrl_drain(struct ctrls *all, struct queue *q);
/* A queue leaves; a controller whose admin queue has left dies, and one without queues is free. */
void ctrl_detach(struct ctrls *all, struct queue *q);

/* So many I/O queues may join; false: some have already. */
bool ctrl_grant(struct ctrls *all, struct ctrl *c, uint16_t num_io_queues);

/* Ends it: every queue of it is to be hung up. */
void ctrl_kill(struct ctrls *all, struct ctrl *c, enum hang_up how);
/* Of the controllers whose admin queue is on this engine: kills each whose host was silent for longer than its
 * keep-alive timeout, and closes by force what a dying one still has open after a while. */
void ctrl_expire(struct ctrls *all, const struct shard *shard);

/* The keep-alive timeout; 0: none. */
void ctrl_set_kato(struct ctrl *c, uint32_t ms);

/* What its queues have counted so far. */
struct queue_counts ctrl_counts(struct ctrls *all, const struct ctrl *c);
/* A command has come, by any of its queues. Most find that written already: a line that each engine wrote for each
 * command would go back and forth between them. */
#define CTRL_SEEN_NS UINT64_C(1000000)
static inline void
ctrl_saw(struct ctrl *c, uint64_t now_ns)
{
	if (now_ns > __atomic_load_n(&c->last_seen, __ATOMIC_RELAXED) + CTRL_SEEN_NS)
		__atomic_store_n(&c->last_seen, now_ns, __ATOMIC_RELAXED);
}

/* The host has disabled it: a controller level reset (base 1.4 §7.3.2).  Its I/O queues are hung up on, its features
 * are as at first.  Returns the event requests it held, a list: they are the caller's to answer. */
struct request *ctrl_reset(struct ctrls *all, struct ctrl *c);

/* Property Get and Set: false when there is no such property of that size (4 or 8 octets).  CSTS.RDY falls when the
 * last I/O queue of a controller that was disabled has gone: then its host may start anew. */
bool ctrl_prop_get(struct ctrls *all, const struct ctrl *c, uint32_t offset, int size, uint64_t *value);
bool ctrl_prop_set(struct ctrl *c, uint32_t offset, int size, uint64_t value);

bool ctrl_enabled(const struct ctrl *c);
/* Between the host's request to shut down and ctrl_shut_down(). */
bool ctrl_shutting_down(const struct ctrl *c);
void ctrl_shut_down(struct ctrl *c);

static inline bool
ctrl_ready(const struct ctrl *c)
{
	return (__atomic_load_n(&c->csts, __ATOMIC_ACQUIRE) & CSTS_RDY) != 0;
}

#endif
