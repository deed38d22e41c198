/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32c by the CPU's own instruction: best for short pieces.  Users call iw_crc32c(). */
#ifndef IW_CRC32C_SSE42_H
#define IW_CRC32C_SSE42_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This CPU has it; false on everything that is not x86-64. */
bool iw_crc32c_sse42_usable(void);

/* As iw_crc32c(); only when usable. */
uint32_t iw_crc32c_sse42(uint32_t state, const void *p, size_t n);

#endif
