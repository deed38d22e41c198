/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include <rte_cycles.h>

#include "iw_time.h"

void
clock_init(struct clock *c)
{
	/* All engines of a process share the base, so that their times can be compared. */
	static uint64_t process_base;
	uint64_t none = 0, tsc = rte_rdtsc();

	__atomic_compare_exchange_n(&process_base, &none, tsc, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	c->base = __atomic_load_n(&process_base, __ATOMIC_ACQUIRE);
	c->mult = (uint64_t)(((unsigned __int128)IW_SEC << 32) / rte_get_tsc_hz());
}

uint64_t
clock_now(const struct clock *c)
{
	uint64_t tsc = rte_rdtsc();

	/* A core whose TSC lags by a few cycles must not see a huge time. */
	if (tsc < c->base)
		return 1;
	return (uint64_t)(((unsigned __int128)(tsc - c->base) * c->mult) >> 32) + 1;
}
