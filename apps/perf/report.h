/* SPDX-License-Identifier: BSD-3-Clause */
/* What was measured, in perftest's tables, so that what reads perftest's output reads ours; what is our own stands
 * behind its columns.  Also as JSON and CSV.
 *
 * "BW average" is the whole run until a zero-length Read behind its last request came back: everything has arrived.
 * "BW peak" is the best of windows of the run, by completions; a Write or Send completes when its last octet was handed
 * over to TCP, so a window may count what is still under way and be above what the wire carries. */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "hist.h"
#include "options.h"

struct report_bw {
	uint32_t size;
	uint64_t iters;
	double seconds, peak; /* peak: octets a second; 0: not measured */
	double roofline;      /* octets a second; 0: not measured */
	double cycles;        /* of this core, in the whole run */
	double cpu;           /* cores that the process kept busy; with --cpu_util */
	bool crc;
};

/* Nanoseconds of each round trip. */
struct report_lat {
	uint32_t size;
	double seconds, cycles;
	double squares; /* sum of the squares */
	struct hist hist;
};

struct report {
	const struct options *o;
	uint16_t mtu;
	bool crc;
	FILE *json;
	uint32_t rows;
};

/* Banner and header; opens the JSON file: false after an error line. */
bool report_open(struct report *r, const struct options *o, uint16_t mtu, bool crc);
void report_bw_row(struct report *r, const struct report_bw *row);
void report_lat_row(struct report *r, const struct report_lat *row);
void report_close(struct report *r);

#endif
