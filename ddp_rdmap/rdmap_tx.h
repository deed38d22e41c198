/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which a QP's messages go out (design D14): whole messages one after the other, the send
 * queue and the answers to Reads in turns, a Terminate at the next FPDU boundary. */
#ifndef RDMAP_TX_H
#define RDMAP_TX_H

#include "qp_obj.h"

/* The next len octets of a request as pieces of memory.  false: an SGE does not hold what it says; the QP has
 * failed. */
bool rdmap_tx_cut(struct iw_qp *qp, struct wr_send *wr, uint32_t len, struct wr_piece *pieces, uint32_t *n);

/* The SQ's request under way was filled to its last octet: it is done (design D6). */
void rdmap_tx_sent(struct iw_qp *qp, struct wr_send *wr);
/* The SQ's Read was asked for: done when its response is in place. */
void rdmap_tx_asked(struct iw_qp *qp);

#endif
