/* SPDX-License-Identifier: BSD-3-Clause */
/* Copy and CRC32c by 256-bit carry-less multiplication (AVX2 and VPCLMULQDQ), on x86-64 only.  Users call
 * iw_crc32c_copy(). */
#ifndef IW_CRC32C_VPCLMUL_H
#define IW_CRC32C_VPCLMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
#define IW_CRC32C_VPCLMUL_MIN 128 /* octets that it takes at least */

/* This CPU has them. */
bool iw_crc32c_vpclmul_usable(void);

/* As iw_crc32c_copy(); only when usable and from IW_CRC32C_VPCLMUL_MIN octets on. */
uint32_t iw_crc32c_vpclmul_copy(uint32_t state, void *dst, const void *src, size_t n);
#endif

#endif
