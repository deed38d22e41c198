/* SPDX-License-Identifier: BSD-3-Clause */
#include "start.h"

#include <stdlib.h>
#include <string.h>

#include "tcp_isn.h"
#include "wheel.h"

#define PLAIN_NS (1000 * IW_SEC)
#define PLAIN_SEQ 0x10000000u
#define WRAP_NS ((UINT64_C(3) << (32 + IW_WHEEL_TICK_SHIFT)) - 100 * IW_MS)
#define SEQ_BELOW 50u /* the first segment of most tests lies across */
#define TS_BELOW 20u

uint32_t __real_tcp_isn_seq(const struct iw_env *env, const struct tcp_tuple *t, uint64_t now_ns);
uint32_t __real_tcp_isn_ts_offset(const struct iw_env *env, const struct tcp_tuple *t);
uint32_t __wrap_tcp_isn_seq(const struct iw_env *env, const struct tcp_tuple *t, uint64_t now_ns);
uint32_t __wrap_tcp_isn_ts_offset(const struct iw_env *env, const struct tcp_tuple *t);

bool
start_wraps(void)
{
	const char *start = getenv("IW_TEST_START");

	return start && strcmp(start, "wrap") == 0;
}

uint64_t
start_ns(void)
{
	return start_wraps() ? WRAP_NS : PLAIN_NS;
}

uint32_t
start_seq(void)
{
	return start_wraps() ? 0u - SEQ_BELOW : PLAIN_SEQ;
}

uint32_t
start_tick(void)
{
	return start_wraps() ? 0u - 1000u - TS_BELOW : 0;
}

/* By the same clock, with the same beginning for each 4-tuple. */
uint32_t
__wrap_tcp_isn_seq(const struct iw_env *env, const struct tcp_tuple *t, uint64_t now_ns)
{
	uint32_t isn = __real_tcp_isn_seq(env, t, now_ns);

	return start_wraps() ? isn - __real_tcp_isn_seq(env, t, WRAP_NS) - SEQ_BELOW : isn;
}

uint32_t
__wrap_tcp_isn_ts_offset(const struct iw_env *env, const struct tcp_tuple *t)
{
	return start_wraps() ? 0u - (uint32_t)(WRAP_NS / IW_MS) - TS_BELOW : __real_tcp_isn_ts_offset(env, t);
}
