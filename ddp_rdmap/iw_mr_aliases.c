/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that several STags name for peers that need not trust each other (RFC 5042 §6.3.6). */
#include <iwarp/err.h>
#include <stdlib.h>

#include "mr.h"

#define WRITES (IW_REMOTE_WRITE | IW_REMOTE_ATOMIC)

/* Memory in one piece, and what opens it to peers. */
struct piece {
	uintptr_t from, to;
	const struct iw_mr *mr;
	bool shared;
};

static struct iw_mr *
next_open(const struct iw_domain *d, uint32_t *slot)
{
	while (*slot < d->fresh) {
		struct iw_mr *mr = &d->chunk[*slot / DOMAIN_CHUNK][*slot % DOMAIN_CHUNK];

		++*slot;
		if (mr->kind != MR_FREE && mr->valid && mr->len && mr->access & (WRITES | IW_REMOTE_READ))
			return mr;
	}
	return NULL;
}

/* Writes the pieces of mr to out, if that is not NULL; returns how many. */
static uint32_t
cut(const struct iw_mr *mr, struct piece *out)
{
	const struct iw_mr *m = mr->kind == MR_WINDOW ? mr->parent : mr;
	uint64_t off = mr->addr - m->addr, left = mr->len;
	uint32_t n = 0;

	while (left > 0) {
		uint32_t run = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
		uintptr_t p = (uintptr_t)(m->map ? mr_map_run(m->map, off, &run) : (void *)(uintptr_t)mr->addr);
		uint64_t len = m->map ? run : left;

		if (out)
			out[n] = (struct piece){.from = p, .to = p + len, .mr = mr};
		n++;
		off += len;
		left -= len;
	}
	return n;
}

static int
by_place(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Of one stream, or of one PD, is not shared; and what nobody may write is the user's own matter. */
static bool
is_shared(const struct iw_mr *a, const struct iw_mr *b)
{
	return (a->pd != b->pd || a->scope != b->scope) && (a->access | b->access) & WRITES;
}

static int
count(struct piece *p, uint32_t n)
{
	int shared = 0;

	qsort(p, n, sizeof(*p), by_place);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = i + 1; k < n && p[k].from < p[i].to; k++)
			if (is_shared(p[i].mr, p[k].mr))
				p[i].shared = p[k].shared = true;
		shared += p[i].shared;
	}
	return shared;
}

int
iw_mr_aliases(struct iw_domain *domain)
{
	uint32_t slot = 0, n = 0;
	const struct iw_mr *mr;
	struct piece *p;
	int shared;

	if (!domain)
		return -IW_E_INVAL;
	while ((mr = next_open(domain, &slot)))
		n += cut(mr, NULL);
	p = iw_env_alloc((size_t)n * sizeof(*p));
	if (!p)
		return -IW_E_NOMEM;
	slot = n = 0;
	while ((mr = next_open(domain, &slot)))
		n += cut(mr, p + n);
	shared = count(p, n);
	iw_env_free(p);
	return shared;
}
