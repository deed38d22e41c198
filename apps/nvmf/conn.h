/* SPDX-License-Identifier: BSD-3-Clause */
/* One queue of a host is one iWARP connection with a QP of its own, from the accept to the end. */
#ifndef CONN_H
#define CONN_H

#include <iwarp.h>
#include <rte_common.h>

#include "exec.h"

struct conn;

/* What the connections on one engine share. */
struct host_side {
	struct shard shard;
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_mr *bufs_mr;
	struct iw_cq *cq; /* of all connections: one that is idle costs a turn nothing */
	uint32_t cq_depth, cq_used;
	struct target *target;
	struct conn *conns;          /* all of them */
	int num_conns;               /* atomic */
	struct request_list no_bufs; /* requests that wait for buffers, of all of them */
	uint32_t on_disk;            /* requests that a disk has, of all of them */
	uint64_t minded;             /* how often one was looked at for that */
	uint64_t host_timeout_ns;    /* how long a host may leave what it owes */
	iw_cm_id listener;
	uint64_t next_expiry;
	bool no_crc; /* do not ask for the MPA CRC */
} __rte_cache_aligned;

/* Makes what the connections share of it; shard, engine, pd, bufs_mr and target are set.  False: no memory. */
bool conn_open_side(struct host_side *side);
/* No connection may be left. */
void conn_close_side(struct host_side *side);

/* The handler of the listener (context: the host_side) and of what comes in by it.  A connect request is accepted with
 * a queue of its own, or rejected with the status that the RDMA binding has for the reason. */
int conn_event(iw_cm_id id, const struct iw_cm_event *event, void *context);

/* One turn: completions, requests that waited for buffers, then hang-ups and ends if there is any.  Returns the work
 * done. */
int conn_poll(struct host_side *side);

/* Looks at every connection: now and then, for hosts that owe something for too long. */
void conn_mind_all(struct host_side *side);

/* A request whose disk part is done goes on. */
void conn_resume(struct host_side *side, struct request *req);

/* Hangs up on every host, gracefully or at once; conn_idle(), which any thread may ask, says when the last has gone. */
void conn_close_all(struct host_side *side, bool at_once);
bool conn_idle(const struct host_side *side);

#endif
