/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection among any number of others.  What they can do to it goes through few things that ids share: places in
 * the listener's backlog, ids and memory (short at any time, where `fails` is set), and the host's time while a handler
 * of theirs runs, which may call anything on ours.  So the others are three moves; and where there are two connections
 * for real, each step is held against that: seen from either it is the same step without the other, or one of those. */
#include "crowd.h"

#include <string.h>

#include "symmetry.h"

enum others { OTHER_ASKS, OTHER_IS_ANSWERED, OTHER_IS_TOLD, OTHER_MOVES };
_Static_assert(CROWD_MOVES == OTHER_MOVES, "as many as there are");

bool
crowd_move(struct world *w, uint8_t h, uint8_t what)
{
	if (!run.sc->crowd)
		return false;
	switch (what) {
	case OTHER_ASKS:
		if (h != 1 || w->telling[h] || w->asking >= run.sc->backlog ||
		    w->id[h][LISTENER].st.phase != CM_LISTENING)
			return false;
		w->asking++;
		w->others++;
		return true;
	case OTHER_IS_ANSWERED:
		if (h != 1 || !w->others)
			return false;
		w->asking--;
		w->others--;
		return true;
	default:
		if (w->telling[h])
			return false;
		w->telling[h] = GONE;
		return true;
	}
}

/* ---- two connections for real: seen from one ---- */

/* Ids and connections that belong together, as bits. */
struct part {
	uint8_t ids[HOSTS], conns;
};

/* All that hangs together with what is there; the listener is everybody's. */
static void
grow(const struct world *w, struct part *p)
{
	for (int again = 0; again < 3; again++)
		for (uint8_t h = 0; h < HOSTS; h++)
			for (uint8_t i = LISTENER + 1; i < IDS; i++) {
				const struct id *id = &w->id[h][i];
				uint8_t linked = 0;

				for (uint8_t c = 0; c < CONNS; c++)
					if (id->conn == c + 1 || id->tw == c + 1 || w->conn[c].ep[h].owner == i + 1 ||
					    w->conn[c].ep[h].tag == i + 1)
						linked |= (uint8_t)(1 << c);
				if (p->ids[h] & 1 << i)
					p->conns |= linked;
				else if (p->conns & linked)
					p->ids[h] |= (uint8_t)(1 << i);
			}
}

/* The world with this part alone; what the others hold of the backlog stays. */
static struct world
only(const struct world *w, const struct part *p)
{
	struct world part = *w;

	for (uint8_t h = 0; h < HOSTS; h++) {
		for (uint8_t i = LISTENER + 1; i < IDS; i++) {
			if (p->ids[h] & 1 << i)
				continue;
			part.others += w->id[h][i].kind && w->id[h][i].flags & ID_COUNTED;
			memset(&part.id[h][i], 0, sizeof(part.id[h][i]));
			if (w->telling[h] == i + 1)
				part.telling[h] = GONE;
		}
	}
	for (uint8_t c = 0; c < CONNS; c++)
		if (!(p->conns & 1 << c))
			memset(&part.conn[c], 0, sizeof(part.conn[c]));
	part.troubles = 0; /* whoever has them */
	memset(part.connects, 0, sizeof(part.connects));
	return part;
}

static bool
is_about(const struct world *w, const struct move *m, const struct part *p)
{
	uint8_t teller;

	if (m->kind == M_RETURN || m->kind == M_DESTROY_BY_RETURN) {
		teller = w->telling[m->host];
		return teller != GONE && p->ids[m->host] & 1 << (teller - 1);
	}
	if (moves_is_of_a_host(m->kind))
		return m->at == LISTENER || p->ids[m->host] & 1 << m->at;
	return p->conns & 1 << m->at;
}

/* The same step in the world of this part. */
static bool
same_without_others(const struct world *before, const struct world *now, const struct move *m, const struct part *p)
{
	struct part q = *p; /* and what was made by the step */
	struct world want;

	grow(now, &q);
	want = only(now, &q);
	symmetry_choose(&want);
	for (uint8_t fail = 0; fail <= FAIL_ID; fail = (uint8_t)(fail + FAIL_ID)) {
		struct world w = only(before, p);
		struct move step = *m;

		w.troubles = before->troubles;
		memcpy(w.connects, before->connects, sizeof(w.connects));
		step.fail |= fail; /* the only place for an orphan may be another's */
		if (!moves_do(&w, &step))
			continue;
		w.troubles = 0;
		memset(w.connects, 0, sizeof(w.connects));
		symmetry_choose(&w);
		if (!memcmp(&w, &want, sizeof(w)))
			return true;
	}
	return false;
}

/* What QPs have to report is taken with any step of their host. */
static void
take_reports(struct world *w, const struct part *p, uint8_t h)
{
	for (uint8_t i = LISTENER + 1; i < IDS; i++)
		if (p->ids[h] & 1 << i)
			(void)moves_do(w, &(struct move){.kind = M_OUT, .host = h, .at = i});
}

/* Nothing of this part has changed, but what others can do to it. */
static bool
is_shared(struct world a, const struct world *b)
{
	int asking = b->asking - a.asking;

	if (asking < -1 || asking > 1 || b->others - a.others != asking)
		return false;
	for (uint8_t h = 0; h < HOSTS; h++) {
		if (a.telling[h] != b->telling[h] &&
		    ((a.telling[h] && a.telling[h] != GONE) || (b->telling[h] && b->telling[h] != GONE)))
			return false;
		a.telling[h] = b->telling[h];
	}
	a.asking = b->asking;
	a.others = b->others;
	return !memcmp(&a, b, sizeof(a));
}

static bool
is_crowd_move(const struct world *before, const struct world *now, const struct move *m, const struct part *p)
{
	struct world a = only(before, p), b = only(now, p);

	if (is_shared(a, &b))
		return true;
	take_reports(&a, p, m->host);
	return is_shared(a, &b);
}

void
crowd_check(const struct world *before, const struct world *now, const struct move *m)
{
	uint8_t seen = 0;

	for (uint8_t n = 0; n < CONNS + HOSTS * (IDS - 1); n++) {
		struct part p = {{0}, 0};

		if (n < CONNS) {
			if (!before->conn[n].used)
				continue;
			p.conns = (uint8_t)(1 << n);
		} else {
			uint8_t h = (uint8_t)((n - CONNS) / (IDS - 1)), i = (uint8_t)(1 + (n - CONNS) % (IDS - 1));

			if (!before->id[h][i].kind || seen & 1 << (h * (IDS - 1) + i - 1))
				continue;
			p.ids[h] = (uint8_t)(1 << i);
		}
		grow(before, &p);
		for (uint8_t h = 0; h < HOSTS; h++)
			seen |= (uint8_t)((p.ids[h] >> 1) << (h * (IDS - 1)));
		if (is_about(before, m, &p))
			world_check(same_without_others(before, now, m, &p),
				    "a step is the same whether others are there or not");
		else
			world_check(is_crowd_move(before, now, m, &p), "others change nothing but what is shared");
	}
}
