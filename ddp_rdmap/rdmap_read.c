/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA Read: Request and Response, at the source and at the sink (RFC 5040 §5.2). */
#include <assert.h>

#include "ddp_rx.h"
#include "ddp_tx.h"
#include "qp.h"
#include "qp_wc.h"
#include "rdmap_ctx.h"
#include "rdmap_rx.h"
#include "rdmap_train.h"
#include "rdmap_tx.h"
#include "rdmap_verbs.h"

#define RTR_STAG 1 /* what siw names; nobody checks it */

/* ---- at the source ---- */

enum rdmap_fault
rdmap_read_source_fault(enum mr_verdict v)
{
	switch (v) {
	case MR_OK:
		return RDMAP_FAULT_NONE;
	case MR_STAG:
		return RDMAP_FAULT_READ_STAG;
	case MR_STREAM:
		return RDMAP_FAULT_READ_STREAM;
	case MR_WRAP:
		return RDMAP_FAULT_READ_WRAP;
	case MR_BOUNDS:
		return RDMAP_FAULT_READ_BOUNDS;
	case MR_ACCESS:
		return RDMAP_FAULT_READ_ACCESS;
	}
	return RDMAP_FAULT_RDMAP_LOCAL;
}

/* R6, R7: the source of nothing is not looked at. */
static enum rdmap_fault
check_source(const struct iw_qp *qp, const struct rdmap_read_req *req, uint32_t len, struct wr_piece *piece)
{
	const struct iw_mr *mr;
	enum mr_verdict v;

	if (len == 0)
		return RDMAP_FAULT_NONE;
	v = mr_get(&qp->user, req->src_stag, req->src_to, len, IW_REMOTE_READ, &mr);
	if (v == MR_OK)
		*piece = wr_piece_of(mr, req->src_to, len);
	return rdmap_read_source_fault(v);
}

/* R8.  One Read of nothing is served even when no IRD was agreed: some peers begin with it (M21). */
static bool
has_room(const struct iw_qp *qp, uint32_t size)
{
	uint16_t n = qp_fifo_count(&qp->answers_pos);

	return n < qp->ird || (n == 0 && size == 0);
}

enum rdmap_fault
rdmap_read_req_rx(struct iw_qp *qp, struct mpa_fpdu *f)
{
	struct ddp_queue *q = &qp->queue[RDMAP_QN_READ_REQ];
	enum rdmap_fault fault = ddp_queue_check(q, &f->ddp);
	struct wr_piece piece;

	if (fault != RDMAP_FAULT_NONE)
		return fault;
	if (!f->ddp.last)
		return RDMAP_FAULT_READ_NO_LAST;
	f->has_read = rdmap_hdr_read_req_parse(f->head + f->ddp.hdr_len, f->head_len - f->ddp.hdr_len, &f->read);
	if (!f->has_read)
		return RDMAP_FAULT_MPA_LENGTH;
	if (!has_room(qp, f->read.size) || qp->fsm.state == QP_FSM_DRAINED)
		return RDMAP_FAULT_READ_IRD;
	fault = check_source(qp, &f->read, f->read.size, &piece);
	if (fault != RDMAP_FAULT_NONE)
		return fault;
	qp->answers[qp->answers_pos.head++ & qp->answers_pos.mask] =
		(struct qp_answer){.ddp = f->ddp, .ulpdu_len = (uint16_t)f->ulpdu_len, .req = f->read};
	ddp_queue_advance(q, &f->ddp, 0);
	rdmap_run_add(qp);
	return RDMAP_FAULT_NONE;
}

/* The source is looked at again in each turn: it may have been taken back meanwhile (R6, S6). */
bool
rdmap_read_resp_tx(struct iw_qp *qp, struct mpa_tx *b)
{
	struct qp_answer *a = qp_answer_first(qp);
	uint32_t len = ddp_tx_part(b, DDP_HDR_TAGGED_LEN, a->req.size);
	enum rdmap_fault fault;
	struct wr_piece piece;
	struct ddp_hdr h;

	if (len == DDP_TX_NO_ROOM)
		return false;
	fault = check_source(qp, &a->req, len, &piece);
	if (fault != RDMAP_FAULT_NONE) {
		qp_fault(qp, fault, &a->ddp, a->ulpdu_len, &a->req);
		return false;
	}
	h = ddp_hdr_tagged(RDMAP_OP_READ_RESP, len == a->req.size, a->req.sink_stag, a->req.sink_to);
	ddp_tx_segment(b, &h, &piece, len > 0, len);
	qp_answer_advance(a, len);
	if (h.last) {
		qp->answers_pos.tail++;
		qp->tx.kind = QP_TX_NONE;
		qp->rdmap->count.n.reads_answered++;
	} else {
		rdmap_train_begin(qp, b, &h, len);
	}
	return true;
}

/* ---- at the sink ---- */

static void
put_request(struct iw_qp *qp, struct mpa_tx *b, const struct qp_read *r, uint32_t src_stag, uint64_t src_to)
{
	struct rdmap_read_req req = {.sink_stag = r->sink_stag,
				     .sink_to = r->sink_to,
				     .size = r->len,
				     .src_stag = src_stag,
				     .src_to = src_to};
	struct ddp_hdr h = ddp_hdr_untagged(RDMAP_OP_READ_REQ, true, 0, RDMAP_QN_READ_REQ, qp->tx.read_msn++, 0);
	uint8_t body[RDMAP_HDR_READ_REQ_LEN];
	struct wr_piece piece = {.p = body, .len = rdmap_hdr_read_req_emit(&req, body, sizeof(body))};

	ddp_tx_segment(b, &h, &piece, 1, piece.len);
	rdmap_read_expect(qp, r);
}

void
rdmap_read_expect(struct iw_qp *qp, const struct qp_read *r)
{
	assert(qp_fifo_count(&qp->reads_pos) <= qp->reads_pos.mask);
	qp->reads[qp->reads_pos.head++ & qp->reads_pos.mask] = *r;
}

/* The whole sink is looked at before the peer is asked to write there; and each segment again when it comes. */
bool
rdmap_read_check_sink(struct iw_qp *qp, const struct wr_send *wr)
{
	struct wr_piece pieces[WR_PIECES];
	struct wr_cursor cur = {.sge = 0};
	uint32_t n;
	enum mr_verdict v = wr_cut(&qp->user, wr->sge, wr->num_sge, &cur, wr->length, IW_LOCAL_WRITE, pieces, &n);

	if (v == MR_OK)
		return true;
	qp_sq_failed(qp, qp->sq->sent, v == MR_ACCESS ? IW_WC_LOC_ACCESS_ERR : IW_WC_LOC_PROT_ERR);
	return false;
}

/* Several SGEs are one sink to the peer, which only repeats what it was told: the first one's STag, and offsets
 * counted from its address.  rdmap_read_resp_rx() finds the SGE. */
bool
rdmap_read_req_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr)
{
	struct qp_read r = {.pos = qp->sq->sent, .len = wr->length};

	if (ddp_tx_part(b, DDP_HDR_UNTAGGED_LEN, RDMAP_HDR_READ_REQ_LEN) == DDP_TX_NO_ROOM ||
	    !rdmap_read_check_sink(qp, wr))
		return false;
	if (wr->num_sge) {
		r.sink_stag = wr->sge[0].lkey;
		r.sink_to = wr->sge[0].addr;
	}
	put_request(qp, b, &r, wr->remote_stag, wr->remote_addr);
	rdmap_tx_asked(qp);
	return true;
}

bool
rdmap_read_rtr_tx(struct iw_qp *qp, struct mpa_tx *b)
{
	struct qp_read r = {.sink_stag = RTR_STAG, .hidden = true};

	if (ddp_tx_part(b, DDP_HDR_UNTAGGED_LEN, RDMAP_HDR_READ_REQ_LEN) == DDP_TX_NO_ROOM)
		return false;
	put_request(qp, b, &r, RTR_STAG, 0);
	return true;
}

/* R4, R5: only the sink of the oldest Read, in order, to its last octet. */
static enum rdmap_fault
check_response(const struct qp_read *r, const struct mpa_fpdu *f, uint32_t len)
{
	if (len > r->len - r->done)
		return RDMAP_FAULT_RESP_TOO_LONG;
	if (len > 0 && f->ddp.stag != r->sink_stag)
		return RDMAP_FAULT_RESP_STAG;
	if (len > 0 && f->ddp.to != r->sink_to + r->done)
		return RDMAP_FAULT_RESP_TO;
	return f->ddp.last && len < r->len - r->done ? RDMAP_FAULT_RESP_TOO_SHORT : RDMAP_FAULT_NONE;
}

/* A Read with local invalidate takes its STag back when all octets are there; if it cannot, it fails alone. */
static void
complete(struct iw_qp *qp, struct wr_send *wr)
{
	if (wr->opcode == IW_WR_RDMA_READ_INV && mr_invalidate_local(&qp->user, wr->own_stag) != MR_OK)
		wr->status = IW_WC_LOC_QP_OP_ERR;
	wr->done = true;
}

void
rdmap_read_finish(struct iw_qp *qp, const struct qp_read *r)
{
	if (!r->hidden)
		complete(qp, wr_sq_at(qp->sq, r->pos));
	qp->reads_pos.tail++;
	qp_wc_retire(qp);
	qp_check_empty(qp);
	rdmap_run_add(qp);
}

static enum rdmap_fault
place_response(struct iw_qp *qp, struct qp_read *r, const struct mpa_fpdu *f, uint32_t len)
{
	const struct wr_send *wr = wr_sq_at(qp->sq, r->pos);
	struct ddp_place place;

	if (wr_cut(&qp->user, wr->sge, wr->num_sge, &r->cur, len, IW_LOCAL_WRITE, place.piece, &place.n) != MR_OK) {
		qp->sq_status = IW_WC_LOC_PROT_ERR;
		qp->sq_status_pos = r->pos;
		return RDMAP_FAULT_RESP_SINK_GONE; /* R17 */
	}
	ddp_rx_copy(f, &place);
	r->done += len;
	return RDMAP_FAULT_NONE;
}

enum rdmap_fault
rdmap_read_resp_rx(struct iw_qp *qp, struct mpa_fpdu *f)
{
	uint32_t len = ddp_rx_payload_len(f);
	enum rdmap_fault fault;
	struct qp_read *r;

	if (qp_fifo_count(&qp->reads_pos) == 0 || qp_read_first(qp)->atomic)
		return RDMAP_FAULT_RESP_UNEXPECTED;
	fault = rdmap_tagged_turn(qp, &f->ddp);
	r = qp_read_first(qp);
	if (fault == RDMAP_FAULT_NONE)
		fault = check_response(r, f, len);
	if (fault == RDMAP_FAULT_NONE && len > 0)
		fault = place_response(qp, r, f, len);
	if (fault != RDMAP_FAULT_NONE)
		return fault;
	if (len == 0 && !f->ddp.last)
		rdmap_rx_empty(qp);
	if (f->ddp.last)
		rdmap_read_finish(qp, r);
	return RDMAP_FAULT_NONE;
}
