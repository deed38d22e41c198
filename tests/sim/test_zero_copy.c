/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and Writes that leave from the user's memory (IW_ZERO_COPY), over bad lines, narrower paths, and ends in the
 * middle of everything.  The user spoils the memory of each request as soon as it has completed: no frame may ever show
 * that, neither a first one nor one that is sent again.  Runs for either family (IW_TEST_FAMILY).
 *     test_zero_copy [SEED [RUNS]]  repeats a run by its seed */
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
#include "pair.h"
#include "stat_of.h"

#define SLOTS 8
#define SLOT 40000u
#define OPS 60
#define SPOILED 0xa5
#define IN_A_ROW 16 /* spoiled octets that nobody has by chance */

static uint64_t first_seed = 1;
static uint32_t runs = 4;

/* End 0 writes and sends, end 1 takes. */
struct world {
	struct sim *s;
	struct pair p;
	uint8_t *from, *to; /* SLOTS of SLOT octets; OPS */
	struct iw_mr *mr[2];
	uint32_t posted, completed, flushed, received;
	uint32_t len[OPS];
	bool is_send[OPS];
	uint32_t recv_of[OPS]; /* the request whose Send the n-th receive gets */
	uint32_t sends;
	bool all_long;
};

static uint8_t
octet(uint32_t op, uint32_t i)
{
	uint32_t v = (op * 2654435761u) ^ (i * 40503u);

	return (uint8_t)(v >> 24 ^ v >> 9) & 0x7f; /* never SPOILED */
}

/* What is spoiled was the user's again: nobody may send it. */
static void
tap(struct sim *s, const struct rte_mbuf *m)
{
	for (; m; m = m->next) {
		const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
		uint32_t n = 0;

		for (uint32_t i = 0; i < m->data_len; i++) {
			n = p[i] == SPOILED ? n + 1 : 0;
			assert_true(n < IN_A_ROW);
		}
	}
}

static uint8_t *
slot_of(const struct world *w, uint32_t op)
{
	return w->from + (size_t)(op % SLOTS) * SLOT;
}

/* The memory comes from malloc(): who reads it after its free() is seen. */
static void
open_world(struct world *w, uint64_t seed, const struct sim_wire *wire, const struct engine_params *params)
{
	struct iw_qp_attr attr = {.sq_depth = SLOTS, .rq_depth = 64, .sq_sig_all = true};

	memset(w, 0, sizeof(*w));
	w->s = malloc(sizeof(*w->s));
	sim_init_params(w->s, seed, 2, params);
	w->s->tap = tap;
	pair_init(&w->p, w->s, &attr);
	for (int i = 0; i < 2; i++) {
		w->p.end[i].attr.no_crc = true;
		w->p.end[i].attr.connect_timeout_ms = 60000;
	}
	w->from = malloc(SLOTS * SLOT);
	memset(w->from, SPOILED, SLOTS * SLOT);
	w->to = oracle_memory(OPS * SLOT);
	w->mr[0] = iw_mr_reg(w->p.end[0].pd, w->from, SLOTS * SLOT, IW_ZERO_COPY, NULL);
	w->mr[1] = iw_mr_reg(w->p.end[1].pd, w->to, OPS * SLOT, IW_LOCAL_WRITE | IW_REMOTE_WRITE, NULL);
	w->s->wire = *wire;
	assert_true(pair_connect(&w->p, 60 * IW_SEC));
	for (uint32_t i = 0; i < OPS; i++) {
		struct iw_sge sge = {(uintptr_t)w->to + (size_t)i * SLOT, SLOT, iw_mr_lkey(w->mr[1])};
		struct iw_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		assert_int_equal(iw_post_recv(w->p.end[1].qp, &wr, NULL), 0);
	}
}

static uint32_t
draw_len(struct sim *s)
{
	static const uint32_t edges[] = {1, 1023, 1024, 1025, 1420, 1424, 8900, SLOT};

	return sim_below(s, 3) ? 1 + (uint32_t)sim_below(s, SLOT) : edges[sim_below(s, 8)];
}

static void
post(struct world *w)
{
	uint32_t op = w->posted, len = op && !w->all_long ? draw_len(w->s) : SLOT;
	uint8_t *p = slot_of(w, op);
	struct iw_sge sge = {(uintptr_t)p, len, iw_mr_lkey(w->mr[0])};
	struct iw_send_wr wr = {.wr_id = op, .sg_list = &sge, .num_sge = 1, .opcode = IW_WR_RDMA_WRITE};

	w->len[op] = len;
	w->is_send[op] = sim_below(w->s, 2);
	for (uint32_t i = 0; i < len; i++)
		p[i] = octet(op, i);
	if (w->is_send[op]) {
		wr.opcode = IW_WR_SEND;
		w->recv_of[w->sends++] = op;
	} else {
		/* From the last place down: receives take them from the first one up. */
		wr.remote_addr = (uintptr_t)w->to + (size_t)(OPS - 1 - (op - w->sends)) * SLOT;
		wr.rkey = iw_mr_rkey(w->mr[1]);
	}
	assert_int_equal(iw_post_send(w->p.end[0].qp, &wr, NULL), 0);
	w->posted++;
}

/* Completions in order; each gives its memory back, which is spoiled at once. */
static void
reap(struct world *w, int status)
{
	struct iw_wc wc;

	while (iw_cq_poll(w->p.end[0].cq, &wc, 1) == 1) {
		assert_int_equal(wc.wr_id, w->completed);
		if (status != IW_WC_SUCCESS && wc.status != IW_WC_SUCCESS)
			w->flushed++;
		else
			assert_int_equal(wc.status, IW_WC_SUCCESS);
		memset(slot_of(w, w->completed++), SPOILED, SLOT);
	}
}

static void
check(const struct world *w, const uint8_t *p, uint32_t op)
{
	for (uint32_t i = 0; i < w->len[op]; i++)
		if (p[i] != octet(op, i))
			fail_msg("request %u differs at %u of %u", op, i, w->len[op]);
}

/* A Write has arrived when the Send behind it has, and all of them when the stream has ended in order. */
static void
take(struct world *w)
{
	struct iw_wc wc;

	while (iw_cq_poll(w->p.end[1].cq, &wc, 1) == 1) {
		if (wc.status != IW_WC_SUCCESS)
			continue;
		assert_int_equal(wc.wr_id, w->received);
		assert_int_equal(wc.byte_len, w->len[w->recv_of[w->received]]);
		check(w, w->to + (size_t)w->received * SLOT, w->recv_of[w->received]);
		w->received++;
	}
}

static void
transfer(struct world *w, uint64_t limit_ns)
{
	uint64_t end = w->s->now_ns + limit_ns;

	while (w->completed < OPS && w->s->now_ns < end) {
		while (w->posted < OPS && w->posted - w->completed < SLOTS)
			post(w);
		sim_step(w->s, end);
		reap(w, IW_WC_SUCCESS);
		take(w);
	}
	assert_int_equal(w->completed, OPS);
}

/* The memory goes as soon as its registration does. */
static void
free_memory(struct world *w)
{
	assert_int_equal(iw_mr_dereg(w->mr[0]), 0);
	free(w->from);
	w->from = NULL;
}

static void
close_world(struct world *w)
{
	assert_int_equal(iw_mr_dereg(w->mr[1]), 0);
	pair_fini(&w->p);
	sim_run(w->s, 400 * IW_SEC);
	sim_fini(w->s);
	free(w->s);
}

static struct engine_params
params_of(uint16_t mtu, bool offloads, uint16_t tso)
{
	return (struct engine_params){
		.nif = {.mtu = mtu, .tx_ip_cksum = offloads, .tx_tcp_cksum = offloads, .tx_tso = tso}, .max_conns = 16};
}

/* Returns what was sent again. */
static uint64_t
one_run(uint64_t seed, const struct sim_wire *wire, const struct engine_params *params)
{
	uint32_t writes = 0;
	uint64_t again;
	struct world w;

	open_world(&w, seed, wire, params);
	transfer(&w, 600 * IW_SEC);
	free_memory(&w);
	assert_true(stat_of(w.s->host[0].engine, "rdmap.tx_lent") > OPS);
	if (params->nif.tx_tso)
		assert_true(stat_of(w.s->host[0].engine, "tcp.tx_tso") > 0);
	again = stat_of(w.s->host[0].engine, "tcp.tx_retrans");
	assert_true(pair_disconnect(&w.p, 300 * IW_SEC));
	take(&w);
	assert_int_equal(w.received, w.sends);
	for (uint32_t op = 0; op < OPS; op++)
		if (!w.is_send[op])
			check(&w, w.to + (size_t)(OPS - 1 - writes++) * SLOT, op);
	close_world(&w);
	return again;
}

static uint64_t
many_runs(const struct sim_wire *wire)
{
	uint64_t again = 0;
	static const uint16_t mtus[] = {1500, 9000, 1400, 9000}, tso[] = {0, 0, 64, 64};

	for (uint32_t i = 0; i < runs; i++) {
		struct engine_params params = params_of(mtus[i % 4], i & 2 || i & 4, tso[i % 4]);

		again += one_run(first_seed + i, wire, &params);
	}
	return again;
}

static void
test_clean(void **state)
{
	(void)state;
	assert_int_equal(many_runs(&(struct sim_wire){.delay_ns = 10 * IW_US}), 0);
}

static void
test_bad_lines(void **state)
{
	static const struct sim_wire wires[] = {
		{.delay_ns = 100 * IW_US, .loss = 0.03},
		{.delay_ns = 1 * IW_MS, .jitter_ns = 500 * IW_US, .loss = 0.02, .dup = 0.05, .corrupt = 0.01}};

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		assert_true(many_runs(&wires[i]) > 0);
}

static void
some_of_it(struct world *w, uint64_t duration_ns)
{
	uint64_t end = w->s->now_ns + duration_ns;

	while (w->s->now_ns < end) {
		while (w->posted < OPS && w->posted - w->completed < SLOTS)
			post(w);
		sim_step(w->s, end);
		reap(w, IW_WC_SUCCESS);
		take(w);
	}
}

/* The path becomes narrower without a word: what is under way is cut up by copy (design D21), and the memory given back
 * for that. */
static void
test_path_becomes_narrow(void **state)
{
	for (uint32_t tso = 0; tso <= 64; tso += 64) {
		struct engine_params params = params_of(9000, tso > 0, (uint16_t)tso);
		struct world w;

		(void)state;
		open_world(&w, first_seed, &(struct sim_wire){.delay_ns = 200 * IW_US}, &params);
		w.all_long = true;
		some_of_it(&w, 2 * IW_MS);
		w.s->host[1].cut = true;
		some_of_it(&w, 10 * IW_SEC);
		assert_true(w.completed < OPS);
		w.s->host[1].cut = false;
		transfer(&w, 600 * IW_SEC);
		assert_true(stat_of(w.s->host[0].engine, "tcp.black_holes") > 0);
		assert_true(stat_of(w.s->host[0].engine, "tcp.tx_splits") > 0);
		free_memory(&w);
		assert_true(pair_disconnect(&w.p, 300 * IW_SEC));
		take(&w);
		assert_int_equal(w.received, w.sends);
		close_world(&w);
	}
}

static void
run_until_flushed(struct world *w, uint64_t limit_ns)
{
	uint64_t end = w->s->now_ns + limit_ns;

	while (w->completed < w->posted && w->s->now_ns < end) {
		sim_step(w->s, end);
		reap(w, IW_WC_WR_FLUSH_ERR);
	}
	assert_int_equal(w->completed, w->posted);
	assert_true(w->flushed > 0);
}

static void
kill_qp(struct world *w, bool destroy)
{
	if (destroy) {
		assert_int_equal(iw_qp_destroy(w->p.end[0].qp), 0);
		w->p.end[0].qp = NULL;
	} else {
		assert_int_equal(iw_qp_set_error(w->p.end[0].qp), 0);
	}
}

/* The QP ends with everything under way: what is flushed gives its memory back, which goes, and no frame that is still
 * under way is read from there. */
static void
test_killed_in_the_middle(void **state)
{
	static const struct sim_wire wire = {
		.delay_ns = 200 * IW_US, .jitter_ns = 100 * IW_US, .loss = 0.02, .dup = 0.02};

	(void)state;
	for (uint32_t i = 0; i < 3 * runs; i++) {
		struct engine_params params = params_of(i & 1 ? 1500 : 9000, i & 2, i & 2 ? 64 : 0);
		struct world w;

		open_world(&w, first_seed + i, &wire, &params);
		some_of_it(&w, (1 + i % 12) * 200 * IW_US);
		if (w.posted < OPS && w.posted - w.completed < SLOTS)
			post(&w);
		kill_qp(&w, i & 1);
		run_until_flushed(&w, 10 * IW_SEC);
		free_memory(&w);
		close_world(&w);
	}
}

/* X1 for a user's own requests: a peer acknowledges nothing and the user gives up.  As long as somebody has frames
 * (here the peer, who is asleep, with the sender's own mbufs in its ring) neither completions nor the registration come
 * back; CQ and PD are in use. */
static void
test_peer_acknowledges_nothing(void **state)
{
	struct engine_params params = params_of(1500, false, 0);
	struct world w;

	(void)state;
	for (uint32_t destroy = 0; destroy < 2; destroy++) {
		open_world(&w, first_seed, &(struct sim_wire){.delay_ns = 10 * IW_US}, &params);
		sim_sleep(w.s, 1, true);
		for (uint32_t i = 0; i < SLOTS; i++)
			post(&w);
		sim_run(w.s, 500 * IW_MS); /* no black hole yet */
		reap(&w, IW_WC_SUCCESS);
		assert_int_equal(w.completed, 0);
		kill_qp(&w, destroy);
		sim_run(w.s, 5 * IW_SEC);
		reap(&w, IW_WC_SUCCESS);
		assert_int_equal(w.completed, 0);
		assert_int_equal(iw_mr_dereg(w.mr[0]), -IW_E_BUSY);
		if (destroy)
			assert_int_equal(iw_cq_destroy(w.p.end[0].cq), -IW_E_BUSY);
		sim_sleep(w.s, 1, false);
		run_until_flushed(&w, 10 * IW_SEC);
		free_memory(&w);
		close_world(&w);
	}
}

/* Nobody gives up: TCP's user timeout ends it, and then the memory is free, too. */
static void
test_timeout_gives_it_back(void **state)
{
	struct engine_params params = params_of(1500, false, 0);
	struct world w;

	(void)state;
	open_world(&w, first_seed, &(struct sim_wire){.delay_ns = 10 * IW_US}, &params);
	w.s->host[1].cut = true;
	for (uint32_t i = 0; i < SLOTS; i++)
		post(&w);
	some_of_it(&w, 50 * IW_SEC);
	assert_true(w.completed < w.posted); /* what was lost was cut up */
	run_until_flushed(&w, 200 * IW_SEC);
	free_memory(&w);
	close_world(&w);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_path_becomes_narrow),
		cmocka_unit_test(test_killed_in_the_middle),
		cmocka_unit_test(test_peer_acknowledges_nothing),
		cmocka_unit_test(test_timeout_gives_it_back),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		runs = (uint32_t)strtoul(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
