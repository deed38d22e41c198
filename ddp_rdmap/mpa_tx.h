/* SPDX-License-Identifier: BSD-3-Clause */
/* FPDUs into an mbuf, one behind the other (RFC 5044 §4.1), with markers if the peer wants them (§4.3).  Each octet is
 * written once, and payload is read once (design D2, D4). */
#ifndef MPA_TX_H
#define MPA_TX_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "crc32c.h"
#include "ddp_hdr.h"
#include "mpa_hdr.h"
#include "sum.h"

struct rte_mbuf;

#define MPA_TX_HEAD (FPDU_HDR_LENGTH_LEN + DDP_HDR_MAX_LEN)
_Static_assert(DDP_HDR_FRONT_LEN == FPDU_HDR_LENGTH_LEN, "the length stands in front of the header");

struct mpa_tx {
	/* Those of an mbuf, which mpa_tx_start() sets. */
	uint8_t *base; /* of its data */
	uint32_t used, room;
	uint64_t sum;    /* for the Internet checksum (mpa_tx_sum()) */
	uint32_t summed; /* octets behind base that are in the sum */
	uint32_t fpdus;
	struct rte_mbuf *more; /* the end of an FPDU, which stands in mbufs of its own (mpa_tx_lend()) */
	bool crc;
	bool sums; /* mpa_tx_sum() will be called */
	bool markers;
	uint16_t gap; /* octets before the next marker */
	/* Those of an FPDU, which mpa_tx_begin() sets. */
	uint8_t *fpdu;   /* the one under way */
	uint8_t *p;      /* next octet of it */
	uint32_t state;  /* of the CRC, up to p */
	uint8_t *length; /* markers: ULPDU_Length of the FPDU under way */
};

/* The same with markers among the octets, when b->markers. */
void mpa_tx_marked_begin(struct mpa_tx *b, const struct ddp_hdr *h, uint32_t ulpdu_len);
void mpa_tx_marked(struct mpa_tx *b, const uint8_t *src, uint32_t n);
void mpa_tx_marked_end(struct mpa_tx *b, uint32_t ulpdu_len);

/* Payload is copied in the pass of the CRC.  Of so many octets and more it is taken into the sum in that pass, too;
 * what is shorter when the mbuf ends, while it is in the first-level cache. */
#define MPA_TX_LONG 1024
/* What is shorter is not worth a call: it is copied and taken into the CRC by the word. */
#define MPA_TX_SHORT 128

/* As mpa_tx_payload(), for such payload.  Without markers. */
void mpa_tx_long(struct mpa_tx *b, const uint8_t *src, uint32_t n);
/* Ends an FPDU that stands alone behind `fpdu`: of head_len octets of length and headers, an even number that is there,
 * and n of payload, a multiple of 4 with them.  Without markers.  *sum: as of mpa_tx_sum(); NULL: not wanted. */
void mpa_tx_whole(uint8_t *fpdu, uint32_t head_len, const uint8_t *src, uint32_t n, bool crc, uint16_t *sum);
/* Ends an FPDU of which the headers were written: payload, pad and CRC stand in these mbufs, and nothing follows it.
 * Without CRC and markers. */
void mpa_tx_lend(struct mpa_tx *b, struct rte_mbuf *more);
/* The sum of all FPDUs, folded, as iw_sum_fold() makes it.  Once, at the end. */
uint16_t mpa_tx_sum(struct mpa_tx *b);

/* Begins an mbuf with that much room behind base. */
static inline void
mpa_tx_start(struct mpa_tx *b, uint8_t *base, uint32_t room)
{
	b->base = base;
	b->used = 0;
	b->room = room;
	b->sum = 0;
	b->summed = 0;
	b->fpdus = 0;
	b->more = NULL;
}

/* The largest ULPDU of an FPDU that has the mbuf for itself. */
static inline uint32_t
mpa_tx_mulpdu(const struct mpa_tx *b)
{
	return b->markers ? mpa_hdr_mulpdu_marked(b->room) : mpa_hdr_mulpdu(b->room);
}

/* Octets that the next FPDU takes with such an ULPDU. */
static inline uint32_t
mpa_tx_len(const struct mpa_tx *b, uint32_t ulpdu_len)
{
	uint32_t len = fpdu_hdr_len(ulpdu_len);

	return b->markers ? len + MPA_HDR_MARKER_LEN * mpa_hdr_markers(b->gap, len) : len;
}

/* What an FPDU begins with: ULPDU_Length and the DDP header. */
static inline struct ddp_hdr_image
mpa_tx_head(const struct ddp_hdr *h, uint32_t ulpdu_len)
{
	struct ddp_hdr_image head = ddp_hdr_image(h);

	head.word[0] |= fpdu_hdr_length_word(ulpdu_len);
	return head;
}

/* A few octets, and into the CRC. */
static inline void
mpa_tx_octets(struct mpa_tx *b, const void *src, uint32_t n)
{
	if (b->crc)
		b->state = iw_crc32c_copy_short(b->state, b->p, src, n);
	else
		memcpy(b->p, src, n);
	b->p += n;
}

/* Begins an FPDU whose ULPDU has that many octets: this header, and what follows by mpa_tx_payload(). */
static inline void
mpa_tx_begin(struct mpa_tx *b, const struct ddp_hdr *h, uint32_t ulpdu_len)
{
	struct ddp_hdr_image head;

	b->fpdu = b->p = b->base + b->used;
	b->state = IW_CRC32C_INIT;
	if (b->markers) {
		mpa_tx_marked_begin(b, h, ulpdu_len);
		return;
	}
	head = mpa_tx_head(h, ulpdu_len);
	mpa_tx_octets(b, &head.word[0], sizeof(head.word[0]));
	mpa_tx_octets(b, &head.word[1], sizeof(head.word[1]));
	if (!h->tagged)
		mpa_tx_octets(b, &head.mo, sizeof(head.mo));
}

/* Appends payload from the user's memory. */
static inline void
mpa_tx_payload(struct mpa_tx *b, const uint8_t *src, uint32_t n)
{
	if (b->markers) {
		mpa_tx_marked(b, src, n);
		return;
	}
	if (b->crc && n >= MPA_TX_LONG) {
		mpa_tx_long(b, src, n);
		return;
	}
	if (b->crc) {
		b->state = n < MPA_TX_SHORT ? iw_crc32c_copy_short(b->state, b->p, src, n)
					    : iw_crc32c_copy(b->state, b->p, src, n);
	} else {
		memcpy(b->p, src, n);
	}
	b->p += n;
}

/* Pad and CRC. */
static inline void
mpa_tx_end(struct mpa_tx *b, uint32_t ulpdu_len)
{
	static const uint8_t zeros[3];

	b->fpdus++;
	if (b->markers) {
		mpa_tx_marked_end(b, ulpdu_len);
		return;
	}
	assert(b->p == b->fpdu + FPDU_HDR_LENGTH_LEN + ulpdu_len);
	mpa_tx_octets(b, zeros, fpdu_hdr_pad(ulpdu_len));
	fpdu_hdr_crc_emit(b->p, b->crc ? iw_crc32c_final(b->state) : 0);
	b->used += fpdu_hdr_len(ulpdu_len);
}

#endif
