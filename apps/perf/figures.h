/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a row by name: what tables, JSON and CSV are made from. */
#ifndef FIGURES_H
#define FIGURES_H

#include "report.h"

#define FIGURES_MAX 16

struct figure {
	const char *name; /* perftest's key where it has one */
	double value;
	int digits; /* behind the point; 0: a whole number */
};

/* How many. */
int figures_of_bw(const struct options *o, const struct report_bw *row, struct figure *f);
int figures_of_lat(const struct options *o, const struct report_lat *row, struct figure *f);

/* The factor from nanoseconds of a round trip to what is reported in microseconds: half of it, but for Reads and
 * atomics (as perftest does). */
double figures_lat_unit(const struct options *o);

/* "MiB/sec" or "Gb/sec", and octets a second of it. */
const char *figures_bw_name(const struct options *o);
double figures_bw_unit(const struct options *o);

/* SPDK's ladder of percentiles. */
extern const double figures_ladder[];
extern const int figures_ladder_len;

/* The largest value, in nanoseconds, of the i-th slot of a histogram. */
uint64_t figures_slot_top(uint32_t slot);

#endif
