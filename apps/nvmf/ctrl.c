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

struct ctrl *
ctrl_new(struct ctrls *all, struct subsys *subsys, const struct connect_data *d, uint32_t kato_ms, uint64_t now_ns)
{
	for (uint32_t i = 0; i < CTRL_MAX; i++) {
		uint32_t n = (all->next + i) % CTRL_MAX;
		struct ctrl *c = &all->ctrl[n];

		if (c->used)
			continue;
		memset(c, 0, sizeof(*c));
		c->used = true;
		c->cntlid = (uint16_t)(n + 1);
		c->subsys = subsys;
		memcpy(c->hostid, d->hostid, sizeof(c->hostid));
		memcpy(c->hostnqn, d->hostnqn, sizeof(c->hostnqn));
		c->kato_ns = (uint64_t)kato_ms * 1000000;
		c->last_seen = now_ns;
		c->num_io_queues = CTRL_IO_QUEUES;
		all->next = (n + 1) % CTRL_MAX;
		all->used++;
		all->changes++;
		return c;
	}
	return NULL;
}

struct ctrl *
ctrl_find(struct ctrls *all, uint16_t cntlid)
{
	struct ctrl *c = cntlid >= 1 && cntlid <= CTRL_MAX ? &all->ctrl[cntlid - 1] : NULL;

	return c && c->used && !c->dying ? c : NULL;
}

void
ctrl_attach(struct ctrl *c, struct queue *q)
{
	assert(q->qid <= CTRL_IO_QUEUES && !c->queue[q->qid]);
	c->queue[q->qid] = q;
	c->open_queues++;
	q->ctrl = c;
}

void
ctrl_kill(struct ctrl *c, enum hang_up how)
{
	c->dying = true;
	for (int i = 0; i <= CTRL_IO_QUEUES; i++)
		if (c->queue[i] && c->queue[i]->hang_up < how)
			c->queue[i]->hang_up = how;
}

void
ctrl_detach(struct ctrls *all, struct queue *q)
{
	struct ctrl *c = q->ctrl;

	if (!c)
		return;
	q->ctrl = NULL;
	c->queue[q->qid] = NULL;
	if (q->qid == 0) {
		c->num_aers = 0; /* they were requests of that queue */
		ctrl_kill(c, HANG_UP);
	}
	if (--c->open_queues == 0) {
		c->used = false;
		all->used--;
		all->changes++;
	}
}

/* A controller that is dying has said good-bye; a host that does not hear it may be gone. */
static bool
expired(struct ctrl *c, uint64_t now_ns)
{
	if (!c->dying)
		return c->kato_ns != 0 && now_ns - c->last_seen > c->kato_ns;
	if (c->dead_at == 0)
		c->dead_at = now_ns + (c->kato_ns != 0 && c->kato_ns < LEAVE_NS ? c->kato_ns : LEAVE_NS);
	return now_ns > c->dead_at;
}

void
ctrl_expire(struct ctrls *all, uint64_t now_ns)
{
	for (int i = 0; all->used > 0 && i < CTRL_MAX; i++) {
		struct ctrl *c = &all->ctrl[i];

		if (!c->used || !expired(c, now_ns))
			continue;
		c->expired = c->expired || !c->dying;
		ctrl_kill(c, HANG_UP_AT_ONCE); /* nobody is there to hear a FIN */
	}
}

bool
ctrl_prop_get(const struct ctrl *c, uint32_t offset, int size, uint64_t *value)
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
		*value = c->csts;
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

static void
set_cc(struct ctrl *c, uint32_t cc)
{
	uint32_t old = c->cc;

	c->cc = cc;
	if (!(old & CC_EN) && (cc & CC_EN))
		c->csts = cc_valid(c, cc) ? CSTS_RDY : CSTS_CFS;
	else if ((old & CC_EN) && !(cc & CC_EN))
		c->csts = 0;
	if (!CC_SHN(old) && CC_SHN(cc))
		c->csts = (c->csts & ~CSTS_RDY) | CSTS_SHST_OCCURRING;
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
		c->csts = (c->csts & ~CSTS_SHST) | CSTS_SHST_DONE;
}

bool
ctrl_prop_set(struct ctrl *c, uint32_t offset, int size, uint64_t value)
{
	if (size != 4 || offset != PROP_CC)
		return false;
	set_cc(c, (uint32_t)value);
	return true;
}
