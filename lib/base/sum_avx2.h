/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums by 256-bit additions (AVX2), on x86-64 only.  Users call iw_sum(). */
#ifndef IW_SUM_AVX2_H
#define IW_SUM_AVX2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
/* This CPU has them. */
static inline bool
iw_sum_avx2_usable(void)
{
	return __builtin_cpu_supports("avx2");
}

/* As iw_sum(); only when usable. */
uint64_t iw_sum_avx2(const void *p, size_t n);
#endif

#endif
