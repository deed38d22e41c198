/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc32c_vpclmul.h"

#ifdef __x86_64__
#include <assert.h>
#include <immintrin.h>

#include "crc32c_sse42.h"

#define TARGET __attribute__((target("sse4.2,avx2,pclmul,vpclmulqdq")))

/* Folding: a 128-bit part moves over D bits of data behind it by multiplying its halves with x^(D+63) and x^(D-1)
 * modulo the polynomial, all reflected; what comes out is congruent to it and is added to the data there.  (The
 * exponents are one less than D+64 and D because a reflected product lies one bit low.) */
struct fold {
	uint64_t low, high;
};

static const struct fold by_128_octets = {.low = UINT64_C(0x6577b245) << 32, .high = UINT64_C(0x7417153f) << 32};
static const struct fold by_32_octets = {.low = UINT64_C(0x33ccbbbc) << 32, .high = UINT64_C(0xa2158b34) << 32};

bool
iw_crc32c_vpclmul_usable(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq") && iw_crc32c_sse42_usable();
}

TARGET static inline __m256i
fold_onto(__m256i part, struct fold f, __m256i onto)
{
	__m256i power = _mm256_set_epi64x((long long)f.high, (long long)f.low, (long long)f.high, (long long)f.low);
	__m256i low = _mm256_clmulepi64_epi128(part, power, 0x00);
	__m256i high = _mm256_clmulepi64_epi128(part, power, 0x11);

	return _mm256_xor_si256(_mm256_xor_si256(low, high), onto);
}

TARGET static inline __m256i
copy_32(uint8_t *d, const uint8_t *s)
{
	__m256i data = _mm256_loadu_si256((const __m256i *)(const void *)s);

	_mm256_storeu_si256((__m256i *)(void *)d, data);
	return data;
}

/* The state of 32 octets that everything before was folded into. */
TARGET static inline uint32_t
reduce(__m256i all)
{
	uint8_t octets[32];

	_mm256_storeu_si256((__m256i *)(void *)octets, all);
	return iw_crc32c_sse42(0, octets, sizeof(octets));
}

/* Copies n octets: a multiple of 32, at least 128. */
TARGET static inline uint32_t
copy_folding(uint32_t state, uint8_t *d, const uint8_t *s, size_t n)
{
	__m256i part[4], all;
	size_t at = 128;

	for (size_t i = 0; i < 4; i++)
		part[i] = copy_32(d + 32 * i, s + 32 * i);
	part[0] = _mm256_xor_si256(part[0], _mm256_set_epi32(0, 0, 0, 0, 0, 0, 0, (int)state));
	for (; n - at >= 128; at += 128)
		for (size_t i = 0; i < 4; i++)
			part[i] = fold_onto(part[i], by_128_octets, copy_32(d + at + 32 * i, s + at + 32 * i));
	all = part[0];
	for (size_t i = 1; i < 4; i++)
		all = fold_onto(all, by_32_octets, part[i]);
	for (; at < n; at += 32)
		all = fold_onto(all, by_32_octets, copy_32(d + at, s + at));
	return reduce(all);
}

TARGET uint32_t
iw_crc32c_vpclmul_copy(uint32_t state, void *dst, const void *src, size_t n)
{
	size_t whole = n & ~(size_t)31;

	assert(n >= IW_CRC32C_VPCLMUL_MIN);
	state = copy_folding(state, dst, src, whole);
	return iw_crc32c_sse42_copy(state, (uint8_t *)dst + whole, (const uint8_t *)src + whole, n - whole);
}
#endif
