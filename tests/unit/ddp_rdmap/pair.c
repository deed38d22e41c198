/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cq.h"
#include "crc32c.h"
#include "domains.h"
#include "mbufpool.h"
#include "qp.h"
#include "sum.h"

#define FILLS 64 /* in one call */
#define TURN 16  /* of one QP */
#define VIEWS 192

uint8_t
pair_pattern(const struct pair_side *s, uint32_t off)
{
	return (uint8_t)(off * 7 + (off >> 8) * 13 + (off >> 16) * 29 + s->env.secret[0]);
}

/* The whole pattern of a side, made once. */
static const uint8_t *
pattern_of(const struct pair_side *s)
{
	static uint8_t *made[256];
	uint8_t seed = s->env.secret[0];

	if (!made[seed]) {
		made[seed] = malloc(PAIR_ARENA);
		for (uint32_t i = 0; i < PAIR_ARENA; i++)
			made[seed][i] = pair_pattern(s, i);
	}
	return made[seed];
}

bool
pair_untouched(const struct pair_side *s, uint32_t off, uint32_t len)
{
	return memcmp(s->arena + off, pattern_of(s) + off, len) == 0;
}

static void
open_side(struct pair *p, struct pair_side *s, uint8_t seed)
{
	struct rdmap_params params = {.max_qps = 16};
	struct iw_qp_attr attr = p->o.attr;
	int err = -1;

	memset(s, 0, sizeof(*s));
	memset(s->env.secret, seed, sizeof(s->env.secret));
	s->env.data_pool = s->env.ctl_pool = p->mp;
	s->domain = domains_get(s->env.secret);
	s->rdmap = rdmap_create(&s->env, s->domain, NULL, &params);
	s->pd = iw_pd_create(s->domain);
	s->cq = cq_create(s->rdmap, p->o.cq_depth ? p->o.cq_depth : 1024, NULL, NULL);
	assert_non_null(s->cq);
	attr.send_cq = attr.send_cq ? attr.send_cq : s->cq;
	attr.recv_cq = attr.recv_cq ? attr.recv_cq : s->cq;
	s->qp = qp_create(s->rdmap, s->pd, &attr, &err);
	assert_int_equal(err, 0);
	s->arena = malloc(p->o.arena);
	s->in.p = NULL;
	s->in.room = 0;
	assert_true(p->o.arena <= PAIR_ARENA);
	memcpy(s->arena, pattern_of(s), p->o.arena);
}

static uint16_t
depth_of(uint16_t opt)
{
	return opt == PAIR_NONE ? 0 : opt ? opt : 16;
}

void
pair_open(struct pair *p, const struct pair_opts *opts)
{
	struct qp_stream st = {.conn = 7, .revision = 2};

	memset(p, 0, sizeof(*p));
	p->o = *opts;
	p->o.room = p->o.room ? p->o.room : 1448;
	p->o.arena = p->o.arena ? p->o.arena : PAIR_ARENA;
	p->mp = mbufpool_create("pair", 65535 - RTE_PKTMBUF_HEADROOM, 0);
	p->now_ns = 1000000000;
	open_side(p, &p->a, 1);
	open_side(p, &p->b, 2);
	st.crc = !p->o.no_crc;
	st.tx_markers = p->o.markers;
	st.rx_markers = p->o.markers || p->o.rx_markers;
	st.ird = depth_of(p->o.ird);
	st.ord = depth_of(p->o.ord);
	st.rtr = p->o.rtr;
	assert_int_equal(qp_start(p->b.qp, &st, p->now_ns), 0);
	st.initiator = true;
	st.rtr = p->o.rtr_by_hand ? QP_RTR_NONE : p->o.rtr;
	assert_int_equal(qp_start(p->a.qp, &st, p->now_ns), 0);
}

static void
close_side(struct pair_side *s)
{
	rdmap_destroy(s->rdmap);
	free(s->arena);
	free(s->in.p);
	assert_int_equal(s->domain->readers, 0);
	/* MRs that tests left registered: they are theirs, and go with the domain. */
	for (uint32_t slot = 0; slot < s->domain->fresh; slot++) {
		struct iw_mr *mr = &s->domain->chunk[slot / DOMAIN_CHUNK][slot % DOMAIN_CHUNK];

		if (mr->kind == MR_WINDOW)
			assert_int_equal(iw_mw_destroy((struct iw_mw *)mr), 0);
	}
	for (uint32_t slot = 0; slot < s->domain->fresh; slot++) {
		struct iw_mr *mr = &s->domain->chunk[slot / DOMAIN_CHUNK][slot % DOMAIN_CHUNK];

		if (mr->kind != MR_FREE)
			assert_int_equal(iw_mr_dereg(mr), 0);
	}
	if (s->pd)
		assert_int_equal(iw_pd_destroy(s->pd), 0);
	domains_put(s->domain);
}

void
pair_close(struct pair *p)
{
	close_side(&p->a);
	close_side(&p->b);
	mbufpool_destroy(p->mp);
}

/* Room for n more octets. */
static void
reserve(struct pair_stream *st, uint32_t n)
{
	assert_true(st->len + n <= PAIR_STREAM);
	if (st->len + n <= st->room)
		return;
	st->room = 2 * (st->len + n);
	st->p = realloc(st->p, st->room);
}

static struct pair_side *
other(struct pair *p, struct pair_side *s)
{
	return s == &p->a ? &p->b : &p->a;
}

static void
collect(struct pair_side *s)
{
	struct rdmap_out out;

	while (rdmap_out_next(s->rdmap, &out))
		s->out_bits |= out.bits;
}

/* One segment; 0: there was nothing to be sent. */
static uint32_t
fill(struct pair *p, struct iw_qp *qp, struct pair_stream *st)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->mp);
	uint16_t sum = 0;
	uint32_t n = rdmap_tx_fill(qp, m, p->o.room, &sum, p->now_ns);

	assert_int_equal(m->pkt_len, n);
	assert_int_equal(n ? sum : 0, iw_sum_fold(iw_sum_scalar(rte_pktmbuf_mtod(m, void *), n)));
	assert_int_equal(n % 4, 0);
	assert_true(n <= p->o.room || p->o.room < 140);
	reserve(st, n);
	if (n) /* without octets there may be no memory for them either */
		memcpy(st->p + st->len, rte_pktmbuf_mtod(m, void *), n);
	st->len += n;
	rte_pktmbuf_free(m);
	return n;
}

uint32_t
pair_fill(struct pair *p, struct pair_side *from)
{
	struct pair_stream *st = &other(p, from)->in;
	uint32_t fills = 0, turn;
	struct iw_qp *qp;

	rdmap_doorbells(from->rdmap);
	while (fills < FILLS && (qp = rdmap_run_next(from->rdmap))) {
		for (turn = 0; turn < TURN && fills < FILLS && fill(p, qp, st) > 0; turn++)
			fills++;
		rdmap_run_add(qp);
	}
	from->fills += fills;
	collect(from);
	return fills;
}

static struct iw_view
view_of(struct pair *p, const uint8_t *src, uint32_t len, uint32_t off)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->mp);

	memcpy(rte_pktmbuf_append(m, (uint16_t)(len + off)) + off, src, len);
	return (struct iw_view){.m = m, .off = off, .len = len};
}

static uint32_t
feed(struct pair *p, struct pair_side *to)
{
	uint32_t view = p->o.view ? p->o.view : 60000, off = 0, n = 0;
	struct iw_view views[VIEWS] = {{0}};
	struct mpa_rx_result r;

	while (off < to->in.avail && n < VIEWS) {
		uint32_t part = to->in.avail - off < view ? to->in.avail - off : view;

		views[n] = view_of(p, to->in.p + off, part, n % 3);
		off += part;
		n++;
	}
	r = mpa_rx(to->qp, views, n, 16, p->now_ns);
	for (uint32_t i = 0; i < n; i++)
		rte_pktmbuf_free(views[i].m);
	rdmap_quiescent(to->rdmap);
	to->fpdus_in += r.fpdus;
	to->stop = r.stop;
	assert_true(r.consumed <= to->in.avail);
	to->in.len -= r.consumed;
	to->in.avail -= r.consumed;
	if (r.consumed)
		memmove(to->in.p, to->in.p + r.consumed, to->in.len);
	return r.consumed;
}

void
pair_deliver(struct pair *p, struct pair_side *to)
{
	do {
		uint32_t more = to->in.len - to->in.avail;

		if (p->o.step && more > p->o.step)
			more = p->o.step;
		to->in.avail += more;
		while (feed(p, to) > 0)
			;
	} while (to->in.avail < to->in.len);
	collect(to);
}

void
pair_pump(struct pair *p)
{
	for (int i = 0; i < 100000; i++) {
		uint32_t moved = pair_fill(p, &p->a) + pair_fill(p, &p->b) + p->a.in.len + p->b.in.len;

		pair_deliver(p, &p->a);
		pair_deliver(p, &p->b);
		if (moved == 0)
			return;
	}
	fail_msg("never comes to rest");
}

void
pair_inject(struct pair *p, struct pair_side *to, const void *octets, uint32_t len)
{
	reserve(&to->in, len);
	memcpy(to->in.p + to->in.len, octets, len);
	to->in.len += len;
	pair_deliver(p, to);
}

void
pair_fix_crc(uint8_t *fpdu)
{
	uint32_t ulpdu = (uint32_t)fpdu[0] << 8 | fpdu[1], n = 2 + ulpdu + (-(ulpdu + 2) & 3);
	uint32_t crc = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, fpdu, n));

	for (int i = 0; i < 4; i++)
		fpdu[n + i] = (uint8_t)(crc >> 8 * i);
}

uint32_t
pair_fpdu(uint8_t *out, const struct ddp_hdr *h, const void *payload, uint32_t len)
{
	uint32_t ulpdu = h->hdr_len + len, pad = -(ulpdu + 2) & 3;

	out[0] = (uint8_t)(ulpdu >> 8);
	out[1] = (uint8_t)ulpdu;
	ddp_hdr_emit(h, out + 2, 18);
	if (len)
		memcpy(out + 2 + h->hdr_len, payload, len);
	memset(out + 2 + ulpdu, 0, pad);
	pair_fix_crc(out);
	return 2 + ulpdu + pad + 4;
}

int
pair_send(struct pair_side *s, uint64_t id, const void *addr, uint32_t len, uint32_t lkey, uint8_t flags)
{
	struct iw_sge sge = {.addr = (uintptr_t)addr, .length = len, .lkey = lkey};
	struct iw_send_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = len > 0, .opcode = IW_WR_SEND, .flags = flags};

	return iw_post_send(s->qp, &wr, NULL);
}

int
pair_recv(struct pair_side *s, uint64_t id, void *addr, uint32_t len, uint32_t lkey)
{
	struct iw_sge sge = {.addr = (uintptr_t)addr, .length = len, .lkey = lkey};
	struct iw_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = len > 0};

	return iw_post_recv(s->qp, &wr, NULL);
}

int
pair_rdma(struct pair_side *s, uint64_t id, uint8_t opcode, const void *addr, uint32_t len, uint32_t lkey,
	  const void *remote, uint32_t rkey, uint8_t flags)
{
	struct iw_sge sge = {.addr = (uintptr_t)addr, .length = len, .lkey = lkey};
	struct iw_send_wr wr = {.wr_id = id,
				.sg_list = &sge,
				.num_sge = len > 0,
				.opcode = opcode,
				.flags = flags,
				.remote_addr = (uintptr_t)remote,
				.rkey = rkey};

	return iw_post_send(s->qp, &wr, NULL);
}

struct iw_mr *
pair_mr(struct pair_side *s, uint32_t off, uint64_t len, uint32_t access)
{
	int err = -1;
	struct iw_mr *mr = iw_mr_reg(s->pd, s->arena + off, len, access, &err);

	assert_int_equal(err, 0);
	return mr;
}

struct iw_wc
pair_wc(struct pair_side *s)
{
	struct iw_wc wc;

	assert_int_equal(iw_cq_poll(s->cq, &wc, 1), 1);
	return wc;
}

bool
pair_no_wc(struct pair_side *s)
{
	struct iw_wc wc;

	return iw_cq_poll(s->cq, &wc, 1) == 0;
}
