/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum_avx2.h"

#ifdef __x86_64__
#include "sum.h"
#include "sum_add.h"

#define TARGET __attribute__((target("avx2,tune=haswell")))
#define VECTOR 32

TARGET static inline __attribute__((always_inline)) __m256i
load(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

TARGET uint64_t
iw_sum_avx2(const void *p, size_t n)
{
	struct iw_sum_add a = {_mm256_setzero_si256(), _mm256_setzero_si256()}, b = a;
	const uint8_t *o = (const uint8_t *)p;
	uint64_t sum;

	for (; n >= 4 * VECTOR; n -= 4 * VECTOR, o += 4 * VECTOR) {
		iw_sum_add(&a, load(o));
		iw_sum_add(&b, load(o + VECTOR));
		iw_sum_add(&a, load(o + 2 * VECTOR));
		iw_sum_add(&b, load(o + 3 * VECTOR));
	}
	for (; n >= VECTOR; n -= VECTOR, o += VECTOR)
		iw_sum_add(&a, load(o));
	sum = iw_sum_add_total(&a) + iw_sum_add_total(&b);
	_mm256_zeroupper();
	return sum + iw_sum_short(o, n);
}
#endif
