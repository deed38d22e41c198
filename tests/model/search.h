/* SPDX-License-Identifier: BSD-3-Clause */
/* Breadth-first through every world that can be reached.  Worlds are kept whole: nothing is missed by a hash. */
#ifndef SEARCH_H
#define SEARCH_H

#include "world.h"

struct search_result {
	uint32_t states;
	const char *broken;        /* NULL: every promise holds everywhere */
	char trace[8192];          /* the shortest way there, in words */
	uint32_t cells[CM_PHASES]; /* how often each phase was seen */
};

/* At most max_states; more is an error ("too large"). */
void search_run(const struct scenario *sc, uint32_t max_states, struct search_result *r);

#endif
