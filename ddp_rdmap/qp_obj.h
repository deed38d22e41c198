/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue pair: what one stream's two directions and its user share. */
#ifndef QP_OBJ_H
#define QP_OBJ_H

#include <iwarp/verbs.h>
#include <stdbool.h>
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

/* A Read of ours that awaits its Response: the ORQ is a ring of these, in the order of the requests. */
struct qp_read {
	uint64_t sink_to;
	uint32_t sink_stag;
	uint32_t pos; /* of its work request in the SQ */
	uint32_t len, done;
	struct wr_cursor cur;
	bool hidden; /* the RTR of RFC 6581: no work request */
};

/* A Read of the peer that awaits our Response: the IRRQ. */
struct qp_answer {
	struct ddp_hdr ddp; /* of the request, for a Terminate */
	uint16_t ulpdu_len;
	struct rdmap_read_req req; /* what is still to be sent: moved on with each segment */
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
	uint32_t done; /* octets of it that were filled */
	struct wr_cursor cur;
	uint32_t send_msn, read_msn; /* of the next message */
};

struct iw_qp {
	/* fixed for a stream, or for ever */
	struct mr_user user;
	struct rdmap *rdmap;
	struct qp_fsm fsm;
	bool crc, initiator, tx_markers, rx_markers;
	bool sig_all, foreign, back_pressure;
	uint8_t rtr; /* enum qp_rtr */
	uint16_t ird, ord;
	uint8_t pub_state; /* enum iw_qp_state; read by posting threads, as the next two */
	uint8_t may_post_send, may_post_recv;

	/* receiving */
	uint8_t tagged_open;     /* 1 + opcode of the tagged message that awaits its last segment */
	bool rx_partial;         /* octets of an unfinished FPDU were seen */
	uint16_t rx_gap, tx_gap; /* octets before the next marker, each way */
	bool rx_waits;           /* for a receive to be posted (back-pressure) */
	bool wait_over;          /* that was too long: it ends the stream */
	bool rx_begun;           /* the peer's first FPDU has come */
	uint32_t rx_fpdus;       /* saturates at 2^32-1 */
	struct wr_cursor recv_cur;
	struct ddp_queue queue[RDMAP_QN_MAX];
	struct qp_read *reads;
	struct qp_answer *answers;
	struct qp_fifo reads_pos, answers_pos;

	struct qp_tx tx;

	/* how it ended */
	uint8_t sq_status, rq_status; /* enum iw_wc_status of the request at fault: sq_status_pos, the RQ's first */
	uint32_t sq_status_pos;
	struct iw_terminate term;
	struct rdmap_term term_out; /* what the peer is to be told */

	/* lists and time */
	struct iw_link run, out;
	uint32_t out_bits;
	struct door door;
	struct iw_timer timer;
	uint64_t fpdu_at, nudge_at, wait_at; /* deadlines; IW_NEVER: none */
	uint32_t recv_wait_ms;               /* back-pressure: how long; 0: the default */
	uint64_t burst_at, sent_at;          /* first and last fill */
	uint8_t nudges;

	uint32_t handle, conn, owner;
	uint16_t max_ird, max_ord;
	void *context;
	void *queues; /* memory of the four rings */

	struct wr_sq sq;
	struct wr_rq rq;
};

/* ---- inline ---- */

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

#endif
