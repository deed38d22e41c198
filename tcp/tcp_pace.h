/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing of large windows: new data leaves at no more than twice (slow start) or 1.2 times (avoidance) the window a
 * round trip, in bursts that are bounded by what the timing wheel can keep apart.  Small windows and round trips
 * shorter than some ticks of the wheel go as ACKs let them.  Decides only; tcp_tx keeps the deadline. */
#ifndef TCP_PACE_H
#define TCP_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define TCP_PACE_SEGMENTS 64u        /* windows of fewer are not paced */
#define TCP_PACE_RTT_NS (500 * 1000) /* nor are shorter round trips */
#define TCP_PACE_BURST_SEGMENTS 32u  /* may leave at once */
#define TCP_PACE_BURST_NS (64 * 1000)

/* What the rate follows from. */
struct tcp_pace_rate {
	uint64_t srtt_ns; /* 0: unknown */
	uint32_t cwnd, mss;
	bool slow_start;
};

/* Of one connection: when the last octet let go would have left at the rate. */
struct tcp_pace {
	uint64_t at_ns;
};

/* Whether this window is paced at all. */
bool tcp_pace_applies(const struct tcp_pace_rate *r);

/* When the next segment may go: now or earlier: at once. */
uint64_t tcp_pace_next(const struct tcp_pace *p, const struct tcp_pace_rate *r);

/* Octets left. */
void tcp_pace_sent(struct tcp_pace *p, const struct tcp_pace_rate *r, uint32_t octets, uint64_t now_ns);

#endif
