/* SPDX-License-Identifier: BSD-3-Clause */
/* Terminate (RFC 5040 §4.8, §5.4, §7.1). */
#include "ddp_tx.h"
#include "qp.h"
#include "rdmap_ctx.h"
#include "rdmap_verbs.h"

/* Whom may it concern?  Sends and Writes completed when they left, so it can only be the oldest request that is
 * not retired and was begun. */
static void
blame(struct iw_qp *qp, const struct rdmap_term *t)
{
	const struct wr_sq *sq = qp->sq;
	bool begun = sq->ring.tail != sq->sent || (qp->tx.kind == QP_TX_SQ && qp->tx.done > 0);

	if (!begun || t->layer > 1)
		return;
	if (t->etype == 1)
		qp->sq_status = IW_WC_REM_ACCESS_ERR;
	else if (t->etype == 2)
		qp->sq_status = IW_WC_REM_OP_ERR;
	qp->sq_status_pos = sq->ring.tail;
}

void
rdmap_term_rx(struct iw_qp *qp, const struct mpa_fpdu *f)
{
	struct rdmap_term t;
	bool legal = f->ddp.msn == qp->queue[RDMAP_QN_TERMINATE].msn && f->ddp.mo == 0 && f->ddp.last;

	/* What is too long for a Terminate is seen by its length alone. */
	rdmap_hdr_term_parse(f->head + f->ddp.hdr_len, f->head_len - f->ddp.hdr_len, &t);
	qp->term = (struct iw_terminate){.valid = true,
					 .nibbles_swapped = t.nibbles_swapped,
					 .malformed = !legal || t.malformed || f->ulpdu_len > f->head_len,
					 .layer = t.layer,
					 .etype = t.etype,
					 .code = t.code};
	qp->rdmap->count.n.rx_terminates++;
	blame(qp, &t);
	qp_event(qp, QP_EV_TERM_RECV);
}

bool
rdmap_term_tx(struct iw_qp *qp, struct mpa_tx *b)
{
	struct wr_piece piece = {.p = qp->term_out, .len = qp->term_len};
	struct ddp_hdr h = ddp_hdr_untagged(RDMAP_OP_TERMINATE, true, 0, RDMAP_QN_TERMINATE, 1, 0);

	if (ddp_tx_part(b, DDP_HDR_UNTAGGED_LEN, piece.len) == DDP_TX_NO_ROOM)
		return false;
	ddp_tx_segment(b, &h, &piece, 1, piece.len);
	qp->rdmap->count.n.tx_terminates++;
	qp_event(qp, QP_EV_TERM_SENT);
	return true;
}
