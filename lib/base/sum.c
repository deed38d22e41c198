/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum.h"

#include "sum_avx2.h"

/* Below this the set-up of wide additions costs more than it saves. */
#define AVX2_FROM 128

uint64_t
iw_sum_scalar(const void *p, size_t n)
{
	return iw_sum_short(p, n);
}

uint64_t
iw_sum(const void *p, size_t n)
{
#ifdef __x86_64__
	size_t rest = n % IW_SUM_AVX2_VECTOR, whole = n - rest;

	if (n >= AVX2_FROM && iw_sum_avx2_usable())
		return iw_sum_avx2(p, whole) + iw_sum_short((const uint8_t *)p + whole, rest);
#endif
	return iw_sum_scalar(p, n);
}
