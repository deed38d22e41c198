/* SPDX-License-Identifier: BSD-3-Clause */
#include "party.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct iw_qp *
new_qp(struct party *p)
{
	struct iw_qp_attr attr = {.send_cq = p->cq, .recv_cq = p->cq, .sq_depth = 8, .rq_depth = 8, .sq_sig_all = true};
	int k = 0, err;

	while (p->qps[k])
		assert_true(++k < PARTY_QPS);
	p->qp = p->qps[k] = iw_qp_create(p->e, p->pd, &attr, &err);
	assert_int_equal(err, 0);
	return p->qp;
}

static void
drop_qps(struct party *p)
{
	for (int k = 0; k < PARTY_QPS; k++)
		if (p->qps[k])
			assert_int_equal(iw_qp_destroy(p->qps[k]), 0);
	memset(p->qps, 0, sizeof(p->qps));
	p->qp = NULL;
}

static int
drop_qp(struct party *p)
{
	int err = iw_qp_destroy(p->qp);

	for (int k = 0; k < PARTY_QPS; k++)
		if (p->qps[k] == p->qp)
			p->qps[k] = NULL;
	return err;
}

/* Posts a receive to the QP that was made for a call that returned 0; otherwise nobody needs it. */
static int
use_qp(struct party *p, struct iw_qp *before, int err)
{
	struct iw_recv_wr wr = {.wr_id = 1};

	if (err) {
		assert_int_equal(drop_qp(p), 0);
		p->qp = before;
	} else if (!p->poor) {
		assert_int_equal(iw_post_recv(p->qp, &wr, NULL), 0);
		p->posted++;
	}
	return err;
}

void
party_take_completions(struct party *p)
{
	struct iw_wc wc;

	while (iw_cq_poll(p->cq, &wc, 1) == 1)
		p->completed++;
}

void
party_post(struct party *p, enum iw_wr_opcode opcode, uint32_t len)
{
	struct iw_sge sge = {(uintptr_t)p->area, len, iw_mr_lkey(p->mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.remote_addr = (uintptr_t)p->peer->area,
				.rkey = iw_mr_rkey(p->peer->mr)};

	assert_int_equal(iw_post_send(p->qp, &wr, NULL), 0);
	p->posted++;
}

static int
connect_to_peer(struct party *p)
{
	struct iw_qp *before = p->qp;

	return use_qp(p, before, iw_cm_connect(p->e, p->id, &p->to, new_qp(p), &p->attr));
}

static int
accept_by(struct party *p, const struct iw_cm_attr *attr)
{
	struct iw_qp *before = p->qp;

	return use_qp(p, before, iw_cm_accept(p->e, p->id, new_qp(p), attr));
}

int
party_call(struct party *p, enum cells_call call)
{
	struct iw_addr any = {.port = CELLS_FREE_PORT};
	struct iw_cm_attr bad = {.private_len = 3};

	switch (call) {
	case CELLS_LISTEN:
		return iw_cm_listen(p->e, p->id, &any, 4);
	case CELLS_CONNECT:
		return connect_to_peer(p);
	case CELLS_ACCEPT:
		return accept_by(p, NULL);
	case CELLS_ACCEPT_BAD:
		return accept_by(p, &bad);
	case CELLS_REJECT:
		return iw_cm_reject(p->e, p->id, "no", 2);
	case CELLS_DISCONNECT:
	case CELLS_ABORT:
		return iw_cm_disconnect(p->e, p->id, call == CELLS_ABORT);
	case CELLS_DESTROY:
		return iw_cm_destroy(p->e, p->id);
	case CELLS_QP_DESTROY:
		return drop_qp(p);
	case CELLS_QP_ERROR:
		return iw_qp_set_error(p->qp);
	case CELLS_MIGRATE:
	case CELLS_RETURN:
	case CELLS_CALLS:
		break;
	}
	return 0;
}

void
party_clear(struct party *p)
{
	if (p->id)
		iw_cm_destroy(p->e, p->id);
	drop_qps(p);
	party_take_completions(p);
	if (p->before)
		iw_cm_destroy(p->e, p->before);
	p->id = p->before = 0;
	p->posted = p->completed = 0;
	p->answer = PARTY_KEEPS;
	p->poor = false;
	p->attr = (struct iw_cm_attr){.require_peer_to_peer = true};
	p->story[0] = 0;
}

iw_cm_id
party_listen(struct party *p, iw_cm_handler handler, uint16_t port)
{
	struct iw_addr any = {.port = port};
	iw_cm_id id = iw_cm_create(p->e, handler, p);

	assert_int_equal(iw_cm_listen(p->e, id, &any, 8), 0);
	return id;
}

void
party_open(struct party *p, struct iw_engine *engine, struct iw_domain *domain, uint32_t host)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->host = host;
	p->attr.require_peer_to_peer = true;
	p->e = engine;
	p->pd = iw_pd_create(domain);
	p->cq = iw_cq_create(engine, 256, NULL, NULL);
	p->area = calloc(1, CELLS_AREA);
	assert_non_null(p->area);
	p->mr = iw_mr_reg(p->pd, p->area, CELLS_AREA, IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE, &err);
	assert_int_equal(err, 0);
}

void
party_close(struct party *p)
{
	if (p->listener)
		assert_int_equal(iw_cm_destroy(p->e, p->listener), 0);
	assert_int_equal(iw_mr_dereg(p->mr), 0);
	free(p->area);
	assert_int_equal(iw_cq_destroy(p->cq), 0);
	assert_int_equal(iw_pd_destroy(p->pd), 0);
}

void
party_write_down(struct party *p, const struct iw_cm_event *ev)
{
	static const char *const names[] = {"REQUEST", "REPLY", "ESTABLISHED", "DISCONNECT", "CLOSE", "TIMEWAIT_EXIT"};
	size_t n = strlen(p->story), max = sizeof(p->story) - n;

	n += (size_t)snprintf(p->story + n, max, "%s%s", n ? " " : "", names[ev->type]);
	if (ev->type != IW_CM_CONNECT_REPLY && ev->type != IW_CM_CLOSE)
		return;
	snprintf(p->story + n, sizeof(p->story) - n, "(%s%s%.*s)", ev->status ? iw_err_name(ev->status) + 5 : "0",
		 ev->private_len ? " " : "", (int)ev->private_len, (const char *)ev->private_data);
}
