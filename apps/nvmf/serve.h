/* SPDX-License-Identifier: BSD-3-Clause */
/* The target at work: it listens, and turns one loop that is its own. */
#ifndef SERVE_H
#define SERVE_H

#include "conn.h"
#include "options.h"

/* Serves until Ctrl-C; the exit code. */
int serve(const struct options *o, struct target *target);

/* The parts of it, for a benchmark that has both ends in one process.  open: 0 or 1 after an error line. */
struct server {
	struct host_side side;
	iw_cm_id listener;
	uint64_t next_expiry;
};
int serve_open(struct server *s, struct host *host, const struct options *o, struct target *target);
int serve_turn(struct server *s);
void serve_close(struct server *s);

#endif
