/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a measurement: control connection, data connections, memory. */
#ifndef PEER_H
#define PEER_H

#include <iwarp.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "record.h"

#define PEER_CONTROL_RECVS 4
#define PEER_CONTROL UINT32_MAX /* the number of the control link */

/* A connection. */
struct link {
	struct peer *peer;
	uint32_t number; /* 0..qps-1, or PEER_CONTROL */
	iw_cm_id id;
	struct iw_qp *qp;
	bool up, ended;
	int status;
	/* What goes out in this run (outflow.c). */
	uint64_t posted, done;
	bool waiting, closed;
	/* Since the connection began: messages that used up receives of the other end; what came, and was told. */
	uint64_t sent, reposted, told;
};

struct server;

struct peer {
	const struct options *o;
	struct server *beside; /* on the same lcore: has its turn with each poll of ours; NULL: there is none */
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct link control, *links;
	uint32_t qps, up;                             /* data links; of them up */
	struct iw_cq *control_cq, *send_cq, *recv_cq; /* the latter two: of all data links */
	struct iw_srq *srq;
	bool failed, crc, lost; /* lost: a connection has ended */
	uint8_t control_buf[PEER_CONTROL_RECVS + 1][RECORD_LEN];
	struct iw_mr *control_mr;
	/* out and in: size octets for each QP; credit: 8 octets for each QP */
	uint8_t *mem;
	uint64_t mem_len;
	bool mapped; /* for ports to read without a copy */
	struct iw_mr *mr;
	uint32_t size;
	struct record theirs; /* the other end's last record */
};

bool peer_init(struct peer *p, const struct options *o, struct iw_domain *domain, struct iw_engine *engine);
void peer_fini(struct peer *p);

/* The control link's QP with its receives; the data links' CQs, SRQ and places, as o has them; one of their QPs, with
 * its receives where the verb takes some.  False after an error line. */
bool peer_make_control(struct peer *p);
bool peer_make_links(struct peer *p);
bool peer_make_qp(struct peer *p, struct link *l);

/* Whether the machine has the memory for messages of size octets; says so if not.  A kernel that overcommits would
 * promise more and end this program, or another, once the pages are touched. */
bool peer_memory_fits(const struct options *o, uint32_t size);
/* (Re)makes the memory for messages of size octets. */
bool peer_make_memory(struct peer *p, uint32_t size);
uint8_t *peer_out(const struct peer *p, uint32_t qp);
uint8_t *peer_in(const struct peer *p, uint32_t qp);
uint64_t *peer_credit(const struct peer *p, uint32_t qp);
/* From the start of the other end's `in` to that of QP qp. */
uint64_t peer_offset(const struct peer *p, uint32_t qp);

/* Sends a record with our addresses filled in. */
bool peer_send_record(struct peer *p, struct record *r);
/* Takes one record that came in; false: none yet. */
bool peer_take_record(struct peer *p);

/* A turn of our engine, and of the server beside it; what our engine did, 0: it is idle. */
int peer_poll(struct peer *p);

/* Ends what is still connected and waits for that, a few seconds at most. */
void peer_hang_up(struct peer *p);

/* True while nothing speaks against going on. */
bool peer_alive(const struct peer *p);

/* Everything is lost after this; the line names the reason.  Always false. */
bool peer_fail(struct peer *p, const char *what, int err);
bool peer_fail_wc(struct peer *p, const struct iw_wc *wc);

#endif
