/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl.h"

#include <assert.h>
#include <string.h>

/* CAP: queues of CTRL_QUEUE_SIZE entries, contiguous, 15 s to get ready (in half seconds), NVM command set. */
#define CAP_VALUE ((uint64_t)(CTRL_QUEUE_SIZE - 1) | UINT64_C(1) << 16 | UINT64_C(30) << 24 | UINT64_C(1) << 37)
#define VS_1_4 0x00010400u

#define LEAVE_NS UINT64_C(5000000000) /* how long a dying controller's host may take to hang up */

#define CC_EN 1u
#define CC_CSS(cc) ((cc) >> 4 & 7)
#define CC_MPS(cc) ((cc) >> 7 & 15)
#define CC_SHN(cc) ((cc) >> 14 & 3)
#define CC_IOSQES(cc) ((cc) >> 16 & 15)
#define CC_IOCQES(cc) ((cc) >> 20 & 15)

/* ---- Under the lock --------------------------------------------------------------------------------------------- */

static struct ctrl *
take_free(struct ctrls *all)
{
	for (uint32_t i = 0; i < CTRL_MAX; i++) {
		uint32_t n = (all->next + i) % CTRL_MAX;
		struct ctrl *c = &all->ctrl[n];

		if (c->used)
			continue;
		memset(c, 0, sizeof(*c));
		c->used = true;
		c->cntlid = (uint16_t)(n + 1);
		all->next = (n + 1) % CTRL_MAX;
		all->used++;
		return c;
	}
	return NULL;
}

static void
changed(struct ctrls *all)
{
	__atomic_store_n(&all->changes, all->changes + 1, __ATOMIC_RELAXED);
}

static void
attach(struct ctrl *c, struct queue *q)
{
	assert(q->qid <= CTRL_IO_QUEUES && !c->queue[q->qid]);
	c->queue[q->qid] = q;
	c->open_queues++;
	q->ctrl = c;
}

static void
hang_up_from(struct ctrl *c, uint16_t qid, enum hang_up how)
{
	for (; qid <= CTRL_IO_QUEUES; qid++)
		if (c->queue[qid])
			queue_hang_up(c->queue[qid], how);
}

static void
kill_ctrl(struct ctrl *c, enum hang_up how)
{
	c->dying = true;
	hang_up_from(c, 0, how);
}

static void
add_counts(struct queue_counts *to, const struct queue_counts *n)
{
	to->reads += __atomic_load_n(&n->reads, __ATOMIC_RELAXED);
	to->writes += __atomic_load_n(&n->writes, __ATOMIC_RELAXED);
	to->blocks_read += __atomic_load_n(&n->blocks_read, __ATOMIC_RELAXED);
	to->blocks_written += __atomic_load_n(&n->blocks_written, __ATOMIC_RELAXED);
}

/* Held event requests were requests of the admin queue, and a controller does not outlive it. */
static void
connection_gone(struct ctrl *c, const struct queue *q)
{
	if (q->qid != 0)
		return;
	c->num_aers = 0;
	kill_ctrl(c, HANG_UP);
}

static void
detach(struct ctrls *all, struct ctrl *c, struct queue *q)
{
	c->queue[q->qid] = NULL;
	add_counts(&c->counts, &q->counts);
	connection_gone(c, q);
	if (--c->open_queues > 0)
		return;
	c->used = false;
	all->used--;
	changed(all);
}

/* By number; nobody joins one that is dying. */
static struct ctrl *
find(struct ctrls *all, uint16_t cntlid)
{
	struct ctrl *c = cntlid >= 1 && cntlid <= CTRL_MAX ? &all->ctrl[cntlid - 1] : NULL;

	return c && c->used && !c->dying ? c : NULL;
}

static bool
is_of(const struct ctrl *c, const struct subsys *s, const struct connect_data *d)
{
	return c->subsys == s && memcmp(c->hostid, d->hostid, sizeof(c->hostid)) == 0 &&
	       strcmp(c->hostnqn, d->hostnqn) == 0;
}

static bool
drains(const struct ctrl *c)
{
	for (int i = 0; i <= CTRL_IO_QUEUES; i++)
		if (c->queue[i] && c->queue[i]->draining)
			return true;
	return false;
}

static bool
too_soon(const struct ctrls *all, const struct subsys *s, const struct connect_data *d)
{
	for (int i = 0; all->used > 0 && i < CTRL_MAX; i++)
		if (all->ctrl[i].used && is_of(&all->ctrl[i], s, d) && drains(&all->ctrl[i]))
			return true;
	return false;
}

static enum ctrl_joined
may_join(const struct ctrl *c, const struct subsys *s, const struct connect_data *d, uint16_t qid)
{
	if (!c || !is_of(c, s, d))
		return CTRL_NOT_YOURS;
	if (!c->subsys || qid > c->num_io_queues)
		return CTRL_NO_QUEUE;
	return ctrl_ready(c) && !c->queue[qid] ? CTRL_JOINED : CTRL_NOT_NOW;
}

/* A controller that is dying has said good-bye; a host that does not hear it may be gone.  last_seen may be ahead of
 * now_ns by a turn of another engine: hence no subtraction. */
static bool
expired(struct ctrl *c, uint64_t now_ns)
{
	if (!c->dying)
		return c->kato_ns != 0 &&
		       now_ns > __atomic_load_n(&c->last_seen, __ATOMIC_RELAXED) + CTRL_SEEN_NS + c->kato_ns;
	if (c->dead_at == 0)
		c->dead_at = now_ns + (c->kato_ns != 0 && c->kato_ns < LEAVE_NS ? c->kato_ns : LEAVE_NS);
	return now_ns > c->dead_at;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

struct ctrl *
ctrl_new(struct ctrls *all, struct subsys *subsys, const struct connect_data *d, uint32_t kato_ms, struct queue *admin)
{
	struct ctrl *c;

	rte_spinlock_lock(&all->lock);
	c = too_soon(all, subsys, d) ? NULL : take_free(all);
	if (c) {
		c->subsys = subsys;
		memcpy(c->hostid, d->hostid, sizeof(c->hostid));
		memcpy(c->hostnqn, d->hostnqn, sizeof(c->hostnqn));
		c->owner = admin->shard->number;
		ctrl_set_kato(c, kato_ms);
		c->last_seen = admin->shard->now_ns;
		c->num_io_queues = CTRL_IO_QUEUES;
		attach(c, admin);
		changed(all);
	}
	rte_spinlock_unlock(&all->lock);
	return c;
}

enum ctrl_joined
ctrl_join(struct ctrls *all, const struct subsys *s, const struct connect_data *d, struct queue *q)
{
	enum ctrl_joined joined;
	struct ctrl *c;

	rte_spinlock_lock(&all->lock);
	c = find(all, d->cntlid);
	joined = may_join(c, s, d, q->qid);
	if (joined == CTRL_JOINED)
		attach(c, q);
	rte_spinlock_unlock(&all->lock);
	return joined;
}

void
ctrl_drain(struct ctrls *all, struct queue *q)
{
	if (!q->ctrl)
		return;
	rte_spinlock_lock(&all->lock);
	q->draining = true;
	connection_gone(q->ctrl, q);
	rte_spinlock_unlock(&all->lock);
}

void
ctrl_detach(struct ctrls *all, struct queue *q)
{
	struct ctrl *c = q->ctrl;

	if (!c)
		return;
	q->ctrl = NULL;
	rte_spinlock_lock(&all->lock);
	detach(all, c, q);
	rte_spinlock_unlock(&all->lock);
}

bool
ctrl_grant(struct ctrls *all, struct ctrl *c, uint16_t num_io_queues)
{
	bool ok;

	rte_spinlock_lock(&all->lock);
	ok = c->open_queues == 1;
	if (ok)
		c->num_io_queues = num_io_queues;
	rte_spinlock_unlock(&all->lock);
	return ok;
}

void
ctrl_kill(struct ctrls *all, struct ctrl *c, enum hang_up how)
{
	rte_spinlock_lock(&all->lock);
	kill_ctrl(c, how);
	rte_spinlock_unlock(&all->lock);
}

void
ctrl_expire(struct ctrls *all, const struct shard *shard)
{
	rte_spinlock_lock(&all->lock);
	for (int i = 0; all->used > 0 && i < CTRL_MAX; i++) {
		struct ctrl *c = &all->ctrl[i];

		if (!c->used || c->owner != shard->number || !expired(c, shard->now_ns))
			continue;
		c->expired = c->expired || !c->dying;
		kill_ctrl(c, HANG_UP_AT_ONCE); /* nobody is there to hear a FIN */
	}
	rte_spinlock_unlock(&all->lock);
}

void
ctrl_set_kato(struct ctrl *c, uint32_t ms)
{
	c->kato_ns = ((uint64_t)ms + CTRL_KATO_MS - 1) / CTRL_KATO_MS * CTRL_KATO_MS * 1000000;
}

struct queue_counts
ctrl_counts(struct ctrls *all, const struct ctrl *c)
{
	struct queue_counts sum;

	rte_spinlock_lock(&all->lock);
	sum = c->counts;
	for (int i = 0; i <= CTRL_IO_QUEUES; i++)
		if (c->queue[i])
			add_counts(&sum, &c->queue[i]->counts);
	rte_spinlock_unlock(&all->lock);
	return sum;
}

/* All held event requests, as a list. */
static struct request *
take_aers(struct ctrl *c)
{
	struct request *list = NULL;

	while (c->num_aers > 0) {
		struct request *aer = c->aer[--c->num_aers];

		aer->next = list;
		list = aer;
	}
	return list;
}

struct request *
ctrl_reset(struct ctrls *all, struct ctrl *c)
{
	rte_spinlock_lock(&all->lock);
	c->num_io_queues = CTRL_IO_QUEUES;
	hang_up_from(c, 1, HANG_UP_AT_ONCE);
	rte_spinlock_unlock(&all->lock);
	c->aen_config = 0;
	__atomic_store_n(&c->write_through, false, __ATOMIC_RELAXED);
	return take_aers(c);
}

static uint32_t
csts(struct ctrls *all, const struct ctrl *c)
{
	bool closing;

	rte_spinlock_lock(&all->lock);
	closing = !ctrl_enabled(c) && c->open_queues > 1;
	rte_spinlock_unlock(&all->lock);
	return c->csts | (closing ? CSTS_RDY : 0);
}

bool
ctrl_prop_get(struct ctrls *all, const struct ctrl *c, uint32_t offset, int size, uint64_t *value)
{
	if (size == 8 && offset == PROP_CAP) {
		*value = CAP_VALUE;
		return true;
	}
	if (size != 4)
		return false;
	switch (offset) {
	case PROP_VS:
		*value = VS_1_4;
		return true;
	case PROP_CC:
		*value = c->cc;
		return true;
	case PROP_CSTS:
		*value = csts(all, c);
		return true;
	default:
		return false;
	}
}

static bool
cc_valid(const struct ctrl *c, uint32_t cc)
{
	bool sizes = CC_IOSQES(cc) == 6 && CC_IOCQES(cc) == 4;

	return CC_CSS(cc) == 0 && CC_MPS(cc) == 0 && (sizes || !c->subsys);
}

/* I/O queues on other engines look at it. */
static void
set_csts(struct ctrl *c, uint32_t csts)
{
	__atomic_store_n(&c->csts, csts, __ATOMIC_RELEASE);
}

static void
set_cc(struct ctrl *c, uint32_t cc)
{
	uint32_t old = c->cc, csts = c->csts;

	c->cc = cc;
	if (!(old & CC_EN) && (cc & CC_EN))
		csts = cc_valid(c, cc) ? CSTS_RDY : CSTS_CFS;
	else if ((old & CC_EN) && !(cc & CC_EN))
		csts = 0;
	if (!CC_SHN(old) && CC_SHN(cc))
		csts = (csts & ~CSTS_RDY) | CSTS_SHST_OCCURRING;
	set_csts(c, csts);
}

bool
ctrl_enabled(const struct ctrl *c)
{
	return (c->cc & CC_EN) != 0;
}

bool
ctrl_shutting_down(const struct ctrl *c)
{
	return (c->csts & CSTS_SHST) == CSTS_SHST_OCCURRING;
}

void
ctrl_shut_down(struct ctrl *c)
{
	if (ctrl_shutting_down(c))
		set_csts(c, (c->csts & ~CSTS_SHST) | CSTS_SHST_DONE);
}

bool
ctrl_prop_set(struct ctrl *c, uint32_t offset, int size, uint64_t value)
{
	if (size != 4 || offset != PROP_CC)
		return false;
	set_cc(c, (uint32_t)value);
	return true;
}
