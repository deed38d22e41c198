/* SPDX-License-Identifier: BSD-3-Clause */
/* The DDP header with the RDMAP control octet (RFC 5041 §4, RFC 5040 §4.1), host order and lossless: emit of what was
 * parsed gives the same octets. */
#ifndef DDP_HDR_H
#define DDP_HDR_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#define DDP_HDR_TAGGED_LEN 14
#define DDP_HDR_UNTAGGED_LEN 18
#define DDP_HDR_MAX_LEN DDP_HDR_UNTAGGED_LEN
#define DDP_HDR_DV 1 /* the DDP version there is */
#define DDP_HDR_RV 1 /* the RDMAP version there is */

/* The first two octets: DDP's control, and RDMAP's behind it. */
enum ddp_hdr_ddp { DDP_HDR_T = 0x80, DDP_HDR_L = 0x40, DDP_HDR_RSVD_SHIFT = 2, DDP_HDR_DV_MASK = 0x03 };
enum ddp_hdr_rdmap { DDP_HDR_RV_SHIFT = 6, DDP_HDR_RDMAP_RSVD_SHIFT = 4, DDP_HDR_OPCODE_MASK = 0x0f };

struct ddp_hdr {
	bool tagged;        /* T */
	bool last;          /* L */
	uint8_t rsvd;       /* 4 reserved bits of the DDP octet, not to be checked */
	uint8_t dv;         /* DDP version, 0..3 */
	uint8_t rv;         /* RDMAP version, 0..3 */
	uint8_t rdmap_rsvd; /* 2 reserved bits of the RDMAP octet, not to be checked */
	uint8_t opcode;     /* 0..15 */
	uint8_t hdr_len;    /* 14 or 18 */
	uint32_t stag;      /* tagged: STag; untagged: Invalidate STag (0 or ignored unless the opcode invalidates) */
	uint64_t to;        /* tagged */
	uint32_t qn;        /* untagged, as the next two */
	uint32_t msn;
	uint32_t mo;
};

/* Octets of the header that begins with this octet: 14 or 18. */
static inline uint32_t
ddp_hdr_len(uint8_t first_octet)
{
	return first_octet & 0x80 ? DDP_HDR_TAGGED_LEN : DDP_HDR_UNTAGGED_LEN;
}

/* Reads the header from the start of a DDP segment (ULPDU) of which n octets are there.  Fails (false) only when n is
 * less than the header (F3); versions and opcodes are for the caller to judge. */
bool ddp_hdr_parse(const uint8_t *p, uint32_t n, struct ddp_hdr *h);

/* Writes it; returns hdr_len, or 0 when room is short. */
uint32_t ddp_hdr_emit(const struct ddp_hdr *h, uint8_t *out, uint32_t room);

/* Moves what was written on to the segment behind one of len octets: TO, or MO. */
void ddp_hdr_advance(uint8_t *hdr, uint32_t len);

/* ---- inline ---- */

/* How it stands on the wire, behind two octets of zeros: there an FPDU has its length.  By the word: who reads in words
 * what was just written in octets waits until that has left the write buffer, and a CRC reads at once. */
struct ddp_hdr_image {
	uint64_t word[2];
	uint32_t mo; /* untagged only */
};

#define DDP_HDR_FRONT_LEN 2 /* those two octets */

static inline struct ddp_hdr_image
ddp_hdr_image(const struct ddp_hdr *h)
{
	uint32_t ddp = (h->tagged ? DDP_HDR_T : 0u) | (h->last ? DDP_HDR_L : 0u) |
		       (uint32_t)h->rsvd << DDP_HDR_RSVD_SHIFT | h->dv;
	uint32_t rdmap =
		(uint32_t)h->rv << DDP_HDR_RV_SHIFT | (uint32_t)h->rdmap_rsvd << DDP_HDR_RDMAP_RSVD_SHIFT | h->opcode;
	uint64_t first = (uint64_t)(ddp << 8 | rdmap) << 32 | h->stag;
	uint64_t second = h->tagged ? h->to : (uint64_t)h->qn << 32 | h->msn;

	return (struct ddp_hdr_image){.word = {htobe64(first), htobe64(second)}, .mo = htobe32(h->mo)};
}

/* Headers to send: versions 1, reserved bits 0. */
static inline struct ddp_hdr
ddp_hdr_tagged(uint8_t opcode, bool last, uint32_t stag, uint64_t to)
{
	return (struct ddp_hdr){.tagged = true,
				.last = last,
				.dv = DDP_HDR_DV,
				.rv = DDP_HDR_RV,
				.opcode = opcode,
				.hdr_len = DDP_HDR_TAGGED_LEN,
				.stag = stag,
				.to = to};
}

static inline struct ddp_hdr
ddp_hdr_untagged(uint8_t opcode, bool last, uint32_t inv_stag, uint32_t qn, uint32_t msn, uint32_t mo)
{
	return (struct ddp_hdr){.last = last,
				.dv = DDP_HDR_DV,
				.rv = DDP_HDR_RV,
				.opcode = opcode,
				.hdr_len = DDP_HDR_UNTAGGED_LEN,
				.stag = inv_stag,
				.qn = qn,
				.msn = msn,
				.mo = mo};
}

#endif
