/* SPDX-License-Identifier: BSD-3-Clause */
/* The one clock: nanoseconds of the invariant TSC since the process first asked. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

struct clock {
	uint64_t base, mult; /* ns = (tsc - base) * mult >> 32 */
};

/* EAL must be initialised (it has measured the TSC's frequency). */
void clock_init(struct clock *c);
uint64_t clock_now(const struct clock *c);

#endif
