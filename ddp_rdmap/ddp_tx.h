/* SPDX-License-Identifier: BSD-3-Clause */
/* Segmentation (RFC 5041 §5.1): how much of a message goes into the next FPDU, and that FPDU. */
#ifndef DDP_TX_H
#define DDP_TX_H

#include "ddp_hdr.h"
#include "mpa_tx.h"
#include "wr.h"

#define DDP_TX_NO_ROOM UINT32_MAX

/* Octets of payload for the next FPDU, of `left` octets that the message still has.  All of them when they fit;
 * else as many as the MULPDU lets, in whole words, so that no FPDU but the last of a message needs a pad.  Behind
 * another FPDU only the end of a message goes (design D3): DDP_TX_NO_ROOM when it does not fit. */
uint32_t ddp_tx_part(const struct mpa_tx *b, uint32_t hdr_len, uint32_t left);

/* Writes one FPDU: header, and the n pieces that make len octets. */
void ddp_tx_segment(struct mpa_tx *b, const struct ddp_hdr *h, const struct wr_piece *pieces, uint32_t n, uint32_t len);

/* The same when len octets of payload and what follows them stand in mbufs (mpa_tx_lend()). */
void ddp_tx_lent(struct mpa_tx *b, const struct ddp_hdr *h, struct rte_mbuf *more, uint32_t len);

#endif
