/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that serves whoever comes: it listens, gives each connection a QP and receives, and has memory of every kind
 * of right, with secrets around it.  Or it connects.  For tests with peers made by hand. */
#ifndef VICTIM_H
#define VICTIM_H

#include "sim.h"

#define VICTIM_CONNS 64
#define VICTIM_MR 4096      /* octets of each registration */
#define VICTIM_RECV 2048    /* octets of each receive */
#define VICTIM_RECVS_MAX 32 /* of all connections */
#define VICTIM_PORT 4792

enum victim_right { VICTIM_RW, VICTIM_RO, VICTIM_WO, VICTIM_RIGHTS };

struct victim_conn {
	iw_cm_id id;
	struct iw_qp *qp;
	bool up, closed;
	int status; /* of CONNECT_REPLY or CLOSE */
	uint32_t events;
	struct iw_cm_event last, request;
	uint8_t private_data[IW_MAX_PRIVATE];
};

struct victim {
	struct sim *sim;
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_cq *cq;
	iw_cm_id listener;
	struct victim_conn conn[VICTIM_CONNS];
	uint32_t conns, events;
	uint8_t *memory;
	struct iw_mr *mr[VICTIM_RIGHTS], *recv_mr;
	uint32_t recvs, recvs_used; /* posted to each QP; of all */
	struct iw_qp_attr qp_attr;
	struct iw_cm_attr attr;
	struct iw_pd *next_pd; /* of the next connections; NULL: its own */
	bool reject;
	const struct iw_addr *only; /* whoever comes from elsewhere is rejected; NULL: nobody is */
	uint32_t quota;             /* and who has so many connections already; 0: any number */
	uint32_t received, flushed; /* completions */
};

/* On host `host`.  Set attributes between init and listen. */
void victim_init(struct victim *v, struct sim *sim, uint32_t host);
void victim_listen(struct victim *v);
/* Connects to a host; the connection's number. */
uint32_t victim_connect(struct victim *v, uint32_t host, uint16_t port);
/* Destroys all that it has made. */
void victim_fini(struct victim *v);
/* The end of a test: the victim, then its simulator, which lies on the heap, when TIME_WAIT is over, too. */
void victim_close(struct victim *v);
/* Takes its completions. */
void victim_reap(struct victim *v);

/* Where a registration begins. */
uint8_t *victim_at(const struct victim *v, enum victim_right right);
/* Is the registration as victim_init() has left it?  Each octet is a function of its place. */
bool victim_untouched(const struct victim *v, enum victim_right right);

#endif
