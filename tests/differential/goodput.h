/* SPDX-License-Identifier: BSD-3-Clause */
/* How much gets through in a while: ours to Linux and Linux to ours, as a share of Linux to Linux over the same line.
 */
#ifndef GOODPUT_H
#define GOODPUT_H

#include "world.h"

#define GOODPUT_RUNS 31

/* 0: 7 of the least, GOODPUT_RUNS of the most. */
struct goodput_runs {
	uint32_t least, most;
};

/* Medians of at least so many runs, and of more, to the most, as long as a share is below 0.9; only: the number of the
 * one line to look at, or NULL.  Counts a failure for each share below 0.9. */
void goodput(struct world *w, struct goodput_runs runs, const char *only, uint32_t *passed, uint32_t *failed);

#endif
