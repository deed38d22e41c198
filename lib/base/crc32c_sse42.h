/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32c by the CPU's own instructions (SSE4.2 and PCLMULQDQ), on x86-64 only.  Users call iw_crc32c(). */
#ifndef IW_CRC32C_SSE42_H
#define IW_CRC32C_SSE42_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
#include <nmmintrin.h>
#include <string.h>

/* This CPU has them. */
static inline bool
iw_crc32c_sse42_usable(void)
{
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

/* As iw_crc32c() and iw_crc32c_copy(); only when usable.  The first is for short pieces. */
uint32_t iw_crc32c_sse42(uint32_t state, const void *p, size_t n);
uint32_t iw_crc32c_sse42_copy(uint32_t state, void *dst, const void *src, size_t n);

/* ---- inline ---- */

/* One lane, for short pieces inside of what is compiled for such CPUs.  dst: where they are copied, or NULL; known to
 * the compiler.  Octets that are copied are not read again: the source may change under our hands. */
__attribute__((target("sse4.2"), always_inline)) static inline uint32_t
iw_crc32c_sse42_words(uint32_t state, uint8_t *dst, const uint8_t *src, size_t n)
{
	uint64_t crc = state, word;
	uint32_t half;
	size_t at = 0;

	for (; n - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, src + at, sizeof(word));
		if (dst)
			memcpy(dst + at, &word, sizeof(word));
		crc = _mm_crc32_u64(crc, word);
	}
	if (n - at >= sizeof(half)) { /* FPDUs are whole words of 32 bits */
		memcpy(&half, src + at, sizeof(half));
		if (dst)
			memcpy(dst + at, &half, sizeof(half));
		crc = _mm_crc32_u32((uint32_t)crc, half);
		at += sizeof(half);
	}
	for (uint8_t octet; at < n; at++) {
		octet = src[at];
		if (dst)
			dst[at] = octet;
		crc = _mm_crc32_u8((uint32_t)crc, octet);
	}
	return (uint32_t)crc;
}
#endif

#endif
