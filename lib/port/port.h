/* SPDX-License-Identifier: BSD-3-Clause */
/* One queue of an ethdev port: configured, started, bursts with a backlog, stopped. */
#ifndef PORT_H
#define PORT_H

#include <iwarp.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "netif.h"
#include "port_queues.h"

#define PORT_BURST 64
#define PORT_BACKLOG 256
/* A driver that takes nothing for so long will never take the frame at the front. */
#define PORT_STUCK_NS UINT64_C(200000000)

#define PORT_COUNTERS(X)                                                                            \
	X(rx_frames)                                                                                \
	X(tx_frames)                                                                                \
	X(tx_never_taken) /* dropped: the driver did not take it for long */                        \
	X(tx_backlogged)  /* times that the driver did not take everything */                       \
	X(handed_over)    /* frames for another engine of the port */                               \
	X(handed_in)      /* frames that another engine handed over */                              \
	X(hand_lost)      /* dropped: the other engine does not keep up, or no mbuf for its copy */ \
	X(host_refused)   /* dropped: lwIP had no memory for it */                                  \
	X(carried)        /* frames sent for engines without a queue */

IW_COUNTERS(port_counters, PORT_COUNTERS);

struct rte_ring;

struct port {
	uint16_t id, queue;
	uint16_t tag_room; /* octets of a tag that the driver counts as payload */
	uint16_t turn;     /* frames that a turn may make */
	bool started_here;
	bool lends;           /* sends frames whose payload is the user's memory */
	bool keeps;           /* and has to be asked what it is done with */
	struct rte_ring *via; /* whose queue frames leave by; NULL: our own */
	uint32_t n_backlog;
	uint64_t stuck_since; /* 0: not stuck */
	struct port_counters n;
	struct rte_mbuf *backlog[PORT_BACKLOG];
};

/* Configures and starts params->port_id (unless the caller did) and fills in what the rooms must know about it.  A port
 * that refuses the MTU is used all the same: `why` says so, and the result is 0.  -IW_E_NODEV, -IW_E_PORT, -IW_E_INVAL;
 * `why` holds a line. */
int port_open(struct port *p, const struct iw_engine_params *params, struct port_queues *queues, struct netif *nif,
	      char *why, size_t why_len);
/* Received frames make epfd readable once it is armed.  False: the port has no such interrupts. */
bool port_wakes(const struct port *p, int epfd);
/* False: frames wait already. */
bool port_arm(const struct port *p);
void port_disarm(const struct port *p);

struct iw_counter_list port_counter_list(const struct port *p);

/* Frees the backlog; stops and closes nothing that it did not start. */
void port_close(struct port *p);

/* The link is there, or the driver does not say. */
bool port_is_up(const struct port *p);

uint32_t port_rx(struct port *p, struct rte_mbuf **m, uint32_t max);
uint32_t port_rx_queue(struct port *p, uint16_t queue, struct rte_mbuf **m, uint32_t max);

/* Places left for new frames. */
static inline uint32_t
port_tx_space(const struct port *p)
{
	return PORT_BACKLOG - p->n_backlog;
}

/* How many of them a turn may make: the other end has work early, and what is under way stays in the cache. */
static inline uint32_t
port_tx_turn(const struct port *p)
{
	uint32_t space = port_tx_space(p);

	return space < p->turn ? space : p->turn;
}

/* Where new frames go before port_tx_flush(): at most port_tx_space() of them. */
static inline struct rte_mbuf **
port_tx_tail(struct port *p)
{
	return p->backlog + p->n_backlog;
}

/* Takes back what the driver is done with: needed for memory that is the user's, and only then. */
void port_tx_reap(struct port *p);

/* Sends what waits and the `added` frames at the tail; what the driver does not take now stays.  Returns how many it
 * took. */
uint32_t port_tx_flush(struct port *p, uint32_t added, uint64_t now_ns);

#endif
