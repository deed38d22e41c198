/* SPDX-License-Identifier: BSD-3-Clause */
/* The middle segments of a long message, one like the other: full, without L, cut out of one piece of memory.  What is
 * the same in all of them is looked at once for those of a QP's turn: from one rdmap_run_next() to the next. */
#ifndef RDMAP_TRAIN_H
#define RDMAP_TRAIN_H

#include <stdint.h>

#include "mpa_tx.h"

struct iw_qp;
struct rdmap;
struct rte_mbuf;

/* The only FPDU in b was a middle one with header h and len octets: those that follow it in this turn are like it, as
 * far as the memory behind what it was cut from allows. */
void rdmap_train_begin(struct iw_qp *qp, const struct mpa_tx *b, const struct ddp_hdr *h, uint32_t len);
void rdmap_train_end(struct rdmap *rdmap);

/* Whether the next segment of the QP, with that much room, belongs to the train. */
bool rdmap_train_has(const struct iw_qp *qp, uint32_t room);
/* As rdmap_tx_fill(), for such a segment. */
uint32_t rdmap_train_fill(struct iw_qp *qp, struct rte_mbuf *m, uint16_t *sum);

#endif
