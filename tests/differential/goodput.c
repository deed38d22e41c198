/* SPDX-License-Identifier: BSD-3-Clause */
#include "goodput.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)
#define RATE UINT64_C(200000000) /* octets of a fast line would measure this machine, not TCP */
#define LENGTH (3 * SEC)
#define LEAST 0.9

enum way { LINUX_LINUX, OWN_LINUX, LINUX_OWN, WAYS };
static const struct {
	const char *name;
	const struct end_kind *kind[2]; /* the first connects and sends */
} ways[WAYS] = {{"Linux to Linux", {&end_kernel, &end_kernel}},
		{"ours to Linux", {&end_own, &end_kernel}},
		{"Linux to ours", {&end_kernel, &end_own}}};

static const struct {
	uint32_t loss_ppm, rtt_ms;
} cells[] = {{1000, 1}, {10000, 1}, {30000, 1}, {1000, 10}, {10000, 10}, {30000, 10}};

/* Mbit/s; 0: it failed. */
static double
measure(struct world *w, enum way way, const struct relay_params *line, uint64_t seed)
{
	uint64_t limit = world_clock() + 10 * SEC, begin, got = 0;
	struct stream *sink;

	if (!world_open(w, ways[way].kind, false, false, line, seed))
		return 0;
	world_streams(w, seed, STREAM_ENDLESS, STREAM_ENDLESS);
	sink = &w->end[1]->stream;
	sink->mute = true;
	while (!sink->up && world_clock() < limit)
		world_turn(w, limit);
	begin = world_clock();
	while (sink->up && w->now_ns < begin + LENGTH && !sink->failed && !w->end[0]->stream.failed)
		world_turn(w, begin + LENGTH);
	if (!sink->failed && !w->end[0]->stream.failed)
		got = sink->got;
	begin = w->now_ns - begin;
	world_close(w);
	return (double)got * 8000 / (double)begin;
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(const double *of, uint32_t n)
{
	double sorted[GOODPUT_RUNS];

	memcpy(sorted, of, n * sizeof(*of));
	qsort(sorted, n, sizeof(*sorted), by_size);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* One loss more or less decides a run of few losses, so medians come near each other only slowly. */
static bool
all_good(const double m[WAYS])
{
	return m[LINUX_LINUX] > 0 && m[OWN_LINUX] >= LEAST * m[LINUX_LINUX] && m[LINUX_OWN] >= LEAST * m[LINUX_LINUX];
}

/* The ways take turns, so that what else the machine does meets them alike.  At least so many runs, and more of them as
 * long as a share is too small.  Returns how many. */
static uint32_t
measure_all(struct world *w, const struct relay_params *line, struct goodput_runs runs, double m[WAYS])
{
	double mbit[WAYS][GOODPUT_RUNS];
	uint32_t n = 0;

	do {
		for (uint32_t k = 0; k < WAYS; k++)
			mbit[k][n] = measure(w, (enum way)k, line, 1000 + n);
		n++;
		for (uint32_t k = 0; k < WAYS; k++)
			m[k] = median(mbit[k], n);
	} while (n < runs.most && (n < runs.least || !all_good(m)));
	return n;
}

static void
cell(struct world *w, uint32_t loss_ppm, uint32_t rtt_ms, struct goodput_runs of, uint32_t *passed, uint32_t *failed)
{
	const struct relay_params line = {.delay_ns = rtt_ms * MS / 2,
					  .loss_ppm = loss_ppm,
					  .rate_bits = RATE,
					  .queue = rtt_ms < 4 ? 100000 : (uint32_t)(RATE / 8000 * rtt_ms)};
	double m[WAYS];
	uint32_t runs = measure_all(w, &line, of, m);

	printf("loss %.1f %%, %2u ms, %2u runs: %s %.1f Mbit/s", loss_ppm / 1e4, rtt_ms, runs, ways[0].name, m[0]);
	for (uint32_t k = 1; k < WAYS; k++) {
		bool good = m[0] > 0 && m[k] >= LEAST * m[0];

		printf(", %s %.1f (%.2f%s)", ways[k].name, m[k], m[0] > 0 ? m[k] / m[0] : 0, good ? "" : ", WRONG");
		*passed += good;
		*failed += !good;
	}
	printf("\n");
	fflush(stdout);
}

void
goodput(struct world *w, struct goodput_runs runs, const char *only, uint32_t *passed, uint32_t *failed)
{
	const struct sched_param first = {.sched_priority = 1};

	/* In front of what else the machine does, if we may: the line's delay is real time. */
	sched_setscheduler(0, SCHED_RR, &first);
	runs.least = runs.least ? runs.least : 7;
	runs.most = runs.most && runs.most < GOODPUT_RUNS ? runs.most : GOODPUT_RUNS;
	for (uint32_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		if (!only || strtoul(only, NULL, 0) == i)
			cell(w, cells[i].loss_ppm, cells[i].rtt_ms, runs, passed, failed);
}
