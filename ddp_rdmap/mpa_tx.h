/* SPDX-License-Identifier: BSD-3-Clause */
/* FPDUs into an mbuf, one behind the other (RFC 5044 §4.1).  Each octet is written once: payload is copied and
 * taken into the CRC in the same pass (design D2, D4). */
#ifndef MPA_TX_H
#define MPA_TX_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "crc32c.h"
#include "mpa_hdr.h"

struct mpa_tx {
	uint8_t *base; /* of the mbuf's data */
	uint8_t *fpdu; /* the one under way */
	uint8_t *p;    /* next octet of it */
	uint32_t used, room;
	uint32_t state; /* of the CRC */
	uint32_t fpdus;
	bool crc;
};

/* Begins an FPDU whose ULPDU has that many octets; they follow by mpa_tx_header() and mpa_tx_payload(). */
static inline uint8_t *
mpa_tx_begin(struct mpa_tx *b, uint32_t ulpdu_len)
{
	b->fpdu = b->base + b->used;
	mpa_hdr_length_emit(b->fpdu, (uint16_t)ulpdu_len);
	b->p = b->fpdu + MPA_HDR_LENGTH_LEN;
	return b->p;
}

/* The caller has written n octets of headers at what mpa_tx_begin() returned. */
static inline void
mpa_tx_header(struct mpa_tx *b, uint32_t n)
{
	b->p += n;
	if (b->crc)
		b->state = iw_crc32c(IW_CRC32C_INIT, b->fpdu, (size_t)(b->p - b->fpdu));
}

/* Appends payload from the user's memory. */
static inline void
mpa_tx_payload(struct mpa_tx *b, const uint8_t *src, uint32_t n)
{
	if (b->crc)
		b->state = iw_crc32c_copy(b->state, b->p, src, n);
	else
		memcpy(b->p, src, n);
	b->p += n;
}

/* Pad and CRC. */
static inline void
mpa_tx_end(struct mpa_tx *b, uint32_t ulpdu_len)
{
	uint32_t pad = mpa_hdr_pad(ulpdu_len);

	assert(b->p == b->fpdu + MPA_HDR_LENGTH_LEN + ulpdu_len);
	memset(b->p, 0, pad);
	if (b->crc && pad)
		b->state = iw_crc32c(b->state, b->p, pad);
	mpa_hdr_crc_emit(b->p + pad, b->crc ? iw_crc32c_final(b->state) : 0);
	b->used += mpa_hdr_fpdu_len(ulpdu_len);
	b->fpdus++;
}

#endif
