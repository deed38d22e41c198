/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <pthread.h>
#include <rte_common.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "server.h"
#include "sink.h"

#define ALIGN 4096u
#define LINE 64u
#define SPARE 16 /* requests beyond the depth asked for: the last Read, credits, answers */
#define GOODBYE_NS UINT64_C(3000000000)

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
peer_alive(const struct peer *p)
{
	return !p->failed && !p->lost && !cli_stopped();
}

int
peer_poll(struct peer *p)
{
	int work = iw_engine_poll(p->engine);

	if (p->beside)
		server_turn(p->beside);
	return work;
}

/* One at a time for each domain; no handler registers anything. */
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;

static struct iw_mr *
reg(struct iw_pd *pd, void *addr, uint64_t len, uint32_t access, int *err)
{
	struct iw_mr *mr;

	pthread_mutex_lock(&registering);
	mr = iw_mr_reg(pd, addr, len, access, err);
	pthread_mutex_unlock(&registering);
	return mr;
}

static int
dereg(struct iw_mr *mr)
{
	int err;

	pthread_mutex_lock(&registering);
	err = iw_mr_dereg(mr);
	pthread_mutex_unlock(&registering);
	return err;
}

/* For the port to read by itself; what it cannot be given is copied. */
static bool
map(const struct peer *p, void *addr, uint64_t len)
{
	int err = -IW_E_NOTSUP;

	pthread_mutex_lock(&registering);
	if (p->o->host.zero_copy && iw_engine_zero_copy(p->engine))
		err = iw_dma_map(addr, len);
	pthread_mutex_unlock(&registering);
	return err == 0;
}

static void
unmap(void *addr, uint64_t len)
{
	pthread_mutex_lock(&registering);
	iw_dma_unmap(addr, len);
	pthread_mutex_unlock(&registering);
}

bool
peer_init(struct peer *p, const struct options *o, struct iw_domain *domain, struct iw_engine *engine)
{
	memset(p, 0, sizeof(*p));
	p->o = o;
	p->engine = engine;
	p->control = (struct link){.peer = p, .number = PEER_CONTROL};
	p->pd = iw_pd_create(domain);
	if (p->pd)
		p->control_mr = reg(p->pd, p->control_buf, sizeof(p->control_buf), IW_LOCAL_WRITE, NULL);
	return p->control_mr || peer_fail(p, "cannot start", -IW_E_NOMEM);
}

static void
drop_link(struct peer *p, struct link *l)
{
	if (l->id)
		iw_cm_destroy(p->engine, l->id);
	if (l->qp)
		iw_qp_destroy(l->qp);
}

/* Memory that a port still reads is left alone. */
static void
drop_memory(struct peer *p)
{
	bool free_now = !p->mr || dereg(p->mr) == 0;

	if (free_now && p->mapped)
		unmap(p->mem, p->mem_len);
	if (free_now)
		free(p->mem);
	p->mr = NULL;
	p->mem = NULL;
	p->mapped = false;
}

void
peer_fini(struct peer *p)
{
	struct iw_cq *cqs[] = {p->control_cq, p->send_cq, p->recv_cq};

	drop_link(p, &p->control);
	for (uint32_t i = 0; p->links && i < p->qps; i++)
		drop_link(p, &p->links[i]);
	free(p->links);
	for (uint32_t i = 0; i < RTE_DIM(cqs); i++)
		if (cqs[i])
			iw_cq_destroy(cqs[i]);
	if (p->srq)
		iw_srq_destroy(p->srq);
	drop_memory(p);
	if (p->control_mr)
		dereg(p->control_mr);
	if (p->pd)
		iw_pd_destroy(p->pd);
}

static bool
post_control_recv(struct peer *p, uint32_t slot)
{
	struct iw_sge sge = {(uintptr_t)p->control_buf[slot], RECORD_LEN, iw_mr_lkey(p->control_mr)};
	struct iw_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};
	int err = iw_post_recv(p->control.qp, &wr, NULL);

	/* The last record may come together with the end of the connection. */
	return err == 0 || err == -IW_E_NOTCONN || peer_fail(p, "a receive cannot be posted", err);
}

bool
peer_make_control(struct peer *p)
{
	struct iw_qp_attr attr = {.sq_depth = SPARE, .rq_depth = SPARE, .context = &p->control};
	int err = -IW_E_NOMEM;

	p->control_cq = iw_cq_create(p->engine, 4 * SPARE, NULL, NULL);
	attr.send_cq = attr.recv_cq = p->control_cq;
	if (p->control_cq)
		p->control.qp = iw_qp_create(p->engine, p->pd, &attr, &err);
	if (!p->control.qp)
		return peer_fail(p, "cannot make a QP", err);
	for (uint32_t slot = 0; slot < PEER_CONTROL_RECVS; slot++)
		if (!post_control_recv(p, slot))
			return false;
	return true;
}

/* A CQ for n objects that complete up to depth requests each. */
static struct iw_cq *
make_cq(struct peer *p, uint64_t n, uint32_t depth)
{
	uint64_t all = n * rte_align32pow2(depth);

	return all <= 1u << 24 ? iw_cq_create(p->engine, (uint32_t)all, NULL, NULL) : NULL;
}

/* Every QP is promised rx_depth receives, also from a shared queue. */
static bool
make_srq(struct peer *p)
{
	uint64_t all = (uint64_t)p->qps * p->o->rx_depth;
	struct iw_srq_attr attr = {.depth = (uint32_t)RTE_MIN(all, UINT32_MAX)};
	int err = -IW_E_NOMEM;

	if (all <= 1u << 24)
		p->srq = iw_srq_create(p->engine, p->pd, &attr, &err);
	if (!p->srq)
		return peer_fail(p, "cannot make a shared receive queue for all that -q and -r ask for", err);
	for (uint64_t i = 0; i < all; i++)
		if (!sink_post(p, &p->links[i % p->qps], (uint32_t)(i % p->qps)))
			return false;
	return true;
}

bool
peer_make_links(struct peer *p)
{
	const struct options *o = p->o;

	p->qps = o->qps;
	p->links = calloc(p->qps, sizeof(p->links[0]));
	for (uint32_t i = 0; p->links && i < p->qps; i++)
		p->links[i] = (struct link){.peer = p, .number = i};
	p->send_cq = make_cq(p, p->qps, o->tx_depth + SPARE);
	p->recv_cq = make_cq(p, p->qps, o->rx_depth);
	if (!p->links || !p->send_cq || !p->recv_cq)
		return peer_fail(p, "cannot make the CQs for all that -q, -t and -r ask for", -IW_E_NOMEM);
	return !o->srq || make_srq(p);
}

bool
peer_make_qp(struct peer *p, struct link *l)
{
	const struct options *o = p->o;
	struct iw_qp_attr attr = {.sq_depth = o->tx_depth + SPARE,
				  .rq_depth = perf_takes_recv(o->verb) ? o->rx_depth : 1,
				  .max_ird = (uint16_t)o->outs,
				  .max_ord = (uint16_t)o->outs,
				  .send_cq = p->send_cq,
				  .recv_cq = p->recv_cq,
				  .srq = p->srq,
				  .context = l};
	int err;

	l->qp = iw_qp_create(p->engine, p->pd, &attr, &err);
	if (!l->qp)
		return peer_fail(p, "cannot make a QP", err);
	for (uint32_t i = 0; perf_takes_recv(o->verb) && !p->srq && i < o->rx_depth; i++)
		if (!sink_post(p, l, l->number))
			return false;
	return true;
}

/* Large messages begin on a page, small ones on a cache line. */
static uint64_t
stride(uint32_t size)
{
	uint64_t align = size < ALIGN ? LINE : ALIGN;

	return (size + align - 1) / align * align;
}

static uint64_t
octets_of(const struct options *o, uint32_t size)
{
	uint64_t len = stride(size) * 2 * o->qps + sizeof(uint64_t) * o->qps;

	return (len + ALIGN - 1) / ALIGN * ALIGN;
}

bool
peer_memory_fits(const struct options *o, uint32_t size)
{
	uint64_t pages = octets_of(o, size) / (uint64_t)sysconf(_SC_PAGESIZE);

	if (pages < (uint64_t)sysconf(_SC_PHYS_PAGES))
		return true;
	return cli_fail("no memory for %u x %u octets each way: this machine has less", o->qps, size) == 0;
}

bool
peer_make_memory(struct peer *p, uint32_t size)
{
	int err;

	drop_memory(p);
	p->size = size;
	p->qps = p->o->qps;
	p->mem_len = octets_of(p->o, size);
	p->mem = aligned_alloc(ALIGN, p->mem_len);
	if (!p->mem)
		return peer_fail(p, "no memory for messages of this size", -IW_E_NOMEM);
	/* Every page is there before the clock runs. */
	memset(p->mem, 0, p->mem_len);
	p->mapped = map(p, p->mem, p->mem_len);
	p->mr = reg(p->pd, p->mem, p->mem_len,
		    IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC |
			    (p->mapped ? IW_ZERO_COPY : 0),
		    &err);
	return p->mr || peer_fail(p, "the memory cannot be registered", err);
}

uint64_t
peer_offset(const struct peer *p, uint32_t qp)
{
	return stride(p->size) * qp;
}

uint8_t *
peer_out(const struct peer *p, uint32_t qp)
{
	return p->mem + peer_offset(p, qp);
}

uint8_t *
peer_in(const struct peer *p, uint32_t qp)
{
	return p->mem + peer_offset(p, p->qps) + peer_offset(p, qp);
}

uint64_t *
peer_credit(const struct peer *p, uint32_t qp)
{
	return (uint64_t *)(void *)(p->mem + 2 * peer_offset(p, p->qps)) + qp;
}

bool
peer_send_record(struct peer *p, struct record *r)
{
	uint8_t *buf = p->control_buf[PEER_CONTROL_RECVS];
	struct iw_sge sge = {(uintptr_t)buf, RECORD_LEN, iw_mr_lkey(p->control_mr)};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_INLINE};
	int err;

	if (p->mr) {
		r->in_addr = (uintptr_t)peer_in(p, 0);
		r->credit_addr = (uintptr_t)peer_credit(p, 0);
		r->rkey = iw_mr_rkey(p->mr);
	}
	record_emit(r, buf);
	err = iw_post_send(p->control.qp, &wr, NULL);
	return err == 0 || peer_fail(p, "the record of this run cannot be sent", err);
}

bool
peer_take_record(struct peer *p)
{
	struct iw_wc wc;

	if (iw_cq_poll(p->control_cq, &wc, 1) != 1)
		return false;
	if (wc.status != IW_WC_SUCCESS)
		return wc.status == IW_WC_WR_FLUSH_ERR ? false : peer_fail_wc(p, &wc);
	if (!record_parse(p->control_buf[wc.wr_id], wc.byte_len, &p->theirs))
		return peer_fail(p, "the other end is not a dpdk-iwarp-perf of this version", -IW_E_PROTO);
	return post_control_recv(p, (uint32_t)wc.wr_id);
}

static bool
is_open(const struct link *l)
{
	return l->id && l->up && !l->ended;
}

static bool
any_open(const struct peer *p)
{
	for (uint32_t i = 0; p->links && i < p->qps; i++)
		if (is_open(&p->links[i]))
			return true;
	return is_open(&p->control);
}

void
peer_hang_up(struct peer *p)
{
	uint64_t end = iw_engine_now(p->engine) + GOODBYE_NS;

	/* Data first: when the control connection ends the server is done. */
	for (uint32_t i = 0; p->links && i < p->qps; i++)
		if (is_open(&p->links[i]))
			iw_cm_disconnect(p->engine, p->links[i].id, false);
	if (is_open(&p->control))
		iw_cm_disconnect(p->engine, p->control.id, false);
	/* The last CLOSE may come before the last frame has left. */
	while ((peer_poll(p) > 0 || any_open(p)) && iw_engine_now(p->engine) < end)
		;
}
