/* SPDX-License-Identifier: BSD-3-Clause */
/* What memory must hold behind a run: each octet is a function of its QP and its place. */
#ifndef DATA_H
#define DATA_H

#include "peer.h"

/* Before a run with messages of size octets: the sources hold the pattern, the sinks nothing.  initiates: this end
 * posts the requests. */
void data_prepare(struct peer *p, uint32_t size, bool initiates);

/* Behind it: how many octets of the sinks of what this end (initiates) or the other one has posted are not as they
 * must be.  Of atomics, at the other end: by how much the counters are off `count`. */
uint64_t data_check(const struct peer *p, uint32_t size, bool initiates, uint64_t count);

#endif
