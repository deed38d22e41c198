/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_loan.h"

#include "ddp_tx.h"
#include "iw_time.h"
#include "loan.h"
#include "qp.h"
#include "qp_wc.h"
#include "rdmap_ctx.h"

_Static_assert(RDMAP_LOAN_LEAST > IW_MAX_INLINE, "inline data is the request's own");

#define LOOKS 64u           /* QPs in one turn */
#define LOOK_NS (1 * IW_MS) /* for who sleeps: nothing else tells that a driver let go */

/* The registration that the payload lies in, in one piece at *p; NULL: it was not registered for this, or lies in
 * several. */
static const struct iw_mr *
lender(const struct iw_qp *qp, const struct wr_piece *piece, uint32_t len, uint8_t **p)
{
	const struct iw_mr *mr = qp->sq->mr;
	uint32_t run = len;

	if (mr->kind != MR_PLAIN)
		return NULL;
	*p = wr_piece_run(piece, 0, &run);
	return run == len ? mr : NULL;
}

/* One request lends memory of one registration. */
static bool
has_loan(struct iw_qp *qp, struct wr_send *wr, const struct iw_mr *mr)
{
	if (!wr->loan)
		wr->loan = loan_make(qp->rdmap->env->loan_pool, domain_mr(qp->user.domain, mr->stag));
	return wr->loan && wr->loan->mr == mr;
}

bool
rdmap_loan_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr, const struct ddp_hdr *h,
	      const struct wr_piece *pieces, uint32_t n, uint32_t len)
{
	struct rdmap_counted *count = &qp->rdmap->count.n;
	uint32_t ulpdu_len = h->hdr_len + len;
	const struct iw_mr *mr;
	struct rte_mbuf *more = NULL;
	uint8_t *p;

	if (n != 1 || b->used > 0 || !(mr = lender(qp, pieces, len, &p)))
		return false;
	if (b->crc || b->markers) {
		count->tx_lent_crc++;
		return false;
	}
	if (!qp->rdmap->env->loan_pool) {
		count->tx_lent_no_port++;
		return false;
	}
	if (has_loan(qp, wr, mr))
		more = loan_mbufs(wr->loan, p, len, fpdu_hdr_pad(ulpdu_len) + FPDU_HDR_CRC_LEN);
	if (!more) {
		count->tx_lent_no_mbuf++;
		return false;
	}
	ddp_tx_lent(b, h, more, len);
	count->tx_lent++;
	return true;
}

static void
look(struct iw_qp *qp)
{
	uint32_t tail = qp->sq->ring.tail;

	qp_wc_retire(qp);
	if (qp->sq->ring.tail == tail)
		return;
	if (qp->sq->gone) {
		qp_destroy(qp);
		return;
	}
	qp_check_empty(qp);
	rdmap_run_add(qp);
}

void
rdmap_loan_tick(struct rdmap *r, uint64_t now_ns)
{
	const struct iw_link *last = r->lenders.head.prev;
	struct iw_link *l = NULL;

	for (uint32_t i = 0; i < LOOKS && l != last && (l = iw_list_pop(&r->lenders)); i++)
		look(iw_list_entry(l, struct wr_sq, lends)->qp);
	r->look_at_ns = iw_list_empty(&r->lenders) ? IW_NEVER : now_ns + LOOK_NS;
}

void
rdmap_loan_forget(struct iw_qp *qp)
{
	struct wr_sq *sq = qp->sq;
	uint32_t n = iw_ring_count(&sq->ring);

	for (uint32_t i = 0; i < n; i++) {
		struct wr_send *wr = wr_sq_at(sq, sq->ring.tail + i);

		if (wr->loan)
			loan_end(wr->loan);
		wr->loan = NULL;
	}
	qp_wc_retire(qp);
}
