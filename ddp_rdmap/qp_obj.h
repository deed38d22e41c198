/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue pair: what one stream's two directions and its user share. */
#ifndef QP_OBJ_H
#define QP_OBJ_H

#include <iwarp/err.h>
#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddp_queue.h"
#include "door.h"
#include "list.h"
#include "mr.h"
#include "qp_fsm.h"
#include "rdmap_hdr.h"
#include "rdmap_ops.h"
#include "wheel.h"
#include "wr.h"

/* A Read or atomic of ours that awaits its answer: the ORQ is a ring of these, in the order of the requests. */
struct qp_read {
	uint64_t sink_to;
	uint32_t sink_stag;
	uint32_t pos; /* of its work request in the SQ */
	uint32_t len, done;
	struct wr_cursor cur;
	bool hidden; /* the RTR of RFC 6581: no work request */
	bool atomic;
};

/* A Read or atomic of the peer that awaits our answer: the IRRQ. */
struct qp_answer {
	struct ddp_hdr ddp; /* of the request, for a Terminate */
	uint16_t ulpdu_len;
	union {
		struct rdmap_read_req req; /* what is still to be sent: moved on with each segment */
		struct rdmap_atomic_req atomic;
	};
};

/* Positions of a ring of one thread; both count up. */
struct qp_fifo {
	uint16_t head, tail, mask;
};

enum qp_tx_kind { QP_TX_NONE, QP_TX_SQ, QP_TX_ANSWER };

/* Sending: the message under way. */
struct qp_tx {
	uint8_t kind;      /* enum qp_tx_kind: under way; NONE: between messages */
	uint8_t last_kind; /* of the message before: SQ and answers take turns */
	bool rtr_due;      /* the initiator's first FPDU has still to be sent */
	bool nudge_due;
	bool imm_due;  /* the Write of a Write with Immediate Data is out */
	uint32_t done; /* octets of it that were filled */
	struct wr_cursor cur;
	uint32_t send_msn, read_msn, atomic_msn; /* of the next message on QN 0, 1, 3 */
};

/* What the user may hear of once (enum iw_async_type): waiting, and ever raised. */
struct qp_async {
	uint8_t waits, raised;
};

#define QP_NUDGES_OVER UINT8_MAX /* no nudges any more */
#define QP_ACTIVE(now_ns) ((uint32_t)((now_ns) >> 20))
#define QP_MAGIC 0x51507c01u

#define QP_RX_LINES 2

/* One of a million: what only some need, and what the user sizes, stands behind `sq` and `rq`. */
struct iw_qp {
	/* two cache lines: what each segment that comes in looks at, but Reads */
	struct mr_user user;
	struct rdmap *rdmap;
	struct wr_sq *sq; /* the beginning of the memory of all queues; NULL: destroyed */
	struct wr_rq *rq;
	uint64_t fpdu_at, wait_at; /* deadlines; IW_NEVER: none */
	/* fixed for a stream, or for ever */
	uint32_t magic;
	struct qp_fsm fsm;
	uint8_t pub_state; /* enum iw_qp_state; read by posting threads, as the next two */
	uint8_t may_post_send, may_post_recv;
	bool sig_all, foreign; /* read by posting threads */
	bool crc : 1, initiator : 1, tx_markers : 1, rx_markers : 1, back_pressure : 1;
	uint8_t rtr;       /* enum qp_rtr */
	uint8_t ird, ord;  /* <= IW_MAX_IRD */
	uint16_t rx_small; /* of rx_fpdus, what costs more than it brings (S16), as rx_split; both saturate */

	/* receiving */
	uint8_t tagged_open; /* 1 + opcode of the tagged message that awaits its last segment */
	bool rx_waits;       /* for a receive to be posted (back-pressure); read by posting threads */
	bool rx_partial : 1; /* octets of an unfinished FPDU were seen */
	bool wait_over : 1;  /* rx_waits was too long: it ends the stream */
	bool rx_begun : 1;   /* the peer's first FPDU has come */
	bool woken : 1;      /* something was sent since the last burst or nudge */
	uint8_t nudges;
	uint16_t rx_gap, tx_gap; /* octets before the next marker, each way */
	uint32_t rx_fpdus;       /* saturates at 2^32-1 */
	struct wr_cursor recv_cur;
	uint32_t active; /* when its stream began, or an FPDU came or went last: in units of 2^20 ns */
	struct ddp_queue queue[RDMAP_QN_MAX];

	struct qp_fifo reads_pos, answers_pos;
	uint32_t recv_wait_ms; /* back-pressure: how long; 0: the default */
	struct qp_read *reads;
	struct qp_answer *answers;
	struct qp_tx tx;

	/* lists and time */
	struct iw_link run, out;
	struct iw_timer timer;
	uint64_t burst_at; /* first fill; IW_NEVER: none yet */
	uint32_t out_bits;
	struct qp_async async;

	/* how it ended */
	uint8_t sq_status, rq_status; /* enum iw_wc_status of the request at fault: sq_status_pos, the RQ's first */
	uint32_t sq_status_pos;
	struct iw_terminate term;
	uint8_t term_len; /* what the peer is to be told */
	uint8_t term_out[RDMAP_HDR_TERM_MAX];

	uint32_t handle, conn, owner;
	uint8_t max_ird, max_ord; /* <= IW_MAX_IRD */
	uint16_t rx_split;        /* see rx_small */
	void *context;
};

_Static_assert(sizeof(struct iw_qp) <= 384, "part of the budget of an idle connection");
_Static_assert(offsetof(struct iw_qp, queue[RDMAP_QN_SEND + 1]) <= QP_RX_LINES * 64, "what comes in finds it in there");

/* 0, or what is wrong with a QP that a user names. */
static inline int
qp_named(const struct iw_qp *qp)
{
	if (!qp)
		return -IW_E_INVAL;
	return __atomic_load_n(&qp->magic, __ATOMIC_ACQUIRE) == QP_MAGIC ? 0 : -IW_E_STALE;
}

static inline uint16_t
qp_fifo_count(const struct qp_fifo *f)
{
	return (uint16_t)(f->head - f->tail);
}

static inline struct qp_read *
qp_read_first(const struct iw_qp *qp)
{
	return &qp->reads[qp->reads_pos.tail & qp->reads_pos.mask];
}

static inline struct qp_answer *
qp_answer_first(const struct iw_qp *qp)
{
	return &qp->answers[qp->answers_pos.tail & qp->answers_pos.mask];
}

/* The first len octets of what is left of a Read's answer have been filled. */
static inline void
qp_answer_advance(struct qp_answer *answer, uint32_t len)
{
	answer->req.size -= len;
	answer->req.sink_to += len;
	answer->req.src_to += len;
}

#endif
