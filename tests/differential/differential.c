/* SPDX-License-Identifier: BSD-3-Clause */
/* Our TCP against Linux's over a line that loses, delays, reorders, duplicates, corrupts and marks, and whose MTU gets
 * smaller.
 *     differential short           both roles, both families: everything at once; applications that read seldom
 *     differential all [SEED]      each impairment alone, too; or one, by its name
 *     differential goodput [RUNS [LINE [MOST]]]  against Linux to Linux over the same line: medians, and whether ours
 * is below 0.9; of all lines or one (0..5); MOST: no more runs than that to get there Prints a line for each case and
 * `N passed, N failed`; exit status 77: it cannot run here, and why (in CI: 1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "goodput.h"
#include "world.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)
#define OCTETS (UINT64_C(10) << 20)
#define STUCK (60 * SEC) /* without an octet */

struct impairment {
	const char *name;
	struct relay_params line;
	bool lazy;   /* the applications read seldom, from small buffers */
	bool always; /* in the short set, too */
};

#define MTU 1280, .mtu_after = 500 /* what IPv6 promises: RFC 8200 §5 */
static const struct impairment impairments[] = {
	{"clean", {.delay_ns = 100 * US}},
	{"delay", {.delay_ns = 10 * MS}},
	{"loss 1 %", {.delay_ns = 200 * US, .loss_ppm = 10000}},
	{"loss 3 %", {.delay_ns = 200 * US, .loss_ppm = 30000}},
	{"reorder", {.delay_ns = 200 * US, .late_ppm = 20000, .late_ns = MS}},
	{"duplicate", {.delay_ns = 200 * US, .dup_ppm = 20000}},
	{"corrupt", {.delay_ns = 200 * US, .corrupt_ppm = 10000}},
	{"congestion", {.delay_ns = 200 * US, .ce_ppm = 10000}},
	{"no window", {.delay_ns = 200 * US, .loss_ppm = 2000}, .lazy = true, .always = true},
	{"mtu", {.delay_ns = 200 * US, .mtu = MTU}},
	{"black hole", {.delay_ns = 200 * US, .mtu = MTU, .black_hole = true}},
	{"everything",
	 {.delay_ns = 100 * US,
	  .loss_ppm = 2000,
	  .late_ppm = 5000,
	  .late_ns = 500 * US,
	  .dup_ppm = 5000,
	  .corrupt_ppm = 2000,
	  .ce_ppm = 1000,
	  .mtu = MTU},
	 .always = true},
};
#define IMPAIRMENTS (sizeof(impairments) / sizeof(impairments[0]))

static struct world world;
static uint32_t passed, failed;

static bool
is_over(struct world *w)
{
	return w->end[0]->kind->is_over(w->end[0]) && w->end[1]->kind->is_over(w->end[1]);
}

/* Until both have got everything and closed; false: one failed, or nothing moved any more. */
static bool
play(struct world *w)
{
	uint64_t moved_ns = world_clock(), sum = 0;

	while (!is_over(w)) {
		uint64_t got = w->end[0]->stream.got + w->end[1]->stream.got;

		if (got != sum)
			moved_ns = w->now_ns;
		sum = got;
		if (w->end[0]->stream.failed || w->end[1]->stream.failed || world_clock() > moved_ns + STUCK)
			return false;
		world_turn(w, world_clock() + SEC);
	}
	return true;
}

/* What the line was to do was done: a test of nothing passes always.  No ECN when the SYN was lost: the next one does
 * not ask for it (RFC 3168 §6.1.1.1). */
static bool
was_impaired(const struct relay *r)
{
	const struct relay_params *p = &r->params;
	const struct relay_counts *c = &r->counts;

	return (!p->loss_ppm || c->lost) && (!p->dup_ppm || c->dup) && (!p->corrupt_ppm || c->corrupt) &&
	       (!p->late_ppm || c->late) && (!p->ce_ppm || p->loss_ppm || c->marked) && (!p->mtu || c->too_big);
}

static void
report(const struct world *w, const char *name, bool v6, bool good)
{
	const struct relay_counts *c = &w->relay.counts;
	const struct stream *a = &w->end[0]->stream, *b = &w->end[1]->stream;

	printf("%-5s IPv%d, %s connects: %-11s %llu frames, %llu lost, %llu late, %llu twice, %llu corrupt, %llu "
	       "marked, %llu too big\n",
	       good ? "ok" : "WRONG", v6 ? 6 : 4, w->end[0]->kind->name, name, (unsigned long long)c->frames,
	       (unsigned long long)c->lost, (unsigned long long)c->late, (unsigned long long)c->dup,
	       (unsigned long long)c->corrupt, (unsigned long long)c->marked, (unsigned long long)c->too_big);
	if (!good)
		printf("      %s sent %llu, got %llu, closed %d, eof %d, failed %d; %s sent %llu, got %llu, closed %d, "
		       "eof %d, failed %d\n",
		       w->end[0]->kind->name, (unsigned long long)a->sent, (unsigned long long)a->got, a->closed,
		       a->eof, a->failed, w->end[1]->kind->name, (unsigned long long)b->sent,
		       (unsigned long long)b->got, b->closed, b->eof, b->failed);
	fflush(stdout);
}

/* Both streams at the same time, and the same octets at both ends. */
static void
exchange(const struct impairment *im, bool v6, bool we_connect, uint64_t seed)
{
	const struct end_kind *kind[2] = {we_connect ? &end_own : &end_kernel, we_connect ? &end_kernel : &end_own};
	struct world *w = &world;
	bool good;

	if (!world_open(w, kind, v6, im->lazy, &im->line, seed)) {
		failed++;
		return;
	}
	world_streams(w, seed, OCTETS, OCTETS);
	good = play(w) && was_impaired(&w->relay) && w->end[0]->stream.sent == OCTETS &&
	       stream_is_same(&w->end[0]->stream, &w->end[1]->stream) &&
	       stream_is_same(&w->end[1]->stream, &w->end[0]->stream);
	report(w, im->name, v6, good);
	passed += good;
	failed += !good;
	world_close(w);
}

static bool
is_chosen(const struct impairment *im, const char *what)
{
	return strcmp(what, "all") == 0 || strcmp(what, im->name) == 0 || (strcmp(what, "short") == 0 && im->always);
}

static void
grid(const char *what, uint64_t seed)
{
	for (uint32_t i = 0; i < IMPAIRMENTS; i++)
		for (uint32_t k = 0; is_chosen(&impairments[i], what) && k < 4; k++)
			exchange(&impairments[i], k & 1, k & 2, seed + i * 4 + k);
}

static int
cannot(const char *why)
{
	const char *ci = getenv("CI");

	printf("skipped: %s\n", why);
	return ci && strcmp(ci, "true") == 0 ? 1 : 77;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "short", *why = end_kernel_missing();
	uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	uint32_t most = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : 0;

	if (why)
		return cannot(why);
	prctl(PR_SET_TIMERSLACK, 1000);
	if (strcmp(what, "goodput") == 0)
		goodput(&world, (struct goodput_runs){(uint32_t)number, most}, argc > 3 ? argv[3] : NULL, &passed,
			&failed);
	else
		grid(what, number ? number : 1);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed ? 1 : 0;
}
