/* SPDX-License-Identifier: BSD-3-Clause */
#include "wheel.h"

#include <assert.h>

#define DIGIT_MASK (IW_WHEEL_SLOTS - 1)
#define EPOCH_MASK ((UINT64_C(1) << (IW_WHEEL_BITS * IW_WHEEL_LEVELS)) - 1)

/* A non-empty slot (or one whose timers were cancelled) and the tick at which it must be looked at. */
struct stop {
	uint64_t tick;
	uint32_t level, index;
};

/* The first tick that does not begin before ns: a timer filed there never fires early. */
static uint64_t
tick_up(uint64_t ns)
{
	return (ns >> IW_WHEEL_TICK_SHIFT) + ((ns & ((1u << IW_WHEEL_TICK_SHIFT) - 1)) != 0);
}

static uint32_t
digit(uint64_t tick, uint32_t level)
{
	return (uint32_t)(tick >> (level * IW_WHEEL_BITS)) & DIGIT_MASK;
}

void
iw_wheel_init(struct iw_wheel *w, uint64_t now_ns)
{
	for (uint32_t level = 0; level < IW_WHEEL_LEVELS; level++) {
		for (uint32_t i = 0; i < IW_WHEEL_SLOTS; i++)
			iw_list_init(&w->slot[level][i]);
		for (uint32_t i = 0; i < IW_WHEEL_SLOTS / 64; i++)
			w->bitmap[level][i] = 0;
	}
	iw_list_init(&w->due);
	w->tick = now_ns >> IW_WHEEL_TICK_SHIFT;
	w->next = UINT64_MAX;
	w->armed = 0;
}

/* Files it in the level of the highest digit in which its tick differs from w->tick; what lies behind this epoch
 * (2^32 ticks, 19 hours) waits in the epoch's last tick and is filed again from there. */
static void
file(struct iw_wheel *w, struct iw_timer *t)
{
	uint64_t tick = tick_up(t->at_ns) > w->tick ? tick_up(t->at_ns) : w->tick;
	uint32_t level = 0, index;
	uint64_t begin;

	if ((tick ^ w->tick) > EPOCH_MASK)
		tick = w->tick | EPOCH_MASK;
	if (tick != w->tick)
		level = (63 - (uint32_t)__builtin_clzll(tick ^ w->tick)) / IW_WHEEL_BITS;
	index = digit(tick, level);
	begin = tick >> (level * IW_WHEEL_BITS) << (level * IW_WHEEL_BITS);
	if (begin < w->next)
		w->next = begin;
	t->slot_at = tick;
	iw_list_add(&w->slot[level][index], &t->link);
	w->bitmap[level][index / 64] |= UINT64_C(1) << (index % 64);
}

static void
stop_clear(struct iw_wheel *w, uint32_t level, uint32_t index)
{
	w->bitmap[level][index / 64] &= ~(UINT64_C(1) << (index % 64));
}

/* Takes it out; when it was the last of its slot, the link that is left is that slot's head and tells which. */
static void
unfile(struct iw_wheel *w, struct iw_timer *t)
{
	struct iw_list *list = iw_list_entry(t->link.next, struct iw_list, head);
	bool last = t->link.next == t->link.prev && list != &w->due;

	iw_list_del(&t->link);
	if (last && iw_list_empty(list)) {
		uint32_t at = (uint32_t)(list - &w->slot[0][0]);

		assert(at < IW_WHEEL_LEVELS * IW_WHEEL_SLOTS);
		stop_clear(w, at / IW_WHEEL_SLOTS, at % IW_WHEEL_SLOTS);
	}
}

void
iw_wheel_cancel(struct iw_wheel *w, struct iw_timer *t)
{
	if (!iw_wheel_is_armed(t))
		return;
	unfile(w, t);
	w->armed--;
}

void
iw_wheel_arm(struct iw_wheel *w, struct iw_timer *t, uint64_t at_ns)
{
	if (at_ns == IW_NEVER) {
		iw_wheel_cancel(w, t);
		return;
	}
	t->at_ns = at_ns;
	if (iw_wheel_is_armed(t)) {
		if (tick_up(at_ns) >= t->slot_at)
			return;
		unfile(w, t);
		w->armed--;
	}
	file(w, t);
	w->armed++;
}

/* The first marked slot of a level at or after index from; IW_WHEEL_SLOTS when there is none. */
static uint32_t
stop_index(const struct iw_wheel *w, uint32_t level, uint32_t from)
{
	uint64_t bits = w->bitmap[level][from / 64] & (UINT64_MAX << (from % 64));

	for (uint32_t word = from / 64;;) {
		if (bits)
			return word * 64 + (uint32_t)__builtin_ctzll(bits);
		if (++word == IW_WHEEL_SLOTS / 64)
			return IW_WHEEL_SLOTS;
		bits = w->bitmap[level][word];
	}
}

/* The earliest marked slot; of two at one tick the higher level, which may spill into the lower.  A slot of a
 * level above 0 that stands at w->tick's own digit has its beginning exactly there and was not spilled yet. */
static bool
stop_next(const struct iw_wheel *w, struct stop *stop)
{
	bool found = false;

	for (uint32_t level = IW_WHEEL_LEVELS; level-- > 0;) {
		uint32_t shift = level * IW_WHEEL_BITS;
		uint32_t index = stop_index(w, level, digit(w->tick, level));
		uint64_t block = w->tick >> shift & ~(uint64_t)DIGIT_MASK;
		uint64_t tick = (block | index) << shift;

		if (index < IW_WHEEL_SLOTS && (!found || tick < stop->tick)) {
			*stop = (struct stop){.tick = tick, .level = level, .index = index};
			found = true;
		}
	}
	return found;
}

/* Empties a slot: to `due` what is due at now_tick, down or along what is not.  What is filed again may come behind the
 * last one of the same slot: out of tick 255 of one round into tick 255 of the next. */
static void
stop_spill(struct iw_wheel *w, const struct stop *stop, uint64_t now_tick)
{
	struct iw_list *list = &w->slot[stop->level][stop->index];
	const struct iw_link *last = list->head.prev;
	struct iw_link *n = NULL;

	w->tick = stop->level == 0 ? stop->tick + 1 : stop->tick;
	stop_clear(w, stop->level, stop->index);
	while (n != last && (n = iw_list_pop(list)) != NULL) {
		struct iw_timer *t = iw_list_entry(n, struct iw_timer, link);

		if (tick_up(t->at_ns) > now_tick) {
			file(w, t);
			continue;
		}
		t->slot_at = 0; /* whatever it is moved to, it stays in `due` until it is popped */
		iw_list_add(&w->due, &t->link);
	}
}

/* Looks at every tick up to now_tick; the work is bounded by the timers that are armed, not by the time. */
static void
advance(struct iw_wheel *w, uint64_t now_tick)
{
	struct stop stop;
	bool found;

	while ((found = stop_next(w, &stop)) && stop.tick <= now_tick)
		stop_spill(w, &stop, now_tick);
	w->tick = now_tick + 1;
	w->next = found ? stop.tick : UINT64_MAX;
}

struct iw_timer *
iw_wheel_pop(struct iw_wheel *w, uint64_t now_ns)
{
	uint64_t now_tick = now_ns >> IW_WHEEL_TICK_SHIFT;
	struct iw_link *n;

	if (now_tick >= w->tick)
		advance(w, now_tick);
	while ((n = iw_list_pop(&w->due)) != NULL) {
		struct iw_timer *t = iw_list_entry(n, struct iw_timer, link);

		if (tick_up(t->at_ns) < w->tick) {
			w->armed--;
			return t;
		}
		file(w, t); /* was moved later after it had become due */
	}
	return NULL;
}

uint64_t
iw_wheel_deadline(const struct iw_wheel *w)
{
	struct stop stop;

	if (!iw_list_empty(&w->due))
		return (w->tick - 1) << IW_WHEEL_TICK_SHIFT;
	return stop_next(w, &stop) ? stop.tick << IW_WHEEL_TICK_SHIFT : IW_NEVER;
}
