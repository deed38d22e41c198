/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "world.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#define SEC UINT64_C(1000000000)
#define BURST 64            /* frames of one end before the other has its turn */
#define NAP UINT64_C(20000) /* ns: what is due a little later is done then, too */

uint64_t
world_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SEC + (uint64_t)t.tv_nsec;
}

bool
end_may_read(struct end *e, uint64_t now_ns)
{
	if (!e->config.lazy)
		return true;
	if (now_ns < e->read_ns)
		return false;
	e->read_ns = now_ns + END_LAZY_NS;
	return true;
}

/* The listener first: a SYN that comes too early would be refused. */
bool
world_open(struct world *w, const struct end_kind *const kind[2], bool v6, bool lazy, const struct relay_params *params,
	   uint64_t seed)
{
	w->now_ns = world_clock();
	relay_init(&w->relay, params, seed);
	w->end[0] = w->end[1] = NULL;
	for (int host = 1; host >= 0; host--) {
		const struct end_config config = {.host = host, .v6 = v6, .listens = host == 1, .lazy = lazy};

		w->end[host] = kind[host]->open(&config, w->now_ns);
		if (!w->end[host]) {
			world_close(w);
			return false;
		}
	}
	return true;
}

void
world_close(struct world *w)
{
	for (int i = 0; i < 2; i++)
		if (w->end[i])
			w->end[i]->kind->close(w->end[i]);
	w->end[0] = w->end[1] = NULL;
}

void
world_streams(struct world *w, uint64_t seed, uint64_t want0, uint64_t want1)
{
	stream_init(&w->end[0]->stream, seed * 2, want0);
	stream_init(&w->end[1]->stream, seed * 2 + 1, want1);
}

/* False: nothing came. */
static bool
collect(struct world *w, int i)
{
	struct end *e = w->end[i];
	uint8_t frame[RELAY_FRAME_MAX];
	uint32_t len, n = 0;

	while (n < BURST && (len = e->kind->take(e, frame, sizeof(frame))) > 0) {
		relay_put(&w->relay, i, frame, len, w->now_ns);
		n++;
	}
	return n > 0;
}

static bool
deliver(struct world *w)
{
	const struct relay_frame *f;
	uint32_t n = 0;

	while (n < BURST && (f = relay_take(&w->relay, w->now_ns)) != NULL) {
		w->end[f->to]->kind->give(w->end[f->to], f->data, f->len, w->now_ns);
		n++;
	}
	return n > 0;
}

static void
rest(struct world *w, uint64_t until_ns)
{
	struct pollfd fd[2 * END_FDS];
	struct timespec wait;
	uint64_t now = world_clock();
	uint32_t n = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t at = w->end[i]->kind->deadline(w->end[i]);

		until_ns = at < until_ns ? at : until_ns;
		n += w->end[i]->kind->fds(w->end[i], fd + n);
	}
	until_ns = relay_next(&w->relay) < until_ns ? relay_next(&w->relay) : until_ns;
	if (until_ns <= now)
		return;
	until_ns += NAP;
	wait.tv_sec = (time_t)((until_ns - now) / SEC);
	wait.tv_nsec = (long)((until_ns - now) % SEC);
	ppoll(fd, n, &wait, NULL);
}

void
world_turn(struct world *w, uint64_t until_ns)
{
	bool busy;

	w->now_ns = world_clock();
	busy = deliver(w);
	for (int i = 0; i < 2; i++) {
		w->end[i]->kind->turn(w->end[i], w->now_ns);
		busy |= collect(w, i);
	}
	if (!busy)
		rest(w, until_ns);
}
