/* SPDX-License-Identifier: BSD-3-Clause */
/* The end that messages with receives come to: posts again what was used up, and tells the sender so, that it never
 * sends without a receive. */
#ifndef SINK_H
#define SINK_H

#include "peer.h"

/* One receive for link l, or for all of them, into the `in` of QP `in`.  False after an error line. */
bool sink_post(struct peer *p, struct link *l, uint32_t in);

/* Takes what has come, posts again, tells. */
bool sink_turn(struct peer *p);

/* How many more messages link l may send. */
uint64_t sink_credit(const struct peer *p, const struct link *l);

#endif
