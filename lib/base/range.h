/* SPDX-License-Identifier: BSD-3-Clause */
/* A small sorted set of disjoint half-open ranges of 32-bit serial numbers: SACK scoreboard, out-of-order
 * octets.  All within half the number space of each other. */
#ifndef IW_RANGE_H
#define IW_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#define IW_RANGE_MAX 32

struct iw_range {
	uint32_t from, to; /* [from, to) */
};

struct iw_range_set {
	struct iw_range r[IW_RANGE_MAX];
	uint32_t n;
};

static inline void
iw_range_init(struct iw_range_set *s)
{
	s->n = 0;
}

/* Adds [from, to), merging what touches.  false when the set is full and nothing merges: unchanged then.  An
 * empty range (to not after from) adds nothing. */
bool iw_range_add(struct iw_range_set *s, uint32_t from, uint32_t to);

/* Forgets everything before `to`. */
void iw_range_trim(struct iw_range_set *s, uint32_t to);

/* [from, to) lies wholly inside one range; an empty one always does. */
bool iw_range_covers(const struct iw_range_set *s, uint32_t from, uint32_t to);

/* Octets in [from, to) that are in the set. */
uint32_t iw_range_overlap(const struct iw_range_set *s, uint32_t from, uint32_t to);

/* Octets in the set. */
uint32_t iw_range_total(const struct iw_range_set *s);

#endif
