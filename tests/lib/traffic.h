/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on both ends of a pair: Writes, Reads and Sends of drawn lengths at consecutive places; and what the memory of
 * both must hold afterwards (O10: each octet is a function of its end and its place). */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "pair.h"

#define TRAFFIC_AREA (1u << 20)
#define TRAFFIC_OPS 48

enum { TRAFFIC_SRC, TRAFFIC_WRITTEN, TRAFFIC_READ_INTO, TRAFFIC_RECEIVED, TRAFFIC_AREAS };

/* What one end does. */
struct traffic_end {
	struct pair_end *end;
	struct traffic_end *peer;
	uint8_t *memory; /* the areas with guards between them */
	struct iw_mr *mr[TRAFFIC_AREAS];
	uint32_t at[TRAFFIC_AREAS];
	uint32_t posted, completed, sends, received, expect_received;
	uint32_t recv_len[TRAFFIC_OPS];
};

struct traffic {
	struct sim *sim;
	struct traffic_end end[2];
};

/* Memory, registrations and receives of both ends: before they connect. */
void traffic_init(struct traffic *t, struct pair *pair);
/* All of it, in both directions at once; fails when it is not done within limit_ns. */
void traffic_exchange(struct traffic *t, uint64_t limit_ns);
/* What must be in memory when both ends have closed. */
void traffic_check(const struct traffic *t);
void traffic_fini(struct traffic *t);

#endif
