/* SPDX-License-Identifier: BSD-3-Clause */
/* Worlds that differ in names only: which of two ids, or of two connections, comes first.  One of them is explored for
 * all.  Names are exchanged as a whole, so that whatever is chosen stands for worlds that can happen. */
#include "symmetry.h"

#include <string.h>

static void
rename_to(uint8_t *name, uint8_t a, uint8_t b)
{
	*name = *name == a ? b : *name == b ? a : *name;
}

static void
swap_conns(struct world *w)
{
	struct conn k = w->conn[0];

	w->conn[0] = w->conn[1];
	w->conn[1] = k;
	for (uint8_t h = 0; h < HOSTS; h++)
		for (uint8_t i = 0; i < IDS; i++) {
			rename_to(&w->id[h][i].conn, 1, 2);
			rename_to(&w->id[h][i].tw, 1, 2);
		}
}

static void
swap_ids(struct world *w, uint8_t h)
{
	struct id id = w->id[h][1];

	w->id[h][1] = w->id[h][2];
	w->id[h][2] = id;
	for (uint8_t c = 0; c < CONNS; c++) {
		rename_to(&w->conn[c].ep[h].owner, 2, 3);
		rename_to(&w->conn[c].ep[h].tag, 2, 3);
	}
	rename_to(&w->telling[h], 2, 3);
}

/* How the ids are called does not count yet. */
static int
compare_conns(const struct world *w)
{
	struct conn k[CONNS];

	memcpy(k, w->conn, sizeof(k));
	for (uint8_t c = 0; c < CONNS; c++)
		for (uint8_t h = 0; h < HOSTS; h++) {
			struct ep *e = &k[c].ep[h];

			e->owner = e->owner == 3 ? 2 : e->owner;
			e->tag = e->tag == 3 ? 2 : e->tag;
		}
	return memcmp(&k[0], &k[1], sizeof(k[0]));
}

static bool
is_id_before(const struct world *w, uint8_t h)
{
	int order = memcmp(&w->id[h][1], &w->id[h][2], sizeof(w->id[h][1]));

	return order > 0 || (order == 0 && w->telling[h] != 3);
}

bool
symmetry_helps(const struct scenario *sc)
{
	return (sc->connects[0] > 1 || sc->once_more) && sc->listens && !sc->hostile[0] && !sc->hostile[1];
}

void
symmetry_choose(struct world *w)
{
	int order = compare_conns(w);

	if (order < 0 || (order == 0 && memcmp(&w->conn[0], &w->conn[1], sizeof(w->conn[0])) < 0))
		swap_conns(w);
	for (uint8_t h = 0; h < HOSTS; h++)
		if (!is_id_before(w, h))
			swap_ids(w, h);
}
