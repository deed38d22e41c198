/* SPDX-License-Identifier: BSD-3-Clause */
/* An FPDU's frame on the wire (RFC 5044 §4.1): ULPDU_Length 2, ULPDU, pad 0..3, CRC 4.  All that tcp knows of MPA, to
 * look at CRCs in the pass of its checksum. */
#ifndef FPDU_HDR_H
#define FPDU_HDR_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "cursor.h"

#define FPDU_HDR_LENGTH_LEN 2 /* octets of the ULPDU_Length field */
#define FPDU_HDR_CRC_LEN 4    /* octets of the CRC field */
#define FPDU_HDR_MIN 8        /* octets of the shortest FPDU: without an ULPDU */

/* Pad octets behind an ULPDU of that many octets. */
static inline uint32_t
fpdu_hdr_pad(uint32_t ulpdu)
{
	return -(ulpdu + FPDU_HDR_LENGTH_LEN) & 3;
}

/* Octets that the CRC covers: from ULPDU_Length to the last pad octet.  The CRC field stands at this offset. */
static inline uint32_t
fpdu_hdr_crc_off(uint32_t ulpdu)
{
	return FPDU_HDR_LENGTH_LEN + ulpdu + fpdu_hdr_pad(ulpdu);
}

/* Octets on the wire of an FPDU with that ULPDU: a multiple of 4. */
static inline uint32_t
fpdu_hdr_len(uint32_t ulpdu)
{
	return fpdu_hdr_crc_off(ulpdu) + FPDU_HDR_CRC_LEN;
}

/* The ULPDU_Length field. */
static inline uint16_t
fpdu_hdr_length_parse(const uint8_t *p)
{
	return iw_be16(p);
}

static inline void
fpdu_hdr_length_emit(uint8_t *p, uint16_t ulpdu)
{
	iw_be16_put(p, ulpdu);
}

/* The same as the first two octets of a word. */
static inline uint64_t
fpdu_hdr_length_word(uint32_t ulpdu)
{
	return htobe64((uint64_t)ulpdu << 48);
}

/* The CRC field: the final value of iw_crc32c_final(), least significant octet first (§4.4). */
static inline uint32_t
fpdu_hdr_crc_parse(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return le32toh(value);
}

static inline void
fpdu_hdr_crc_emit(uint8_t *p, uint32_t value)
{
	value = htole32(value);
	memcpy(p, &value, sizeof(value));
}

#endif
