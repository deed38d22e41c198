/* SPDX-License-Identifier: BSD-3-Clause */
#include "hist.h"

#include <string.h>

#define SHIFT 6 /* log2 of HIST_STEPS */
#define LAST (HIST_POWERS * HIST_STEPS - 1)

/* Values below HIST_STEPS have a slot each; above, the 6 bits behind the highest choose one of the power's 64. */
static uint32_t
slot_of(uint64_t value)
{
	uint32_t power, slot;

	if (value < HIST_STEPS)
		return (uint32_t)value;
	power = 63 - (uint32_t)__builtin_clzll(value);
	slot = (power - SHIFT + 1) * HIST_STEPS + (uint32_t)((value >> (power - SHIFT)) & (HIST_STEPS - 1));
	return slot < LAST ? slot : LAST;
}

/* The largest value of a slot. */
static uint64_t
top_of(uint32_t slot)
{
	uint32_t power = slot / HIST_STEPS;

	if (power == 0)
		return slot;
	return ((uint64_t)(HIST_STEPS + slot % HIST_STEPS + 1) << (power - 1)) - 1;
}

void
hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void
hist_add(struct hist *h, uint64_t value)
{
	h->count[slot_of(value)]++;
	h->samples++;
	h->sum += value;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

uint64_t
hist_at(const struct hist *h, double share)
{
	uint64_t wanted = (uint64_t)(share * (double)h->samples), seen = 0;

	if (h->samples == 0)
		return 0;
	if (wanted == 0)
		wanted = 1;
	for (uint32_t i = 0; i <= LAST; i++) {
		seen += h->count[i];
		if (seen >= wanted)
			return top_of(i) < h->max ? top_of(i) : h->max;
	}
	return h->max;
}

double
hist_mean(const struct hist *h)
{
	return h->samples ? (double)h->sum / (double)h->samples : 0;
}

void
hist_merge(struct hist *h, const struct hist *other)
{
	for (uint32_t i = 0; i <= LAST; i++)
		h->count[i] += other->count[i];
	h->samples += other->samples;
	h->sum += other->sum;
	h->min = other->min < h->min ? other->min : h->min;
	h->max = other->max > h->max ? other->max : h->max;
}
