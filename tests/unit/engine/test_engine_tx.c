/* SPDX-License-Identifier: BSD-3-Clause */
/* The way down: no mbuf, little room, many QPs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "pair.h"
#include "rdmap_err.h"
#include "stat_of.h"
#include "tcp_pvt.h"

#define LEN 100000

static struct sim sim;
static struct pair pair;
static uint8_t memory[2][LEN];
static struct iw_mr *mr[2];

static void
open_pair(void)
{
	sim_init(&sim, 7, 2, 1500);
	pair_init(&pair, &sim, NULL);
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	for (int i = 0; i < 2; i++)
		mr[i] = iw_mr_reg(pair.end[i].pd, memory[i], LEN, IW_LOCAL_WRITE | IW_REMOTE_WRITE, NULL);
}

static void
end_pair(void)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(iw_mr_dereg(mr[i]), 0);
	pair_fini(&pair);
	sim_run(&sim, 100 * IW_MS);
	sim_fini(&sim);
}

static void
close_pair(void)
{
	assert_true(pair_disconnect(&pair, 5 * IW_SEC));
	end_pair();
}

static void
post_write(void)
{
	struct iw_sge sge = {(uintptr_t)memory[0], LEN, iw_mr_lkey(mr[0])};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = IW_WR_RDMA_WRITE,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)memory[1],
				.rkey = iw_mr_rkey(mr[1])};

	for (uint32_t i = 0; i < LEN; i++)
		memory[0][i] = (uint8_t)(i * 31 + i / 255);
	memset(memory[1], 0, LEN);
	assert_int_equal(iw_post_send(pair.end[0].qp, &wr, NULL), 0);
}

static bool
written(void)
{
	struct iw_wc wc;

	for (int i = 0; i < 1000 && iw_cq_poll(pair.end[0].cq, &wc, 1) == 0; i++)
		sim_run(&sim, 10 * IW_MS);
	sim_run(&sim, 100 * IW_MS);
	return wc.status == IW_WC_SUCCESS && memcmp(memory[0], memory[1], LEN) == 0;
}

/* The pool is dry now and then: counted, and nothing is lost. */
static void
test_no_mbuf(void **state)
{
	uint64_t dry;

	(void)state;
	open_pair();
	for (uint32_t nth = 1; nth < 8; nth++) {
		dry = sim.host[0].engine->counters.tx_no_mbuf;
		post_write();
		mbufpool_set_fuse(sim.host[0].data_pool, nth);
		assert_true(written());
		if (nth == 1)
			assert_true(sim.host[0].engine->counters.tx_no_mbuf > dry);
		mbufpool_set_fuse(sim.host[0].data_pool, 0);
	}
	close_pair();
}

/* There is none at all for a while, nothing is under way that could wake the QP, and it is not forgotten. */
static void
test_no_mbuf_for_a_while(void **state)
{
	struct rte_mbuf *last, *out[4];
	struct rte_mempool *pool;
	struct iw_engine *e;
	uint64_t dry;

	(void)state;
	open_pair();
	pool = sim.host[0].data_pool;
	sim_run(&sim, IW_SEC);
	e = sim.host[0].engine;
	mbuf_stock_empty(&e->stock);
	last = rte_pktmbuf_alloc(pool);
	mbufpool_set_limit(pool, mbufpool_in_use(pool));
	post_write();
	dry = e->counters.tx_no_mbuf;
	assert_int_equal(engine_tx(e, out, 4, sim.now_ns), 0);
	assert_int_equal(e->counters.tx_no_mbuf, dry + 1); /* one try a turn */
	sim_run(&sim, 10 * IW_MS);
	rte_pktmbuf_free(last);
	mbufpool_set_limit(pool, 0);
	assert_in_range(engine_deadline(e), 1, sim.now_ns + IW_MS); /* nobody tells of it */
	assert_true(written());
	close_pair();
}

/* A Terminate is filled without a grant.  When TCP has no transmit record left for it the connection is reset, so that
 * the peer does not take the FIN behind it for a graceful end. */
static void
test_terminate_without_record(void **state)
{
	struct tcp_txq_pool *recs;
	char text[256];
	uint32_t max;

	(void)state;
	open_pair();
	recs = &sim.host[0].engine->tcp->txq_pool;
	sim_run(&sim, IW_SEC);
	max = recs->max;
	recs->max = recs->used;
	qp_fail(pair.end[0].qp, RDMAP_FAULT_MPA_CRC);
	sim_run(&sim, 10 * IW_MS);
	recs->max = max;
	assert_int_equal(iw_qp_state(pair.end[0].qp), IW_QP_ERROR);
	assert_true(pair.end[0].closed);
	assert_int_equal(pair.end[0].last.status, -IW_E_CONNABORTED);
	assert_string_equal(pair_history(&pair, 1, text, sizeof(text)), "REQUEST ESTABLISHED CLOSE(IW_E_CONNRESET)");
	end_pair();
}

/* As long as there is none nobody else is asked. */
static void
test_no_mbuf_for_all(void **state)
{
	struct iw_engine *e;
	struct rte_mbuf *held;
	uint64_t dry;

	(void)state;
	open_pair();
	e = sim.host[0].engine;
	mbuf_stock_empty(&e->stock);
	held = rte_pktmbuf_alloc(sim.host[0].data_pool);
	mbufpool_set_limit(sim.host[0].data_pool, 1);
	dry = e->counters.tx_no_mbuf;
	post_write();
	assert_int_equal(engine_tx(e, NULL, 0, sim.now_ns), 0);
	assert_int_equal(e->counters.tx_no_mbuf, dry);
	sim_step(&sim, sim.now_ns);
	assert_int_equal(e->counters.tx_no_mbuf, dry + 1);
	mbufpool_set_limit(sim.host[0].data_pool, 0);
	rte_pktmbuf_free(held);
	assert_true(written());
	close_pair();
}

/* Never more frames than asked for, nor FPDUs filled for them, and what is left comes in the next turns. */
static void
test_little_room(void **state)
{
	struct iw_engine *e;
	struct rte_mbuf *out[8];
	uint32_t frames = 0;

	(void)state;
	open_pair();
	e = sim.host[0].engine;
	post_write();
	assert_int_equal(engine_tx(e, out, 0, sim.now_ns), 0);
	for (int i = 0; i < 3; i++) {
		uint64_t filled = stat_of(e, "rdmap.tx_fpdus");
		uint32_t n = engine_tx(e, out, 1, sim.now_ns);

		assert_true(n <= 1);
		assert_int_equal(stat_of(e, "rdmap.tx_fpdus") - filled, 1);
		frames += n;
		/* Lost: TCP sends them again. */
		for (uint32_t k = 0; k < n; k++)
			rte_pktmbuf_free(out[k]);
	}
	assert_true(frames > 0);
	assert_true(written());
	close_pair();
}

/* TCP does not take what was filled: without it the stream has a hole, and must end. */
static void
test_not_taken(void **state)
{
	struct iw_engine *e;
	uint32_t max;

	(void)state;
	open_pair();
	e = sim.host[0].engine;
	post_write();
	sim.host[1].cut = true;
	sim_run(&sim, IW_MS);
	max = e->tcp->txq_pool.max;
	e->tcp->txq_pool.max = e->tcp->txq_pool.used;
	qp_fail(pair.end[0].qp, 1); /* its Terminate asks for no grant */
	sim.host[1].cut = false;
	sim_step(&sim, sim.now_ns);
	assert_int_equal(iw_qp_state(pair.end[0].qp), IW_QP_ERROR);
	e->tcp->txq_pool.max = max;
	assert_true(sim_until(&sim, &pair.both_closed, 200 * IW_SEC));
	for (int i = 0; i < 2; i++)
		assert_int_equal(iw_mr_dereg(mr[i]), 0);
	pair_fini(&pair);
	sim_run(&sim, 100 * IW_SEC);
	sim_fini(&sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_mbuf),
		cmocka_unit_test(test_no_mbuf_for_a_while),
		cmocka_unit_test(test_terminate_without_record),
		cmocka_unit_test(test_no_mbuf_for_all),
		cmocka_unit_test(test_little_room),
		cmocka_unit_test(test_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
