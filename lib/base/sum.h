/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Internet checksum adds up (RFC 1071): the 16-bit words of n octets in the order of memory, an odd last octet
 * followed by a zero.  It is not folded to 16 bits:
 * up to 2^31 octets go into one. */
#ifndef IW_SUM_H
#define IW_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Chosen at run time by what the CPU has; for long pieces. */
uint64_t iw_sum(const void *p, size_t n);

/* The reference. */
uint64_t iw_sum_scalar(const void *p, size_t n);

/* ---- inline ---- */

/* For headers and the like. */
static inline uint64_t
iw_sum_short(const void *p, size_t n)
{
	const uint8_t *b = (const uint8_t *)p;
	uint64_t sum = 0;
	uint32_t word;

	for (; n >= sizeof(word); n -= sizeof(word), b += sizeof(word)) {
		memcpy(&word, b, sizeof(word));
		sum += word;
	}
	word = 0;
	for (size_t i = 0; i < n; i++)
		memcpy((uint8_t *)&word + i, b + i, 1);
	return sum + word;
}

/* To 16 bits; not zero unless all octets were (RFC 1071 §2: what is carried out comes in again). */
static inline uint16_t
iw_sum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)((sum & UINT16_MAX) + (sum >> 16));
}

/* Adds the sum of what stands `off` octets behind the first of the summed data: only whether off is odd matters
 * (RFC 1071 §2 (B)). */
static inline uint64_t
iw_sum_join(uint64_t sum, uint64_t off, uint64_t part)
{
	return sum + (off & 1 ? __builtin_bswap16(iw_sum_fold(part)) : part);
}

#endif
