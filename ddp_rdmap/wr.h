/* SPDX-License-Identifier: BSD-3-Clause */
/* Work requests as kept in a queue: copied at the post, SGEs and inline data included.  The send queue has three
 * indices: posted (ring head), sent, retired (ring tail): a Write behind an outstanding Read is sent but not
 * retired (design D6).  A slot can be posted to again when the completion it made was polled. */
#ifndef WR_H
#define WR_H

#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "cq.h"
#include "mr.h"
#include "ring.h"

#define WR_DEPTH_MAX 32768
#define WR_PIECES (IW_MAX_SGE + 1)

struct wr_send {
	uint64_t wr_id;
	uint64_t cq_free; /* the slot is free when the CQ was polled up to here */
	uint64_t remote_addr;
	uint32_t remote_stag; /* rkey, or the STag to invalidate */
	uint32_t length;      /* of all SGEs */
	uint8_t opcode;       /* enum iw_wr_opcode */
	uint8_t flags;        /* enum iw_send_flags */
	uint8_t num_sge;
	bool done; /* sent (and answered): to be retired when everything before it is */
	union {
		struct iw_sge sge[IW_MAX_SGE];
		uint8_t inl[IW_MAX_INLINE];
	};
};

struct wr_recv {
	uint64_t wr_id;
	uint64_t cq_free;
	uint32_t length;
	uint8_t num_sge;
	struct iw_sge sge[IW_MAX_SGE];
};

struct wr_sq {
	struct iw_ring ring;
	struct wr_send *wr;
	struct iw_cq *cq;
	uint32_t sent; /* the next one whose sending ends; engine only */
};

struct wr_rq {
	struct iw_ring ring;
	struct wr_recv *wr;
	struct iw_cq *cq;
};

/* How far a message has been cut out of an SGE list. */
struct wr_cursor {
	uint32_t off; /* in that SGE */
	uint8_t sge;
};

struct wr_piece {
	uint8_t *p;
	uint32_t len;
};

/* Copies and checks one request, inline data included.  0, -IW_E_INVAL (opcode, flags, SGEs, address wraps),
 * -IW_E_TOOBIG (inline data; more than 4 GiB - 1). */
int wr_send_copy(struct wr_send *out, const struct iw_send_wr *wr, bool sig_all);
int wr_recv_copy(struct wr_recv *out, const struct iw_recv_wr *wr);

/* The slot for the next post, NULL when the queue is full. */
struct wr_send *wr_sq_slot(struct wr_sq *sq);
struct wr_recv *wr_rq_slot(struct wr_rq *rq);

/* The next len octets of an SGE list as pieces of memory, each checked for `access`; moves the cursor.  Fails
 * (not MR_OK) with the first SGE that does not grant it.  The list must hold len octets from the cursor on. */
enum mr_verdict wr_cut(const struct mr_user *user, const struct iw_sge *sge, uint32_t num_sge, struct wr_cursor *cur,
		       uint32_t len, uint32_t access, struct wr_piece *pieces, uint32_t *n_pieces);

/* ---- inline ---- */

static inline struct wr_send *
wr_sq_at(const struct wr_sq *sq, uint32_t pos)
{
	return &sq->wr[iw_ring_slot(&sq->ring, pos)];
}

static inline struct wr_recv *
wr_rq_at(const struct wr_rq *rq, uint32_t pos)
{
	return &rq->wr[iw_ring_slot(&rq->ring, pos)];
}

/* Posted and not wholly sent. */
static inline bool
wr_sq_has_unsent(const struct wr_sq *sq)
{
	return __atomic_load_n(&sq->ring.head, __ATOMIC_ACQUIRE) != sq->sent;
}

#endif
