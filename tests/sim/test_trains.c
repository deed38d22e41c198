/* SPDX-License-Identifier: BSD-3-Clause */
/* Long messages of several QPs at once, cut out of every kind of registration, both ways, with Reads among them: over
 * bad lines, narrower paths, and without mbufs in the middle of turns.  Runs for either family (IW_TEST_FAMILY).
 *     test_trains [SEED [RUNS]]  repeats a run by its seed */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "stat_of.h"
#include "trains.h"

static uint64_t first_seed = 1;
static uint32_t runs = 2;

static struct sim *s;
static struct trains_host *const host = trains_host;

static void
run_until(bool (*done)(const struct trains_end *e), uint64_t limit_ns)
{
	uint64_t end = s->now_ns + limit_ns;

	for (;;) {
		bool all = true;

		for (int i = 0; i < 2 * TRAINS_QPS; i++)
			all = all && done(&host[i & 1].end[i / 2]);
		if (all)
			return;
		assert_true(s->now_ns < end);
		sim_step(s, end);
	}
}

static bool
is_closed(const struct trains_end *e)
{
	return e->closed;
}

struct trouble {
	bool dry, narrow;
};

static void
work(const struct trouble *trouble, uint64_t limit_ns)
{
	uint64_t end = s->now_ns + limit_ns, steps = 0;
	bool all = false;

	for (int i = 0; i < 2 * TRAINS_QPS * (int)TRAINS_OPS; i++)
		trains_post(i & 1, i / 2 % TRAINS_QPS);
	while (!all && s->now_ns < end) {
		if (trouble->dry && sim_below(s, 3) == 0)
			mbufpool_set_fuse(s->host[sim_below(s, 2)].data_pool, 1 + (uint32_t)sim_below(s, 20));
		if (trouble->narrow && ++steps == 40) {
			s->host[1].cut = true;
			sim_run(s, 10 * IW_SEC);
			s->host[1].cut = false;
		}
		sim_step(s, end);
		all = true;
		for (int i = 0; i < 2 * TRAINS_QPS; i++) {
			trains_reap(&host[i & 1]);
			all = all && trains_has_sent(&host[i & 1].end[i / 2]);
		}
	}
	assert_true(all);
	mbufpool_set_fuse(s->host[0].data_pool, 0);
	mbufpool_set_fuse(s->host[1].data_pool, 0);
}

static void
one_run(uint64_t seed, const struct engine_params *params, const struct sim_wire *wire, const struct trouble *trouble)
{
	s = trains_open(seed, params, wire, seed & 1, seed % 5 == 0);
	work(trouble, 600 * IW_SEC);
	if (trouble->narrow)
		assert_true(stat_of(host[0].engine, "tcp.tx_splits") + stat_of(host[1].engine, "tcp.tx_splits") > 0);
	for (int i = 0; i < TRAINS_QPS; i++)
		assert_int_equal(iw_cm_disconnect(host[0].engine, host[0].end[i].id, false), 0);
	run_until(is_closed, 300 * IW_SEC);
	for (int i = 0; i < 2 * TRAINS_QPS; i++) {
		trains_reap(&host[i & 1]);
		assert_int_equal(host[i & 1].end[i / 2].failed, 0);
	}
	for (int i = 0; i < 2 * TRAINS_QPS; i++)
		trains_check_end(i & 1, i / 2);
	trains_close();
}

static void
many_runs(uint64_t first, const struct sim_wire *wire, const struct trouble *trouble)
{
	for (uint64_t seed = first; seed < first + runs; seed++) {
		struct engine_params params = trains_params(seed);

		if (trouble->narrow)
			params.nif.mtu = 9000;
		if (trouble->dry) /* the test's NIC would take its mbufs there, too */
			params.nif.tx_tso = params.nif.tx_ip_cksum = params.nif.tx_tcp_cksum = 0;
		one_run(seed, &params, wire, trouble);
	}
}

static void
test_lines(void **state)
{
	static const struct sim_wire wires[] = {
		{.delay_ns = 10 * IW_US},
		{.delay_ns = 100 * IW_US, .loss = 0.03},
		{.delay_ns = 1 * IW_MS, .jitter_ns = 500 * IW_US, .loss = 0.02, .dup = 0.05}};

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		many_runs(first_seed + i * runs, &wires[i], &(struct trouble){.dry = false});
}

/* No mbuf in the middle of a turn, wherever that is. */
static void
test_dry(void **state)
{
	(void)state;
	many_runs(first_seed, &(struct sim_wire){.delay_ns = 50 * IW_US}, &(struct trouble){.dry = true});
	many_runs(first_seed + runs, &(struct sim_wire){.delay_ns = 50 * IW_US, .loss = 0.02},
		  &(struct trouble){.dry = true});
}

/* Segments become smaller in the middle of messages; what is under way is cut up. */
static void
test_narrow(void **state)
{
	(void)state;
	many_runs(first_seed, &(struct sim_wire){.delay_ns = 200 * IW_US}, &(struct trouble){.narrow = true});
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_dry),
		cmocka_unit_test(test_narrow),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 10);
	if (argc > 1)
		runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
