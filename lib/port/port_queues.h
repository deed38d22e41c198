/* SPDX-License-Identifier: BSD-3-Clause */
/* How many queues a port is to have, and how segments find theirs. */
#ifndef PORT_QUEUES_H
#define PORT_QUEUES_H

#include <iwarp.h>
#include <stdint.h>

#define PORT_RING_DEFAULT 1024 /* descriptors, where nobody asked for a number */

struct rte_mempool;
struct steer;

/* Queue pairs of a port: for so many engines; how many there are of them is filled in, and how they are steered. */
struct port_queues {
	uint32_t engines;
	struct rte_mempool *const *pools; /* of each */
	uint32_t n;                       /* <= engines */
	enum iw_steering steering;
	struct steer *steer; /* filled in when there are several engines; else NULL */
};

#endif
