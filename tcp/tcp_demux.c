/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_demux.h"

#include <assert.h>
#include <iwarp/err.h>

#include "ring.h"

#define MAX_ENTRIES (1u << 29)
#define HASH_BITS 30

static const uint8_t any_ip[16];

static uint32_t
hash_of(const struct tcp_demux *d, const struct tcp_tuple *t)
{
	return (uint32_t)iw_env_hash(d->env, IW_HASH_DEMUX, t, sizeof(*t)) & ((1u << HASH_BITS) - 1);
}

int
tcp_demux_init(struct tcp_demux *d, const struct iw_env *env, uint32_t max, uint32_t max_listeners)
{
	*d = (struct tcp_demux){.env = env, .max = max, .max_listeners = max_listeners};
	if (max == 0 || max > MAX_ENTRIES || max_listeners > UINT16_MAX)
		return -IW_E_INVAL;
	d->mask = iw_ring_size(max) - 1;
	d->port_mask = iw_ring_size(max_listeners) - 1;
	d->buckets = iw_env_alloc(((size_t)d->mask + 1) * sizeof(*d->buckets));
	d->entries = iw_env_alloc((size_t)max * sizeof(*d->entries));
	d->port_buckets = iw_env_alloc(((size_t)d->port_mask + 1) * sizeof(*d->port_buckets));
	d->listeners = iw_env_alloc((size_t)max_listeners * sizeof(*d->listeners));
	d->last_hash = hash_of(d, &d->last);
	if (d->buckets && d->entries && d->port_buckets && d->listeners)
		return 0;
	tcp_demux_fini(d);
	return -IW_E_NOMEM;
}

void
tcp_demux_fini(struct tcp_demux *d)
{
	iw_env_free(d->buckets);
	iw_env_free(d->entries);
	iw_env_free(d->port_buckets);
	iw_env_free(d->listeners);
	*d = (struct tcp_demux){0};
}

/* ---- connections ---- */

static struct tcp_demux_entry *
entry_at(const struct tcp_demux *d, uint32_t ref)
{
	assert(ref != 0 && ref <= d->fresh);
	return &d->entries[ref - 1];
}

/* The ref of the entry, 0: none.  *chain: entries passed. */
static uint32_t
lookup(const struct tcp_demux *d, const struct tcp_tuple *t, uint32_t hash, uint32_t *chain)
{
	uint32_t ref = d->buckets[hash & d->mask];

	for (*chain = 0; ref != 0; ++*chain) {
		const struct tcp_demux_entry *e = entry_at(d, ref);

		assert(*chain < TCP_DEMUX_CHAIN_MAX);
		if (e->hash == hash && tcp_tuple_equal(&e->tuple, t))
			break;
		ref = e->next;
	}
	return ref;
}

uint32_t
tcp_demux_hash(struct tcp_demux *d, const struct tcp_tuple *t)
{
	if (tcp_tuple_equal(t, &d->last))
		return d->last_hash;
	d->last = *t;
	d->last_hash = hash_of(d, t);
	__builtin_prefetch(&d->buckets[d->last_hash & d->mask]);
	return d->last_hash;
}

void
tcp_demux_look(const struct tcp_demux *d, uint32_t hash)
{
	uint32_t ref = d->buckets[hash & d->mask];
	const uint8_t *e = (const uint8_t *)&d->entries[ref ? ref - 1 : 0];

	__builtin_prefetch(e);
	__builtin_prefetch(e + sizeof(struct tcp_demux_entry) - 1);
}

uint32_t
tcp_demux_guess(const struct tcp_demux *d, uint32_t hash)
{
	uint32_t ref = d->buckets[hash & d->mask];

	while (ref != 0 && entry_at(d, ref)->hash != hash)
		ref = entry_at(d, ref)->next;
	return ref != 0 && entry_at(d, ref)->kind == TCP_DEMUX_CONN ? entry_at(d, ref)->handle : 0;
}

struct tcp_demux_hit
tcp_demux_find(const struct tcp_demux *d, const struct tcp_tuple *t)
{
	return tcp_demux_find_hashed(d, t, hash_of(d, t));
}

struct tcp_demux_hit
tcp_demux_find_hashed(const struct tcp_demux *d, const struct tcp_tuple *t, uint32_t hash)
{
	uint32_t chain, ref = lookup(d, t, hash, &chain);
	const struct tcp_demux_entry *e;

	if (ref == 0)
		return (struct tcp_demux_hit){.kind = TCP_DEMUX_NONE};
	e = entry_at(d, ref);
	return (struct tcp_demux_hit){.kind = (enum tcp_demux_kind)e->kind, .handle = e->handle, .ref = ref};
}

static uint32_t
take_entry(struct tcp_demux *d)
{
	uint32_t ref = d->free;

	if (ref != 0)
		d->free = entry_at(d, ref)->next;
	else if (d->fresh < d->max)
		ref = ++d->fresh;
	return ref;
}

int
tcp_demux_add(struct tcp_demux *d, const struct tcp_tuple *t, enum tcp_demux_kind kind, uint32_t handle, uint32_t *ref)
{
	uint32_t hash = hash_of(d, t), chain;
	struct tcp_demux_entry *e;

	assert(kind != TCP_DEMUX_NONE);
	if (lookup(d, t, hash, &chain) != 0)
		return -IW_E_ADDRINUSE;
	if (chain == TCP_DEMUX_CHAIN_MAX) {
		d->chain_refused++;
		return -IW_E_NOMEM;
	}
	*ref = take_entry(d);
	if (*ref == 0)
		return -IW_E_NOMEM;
	e = entry_at(d, *ref);
	*e = (struct tcp_demux_entry){.tuple = *t, .handle = handle, .hash = hash, .kind = kind};
	e->next = d->buckets[hash & d->mask];
	d->buckets[hash & d->mask] = *ref;
	d->used++;
	if (chain + 1 > d->chain_longest)
		d->chain_longest = chain + 1;
	return 0;
}

void
tcp_demux_set(struct tcp_demux *d, uint32_t ref, enum tcp_demux_kind kind, uint32_t handle)
{
	struct tcp_demux_entry *e = entry_at(d, ref);

	assert(e->kind != TCP_DEMUX_NONE && kind != TCP_DEMUX_NONE);
	e->kind = kind;
	e->handle = handle;
}

void
tcp_demux_del(struct tcp_demux *d, uint32_t ref)
{
	struct tcp_demux_entry *e = entry_at(d, ref);
	uint32_t *from = &d->buckets[e->hash & d->mask];

	assert(e->kind != TCP_DEMUX_NONE);
	while (*from != ref)
		from = &entry_at(d, *from)->next;
	*from = e->next;
	e->kind = TCP_DEMUX_NONE;
	e->next = d->free;
	d->free = ref;
	d->used--;
}

const struct tcp_tuple *
tcp_demux_tuple(const struct tcp_demux *d, uint32_t ref)
{
	return &entry_at(d, ref)->tuple;
}

/* ---- listeners ---- */

/* Where the ref of this very listener stands, or the 0 that ends its bucket. */
static uint32_t *
listener_slot(const struct tcp_demux *d, const uint8_t ip[16], uint16_t port)
{
	uint32_t *from = &d->port_buckets[port & d->port_mask];

	while (*from != 0) {
		struct tcp_demux_listener *l = &d->listeners[*from - 1];

		if (l->port == port && memcmp(l->ip, ip, sizeof(l->ip)) == 0)
			break;
		from = &l->next;
	}
	return from;
}

int
tcp_demux_listen(struct tcp_demux *d, const uint8_t ip[16], uint16_t port, uint32_t handle)
{
	uint32_t *slot = listener_slot(d, ip, port), i = 0;

	assert(handle != 0);
	if (*slot != 0)
		return -IW_E_ADDRINUSE;
	while (i < d->max_listeners && d->listeners[i].handle != 0)
		i++;
	if (i == d->max_listeners)
		return -IW_E_NOMEM;
	d->listeners[i] = (struct tcp_demux_listener){.port = port, .handle = handle};
	memcpy(d->listeners[i].ip, ip, sizeof(d->listeners[i].ip));
	*slot = i + 1;
	return 0;
}

void
tcp_demux_unlisten(struct tcp_demux *d, const uint8_t ip[16], uint16_t port)
{
	uint32_t *slot = listener_slot(d, ip, port);
	struct tcp_demux_listener *l;

	if (*slot == 0)
		return;
	l = &d->listeners[*slot - 1];
	*slot = l->next;
	*l = (struct tcp_demux_listener){0};
}

uint32_t
tcp_demux_listener(const struct tcp_demux *d, const uint8_t ip[16], uint16_t port)
{
	uint32_t ref = *listener_slot(d, ip, port);

	if (ref == 0)
		ref = *listener_slot(d, any_ip, port);
	return ref == 0 ? 0 : d->listeners[ref - 1].handle;
}

bool
tcp_demux_port_listens(const struct tcp_demux *d, uint16_t port)
{
	uint32_t ref = d->port_buckets[port & d->port_mask];

	while (ref != 0 && d->listeners[ref - 1].port != port)
		ref = d->listeners[ref - 1].next;
	return ref != 0;
}
