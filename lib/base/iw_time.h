/* SPDX-License-Identifier: BSD-3-Clause */
/* Time is an argument, in nanoseconds of a clock that never goes back; nobody left of lib/port reads one. */
#ifndef IW_TIME_H
#define IW_TIME_H

#include <stdint.h>

#define IW_US UINT64_C(1000)
#define IW_MS UINT64_C(1000000)
#define IW_SEC UINT64_C(1000000000)
#define IW_NEVER UINT64_MAX

static inline uint64_t
iw_time_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* now + delay that stops at IW_NEVER instead of wrapping. */
static inline uint64_t
iw_time_after(uint64_t now_ns, uint64_t delay_ns)
{
	return delay_ns > IW_NEVER - now_ns ? IW_NEVER : now_ns + delay_ns;
}

#endif
