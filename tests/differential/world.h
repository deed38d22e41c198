/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends with a relay between, on the real clock, in one thread. */
#ifndef WORLD_H
#define WORLD_H

#include "end.h"
#include "relay.h"

struct world {
	struct end *end[2]; /* 0 connects, 1 listens */
	struct relay relay;
	uint64_t now_ns;
};

/* False: an end does not start, and has said why. */
bool world_open(struct world *w, const struct end_kind *const kind[2], bool v6, bool lazy,
		const struct relay_params *params, uint64_t seed);
void world_close(struct world *w);

/* What each sends, before the first turn. */
void world_streams(struct world *w, uint64_t seed, uint64_t want0, uint64_t want1);

/* Everything that can happen now, then waits for the next thing that can, but not beyond until_ns. */
void world_turn(struct world *w, uint64_t until_ns);

uint64_t world_clock(void);

#endif
