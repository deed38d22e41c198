/* SPDX-License-Identifier: BSD-3-Clause */
#include "trains.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"

#define PORT 4791
#define DEPTH 32

struct trains_host trains_host[2];

static struct sim *s;

/* What a host's sources hold: TRAINS_SOURCE octets, made once. */
static const uint8_t *
contents(int h)
{
	static uint8_t made[2][TRAINS_SOURCE];

	for (uint32_t i = 0; i < TRAINS_SOURCE && !made[h][TRAINS_SOURCE - 1]; i++)
		made[h][i] = (uint8_t)((i * 2 + (uint32_t)h) * UINT64_C(0x9e3779b97f4a7c15) >> 52) |
			     (i == TRAINS_SOURCE - 1);
	return made[h];
}

/* ---- memory ---- */

/* TRAINS_SOURCE octets in pieces that stand in reverse order. */
static void
cut(uint8_t *memory, int h, struct iw_iov *iov, int n)
{
	uint32_t at = 0, end = TRAINS_SOURCE;

	for (int i = 0; i < n; i++) {
		uint32_t len = i == n - 1 ? TRAINS_SOURCE - at
					  : 1 + (uint32_t)sim_below(s, 2 * (TRAINS_SOURCE / TRAINS_PIECES) - 1);

		len = len > TRAINS_SOURCE - at - (uint32_t)(n - 1 - i) ? TRAINS_SOURCE - at - (uint32_t)(n - 1 - i)
								       : len;
		end -= len;
		iov[i] = (struct iw_iov){.addr = memory + end, .length = len};
		memcpy(memory + end, contents(h) + at, len);
		at += len;
	}
}

static uint8_t *
straight(int h)
{
	uint8_t *memory = malloc(TRAINS_SOURCE);

	memcpy(memory, contents(h), TRAINS_SOURCE);
	return memory;
}

static void
make_sources(struct trains_host *d, int h)
{
	struct iw_iov iov[TRAINS_PIECES];

	d->memory[TRAINS_PLAIN] = straight(h);
	d->memory[TRAINS_LENT] = straight(h);
	d->memory[TRAINS_MAP] = malloc(TRAINS_SOURCE);
	d->memory[TRAINS_FAST] = malloc(TRAINS_SOURCE);
	cut(d->memory[TRAINS_MAP], h, iov, TRAINS_PIECES);
	cut(d->memory[TRAINS_FAST], h, d->fast, TRAINS_PIECES);
	d->mr[TRAINS_PLAIN] =
		iw_mr_reg(d->pd, d->memory[TRAINS_PLAIN], TRAINS_SOURCE, IW_REMOTE_READ | IW_MW_BIND, NULL);
	d->mr[TRAINS_LENT] =
		iw_mr_reg(d->pd, d->memory[TRAINS_LENT], TRAINS_SOURCE, IW_ZERO_COPY | IW_REMOTE_READ, NULL);
	d->mr[TRAINS_MAP] = iw_mr_reg_iov(d->pd, iov, TRAINS_PIECES, TRAINS_IOVA, IW_REMOTE_READ, NULL);
}

static void
make_end(struct trains_host *d, struct trains_end *e)
{
	struct iw_qp_attr attr = {.send_cq = d->cq,
				  .recv_cq = d->cq,
				  .sq_depth = DEPTH,
				  .rq_depth = DEPTH,
				  .max_ird = 4,
				  .max_ord = 4,
				  .context = e};
	uint8_t *memory = oracle_memory(3 * TRAINS_OPS * TRAINS_LEN);

	e->qp = iw_qp_create(d->engine, d->pd, &attr, NULL);
	e->fast = iw_mr_create_fast(d->engine, d->pd, TRAINS_PIECES, NULL);
	e->window = iw_mw_create(d->engine, d->pd, NULL);
	e->sink_mr = iw_mr_reg(d->pd, memory, 3 * TRAINS_OPS * TRAINS_LEN, IW_LOCAL_WRITE | IW_REMOTE_WRITE, NULL);
	for (uint32_t i = 0; i < 3; i++)
		e->sink[i] = memory + i * TRAINS_OPS * TRAINS_LEN;
	for (uint32_t i = 0; i < TRAINS_OPS; i++) {
		struct iw_sge sge = {(uintptr_t)e->sink[2] + i * TRAINS_LEN, TRAINS_LEN, iw_mr_lkey(e->sink_mr)};
		struct iw_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		assert_int_equal(iw_post_recv(e->qp, &wr, NULL), 0);
	}
}

/* Requests that map a QP's own registration and window; they complete before anything else. */
static void
give_out(struct trains_host *d, struct trains_end *e)
{
	struct iw_send_wr wr[2] = {{.next = &wr[1], .wr_id = TRAINS_UNSAID, .opcode = IW_WR_FAST_REG},
				   {.wr_id = TRAINS_UNSAID, .opcode = IW_WR_BIND_MW}};

	wr[0].reg = (struct iw_fast_reg){e->fast,     d->fast,       TRAINS_PIECES, iw_rkey_next(iw_mr_rkey(e->fast)),
					 TRAINS_IOVA, IW_REMOTE_READ};
	wr[1].bind = (struct iw_mw_bind){.mw = e->window,
					 .mr = d->mr[TRAINS_PLAIN],
					 .addr = (uintptr_t)d->memory[TRAINS_PLAIN],
					 .length = TRAINS_SOURCE,
					 .rkey = iw_rkey_next(iw_mw_rkey(e->window)),
					 .access = IW_REMOTE_READ};
	assert_int_equal(iw_post_send(e->qp, wr, NULL), 0);
}

uint64_t
trains_base(const struct trains_host *d, enum trains_kind k)
{
	return k == TRAINS_MAP || k == TRAINS_FAST
		       ? TRAINS_IOVA
		       : (uintptr_t)d->memory[k == TRAINS_LENT ? TRAINS_LENT : TRAINS_PLAIN];
}

uint32_t
trains_key(const struct trains_host *d, const struct trains_end *e, enum trains_kind k)
{
	if (k == TRAINS_WINDOW)
		return iw_mw_rkey(e->window);
	return iw_mr_rkey(k == TRAINS_FAST ? e->fast : d->mr[k]);
}

/* ---- connections ---- */

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct trains_host *d = context;
	struct iw_cm_attr attr = {.no_crc = true};
	struct trains_end *e = NULL;

	if (event->type == IW_CM_CONNECT_REQUEST) {
		e = &d->end[d->taken++];
		e->id = id;
		assert_int_equal(iw_cm_accept(d->engine, id, e->qp, &attr), 0);
		return 0;
	}
	for (int i = 0; i < TRAINS_QPS; i++)
		if (d->end[i].id == id)
			e = &d->end[i];
	assert_non_null(e);
	if (event->type == IW_CM_ESTABLISHED_EV || (event->type == IW_CM_CONNECT_REPLY && event->status == 0))
		e->up = true;
	if (event->type == IW_CM_CLOSE)
		e->closed = true;
	return 0;
}

static void
connect_all(bool crc, bool markers)
{
	struct iw_cm_attr attr = {.no_crc = !crc, .markers = markers, .connect_timeout_ms = 60000};
	struct iw_addr to = sim_addr(1, PORT);

	trains_host[1].listener = iw_cm_create(trains_host[1].engine, on_event, &trains_host[1]);
	assert_int_equal(iw_cm_listen(trains_host[1].engine, trains_host[1].listener, &to, TRAINS_QPS), 0);
	for (int i = 0; i < TRAINS_QPS; i++) {
		struct trains_end *e = &trains_host[0].end[i];

		e->id = iw_cm_create(trains_host[0].engine, on_event, &trains_host[0]);
		assert_int_equal(iw_cm_connect(trains_host[0].engine, e->id, &to, e->qp, &attr), 0);
		while (!e->up || !trains_host[1].end[i].up) /* one after the other: they meet in this order */
			sim_step(s, s->now_ns + IW_SEC);
	}
}

struct sim *
trains_open(uint64_t seed, const struct engine_params *params, const struct sim_wire *wire, bool crc, bool markers)
{
	s = malloc(sizeof(*s));
	sim_init_params(s, seed, 2, params);
	memset(trains_host, 0, sizeof(trains_host));
	for (int h = 0; h < 2; h++) {
		struct trains_host *d = &trains_host[h];

		d->engine = s->host[h].engine;
		d->pd = iw_pd_create(s->host[h].domain);
		d->cq = iw_cq_create(d->engine, 4096, NULL, NULL);
		make_sources(d, h);
		for (int i = 0; i < TRAINS_QPS; i++)
			make_end(d, &d->end[i]);
	}
	connect_all(crc, markers);
	s->wire = *wire;
	for (int i = 0; i < 2 * TRAINS_QPS; i++)
		give_out(&trains_host[i & 1], &trains_host[i & 1].end[i / 2]);
	sim_run(s, 10 * IW_MS);
	return s;
}

static void
close_end(struct trains_host *d, struct trains_end *e)
{
	iw_cm_destroy(d->engine, e->id);
	if (e->qp)
		assert_int_equal(iw_qp_destroy(e->qp), 0);
	assert_int_equal(iw_mw_destroy(e->window), 0);
	assert_int_equal(iw_mr_dereg(e->fast), 0);
	assert_int_equal(iw_mr_dereg(e->sink_mr), 0);
}

void
trains_close(void)
{
	iw_cm_destroy(trains_host[1].engine, trains_host[1].listener);
	for (int i = 0; i < 2 * TRAINS_QPS; i++)
		close_end(&trains_host[i & 1], &trains_host[i & 1].end[i / 2]);
	sim_run(s, 400 * IW_SEC); /* memory that is lent comes back, too */
	for (int i = 0; i < 6; i++)
		if (trains_host[i & 1].mr[i / 2])
			assert_int_equal(iw_mr_dereg(trains_host[i & 1].mr[i / 2]), 0);
	for (int h = 0; h < 2; h++) {
		assert_int_equal(iw_cq_destroy(trains_host[h].cq), 0);
		assert_int_equal(iw_pd_destroy(trains_host[h].pd), 0);
		for (int k = 0; k < 4; k++)
			free(trains_host[h].memory[k]);
	}
	sim_fini(s);
	free(s);
}

/* ---- work ---- */

static uint32_t
draw_len(void)
{
	static const uint32_t full[] = {1424, 1428, 8924, 8920, 1};

	if (sim_below(s, 3) == 0)
		return full[sim_below(s, 5)] * (uint32_t)(1 + sim_below(s, 6)) + (uint32_t)sim_below(s, 9);
	return (uint32_t)sim_below(s, TRAINS_LEN + 1);
}

/* len octets of the host's source from off on, in pieces of any length, of any registration. */
static int
draw_sges(const struct trains_host *d, const struct trains_end *e, const struct trains_op *op, struct iw_sge *sge)
{
	int n = 1 + (int)sim_below(s, 4);
	uint32_t done = 0;

	for (int i = 0; i < n; i++) {
		enum trains_kind k = (enum trains_kind)sim_below(s, TRAINS_WINDOW);
		uint32_t left = op->len - done, len = i == n - 1 ? left : (uint32_t)sim_below(s, left + 1);

		sge[i] = (struct iw_sge){trains_base(d, k) + op->off + done, len, trains_key(d, e, k)};
		done += len;
	}
	return n;
}

void
trains_post(int h, int i)
{
	uint32_t len = draw_len();
	static const uint8_t opcodes[] = {IW_WR_RDMA_WRITE, IW_WR_RDMA_READ, IW_WR_SEND};
	struct trains_host *d = &trains_host[h], *far = &trains_host[!h];
	struct trains_end *e = &d->end[i], *peer = &far->end[i];
	struct trains_op *op = &e->op[e->posted];
	struct iw_sge sge[4];
	struct iw_send_wr wr = {.wr_id = e->posted, .sg_list = sge, .flags = IW_SEND_SIGNALED};
	uint64_t place = (uint64_t)e->posted * TRAINS_LEN;
	enum trains_kind k = (enum trains_kind)sim_below(s, TRAINS_KINDS);

	*op = (struct trains_op){
		.opcode = opcodes[sim_below(s, 3)], .off = (uint32_t)sim_below(s, TRAINS_SOURCE - len), .len = len};
	wr.opcode = op->opcode;
	if (op->opcode == IW_WR_RDMA_READ) {
		sge[0] = (struct iw_sge){(uintptr_t)e->sink[1] + place, len, iw_mr_lkey(e->sink_mr)};
		wr.num_sge = 1;
		wr.remote_addr = trains_base(far, k) + op->off;
		wr.rkey = trains_key(far, peer, k);
	} else {
		wr.num_sge = draw_sges(d, e, op, sge);
		wr.remote_addr = (uintptr_t)peer->sink[0] + place;
		wr.rkey = iw_mr_rkey(peer->sink_mr);
	}
	assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
	e->posted++;
}

/* Of each queue in order, and behind what failed nothing succeeds. */
void
trains_reap(struct trains_host *d)
{
	struct iw_wc wc;

	while (iw_cq_poll(d->cq, &wc, 1) == 1) {
		struct trains_end *e = wc.qp ? iw_qp_context(wc.qp) : NULL;

		if (!e)
			continue;
		if (wc.opcode == IW_WC_RECV) {
			e->received += wc.status == IW_WC_SUCCESS;
			continue;
		}
		assert_int_equal(wc.wr_id, e->done + e->failed);
		if (wc.status == IW_WC_SUCCESS) {
			assert_int_equal(e->failed, 0);
			e->done++;
		} else {
			e->failed++;
		}
	}
}

void
trains_check(const uint8_t *p, int h, const struct trains_op *op)
{
	if (memcmp(p, contents(h) + op->off, op->len) != 0)
		fail_msg("opcode %u: one of %u octets differs", op->opcode, op->len);
}

/* All that an end has sent, and what it has read. */
void
trains_check_end(int h, int i)
{
	const struct trains_end *e = &trains_host[h].end[i], *peer = &trains_host[!h].end[i];
	uint32_t sends = 0;

	for (uint32_t k = 0; k < e->done; k++) {
		const struct trains_op *op = &e->op[k];

		if (op->opcode == IW_WR_RDMA_READ)
			trains_check(e->sink[1] + k * TRAINS_LEN, !h, op);
		else if (op->opcode == IW_WR_RDMA_WRITE)
			trains_check(peer->sink[0] + k * TRAINS_LEN, h, op);
		else
			trains_check(peer->sink[2] + sends++ * TRAINS_LEN, h, op);
	}
	assert_int_equal(peer->received, sends);
}

bool
trains_has_sent(const struct trains_end *e)
{
	return e->done + e->failed == TRAINS_OPS;
}

struct engine_params
trains_params(uint64_t i)
{
	static const uint16_t mtus[] = {1500, 9000, 1281, 1500};
	bool offloads = i & 2, tso = (i & 6) == 6;

	return (struct engine_params){
		.nif = {.mtu = mtus[i % 4], .tx_ip_cksum = offloads, .tx_tcp_cksum = offloads, .tx_tso = tso ? 64 : 0},
		.max_conns = 64};
}
