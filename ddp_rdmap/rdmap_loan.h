/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and Writes whose payload leaves from the user's memory (design D4), and their completions, which wait until
 * nobody reads it any more. */
#ifndef RDMAP_LOAN_H
#define RDMAP_LOAN_H

#include "mpa_tx.h"
#include "qp_obj.h"

struct rdmap;

#define RDMAP_LOAN_LEAST 1024 /* less is copied faster than two mbufs are made */

/* Is there anything to be asked? */
static inline bool
rdmap_loan_may(const struct iw_qp *qp, uint32_t len)
{
	return len >= RDMAP_LOAN_LEAST && qp->sq->mr && qp->sq->mr->access & IW_ZERO_COPY;
}

/* Fills an FPDU of wr whose payload (n pieces, len octets) stays where it is.  False: it is to be copied. */
bool rdmap_loan_tx(struct iw_qp *qp, struct mpa_tx *b, struct wr_send *wr, const struct ddp_hdr *h,
		   const struct wr_piece *pieces, uint32_t n, uint32_t len);

/* Requests whose memory is back complete, and QPs that were destroyed and waited for it go. */
void rdmap_loan_tick(struct rdmap *rdmap, uint64_t now_ns);

/* Nobody waits any longer: the engine ends.  Registrations stay in use until ports have let go. */
void rdmap_loan_forget(struct iw_qp *qp);

#endif
