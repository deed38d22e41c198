/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager, explored: every world of every scenario, and every mutant found out.
 *     test_model promises [N]   all scenarios but the large ones, or the N-th
 *     test_model deep           the large ones
 *     test_model timewait       P8 alone
 *     test_model mutants [N] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutants.h"
#include "scenarios.h"
#include "search.h"
#include "timewait.h"

#define MAX_STATES 2000000u
#define MAX_DEEP 24000000u /* 6 GiB */

static struct search_result result;

static bool
explore(uint32_t n, uint32_t *seen)
{
	const struct scenario *sc = &scenarios[n];
	bool good;

	search_run(sc, sc->deep ? MAX_DEEP : MAX_STATES, &result);
	good = !result.broken && result.states == sc->states;
	printf("%2u. %-46s %8u states%s\n", n, sc->name, result.states, good ? "" : "  FAILED");
	if (result.broken)
		printf("    broken: %s\n%s", result.broken, result.trace);
	else if (!good)
		printf("    %u are pinned (tests/model/scenarios.c): what has changed?\n", sc->states);
	for (uint32_t p = 0; p < CM_PHASES; p++)
		seen[p] += result.cells[p];
	fflush(stdout);
	return good;
}

/* P8 has no hosts: records of TIME_WAIT, and SYNs. */
static bool
explore_timewait(void)
{
	bool good;

	timewait_run(&result);
	good = !result.broken && result.states == TIMEWAIT_STATES;
	printf("P8. %-46s %8u states%s\n", "TIME_WAIT and every SYN", result.states, good ? "" : "  FAILED");
	if (result.broken)
		printf("    broken: %s\n%s", result.broken, result.trace);
	return good;
}

static int
promises(int only, bool deep)
{
	uint32_t seen[CM_PHASES] = {0}, bad = 0, states = 0;

	for (uint32_t n = 0; n < scenarios_n; n++) {
		if (only >= 0 ? (uint32_t)only != n : scenarios[n].deep != deep)
			continue;
		bad += !explore(n, seen);
		states += result.states;
	}
	for (uint32_t p = 0; only < 0 && !deep && p < CM_PHASES; p++)
		if (!seen[p]) {
			printf("no scenario reaches %s\n", cm_fsm_phase_name((enum cm_phase)p));
			bad++;
		}
	if (only < 0 && !deep) {
		bad += !explore_timewait();
		states += result.states;
	}
	printf("%u states explored\n", states);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct scenario *
by_name(const char *name)
{
	for (uint32_t n = 0; n < scenarios_n; n++)
		if (!strcmp(scenarios[n].name, name))
			return &scenarios[n];
	fprintf(stderr, "no scenario is called %s\n", name);
	exit(EXIT_FAILURE);
}

static bool
is_caught(const struct mutant *m, bool verbose)
{
	bool caught;

	open_cm_restore();
	open_qp_restore();
	open_tw_restore();
	m->apply();
	if (m->scenario)
		search_run(by_name(m->scenario), MAX_STATES, &result);
	else
		timewait_run(&result);
	caught = result.broken && !strncmp(result.broken, m->promise, strlen(m->promise));
	printf("%-58s %s\n", m->name, caught ? result.broken : "NOT CAUGHT");
	if (!caught && result.broken)
		printf("    by something else: %s\n", result.broken);
	if (verbose || (!caught && result.broken))
		printf("%s", result.trace);
	fflush(stdout);
	return caught;
}

static int
mutants(int only)
{
	const struct mutant *lists[] = {open_cm_mutants, open_qp_mutants, open_tw_mutants};
	int n = 0, bad = 0;

	for (int l = 0; l < 3; l++)
		for (const struct mutant *m = lists[l]; m->name; m++, n++)
			if (only < 0 || only == n)
				bad += !is_caught(m, only >= 0);
	printf("%d mutants, %d not caught\n", n, bad);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	int only = argc > 2 ? atoi(argv[2]) : -1;

	if (argc > 1 && !strcmp(argv[1], "mutants"))
		return mutants(only);
	if (argc > 1 && !strcmp(argv[1], "timewait"))
		return explore_timewait() ? EXIT_SUCCESS : EXIT_FAILURE;
	return promises(only, argc > 1 && !strcmp(argv[1], "deep"));
}
