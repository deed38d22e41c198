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
	if (n >= AVX2_FROM && iw_sum_avx2_usable())
		return iw_sum_avx2(p, n);
#endif
	return iw_sum_scalar(p, n);
}
