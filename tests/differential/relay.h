/* SPDX-License-Identifier: BSD-3-Clause */
/* The line between two ends: Ethernet frames in, frames out later, changed, twice or not at all, by a seed.  Pure: time
 * is an argument.  What it does to TCP's frames it does not do to ARP and neighbour discovery, which have no way to
 * find out. */
#ifndef RELAY_H
#define RELAY_H

#include <stdbool.h>
#include <stdint.h>

#define RELAY_FRAMES 8192
#define RELAY_FRAME_MAX 1600

struct relay_params {
	uint64_t delay_ns; /* one way */
	uint32_t loss_ppm, dup_ppm, corrupt_ppm, late_ppm;
	uint32_t ce_ppm;    /* marked as having met congestion, where ECN allows it (RFC 3168) */
	uint64_t late_ns;   /* by how much, at most: frames behind overtake it */
	uint64_t rate_bits; /* of the bottleneck, a second; 0: none */
	uint32_t queue;     /* octets that wait in front of it */
	uint16_t mtu;       /* layer 3, 0: as the ends have it ... */
	uint32_t mtu_after; /* ... from this frame of TCP on */
	bool black_hole;    /* what is too long is lost without a word */
};

struct relay_counts {
	uint64_t frames, lost, dup, corrupt, late, marked, too_big, full;
};

struct relay_frame {
	uint64_t at_ns, order;
	uint32_t len;
	int to;
	uint8_t data[RELAY_FRAME_MAX];
};

struct relay {
	struct relay_params params;
	struct relay_counts counts;
	uint64_t rng, order;
	uint64_t free_ns[2]; /* when the bottleneck of a direction has sent all that waits */
	uint32_t n, heap[RELAY_FRAMES], spare[RELAY_FRAMES];
	struct relay_frame frame[RELAY_FRAMES];
};

void relay_init(struct relay *r, const struct relay_params *params, uint64_t seed);

/* An end (0 or 1) has sent a frame. */
void relay_put(struct relay *r, int from, const uint8_t *frame, uint32_t len, uint64_t now_ns);

/* The next frame that is due, valid until the next call of relay_put(); NULL: none. */
const struct relay_frame *relay_take(struct relay *r, uint64_t now_ns);
uint64_t relay_next(const struct relay *r); /* when the next is due; UINT64_MAX: none is on its way */

#endif
