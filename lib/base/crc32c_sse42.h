/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32c by the CPU's own instructions (SSE4.2 and PCLMULQDQ), on x86-64 only.  Users call iw_crc32c(). */
#ifndef IW_CRC32C_SSE42_H
#define IW_CRC32C_SSE42_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
/* This CPU has them. */
static inline bool
iw_crc32c_sse42_usable(void)
{
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

/* As iw_crc32c() and iw_crc32c_copy(); only when usable.  The first is for short pieces. */
uint32_t iw_crc32c_sse42(uint32_t state, const void *p, size_t n);
uint32_t iw_crc32c_sse42_copy(uint32_t state, void *dst, const void *src, size_t n);
#endif

#endif
