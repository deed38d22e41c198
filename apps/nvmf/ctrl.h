/* SPDX-License-Identifier: BSD-3-Clause */
/* Controllers: one for each association of a host with a subsystem; made by Connect on an admin queue. */
#ifndef CTRL_H
#define CTRL_H

#include "request.h"

#define CTRL_MAX 256
#define CTRL_IO_QUEUES 64
#define CTRL_AERS 4
#define CTRL_QUEUE_SIZE 256 /* entries of a queue at most */

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
	uint32_t cc, csts;
	uint64_t kato_ns;   /* 0: no keep-alive */
	uint64_t last_seen; /* when a command came last */
	uint64_t dead_at;   /* dying: when its queues are closed by force; 0: not known yet */
	uint32_t aen_config;
	bool write_through;     /* the host disabled the volatile write cache */
	uint16_t num_io_queues; /* granted */
	uint16_t open_queues;
	struct queue *queue[CTRL_IO_QUEUES + 1]; /* by qid; 0: admin */
	struct request *aer[CTRL_AERS];
	int num_aers;
	/* for the health log, in units and commands */
	uint64_t blocks_read, blocks_written, reads, writes;
};

struct ctrls {
	struct ctrl ctrl[CTRL_MAX];
	uint32_t next; /* where the search for a free one starts, so that numbers are reused late */
	uint32_t used;
	uint32_t changes; /* counts what came and went */
};

/* A controller without queues; NULL when all are in use. */
struct ctrl *ctrl_new(struct ctrls *all, struct subsys *subsys, const struct connect_data *d, uint32_t kato_ms,
		      uint64_t now_ns);
/* By number; NULL when there is none. */
struct ctrl *ctrl_find(struct ctrls *all, uint16_t cntlid);

/* The queue joins or leaves; a controller whose admin queue has left dies, and one without queues is free. */
void ctrl_attach(struct ctrl *c, struct queue *q);
void ctrl_detach(struct ctrls *all, struct queue *q);

/* Ends it: every queue of it is marked to be hung up. */
void ctrl_kill(struct ctrl *c, enum hang_up how);
/* Kills every controller whose host was silent for longer than its keep-alive timeout, and closes by force what a dying
 * one still has open after a while. */
void ctrl_expire(struct ctrls *all, uint64_t now_ns);

/* Property Get and Set: false when there is no such property of that size (4 or 8 octets). */
bool ctrl_prop_get(const struct ctrl *c, uint32_t offset, int size, uint64_t *value);
bool ctrl_prop_set(struct ctrl *c, uint32_t offset, int size, uint64_t value);

/* Between the host's request to shut down and ctrl_shut_down(). */
bool ctrl_shutting_down(const struct ctrl *c);
void ctrl_shut_down(struct ctrl *c);

static inline bool
ctrl_ready(const struct ctrl *c)
{
	return (c->csts & CSTS_RDY) != 0;
}

#endif
