/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc32c_sse42.h"

#ifdef __x86_64__
#include <wmmintrin.h>

/* The instruction takes 8 octets in three cycles but a new one can start in each: three lanes run side by side.
 * A lane's value moves over the octets behind it by a multiplication with a power of x, modulo the polynomial:
 * x^33 comes from the representation (a product of two reflected 32-bit values, then the instruction's x^32). */
struct lanes {
	size_t octets;     /* of one lane */
	uint64_t one, two; /* x^(8 octets - 33), x^(16 octets - 33), reflected */
};

static const struct lanes wide = {.octets = 256, .one = 0xb9e02b86, .two = 0xdd7e3b0c};
static const struct lanes narrow = {.octets = 64, .one = 0x9e4addf8, .two = 0x0d3b6092};

#define TARGET __attribute__((target("sse4.2,pclmul")))

TARGET uint32_t
iw_crc32c_sse42(uint32_t state, const void *p, size_t n)
{
	return iw_crc32c_sse42_words(state, NULL, p, n);
}

TARGET static inline uint64_t
copy_word(uint64_t crc, uint8_t *d, const uint8_t *s)
{
	uint64_t word;

	memcpy(&word, s, 8);
	memcpy(d, &word, 8);
	return _mm_crc32_u64(crc, word);
}

TARGET static inline uint64_t
move_over(uint64_t crc, uint64_t power)
{
	__m128i product =
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc), _mm_cvtsi64_si128((long long)power), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Copies three lanes that lie behind each other. */
TARGET static inline uint64_t
copy_lanes(uint64_t a, uint8_t *d, const uint8_t *s, struct lanes l)
{
	uint64_t b = 0, c = 0;

	for (size_t i = 0; i < l.octets; i += 8) {
		a = copy_word(a, d + i, s + i);
		b = copy_word(b, d + i + l.octets, s + i + l.octets);
		c = copy_word(c, d + i + 2 * l.octets, s + i + 2 * l.octets);
	}
	return move_over(a, l.two) ^ move_over(b, l.one) ^ c;
}

TARGET uint32_t
iw_crc32c_sse42_copy(uint32_t state, void *dst, const void *src, size_t n)
{
	uint8_t *d = dst;
	const uint8_t *s = src;
	uint64_t crc = state;

	for (; n >= 3 * wide.octets; n -= 3 * wide.octets, s += 3 * wide.octets, d += 3 * wide.octets)
		crc = copy_lanes(crc, d, s, wide);
	for (; n >= 3 * narrow.octets; n -= 3 * narrow.octets, s += 3 * narrow.octets, d += 3 * narrow.octets)
		crc = copy_lanes(crc, d, s, narrow);
	return iw_crc32c_sse42_words((uint32_t)crc, d, s, n);
}
#endif
