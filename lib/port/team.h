/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines of one port.  Each polls its queue; what another one needs is handed over by a ring of that one: segments
 * of its connections, copies of what all have to learn (ARP, neighbour discovery, ICMP errors), frames that are to
 * leave by its queue.  The lead, the first one alive, speaks for the host, and takes over the queues of those that are
 * gone.  The port and all pools live until the last one goes. */
#ifndef TEAM_H
#define TEAM_H

#include "port.h"
#include "port_engine.h"
#include "steer.h"

struct team;

/* For the n engines of p's port; p[i] is engine i's, steer is copied.  NULL: memory is short. */
struct team *team_create(struct port_engine *const *p, uint32_t n, const struct port_queues *queues);
const struct steer *team_steer(const struct team *t);
enum iw_steering team_steering(const struct team *t);

/* Engine p is there no more, its last poll is over: the team keeps its pools.  The last one stops the port. */
void team_leave(struct port_engine *p);

/* It is the lead's turn to claim, or the lead has begun. */
bool team_may_claim(struct port_engine *p);

/* In place of a plain receive and transmit.  Returns frames. */
uint32_t team_rx(struct iw_engine *e, struct port_engine *p, uint64_t now_ns);
/* Something waits for this engine; it has a queue of its own; it minds those of engines that are gone. */
bool team_is_pending(const struct port_engine *p);
bool team_has_queue(const struct port_engine *p);
bool team_minds_queues(const struct port_engine *p);

/* Wakes those that were handed something in this turn, and, if frames were sent, the one whose queue they leave by. */
void team_ring(struct port_engine *p, uint32_t sent);

/* Frames of others that are to leave by our queue: put at the port's tail behind `added` of ours; returns how many. */
uint32_t team_carry(struct port_engine *p, uint32_t added);

#endif
