/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a test begins.  With IW_TEST_START=wrap everything stands shortly before its wrap: the ticks of the timing
 * wheel (as far as 32 bits go), and the sequence numbers and timestamps of both ends.  Tests that are linked with
 * `startdep` have tcp_isn_seq() and tcp_isn_ts_offset() led to start.c by ld --wrap; otherwise what a 4-tuple begins
 * with is as good as random, and meets its wrap once in a million runs. */
#ifndef START_H
#define START_H

#include <stdbool.h>
#include <stdint.h>

bool start_wraps(void);
uint64_t start_ns(void);   /* now_ns */
uint32_t start_seq(void);  /* ISS of a peer made by hand */
uint32_t start_tick(void); /* what its timestamps are counted from */

#endif
