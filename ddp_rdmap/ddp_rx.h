/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving side of DDP: is a segment legal, and where do its octets go?  Nothing is written before the whole
 * segment was found good (RFC 5041 §7.1). */
#ifndef DDP_RX_H
#define DDP_RX_H

#include "mpa_fpdu.h"
#include "rdmap_err.h"
#include "wr.h"

/* Where a payload lies: pieces that were checked. */
struct ddp_place {
	struct wr_piece piece[WR_PIECES];
	uint32_t n;
};

/* Reads the header of an FPDU and judges it: lengths, versions, opcode, T, QN (D1, D8, F3, R1 to R3, R9).
 * f->ddp is filled unless the fault is MPA_LENGTH. */
enum rdmap_fault ddp_rx_header(struct mpa_fpdu *f);

/* Octets behind the DDP header. */
static inline uint32_t
ddp_rx_payload_len(const struct mpa_fpdu *f)
{
	return f->ulpdu_len - f->ddp.hdr_len;
}

/* May this stream's peer write len > 0 octets there?  Place is one piece then (D2 to D6). */
enum rdmap_fault ddp_rx_tagged(const struct mr_user *user, const struct mpa_fpdu *f, struct ddp_place *place);

/* Copies the payload to its place, which has exactly that many octets. */
void ddp_rx_copy(const struct mpa_fpdu *f, const struct ddp_place *place);

#endif
