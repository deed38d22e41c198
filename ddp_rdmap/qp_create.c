/* SPDX-License-Identifier: BSD-3-Clause */
/* A QP's memory: its object from the engine's pool, its queues in one piece of their own. */
#include <iwarp/err.h>

#include "qp.h"
#include "rdmap_ctx.h"

#define DEFAULT_DEPTH 128
#define DEFAULT_IRD 16

struct sizes {
	uint32_t sq, rq, reads, answers; /* powers of two */
	uint16_t ird, ord;
};

static int
sizes_of(const struct iw_qp_attr *attr, struct sizes *s)
{
	uint32_t sq = attr->sq_depth ? attr->sq_depth : DEFAULT_DEPTH;
	uint32_t rq = attr->rq_depth ? attr->rq_depth : DEFAULT_DEPTH;

	s->ird = attr->max_ird ? attr->max_ird : DEFAULT_IRD;
	s->ord = attr->max_ord ? attr->max_ord : DEFAULT_IRD;
	if (sq > WR_DEPTH_MAX || rq > WR_DEPTH_MAX || s->ird > IW_MAX_IRD || s->ord > IW_MAX_IRD)
		return -IW_E_INVAL;
	s->sq = iw_ring_size(sq);
	s->rq = iw_ring_size(rq);
	s->reads = iw_ring_size(s->ord);
	s->answers = iw_ring_size(s->ird);
	return 0;
}

static int
check_args(const struct rdmap *rdmap, const struct iw_pd *pd, const struct iw_qp_attr *attr)
{
	if (!pd || !attr || !attr->send_cq || !attr->recv_cq)
		return -IW_E_INVAL;
	if (pd->domain != rdmap->domain)
		return -IW_E_PD;
	return attr->send_cq->rdmap == rdmap && attr->recv_cq->rdmap == rdmap ? 0 : -IW_E_INVAL;
}

static int
attach_cqs(const struct iw_qp_attr *attr, const struct sizes *s)
{
	int e = cq_attach(attr->send_cq, s->sq);

	if (e)
		return e;
	e = cq_attach(attr->recv_cq, s->rq);
	if (e)
		cq_detach(attr->send_cq, s->sq);
	return e;
}

/* Cuts the four queues out of one piece of memory, widest first so that all are aligned. */
static bool
make_queues(struct iw_qp *qp, const struct sizes *s)
{
	size_t sq = s->sq * sizeof(struct wr_send), rq = s->rq * sizeof(struct wr_recv);
	size_t answers = s->answers * sizeof(struct qp_answer), reads = s->reads * sizeof(struct qp_read);
	uint8_t *p = iw_env_alloc(sq + rq + answers + reads);

	qp->queues = p;
	if (!p)
		return false;
	qp->sq.wr = (struct wr_send *)p;
	qp->rq.wr = (struct wr_recv *)(p + sq);
	qp->answers = (struct qp_answer *)(p + sq + rq);
	qp->reads = (struct qp_read *)(p + sq + rq + answers);
	iw_ring_init(&qp->sq.ring, s->sq);
	iw_ring_init(&qp->rq.ring, s->rq);
	qp->answers_pos.mask = (uint16_t)(s->answers - 1);
	qp->reads_pos.mask = (uint16_t)(s->reads - 1);
	return true;
}

static void
set_up(struct iw_qp *qp, struct rdmap *rdmap, struct iw_pd *pd, const struct iw_qp_attr *attr, const struct sizes *s)
{
	qp->rdmap = rdmap;
	qp->user = (struct mr_user){.domain = rdmap->domain, .pd = pd, .serial = domain_serial(rdmap->domain)};
	qp->sq.cq = attr->send_cq;
	qp->rq.cq = attr->recv_cq;
	qp->sig_all = attr->sq_sig_all;
	qp->foreign = attr->foreign_poster;
	qp->back_pressure = attr->recv_back_pressure;
	qp->recv_wait_ms = attr->recv_wait_ms;
	qp->max_ird = s->ird;
	qp->max_ord = s->ord;
	qp->context = attr->context;
	qp->door.kind = DOOR_QP;
	qp->fpdu_at = qp->nudge_at = qp->wait_at = qp->burst_at = IW_NEVER;
	qp->may_post_recv = 1;
	domain_pd_use(pd, 1);
}

struct iw_qp *
qp_create(struct rdmap *rdmap, struct iw_pd *pd, const struct iw_qp_attr *attr, int *err)
{
	struct iw_qp *qp = NULL;
	struct sizes s;
	uint32_t handle = 0;
	int e = check_args(rdmap, pd, attr);

	if (!e)
		e = sizes_of(attr, &s);
	if (!e)
		e = attach_cqs(attr, &s);
	if (!e) {
		qp = iw_pool_get(&rdmap->qps, &handle);
		if (!qp || !make_queues(qp, &s)) {
			if (qp)
				iw_pool_put(&rdmap->qps, handle);
			cq_detach(attr->send_cq, s.sq);
			cq_detach(attr->recv_cq, s.rq);
			qp = NULL;
			e = -IW_E_NOMEM;
		}
	}
	if (err)
		*err = e;
	if (e)
		return NULL;
	qp->handle = handle;
	set_up(qp, rdmap, pd, attr, &s);
	return qp;
}

void
qp_destroy(struct iw_qp *qp)
{
	struct rdmap *rdmap = qp->rdmap;

	rdmap_doorbells(rdmap); /* it is in the stack no more */
	qp_event(qp, QP_EV_KILL);
	iw_list_del(&qp->run);
	iw_list_del(&qp->out);
	iw_wheel_cancel(&rdmap->wheel, &qp->timer);
	cq_detach(qp->sq.cq, qp->sq.ring.mask + 1);
	cq_detach(qp->rq.cq, qp->rq.ring.mask + 1);
	domain_pd_use(qp->user.pd, -1);
	iw_env_free(qp->queues);
	iw_pool_put(&rdmap->qps, qp->handle);
}
