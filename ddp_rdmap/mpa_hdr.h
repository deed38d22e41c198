/* SPDX-License-Identifier: BSD-3-Clause */
/* MPA on the wire (RFC 5044, RFC 6581): arithmetic of an FPDU, and the start-up frames. */
#ifndef MPA_HDR_H
#define MPA_HDR_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cursor.h"
#include "fpdu_hdr.h"

/* ---- What fits into an FPDU ---- */

#define MPA_HDR_MULPDU_MIN 128   /* RFC 5044 §3 */
#define MPA_HDR_MULPDU_MAX 64768 /* binds the sender only: a receiver takes up to 65535 */

/* The largest ULPDU that leaves an FPDU in one segment of emss octets (after the TCP options that are really
 * sent), RFC 5044 §4.5: emss - (6 + emss mod 4), never below 128 nor above 64768. */
uint32_t mpa_hdr_mulpdu(uint32_t emss);
/* The same when markers may stand in it: emss - (6 + 4 * ceil(emss / 512) + emss mod 4). */
uint32_t mpa_hdr_mulpdu_marked(uint32_t emss);

/* ---- Markers (RFC 5044 §4.3): reserved 16 bits, FPDUPTR 16 bits, at every 512th octet of the stream ---- */

#define MPA_HDR_MARKER_LEN 4
#define MPA_HDR_MARKER_GAP 508 /* octets between two of them */

/* A stream's place among its markers is its gap: octets before the next marker, 0: one is due now.  How many stand in
 * front of and between the next `octets` octets, which are not markers. */
static inline uint32_t
mpa_hdr_markers(uint32_t gap, uint32_t octets)
{
	return octets <= gap ? 0 : 1 + (octets - gap - 1) / MPA_HDR_MARKER_GAP;
}

/* The gap behind them.  A marker that would follow the last of them is not counted as passed: it is 0 then. */
static inline uint32_t
mpa_hdr_marker_gap(uint32_t gap, uint32_t octets)
{
	uint32_t beyond;

	if (octets <= gap)
		return gap - octets;
	beyond = (octets - gap) % MPA_HDR_MARKER_GAP;
	return beyond ? MPA_HDR_MARKER_GAP - beyond : 0;
}

/* FPDUPTR: octets from ULPDU_Length to the marker.  parse clears the two low bits (§4.3) and skips the reserved ones.
 */
uint16_t mpa_hdr_marker_parse(const uint8_t *p);
void mpa_hdr_marker_emit(uint8_t *p, uint16_t fpduptr);

/* ---- Start-up frames (RFC 5044 §7.1.1, RFC 6581 §6, §9) ---- */

#define MPA_HDR_STARTUP_LEN 20 /* without private data */
#define MPA_HDR_ENHANCED_LEN 4 /* the IRD/ORD words; counted in PD_Length */
#define MPA_HDR_PD_MAX 512     /* PD_Length */
#define MPA_HDR_STARTUP_MAX (MPA_HDR_STARTUP_LEN + MPA_HDR_PD_MAX)
#define MPA_HDR_NOT_NEGOTIATED 0x3fffu /* IRD, ORD: "not negotiated" (RFC 6581 §9.1) */

/* A Request or Reply, host order. */
struct mpa_startup {
	bool reply;
	bool markers;  /* M: the sender of this frame wants markers in what it receives */
	bool crc;      /* C in octet 16 */
	bool reject;   /* R; in a Request always false, it is ignored there */
	bool enhanced; /* S, of revision 2, with the four octets present */
	uint8_t rev;
	uint8_t reserved; /* of the flags octet, as received: 0x0f, in revision 1 also 0x10; never emitted, decides
			     nothing */
	uint16_t pd_len;  /* PD_Length as received: private_len, and 4 if enhanced.  emit ignores it */
	/* enhanced only, else all zero.  RFC 6581 calls the bits A, B, C, D. */
	bool peer_to_peer;                  /* A */
	bool rtr_send, rtr_write, rtr_read; /* B, C, D, as they stand (ignored by mpa_neg when A = 0) */
	uint16_t ird, ord;                  /* of the sender of the frame; 0..0x3fff */
	const uint8_t *private_data;        /* of the ULP; parse: points into the parsed octets; may be NULL when 0 */
	uint16_t private_len;
};

enum mpa_hdr_verdict {
	MPA_HDR_OK,
	MPA_HDR_NEED,        /* more octets */
	MPA_HDR_BAD_KEY,     /* M1, M2: not the key that belongs here */
	MPA_HDR_BAD_LENGTH,  /* M3: PD_Length above 512 */
	MPA_HDR_BAD_REV,     /* M7: revision 0 or above 2 (never for a Reply with R = 1) */
	MPA_HDR_BAD_ENHANCED /* M11: S = 1 and PD_Length below 4 (never for a Reply with R = 1) */
};

/* Reads a start-up frame from the first n octets of a stream.  `reply`: which one is expected.
 *   OK:   *f is filled; *total is the length of the frame; octets behind it are not looked at.
 *   NEED: *total is how many octets must be there before another call can get further (20, then the whole
 *         frame); a wrong key is found at the first octet that differs, so call for every prefix if you like.
 *   else: close the connection; *f is undefined. Found as soon as the 20 octets are in.
 * A Reply with R = 1 is OK whatever its revision and form: R is looked at before Rev and S (M11, M12). */
enum mpa_hdr_verdict mpa_hdr_startup_parse(const uint8_t *p, uint32_t n, bool reply, struct mpa_startup *f,
					   uint32_t *total);

/* Octets of ULP private data that fit: 508 or 512. */
static inline uint16_t
mpa_hdr_private_max(bool enhanced)
{
	return enhanced ? MPA_HDR_PD_MAX - MPA_HDR_ENHANCED_LEN : MPA_HDR_PD_MAX;
}

/* Octets that mpa_hdr_startup_emit() will write. */
uint32_t mpa_hdr_startup_len(const struct mpa_startup *f);

/* Writes the frame; returns its length, or 0 when it does not fit in room, or private data is too long.  Reserved
 * bits go out as 0; S needs rev 2 (asserted). */
uint32_t mpa_hdr_startup_emit(const struct mpa_startup *f, uint8_t *out, uint32_t room);

#endif
