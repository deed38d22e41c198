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
#include "door.h"
#include "list.h"
#include "mr.h"
#include "ring.h"

#define WR_DEPTH_MAX 32768
#define WR_PIECES (IW_MAX_SGE + 1)

/* What a request that changes an STag is about: one of FAST_REG and BIND_MW. */
struct wr_mem {
	struct iw_mr *mr; /* whose STag becomes `stag` */
	struct iw_mr *parent;
	uint64_t addr, len; /* BIND_MW */
	uint32_t stag, parent_stag;
	uint32_t access;
};

struct loan;

struct wr_send {
	uint64_t wr_id;
	uint64_t cq_free; /* the slot is free when the CQ was polled up to here */
	uint64_t remote_addr;
	uint64_t imm;
	uint32_t remote_stag; /* rkey, or the peer's STag to invalidate */
	uint32_t own_stag;    /* ours to invalidate */
	uint32_t length;      /* of all SGEs */
	uint8_t opcode;       /* enum iw_wr_opcode */
	uint8_t flags;        /* enum iw_send_flags */
	uint8_t num_sge;
	bool done;         /* sent (and answered): to be retired when everything before it is */
	uint8_t status;    /* enum iw_wc_status, when done */
	struct loan *loan; /* memory that it was sent from without a copy; NULL: none.  Engine only */
	union {
		struct iw_sge sge[IW_MAX_SGE];
		uint8_t inl[IW_MAX_INLINE];
		struct {
			struct iw_sge word;
			struct iw_atomic atomic;
		};
		struct wr_mem mem;
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
	struct iw_qp *qp;
	uint32_t sent;          /* the next one whose sending ends; engine only */
	const struct iw_mr *mr; /* what was read from last (mr_get_again()); engine only */
	struct door door;
	struct iw_link lends; /* waits for memory of its first request to come back */
	bool gone;            /* the QP was destroyed, and waits for that only */
};

struct srq_user;

/* With an SRQ: holds the one receive that was taken from there and is under way. */
struct wr_rq {
	struct iw_ring ring;
	struct wr_recv *wr;
	struct iw_cq *cq;
	struct srq_user *shared; /* NULL: the QP's own queue */

	/* the stream's unfinished FPDU; engine only */
	struct iw_link partial; /* rdmap's list of such */
	struct iw_qp *qp;
	uint32_t grown, grown_at; /* its octets when it moved last, and then, as the QP's `active` */
};

_Static_assert(sizeof(struct wr_rq) <= 192, "no cache line more for what only some need");

/* How far a message has been cut out of an SGE list. */
struct wr_cursor {
	uint32_t off; /* in that SGE */
	uint8_t sge;
};

/* Memory that was found good.  With a map it may lie in several places: wr_piece_run(). */
struct wr_piece {
	union {
		uint8_t *p;
		uint64_t off; /* in the map */
	};
	uint32_t len;
	const struct mr_map *map;
};

/* Copies and checks one request, inline data included.  0, -IW_E_INVAL (opcode, flags, SGEs, address wraps),
 * -IW_E_TOOBIG (inline data; more than 4 GiB - 1). */
int wr_send_copy(struct wr_send *out, const struct iw_send_wr *wr, bool sig_all);
int wr_recv_copy(struct wr_recv *out, const struct iw_recv_wr *wr);

/* It never had its turn: what it would have changed is free for another request. */
void wr_send_drop(const struct wr_send *wr);

/* The slot for the next post, NULL when the queue is full. */
struct wr_send *wr_sq_slot(struct wr_sq *sq);
struct wr_recv *wr_rq_slot(struct wr_rq *rq);

/* The next len octets of an SGE list as pieces of memory, each checked for `access`; moves the cursor.  Fails
 * (not MR_OK) with the first SGE that does not grant it.  The list must hold len octets from the cursor on. */
enum mr_verdict wr_cut(const struct mr_user *user, const struct iw_sge *sge, uint32_t num_sge, struct wr_cursor *cur,
		       uint32_t len, uint32_t access, struct wr_piece *pieces, uint32_t *n_pieces);

/* ---- inline ---- */

/* What mr grants of len octets at addr, as mr_get() has found it. */
static inline struct wr_piece
wr_piece_of(const struct iw_mr *mr, uint64_t addr, uint32_t len)
{
	const struct iw_mr *m = mr->kind == MR_WINDOW ? mr->parent : mr;

	if (!m->map)
		return (struct wr_piece){.p = (uint8_t *)(uintptr_t)addr, .len = len};
	return (struct wr_piece){.off = addr - m->addr, .len = len, .map = m->map};
}

/* The place of the octet at `at` of a piece; *len is cut to what follows it there. */
static inline uint8_t *
wr_piece_run(const struct wr_piece *piece, uint32_t at, uint32_t *len)
{
	return piece->map ? mr_map_run(piece->map, piece->off + at, len) : piece->p + at;
}

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
