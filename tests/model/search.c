/* SPDX-License-Identifier: BSD-3-Clause */
#include "search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "symmetry.h"

struct step {
	uint32_t from;
	struct move move;
};

struct search {
	struct world *worlds;
	struct step *steps;
	uint32_t *slots;
	uint32_t n, max, mask;
	struct search_result *r;
	struct move moves[MOVES_MAX]; /* all that there may ever be */
	uint32_t moves_n;
};

static uint32_t
hash(const struct world *w)
{
	uint64_t h = 1469598103934665603u, v;
	const char *p = (const char *)w;
	size_t n = sizeof(*w);

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	for (; n; p++, n--)
		h = (h ^ (uint8_t)*p) * 1099511628211u;
	return (uint32_t)(h ^ h >> 32);
}

/* true: it is new. */
static bool
add(struct search *s, const struct world *w, uint32_t from, const struct move *m)
{
	uint32_t at = hash(w) & s->mask;

	for (; s->slots[at]; at = (at + 1) & s->mask)
		if (!memcmp(&s->worlds[s->slots[at] - 1], w, sizeof(*w)))
			return false;
	if (s->n == s->max) {
		run.broken = "the search is too large for its bound";
		return false;
	}
	s->worlds[s->n] = *w;
	s->steps[s->n] = (struct step){from, *m};
	s->slots[at] = ++s->n;
	return true;
}

static void
say(struct search *s, uint32_t last, const struct move *final)
{
	uint32_t path[256], n = 0;
	struct search_result *r = s->r;
	size_t used = 0;
	char text[256];

	for (uint32_t at = last; at && n < 256; at = s->steps[at].from)
		path[n++] = at;
	for (uint32_t k = 1; n > 0 && used < sizeof(r->trace); k++) {
		const struct step *st = &s->steps[path[--n]];

		moves_say(&s->worlds[st->from], &st->move, text, sizeof(text));
		used += (size_t)snprintf(r->trace + used, sizeof(r->trace) - used, "  %2u. %s\n", k, text);
	}
	if (final && used < sizeof(r->trace)) {
		moves_say(&s->worlds[last], final, text, sizeof(text));
		(void)snprintf(r->trace + used, sizeof(r->trace) - used, "   *. %s\n", text);
	}
	r->broken = run.broken;
}

/* Does one move in every way in which it may fail.  true: it can happen, and changes something. */
static bool
try_move(struct search *s, uint32_t from, struct move *m)
{
	uint32_t met = 0;
	bool happens = false;

	for (uint32_t fail = 0; fail <= (run.sc->fails ? met : 0); fail++) {
		struct world w = s->worlds[from];

		if (fail & ~met)
			continue;
		m->fail = (uint8_t)fail;
		if (!run.broken && !moves_do(&w, m) && !run.broken)
			return happens;
		met |= run.met;
		if (!run.broken)
			world_invariants(&w);
		happens |= memcmp(&w, &s->worlds[from], sizeof(w)) != 0;
		if (run.sc->two && !run.broken)
			crowd_check(&s->worlds[from], &w, m);
		if (symmetry_helps(run.sc))
			symmetry_choose(&w);
		if (!run.broken && !add(s, &w, from, m) && !run.broken)
			continue;
		if (run.broken) {
			say(s, from, m);
			return true;
		}
	}
	return happens;
}

static bool
expand(struct search *s, uint32_t from)
{
	bool moved = false;

	for (uint8_t h = 0; h < HOSTS; h++)
		for (uint8_t i = 0; i < IDS; i++)
			if (s->worlds[from].id[h][i].kind)
				s->r->cells[s->worlds[from].id[h][i].st.phase]++;
	for (uint32_t n = 0; n < s->moves_n; n++) {
		struct move m = s->moves[n];
		bool own;

		if (!moves_may(&s->worlds[from], &m) && !run.broken)
			continue;
		own = moves_is_own(&s->worlds[from], &m);
		moved |= try_move(s, from, &m) && own;
		if (run.broken)
			return false;
	}
	if (moved)
		return true;
	world_at_rest(&s->worlds[from]);
	if (run.broken)
		say(s, from, NULL);
	return !run.broken;
}

void
search_run(const struct scenario *sc, uint32_t max_states, struct search_result *r)
{
	struct search s = {.max = max_states, .r = r, .mask = 1};
	static const struct move none;
	struct world w;

	memset(r, 0, sizeof(*r));
	while (s.mask < max_states * 2)
		s.mask <<= 1;
	s.slots = calloc(s.mask, sizeof(*s.slots));
	s.mask--;
	s.worlds = malloc((size_t)max_states * sizeof(*s.worlds));
	s.steps = malloc((size_t)max_states * sizeof(*s.steps));
	run = (struct run){.sc = sc};
	world_init(&w, sc);
	while (s.moves_n < MOVES_MAX && moves_nth(s.moves_n, &s.moves[s.moves_n]))
		s.moves_n++;
	add(&s, &w, 0, &none);
	for (uint32_t at = 0; at < s.n && expand(&s, at); at++)
		;
	r->states = s.n;
	r->broken = run.broken;
	free(s.worlds);
	free(s.steps);
	free(s.slots);
}
