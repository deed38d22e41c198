/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define ALIGN 4096

bool
peer_fail(struct peer *p, const char *what, int err)
{
	if (!p->failed)
		cli_fail("%s: %s", what, iw_err_text(err));
	p->failed = true;
	return false;
}

bool
peer_fail_wc(struct peer *p, const struct iw_wc *wc)
{
	if (!p->failed)
		cli_fail("a work request failed: %s", iw_wc_status_name(wc->status));
	p->failed = true;
	return false;
}

bool
peer_init(struct peer *p, const struct options *o, struct iw_domain *domain, struct iw_engine *engine)
{
	memset(p, 0, sizeof(*p));
	p->o = o;
	p->engine = engine;
	p->qps = o->qps;
	p->pd = iw_pd_create(domain);
	if (p->pd)
		p->control_mr = iw_mr_reg(p->pd, p->control, sizeof(p->control), IW_LOCAL_WRITE, NULL);
	return p->control_mr || peer_fail(p, "cannot start", -IW_E_NOMEM);
}

static void
drop_link(struct peer *p, struct link *l)
{
	if (l->id)
		iw_cm_destroy(p->engine, l->id);
	if (l->qp)
		iw_qp_destroy(l->qp);
	if (l->send_cq)
		iw_cq_destroy(l->send_cq);
	if (l->recv_cq)
		iw_cq_destroy(l->recv_cq);
	memset(l, 0, sizeof(*l));
}

static void
drop_memory(struct peer *p)
{
	if (p->mr)
		iw_mr_dereg(p->mr);
	free(p->mem);
	p->mr = NULL;
	p->mem = NULL;
}

void
peer_fini(struct peer *p)
{
	for (uint32_t i = 0; i < 1 + PERF_MAX_QPS; i++)
		drop_link(p, &p->links[i]);
	drop_memory(p);
	if (p->control_mr)
		iw_mr_dereg(p->control_mr);
	if (p->pd)
		iw_pd_destroy(p->pd);
}

static bool
post_control_recv(struct peer *p, uint32_t slot)
{
	struct iw_sge sge = {(uintptr_t)p->control[slot], RECORD_LEN, iw_mr_lkey(p->control_mr)};
	struct iw_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};
	int err = iw_post_recv(p->links[0].qp, &wr, NULL);

	return err == 0 || peer_fail(p, "a receive cannot be posted", err);
}

bool
peer_make_link(struct peer *p, uint32_t i, uint32_t tx_depth, uint32_t rx_depth)
{
	struct link *l = &p->links[i];
	struct iw_qp_attr attr = {.sq_depth = tx_depth, .rq_depth = rx_depth, .context = l};
	int err = -IW_E_NOMEM;

	l->send_cq = iw_cq_create(p->engine, attr.sq_depth * 2, NULL, NULL);
	l->recv_cq = iw_cq_create(p->engine, attr.rq_depth * 2, NULL, NULL);
	attr.send_cq = l->send_cq;
	attr.recv_cq = l->recv_cq;
	if (l->send_cq && l->recv_cq)
		l->qp = iw_qp_create(p->engine, p->pd, &attr, &err);
	if (!l->qp)
		return peer_fail(p, "cannot make a QP", err);
	for (uint32_t slot = 0; i == 0 && slot < PEER_CONTROL_RECVS; slot++)
		if (!post_control_recv(p, slot))
			return false;
	return true;
}

static uint64_t
stride(uint32_t size)
{
	return ((uint64_t)size + ALIGN - 1) / ALIGN * ALIGN;
}

bool
peer_make_memory(struct peer *p, uint32_t size)
{
	int err;

	drop_memory(p);
	p->size = size;
	p->mem_len = stride(size) * 2 * p->qps + stride((uint32_t)(sizeof(uint64_t) * p->qps));
	p->mem = aligned_alloc(ALIGN, p->mem_len);
	if (!p->mem)
		return peer_fail(p, "no memory for messages of this size", -IW_E_NOMEM);
	/* Every page is there before the clock runs. */
	memset(p->mem, 0, p->mem_len);
	p->mr = iw_mr_reg(p->pd, p->mem, p->mem_len, IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE, &err);
	return p->mr || peer_fail(p, "the memory cannot be registered", err);
}

uint8_t *
peer_out(const struct peer *p, uint32_t qp)
{
	return p->mem + stride(p->size) * qp;
}

uint8_t *
peer_in(const struct peer *p, uint32_t qp)
{
	return p->mem + stride(p->size) * (p->qps + qp);
}

uint64_t *
peer_credit(const struct peer *p, uint32_t qp)
{
	return (uint64_t *)(void *)(p->mem + stride(p->size) * 2 * p->qps) + qp;
}

bool
peer_send_record(struct peer *p, struct record *r)
{
	uint8_t *buf = p->control[PEER_CONTROL_RECVS];
	struct iw_sge sge = {(uintptr_t)buf, RECORD_LEN, iw_mr_lkey(p->control_mr)};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_INLINE};
	int err;

	if (p->mr) {
		r->in_addr = (uintptr_t)peer_in(p, 0);
		r->credit_addr = (uintptr_t)peer_credit(p, 0);
		r->rkey = iw_mr_rkey(p->mr);
	}
	record_emit(r, buf);
	err = iw_post_send(p->links[0].qp, &wr, NULL);
	return err == 0 || peer_fail(p, "the record of this run cannot be sent", err);
}

bool
peer_take_record(struct peer *p)
{
	struct iw_wc wc;

	if (iw_cq_poll(p->links[0].recv_cq, &wc, 1) != 1)
		return false;
	if (wc.status != IW_WC_SUCCESS)
		return wc.status == IW_WC_WR_FLUSH_ERR ? false : peer_fail_wc(p, &wc);
	if (!record_parse(p->control[wc.wr_id], wc.byte_len, &p->theirs))
		return peer_fail(p, "the other end is not a dpdk-iwarp-perf of this version", -IW_E_PROTO);
	return post_control_recv(p, (uint32_t)wc.wr_id);
}
