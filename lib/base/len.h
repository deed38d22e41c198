/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and bounds that cannot wrap: compare first, subtract afterwards. */
#ifndef IW_LEN_H
#define IW_LEN_H

#include <stdbool.h>
#include <stdint.h>

/* [off, off+len) lies inside [0, size). */
static inline bool
iw_len_fits(uint64_t off, uint64_t len, uint64_t size)
{
	return off <= size && len <= size - off;
}

/* base + len passes the end of the 64-bit space. */
static inline bool
iw_len_wraps(uint64_t base, uint64_t len)
{
	return len > 0 && len - 1 > UINT64_MAX - base;
}

static inline uint32_t
iw_len_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}
static inline uint32_t
iw_len_max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

#endif
