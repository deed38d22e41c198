/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_tx.h"

#include <assert.h>

#include "len.h"
#include "qp.h"
#include "qp_timer.h"
#include "qp_wc.h"
#include "rdmap_ctx.h"
#include "rdmap_local.h"
#include "rdmap_ready.h"
#include "rdmap_train.h"
#include "rdmap_verbs.h"
#include "wr_kind.h"

/* FPDUs in one mbuf: small ones share it (design D3), but not without end.  A packet costs as much as four of them. */
#define FPDUS_MAX 64
/* An FPDU that carries nothing. */
#define FPDU_LEAST (FPDU_HDR_LENGTH_LEN + DDP_HDR_TAGGED_LEN + FPDU_HDR_CRC_LEN)
/* Room for one FPDU of the least MULPDU, however small the segments are: tcp cuts it then. */
#define ROOM_MIN (MPA_HDR_MULPDU_MIN + FPDU_HDR_LENGTH_LEN + FPDU_HDR_CRC_LEN + 2 + MPA_HDR_MARKER_LEN)

/* Nearly always: all of it lies in one SGE. */
static bool
cut_one(struct iw_qp *qp, const struct wr_send *wr, uint32_t len, struct wr_piece *piece)
{
	struct wr_cursor *cur = &qp->tx.cur;
	const struct iw_sge *s = &wr->sge[cur->sge];

	if (len == 0 || len > s->length - cur->off ||
	    !mr_get_again(&qp->user, s->lkey, s->addr + cur->off, len, &qp->sq->mr))
		return false;
	*piece = wr_piece_of(qp->sq->mr, s->addr + cur->off, len);
	cur->off += len;
	if (cur->off == s->length)
		*cur = (struct wr_cursor){.sge = (uint8_t)(cur->sge + 1)};
	return true;
}

bool
rdmap_tx_cut(struct iw_qp *qp, struct wr_send *wr, uint32_t len, struct wr_piece *pieces, uint32_t *n)
{
	if (wr->flags & IW_SEND_INLINE) {
		pieces[0] = (struct wr_piece){.p = wr->inl + qp->tx.done, .len = len};
		*n = len > 0;
		return true;
	}
	*n = 1;
	if (cut_one(qp, wr, len, pieces))
		return true;
	*n = 0;
	qp->sq->mr = NULL; /* not what the pieces lie in */
	if (wr_cut(&qp->user, wr->sge, wr->num_sge, &qp->tx.cur, len, 0, pieces, n) == MR_OK)
		return true;
	qp_sq_failed(qp, qp->sq->sent, IW_WC_LOC_PROT_ERR);
	return false;
}

void
rdmap_tx_sent(struct iw_qp *qp, struct wr_send *wr)
{
	wr->done = true;
	rdmap_tx_asked(qp);
	qp_wc_retire(qp);
}

void
rdmap_tx_asked(struct iw_qp *qp)
{
	qp->sq->sent++;
	qp->tx.kind = QP_TX_NONE;
}

/* The request at the send index, if it may go out now; what needs nobody else is done first. */
static bool
sq_has_message(struct iw_qp *qp)
{
	const struct wr_send *wr = rdmap_ready_next(qp);

	if (!wr || !wr_kind_is_local(wr->opcode))
		return wr;
	rdmap_local_run(qp);
	return rdmap_ready_wire(qp);
}

/* Which message is next, when none is under way. */
static uint8_t
pick(struct iw_qp *qp)
{
	bool sq = sq_has_message(qp), answer = qp_fifo_count(&qp->answers_pos) > 0;

	if (sq && answer)
		return qp->tx.last_kind == QP_TX_ANSWER ? QP_TX_SQ : QP_TX_ANSWER;
	if (answer)
		return QP_TX_ANSWER;
	return sq ? QP_TX_SQ : QP_TX_NONE;
}

static bool
fill_sq(struct iw_qp *qp, struct mpa_tx *b)
{
	struct wr_send *wr = wr_sq_at(qp->sq, qp->sq->sent);

	if (qp->tx.imm_due)
		return rdmap_imm_tx(qp, b, wr);
	switch (wr_kind_get(wr->opcode)->wire) {
	case RDMAP_OP_SEND:
	case RDMAP_OP_SEND_INV:
		return rdmap_send_tx(qp, b, wr);
	case RDMAP_OP_WRITE:
		return rdmap_write_tx(qp, b, wr);
	case RDMAP_OP_READ_REQ:
		return rdmap_read_req_tx(qp, b, wr);
	case RDMAP_OP_IMM:
		return rdmap_imm_tx(qp, b, wr);
	case RDMAP_OP_ATOMIC_REQ:
		return rdmap_atomic_req_tx(qp, b, wr);
	default:
		return false; /* rdmap_local.c */
	}
}

static bool
fill_kind(struct iw_qp *qp, struct mpa_tx *b, uint8_t kind)
{
	if (kind == QP_TX_SQ)
		return fill_sq(qp, b);
	return qp_answer_first(qp)->ddp.opcode == RDMAP_OP_ATOMIC_REQ ? rdmap_atomic_resp_tx(qp, b)
								      : rdmap_read_resp_tx(qp, b);
}

/* One FPDU of the message under way, or of the next one. */
static bool
fill_message(struct iw_qp *qp, struct mpa_tx *b)
{
	struct qp_tx *tx = &qp->tx;
	uint8_t kind = tx->kind;

	if (kind != QP_TX_NONE)
		return fill_kind(qp, b, kind);
	kind = pick(qp);
	if (kind == QP_TX_NONE)
		return false;
	tx->done = 0;
	tx->imm_due = false;
	tx->cur = (struct wr_cursor){.sge = 0};
	tx->kind = kind;
	if (fill_kind(qp, b, kind)) {
		tx->last_kind = kind;
		return true;
	}
	tx->kind = QP_TX_NONE; /* it found no room behind others: it has not begun */
	return false;
}

/* RFC 6581: before anything else, and alone in its segment. */
static bool
fill_rtr(struct iw_qp *qp, struct mpa_tx *b)
{
	bool ok = false;

	switch ((enum qp_rtr)qp->rtr) {
	case QP_RTR_WRITE:
		ok = rdmap_write_empty_tx(b);
		break;
	case QP_RTR_READ:
		ok = rdmap_read_rtr_tx(qp, b);
		break;
	case QP_RTR_SEND:
		ok = rdmap_send_rtr_tx(qp, b);
		break;
	case QP_RTR_NONE:
		break;
	}
	qp->tx.rtr_due = false;
	b->room = b->used;
	return ok;
}

/* Some peers lose a wake-up: only when there is nothing better to wake the peer with. */
static bool
fill_nudge(struct iw_qp *qp, struct mpa_tx *b)
{
	bool due = qp->tx.nudge_due && b->used == 0;

	qp->tx.nudge_due = false;
	if (!due)
		return false;
	qp->rdmap->count.n.tx_nudges++;
	return rdmap_write_empty_tx(b);
}

static bool
fill_one(struct iw_qp *qp, struct mpa_tx *b)
{
	if (qp->fsm.state == QP_FSM_TERMINATING)
		return rdmap_term_tx(qp, b);
	if (!qp_fsm_sends(qp->fsm.state))
		return false;
	if (qp->tx.rtr_due)
		return fill_rtr(qp, b);
	return fill_message(qp, b) || (qp->tx.nudge_due && qp_fsm_sends(qp->fsm.state) && fill_nudge(qp, b));
}

uint32_t
rdmap_tx_fill(struct iw_qp *qp, struct rte_mbuf *m, uint32_t room, uint16_t *sum, uint64_t now_ns)
{
	struct mpa_tx b; /* what is of an FPDU only is large: not cleared for each segment */

	if (rdmap_train_has(qp, room))
		return rdmap_train_fill(qp, m, sum);
	rdmap_train_end(qp->rdmap);
	assert(rte_pktmbuf_is_contiguous(m) && m->data_len == 0);
	mpa_tx_start(&b, rte_pktmbuf_mtod(m, uint8_t *),
		     iw_len_min(iw_len_max(room, ROOM_MIN), rte_pktmbuf_tailroom(m)));
	assert(b.room >= ROOM_MIN);
	b.crc = qp->crc;
	b.sums = sum != NULL;
	b.markers = qp->tx_markers;
	b.gap = qp->tx_gap;
	domain_enter(qp->user.domain, qp->rdmap->reader);
	while (b.fpdus < FPDUS_MAX && b.room - b.used >= FPDU_LEAST && fill_one(qp, &b))
		;
	if (b.used == 0)
		return 0;
	if (sum)
		*sum = mpa_tx_sum(&b);
	m->data_len = (uint16_t)b.used;
	m->pkt_len = b.used;
	if (b.more)
		rte_pktmbuf_chain(m, b.more);
	qp->tx_gap = b.gap;
	qp->active = QP_ACTIVE(now_ns);
	qp->rdmap->count.n.tx_fpdus += b.fpdus;
	qp->rdmap->count.n.tx_octets += m->pkt_len;
	qp_timer_sent(qp, now_ns);
	qp_check_empty(qp);
	return m->pkt_len;
}
