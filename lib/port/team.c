/* SPDX-License-Identifier: BSD-3-Clause */
#include "team.h"

#include <rte_ethdev.h>
#include <rte_spinlock.h>
#include <unistd.h>

#include "port_pools.h"
#include "port_ring.h"
#include "shown.h"

#define RING 2048 /* frames */

struct member {
	struct rte_ring *in;  /* received by others */
	struct rte_ring *out; /* to be sent by our queue; NULL: every engine has one */
	struct iw_bell bell;
	bool here;
};

struct team {
	uint16_t port_id;
	bool stop; /* the port is ours */
	uint32_t n, queues;
	uint16_t first_queue;
	enum iw_steering steering;
	struct steer steer;
	rte_spinlock_t lock; /* of those that leave */
	uint32_t left;
	uint32_t lead; /* read by all */
	bool claimed;  /* the lead has begun to claim the addresses */
	struct member member[STEER_MAX];
	struct rte_mempool *pools[3 * STEER_MAX]; /* of those that left */
	uint32_t n_pools;
};

/* ---- life ---- */

static void
free_rings(struct team *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		port_ring_free(t->member[i].in);
		port_ring_free(t->member[i].out);
	}
}

struct team *
team_create(struct port_engine *const *p, uint32_t n, const struct port_queues *queues)
{
	struct team *t = iw_env_alloc(sizeof(*t));
	bool ok = t != NULL;

	if (!t)
		return NULL;
	t->port_id = p[0]->port.id;
	t->n = n;
	t->queues = queues->n;
	t->first_queue = p[0]->port.queue;
	t->steering = queues->steering;
	t->steer = *queues->steer;
	rte_spinlock_init(&t->lock);
	for (uint32_t i = 0; i < n && ok; i++) {
		t->member[i].here = true;
		t->member[i].bell = p[i]->own_bell;
		t->member[i].in = port_ring_create("in", t->port_id, sizeof(struct rte_mbuf *), RING);
		if (queues->n < n)
			t->member[i].out = port_ring_create("out", t->port_id, sizeof(struct rte_mbuf *), RING);
		ok = t->member[i].in && (queues->n == n || t->member[i].out);
	}
	if (!ok) {
		free_rings(t);
		iw_env_free(t);
		return NULL;
	}
	t->stop = p[0]->port.started_here;
	for (uint32_t i = 0; i < n; i++) {
		p[i]->team = t;
		p[i]->number = i;
		p[i]->bell = &t->member[i].bell; /* who rings may do so when the engine is gone */
		p[i]->port.started_here = false;
	}
	return t;
}

const struct steer *
team_steer(const struct team *t)
{
	return &t->steer;
}

enum iw_steering
team_steering(const struct team *t)
{
	return t->steering;
}

static bool
is_here(const struct team *t, uint32_t i)
{
	return __atomic_load_n(&t->member[i].here, __ATOMIC_ACQUIRE);
}

static void
end(struct team *t)
{
	if (t->stop)
		rte_eth_dev_stop(t->port_id);
	free_rings(t);
	for (uint32_t i = 0; i < t->n; i++)
		if (t->member[i].bell.fd >= 0)
			close(t->member[i].bell.fd);
	for (uint32_t i = 0; i < t->n_pools; i++)
		port_pools_park(t->pools[i]);
	iw_env_free(t);
	port_pools_collect();
}

static void
keep_pool(struct team *t, struct rte_mempool **pool)
{
	if (*pool)
		t->pools[t->n_pools++] = *pool;
	*pool = NULL;
}

void
team_leave(struct port_engine *p)
{
	struct team *t = p->team;
	uint32_t lead = 0;
	bool last;

	rte_spinlock_lock(&t->lock);
	keep_pool(t, &p->data_pool);
	keep_pool(t, &p->ctl_pool);
	keep_pool(t, &p->loan_pool);
	__atomic_store_n(&t->member[p->number].here, false, __ATOMIC_RELEASE);
	while (lead < t->n && !is_here(t, lead))
		lead++;
	__atomic_store_n(&t->lead, lead, __ATOMIC_RELEASE);
	last = ++t->left == t->n;
	rte_spinlock_unlock(&t->lock);
	p->team = NULL;
	if (last)
		end(t);
}

static uint32_t
lead_of(const struct team *t)
{
	return __atomic_load_n(&t->lead, __ATOMIC_ACQUIRE);
}

bool
team_may_claim(struct port_engine *p)
{
	struct team *t = p->team;

	if (lead_of(t) == p->number)
		__atomic_store_n(&t->claimed, true, __ATOMIC_RELEASE);
	return __atomic_load_n(&t->claimed, __ATOMIC_ACQUIRE);
}

/* ---- handing over ---- */

static void
hand(struct port_engine *p, uint32_t to, struct rte_mbuf *m)
{
	if (rte_ring_enqueue(p->team->member[to].in, m) == 0) {
		p->port.n.handed_over++;
		p->touched |= UINT64_C(1) << to;
		return;
	}
	p->port.n.hand_lost++;
	rte_pktmbuf_free(m);
}

static void
show_to_all(const struct iw_engine *e, struct port_engine *p, struct rte_mbuf *m)
{
	for (uint32_t i = 0; i < p->team->n; i++) {
		struct rte_mbuf *copy;

		if (i == p->number || !is_here(p->team, i))
			continue;
		copy = rte_pktmbuf_copy(m, e->env.ctl_pool, 0, UINT32_MAX);
		if (copy)
			hand(p, i, copy);
		else
			p->port.n.hand_lost++;
	}
}

/* What came from the port: shown to whom it concerns.  Keeps ours; returns how many. */
static uint32_t
show(const struct iw_engine *e, struct port_engine *p, struct rte_mbuf **m, uint32_t n)
{
	uint32_t lead = lead_of(p->team), kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		enum shown_to to = shown_to(m[i]);

		if (to == SHOWN_TO_ALL)
			show_to_all(e, p, m[i]);
		if (to == SHOWN_TO_LEAD && lead != p->number)
			hand(p, lead, m[i]);
		else
			m[kept++] = m[i];
	}
	return kept;
}

/* The first one from `to` on that is here, unless that round is over. */
static bool
find_next(const struct team *t, const struct tcp_stray *s, uint32_t *to)
{
	for (*to = s->to; !is_here(t, *to);) {
		*to = *to + 1 < t->n ? *to + 1 : 0;
		if (*to == s->home)
			return false;
	}
	return true;
}

static void take(struct iw_engine *e, struct port_engine *p, struct rte_mbuf **m, uint32_t n, enum tcp_strangers how,
		 uint64_t now_ns);

static void
hand_strays(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	struct tcp_stray s;
	uint32_t to;

	while (tcp_stray_next(e->tcp, &s))
		if (find_next(p->team, &s, &to))
			hand(p, to, s.m);
		else
			take(e, p, &s.m, 1, TCP_STRANGERS_ANSWER, now_ns);
}

static void
take(struct iw_engine *e, struct port_engine *p, struct rte_mbuf **m, uint32_t n, enum tcp_strangers how,
     uint64_t now_ns)
{
	tcp_set_strangers(e->tcp, how);
	port_engine_rx(e, p, m, n, now_ns);
	if (how != TCP_STRANGERS_ANSWER)
		hand_strays(e, p, now_ns);
}

/* ---- a turn ---- */

static uint32_t
rx_queue(struct iw_engine *e, struct port_engine *p, uint32_t queue, uint64_t now_ns)
{
	struct rte_mbuf *m[PORT_BURST];
	uint32_t n = port_rx_queue(&p->port, (uint16_t)(p->team->first_queue + queue), m, PORT_BURST), kept;

	if (n == 0)
		return 0;
	kept = show(e, p, m, n);
	take(e, p, m, kept, p->team->queues < p->team->n ? TCP_STRANGERS_SPREAD : TCP_STRANGERS_ARRIVED, now_ns);
	return n;
}

static uint32_t
rx_handed(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	struct rte_mbuf *m[PORT_BURST];
	uint32_t n = rte_ring_dequeue_burst(p->team->member[p->number].in, (void **)m, PORT_BURST, NULL);

	if (n == 0)
		return 0;
	p->port.n.handed_in += n;
	take(e, p, m, n, TCP_STRANGERS_HANDED, now_ns);
	return n;
}

/* Whose queue frames leave by: an engine without one goes by another's, or by that of one that is gone if it leads. */
static void
choose_way(struct port_engine *p, uint32_t lead)
{
	const struct team *t = p->team;
	uint32_t queue = p->number % t->queues, carrier = is_here(t, queue) ? queue : lead;

	p->carrier = carrier;
	p->port.queue = (uint16_t)(t->first_queue + queue);
	p->port.via = carrier == p->number ? NULL : t->member[carrier].out;
}

uint32_t
team_rx(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	struct team *t = p->team;
	uint32_t lead = lead_of(t), n = 0;

	net_set_quiet(e->net, lead != p->number);
	if (t->queues < t->n)
		choose_way(p, lead);
	for (uint32_t q = 0; q < t->queues; q++)
		if (q == p->number || (lead == p->number && !is_here(t, q)))
			n += rx_queue(e, p, q, now_ns);
	return n + rx_handed(e, p, now_ns);
}

uint32_t
team_carry(struct port_engine *p, uint32_t added)
{
	struct rte_ring *out = p->team->member[p->number].out;
	uint32_t n;

	if (!out || p->port.via)
		return 0;
	n = rte_ring_dequeue_burst(out, (void **)(port_tx_tail(&p->port) + added), port_tx_space(&p->port) - added,
				   NULL);
	p->port.n.carried += n;
	return n;
}

void
team_ring(struct port_engine *p, uint32_t sent)
{
	if (sent && p->port.via)
		p->touched |= UINT64_C(1) << p->carrier;
	while (p->touched) {
		uint32_t to = (uint32_t)__builtin_ctzll(p->touched);

		p->touched &= p->touched - 1;
		iw_bell_ring(&p->team->member[to].bell);
	}
}

bool
team_is_pending(const struct port_engine *p)
{
	const struct member *m = &p->team->member[p->number];

	return !port_ring_is_empty(m->in) || (m->out && !port_ring_is_empty(m->out));
}

bool
team_has_queue(const struct port_engine *p)
{
	return p->number < p->team->queues;
}

bool
team_minds_queues(const struct port_engine *p)
{
	if (lead_of(p->team) != p->number)
		return false;
	for (uint32_t q = 0; q < p->team->queues; q++)
		if (!is_here(p->team, q))
			return true;
	return false;
}
