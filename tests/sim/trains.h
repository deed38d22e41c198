/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts with several connections between them, long messages both ways, cut out of every kind of registration and
 * read from there; and what came of them. */
#ifndef TRAINS_H
#define TRAINS_H

#include "sim.h"

#define TRAINS_QPS 3
#define TRAINS_OPS 16u
#define TRAINS_LEN 60000u /* of a message, at most */
#define TRAINS_PIECES 80
#define TRAINS_SOURCE (2u << 20)
#define TRAINS_IOVA UINT64_C(0xfff00000) /* offsets pass 2^32 */
#define TRAINS_UNSAID 1000               /* of requests that nobody hears of */

/* Registrations with the same contents.  The last two of a QP each; WINDOW for peers only. */
enum trains_kind { TRAINS_PLAIN, TRAINS_MAP, TRAINS_LENT, TRAINS_FAST, TRAINS_WINDOW, TRAINS_KINDS };

struct trains_op {
	uint8_t opcode;
	uint32_t off, len; /* in the source */
};

struct trains_end {
	struct iw_qp *qp;
	iw_cm_id id;
	bool up, closed;
	struct iw_mr *fast;
	struct iw_mw *window;
	uint8_t *sink[3]; /* of the peer's Writes, the own Reads, and receives: OPS of LEN octets each */
	struct iw_mr *sink_mr;
	struct trains_op op[TRAINS_OPS];
	uint32_t posted, done, failed, received;
};

struct trains_host {
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_cq *cq;
	uint8_t *memory[4]; /* by kind */
	struct iw_mr *mr[3];
	struct iw_iov fast[TRAINS_PIECES]; /* of memory[TRAINS_FAST] */
	struct trains_end end[TRAINS_QPS];
	iw_cm_id listener;
	uint32_t taken;
};

extern struct trains_host trains_host[2]; /* host 0 has connected */

/* Various ones, by number. */
struct engine_params trains_params(uint64_t i);

/* All connected, all registered. */
struct sim *trains_open(uint64_t seed, const struct engine_params *params, const struct sim_wire *wire, bool crc,
			bool markers);
void trains_close(void);

/* Where and under which STag a host's source stands. */
uint64_t trains_base(const struct trains_host *d, enum trains_kind k);
uint32_t trains_key(const struct trains_host *d, const struct trains_end *e, enum trains_kind k);

/* One drawn request of a host's end. */
void trains_post(int h, int i);
/* Completions of each queue in order; behind what failed nothing succeeds. */
void trains_reap(struct trains_host *d);
/* Has it heard of all its requests? */
bool trains_has_sent(const struct trains_end *e);
/* Is this what the request has taken from host h? */
void trains_check(const uint8_t *p, int h, const struct trains_op *op);
/* All that an end has sent, and what it has read; when the stream has ended in order. */
void trains_check_end(int h, int i);

#endif
