/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh.h"

#include <assert.h>
#include <iwarp/err.h>

#include "iw_addr.h"
#include "ring.h"

#define TICK_MAX 256   /* timers in one tick; the rest is due at once again */
#define TOUCH_NS IW_MS /* how exact "least recently used" is */

/* ---- table ---- */

int
neigh_init(struct neigh_table *t, const struct iw_env *env, struct net_counters *c, uint32_t max, uint64_t now_ns)
{
	int rc;

	memset(t, 0, sizeof(*t));
	t->env = env;
	t->counters = c;
	iw_wheel_init(&t->wheel, now_ns);
	iw_list_init(&t->used);
	iw_list_init(&t->unused);
	iw_list_init(&t->questions);
	rc = iw_pool_init(&t->pool, sizeof(struct neigh), max);
	if (rc)
		return rc;
	t->mask = iw_ring_size(max) - 1;
	t->buckets = iw_env_alloc((t->mask + UINT64_C(1)) * sizeof(*t->buckets));
	if (t->buckets)
		return 0;
	iw_pool_fini(&t->pool);
	return -IW_E_NOMEM;
}

static void
free_waiting(struct neigh *e)
{
	for (uint32_t i = 0; i < e->n_waiting; i++)
		rte_pktmbuf_free(e->waiting[i]);
	e->n_waiting = 0;
}

void
neigh_fini(struct neigh_table *t)
{
	neigh_flush_waiting(t);
	iw_pool_fini(&t->pool);
	iw_env_free(t->buckets);
	t->buckets = NULL;
}

static uint32_t *
bucket_of(const struct neigh_table *t, const struct iw_addr *addr)
{
	return &t->buckets[iw_env_hash(t->env, IW_HASH_DEMUX, addr->ip, sizeof(addr->ip)) & t->mask];
}

static struct neigh *
find(const struct neigh_table *t, const struct iw_addr *addr)
{
	struct neigh *e = iw_pool_at(&t->pool, *bucket_of(t, addr));

	while (e && !iw_addr_eq_ip(&e->addr, addr))
		e = iw_pool_at(&t->pool, e->hash_next);
	return e;
}

/* A handle whose generation came round again must not send to a stranger, so the address is compared too. */
static struct neigh *
resolve(const struct neigh_table *t, uint32_t handle, const struct iw_addr *addr)
{
	struct neigh *e = iw_pool_at(&t->pool, handle);

	return e && iw_addr_eq_ip(&e->addr, addr) ? e : find(t, addr);
}

const struct neigh *
neigh_find(const struct neigh_table *t, uint32_t handle, const struct iw_addr *addr)
{
	return resolve(t, handle, addr);
}

static void
unlink_bucket(struct neigh_table *t, const struct neigh *e, uint32_t handle)
{
	uint32_t *at = bucket_of(t, &e->addr);

	while (*at != handle) {
		struct neigh *before = iw_pool_at(&t->pool, *at);

		assert(before);
		at = &before->hash_next;
	}
	*at = e->hash_next;
}

static void
set_state(struct neigh_table *t, struct neigh *e, enum neigh_state state)
{
	t->incomplete -= e->state == NEIGH_INCOMPLETE;
	t->settled += e->state == NEIGH_INCOMPLETE && state != NEIGH_INCOMPLETE;
	t->incomplete += state == NEIGH_INCOMPLETE;
	e->state = (uint8_t)state;
}

static void
forget(struct neigh_table *t, struct neigh *e)
{
	uint32_t handle = iw_pool_handle(&t->pool, e);

	set_state(t, e, NEIGH_NEW);
	iw_wheel_cancel(&t->wheel, &e->timer);
	iw_list_del(&e->use);
	iw_list_del(&e->question);
	free_waiting(e);
	unlink_bucket(t, e, handle);
	iw_pool_put(&t->pool, handle);
}

/* Makes room: entries nobody sent to first, then (for a packet of ours) the least recently used one that is known.
 * One that is being asked for the first time stays: packets wait there.  When those are half of the table, somebody
 * makes us ask for hosts that do not exist, and the known ones stay, too. */
static bool
evict(struct neigh_table *t, bool for_packet)
{
	struct iw_link *n = iw_list_first(&t->unused);

	if (!n && for_packet && t->incomplete <= t->pool.max / 2)
		n = iw_list_first(&t->used);
	if (!n)
		return false;
	t->counters->neigh_evicted++;
	forget(t, iw_list_entry(n, struct neigh, use));
	return true;
}

static struct neigh *
add(struct neigh_table *t, const struct iw_addr *addr, bool for_packet)
{
	uint32_t handle, *bucket;
	struct neigh *e;

	if (t->pool.used == t->pool.max && !evict(t, for_packet))
		return NULL;
	e = iw_pool_get(&t->pool, &handle);
	if (!e)
		return NULL;
	bucket = bucket_of(t, addr);
	e->addr = *addr;
	e->addr.port = 0;
	e->hash_next = *bucket;
	*bucket = handle;
	return e;
}

/* ---- asking ---- */

static void
ask(struct neigh_table *t, struct neigh *e, uint64_t now_ns)
{
	e->asks++;
	e->next_ask_ns = now_ns + NEIGH_ASK_NS;
	iw_list_add(&t->questions, &e->question);
	iw_wheel_arm(&t->wheel, &e->timer, e->next_ask_ns);
}

static void
ask_begin(struct neigh_table *t, struct neigh *e, bool everybody, uint64_t now_ns)
{
	e->asking = true;
	e->asks = 0;
	e->ask_everybody = everybody;
	if (now_ns >= e->next_ask_ns)
		ask(t, e, now_ns);
	else
		iw_wheel_arm(&t->wheel, &e->timer, e->next_ask_ns);
}

bool
neigh_question(struct neigh_table *t, struct neigh_question *q)
{
	struct iw_link *n = iw_list_pop(&t->questions);
	struct neigh *e;

	if (!n)
		return false;
	e = iw_list_entry(n, struct neigh, question);
	q->addr = e->addr;
	q->to_one = e->state == NEIGH_STALE && !e->ask_everybody && e->asks <= 1;
	memcpy(q->mac, e->mac, 6);
	t->counters->neigh_asked++;
	return true;
}

static void
fail(struct neigh_table *t, struct neigh *e, uint64_t now_ns)
{
	t->counters->neigh_failed++;
	t->counters->neigh_wait_failed += e->n_waiting;
	free_waiting(e);
	set_state(t, e, NEIGH_FAILED);
	e->asking = false;
	e->failed_until_ns = now_ns + NEIGH_FAILED_NS;
	iw_list_del(&e->use);
	iw_list_add(&t->unused, &e->use);
	iw_wheel_arm(&t->wheel, &e->timer, e->failed_until_ns);
}

/* ---- using ---- */

static void
touch(struct neigh_table *t, struct neigh *e, uint64_t now_ns)
{
	if (e->ever_used && now_ns - e->touched_ns < TOUCH_NS)
		return;
	e->ever_used = true;
	e->touched_ns = now_ns;
	iw_list_del(&e->use);
	iw_list_add(&t->used, &e->use);
}

static void
ask_first(struct neigh_table *t, struct neigh *e, uint64_t now_ns)
{
	e->ever_used = true;
	set_state(t, e, NEIGH_INCOMPLETE);
	iw_list_del(&e->use);
	ask_begin(t, e, true, now_ns);
}

/* While it is remembered that it did not answer, one question a second goes on as long as there is something to send;
 * afterwards it gets its three chances again. */
static enum neigh_use
use_failed(struct neigh_table *t, struct neigh *e, uint64_t now_ns)
{
	if (now_ns >= e->failed_until_ns) {
		ask_first(t, e, now_ns);
		return NEIGH_USE_WAIT;
	}
	if (now_ns >= e->next_ask_ns) {
		e->next_ask_ns = now_ns + NEIGH_ASK_NS;
		iw_list_add(&t->questions, &e->question);
	}
	return NEIGH_USE_FAILED;
}

static enum neigh_use
use_slowly(struct neigh_table *t, struct neigh *e, uint64_t now_ns)
{
	switch ((enum neigh_state)e->state) {
	case NEIGH_NEW:
		ask_first(t, e, now_ns);
		return NEIGH_USE_WAIT;
	case NEIGH_INCOMPLETE:
		return e->n_waiting < NEIGH_WAITING ? NEIGH_USE_WAIT : NEIGH_USE_LATER;
	case NEIGH_FAILED:
		return use_failed(t, e, now_ns);
	case NEIGH_STALE:
		if (!e->asking)
			ask_begin(t, e, false, now_ns);
		break;
	case NEIGH_REACHABLE:
		break;
	}
	return NEIGH_USE_KNOWN;
}

/* The entry, found or made; NULL: no room. */
static struct neigh *
resolve_slowly(struct neigh_table *t, uint32_t *handle, const struct iw_addr *addr)
{
	struct neigh *e = find(t, addr);

	if (!e)
		e = add(t, addr, true);
	if (e)
		*handle = iw_pool_handle(&t->pool, e);
	return e;
}

enum neigh_use
neigh_use(struct neigh_table *t, uint32_t *handle, const struct iw_addr *addr, uint64_t now_ns, uint8_t mac[6])
{
	struct neigh *e = iw_pool_at(&t->pool, *handle);
	enum neigh_use use = NEIGH_USE_KNOWN;

	if (!e || !iw_addr_eq_ip(&e->addr, addr))
		e = resolve_slowly(t, handle, addr);
	if (!e)
		return NEIGH_USE_FULL;
	if (e->state != NEIGH_REACHABLE)
		use = use_slowly(t, e, now_ns);
	if (use == NEIGH_USE_KNOWN) {
		touch(t, e, now_ns);
		memcpy(mac, e->mac, 6);
	}
	return use;
}

void
neigh_wait(struct neigh_table *t, uint32_t handle, struct rte_mbuf *m)
{
	struct neigh *e = iw_pool_at(&t->pool, handle);

	assert(e && e->state == NEIGH_INCOMPLETE && e->n_waiting < NEIGH_WAITING);
	e->waiting[e->n_waiting++] = m;
}

void
neigh_flush_waiting(struct neigh_table *t)
{
	uint32_t pos = 0;
	struct neigh *e;

	while ((e = iw_pool_walk(&t->pool, &pos)) != NULL) {
		t->counters->neigh_wait_failed += e->n_waiting;
		free_waiting(e);
	}
}

void
neigh_reconfirm(struct neigh_table *t, uint32_t handle, const struct iw_addr *addr, uint64_t now_ns)
{
	struct neigh *e = resolve(t, handle, addr);

	if (!e || e->state == NEIGH_INCOMPLETE || e->state == NEIGH_FAILED)
		return;
	if (e->asking) {
		e->ask_everybody = true; /* the question to one has not helped so far */
		return;
	}
	set_state(t, e, NEIGH_STALE);
	ask_begin(t, e, true, now_ns);
}

static void
get_stale(struct neigh_table *t, struct neigh *e, uint64_t now_ns)
{
	set_state(t, e, NEIGH_STALE);
	iw_wheel_arm(&t->wheel, &e->timer, now_ns + NEIGH_UNUSED_NS);
}

void
neigh_doubt(struct neigh_table *t, const struct iw_addr *addr, uint64_t now_ns)
{
	struct neigh *e = find(t, addr);

	if (e && e->state == NEIGH_REACHABLE)
		get_stale(t, e, now_ns);
}

/* ---- learning ---- */

/* Does hearing `mac` settle that it is right?  Where another one was believed and we did not ask, somebody may lie: the
 * new one is taken (RFC 826: it supersedes), and confirmed at the next use. */
static bool
settles(const struct neigh *e, const uint8_t mac[6], enum neigh_how how)
{
	if (e->state == NEIGH_NEW || e->state == NEIGH_INCOMPLETE || e->state == NEIGH_FAILED)
		return how != NEIGH_SEEN;
	return memcmp(e->mac, mac, 6) == 0 || (how == NEIGH_ANSWERED && e->asking);
}

/* What is said to everybody shows that it comes to us, not that we come through (RFC 4861 §7.3.1). */
static bool
is_no_news(const struct neigh *e, const uint8_t mac[6], enum neigh_how how)
{
	return how == NEIGH_SEEN && neigh_is_known(e) && memcmp(e->mac, mac, 6) == 0;
}

static void
know(struct neigh_table *t, struct neigh *e, const uint8_t mac[6], enum neigh_state state, uint64_t now_ns)
{
	if (neigh_is_known(e) && memcmp(e->mac, mac, 6) != 0)
		t->counters->neigh_mac_changed++;
	memcpy(e->mac, mac, 6);
	set_state(t, e, state);
	e->asking = false;
	iw_list_del(&e->question);
	iw_list_del(&e->use);
	iw_list_add(e->ever_used ? &t->used : &t->unused, &e->use);
	iw_wheel_arm(&t->wheel, &e->timer, now_ns + (state == NEIGH_REACHABLE ? NEIGH_REACHABLE_NS : NEIGH_UNUSED_NS));
}

uint32_t
neigh_learn(struct neigh_table *t, const struct iw_addr *addr, const uint8_t mac[6], enum neigh_how how,
	    uint64_t now_ns, struct rte_mbuf *released[NEIGH_WAITING])
{
	struct neigh *e = find(t, addr);
	enum neigh_state state = NEIGH_REACHABLE;
	uint32_t n;

	if (!e) {
		if (how != NEIGH_ASKED_US)
			return 0;
		e = add(t, addr, false);
		if (!e) {
			t->counters->arp_not_learned++;
			return 0;
		}
		t->counters->arp_learned++;
	} else if (is_no_news(e, mac, how)) {
		return 0;
	} else if (!settles(e, mac, how)) {
		state = NEIGH_STALE;
	}
	n = e->n_waiting;
	for (uint32_t i = 0; i < n; i++)
		released[i] = e->waiting[i];
	e->n_waiting = 0;
	know(t, e, mac, state, now_ns);
	return n;
}

/* ---- time ---- */

static void
fire(struct neigh_table *t, struct neigh *e, uint64_t now_ns)
{
	if (e->asking) {
		if (e->asks < NEIGH_ASKS)
			ask(t, e, now_ns);
		else
			fail(t, e, now_ns);
	} else if (e->state == NEIGH_REACHABLE) {
		get_stale(t, e, now_ns);
	} else if (e->state == NEIGH_FAILED && now_ns < e->next_ask_ns) {
		iw_wheel_arm(&t->wheel, &e->timer, e->next_ask_ns); /* else a new entry would ask again too early */
	} else {
		forget(t, e);
	}
}

void
neigh_tick(struct neigh_table *t, uint64_t now_ns)
{
	struct iw_timer *timer;

	for (uint32_t i = 0; i < TICK_MAX && (timer = iw_wheel_due(&t->wheel, now_ns)) != NULL; i++)
		fire(t, iw_list_entry(timer, struct neigh, timer), now_ns);
}

uint64_t
neigh_deadline(const struct neigh_table *t)
{
	return iw_wheel_deadline(&t->wheel);
}
