/* SPDX-License-Identifier: BSD-3-Clause */
/* What lib/port hangs on struct iw_engine. */
#ifndef PORT_ENGINE_H
#define PORT_ENGINE_H

#include "clock.h"
#include "engine.h"
#include "hostpath.h"
#include "port.h"

struct rte_ring;

struct port_engine {
	struct port port;
	struct clock clock;
	struct hostpath *hostpath;
	bool claim;                               /* of the addresses is to begin when the link is up */
	struct rte_ring *calls;                   /* of struct port_call, from other threads */
	struct rte_mempool *data_pool, *ctl_pool; /* those made here; NULL: lent */
};

struct port_call {
	void (*fn)(struct iw_engine *engine, void *arg);
	void *arg;
};

#endif
