/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc32c_vpclmul.h"

#ifdef __x86_64__
#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "crc32c_sse42.h"
#include "sum.h"
#include "sum_add.h"

/* Without the tuning the compiler cuts unaligned vectors in two, for CPUs that have none of this. */
#define TARGET __attribute__((target("sse4.2,avx2,pclmul,vpclmulqdq,tune=haswell")))
#define INLINE TARGET static inline __attribute__((always_inline))

/* Multiplications and the CRC instruction have units of their own, so both work at the same time: a block of k steps is
 * a part of 64 k octets that is folded into two vectors, and behind it three lanes of 32 k octets each.  The first part
 * of the first block is a little longer, so that few octets are left for the instruction alone. */
#define LANE 32u
#define VECTORS 64u
#define STEP (VECTORS + 3 * LANE)
#define STEPS_MAX 14u
#define MORE_MAX ((STEP - 1) / VECTORS)

/* Folding: a 128-bit part moves over D bits of data behind it by multiplying its halves with x^(D+63) and x^(D-1)
 * modulo the polynomial, all reflected; what comes out is congruent to it and is added to the data there.  (The
 * exponents are one less than D+64 and D because a reflected product lies one bit low.) */
struct fold {
	uint64_t low, high;
};

static const struct fold by_64_octets = {.low = UINT64_C(0x1c19243b) << 32, .high = UINT64_C(0x75bba45b) << 32};
static const struct fold by_32_octets = {.low = UINT64_C(0x33ccbbbc) << 32, .high = UINT64_C(0xa2158b34) << 32};

/* A state moves over 32 i octets behind it by multiplication with x^(256 i - 33), reflected: 33 comes from the
 * representation (a product of two reflected 32-bit values, then the x^32 of the instruction). */
static const uint32_t power[5 * STEPS_MAX + 2 * MORE_MAX + 1] = {
	0,          0xba4fc28e, 0x9e4addf8, 0x0715ce53, 0x0d3b6092, 0x878a92a7, 0xab7aff2a, 0x83348832, 0xb9e02b86,
	0xb6dd949b, 0xbac2fd7b, 0xce7f39f4, 0xd270f1a2, 0x2b3cac5d, 0x1b03397f, 0xb3e32c28, 0xdd7e3b0c, 0x10746f3c,
	0x271d9844, 0x93a5f730, 0x6b749fb2, 0xcec3662e, 0xe6fc4e6a, 0xb0cd4768, 0xd7a4825c, 0x0167d312, 0x26f6a60a,
	0x98d8d9cb, 0x68bce87a, 0x6956fc3b, 0x3771e98f, 0x2178513a, 0x170076fa, 0x6f345e45, 0xff0dba97, 0xf872e54c,
	0x86d8e4d2, 0x5bb8f1bc, 0xb3af077a, 0xca6ef3ac, 0xdd66cbbb, 0xe9e28eb4, 0xc9c8b782, 0x93e106a4, 0xd813b325,
	0x2342001e, 0x6d9a4957, 0xd2c3ed1a, 0x9ef68d35, 0xf2271e60, 0x2664fd8b, 0x02ee03b2, 0x363bd6b3, 0x5fabe670,
	0x00bcf5f6, 0x17f27698, 0xaa7c7ad5, 0xded288f8, 0x6d390dec, 0x6353c1cc, 0xf48642e9, 0xdd35bc8d, 0x9a5ede41,
	0x45cddf4e, 0xa51b6135, 0x80f2886b, 0x021ac5ef, 0x75451b04, 0xcbbe4ee1, 0xe0cdcf86, 0xdefba41c, 0xddaf5114,
	0xbedc6ba1, 0x3ae30875, 0xb1630f04};

/* What is done to the octets besides their CRC; known to the compiler. */
struct way {
	uint8_t *dst; /* NULL: they are not copied */
	const uint8_t *src;
	struct iw_sum_add *sum; /* NULL: not wanted */
};

/* The 32 octets at `at`, copied and added to the sum where these are wanted: each is read once. */
INLINE __m256i
take(const struct way *w, size_t at)
{
	__m256i data = _mm256_loadu_si256((const __m256i *)(const void *)(w->src + at));

	if (w->dst)
		_mm256_storeu_si256((__m256i *)(void *)(w->dst + at), data);
	if (w->sum)
		iw_sum_add(w->sum, data);
	return data;
}

INLINE __m256i
fold_onto(__m256i part, struct fold f, __m256i onto)
{
	__m256i by = _mm256_set_epi64x((long long)f.high, (long long)f.low, (long long)f.high, (long long)f.low);
	__m256i low = _mm256_clmulepi64_epi128(part, by, 0x00), high = _mm256_clmulepi64_epi128(part, by, 0x11);

	return _mm256_xor_si256(_mm256_xor_si256(low, high), onto);
}

INLINE uint64_t
move_over(uint64_t crc, uint32_t lanes)
{
	__m128i product =
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc), _mm_cvtsi32_si128((int)power[lanes]), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

INLINE uint64_t
crc_vector(uint64_t crc, __m256i data)
{
	__m128i low = _mm256_castsi256_si128(data), high = _mm256_extracti128_si256(data, 1);

	crc = _mm_crc32_u64(crc, (uint64_t)_mm_cvtsi128_si64(low));
	crc = _mm_crc32_u64(crc, (uint64_t)_mm_extract_epi64(low, 1));
	crc = _mm_crc32_u64(crc, (uint64_t)_mm_cvtsi128_si64(high));
	return _mm_crc32_u64(crc, (uint64_t)_mm_extract_epi64(high, 1));
}

/* One step of a lane.  Octets that are copied are not read again: the source may change under our hands. */
INLINE uint64_t
lane(uint64_t crc, const struct way *w, size_t at)
{
	uint64_t word;

	if (w->dst)
		return crc_vector(crc, take(w, at));
	if (w->sum)
		(void)take(w, at);
#pragma GCC unroll 4
	for (size_t i = 0; i < LANE; i += sizeof(word)) {
		memcpy(&word, w->src + at + i, sizeof(word));
		crc = _mm_crc32_u64(crc, word);
	}
	return crc;
}

/* A block of k steps, and `more` before them without lanes, as if nothing came before it. */
INLINE uint64_t
block(const struct way *w, uint32_t k, uint32_t more)
{
	size_t at = 0, end = (size_t)VECTORS * (more + k), next = (size_t)LANE * k, behind = end;
	__m256i first = _mm256_setzero_si256(), second = first;
	uint64_t a = 0, b = 0, c = 0;

	for (; at < (size_t)VECTORS * more; at += VECTORS) {
		first = fold_onto(first, by_64_octets, take(w, at));
		second = fold_onto(second, by_64_octets, take(w, at + 32));
	}
	for (; at < end; at += VECTORS, behind += LANE) {
		first = fold_onto(first, by_64_octets, take(w, at));
		second = fold_onto(second, by_64_octets, take(w, at + 32));
		a = lane(a, w, behind);
		b = lane(b, w, behind + next);
		c = lane(c, w, behind + 2 * next);
	}
	first = fold_onto(first, by_32_octets, second);
	return move_over(crc_vector(0, first), 3 * k) ^ move_over(a, 2 * k) ^ move_over(b, k) ^ c;
}

INLINE void
advance(struct way *w, size_t octets)
{
	w->src += octets;
	if (w->dst)
		w->dst += octets;
}

/* What is neither step nor vector goes first: then the blocks need not wait for it.  Adds nothing of it to the sum. */
INLINE uint32_t
all(uint32_t state, struct way w, size_t n)
{
	uint32_t k = (uint32_t)((n / STEP - 1) % STEPS_MAX) + 1, more = (uint32_t)(n % STEP / VECTORS);
	size_t head = n % STEP % VECTORS, octets;
	uint64_t crc = iw_crc32c_sse42_words(state, w.dst, w.src, head);

	assert(n >= IW_CRC32C_VPCLMUL_MIN);
	advance(&w, head);
	for (n -= head; n > 0; n -= octets, k = STEPS_MAX, more = 0) {
		octets = STEP * k + VECTORS * more;
		crc = move_over(crc, 5 * k + 2 * more) ^ block(&w, k, more);
		advance(&w, octets);
	}
	return (uint32_t)crc;
}

/* The sum of all, of which the kernel has taken what is behind the head. */
INLINE uint64_t
sum_all(const uint8_t *p, size_t n, const struct iw_sum_add *sum)
{
	size_t head = n % STEP % VECTORS;
	uint64_t behind = iw_sum_add_total(sum);

	_mm256_zeroupper();
	return iw_sum_join(iw_sum_short(p, head), head, behind);
}

TARGET uint32_t
iw_crc32c_vpclmul(uint32_t state, const void *p, size_t n)
{
	return all(state, (struct way){.src = p}, n);
}

TARGET uint32_t
iw_crc32c_vpclmul_sum(uint32_t state, const void *p, size_t n, uint64_t *sum)
{
	struct iw_sum_add vectors = {_mm256_setzero_si256(), _mm256_setzero_si256()};

	state = all(state, (struct way){.src = p, .sum = &vectors}, n);
	*sum = sum_all(p, n, &vectors);
	return state;
}

TARGET uint32_t
iw_crc32c_vpclmul_copy(uint32_t state, void *dst, const void *src, size_t n)
{
	return all(state, (struct way){.dst = dst, .src = src}, n);
}

TARGET uint32_t
iw_crc32c_vpclmul_copy_sum(uint32_t state, void *dst, const void *src, size_t n, uint64_t *sum)
{
	struct iw_sum_add vectors = {_mm256_setzero_si256(), _mm256_setzero_si256()};

	state = all(state, (struct way){.dst = dst, .src = src, .sum = &vectors}, n);
	*sum = sum_all(dst, n, &vectors);
	return state;
}
#endif
