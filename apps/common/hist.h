/* SPDX-License-Identifier: BSD-3-Clause */
/* A histogram of times in the manner of HDR: 64 steps for each power of two, so a value is known to 1.6 %, in memory
 * that does not grow with the number of samples. */
#ifndef HIST_H
#define HIST_H

#include <stdint.h>

#define HIST_STEPS 64
#define HIST_POWERS 40

struct hist {
	uint64_t count[HIST_POWERS * HIST_STEPS];
	uint64_t samples, sum, min, max;
};

void hist_init(struct hist *h);
void hist_add(struct hist *h, uint64_t value);
/* The value that the share (0..1) of all samples does not exceed; 0 without samples. */
uint64_t hist_at(const struct hist *h, double share);
double hist_mean(const struct hist *h);
/* Adds what other has counted. */
void hist_merge(struct hist *h, const struct hist *other);

#endif
