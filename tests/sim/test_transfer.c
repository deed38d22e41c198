/* SPDX-License-Identifier: BSD-3-Clause */
/* Two stacks on a seeded wire: every transfer arrives byte-exact, every run ends, nothing is left over.
 *     test_transfer [SEED [RUNS]]  repeats a run by its seed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "traffic.h"

static uint64_t first_seed = 1;
static uint32_t runs = 6;

static void
one_run(uint64_t seed, const struct sim_wire *wire, uint16_t mtu, bool no_crc, uint32_t burst, unsigned markers)
{
	struct iw_qp_attr attr = {.sq_depth = 16, .rq_depth = 64, .max_ird = 4, .max_ord = 4};
	struct sim *s = malloc(sizeof(*s));
	struct traffic t;
	struct pair p;
	char history[256];

	sim_init(s, seed, 2, mtu);
	s->wire = *wire;
	s->burst = burst;
	pair_init(&p, s, &attr);
	p.end[0].attr.no_crc = p.end[1].attr.no_crc = no_crc;
	p.end[0].attr.markers = markers & 1;
	p.end[1].attr.markers = markers & 2;
	/* At 10 % loss the default of 10 s may well be too short for SYN and Request. */
	p.end[0].attr.connect_timeout_ms = 60000;
	traffic_init(&t, &p);
	assert_true(pair_connect(&p, 60 * IW_SEC));
	traffic_exchange(&t, 600 * IW_SEC);
	assert_true(pair_disconnect(&p, 300 * IW_SEC));
	assert_string_equal(pair_history(&p, 0, history, sizeof(history)), "REPLY CLOSE");
	assert_string_equal(pair_history(&p, 1, history, sizeof(history)), "REQUEST ESTABLISHED DISCONNECT CLOSE");
	traffic_check(&t);
	traffic_fini(&t);
	pair_fini(&p);
	sim_run(s, 400 * IW_SEC);
	sim_fini(s);
	free(s);
}

static void
many_runs(const struct sim_wire *wire, bool no_crc)
{
	for (uint32_t i = 0; i < runs; i++) {
		static const uint16_t mtus[] = {1500, 9000, 576};

		print_message("seed %llu\n", (unsigned long long)(first_seed + i));
		one_run(first_seed + i, wire, mtus[i % 3], no_crc, i & 1 ? 1 : 32, 0);
	}
}

static void
test_clean(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 10 * IW_US}, false);
}

static void
test_no_crc(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 10 * IW_US}, true);
}

/* M8: asked for by either end or both; oracle O5 sees that they stand where they must. */
static void
test_M8_markers(void **state)
{
	static const struct sim_wire clean = {.delay_ns = 10 * IW_US};
	static const struct sim_wire rough = {
		.delay_ns = 50 * IW_US, .jitter_ns = 100 * IW_US, .loss = 0.02, .dup = 0.02};

	one_run(first_seed, &clean, 1500, false, 32, 1);
	one_run(first_seed, &clean, 9000, false, 32, 2);
	one_run(first_seed, &rough, 1500, false, 1, 3);
	one_run(first_seed, &rough, 576, true, 32, 3);
}

static void
test_loss_1(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 100 * IW_US, .loss = 0.01}, false);
}

static void
test_loss_10(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 100 * IW_US, .loss = 0.1}, false);
}

static void
test_reorder_and_duplicate(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 50 * IW_US, .jitter_ns = 100 * IW_US, .dup = 0.05}, false);
}

static void
test_everything_at_once(void **state)
{
	many_runs(
		&(struct sim_wire){
			.delay_ns = 1 * IW_MS, .jitter_ns = 500 * IW_US, .loss = 0.03, .dup = 0.03, .corrupt = 0.01},
		false);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_no_crc),
		cmocka_unit_test(test_M8_markers),
		cmocka_unit_test(test_loss_1),
		cmocka_unit_test(test_loss_10),
		cmocka_unit_test(test_reorder_and_duplicate),
		cmocka_unit_test(test_everything_at_once),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 10);
	if (argc > 1)
		runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
