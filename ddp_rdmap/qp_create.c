/* SPDX-License-Identifier: BSD-3-Clause */
/* A QP's memory: its object from the engine's pool, its queues in one piece of their own. */
#include <iwarp/err.h>

#include "qp.h"
#include "rdmap_ctx.h"
#include "srq.h"

#define DEFAULT_DEPTH 128
#define DEFAULT_IRD 16

struct sizes {
	uint32_t sq, rq, reads, answers; /* powers of two; rq: 1 with an SRQ */
	uint32_t srq_limit;              /* entries of the SRQ's book about this QP */
	uint16_t ird, ord;
};

static int
sizes_of(const struct iw_qp_attr *attr, struct sizes *s)
{
	uint32_t sq = attr->sq_depth ? attr->sq_depth : DEFAULT_DEPTH;
	uint32_t rq = attr->srq ? 1 : attr->rq_depth ? attr->rq_depth : DEFAULT_DEPTH;

	s->ird = attr->max_ird ? attr->max_ird : DEFAULT_IRD;
	s->ord = attr->max_ord ? attr->max_ord : DEFAULT_IRD;
	if (sq > WR_DEPTH_MAX || rq > WR_DEPTH_MAX || attr->srq_limit > WR_DEPTH_MAX || s->ird > IW_MAX_IRD ||
	    s->ord > IW_MAX_IRD)
		return -IW_E_INVAL;
	s->sq = iw_ring_size(sq);
	s->rq = iw_ring_size(rq);
	s->srq_limit = attr->srq && attr->srq_limit ? iw_ring_size(attr->srq_limit) : 0;
	s->reads = iw_ring_size(s->ord);
	s->answers = iw_ring_size(s->ird);
	return 0;
}

static int
check_srq(const struct rdmap *rdmap, const struct iw_pd *pd, const struct iw_srq *srq)
{
	int err = srq ? srq_named(srq) : 0;

	if (err || !srq)
		return err;
	if (srq->rdmap != rdmap)
		return -IW_E_INVAL;
	return srq->pd == pd ? 0 : -IW_E_PD;
}

static int
check_args(const struct rdmap *rdmap, const struct iw_pd *pd, const struct iw_qp_attr *attr)
{
	int err = domain_pd_check(pd);

	if (!err && !attr)
		err = -IW_E_INVAL;
	if (!err)
		err = cq_named(attr->send_cq);
	if (!err)
		err = cq_named(attr->recv_cq);
	if (err)
		return err;
	if (pd->domain != rdmap->domain)
		return -IW_E_PD;
	if (attr->send_cq->rdmap != rdmap || attr->recv_cq->rdmap != rdmap)
		return -IW_E_INVAL;
	return check_srq(rdmap, pd, attr->srq);
}

/* What can be in the CQ: all of the SQ, and all of the RQ; of an SRQ all, once for all its QPs. */
static int
attach_recv(const struct iw_qp_attr *attr, const struct sizes *s)
{
	return attr->srq ? srq_attach(attr->srq, attr->recv_cq) : cq_attach(attr->recv_cq, s->rq);
}

static int
attach_cqs(const struct iw_qp_attr *attr, const struct sizes *s)
{
	int e = cq_attach(attr->send_cq, s->sq);

	if (e)
		return e;
	e = attach_recv(attr, s);
	if (e)
		cq_detach(attr->send_cq, s->sq);
	return e;
}

static void
detach_cqs(struct iw_cq *send_cq, struct iw_cq *recv_cq, struct iw_srq *srq, const struct sizes *s)
{
	cq_detach(send_cq, s->sq);
	if (srq)
		srq_detach(srq, recv_cq);
	else
		cq_detach(recv_cq, s->rq);
}

/* The next piece of the QP's memory, on a cache line of its own; with base NULL only its place is counted. */
static void *
carve(uint8_t *base, size_t *at, size_t size)
{
	void *p = base ? base + *at : NULL;

	*at += (size + 63) & ~(size_t)63;
	return p;
}

/* Lays the queues out; returns the octets that they take. */
static size_t
lay_out(struct iw_qp *qp, uint8_t *base, const struct iw_qp_attr *attr, const struct sizes *s)
{
	size_t n = 0;
	struct wr_sq *sq = carve(base, &n, sizeof(*sq));
	struct wr_rq *rq = carve(base, &n, sizeof(*rq));
	struct wr_send *sends = carve(base, &n, s->sq * sizeof(*sends));
	struct wr_recv *recvs = carve(base, &n, s->rq * sizeof(*recvs));
	struct srq_user *shared = attr->srq ? carve(base, &n, sizeof(*shared) + s->srq_limit * sizeof(uint64_t)) : NULL;

	qp->answers = carve(base, &n, s->answers * sizeof(*qp->answers));
	qp->reads = carve(base, &n, s->reads * sizeof(*qp->reads));
	if (!base)
		return n;
	sq->wr = sends;
	rq->wr = recvs;
	rq->shared = shared;
	qp->sq = sq;
	qp->rq = rq;
	return n;
}

static bool
make_queues(struct iw_qp *qp, const struct iw_qp_attr *attr, const struct sizes *s)
{
	uint8_t *p = iw_env_alloc(lay_out(qp, NULL, attr, s));

	if (!p)
		return false;
	lay_out(qp, p, attr, s);
	iw_ring_init(&qp->sq->ring, s->sq);
	iw_ring_init(&qp->rq->ring, s->rq);
	qp->answers_pos.mask = (uint16_t)(s->answers - 1);
	qp->reads_pos.mask = (uint16_t)(s->reads - 1);
	qp->sq->cq = attr->send_cq;
	qp->sq->qp = qp;
	qp->rq->cq = attr->recv_cq;
	qp->rq->qp = qp;
	qp->sq->door.kind = DOOR_QP;
	if (attr->srq)
		srq_user_init(qp->rq->shared, attr->srq, qp, attr->srq_limit);
	return true;
}

static void
set_up(struct iw_qp *qp, struct rdmap *rdmap, struct iw_pd *pd, const struct iw_qp_attr *attr, const struct sizes *s)
{
	qp->rdmap = rdmap;
	qp->user = (struct mr_user){.domain = rdmap->domain, .pd = pd, .serial = domain_serial(rdmap->domain)};
	qp->sig_all = attr->sq_sig_all;
	qp->foreign = attr->foreign_poster;
	qp->back_pressure = attr->recv_back_pressure;
	qp->recv_wait_ms = attr->recv_wait_ms;
	qp->max_ird = qp->ird = s->ird;
	qp->max_ord = qp->ord = s->ord;
	qp->context = attr->context;
	qp->fpdu_at = qp->wait_at = qp->burst_at = IW_NEVER;
	qp->may_post_recv = 1;
	qp->magic = QP_MAGIC;
	domain_pd_use(pd, 1);
}

/* Its memory; the CQs have room for it. */
static struct iw_qp *
take_memory(struct rdmap *rdmap, const struct iw_qp_attr *attr, const struct sizes *s)
{
	uint32_t handle;
	struct iw_qp *qp = iw_pool_get(&rdmap->qps, &handle);

	if (!qp)
		return NULL;
	qp->handle = handle;
	if (make_queues(qp, attr, s))
		return qp;
	iw_pool_put(&rdmap->qps, handle);
	return NULL;
}

struct iw_qp *
qp_create(struct rdmap *rdmap, struct iw_pd *pd, const struct iw_qp_attr *attr, int *err)
{
	struct iw_qp *qp = NULL;
	struct sizes s = {0};
	int e = check_args(rdmap, pd, attr);

	if (!e)
		e = sizes_of(attr, &s);
	if (!e)
		e = attach_cqs(attr, &s);
	if (!e) {
		qp = take_memory(rdmap, attr, &s);
		if (!qp) {
			detach_cqs(attr->send_cq, attr->recv_cq, attr->srq, &s);
			e = -IW_E_NOMEM;
		}
	}
	if (err)
		*err = e;
	if (qp)
		set_up(qp, rdmap, pd, attr, &s);
	return qp;
}

/* Nobody hears or knows of it any more. */
static void
cut_off(struct iw_qp *qp)
{
	rdmap_doorbells(qp->rdmap); /* it is in the stack no more */
	qp_event(qp, QP_EV_KILL);
	qp_async_forget(qp);
	__atomic_store_n(&qp->magic, 0, __ATOMIC_RELEASE);
	iw_list_del(&qp->run);
	iw_list_del(&qp->out);
	iw_wheel_cancel(&qp->rdmap->wheel, &qp->timer);
	if (qp->rq->shared)
		srq_user_fini(qp->rq->shared);
	qp->sq->gone = true;
}

/* The object stays where it is, marked as gone, until the pool gives its place away. */
void
qp_destroy(struct iw_qp *qp)
{
	struct rdmap *rdmap = qp->rdmap;
	const struct sizes s = {.sq = qp->sq->ring.mask + 1, .rq = qp->rq->ring.mask + 1};
	struct srq_user *shared = qp->rq->shared;

	if (!qp->sq->gone)
		cut_off(qp);
	if (iw_ring_count(&qp->sq->ring) > 0)
		return; /* memory that was lent: rdmap_loan_tick() */
	iw_list_del(&qp->sq->lends);
	detach_cqs(qp->sq->cq, qp->rq->cq, shared ? shared->srq : NULL, &s);
	domain_pd_use(qp->user.pd, -1);
	iw_env_free(qp->sq);
	qp->sq = NULL;
	qp->rq = NULL;
	iw_pool_put(&rdmap->qps, qp->handle);
}
