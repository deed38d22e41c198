/* SPDX-License-Identifier: BSD-3-Clause */
/* The target at work: it listens, and turns a loop of its own on each lcore that EAL was given. */
#ifndef SERVE_H
#define SERVE_H

#include "conn.h"
#include "options.h"

/* Serves until Ctrl-C; the exit code. */
int serve(const struct options *o, struct target *target);

/* The parts of it, for a benchmark that has both ends in one process: as many sides as the host has engines.  open: 0
 * or 1 after an error line.  A turn of each side is for one thread; open and close are for one that has all of them. */
struct server {
	struct target *target;
	struct iw_pd *pd;
	uint32_t n;
	struct host_side side[SHARD_MAX];
};
int serve_open(struct server *s, struct host *host, const struct options *o, struct target *target);
int serve_turn(struct host_side *side);
void serve_close(struct server *s);
/* No connection is left on any side. */
bool serve_idle(const struct server *s);

#endif
