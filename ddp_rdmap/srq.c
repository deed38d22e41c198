/* SPDX-License-Identifier: BSD-3-Clause */
#include "srq.h"

#include <string.h>

#include "qp_obj.h"
#include "rdmap_ctx.h"

#define DEFAULT_DEPTH 1024

static bool
make_rings(struct iw_srq *srq, uint32_t size)
{
	srq->wr = iw_env_alloc(size * sizeof(*srq->wr));
	srq->done = iw_env_alloc(size * sizeof(*srq->done));
	iw_ring_init(&srq->ring, size);
	iw_ring_init(&srq->done_ring, size);
	return srq->wr && srq->done;
}

static void
free_rings(struct iw_srq *srq)
{
	iw_env_free(srq->wr);
	iw_env_free(srq->done);
	srq->wr = NULL;
	srq->done = NULL;
}

static int
check_args(const struct rdmap *rdmap, const struct iw_pd *pd, const struct iw_srq_attr *attr, uint32_t depth)
{
	int err = domain_pd_check(pd);

	if (err)
		return err;
	if (depth > WR_DEPTH_MAX || (attr && attr->limit > iw_ring_size(depth)))
		return -IW_E_INVAL;
	return pd->domain == rdmap->domain ? 0 : -IW_E_PD;
}

static struct iw_srq *
take_memory(struct rdmap *rdmap, uint32_t size)
{
	uint32_t handle;
	struct iw_srq *srq = iw_pool_get(&rdmap->srqs, &handle);

	if (!srq)
		return NULL;
	srq->handle = handle;
	if (make_rings(srq, size))
		return srq;
	free_rings(srq);
	iw_pool_put(&rdmap->srqs, handle);
	return NULL;
}

struct iw_srq *
srq_create(struct rdmap *rdmap, struct iw_pd *pd, const struct iw_srq_attr *attr, int *err)
{
	uint32_t depth = attr && attr->depth ? attr->depth : DEFAULT_DEPTH;
	struct iw_srq *srq = NULL;
	int e = check_args(rdmap, pd, attr, depth);

	if (!e) {
		srq = take_memory(rdmap, iw_ring_size(depth));
		e = srq ? 0 : -IW_E_NOMEM;
	}
	if (err)
		*err = e;
	if (!srq)
		return NULL;
	srq->rdmap = rdmap;
	srq->pd = pd;
	srq->foreign = attr && attr->foreign_poster;
	srq->limit = attr ? attr->limit : 0;
	srq->context = attr ? attr->context : NULL;
	srq->door.kind = DOOR_SRQ;
	iw_list_init(&srq->waiters);
	srq->magic = SRQ_MAGIC;
	domain_pd_use(pd, 1);
	return srq;
}

int
srq_destroy(struct iw_srq *srq)
{
	if (srq->users)
		return -IW_E_BUSY;
	rdmap_doorbells(srq->rdmap); /* it is in the stack no more */
	__atomic_store_n(&srq->magic, 0, __ATOMIC_RELEASE);
	iw_list_del(&srq->async);
	domain_pd_use(srq->pd, -1);
	free_rings(srq);
	iw_pool_put(&srq->rdmap->srqs, srq->handle);
	return 0;
}

int
srq_attach(struct iw_srq *srq, struct iw_cq *cq)
{
	struct srq_cq *c = srq->cqs;
	int err;

	while (c && c->cq != cq)
		c = c->next;
	if (!c) {
		c = iw_env_alloc(sizeof(*c));
		err = c ? cq_attach(cq, srq->ring.mask + 1) : -IW_E_NOMEM;
		if (err) {
			iw_env_free(c);
			return err;
		}
		c->cq = cq;
		c->next = srq->cqs;
		srq->cqs = c;
	}
	c->qps++;
	srq->users++;
	return 0;
}

void
srq_detach(struct iw_srq *srq, struct iw_cq *cq)
{
	struct srq_cq **link = &srq->cqs, *c;

	while ((*link)->cq != cq)
		link = &(*link)->next;
	c = *link;
	srq->users--;
	if (--c->qps > 0)
		return;
	cq_detach(cq, srq->ring.mask + 1);
	*link = c->next;
	iw_env_free(c);
}

void
srq_user_init(struct srq_user *user, struct iw_srq *srq, struct iw_qp *qp, uint32_t limit)
{
	user->srq = srq;
	user->qp = qp;
	user->limit = limit;
	user->mask = limit ? iw_ring_size(limit) - 1 : 0;
	if (limit)
		__atomic_store_n(&qp->rq->cq->limited, true, __ATOMIC_RELAXED);
}

void
srq_user_fini(struct srq_user *user)
{
	iw_list_del(&user->wait);
}

uint32_t
srq_used(struct srq_user *user)
{
	while (user->tail != user->head) {
		uint64_t pos = user->pos[user->tail & user->mask];

		if (pos == 0 || !cq_is_polled(user->qp->rq->cq, pos - 1))
			break;
		user->tail++;
	}
	return user->head - user->tail;
}

static bool
is_at_limit(struct srq_user *user)
{
	return user->limit && srq_used(user) >= user->limit;
}

bool
srq_has(struct srq_user *user)
{
	return iw_ring_count(&user->srq->ring) > 0 && !is_at_limit(user);
}

/* One event when the last receive that was to be there is gone (RFC 5042 §6.4.3.1). */
static void
check_limit(struct iw_srq *srq)
{
	if (!srq->limit || iw_ring_count(&srq->ring) >= srq->limit)
		return;
	srq->limit = 0;
	iw_list_add(&srq->rdmap->async_srqs, &srq->async);
}

static void
copy_recv(struct wr_recv *to, const struct wr_recv *from)
{
	to->wr_id = from->wr_id;
	to->length = from->length;
	to->num_sge = from->num_sge;
	memcpy(to->sge, from->sge, from->num_sge * sizeof(from->sge[0]));
}

bool
srq_take(struct srq_user *user)
{
	struct iw_srq *srq = user->srq;
	struct wr_rq *rq = user->qp->rq;

	if (!srq_has(user)) {
		srq->rdmap->count.n.srq_empty++;
		return false;
	}
	copy_recv(wr_rq_at(rq, rq->ring.head), &srq->wr[iw_ring_slot(&srq->ring, srq->ring.tail)]);
	iw_ring_consume(&srq->ring, 1);
	iw_ring_produce(&rq->ring, 1);
	if (user->limit)
		user->pos[user->head++ & user->mask] = 0;
	check_limit(srq);
	return true;
}

void
srq_completed(struct srq_user *user, struct iw_cq *cq, uint64_t pos)
{
	struct iw_srq *srq = user->srq;

	if (user->limit)
		user->pos[(user->head - 1) & user->mask] = pos + 1;
	srq->done[iw_ring_slot(&srq->done_ring, srq->done_ring.head)] =
		(struct srq_done){.cq = cq, .pos = pos, .handle = cq->handle};
	iw_ring_produce(&srq->done_ring, 1);
}

void
srq_wait(struct srq_user *user)
{
	struct iw_cq *cq = user->qp->rq->cq;

	if (is_at_limit(user)) {
		iw_list_add(&cq->held, &user->wait);
		cq_want_poll(cq);
		if (is_at_limit(user))
			return;
		iw_list_del(&user->wait);
		door_ring(&cq->rdmap->doors, &user->srq->door); /* it was polled meanwhile */
	}
	iw_list_add(&user->srq->waiters, &user->wait);
}

/* ---- the poster's side ---- */

/* Polled, or gone with its CQ, whose object stays readable. */
static bool
is_over(const struct srq_done *d)
{
	return cq_named(d->cq) || d->cq->handle != d->handle || cq_is_polled(d->cq, d->pos);
}

/* Receives whose completions were polled may be posted anew. */
static void
collect(struct iw_srq *srq)
{
	struct iw_ring *r = &srq->done_ring;

	while (iw_ring_count(r) > 0 && is_over(&srq->done[iw_ring_slot(r, r->tail)])) {
		iw_ring_consume(r, 1);
		srq->out--;
	}
}

int
srq_post(struct iw_srq *srq, const struct iw_recv_wr *wr)
{
	int err;

	if (srq->out > srq->ring.mask)
		collect(srq);
	if (srq->out > srq->ring.mask)
		return -IW_E_NOMEM;
	err = wr_recv_copy(&srq->wr[iw_ring_slot(&srq->ring, srq->ring.head)], wr);
	if (err)
		return err;
	srq->out++;
	iw_ring_produce(&srq->ring, 1);
	return 0;
}

int
iw_srq_set_limit(struct iw_srq *srq, uint32_t limit)
{
	int err = srq_named(srq);

	if (err)
		return err;
	if (limit > srq->ring.mask + 1)
		return -IW_E_INVAL;
	srq->limit = limit;
	check_limit(srq);
	return 0;
}

void *
iw_srq_context(const struct iw_srq *srq)
{
	return srq_named(srq) ? NULL : srq->context;
}
