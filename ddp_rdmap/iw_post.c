/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts: the user's side of the queues.  They may run on another thread than the engine's (design D22). */
#include <iwarp/err.h>

#include "qp.h"
#include "rdmap_ctx.h"
#include "rdmap_local.h"
#include "srq.h"
#include "wr_kind.h"

static int
post_send_one(struct iw_qp *qp, const struct iw_send_wr *wr)
{
	struct wr_send *slot;
	int err;

	if (!__atomic_load_n(&qp->may_post_send, __ATOMIC_ACQUIRE))
		return -IW_E_NOTCONN;
	slot = wr_sq_slot(qp->sq);
	if (!slot)
		return -IW_E_NOMEM;
	err = wr_send_copy(slot, wr, qp->sig_all);
	if (err == 0 && wr_kind_get(wr->opcode)->asks && qp->ord == 0)
		err = -IW_E_INVAL; /* the peer takes none: it would wait for ever */
	if (err == 0 && wr_kind_is_local(wr->opcode))
		err = rdmap_local_post(qp, slot, wr);
	if (err == 0)
		iw_ring_produce(&qp->sq->ring, 1);
	return err;
}

static int
post_recv_one(struct iw_qp *qp, const struct iw_recv_wr *wr)
{
	struct wr_recv *slot;
	int err;

	if (qp->rq->shared)
		return -IW_E_INVAL;
	if (!__atomic_load_n(&qp->may_post_recv, __ATOMIC_ACQUIRE))
		return -IW_E_NOTCONN;
	slot = wr_rq_slot(qp->rq);
	if (!slot)
		return -IW_E_NOMEM;
	err = wr_recv_copy(slot, wr);
	if (err == 0)
		iw_ring_produce(&qp->rq->ring, 1);
	return err;
}

int
iw_post_send(struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr **bad)
{
	int named = qp_named(qp), err = named;

	while (!err && wr) {
		err = post_send_one(qp, wr);
		if (!err)
			wr = wr->next;
	}
	if (err && bad)
		*bad = wr;
	if (named)
		return err;
	if (qp->foreign)
		door_ring(&qp->rdmap->doors, &qp->sq->door);
	else
		rdmap_run_add(qp);
	return err;
}

int
iw_post_recv(struct iw_qp *qp, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad)
{
	int named = qp_named(qp), err = named;

	while (!err && wr) {
		err = post_recv_one(qp, wr);
		if (!err)
			wr = wr->next;
	}
	if (err && bad)
		*bad = wr;
	if (named)
		return err;
	/* A foreign thread's receive may come just when the queues were flushed, or while a Send waits for it. */
	if (qp->foreign)
		door_ring(&qp->rdmap->doors, &qp->sq->door);
	else if (qp->rx_waits)
		qp_door(qp);
	return err;
}

int
iw_post_srq_recv(struct iw_srq *srq, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad)
{
	int named = srq_named(srq), err = named;

	while (!err && wr) {
		err = srq_post(srq, wr);
		if (!err)
			wr = wr->next;
	}
	if (err && bad)
		*bad = wr;
	if (named)
		return err;
	if (srq->foreign)
		door_ring(&srq->rdmap->doors, &srq->door);
	else
		qp_door_waiters(&srq->waiters);
	return err;
}
