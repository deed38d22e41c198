/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies between two hosts changes under a running connection: the station behind an address moves, the path gets
 * narrower, an address turns out to be somebody else's.  Runs for either family (IW_TEST_FAMILY). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"
#include "pair.h"
#include "stat_of.h"

#define SIZE 20000

struct flow {
	struct sim sim;
	struct pair p;
	struct iw_mr *mr[2];
	uint8_t *area[2];
	bool done;
};

static struct flow *
flow_open(const struct engine_params *params)
{
	struct flow *f = calloc(1, sizeof(*f));

	sim_init_params(&f->sim, 7, 3, params);
	pair_init(&f->p, &f->sim, NULL);
	return f;
}

static void
flow_connect(struct flow *f)
{
	assert_true(pair_connect(&f->p, 10 * IW_SEC));
	for (int i = 0; i < 2; i++) {
		f->area[i] = oracle_between(SIZE);
		f->mr[i] = iw_mr_reg(f->p.end[i].pd, f->area[i], SIZE,
				     IW_LOCAL_WRITE | IW_REMOTE_WRITE | IW_REMOTE_READ, NULL);
		memset(f->area[i], i, SIZE);
	}
}

/* One Read of everything; how long it took. */
static uint64_t
flow_read(struct flow *f)
{
	struct iw_sge sge = {(uintptr_t)f->area[0], SIZE, iw_mr_lkey(f->mr[0])};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = IW_WR_RDMA_READ,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)f->area[1],
				.rkey = iw_mr_rkey(f->mr[1])};
	uint64_t start = f->sim.now_ns, end = start + 60 * IW_SEC;
	struct iw_wc wc = {.status = IW_WC_SUCCESS};
	int n = 0;

	f->area[1][SIZE - 1]++;
	assert_int_equal(iw_post_send(f->p.end[0].qp, &wr, NULL), 0);
	while ((n = iw_cq_poll(f->p.end[0].cq, &wc, 1)) == 0 && f->sim.now_ns < end)
		sim_step(&f->sim, end);
	assert_int_equal(n, 1);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_memory_equal(f->area[0], f->area[1], SIZE);
	return f->sim.now_ns - start;
}

static void
flow_close(struct flow *f)
{
	assert_true(pair_disconnect(&f->p, 300 * IW_SEC));
	for (int i = 0; i < 2; i++)
		assert_int_equal(iw_mr_dereg(f->mr[i]), 0);
	pair_fini(&f->p);
	sim_run(&f->sim, 400 * IW_SEC);
	sim_fini(&f->sim);
	free(f);
}

/* The station behind the peer's address changes without a word, as a gateway's does when its twin takes over.  TCP's
 * first time-out makes the neighbour be asked (RFC 9293 §3.8.3 R1), and the second transmission gets through. */
static void
test_gateway_moves_silently(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 16};
	struct flow *f = flow_open(&params);
	uint64_t calm, moved;

	(void)state;
	flow_connect(f);
	calm = flow_read(f);
	sim_run(&f->sim, 2 * IW_SEC);
	sim_move(&f->sim, 1);
	moved = flow_read(f);
	assert_true(calm < 100 * IW_MS);
	/* The first RTO of at most 1 s, its retransmission to the old station, and one more. */
	assert_true(moved > calm && moved < 3 * IW_SEC + 100 * IW_MS);
	assert_int_equal(stat_of(f->sim.host[0].engine, "net.neigh_mac_changed"), 1);
	assert_true(stat_of(f->sim.host[0].engine, "tcp.rto") <= 2);
	flow_close(f);
}

/* Nobody objects: the connection that was begun meanwhile is made as soon as the claim is over. */
static void
test_claim_delays_nothing_else(void **state)
{
	struct engine_params params = {.nif = {.mtu = 1500, .claim = true}, .max_conns = 16};
	struct flow *f = flow_open(&params);
	uint64_t start = f->sim.now_ns;

	(void)state;
	for (int i = 0; i < 3; i++)
		net_own_claim(f->sim.host[i].engine->net, f->sim.now_ns);
	flow_connect(f);
	assert_true(f->sim.now_ns - start > 300 * IW_MS && f->sim.now_ns - start < 400 * IW_MS);
	assert_int_equal(stat_of(f->sim.host[0].engine, "net.addr_duplicates"), 0);
	flow_read(f);
	flow_close(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_gateway_moves_silently),
					   cmocka_unit_test(test_claim_delays_nothing_else)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
