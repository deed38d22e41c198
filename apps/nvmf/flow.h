/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a command through a connection, and of its data:
 *
 *     capsule in -> (RDMA Read of the data) -> exec -> (RDMA Write of the data) -> Send of the response
 *
 * conn.c makes and ends connections; here is what they do in between. */
#ifndef FLOW_H
#define FLOW_H

#include "conn.h"

/* RDMA Reads of a connection under way at once, if its host answers so many (IRD).  More wait here, not in the send
 * queue, where they would hold up responses. */
#define FLOW_READS IW_MAX_IRD

struct conn {
	struct queue q;
	struct host_side *side;
	struct conn *next, **back;
	iw_cm_id id;
	struct iw_qp *qp;
	struct iw_mr *mr;
	uint8_t *capsules;
	size_t capsules_len;
	uint32_t capsule_len, depth;
	struct request *requests;
	struct request_list no_read; /* wait until a Read is done */
	uint32_t reads, max_reads;   /* RDMA Reads under way, and how many may be */
	uint32_t posted;             /* work requests whose completion is still to come */
	uint32_t owed;               /* those of them that need the host: Reads it answers, Sends it takes */
	uint64_t owed_ns;            /* since when nothing of that was done */
	uint32_t on_disk;            /* requests that a disk has */
	uint64_t since_ns;           /* when it was accepted */
	bool open;                   /* CLOSE has not come */
	enum hang_up hung_up;        /* how far disconnect was called */
};

/* Posts the receive for each request; false when one cannot be posted. */
bool flow_start(struct conn *c);
/* Completions of all connections that are there now; their number. */
int flow_poll(struct host_side *side);
/* Requests that waited for buffers, of any connection, in the order in which they came. */
void flow_retry(struct host_side *side);
/* The connection has gone: none of its requests is waited for any more. */
void flow_stop(struct conn *c);
/* Gives the buffers of all requests back; nothing may be under way. */
void flow_release(struct conn *c);

#endif
