/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that leave in a train are, octet by octet, those that leave one by one; and a train goes no further than
 * what was looked at when it began. */
#include "rdmap_train.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "qp.h"
#include "rdmap_ctx.h"
#include "sum.h"

#define LEN 20001 /* 15 segments, the last one short */
#define ROOM 1448
#define TURN 16
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct pair p;
static struct iw_mr *mr, *sink;
static uint8_t octets[2][2 * LEN];

static void
begin(const struct pair_opts *opts)
{
	pair_open(&p, opts);
	mr = pair_mr(&p.a, 0, 65536, IW_LOCAL_WRITE);
	sink = pair_mr(&p.b, 0, 65536, IW_REMOTE_WRITE | IW_REMOTE_READ | IW_LOCAL_WRITE);
}

static uint32_t
fill(struct pair_side *s, uint32_t room, uint8_t *out)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p.mp);
	uint16_t sum = 0;
	uint32_t n = rdmap_tx_fill(s->qp, m, room, &sum, p.now_ns);

	memcpy(out, rte_pktmbuf_mtod(m, void *), n);
	assert_int_equal(m->pkt_len, n);
	assert_int_equal(m->data_len, n);
	assert_true(n == 0 || sum == iw_sum_fold(iw_sum_scalar(out, n)));
	rte_pktmbuf_free(m);
	return n;
}

/* A turn of the only QP; *rolled: segments that left in a train. */
static uint32_t
turn(struct pair_side *s, bool trains, uint8_t *out, uint32_t *rolled)
{
	uint32_t n = 0, len = 0, part = 1;

	rdmap_doorbells(s->rdmap);
	assert_ptr_equal(rdmap_run_next(s->rdmap), s->qp);
	*rolled = 0;
	while (n < TURN && part > 0) {
		if (!trains)
			rdmap_train_end(s->rdmap);
		*rolled += rdmap_train_has(s->qp, ROOM);
		part = fill(s, ROOM, out + len);
		len += part;
		n += part > 0;
	}
	rdmap_run_add(s->qp);
	return len;
}

/* The message that was posted leaves; the peer takes it. */
static uint32_t
pass(struct pair_side *from, struct pair_side *to, bool trains, uint8_t *out, uint32_t *rolled)
{
	uint32_t len = turn(from, trains, out, rolled);

	rdmap_quiescent(from->rdmap);
	pair_inject(&p, to, out, len);
	return len;
}

static int
write_len(uint32_t len)
{
	return pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, p.a.arena, len, iw_mr_lkey(mr), p.b.arena, iw_mr_rkey(sink),
			 IW_SEND_SIGNALED);
}

static void
assert_complete(struct pair_side *s)
{
	assert_int_equal(pair_wc(s).status, IW_WC_SUCCESS);
}

/* Sends differ in MSN alone: octets 12 to 15 of each. */
static void
forget_msn(uint8_t *out, uint32_t len)
{
	for (uint32_t off = 0; off < len; off += ROOM) {
		memset(out + off + 12, 0, 4);
		if (off + ROOM <= len)
			pair_fix_crc(out + off);
	}
}

/* A Write or a Read of that many octets, in so many segments, without and with trains. */
static void
check_tagged(bool read, bool no_crc, uint32_t octets_all, uint32_t segments)
{
	struct pair_side *from = read ? &p.b : &p.a, *to = read ? &p.a : &p.b;
	uint32_t len[2], rolled[2], before;

	begin(&(struct pair_opts){.room = ROOM, .no_crc = no_crc});
	for (uint32_t trains = 0; trains < 2; trains++) {
		before = from->rdmap->count.n.tx_fpdus;
		memset(to->arena, 0x55, octets_all);
		assert_int_equal(pair_rdma(&p.a, 1, read ? IW_WR_RDMA_READ : IW_WR_RDMA_WRITE, p.a.arena, octets_all,
					   iw_mr_lkey(mr), p.b.arena, iw_mr_rkey(sink), IW_SEND_SIGNALED),
				 0);
		if (read) {
			pair_fill(&p, &p.a);
			pair_deliver(&p, &p.b);
		}
		len[trains] = pass(from, to, trains, octets[trains], &rolled[trains]);
		assert_complete(&p.a);
		assert_memory_equal(to->arena, from->arena, octets_all);
		assert_int_equal(from->rdmap->count.n.tx_fpdus - before, segments);
	}
	assert_int_equal(rolled[0], 0);
	assert_int_equal(rolled[1], segments - 2); /* not the first, not the last */
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(octets[0], octets[1], len[0]);
	pair_close(&p);
}

static void
test_write_and_read(void **state)
{
	(void)state;
	for (uint32_t way = 0; way < 4; way++) {
		check_tagged(way & 1, way & 2, LEN, 15);
		check_tagged(way & 1, way & 2, 14 * 1428, 14); /* the last one is full, too, but it has L */
		check_tagged(way & 1, way & 2, 2 * 1428 + 4, 3);
	}
}

static void
test_send(void **state)
{
	uint32_t len[2], rolled[2];

	(void)state;
	begin(&(struct pair_opts){.room = ROOM});
	for (uint32_t trains = 0; trains < 2; trains++) {
		memset(p.b.arena, 0x55, LEN);
		assert_int_equal(pair_recv(&p.b, 2, p.b.arena, LEN, iw_mr_lkey(sink)), 0);
		assert_int_equal(pair_send(&p.a, 1, p.a.arena, LEN, iw_mr_lkey(mr), IW_SEND_SIGNALED), 0);
		len[trains] = pass(&p.a, &p.b, trains, octets[trains], &rolled[trains]);
		assert_complete(&p.a);
		assert_int_equal(pair_wc(&p.b).byte_len, LEN);
		assert_memory_equal(p.b.arena, p.a.arena, LEN);
		forget_msn(octets[trains], len[trains] / ROOM * ROOM);
	}
	assert_int_equal(rolled[0], 0);
	assert_int_equal(rolled[1], 13);
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(octets[0], octets[1], len[0] / ROOM * ROOM);
	pair_close(&p);
}

/* Cut out of two SGEs, the second of two pieces of memory: trains end in front of each border, and begin again. */
static void
test_borders(void **state)
{
	uint32_t rolled, len;
	int err;
	struct iw_iov iov[2];
	struct iw_mr *map;
	struct iw_sge sge[2];
	struct iw_send_wr wr = {
		.wr_id = 1, .opcode = IW_WR_RDMA_WRITE, .flags = IW_SEND_SIGNALED, .sg_list = sge, .num_sge = 2};

	(void)state;
	begin(&(struct pair_opts){.room = ROOM});
	wr.remote_addr = (uintptr_t)p.b.arena;
	wr.rkey = iw_mr_rkey(sink);
	for (uint32_t first = 5 * 1428 - 4; first <= 5 * 1428 + 4; first += 4) {
		iov[0] = (struct iw_iov){.addr = p.a.arena + 40000, .length = 4 * 1428 + first % 7};
		iov[1] = (struct iw_iov){.addr = p.a.arena + 50000, .length = LEN - first - iov[0].length};
		map = iw_mr_reg_iov(p.a.pd, iov, 2, 0x1000, 0, &err);
		assert_non_null(map);
		sge[0] = (struct iw_sge){.addr = (uintptr_t)p.a.arena, .length = first, .lkey = iw_mr_lkey(mr)};
		sge[1] = (struct iw_sge){.addr = 0x1000, .length = LEN - first, .lkey = iw_mr_lkey(map)};
		memset(p.b.arena, 0x55, LEN);
		assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
		len = pass(&p.a, &p.b, true, octets[0], &rolled);
		assert_int_equal(len, LEN + 15 * 20 + 3);
		assert_in_range(rolled, 8, 11);
		assert_complete(&p.a);
		assert_memory_equal(p.b.arena, p.a.arena, first);
		assert_memory_equal(p.b.arena + first, iov[0].addr, iov[0].length);
		assert_memory_equal(p.b.arena + first + iov[0].length, iov[1].addr, iov[1].length);
		assert_int_equal(iw_mr_dereg(map), 0);
	}
	pair_close(&p);
}

/* What a train cannot do, or what is not worth one. */
static void
test_none(void **state)
{
	static const struct {
		struct pair_opts opts;
		uint32_t access;
	} rows[] = {
		{{.room = ROOM, .markers = true}, 0},
		{{.room = 1000}, 0},
		{{.room = ROOM}, IW_ZERO_COPY},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(&rows[i].opts);
		mr = pair_mr(&p.a, 0, 65536, rows[i].access);
		assert_int_equal(write_len(LEN), 0);
		rdmap_doorbells(p.a.rdmap);
		assert_ptr_equal(rdmap_run_next(p.a.rdmap), p.a.qp);
		for (uint32_t n = 0; n < 3; n++) {
			assert_true(fill(&p.a, rows[i].opts.room, octets[0]) > 0);
			assert_false(rdmap_train_has(p.a.qp, rows[i].opts.room));
		}
		pair_close(&p);
	}
}

/* An SGE that reaches behind its registration: the segments in front of the end leave, and not an octet more. */
static void
test_beyond(void **state)
{
	struct iw_mr *few;
	uint32_t rolled, len;
	struct iw_wc wc;

	(void)state;
	begin(&(struct pair_opts){.room = ROOM});
	few = pair_mr(&p.a, 0, 6 * 1428 + 1, 0);
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, p.a.arena, LEN, iw_mr_lkey(few), p.b.arena,
				   iw_mr_rkey(sink), IW_SEND_SIGNALED),
			 0);
	len = pass(&p.a, &p.b, true, octets[0], &rolled);
	assert_int_equal(len, 6 * ROOM);
	wc = pair_wc(&p.a);
	assert_int_equal(wc.status, IW_WC_LOC_PROT_ERR);
	assert_true(pair_untouched(&p.b, 6 * 1428, LEN));
	pair_close(&p);
}

/* The source of an answer was mapped anew under the same STag between two turns, and is shorter now: what it grants
 * still leaves, and not an octet more. */
static void
test_shorter(void **state)
{
	uint32_t rolled, len;

	(void)state;
	begin(&(struct pair_opts){.room = ROOM});
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, p.a.arena, 2 * LEN, iw_mr_lkey(mr), p.b.arena,
				   iw_mr_rkey(sink), IW_SEND_SIGNALED),
			 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	assert_int_equal(pass(&p.b, &p.a, true, octets[0], &rolled), TURN * ROOM);
	sink->len = (TURN + 3) * 1428 + 10; /* as the request would have done it */
	len = turn(&p.b, true, octets[0], &rolled);
	assert_int_equal(len, 3 * ROOM);
	assert_true(qp_is_terminating(p.b.qp));
	pair_close(&p);
}

static void
no_more(void)
{
}

static void
other_turn(void)
{
	assert_null(rdmap_run_next(p.a.rdmap));
}

static void
end_of_turn(void)
{
	rdmap_quiescent(p.a.rdmap);
}

static void
failed(void)
{
	qp_set_error(p.a.qp);
}

/* What ends one: another room, another turn, the QP's error; and whatever is filled then is looked at again. */
static void
test_ends(void **state)
{
	static const struct {
		void (*what)(void);
		uint32_t room, then, filled;
	} rows[] = {
		{no_more, ROOM, true, ROOM},     {no_more, ROOM - 4, false, ROOM - 4},
		{other_turn, ROOM, false, ROOM}, {end_of_turn, ROOM, false, ROOM},
		{failed, ROOM, false, 0},
	};

	struct iw_qp other;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(&(struct pair_opts){.room = ROOM});
		assert_int_equal(write_len(LEN), 0);
		rdmap_doorbells(p.a.rdmap);
		assert_ptr_equal(rdmap_run_next(p.a.rdmap), p.a.qp);
		assert_int_equal(fill(&p.a, ROOM, octets[0]), ROOM);
		assert_true(rdmap_train_has(p.a.qp, ROOM));
		other = *p.a.qp;
		assert_false(rdmap_train_has(&other, ROOM));
		rows[i].what();
		assert_int_equal(rdmap_train_has(p.a.qp, rows[i].room), rows[i].then);
		assert_int_equal(fill(&p.a, rows[i].room, octets[0]), rows[i].filled);
		pair_close(&p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read), cmocka_unit_test(test_send),   cmocka_unit_test(test_borders),
		cmocka_unit_test(test_none),           cmocka_unit_test(test_beyond), cmocka_unit_test(test_shorter),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
