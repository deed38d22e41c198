/* SPDX-License-Identifier: BSD-3-Clause */
/* Composition of the rooms without effects: arrays and `now` in, arrays and a deadline out.  struct iw_engine of the
 * public API is this; lib/port hangs port, clock and pools on it. */
#ifndef ENGINE_H
#define ENGINE_H

#include <iwarp.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "cm_face.h"
#include "env.h"
#include "mbuf_stock.h"
#include "net_face.h"
#include "rdmap_face.h"
#include "tcp_face.h"

/* Everything is sized at creation. */
struct engine_params {
	struct netif nif;
	uint32_t max_conns, max_qps, max_cm_ids; /* 0: 4096, max_conns, max_conns */
	uint32_t max_neighbours;                 /* 0: 4096 */
	uint64_t fpdu_timeout_ns;                /* an FPDU that was begun must be finished by then; 0: 100 s */
	struct tcp_params tcp;                   /* max_* filled in when 0 */
	struct cm_params cm;
};

#define ENGINE_COUNTERS(X)                                                    \
	X(tx_no_mbuf)   /* data pool empty: the QP waits for the next turn */ \
	X(host_dropped) /* for the host path, which had no place */           \
	X(events)       /* CM and asynchronous events and CQ handlers delivered */

IW_COUNTERS(engine_counters, ENGINE_COUNTERS);

struct iw_engine {
	struct iw_env env;
	struct iw_domain *domain;
	struct net *net;
	struct tcp *tcp;
	struct rdmap *rdmap;
	struct cm *cm;
	uint64_t now_ns; /* of the running or last turn */
	/* Lent by lib/port: the time of a public call between two turns.  NULL: that of the last turn (tests). */
	uint64_t (*clock)(const struct iw_engine *e);
	void (*notify)(int fd); /* lent by lib/port: adds 1 to an eventfd.  NULL: it cannot (tests) */
	iw_async_handler async;
	void *async_context;
	uint32_t work; /* connections served, events delivered and frames made since lib/port last took it */
	bool in_handler;
	bool dry;                /* in the last turn a QP found no mbuf */
	bool destroy_asked;      /* from inside a handler */
	struct mbuf_stock stock; /* for what QPs send */
	struct engine_counters counters;
	struct iw_counter_list lent; /* by lib/port: what it counts */
	void *port;                  /* lib/port's; NULL in tests */
};

/* env: pools and secret are copied; pools must outlive the engine.  NULL: memory is short. */
struct iw_engine *engine_create(struct iw_domain *domain, const struct iw_env *env, const struct engine_params *params,
				uint64_t now_ns);
void engine_destroy(struct iw_engine *e);
/* Ends every connection: peers are told by RST in the next engine_tx(). */
void engine_abort(struct iw_engine *e);

/* One turn of a poll is: engine_rx, engine_tick, engine_deliver, engine_tx.  Packets that are neither TCP nor this
 * engine's ARP go to host[] (*n_host in: size; out: used), owned by the caller; what does not fit is dropped. */
void engine_rx(struct iw_engine *e, struct rte_mbuf **m, uint32_t n, uint64_t now_ns, struct rte_mbuf **host,
	       uint32_t *n_host);
void engine_tick(struct iw_engine *e, uint64_t now_ns);
uint32_t engine_deliver(struct iw_engine *e); /* events and CQ handlers; returns how many */
uint32_t engine_tx(struct iw_engine *e, struct rte_mbuf **out, uint32_t max, uint64_t now_ns);
uint64_t engine_deadline(const struct iw_engine *e);

/* Neither frames nor QPs wait, nor events of theirs: a turn would do nothing but look at timers. */
static inline bool
engine_is_idle(const struct iw_engine *e)
{
	return tcp_is_idle(e->tcp) && rdmap_is_idle(e->rdmap) && net_tx_is_empty(e->net);
}

/* The time for a call of the user's. */
static inline uint64_t
engine_now(const struct iw_engine *e)
{
	return e->clock && !e->in_handler ? e->clock(e) : e->now_ns;
}

#endif
