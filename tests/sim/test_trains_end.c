/* SPDX-License-Identifier: BSD-3-Clause */
/* In the middle of long messages memory is taken back, which nobody may send from then on, and streams end, which other
 * streams do not notice.  Runs for either family (IW_TEST_FAMILY).
 *     test_trains_end [SEED [RUNS]]  repeats a run by its seed */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "stat_of.h"
#include "trains.h"

#define SPOILED 0xa5
#define IN_A_ROW 16            /* spoiled octets that nobody has by chance */
#define LONG (15 * TRAINS_LEN) /* of one message */

static uint64_t first_seed = 1;
static uint32_t runs = 2;

static struct sim *s;
static struct trains_host *const host = trains_host;

/* What was taken back is spoiled, and nobody may send it. */
static void
tap(struct sim *sim, const struct rte_mbuf *m)
{
	(void)sim;
	for (; m; m = m->next) {
		const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
		uint32_t n = 0;

		for (uint32_t i = 0; i < m->data_len; i++) {
			n = p[i] == SPOILED ? n + 1 : 0;
			assert_true(n < IN_A_ROW);
		}
	}
}

static void
invalidate(struct trains_end *e, uint32_t stag)
{
	struct iw_send_wr wr = {.wr_id = TRAINS_UNSAID, .opcode = IW_WR_LOCAL_INV, .invalidate_rkey = stag};

	assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
	sim_step(s, s->now_ns); /* its turn */
}

static void
take_map(struct trains_host *d)
{
	assert_int_equal(iw_mr_dereg(d->mr[TRAINS_MAP]), 0);
	d->mr[TRAINS_MAP] = NULL;
}

static void
take_lent(struct trains_host *d)
{
	assert_int_equal(iw_mr_dereg(d->mr[TRAINS_LENT]), 0);
	d->mr[TRAINS_LENT] = NULL;
}

static void
take_fast(struct trains_host *d)
{
	assert_int_equal(iw_mr_dereg(d->end[0].fast), 0);
	d->end[0].fast = iw_mr_create_fast(d->engine, d->pd, 1, NULL);
}

static void
invalidate_fast(struct trains_host *d)
{
	invalidate(&d->end[0], iw_mr_rkey(d->end[0].fast));
}

static void
invalidate_window(struct trains_host *d)
{
	invalidate(&d->end[0], iw_mw_rkey(d->end[0].window));
}

static void
take_window(struct trains_host *d)
{
	assert_int_equal(iw_mw_destroy(d->end[0].window), 0);
	d->end[0].window = iw_mw_create(d->engine, d->pd, NULL);
}

/* Each time under another key, and at last under the first one again: other memory with the same contents. */
static void
move_fast(struct trains_host *d)
{
	uint32_t first = iw_mr_rkey(d->end[0].fast), stag = first;
	struct iw_iov iov = {.addr = d->memory[TRAINS_PLAIN], .length = TRAINS_SOURCE};
	struct iw_send_wr wr = {.wr_id = TRAINS_UNSAID, .opcode = IW_WR_FAST_REG};

	s->host[0].cut = s->host[1].cut = true; /* without ACKs nothing is filled meanwhile */
	sim_run(s, 20 * IW_MS);
	for (int i = 0; i < 2; i++) {
		invalidate(&d->end[0], stag);
		stag = i ? first : iw_rkey_next(stag);
		wr.reg = (struct iw_fast_reg){d->end[0].fast, &iov, 1, stag, TRAINS_IOVA, IW_REMOTE_READ};
		assert_int_equal(iw_post_send(d->end[0].qp, &wr, NULL), 0);
		sim_run(s, IW_MS);
	}
	s->host[0].cut = s->host[1].cut = false;
}

/* Host 1 takes memory back, in the middle of a message of QP 0: its own, or the answer to a Read. */
static void
taken_back(uint8_t opcode, enum trains_kind k, void (*take)(struct trains_host *d), bool goes_on, uint32_t steps)
{
	struct trains_host *d = &host[1];
	bool read = opcode == IW_WR_RDMA_READ;
	struct trains_end *e = &host[!read].end[0], *peer = &host[read].end[0];
	struct iw_sge sge = {trains_base(d, k), LONG, trains_key(d, &d->end[0], k)};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode, .flags = IW_SEND_SIGNALED};
	uint64_t sent;

	wr.remote_addr = read ? sge.addr : (uintptr_t)peer->sink[0];
	wr.rkey = read ? sge.lkey : iw_mr_rkey(peer->sink_mr);
	if (read)
		sge = (struct iw_sge){(uintptr_t)e->sink[1], LONG, iw_mr_lkey(e->sink_mr)};
	assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
	for (uint32_t i = 0; i < steps; i++)
		sim_step(s, s->now_ns + IW_MS);
	sent = stat_of(d->engine, "rdmap.tx_octets");
	assert_true(sent > 0 && sent < LONG);
	take(d);
	memset(d->memory[k == TRAINS_WINDOW ? TRAINS_PLAIN : k], SPOILED,
	       k == TRAINS_WINDOW && goes_on ? 0 : TRAINS_SOURCE);
	if (!goes_on) {
		for (uint64_t end = s->now_ns + 100 * IW_SEC; !e->closed || !peer->closed;) {
			assert_true(s->now_ns < end);
			sim_step(s, end);
		}
		trains_reap(&host[!read]);
		assert_int_equal(e->failed, 1);
		return;
	}
	sim_run(s, 10 * IW_SEC);
	trains_reap(&host[!read]);
	assert_int_equal(e->done, 1);
	trains_check(e->sink[1], 1, &(struct trains_op){.len = LONG});
}

static void
test_taken_back(void **state)
{
	static const struct {
		uint8_t opcode, kind;
		void (*take)(struct trains_host *d);
		bool goes_on;
	} rows[] = {
		{IW_WR_RDMA_WRITE, TRAINS_MAP, take_map, false},
		{IW_WR_RDMA_WRITE, TRAINS_FAST, take_fast, false},
		{IW_WR_RDMA_WRITE, TRAINS_LENT, take_lent, false},
		{IW_WR_RDMA_READ, TRAINS_MAP, take_map, false},
		{IW_WR_RDMA_READ, TRAINS_LENT, take_lent, false},
		{IW_WR_RDMA_READ, TRAINS_FAST, take_fast, false},
		{IW_WR_RDMA_READ, TRAINS_FAST, invalidate_fast, false},
		{IW_WR_RDMA_READ, TRAINS_WINDOW, invalidate_window, false},
		{IW_WR_RDMA_READ, TRAINS_WINDOW, take_window, false},
		{IW_WR_RDMA_READ, TRAINS_FAST, move_fast, true},
	};
	struct engine_params params = trains_params(0);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint64_t n = 0; n < runs; n++) {
			s = trains_open(first_seed + n, &params, &(struct sim_wire){.delay_ns = 100 * IW_US}, true,
					false);
			s->tap = tap;
			taken_back(rows[i].opcode, (enum trains_kind)rows[i].kind, rows[i].take, rows[i].goes_on,
				   6 + (uint32_t)sim_below(s, 20));
			trains_close();
		}
}

enum ending { SET_ERROR, DESTROY, ABORT, CLOSE, SILENCE, ENGINE, ENDINGS };

static void
end_it(enum ending how, int h)
{
	struct trains_host *d = &host[h];
	struct trains_end *e = &d->end[0];

	if (how == SET_ERROR)
		assert_int_equal(iw_qp_set_error(e->qp), 0);
	if (how == DESTROY) {
		assert_int_equal(iw_qp_destroy(e->qp), 0);
		e->qp = NULL;
	}
	if (how == ABORT || how == CLOSE)
		assert_int_equal(iw_cm_disconnect(d->engine, e->id, how == ABORT), 0);
	if (how == SILENCE)
		s->host[h].cut = true;
	if (how == ENGINE)
		engine_abort(d->engine);
}

/* QP 0, or all of them, end at any moment: the others do not notice. */
static void
ended(uint64_t seed, enum ending how)
{
	struct engine_params params = trains_params(seed);
	bool all = how == SILENCE || how == ENGINE;
	uint64_t limit;

	s = trains_open(seed, &params, &(struct sim_wire){.delay_ns = 50 * IW_US, .loss = 0.01}, seed & 1, false);
	for (int i = 0; i < 2 * TRAINS_QPS * (int)TRAINS_OPS; i++)
		trains_post(i & 1, i / 2 % TRAINS_QPS);
	for (uint64_t i = sim_below(s, 60); i > 0; i--)
		sim_step(s, s->now_ns + IW_MS);
	end_it(how, (int)sim_below(s, 2));
	limit = s->now_ns + 600 * IW_SEC;
	for (bool done = false; !done && s->now_ns < limit;) {
		sim_step(s, limit);
		done = true;
		for (int i = 0; i < 2 * TRAINS_QPS; i++) {
			struct trains_end *e = &host[i & 1].end[i / 2];

			trains_reap(&host[i & 1]);
			done = done && (!e->qp || trains_has_sent(e) || how == ENGINE);
		}
		done = done && (how != ENGINE || s->now_ns > limit - 400 * IW_SEC);
	}
	for (int i = 2; i < 2 * TRAINS_QPS && !all; i++)
		assert_int_equal(host[i & 1].end[i / 2].done, TRAINS_OPS);
	trains_close();
}

static void
test_ended(void **state)
{
	(void)state;
	for (uint64_t seed = first_seed; seed < first_seed + runs; seed++)
		for (enum ending how = 0; how < ENDINGS; how++)
			ended(seed, how);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_ended),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 10);
	if (argc > 1)
		runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
