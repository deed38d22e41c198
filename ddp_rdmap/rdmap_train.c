/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_train.h"

#include <assert.h>
#include <rte_mbuf.h>

#include "len.h"
#include "qp.h"
#include "rdmap_ctx.h"
#include "wr.h"

_Static_assert(MPA_TX_LONG > IW_MAX_INLINE, "inline data makes no train");

/* ---- where a message is read from ---- */

/* Octets that are left of it in the SGE or source where it has come to, all granted; 0: none. */
static uint32_t
left_of_wr(struct iw_qp *qp, struct wr_piece *piece)
{
	const struct wr_cursor *cur = &qp->tx.cur;
	const struct iw_sge *s = &wr_sq_at(qp->sq, qp->sq->sent)->sge[cur->sge];
	uint32_t left = s->length - cur->off;

	if (left == 0 || !mr_get_again(&qp->user, s->lkey, s->addr + cur->off, left, &qp->sq->mr) ||
	    qp->sq->mr->access & IW_ZERO_COPY)
		return 0;
	*piece = wr_piece_of(qp->sq->mr, s->addr + cur->off, left);
	return left;
}

static uint32_t
left_of_answer(const struct iw_qp *qp, struct wr_piece *piece)
{
	const struct rdmap_read_req *req = &qp_answer_first(qp)->req;
	const struct iw_mr *mr;

	if (mr_get(&qp->user, req->src_stag, req->src_to, req->size, IW_REMOTE_READ, &mr) != MR_OK)
		return 0;
	*piece = wr_piece_of(mr, req->src_to, req->size);
	return req->size;
}

/* One segment has left: as rdmap_write_tx() and the others count it. */
static void
advance(struct iw_qp *qp, uint32_t len)
{
	if (qp->tx.kind != QP_TX_SQ) {
		qp_answer_advance(qp_answer_first(qp), len);
		return;
	}
	qp->tx.done += len;
	qp->tx.cur.off += len;
}

/* ---- the train ---- */

void
rdmap_train_begin(struct iw_qp *qp, const struct mpa_tx *b, const struct ddp_hdr *h, uint32_t len)
{
	struct rdmap_train *t = &qp->rdmap->train;
	struct wr_piece piece = {.len = 0};
	struct ddp_hdr_image head;
	uint32_t left;

	assert(!h->last && len % 4 == 0);
	if (len < MPA_TX_LONG || b->markers || b->more)
		return;
	left = qp->tx.kind == QP_TX_SQ ? left_of_wr(qp, &piece) : left_of_answer(qp, &piece);
	if (left <= len)
		return;
	t->src = wr_piece_run(&piece, 0, &left);
	t->left = (left - 1) / len; /* the last one, of the message or of the memory, is not like the others */
	t->qp = qp;
	t->room = b->room;
	t->len = len;
	t->done = 0;
	t->hdr_len = h->hdr_len;
	head = mpa_tx_head(h, h->hdr_len + len);
	memcpy(t->head, &head, sizeof(t->head));
}

void
rdmap_train_end(struct rdmap *rdmap)
{
	rdmap->train.left = 0;
}

bool
rdmap_train_has(const struct iw_qp *qp, uint32_t room)
{
	const struct rdmap_train *t = &qp->rdmap->train;

	return t->left > 0 && t->qp == qp && t->room == room && qp_fsm_sends(qp->fsm.state);
}

uint32_t
rdmap_train_fill(struct iw_qp *qp, struct rte_mbuf *m, uint16_t *sum)
{
	struct rdmap_train *t = &qp->rdmap->train;
	uint32_t head_len = FPDU_HDR_LENGTH_LEN + t->hdr_len, octets = head_len + t->len + FPDU_HDR_CRC_LEN;
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

	assert(octets <= t->room && octets <= rte_pktmbuf_tailroom(m));
	t->done += t->len;
	memcpy(p, t->head, sizeof(t->head)); /* what is too much of it will be payload */
	ddp_hdr_advance(p + FPDU_HDR_LENGTH_LEN, t->done);
	mpa_tx_whole(p, head_len, t->src, t->len, qp->crc, sum);
	t->src += t->len;
	t->left--;
	advance(qp, t->len);
	m->data_len = (uint16_t)octets;
	m->pkt_len = octets;
	qp->rdmap->count.n.tx_fpdus++;
	qp->rdmap->count.n.tx_octets += octets;
	return octets;
}
