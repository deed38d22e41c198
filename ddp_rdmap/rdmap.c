/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine's rdmap: made, asked, taken down. */
#include "iw_time.h"
#include "qp.h"
#include "qp_timer.h"
#include "rdmap_ctx.h"
#include "rdmap_face.h"
#include "rdmap_loan.h"
#include "rdmap_train.h"
#include "srq.h"

#define FPDU_TIMEOUT (30 * IW_SEC)

static bool
make_pools(struct rdmap *r, uint32_t max_qps)
{
	uint32_t size = iw_ring_size(max_qps), max_cqs = size * 2;

	r->async_qps = iw_env_alloc(size * sizeof(*r->async_qps));
	iw_ring_init(&r->async_ring, size);
	return r->async_qps && iw_pool_init(&r->qps, sizeof(struct iw_qp), max_qps) == 0 &&
	       iw_pool_init(&r->cqs, sizeof(struct iw_cq), max_cqs < IW_POOL_MAX ? max_cqs : IW_POOL_MAX) == 0 &&
	       iw_pool_init(&r->srqs, sizeof(struct iw_srq), max_qps) == 0;
}

struct rdmap *
rdmap_create(struct iw_env *env, struct iw_domain *domain, struct iw_engine *engine, const struct rdmap_params *params)
{
	struct rdmap *r = iw_env_alloc(sizeof(*r));

	if (!r || domain_join(domain, &r->reader)) {
		iw_env_free(r);
		return NULL;
	}
	r->env = env;
	r->domain = domain;
	r->engine = engine;
	r->fpdu_timeout_ns = params->fpdu_timeout_ns ? params->fpdu_timeout_ns : FPDU_TIMEOUT;
	iw_list_init(&r->run);
	iw_list_init(&r->out);
	iw_list_init(&r->notify);
	iw_list_init(&r->async_srqs);
	iw_list_init(&r->lenders);
	r->look_at_ns = IW_NEVER;
	iw_list_init(&r->partial);
	iw_wheel_init(&r->wheel, 0);
	if (make_pools(r, params->max_qps))
		return r;
	rdmap_destroy(r);
	return NULL;
}

void
rdmap_destroy(struct rdmap *r)
{
	uint32_t pos = 0;
	void *obj;

	while ((obj = iw_pool_walk(&r->qps, &pos))) {
		rdmap_loan_forget(obj);
		qp_destroy(obj);
	}
	pos = 0;
	while ((obj = iw_pool_walk(&r->srqs, &pos)))
		srq_destroy(obj);
	pos = 0;
	while ((obj = iw_pool_walk(&r->cqs, &pos)))
		cq_destroy(obj);
	iw_env_free(r->async_qps);
	iw_pool_fini(&r->srqs);
	iw_pool_fini(&r->qps);
	iw_pool_fini(&r->cqs);
	domain_leave(r->domain, r->reader);
	iw_env_free(r);
}

/* Bounded by the entries that were there at the start. */
void
rdmap_doorbells(struct rdmap *r)
{
	struct door *d = door_take(&r->doors);

	while (d) {
		struct door *next = door_answer(d);

		switch ((enum door_kind)d->kind) {
		case DOOR_QP:
			qp_door(iw_list_entry(d, struct wr_sq, door)->qp);
			break;
		case DOOR_CQ:
			cq_fire(iw_list_entry(d, struct iw_cq, door));
			break;
		case DOOR_SRQ:
			qp_door_waiters(&iw_list_entry(d, struct iw_srq, door)->waiters);
			break;
		case DOOR_POLLED:
			qp_door_waiters(&iw_list_entry(d, struct iw_cq, polled)->held);
			break;
		}
		d = next;
	}
}

/* Posts of other threads wait. */
static bool
is_rung(const struct rdmap *r)
{
	return __atomic_load_n(&r->doors.top, __ATOMIC_RELAXED) != NULL;
}

bool
rdmap_is_idle(const struct rdmap *r)
{
	return iw_list_empty(&r->run) && iw_list_empty(&r->out) && iw_list_empty(&r->notify) &&
	       iw_list_empty(&r->async_srqs) && iw_ring_count(&r->async_ring) == 0 && !is_rung(r);
}

void
rdmap_set_bell(struct rdmap *r, const struct iw_bell *bell)
{
	r->doors.bell = bell;
}

bool
rdmap_out_next(struct rdmap *r, struct rdmap_out *out)
{
	struct iw_link *n = iw_list_pop(&r->out);

	if (!n)
		return false;
	out->qp = iw_list_entry(n, struct iw_qp, out);
	out->bits = out->qp->out_bits;
	out->qp->out_bits = 0;
	return true;
}

void
rdmap_tick(struct rdmap *r, uint64_t now_ns)
{
	struct iw_timer *t;

	while ((t = iw_wheel_due(&r->wheel, now_ns)))
		qp_timer_due(iw_list_entry(t, struct iw_qp, timer), now_ns);
	if (rdmap_lends(r))
		rdmap_loan_tick(r, now_ns);
}

bool
rdmap_lends(const struct rdmap *r)
{
	return !iw_list_empty(&r->lenders);
}

uint64_t
rdmap_deadline(const struct rdmap *r)
{
	return rdmap_lends(r) ? iw_time_min(iw_wheel_deadline(&r->wheel), r->look_at_ns) : iw_wheel_deadline(&r->wheel);
}

void
rdmap_quiescent(struct rdmap *r)
{
	rdmap_train_end(r);
	domain_quiescent(r->domain, r->reader);
}

#define IW_COUNTER_PREFIX "rdmap"
#define FAULT_NAME(name, layer, etype, code, copies) IW_COUNTER_PREFIX ".fault_" #name,

/* In the order of struct rdmap's `count`. */
struct iw_counter_list
rdmap_counter_list(const struct rdmap *r)
{
	static const char *const names[] = {RDMAP_COUNTERS(IW_COUNTER_NAME) "rdmap.fault_NONE",
					    RDMAP_FAULTS(FAULT_NAME)};

	_Static_assert(sizeof(names) / sizeof(names[0]) == sizeof(r->count) / sizeof(uint64_t), "one for each");
	return (struct iw_counter_list){
		.names = names, .values = (const uint64_t *)&r->count, .n = sizeof(names) / sizeof(names[0])};
}

static struct iw_async_event
take_event(struct iw_qp *qp)
{
	enum iw_async_type type = qp->async.waits & 1u << IW_ASYNC_QP_FATAL ? IW_ASYNC_QP_FATAL : IW_ASYNC_QP_TERMINATE;

	qp->async.waits &= (uint8_t) ~(1u << type);
	return (struct iw_async_event){.type = type, .qp = qp, .term = qp->term};
}

bool
rdmap_async_next(struct rdmap *r, struct iw_async_event *event)
{
	struct iw_link *n = iw_list_pop(&r->async_srqs);
	struct iw_qp *qp;

	if (n) {
		*event = (struct iw_async_event){.type = IW_ASYNC_SRQ_LIMIT,
						 .srq = iw_list_entry(n, struct iw_srq, async)};
		return true;
	}
	if (iw_ring_count(&r->async_ring) == 0)
		return false;
	qp = qp_at(r, r->async_qps[iw_ring_slot(&r->async_ring, r->async_ring.tail)]);
	*event = take_event(qp);
	if (!qp->async.waits)
		iw_ring_consume(&r->async_ring, 1);
	return true;
}

uint32_t
rdmap_qp_count(const struct rdmap *r)
{
	return r->qps.used;
}

uint32_t
rdmap_cq_count(const struct rdmap *r)
{
	return r->cqs.used;
}

int
rdmap_qp_named(const struct iw_qp *qp)
{
	return qp_named(qp);
}

int
rdmap_cq_named(const struct iw_cq *cq)
{
	return cq_named(cq);
}

int
rdmap_srq_named(const struct iw_srq *srq)
{
	return srq_named(srq);
}
