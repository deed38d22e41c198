/* SPDX-License-Identifier: BSD-3-Clause */
/* What lib/port hangs on struct iw_engine. */
#ifndef PORT_ENGINE_H
#define PORT_ENGINE_H

#include "bell.h"
#include "clock.h"
#include "engine_face.h"
#include "hostpath.h"
#include "port.h"

struct rte_ring;
struct team;

struct port_engine {
	struct port port;
	struct team *team; /* the engines of the port; NULL: there is one */
	uint32_t number;   /* of these */
	uint32_t carrier;  /* whose queue its frames leave by, when port.via is one's */
	struct clock clock;
	uint64_t idle_until; /* when nothing comes a turn need only look at timers, and not before this */
	struct hostpath *hostpath;
	struct iw_bell own_bell, *bell;           /* the latter: own, or the team's */
	int epoll;                                /* for who waits; -1: not made yet */
	bool rx_interrupts;                       /* were asked for */
	bool frames_wake;                         /* received frames make it readable */
	uint64_t touched;                         /* engines that were handed something since they were rung for */
	bool claim;                               /* of the addresses is to begin when the link is up */
	struct rte_ring *calls;                   /* of struct port_call, from other threads */
	struct rte_mempool *data_pool, *ctl_pool; /* those made here; NULL: lent */
	struct rte_mempool *loan_pool;            /* NULL: nothing leaves from the user's memory */
};

#define PORT_CALLS 256 /* that wait */

struct port_call {
	void (*fn)(struct iw_engine *engine, void *arg);
	void *arg;
};

/* n engines on one port: the work of iw_engine_create() and iw_engines_create(). */
int port_engine_create(struct iw_domain *domain, const struct iw_engine_params *params, uint32_t n,
		       struct iw_engine **engines, char *why, size_t why_len);
/* Frames that came for this engine, by its queue or from another one: the host path's go there. */
void port_engine_rx(struct iw_engine *e, struct port_engine *p, struct rte_mbuf **m, uint32_t n, uint64_t now_ns);
/* Tells peers, and takes everything back. */
void port_engine_destroy(struct iw_engine *e);
/* The rest of it: port, ring and pools of an engine that is there no more, or never was. */
void port_engine_fini(struct port_engine *p);

#endif
