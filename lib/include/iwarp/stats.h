/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IWARP_STATS_H
#define IWARP_STATS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct iw_engine;

/* One named counter. */
struct iw_stat {
	const char *name; /* "tcp.rx_bad_cksum"; static */
	uint64_t value;
};

/* Copies up to max counters of an engine; returns how many there are (may exceed max).  The engine's thread. */
int iw_engine_stats(const struct iw_engine *engine, struct iw_stat *stats, int max);

#ifdef __cplusplus
}
#endif
#endif
