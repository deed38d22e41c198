/* SPDX-License-Identifier: BSD-3-Clause */
/* 32-bit serial numbers (RFC 1982): TCP sequence numbers, timestamps, MSNs. */
#ifndef IW_SEQ_H
#define IW_SEQ_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t
iw_seq_diff(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}
static inline bool
iw_seq_lt(uint32_t a, uint32_t b)
{
	return iw_seq_diff(a, b) < 0;
}
static inline bool
iw_seq_leq(uint32_t a, uint32_t b)
{
	return iw_seq_diff(a, b) <= 0;
}
static inline bool
iw_seq_gt(uint32_t a, uint32_t b)
{
	return iw_seq_diff(a, b) > 0;
}
static inline bool
iw_seq_geq(uint32_t a, uint32_t b)
{
	return iw_seq_diff(a, b) >= 0;
}
static inline uint32_t
iw_seq_max(uint32_t a, uint32_t b)
{
	return iw_seq_gt(a, b) ? a : b;
}
static inline uint32_t
iw_seq_min(uint32_t a, uint32_t b)
{
	return iw_seq_lt(a, b) ? a : b;
}

/* x lies in [from, from + len). */
static inline bool
iw_seq_within(uint32_t x, uint32_t from, uint32_t len)
{
	return (uint32_t)(x - from) < len;
}

#endif
