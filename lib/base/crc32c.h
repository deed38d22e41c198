/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32c (Castagnoli), by pieces: state goes in, state comes out.
 *     state = IW_CRC32C_INIT; state = iw_crc32c(state, p, n); ...; value = iw_crc32c_final(state);
 * The MPA field carries the value least significant octet first (RFC 5044 §4.4). */
#ifndef IW_CRC32C_H
#define IW_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include "crc32c_sse42.h"

#define IW_CRC32C_INIT 0xffffffffu
/* The value of octets that end with the value of those before it, least significant octet first. */
#define IW_CRC32C_SEALED 0x48674bc7u

static inline uint32_t
iw_crc32c_final(uint32_t state)
{
	return state ^ 0xffffffffu;
}

/* Chosen at run time by what the CPU has. */
uint32_t iw_crc32c(uint32_t state, const void *p, size_t n);

/* Copies n octets and takes them into the CRC: one call for each piece of an FPDU. */
uint32_t iw_crc32c_copy(uint32_t state, void *dst, const void *src, size_t n);

/* The same with the sum of the n octets for the Internet checksum, as iw_sum() makes it, in one pass over them. */
uint32_t iw_crc32c_sum(uint32_t state, const void *p, size_t n, uint64_t *sum);
uint32_t iw_crc32c_copy_sum(uint32_t state, void *dst, const void *src, size_t n, uint64_t *sum);

/* As iw_crc32c(), for headers and the like. */
static inline uint32_t
iw_crc32c_short(uint32_t state, const void *p, size_t n)
{
#ifdef __SSE4_2__ /* all CPUs have it that this is compiled for */
	return iw_crc32c_sse42_words(state, NULL, (const uint8_t *)p, n);
#else
	return iw_crc32c(state, p, n);
#endif
}

/* As iw_crc32c_copy(), for the same. */
static inline uint32_t
iw_crc32c_copy_short(uint32_t state, void *dst, const void *src, size_t n)
{
#ifdef __SSE4_2__
	return iw_crc32c_sse42_words(state, (uint8_t *)dst, (const uint8_t *)src, n);
#else
	return iw_crc32c_copy(state, dst, src, n);
#endif
}

/* The reference: a table, one octet at a time. */
uint32_t iw_crc32c_scalar(uint32_t state, const void *p, size_t n);

#endif
