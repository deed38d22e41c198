/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth: the clock stops when a zero-length Read behind the last request of each QP has come back, so that nothing
 * still under way is counted. */
#include <inttypes.h>
#include <math.h>
#include <rte_cycles.h>
#include <stdio.h>
#include <time.h>

#include "cli.h"
#include "outflow.h"
#include "run.h"
#include "sink.h"

#define PEAK_WINDOWS 20 /* the peak is the best of windows of so many parts of the run */
#define SECOND UINT64_C(1000000000)
#define FOREVER_NS (5 * SECOND)

/* A moment of the run. */
struct mark {
	uint64_t ns, done, cycles;
	clock_t cpu;
};

struct bw {
	struct peer *p;
	const struct options *o;
	struct outflow out;
	struct report_bw *row;
	struct report *report;
	bool needs_clock;
	uint64_t stop_ns, row_ns, line_ns; /* 0: not at all; the next row and line of progress */
	uint64_t from_ns, to_ns;           /* what counts, with margins */
	struct mark begin, counted, ended, last_row, last_line;
	uint64_t window, window_done, window_ns;
	double peak;
};

static struct mark
mark_now(const struct bw *b, uint64_t ns)
{
	return (struct mark){.ns = ns, .done = b->out.done, .cycles = rte_rdtsc(), .cpu = b->o->cpu_util ? clock() : 0};
}

/* The octets a second between two moments. */
static double
rate(const struct bw *b, const struct mark *from, const struct mark *to)
{
	return (double)(to->done - from->done) * b->out.size * 1e9 / (double)(to->ns - from->ns);
}

static void
note_peak(struct bw *b)
{
	uint64_t now;

	if (b->out.done - b->window_done < b->window)
		return;
	now = iw_engine_now(b->p->engine);
	if (b->window_ns)
		b->peak = fmax(b->peak, (double)(b->out.done - b->window_done) * b->out.size * 1e9 /
						(double)(now - b->window_ns));
	b->window_done = b->out.done;
	b->window_ns = now;
}

static void
fill_row(struct bw *b, const struct mark *from, const struct mark *to)
{
	struct report_bw *r = b->row;

	r->size = b->out.size;
	r->crc = b->p->crc;
	r->iters = to->done - from->done;
	r->seconds = (double)(to->ns - from->ns) / 1e9;
	r->cycles = (double)(to->cycles - from->cycles);
	r->cpu = (double)(to->cpu - from->cpu) / CLOCKS_PER_SEC / r->seconds;
	/* A run too short for a window has its average as its peak. */
	r->peak = b->o->no_peak ? 0 : fmax(b->peak, (double)r->iters * r->size / r->seconds);
}

static void
print_progress(struct bw *b, const struct mark *now)
{
	fprintf(stderr, "# %.1f s  %.2f %s  %" PRIu64 " messages\n", (double)(now->ns - b->begin.ns) / 1e9,
		rate(b, &b->last_line, now) / (b->o->gbits ? 1.25e8 : 1048576.0), b->o->gbits ? "Gb/s" : "MiB/s",
		now->done - b->last_line.done);
	b->last_line = *now;
	b->line_ns += b->o->interval * SECOND;
}

/* A row for the time since the last one. */
static void
print_row(struct bw *b, const struct mark *now)
{
	fill_row(b, &b->last_row, now);
	report_bw_row(b->report, b->row);
	b->last_row = *now;
	b->row_ns += FOREVER_NS;
	b->peak = 0;
}

/* What is due by the clock. */
static void
look_at_clock(struct bw *b)
{
	uint64_t ns = iw_engine_now(b->p->engine);
	struct mark now;

	if (b->from_ns && ns >= b->from_ns) {
		b->counted = mark_now(b, ns);
		b->from_ns = 0;
	}
	if (b->to_ns && ns >= b->to_ns) {
		b->ended = mark_now(b, ns);
		b->to_ns = 0;
	}
	if (b->stop_ns && ns >= b->stop_ns) {
		outflow_stop(&b->out);
		b->stop_ns = 0;
	}
	if ((b->line_ns && ns >= b->line_ns) || (b->row_ns && ns >= b->row_ns)) {
		now = mark_now(b, ns);
		if (b->line_ns && ns >= b->line_ns)
			print_progress(b, &now);
		if (b->row_ns && ns >= b->row_ns)
			print_row(b, &now);
	}
}

static bool
turns(struct bw *b)
{
	bool takes = perf_takes_recv(b->o->verb) && b->o->both_ways;

	while (!outflow_is_over(&b->out) && peer_alive(b->p)) {
		if (!outflow_turn(&b->out) || (takes && !sink_turn(b->p)))
			return false;
		note_peak(b);
		if (b->needs_clock)
			look_at_clock(b);
		peer_poll(b->p);
	}
	return peer_alive(b->p);
}

static void
start_clock(struct bw *b, uint64_t iters)
{
	const struct options *o = b->o;
	uint64_t now = iw_engine_now(b->p->engine);

	if (!iters && o->seconds > 0)
		b->stop_ns = now + (uint64_t)(o->seconds * (double)SECOND);
	if (b->stop_ns && o->margin) {
		b->from_ns = now + o->margin * SECOND;
		b->to_ns = b->stop_ns - o->margin * SECOND;
	}
	if (o->forever && !iters)
		b->row_ns = now + FOREVER_NS;
	if (o->interval)
		b->line_ns = now + o->interval * SECOND;
	b->needs_clock = b->stop_ns || b->row_ns || b->line_ns;
	b->window = iters ? iters * b->p->qps / PEAK_WINDOWS + o->cq_mod : o->cq_mod * 10;
	b->begin = b->last_row = b->last_line = mark_now(b, now);
}

/* Both ends' messages count, until both have all of them. */
static bool
end_both(struct bw *b, uint64_t *theirs)
{
	*theirs = 0;
	return !b->o->both_ways || run_finish(b->p, b->out.size, b->out.posted, theirs);
}

static bool
run(struct bw *b, uint64_t iters)
{
	uint64_t theirs;

	start_clock(b, iters);
	if (!turns(b) || !end_both(b, &theirs))
		return b->o->forever && cli_stopped();
	if (!b->ended.ns) {
		b->counted = b->begin;
		b->ended = mark_now(b, iw_engine_now(b->p->engine));
		b->ended.done += theirs;
	}
	fill_row(b, &b->counted, &b->ended);
	return b->o->both_ways || run_finish(b->p, b->out.size, b->out.posted, &theirs);
}

bool
run_bw(struct peer *p, uint32_t size, uint64_t iters, struct report_bw *row, struct report *report)
{
	struct bw b = {.p = p, .o = p->o, .row = row, .report = report};
	bool ok = outflow_begin(&b.out, p, size, iters ? iters : UINT64_MAX) && run(&b, iters);

	outflow_end(&b.out);
	return ok;
}
