/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics: request, answer, and the operation itself (RFC 7306 §5).  A request takes its turn among the Reads that are
 * owed: it is carried out when the answers before it are out, by the CPU's compare and swap, so that it is atomic
 * against every stream of the domain and against the host's own atomics. */
#include <assert.h>
#include <string.h>

#include "ddp_rx.h"
#include "ddp_tx.h"
#include "qp.h"
#include "qp_wc.h"
#include "rdmap_ctx.h"
#include "rdmap_tx.h"
#include "rdmap_verbs.h"

#define WORD 8

/* ---- the operation ---- */

/* Fields are added without what they carry out at their uppermost bits, which `mask` names (RFC 7306 §5.1.1). */
static uint64_t
masked_sum(uint64_t a, uint64_t b, uint64_t mask)
{
	return ((a & ~mask) + (b & ~mask)) ^ ((a ^ b) & mask);
}

/* Ends: when the exchange fails somebody else's has succeeded. */
static uint64_t
fetch_add(uint64_t *p, const struct rdmap_atomic_req *req)
{
	uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(p, &old, masked_sum(old, req->data, req->mask), true, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	return old;
}

static uint64_t
cmp_swap(uint64_t *p, const struct rdmap_atomic_req *req)
{
	uint64_t old = __atomic_load_n(p, __ATOMIC_SEQ_CST);

	while (((req->compare ^ old) & req->compare_mask) == 0 &&
	       !__atomic_compare_exchange_n(p, &old, (old & ~req->mask) | (req->data & req->mask), true,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return old;
}

/* ---- at the responder ---- */

/* R16.  The place is a word of memory, whatever its tagged offset is. */
static enum rdmap_fault
find_word(const struct iw_qp *qp, const struct rdmap_atomic_req *req, uint64_t **word)
{
	const struct iw_mr *mr;
	enum rdmap_fault fault;
	struct wr_piece piece;
	uint32_t len = WORD;
	uint8_t *p;

	if (req->code != RDMAP_HDR_FETCH_ADD && req->code != RDMAP_HDR_CMP_SWAP)
		return RDMAP_FAULT_ATOMIC_CODE;
	fault = rdmap_read_source_fault(mr_get(&qp->user, req->stag, req->to, WORD, IW_REMOTE_ATOMIC, &mr));
	if (fault != RDMAP_FAULT_NONE)
		return fault;
	piece = wr_piece_of(mr, req->to, WORD);
	p = wr_piece_run(&piece, 0, &len);
	if ((uintptr_t)p % WORD || len < WORD)
		return RDMAP_FAULT_ATOMIC_ALIGN;
	*word = (uint64_t *)p;
	return RDMAP_FAULT_NONE;
}

enum rdmap_fault
rdmap_atomic_req_rx(struct iw_qp *qp, struct mpa_fpdu *f)
{
	struct ddp_queue *q = &qp->queue[RDMAP_QN_READ_REQ];
	enum rdmap_fault fault = ddp_queue_check(q, &f->ddp);
	struct rdmap_atomic_req req;
	uint64_t *word;

	if (fault != RDMAP_FAULT_NONE)
		return fault;
	if (!f->ddp.last)
		return RDMAP_FAULT_ATOMIC_NO_LAST;
	if (!rdmap_hdr_atomic_req_parse(f->head + f->ddp.hdr_len, f->head_len - f->ddp.hdr_len, &req))
		return RDMAP_FAULT_MPA_LENGTH;
	if (qp_fifo_count(&qp->answers_pos) >= qp->ird || qp->fsm.state == QP_FSM_DRAINED)
		return RDMAP_FAULT_READ_IRD;
	fault = find_word(qp, &req, &word);
	if (fault != RDMAP_FAULT_NONE)
		return fault;
	qp->answers[qp->answers_pos.head++ & qp->answers_pos.mask] =
		(struct qp_answer){.ddp = f->ddp, .ulpdu_len = (uint16_t)f->ulpdu_len, .atomic = req};
	ddp_queue_advance(q, &f->ddp, 0);
	rdmap_run_add(qp);
	return RDMAP_FAULT_NONE;
}

/* The word is looked at again: its registration may have been taken back since. */
bool
rdmap_atomic_resp_tx(struct iw_qp *qp, struct mpa_tx *b)
{
	struct qp_answer *a = qp_answer_first(qp);
	struct rdmap_atomic_resp resp = {.id = a->atomic.id};
	struct ddp_hdr h = ddp_hdr_untagged(RDMAP_OP_ATOMIC_RESP, true, 0, RDMAP_QN_ATOMIC_RESP, qp->tx.atomic_msn, 0);
	uint8_t body[RDMAP_HDR_ATOMIC_RESP_LEN];
	struct wr_piece piece = {.p = body, .len = sizeof(body)};
	enum rdmap_fault fault;
	uint64_t *word;

	if (ddp_tx_part(b, DDP_HDR_UNTAGGED_LEN, piece.len) == DDP_TX_NO_ROOM)
		return false;
	fault = find_word(qp, &a->atomic, &word);
	if (fault != RDMAP_FAULT_NONE) {
		qp_fault(qp, fault, &a->ddp, a->ulpdu_len, NULL);
		return false;
	}
	resp.original =
		a->atomic.code == RDMAP_HDR_FETCH_ADD ? fetch_add(word, &a->atomic) : cmp_swap(word, &a->atomic);
	rdmap_hdr_atomic_resp_emit(&resp, body, sizeof(body));
	ddp_tx_segment(b, &h, &piece, 1, piece.len);
	qp->tx.atomic_msn++;
	qp->answers_pos.tail++;
	qp->tx.kind = QP_TX_NONE;
	qp->rdmap->count.n.atomics_answered++;
	return true;
}

/* ---- at the requester ---- */

static struct rdmap_atomic_req
request_of(const struct wr_send *wr, uint32_t id)
{
	bool add = wr->opcode == IW_WR_FETCH_ADD;

	return (struct rdmap_atomic_req){.code = add ? RDMAP_HDR_FETCH_ADD : RDMAP_HDR_CMP_SWAP,
					 .id = id,
					 .stag = wr->remote_stag,
					 .to = wr->remote_addr,
					 .data = wr->atomic.data,
					 .mask = wr->atomic.mask,
					 .compare = add ? 0 : wr->atomic.compare,
					 .compare_mask = add ? UINT64_MAX : wr->atomic.compare_mask};
}

/* The request identifier is the request's position in the send queue. */
bool
rdmap_atomic_req_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr)
{
	struct rdmap_atomic_req req = request_of(wr, qp->sq->sent);
	struct ddp_hdr h = ddp_hdr_untagged(RDMAP_OP_ATOMIC_REQ, true, 0, RDMAP_QN_READ_REQ, qp->tx.read_msn, 0);
	uint8_t body[RDMAP_HDR_ATOMIC_REQ_LEN];
	struct wr_piece piece = {.p = body, .len = rdmap_hdr_atomic_req_emit(&req, body, sizeof(body))};

	if (ddp_tx_part(b, DDP_HDR_UNTAGGED_LEN, piece.len) == DDP_TX_NO_ROOM || !rdmap_read_check_sink(qp, wr))
		return false;
	ddp_tx_segment(b, &h, &piece, 1, piece.len);
	qp->tx.read_msn++;
	rdmap_read_expect(qp, &(struct qp_read){.pos = qp->sq->sent, .len = WORD, .atomic = true});
	rdmap_tx_asked(qp);
	return true;
}

/* The original value, in the host's order. */
static bool
place_original(struct iw_qp *qp, struct qp_read *r, uint64_t original)
{
	const struct wr_send *wr = wr_sq_at(qp->sq, r->pos);
	struct wr_piece pieces[WR_PIECES];
	uint32_t n, done = 0;

	if (wr_cut(&qp->user, &wr->word, 1, &r->cur, WORD, IW_LOCAL_WRITE, pieces, &n) != MR_OK)
		return false;
	while (done < WORD) {
		uint32_t part = WORD - done;
		uint8_t *p = wr_piece_run(&pieces[0], done, &part);

		memcpy(p, (const uint8_t *)&original + done, part);
		done += part;
	}
	return true;
}

enum rdmap_fault
rdmap_atomic_resp_rx(struct iw_qp *qp, struct mpa_fpdu *f)
{
	struct ddp_queue *q = &qp->queue[RDMAP_QN_ATOMIC_RESP];
	struct rdmap_atomic_resp resp;
	enum rdmap_fault fault;
	struct qp_read *r;

	if (qp_fifo_count(&qp->reads_pos) == 0 || !qp_read_first(qp)->atomic)
		return RDMAP_FAULT_ATOMIC_UNEXPECTED;
	r = qp_read_first(qp);
	fault = ddp_queue_check(q, &f->ddp);
	if (fault != RDMAP_FAULT_NONE)
		return fault;
	if (!f->ddp.last)
		return RDMAP_FAULT_ATOMIC_NO_LAST;
	if (!rdmap_hdr_atomic_resp_parse(f->head + f->ddp.hdr_len, f->head_len - f->ddp.hdr_len, &resp))
		return RDMAP_FAULT_MPA_LENGTH;
	if (resp.id != r->pos)
		return RDMAP_FAULT_ATOMIC_ID;
	if (!place_original(qp, r, resp.original)) {
		qp->rdmap->count.n.local_errors++;
		qp->sq_status = IW_WC_LOC_PROT_ERR;
		qp->sq_status_pos = r->pos;
		return RDMAP_FAULT_RDMAP_LOCAL;
	}
	ddp_queue_advance(q, &f->ddp, 0);
	rdmap_read_finish(qp, r);
	return RDMAP_FAULT_NONE;
}
