/* SPDX-License-Identifier: BSD-3-Clause */
/* A sum in vectors, inside kernels that have the data in registers (AVX2, x86-64 only). */
#ifndef IW_SUM_ADD_H
#define IW_SUM_ADD_H

#ifdef __x86_64__
#include <immintrin.h>
#include <stdint.h>

/* Σ of 64-bit lanes modulo 2^64, and Σ of their upper halves: that of the lower halves is what the two leave, so that
 * three operations take 32 octets. */
struct iw_sum_add {
	__m256i whole, upper;
};

__attribute__((target("avx2"), always_inline)) static inline void
iw_sum_add(struct iw_sum_add *s, __m256i data)
{
	s->whole = _mm256_add_epi64(s->whole, data);
	s->upper = _mm256_add_epi64(s->upper, _mm256_srli_epi64(data, 32));
}

/* As iw_sum() of everything that was added. */
__attribute__((target("avx2"), always_inline)) static inline uint64_t
iw_sum_add_total(const struct iw_sum_add *s)
{
	__m256i lower = _mm256_sub_epi64(s->whole, _mm256_slli_epi64(s->upper, 32));
	__m256i all = _mm256_add_epi64(lower, s->upper);
	__m128i half = _mm_add_epi64(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));

	return (uint64_t)_mm_cvtsi128_si64(half) + (uint64_t)_mm_extract_epi64(half, 1);
}

#endif

#endif
