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

/* Also into kernels that are compiled for other CPUs, where a call would find vector registers that make it slow. */
#define IW_SUM_INLINE static inline __attribute__((always_inline))

/* For headers and the like. */
IW_SUM_INLINE uint64_t
iw_sum_short(const void *p, size_t n)
{
	const uint8_t *b = (const uint8_t *)p;
	uint8_t last[4] = {0};
	uint64_t sum = 0, two;
	uint32_t one;

	for (; n >= sizeof(two); n -= sizeof(two), b += sizeof(two)) {
		memcpy(&two, b, sizeof(two));
		sum += (two & UINT32_MAX) + (two >> 32);
	}
	if (n >= sizeof(one)) {
		memcpy(&one, b, sizeof(one));
		sum += one;
		n -= sizeof(one);
		b += sizeof(one);
	}
	if (n == 0)
		return sum;
	for (size_t i = 0; i < n; i++)
		last[i] = b[i];
	memcpy(&one, last, sizeof(one));
	return sum + one;
}

/* To 16 bits; not zero unless all octets were (RFC 1071 §2: what is carried out comes in again). */
IW_SUM_INLINE uint16_t
iw_sum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)((sum & UINT16_MAX) + (sum >> 16));
}

/* Adds the sum of what stands `off` octets behind the first of the summed data: only whether off is odd matters
 * (RFC 1071 §2 (B)). */
IW_SUM_INLINE uint64_t
iw_sum_join(uint64_t sum, uint64_t off, uint64_t part)
{
	return sum + (off & 1 ? __builtin_bswap16(iw_sum_fold(part)) : part);
}

#endif
