/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs short in the middle of a transfer and comes back, or does not: receives, packet buffers, transmit records,
 * the peer.  Whole engines on a simulated wire. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "len.h"
#include "mbufpool.h"
#include "oracle.h"
#include "pair.h"
#include "stat_of.h"
#include "tcp_pvt.h"

#define PIECE 60000u /* octets of one request */
#define REQUESTS 48u /* together more than the receive window */
#define RCV_BUF (5u << 19)
#define AREA (REQUESTS * PIECE)
#define ENOUGH (24 * REQUESTS)

/* End 0 sends its area to end 1's. */
struct stage {
	struct sim sim;
	struct pair pair;
	uint8_t *area[2];
	struct iw_mr *mr[2];
	uint32_t posted, sent, flushed, received;
};

static struct stage *
stage_open(uint16_t mtu, uint64_t delay_ns, bool back_pressure)
{
	struct engine_params params = {.nif.mtu = mtu, .max_conns = 256, .tcp.rcv_buf = RCV_BUF};
	struct stage *t = calloc(1, sizeof(*t));
	struct iw_qp_attr attr = {.sq_depth = 64, .rq_depth = 64, .recv_back_pressure = back_pressure};

	sim_init_params(&t->sim, 7, 2, &params);
	t->sim.wire.delay_ns = delay_ns;
	pair_init(&t->pair, &t->sim, &attr);
	for (int i = 0; i < 2; i++) {
		t->area[i] = oracle_between(AREA);
		t->mr[i] = iw_mr_reg(t->pair.end[i].pd, t->area[i], AREA, IW_LOCAL_WRITE | IW_REMOTE_WRITE, NULL);
	}
	for (uint32_t i = 0; i < AREA; i++)
		t->area[0][i] = (uint8_t)(i * UINT64_C(0x9e3779b97f4a7c15) >> 40);
	assert_true(pair_connect(&t->pair, 10 * IW_SEC));
	return t;
}

static void
stage_close(struct stage *t)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(iw_mr_dereg(t->mr[i]), 0);
	pair_fini(&t->pair);
	sim_run(&t->sim, 400 * IW_SEC);
	sim_fini(&t->sim);
	free(t);
}

static void
post(struct stage *t, uint8_t opcode)
{
	uint64_t at = (uint64_t)(t->posted % REQUESTS) * PIECE;
	struct iw_sge sge = {(uintptr_t)t->area[0] + at, PIECE, iw_mr_lkey(t->mr[0])};
	struct iw_send_wr wr = {.wr_id = t->posted,
				.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)t->area[1] + at,
				.rkey = iw_mr_rkey(t->mr[1])};

	assert_int_equal(iw_post_send(t->pair.end[0].qp, &wr, NULL), 0);
	t->posted++;
}

static void
post_receive(struct stage *t, uint32_t i)
{
	struct iw_sge sge = {(uintptr_t)t->area[1] + (uint64_t)i * PIECE, PIECE, iw_mr_lkey(t->mr[1])};
	struct iw_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

	assert_int_equal(iw_post_recv(t->pair.end[1].qp, &wr, NULL), 0);
}

/* Every request completes once, in posting order, and after the first that was flushed none succeeds. */
static void
reap(struct stage *t)
{
	struct iw_wc wc;

	while (iw_cq_poll(t->pair.end[0].cq, &wc, 1) == 1) {
		assert_int_equal(wc.wr_id, t->sent + t->flushed);
		if (wc.status == IW_WC_SUCCESS && t->flushed == 0) {
			t->sent++;
			continue;
		}
		if (t->flushed > 0 || wc.status != IW_WC_FATAL_ERR) /* the one that was under way may say so */
			assert_int_equal(wc.status, IW_WC_WR_FLUSH_ERR);
		t->flushed++;
	}
	while (iw_cq_poll(t->pair.end[1].cq, &wc, 1) == 1) {
		assert_int_equal(wc.status, IW_WC_SUCCESS);
		assert_int_equal(wc.wr_id, t->received);
		assert_int_equal(wc.byte_len, PIECE);
		t->received++;
	}
}

/* Until n Sends have arrived. */
static void
await_received(struct stage *t, uint32_t n, uint64_t limit_ns)
{
	uint64_t end = t->sim.now_ns + limit_ns;

	while (t->received < n && t->sim.now_ns < end) {
		sim_step(&t->sim, end);
		reap(t);
	}
	assert_int_equal(t->received, n);
}

static void
await_sent(struct stage *t, uint32_t n, uint64_t limit_ns)
{
	uint64_t end = t->sim.now_ns + limit_ns;

	while (t->sent < n && t->sim.now_ns < end) {
		sim_step(&t->sim, end);
		reap(t);
	}
	assert_true(t->sent >= n); /* one step may bring several */
}

/* All that was sent is there once both ends have closed. */
static void
close_and_compare(struct stage *t)
{
	assert_true(pair_disconnect(&t->pair, 300 * IW_SEC));
	assert_int_equal(t->pair.end[0].last.status, 0);
	assert_memory_equal(t->area[1], t->area[0], (size_t)iw_len_min(t->posted, REQUESTS) * PIECE);
}

/* Sends that find no receive wait in TCP, whose window closes; each receive that is posted takes one, whenever. */
static void
test_back_pressure(void **state)
{
	struct stage *t = stage_open(1500, 10 * IW_US, true);

	for (uint32_t i = 0; i < REQUESTS; i++)
		post(t, IW_WR_SEND);
	sim_run(&t->sim, 30 * IW_SEC);
	reap(t);
	assert_int_equal(t->received, 0);
	assert_true(t->sent < REQUESTS); /* the window is closed */
	assert_true(stat_of(t->pair.end[1].engine, "rdmap.rx_waits") > 0);
	for (uint32_t i = 0; i < REQUESTS; i++) {
		post_receive(t, i);
		/* The first ones without a break, then with the probes of a closed window between them. */
		await_received(t, i + 1, 200 * IW_SEC);
		if (i > REQUESTS - 4)
			sim_run(&t->sim, 20 * IW_SEC);
	}
	await_sent(t, REQUESTS, IW_SEC);
	close_and_compare(t);
	stage_close(t);
}

/* The peer closes half-way, politely or not: what was under way is flushed, both ids get CLOSE. */
static void
peer_closes(bool abrupt)
{
	struct stage *t = stage_open(1500, 100 * IW_US, false);
	struct pair *p = &t->pair;

	for (uint32_t i = 0; i < REQUESTS; i++)
		post(t, IW_WR_RDMA_WRITE);
	await_sent(t, REQUESTS / 4, 10 * IW_SEC);
	assert_true(t->sent < REQUESTS);
	assert_int_equal(iw_cm_disconnect(p->end[1].engine, p->end[1].id, abrupt), 0);
	assert_true(sim_until(&t->sim, &p->both_closed, 100 * IW_SEC));
	reap(t);
	assert_int_equal(t->sent + t->flushed, REQUESTS);
	if (abrupt)
		assert_true(t->flushed > 0);
	assert_int_not_equal(iw_qp_state(p->end[0].qp), IW_QP_RTS);
	stage_close(t);
}

static void
test_peer_closes(void **state)
{
	peer_closes(false);
	peer_closes(true);
}

/* A long way at a small MTU: the connection uses all the records that it may have, half of those for data, and not one
 * more. */
static void
test_records_of_a_connection(void **state)
{
	struct stage *t = stage_open(576, 20 * IW_MS, false);
	const struct tcp *tcp = t->sim.host[0].engine->tcp;
	uint32_t half = (tcp->txq_pool.max - tcp->params.max_conns + 1) / 2, most = 0;
	uint64_t end = t->sim.now_ns + 120 * IW_SEC;

	while (t->sent < ENOUGH && t->sim.now_ns < end) {
		while (t->posted < ENOUGH && t->posted - t->sent < REQUESTS)
			post(t, IW_WR_RDMA_WRITE);
		sim_step(&t->sim, end);
		reap(t);
		most = tcp->txq_pool.used > most ? tcp->txq_pool.used : most;
	}
	assert_int_equal(t->sent, ENOUGH);
	assert_in_range(most, half - 64, half);
	close_and_compare(t);
	stage_close(t);
}

/* The pools of one host are empty for a while, then not any more. */
static void
pools_run_dry(int host, bool data, bool ctl)
{
	struct stage *t = stage_open(1500, 50 * IW_US, false);
	struct sim_host *h = &t->sim.host[host];

	for (uint32_t i = 0; i < REQUESTS; i++)
		post(t, IW_WR_RDMA_WRITE);
	await_sent(t, REQUESTS / 4, 10 * IW_SEC);
	if (data)
		mbufpool_set_limit(h->data_pool, 1);
	if (ctl)
		mbufpool_set_limit(h->ctl_pool, 1);
	sim_run(&t->sim, 3 * IW_SEC);
	reap(t);
	if (host == 0 && data)
		assert_true(t->sent < REQUESTS);
	mbufpool_set_limit(h->data_pool, 0);
	mbufpool_set_limit(h->ctl_pool, 0);
	await_sent(t, REQUESTS, 60 * IW_SEC);
	close_and_compare(t);
	stage_close(t);
}

static void
test_pools_run_dry(void **state)
{
	for (int host = 0; host < 2; host++) {
		pools_run_dry(host, true, false);
		pools_run_dry(host, false, true);
		pools_run_dry(host, true, true);
	}
}

enum moment { IDLE, BUSY, DRAINING, CLOSED_BY_PEER, MOMENTS };

static struct rte_mbuf *held[2]; /* the only ones */

/* As far as that, and from there on end 0 finds no mbuf for data, and for a while not even one of the reserve. */
static struct stage *
stage_dry(enum moment when, bool reserve)
{
	struct stage *t = stage_open(1500, 50 * IW_US, false);
	struct pair_end *end = t->pair.end;
	struct sim_host *h = &t->sim.host[0];

	if (when == BUSY || when == DRAINING) {
		for (uint32_t i = 0; i < REQUESTS; i++)
			post(t, IW_WR_RDMA_WRITE);
		await_sent(t, REQUESTS / 4, 10 * IW_SEC);
	}
	mbuf_stock_empty(&h->engine->stock);
	held[0] = rte_pktmbuf_alloc(h->data_pool);
	held[1] = rte_pktmbuf_alloc(h->ctl_pool);
	mbufpool_set_limit(h->data_pool, 1);
	if (!reserve)
		mbufpool_set_limit(h->ctl_pool, 1);
	if (when == DRAINING)
		assert_int_equal(iw_cm_disconnect(end[0].engine, end[0].id, false), 0);
	if (when == CLOSED_BY_PEER)
		assert_int_equal(iw_cm_disconnect(end[1].engine, end[1].id, false), 0);
	sim_run(&t->sim, IW_SEC);
	assert_false(!reserve && (end[0].closed || end[1].closed));
	return t;
}

static void
stage_wet(struct stage *t)
{
	mbufpool_set_limit(t->sim.host[0].data_pool, 0);
	rte_pktmbuf_free(held[0]);
	rte_pktmbuf_free(held[1]);
	stage_close(t);
}

/* A Terminate gets out without an mbuf for data, whatever is queued: end 1 sends what end 0 has no receive for (D9). */
static void
test_T36_terminate_out_of_the_reserve(void **state)
{
	for (enum moment when = IDLE; when < CLOSED_BY_PEER; when++) {
		for (int reserve = 0; reserve < 2; reserve++) {
			struct stage *t = stage_dry(when, reserve);
			struct pair_end *end = t->pair.end;
			struct iw_send_wr wr = {.opcode = IW_WR_SEND};

			assert_int_equal(iw_post_send(end[1].qp, &wr, NULL), 0);
			sim_run(&t->sim, IW_SEC);
			mbufpool_set_limit(t->sim.host[0].ctl_pool, 0);
			assert_true(sim_until(&t->sim, &t->pair.both_closed, 20 * IW_SEC));
			for (int i = 0; i < 2; i++) {
				assert_int_equal(end[i].last.status, -IW_E_PROTO);
				assert_true(end[i].last.term.valid && end[i].last.term.sent == !i);
				assert_int_equal(end[i].last.term.layer << 4 | end[i].last.term.etype, 0x12);
				assert_int_equal(end[i].last.term.code, 2);
			}
			reap(t);
			stage_wet(t);
		}
	}
}

/* And so does a FIN: of who closes first, and of who answers. */
static void
test_T36_fin_out_of_the_reserve(void **state)
{
	static const enum moment moments[] = {IDLE, DRAINING, CLOSED_BY_PEER};

	for (int k = 0; k < 3; k++) {
		for (int reserve = 0; reserve < 2; reserve++) {
			struct stage *t = stage_dry(moments[k], reserve);
			struct pair_end *end = t->pair.end;

			t->sim.shares = true;
			if (moments[k] == IDLE)
				assert_int_equal(iw_cm_disconnect(end[0].engine, end[0].id, false), 0);
			sim_run(&t->sim, IW_SEC);
			mbufpool_set_limit(t->sim.host[0].ctl_pool, 0);
			if (moments[k] == DRAINING) /* the data goes before it */
				mbufpool_set_limit(t->sim.host[0].data_pool, 0);
			assert_true(sim_until(&t->sim, &t->pair.both_closed, 60 * IW_SEC));
			for (int i = 0; i < 2; i++)
				assert_int_equal(end[i].last.status, 0);
			reap(t);
			stage_wet(t);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_back_pressure),
		cmocka_unit_test(test_peer_closes),
		cmocka_unit_test(test_records_of_a_connection),
		cmocka_unit_test(test_pools_run_dry),
		cmocka_unit_test(test_T36_terminate_out_of_the_reserve),
		cmocka_unit_test(test_T36_fin_out_of_the_reserve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
