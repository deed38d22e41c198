/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "pair.h"

static struct sim sim;
static struct pair pair;

static uint64_t
value(const struct iw_stat *stats, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(stats[i].name, name) == 0)
			return stats[i].value;
	fail_msg("no counter %s", name);
	return 0;
}

static void
test_every_room_is_in_the_list(void **state)
{
	static const char *const rooms[] = {"net.", "tcp.", "rdmap.", "cm.", "engine."};
	struct iw_stat stats[512];
	int n, at = 0;

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	n = iw_engine_stats(sim.host[0].engine, stats, 512);
	assert_true(n > 0 && n <= 512);
	/* Names are unique, and those of a room stand together, in the order of the rooms. */
	for (int i = 0; i < n; i++) {
		while (at < 5 && strncmp(stats[i].name, rooms[at], strlen(rooms[at])) != 0)
			at++;
		assert_true(at < 5);
		assert_int_equal(stats[i].value, 0);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(stats[i].name, stats[k].name);
	}
	assert_int_equal(at, 4);
	sim_fini(&sim);
}

static void
test_arguments(void **state)
{
	struct iw_stat stats[512];
	int n, few;

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	n = iw_engine_stats(sim.host[0].engine, stats, 512);
	assert_int_equal(iw_engine_stats(NULL, stats, 512), -IW_E_INVAL);
	assert_int_equal(iw_engine_stats(sim.host[0].engine, NULL, 1), -IW_E_INVAL);
	assert_int_equal(iw_engine_stats(sim.host[0].engine, NULL, 0), n);
	/* Not one more than there is room for. */
	memset(stats, 0, sizeof(stats));
	few = iw_engine_stats(sim.host[0].engine, stats, 3);
	assert_int_equal(few, n);
	assert_non_null(stats[2].name);
	assert_null(stats[3].name);
	sim_fini(&sim);
}

static void
test_they_count(void **state)
{
	struct iw_stat stats[512];
	int n;

	(void)state;
	sim_init(&sim, 1, 2, 1500);
	pair_init(&pair, &sim, NULL);
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	n = iw_engine_stats(sim.host[0].engine, stats, 512);
	assert_int_equal(value(stats, n, "engine.events"), 1); /* REPLY */
	n = iw_engine_stats(sim.host[1].engine, stats, 512);
	assert_int_equal(value(stats, n, "engine.events"), 2); /* REQUEST, ESTABLISHED */
	assert_int_equal(value(stats, n, "cm.requests"), 1);
	assert_true(pair_disconnect(&pair, 5 * IW_SEC));
	pair_fini(&pair);
	sim_run(&sim, 100 * IW_MS);
	sim_fini(&sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_room_is_in_the_list),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_they_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
