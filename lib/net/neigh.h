/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops of one engine and where they are on the link: asks, remembers, keeps a few packets waiting.  Knows no
 * question form: what is to be asked is popped as a value, what was heard is told, families alike.
 *
 *     (none) --use--> INCOMPLETE --answer--> REACHABLE --60 s--> STALE --use--> STALE, asking --answer--> REACHABLE
 *                         |                                                        |
 *                         +---- 3 questions at 1 s, none answered ----> FAILED <---+
 *     FAILED --5 s--> (none), or INCOMPLETE again when used then; STALE, unused for 10 min --> (none)
 *
 * Asked are at most one question a second and neighbour (RFC 1122 §2.3.2.1).  A neighbour that is STALE keeps its
 * address in use while it is asked; the first question of aging goes to that address alone, all others to everybody.
 * Timers: one for each entry, in one wheel; what it means depends on the state. */
#ifndef NEIGH_H
#define NEIGH_H

#include <iwarp/addr.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "iw_time.h"
#include "list.h"
#include "net_counters.h"
#include "pool.h"
#include "wheel.h"

#define NEIGH_ASKS 3
#define NEIGH_WAITING 4 /* packets; who comes later is told to come again */
#define NEIGH_ASK_NS IW_SEC
#define NEIGH_REACHABLE_NS (60 * IW_SEC)
#define NEIGH_FAILED_NS (5 * IW_SEC)
#define NEIGH_UNUSED_NS (600 * IW_SEC)

enum neigh_state {
	NEIGH_NEW,        /* inside the call that makes it only */
	NEIGH_INCOMPLETE, /* never heard of, is asked */
	NEIGH_REACHABLE,  /* confirmed lately */
	NEIGH_STALE,      /* believed, to be confirmed when used */
	NEIGH_FAILED      /* did not answer; remembered for a while */
};

/* How an address was heard. */
enum neigh_how {
	NEIGH_ANSWERED, /* told to us: a reply */
	NEIGH_ASKED_US, /* with a question to us */
	NEIGH_SEEN      /* told to others or to everybody */
};

/* One next hop.  Private to neigh.c. */
struct neigh {
	struct iw_addr addr;
	uint8_t mac[6];
	uint8_t state;      /* enum neigh_state */
	uint8_t asks;       /* questions since it is being asked */
	bool asking;        /* a question is out or due */
	bool ask_everybody; /* from the first question on */
	bool ever_used;     /* a packet was sent to it */
	uint8_t n_waiting;  /* only while INCOMPLETE */
	uint64_t touched_ns;
	uint64_t next_ask_ns; /* not before */
	uint64_t failed_until_ns;
	uint32_t hash_next; /* handle */
	struct iw_timer timer;
	struct iw_link use, question;
	struct rte_mbuf *waiting[NEIGH_WAITING]; /* oldest first */
};

struct neigh_table {
	struct iw_pool pool;
	uint32_t *buckets; /* handles */
	uint32_t mask;
	uint32_t incomplete; /* entries in that state */
	uint32_t settled;    /* counts how often one has left it */
	struct iw_wheel wheel;
	struct iw_list used;   /* with an address, least recently used first */
	struct iw_list unused; /* never sent to, or failed: go first */
	struct iw_list questions;
	const struct iw_env *env;
	struct net_counters *counters;
};

/* Room for max next hops.  0 or -IW_E_NOMEM, -IW_E_INVAL. */
int neigh_init(struct neigh_table *t, const struct iw_env *env, struct net_counters *c, uint32_t max, uint64_t now_ns);
/* Frees the packets that wait. */
void neigh_fini(struct neigh_table *t);

enum neigh_use {
	NEIGH_USE_KNOWN,  /* mac is filled: send */
	NEIGH_USE_WAIT,   /* give the packet to neigh_wait() */
	NEIGH_USE_LATER,  /* NEIGH_WAITING packets wait already: again when t->settled has moved */
	NEIGH_USE_FAILED, /* does not answer */
	NEIGH_USE_FULL    /* no entry to be had */
};

/* A packet is about to be sent to addr.  *handle caches the entry and is refreshed; with a good one no table is
 * searched.  May make an entry, and questions. */
enum neigh_use neigh_use(struct neigh_table *t, uint32_t *handle, const struct iw_addr *addr, uint64_t now_ns,
			 uint8_t mac[6]);

/* Takes over a packet after NEIGH_USE_WAIT with room left. */
void neigh_wait(struct neigh_table *t, uint32_t handle, struct rte_mbuf *m);

/* Frees every packet that waits. */
void neigh_flush_waiting(struct neigh_table *t);

/* addr was heard to be at mac.  Fills released[] with packets that waited for that, the caller's from now on, and
 * returns how many.  Makes an entry for NEIGH_ASKED_US only, and then at no used neighbour's expense. */
uint32_t neigh_learn(struct neigh_table *t, const struct iw_addr *addr, const uint8_t mac[6], enum neigh_how how,
		     uint64_t now_ns, struct rte_mbuf *released[NEIGH_WAITING]);

/* Something does not get through to addr: ask everybody, as soon as the rate allows, believing what is known meanwhile
 * (RFC 1122 §2.3.2.1 (4), RFC 9293 §3.8.3 R1). */
void neigh_reconfirm(struct neigh_table *t, uint32_t handle, const struct iw_addr *addr, uint64_t now_ns);

/* Another station answers for addr, without a claim that it is the right one: what is known stays, and is confirmed
 * when it is used (RFC 4861 §7.2.5). */
void neigh_doubt(struct neigh_table *t, const struct iw_addr *addr, uint64_t now_ns);

struct neigh_question {
	struct iw_addr addr;
	bool to_one; /* to mac alone */
	uint8_t mac[6];
};
/* Pops the next question to be sent; false: none. */
bool neigh_question(struct neigh_table *t, struct neigh_question *q);

/* The entry, by handle or else by search; NULL: none. */
const struct neigh *neigh_find(const struct neigh_table *t, uint32_t handle, const struct iw_addr *addr);

void neigh_tick(struct neigh_table *t, uint64_t now_ns);
uint64_t neigh_deadline(const struct neigh_table *t);

/* ---- inline ---- */

/* Its address is there, confirmed or believed. */
static inline bool
neigh_is_known(const struct neigh *e)
{
	return e->state == NEIGH_REACHABLE || e->state == NEIGH_STALE;
}

static inline bool
neigh_has_question(const struct neigh_table *t)
{
	return !iw_list_empty(&t->questions);
}

#endif
