/* SPDX-License-Identifier: BSD-3-Clause */
/* Who a segment belongs to: 4-tuple -> handle of a connection or a TIME_WAIT record, local address -> listener.
 * Keyed hash (peers choose ports and addresses, X6), chains in arrays sized at creation; the longest
 * chain is bounded. */
#ifndef TCP_DEMUX_H
#define TCP_DEMUX_H

#include <stdint.h>

#include "env.h"
#include "tcp_tuple.h"

#define TCP_DEMUX_CHAIN_MAX 32 /* entries in one bucket; full load has about 10 in the longest */

enum tcp_demux_kind { TCP_DEMUX_NONE, TCP_DEMUX_CONN, TCP_DEMUX_TIMEWAIT, TCP_DEMUX_SYN };

struct tcp_demux_entry {
	struct tcp_tuple tuple;
	uint32_t handle;
	uint32_t next; /* ref of the next in this bucket or in the free list; 0: none */
	uint32_t hash : 30, kind : 2;
};

struct tcp_demux_listener {
	uint8_t ip[16]; /* all zero: any */
	uint16_t port;
	uint32_t handle; /* 0: free */
	uint32_t next;
};

struct tcp_demux {
	const struct iw_env *env;
	uint32_t *buckets;               /* refs */
	struct tcp_demux_entry *entries; /* ref - 1 */
	uint32_t mask, max, used, fresh, free;
	uint32_t chain_longest; /* longest chain ever seen */
	uint64_t chain_refused; /* adds refused because of TCP_DEMUX_CHAIN_MAX */
	uint32_t *port_buckets; /* refs of listeners by local port */
	struct tcp_demux_listener *listeners;
	uint32_t port_mask, max_listeners;
	struct tcp_tuple last; /* what was hashed last: segments come in runs of one connection */
	uint32_t last_hash;
};

struct tcp_demux_hit {
	enum tcp_demux_kind kind; /* TCP_DEMUX_NONE: nobody */
	uint32_t handle;
	uint32_t ref; /* names the entry until it is deleted */
};

/* Room for max entries (connections + TIME_WAIT records) and max_listeners; env is kept.  0, -IW_E_INVAL (0 entries
 * or more than 2^29), -IW_E_NOMEM. */
int tcp_demux_init(struct tcp_demux *d, const struct iw_env *env, uint32_t max, uint32_t max_listeners);
void tcp_demux_fini(struct tcp_demux *d);

/* One hash, then whole 4-tuples are compared. */
struct tcp_demux_hit tcp_demux_find(const struct tcp_demux *d, const struct tcp_tuple *t);

/* The same in steps, for many at a time: the memory that one step looks at is on its way since the one before. */
uint32_t tcp_demux_hash(struct tcp_demux *d, const struct tcp_tuple *t);
/* Fetches the entry that is likely to be it. */
void tcp_demux_look(const struct tcp_demux *d, uint32_t hash);
/* The handle in that entry, 0: none; it need not be the one that tcp_demux_find_hashed() finds. */
uint32_t tcp_demux_guess(const struct tcp_demux *d, uint32_t hash);
struct tcp_demux_hit tcp_demux_find_hashed(const struct tcp_demux *d, const struct tcp_tuple *t, uint32_t hash);

/* Adds an entry and writes its ref (never 0).  -IW_E_ADDRINUSE: the 4-tuple is there; -IW_E_NOMEM: full, or the
 * chain is. */
int tcp_demux_add(struct tcp_demux *d, const struct tcp_tuple *t, enum tcp_demux_kind kind, uint32_t handle,
		  uint32_t *ref);

/* Hands an entry on to another object (connection -> TIME_WAIT record). */
void tcp_demux_set(struct tcp_demux *d, uint32_t ref, enum tcp_demux_kind kind, uint32_t handle);
void tcp_demux_del(struct tcp_demux *d, uint32_t ref);
/* Valid until the entry is deleted. */
const struct tcp_tuple *tcp_demux_tuple(const struct tcp_demux *d, uint32_t ref);

/* Enters a listener; ip all zero: any address.  handle is not 0.  -IW_E_ADDRINUSE: this very address and port is
 * taken (a specific one beside the wildcard is allowed); -IW_E_NOMEM: max_listeners reached. */
int tcp_demux_listen(struct tcp_demux *d, const uint8_t ip[16], uint16_t port, uint32_t handle);
void tcp_demux_unlisten(struct tcp_demux *d, const uint8_t ip[16], uint16_t port);

/* The listener for a SYN to ip:port, the specific address before the wildcard; 0: none. */
uint32_t tcp_demux_listener(const struct tcp_demux *d, const uint8_t ip[16], uint16_t port);
/* Some listener has this port, whatever the address (ephemeral ports avoid it, spec T26). */
bool tcp_demux_port_listens(const struct tcp_demux *d, uint16_t port);

#endif
