/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32c by 256-bit carry-less multiplication beside the CPU's CRC instruction (AVX2, VPCLMULQDQ, SSE4.2), on x86-64
 * only.  Users call iw_crc32c(). */
#ifndef IW_CRC32C_VPCLMUL_H
#define IW_CRC32C_VPCLMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crc32c_sse42.h"

#ifdef __x86_64__
#define IW_CRC32C_VPCLMUL_MIN 160 /* octets that it takes at least */

/* This CPU has them. */
static inline bool
iw_crc32c_vpclmul_usable(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq") && iw_crc32c_sse42_usable();
}

/* As iw_crc32c(), iw_crc32c_sum() and so on; only when usable and from IW_CRC32C_VPCLMUL_MIN octets on. */
uint32_t iw_crc32c_vpclmul(uint32_t state, const void *p, size_t n);
uint32_t iw_crc32c_vpclmul_sum(uint32_t state, const void *p, size_t n, uint64_t *sum);
uint32_t iw_crc32c_vpclmul_copy(uint32_t state, void *dst, const void *src, size_t n);
uint32_t iw_crc32c_vpclmul_copy_sum(uint32_t state, void *dst, const void *src, size_t n, uint64_t *sum);
#endif

#endif
