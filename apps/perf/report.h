/* SPDX-License-Identifier: BSD-3-Clause */
/* perftest's tables, so that what reads perftest's output reads ours; what is our own stands behind its columns.
 *
 * "BW average" is the whole run until a zero-length Read behind its last request came back: everything has arrived.
 * "BW peak" is the best of windows of the run, by completions; a Write or Send completes when its last octet was handed
 * over to TCP, so a window may count what is still under way and be above what the wire carries. */
#ifndef REPORT_H
#define REPORT_H

#include "options.h"

struct report_bw {
	uint32_t size;
	uint64_t iters;
	double seconds, peak; /* peak: octets a second; 0: not measured */
	double roofline;      /* octets a second; 0: not measured */
	double cycles;        /* of this core, in the whole run */
	bool crc;
};

/* Nanoseconds of each round trip, in the order in which they were taken. */
struct report_lat {
	uint32_t size;
	uint64_t n;
	uint64_t *ns; /* will be sorted */
};

void report_banner(const struct options *o, uint16_t mtu);
void report_header(const struct options *o);
void report_bw_row(const struct options *o, const struct report_bw *r);
void report_lat_row(const struct options *o, struct report_lat *r);
void report_end(void);

#endif
