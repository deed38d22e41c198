/* SPDX-License-Identifier: BSD-3-Clause */
/* FPDUs whose payload is the user's memory: their octets, their completions, and when it is copied all the same. */
#include "rdmap_loan.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mbufpool.h"
#include "pair.h"
#include "rdmap_ctx.h"
#include "sum.h"

#define LEN 4000
#define ROOM 1448
#define ID 7

static struct pair p;
static struct rte_mempool *loans;
static struct iw_mr *mr, *sink;
static struct rte_mbuf *held[16]; /* as TCP and a driver hold them */
static uint32_t n_held;

static void
begin(const struct pair_opts *opts)
{
	pair_open(&p, opts);
	loans = mbufpool_create("loan", 0, 0);
	p.a.env.loan_pool = loans;
	mr = pair_mr(&p.a, 0, 65536, IW_ZERO_COPY);
	sink = pair_mr(&p.b, 0, 65536, IW_REMOTE_WRITE | IW_LOCAL_WRITE);
}

static void
let_go(void)
{
	while (n_held > 0)
		rte_pktmbuf_free(held[--n_held]);
}

static void
end(void)
{
	let_go();
	pair_close(&p);
	mbufpool_destroy(loans);
}

static const struct rdmap_counted *
count(void)
{
	return &p.a.rdmap->count.n;
}

/* Fills what there is; the mbufs are held, the octets go to the peer. */
static void
fill(void)
{
	uint8_t octets[2 * ROOM];
	struct iw_qp *qp;
	uint16_t sum;

	rdmap_doorbells(p.a.rdmap);
	while ((qp = rdmap_run_next(p.a.rdmap))) {
		struct rte_mbuf *m = held[n_held] = rte_pktmbuf_alloc(p.mp);
		uint32_t n = rdmap_tx_fill(qp, m, ROOM, &sum, p.now_ns);
		const void *all = rte_pktmbuf_read(m, 0, n, octets);

		n_held++;
		assert_int_equal(m->pkt_len, n);
		if (n == 0)
			continue;
		assert_int_equal(sum, iw_sum_fold(iw_sum_scalar(all, n)));
		pair_inject(&p, &p.b, all, n);
		rdmap_run_add(qp);
	}
	rdmap_quiescent(p.a.rdmap);
}

static void
write_len(uint32_t len, uint8_t flags)
{
	assert_int_equal(pair_rdma(&p.a, ID, IW_WR_RDMA_WRITE, p.a.arena, len, iw_mr_lkey(mr), p.b.arena,
				   iw_mr_rkey(sink), flags | IW_SEND_SIGNALED),
			 0);
}

static void
tick(void)
{
	rdmap_tick(p.a.rdmap, ++p.now_ns);
}

/* What arrives is what copying gives, whatever the pad. */
static void
test_octets(void **state)
{
	(void)state;
	for (uint32_t len = LEN; len < LEN + 8; len++) {
		begin(&(struct pair_opts){.no_crc = true});
		write_len(len, 0);
		fill();
		assert_int_equal(n_held, 3);
		assert_true(held[0]->nb_segs == 3 && RTE_MBUF_HAS_EXTBUF(held[0]->next));
		assert_ptr_equal(rte_pktmbuf_mtod(held[0]->next, uint8_t *), p.a.arena);
		assert_int_equal(held[0]->pkt_len, ROOM);
		assert_int_equal(count()->tx_lent, 3);
		assert_memory_equal(p.b.arena, p.a.arena, len);
		assert_true(pair_untouched(&p.b, len, 64));
		end();
	}
}

/* Sends go the same way. */
static void
test_send(void **state)
{
	struct iw_wc wc;

	(void)state;
	begin(&(struct pair_opts){.no_crc = true});
	assert_int_equal(pair_recv(&p.b, 1, p.b.arena, 8192, iw_mr_lkey(sink)), 0);
	assert_int_equal(pair_send(&p.a, ID, p.a.arena, LEN, iw_mr_lkey(mr), IW_SEND_SIGNALED), 0);
	fill();
	assert_int_equal(count()->tx_lent, 3);
	wc = pair_wc(&p.b);
	assert_true(wc.status == IW_WC_SUCCESS && wc.byte_len == LEN);
	assert_memory_equal(p.b.arena, p.a.arena, LEN);
	assert_true(pair_no_wc(&p.a));
	let_go();
	tick();
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	end();
}

/* Its completion, and that of what stands behind it, waits for the last reference; so do the registration and who
 * waits for everything before him. */
static void
test_completes_when_it_is_back(void **state)
{
	struct rte_mbuf *last;

	(void)state;
	begin(&(struct pair_opts){.no_crc = true});
	write_len(LEN, 0);
	assert_int_equal(pair_send(&p.a, ID + 1, "abc", 3, 0, IW_SEND_SIGNALED | IW_SEND_INLINE), 0);
	assert_int_equal(pair_send(&p.a, ID + 2, "abc", 3, 0, IW_SEND_SIGNALED | IW_SEND_INLINE | IW_SEND_LOCAL_FENCE),
			 0);
	pair_recv(&p.b, 1, p.b.arena, 8, iw_mr_lkey(sink));
	pair_recv(&p.b, 2, p.b.arena, 8, iw_mr_lkey(sink));
	fill();
	last = held[2];
	rte_mbuf_refcnt_update(last->next, 1);
	last = last->next;
	let_go();
	tick();
	assert_true(pair_no_wc(&p.a) && rdmap_lends(p.a.rdmap));
	assert_true(rdmap_deadline(p.a.rdmap) <= p.now_ns + 1000000);
	assert_int_equal(iw_mr_dereg(mr), -IW_E_BUSY);
	rte_pktmbuf_free_seg(last);
	tick();
	assert_int_equal(pair_wc(&p.a).wr_id, ID);
	assert_int_equal(pair_wc(&p.a).wr_id, ID + 1);
	assert_true(pair_no_wc(&p.a) && !rdmap_lends(p.a.rdmap));
	assert_int_equal(iw_mr_dereg(mr), 0);
	fill(); /* the fenced one */
	assert_int_equal(pair_wc(&p.a).wr_id, ID + 2);
	end();
}

/* What is flushed waits, too; a QP that is destroyed stays until then, and its CQ and PD with it. */
static void
test_flushed_and_destroyed(void **state)
{
	(void)state;
	for (int gone = 0; gone < 2; gone++) {
		struct iw_wc wc;

		begin(&(struct pair_opts){.no_crc = true});
		write_len(LEN, 0);
		fill();
		write_len(100, 0);
		qp_set_error(p.a.qp);
		if (gone)
			qp_destroy(p.a.qp);
		assert_int_equal(iw_qp_state(p.a.qp), IW_QP_ERROR);
		tick();
		assert_true(pair_no_wc(&p.a));
		assert_int_equal(cq_destroy(p.a.cq), -IW_E_BUSY);
		assert_int_equal(iw_mr_dereg(mr), -IW_E_BUSY);
		assert_int_equal(rdmap_qp_count(p.a.rdmap), 1);
		let_go();
		tick();
		for (uint32_t i = 0; i < 2; i++) {
			wc = pair_wc(&p.a);
			assert_true(wc.status == IW_WC_WR_FLUSH_ERR && wc.wr_id == ID && wc.qp == p.a.qp);
		}
		assert_true(pair_no_wc(&p.a));
		assert_int_equal(count()->flushed, 2);
		assert_int_equal(rdmap_qp_count(p.a.rdmap), !gone);
		assert_int_equal(iw_mr_dereg(mr), 0);
		end();
	}
}

/* Acknowledged, and then the stream ends in the same turn: it was a success. */
static void
test_back_before_the_end(void **state)
{
	(void)state;
	begin(&(struct pair_opts){.no_crc = true});
	write_len(LEN, 0);
	fill();
	let_go();
	qp_stream_end(p.a.qp, 0);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	assert_true(pair_no_wc(&p.a));
	end();
}

/* A close waits: nothing of what was asked for is over. */
static void
test_close_waits(void **state)
{
	struct rdmap_out out = {.bits = 0};

	(void)state;
	begin(&(struct pair_opts){.no_crc = true});
	write_len(LEN, 0);
	fill();
	qp_close(p.a.qp);
	assert_false(rdmap_out_next(p.a.rdmap, &out));
	let_go();
	tick();
	assert_true(rdmap_out_next(p.a.rdmap, &out));
	assert_int_equal(out.bits, RDMAP_OUT_DRAINED);
	end();
}

/* The engine ends before a driver lets go. */
static void
test_engine_ends(void **state)
{
	struct iw_domain *d;

	(void)state;
	begin(&(struct pair_opts){.no_crc = true});
	write_len(LEN, 0);
	fill();
	d = p.a.domain;
	assert_int_equal(d->mrs, 1);
	qp_destroy(p.a.qp);
	rdmap_destroy(p.a.rdmap);
	assert_int_equal(iw_mr_dereg(mr), -IW_E_BUSY);
	let_go();
	assert_int_equal(mbufpool_in_use(loans), 0);
	assert_int_equal(iw_mr_dereg(mr), 0);
	p.a.rdmap = rdmap_create(&p.a.env, d, NULL, &(struct rdmap_params){.max_qps = 1});
	end();
}

/* One completes in each turn that it is looked for, however many wait. */
static void
test_many_turns(void **state)
{
	(void)state;
	begin(&(struct pair_opts){.no_crc = true});
	for (uint32_t i = 0; i < 5; i++) {
		write_len(1200, 0);
		fill();
	}
	for (uint32_t i = 0; i < 5; i++) {
		tick();
		assert_true(pair_no_wc(&p.a));
		rte_pktmbuf_free(held[i]);
		tick();
		assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	}
	n_held = 0;
	end();
}

static uint32_t
chained(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_held; i++)
		n += held[i]->nb_segs > 1;
	return n;
}

/* Copied, and complete at once; `counter` says why, once for each FPDU. */
static void
expect_copied(const uint64_t *counter)
{
	fill();
	assert_int_equal(chained(), 0);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	assert_int_equal(count()->tx_lent, 0);
	if (counter)
		assert_int_equal(*counter, 3);
	end();
}

static void
test_fallbacks(void **state)
{
	static const struct pair_opts crc = {.no_crc = false}, markers = {.no_crc = true, .markers = true},
				      none = {.no_crc = true};

	(void)state;
	begin(&crc);
	write_len(LEN, 0);
	expect_copied(&count()->tx_lent_crc);
	begin(&markers);
	write_len(LEN, 0);
	expect_copied(&count()->tx_lent_crc);
	begin(&none);
	p.a.env.loan_pool = NULL;
	write_len(LEN, 0);
	expect_copied(&count()->tx_lent_no_port);
	begin(&none);
	mbufpool_set_limit(loans, 1); /* the request's own, and no other */
	write_len(LEN, 0);
	expect_copied(&count()->tx_lent_no_mbuf);
	begin(&none);
	write_len(1023, 0);
	expect_copied(NULL);
	begin(&none);
	write_len(200, IW_SEND_INLINE);
	expect_copied(NULL);
	begin(&none);
	assert_int_equal(iw_mr_dereg(mr), 0);
	mr = pair_mr(&p.a, 0, 65536, 0);
	write_len(LEN, 0);
	expect_copied(NULL);
}

/* Of several SGEs: what lies in one of them, and of one registration. */
static void
test_pieces(void **state)
{
	struct iw_mr *other;
	struct iw_sge sge[3];
	struct iw_send_wr wr = {.sg_list = sge, .opcode = IW_WR_RDMA_WRITE, .flags = IW_SEND_SIGNALED};

	(void)state;
	for (int two = 0; two < 2; two++) {
		begin(&(struct pair_opts){.no_crc = true});
		other = pair_mr(&p.a, 0x20000, 8192, IW_ZERO_COPY);
		sge[0] = (struct iw_sge){(uintptr_t)p.a.arena, 2000, iw_mr_lkey(mr)};
		sge[1] = (struct iw_sge){(uintptr_t)p.a.arena + 0x20000, 4000, iw_mr_lkey(other)};
		if (!two)
			sge[1] = (struct iw_sge){(uintptr_t)p.a.arena + 0x3000, 4000, iw_mr_lkey(mr)};
		wr.num_sge = 2;
		wr.remote_addr = (uintptr_t)p.b.arena;
		wr.rkey = iw_mr_rkey(sink);
		assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
		fill();
		/* 1428 of the first; 572 and 856 together; two and a rest of the second. */
		assert_int_equal(chained(), two ? 1 : 3);
		assert_int_equal(count()->tx_lent_no_mbuf, two ? 2 : 0);
		assert_memory_equal(p.b.arena, (void *)(uintptr_t)sge[0].addr, 2000);
		assert_memory_equal(p.b.arena + 2000, (void *)(uintptr_t)sge[1].addr, 4000);
		assert_true(pair_no_wc(&p.a));
		let_go();
		tick();
		assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
		end();
	}
}

static bool
refuse(const void *addr, uint64_t len)
{
	return addr != p.a.arena || len != 100;
}

/* What ports do not know cannot be registered for it. */
static void
test_registration(void **state)
{
	struct iw_iov iov[2] = {{NULL, 200}, {NULL, 100}};
	int err;

	(void)state;
	begin(&(struct pair_opts){.no_crc = true});
	p.a.domain->is_mapped = refuse;
	assert_null(iw_mr_reg(p.a.pd, p.a.arena, 100, IW_ZERO_COPY, &err));
	assert_int_equal(err, -IW_E_NOTSUP);
	assert_null(iw_mr_reg_qp(p.a.qp, p.a.arena, 200, IW_ZERO_COPY, &err));
	assert_int_equal(err, -IW_E_INVAL);
	iov[0].addr = iov[1].addr = p.a.arena;
	assert_null(iw_mr_reg_iov(p.a.pd, iov, 2, 0, IW_ZERO_COPY, &err));
	assert_int_equal(err, -IW_E_NOTSUP);
	assert_non_null(iw_mr_reg_iov(p.a.pd, iov, 1, 0, IW_ZERO_COPY, &err));
	assert_non_null(iw_mr_reg(p.a.pd, p.a.arena, 100, 0, &err));
	p.a.domain->is_mapped = NULL;
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_octets),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_completes_when_it_is_back),
		cmocka_unit_test(test_flushed_and_destroyed),
		cmocka_unit_test(test_back_before_the_end),
		cmocka_unit_test(test_close_waits),
		cmocka_unit_test(test_engine_ends),
		cmocka_unit_test(test_many_turns),
		cmocka_unit_test(test_fallbacks),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_registration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
