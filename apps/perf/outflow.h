/* SPDX-License-Identifier: BSD-3-Clause */
/* What an end sends in a bandwidth run: tx_depth requests under way on each QP, and behind the last one a zero-length
 * Read, so that everything has arrived when it is back.  Nothing here is done for a QP that has nothing to do. */
#ifndef OUTFLOW_H
#define OUTFLOW_H

#include "peer.h"

struct outflow {
	struct peer *p;
	uint32_t size;
	bool stopped;
	uint64_t target;       /* of each QP */
	uint64_t posted, done; /* of all; done as far as completions tell */
	double per_ns;         /* messages, of all; 0: as fast as it goes */
	uint64_t start_ns, allowed;
	uint32_t closed;       /* QPs whose zero-length Read is back */
	struct link **waiting; /* those that can post more than they may, or have not begun */
	uint32_t n_waiting;
	struct iw_sge sge;
	struct iw_send_wr wr[PERF_MAX_LIST];
};

/* target: requests of each QP; UINT64_MAX: until outflow_stop().  False: no memory. */
bool outflow_begin(struct outflow *f, struct peer *p, uint32_t size, uint64_t target);
/* Takes completions, posts; false after an error line. */
bool outflow_turn(struct outflow *f);
/* No further requests but the last Reads. */
void outflow_stop(struct outflow *f);
bool outflow_is_over(const struct outflow *f);
void outflow_end(struct outflow *f);

/* What is the same in all requests of a run; their data stands at sge. */
struct iw_send_wr outflow_request(const struct peer *p, const struct iw_sge *sge);
/* A CMP_SWAP is to find what the one before it on its QP left: so the counter tells how many there were.  before: on
 * this QP, in this run.  Other requests stay as they are. */
void outflow_number(struct iw_send_wr *wr, uint64_t before);

#endif
