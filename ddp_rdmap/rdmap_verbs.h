/* SPDX-License-Identifier: BSD-3-Clause */
/* One wire verb for each file rdmap_<verb>.c, both directions.
 *   _rx  takes a segment whose header was found good; returns the fault that ends the stream, or NONE
 *   _tx  fills the next FPDU of a message; false: nothing was filled (no room behind what is in the mbuf, or the
 *        stream has just failed) */
#ifndef RDMAP_VERBS_H
#define RDMAP_VERBS_H

#include "mpa_fpdu.h"
#include "mpa_tx.h"
#include "mr.h"
#include "qp_obj.h"
#include "rdmap_err.h"

enum rdmap_fault rdmap_send_rx(struct iw_qp *qp, struct mpa_fpdu *f);
bool rdmap_send_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr);
/* The first FPDU of an initiator (RFC 6581): a Send of nothing. */
bool rdmap_send_rtr_tx(struct iw_qp *qp, struct mpa_tx *b);

enum rdmap_fault rdmap_write_rx(struct iw_qp *qp, struct mpa_fpdu *f);
bool rdmap_write_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr);
/* A Write of nothing to STag 1: RTR and nudge. */
bool rdmap_write_empty_tx(struct mpa_tx *b);

enum rdmap_fault rdmap_read_req_rx(struct iw_qp *qp, struct mpa_fpdu *f);
bool rdmap_read_req_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr);
bool rdmap_read_rtr_tx(struct iw_qp *qp, struct mpa_tx *b);
enum rdmap_fault rdmap_read_resp_rx(struct iw_qp *qp, struct mpa_fpdu *f);
bool rdmap_read_resp_tx(struct iw_qp *qp, struct mpa_tx *b);

/* What is wrong with the source of a Read, or the word of an atomic (R6, R16). */
enum rdmap_fault rdmap_read_source_fault(enum mr_verdict v);
/* May all SGEs of this request be written?  false: the QP has failed. */
bool rdmap_read_check_sink(struct iw_qp *qp, const struct wr_send *wr);
/* The ORQ: one more answer is awaited; the first one has come. */
void rdmap_read_expect(struct iw_qp *qp, const struct qp_read *r);
void rdmap_read_finish(struct iw_qp *qp, const struct qp_read *r);

enum rdmap_fault rdmap_imm_rx(struct iw_qp *qp, struct mpa_fpdu *f);
bool rdmap_imm_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr);

enum rdmap_fault rdmap_atomic_req_rx(struct iw_qp *qp, struct mpa_fpdu *f);
bool rdmap_atomic_req_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr);
enum rdmap_fault rdmap_atomic_resp_rx(struct iw_qp *qp, struct mpa_fpdu *f);
bool rdmap_atomic_resp_tx(struct iw_qp *qp, struct mpa_tx *b);

/* Always ends the stream, and is never answered by a Terminate. */
void rdmap_term_rx(struct iw_qp *qp, const struct mpa_fpdu *f);
bool rdmap_term_tx(struct iw_qp *qp, struct mpa_tx *b);

/* Did a tagged message of this opcode come between the segments of another (D14)?  Notes what is under way. */
static inline enum rdmap_fault
rdmap_tagged_turn(struct iw_qp *qp, const struct ddp_hdr *h)
{
	if (qp->tagged_open && qp->tagged_open != 1 + h->opcode)
		return RDMAP_FAULT_RDMAP_INTERLEAVED;
	qp->tagged_open = h->last ? 0 : 1 + h->opcode;
	return RDMAP_FAULT_NONE;
}

#endif
