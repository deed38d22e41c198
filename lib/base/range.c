/* SPDX-License-Identifier: BSD-3-Clause */
#include "range.h"

#include <assert.h>
#include <string.h>

#include "seq.h"

/* The first range that ends at or after x; s->n when there is none. */
static uint32_t
first_ending_at(const struct iw_range_set *s, uint32_t x)
{
	uint32_t i = 0;

	while (i < s->n && iw_seq_lt(s->r[i].to, x))
		i++;
	return i;
}

/* Makes the ranges [i, j) one range, or opens a place for it when i == j. */
static void
replace(struct iw_range_set *s, uint32_t i, uint32_t j, struct iw_range by)
{
	memmove(&s->r[i + 1], &s->r[j], (s->n - j) * sizeof(s->r[0]));
	s->r[i] = by;
	s->n = s->n - (j - i) + 1;
}

bool
iw_range_add(struct iw_range_set *s, uint32_t from, uint32_t to)
{
	uint32_t i = first_ending_at(s, from), j = i;

	if (iw_seq_geq(from, to))
		return true;
	while (j < s->n && iw_seq_leq(s->r[j].from, to))
		j++;
	if (i == j && s->n == IW_RANGE_MAX)
		return false;
	if (i < j) {
		from = iw_seq_min(from, s->r[i].from);
		to = iw_seq_max(to, s->r[j - 1].to);
	}
	replace(s, i, j, (struct iw_range){.from = from, .to = to});
	assert(s->n <= IW_RANGE_MAX);
	return true;
}

void
iw_range_trim(struct iw_range_set *s, uint32_t to)
{
	uint32_t gone = 0;

	while (gone < s->n && iw_seq_leq(s->r[gone].to, to))
		gone++;
	s->n -= gone;
	memmove(&s->r[0], &s->r[gone], s->n * sizeof(s->r[0]));
	if (s->n > 0)
		s->r[0].from = iw_seq_max(s->r[0].from, to);
}

bool
iw_range_covers(const struct iw_range_set *s, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (iw_seq_leq(s->r[i].from, from) && iw_seq_leq(to, s->r[i].to))
			return true;
	return iw_seq_geq(from, to);
}

uint32_t
iw_range_overlap(const struct iw_range_set *s, uint32_t from, uint32_t to)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t a = iw_seq_max(s->r[i].from, from), b = iw_seq_min(s->r[i].to, to);

		if (iw_seq_lt(a, b))
			total += b - a;
	}
	return total;
}

uint32_t
iw_range_total(const struct iw_range_set *s)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < s->n; i++)
		total += s->r[i].to - s->r[i].from;
	return total;
}
