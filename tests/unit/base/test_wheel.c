/* SPDX-License-Identifier: BSD-3-Clause */
#include "wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define TICK (UINT64_C(1) << IW_WHEEL_TICK_SHIFT)
#define TIMERS 64

static struct iw_wheel wheel;

static uint64_t
next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 20;
}

/* The naive model: when each timer is due, IW_NEVER: not armed; and the first tick not yet looked at. */
struct model {
	struct iw_timer timer[TIMERS];
	uint64_t at[TIMERS];
	uint64_t tick;
	uint64_t now;
};

/* The moment from which the timer must be returned: the first tick at or after its deadline that was not looked
 * at before it was armed. */
static uint64_t
model_fires(const struct model *m, uint32_t i)
{
	uint64_t tick = (m->at[i] + TICK - 1) / TICK;

	return m->at[i] == IW_NEVER ? IW_NEVER : (tick > m->tick ? tick : m->tick) * TICK;
}

static uint64_t
model_deadline(const struct model *m)
{
	uint64_t least = IW_NEVER;

	for (uint32_t i = 0; i < TIMERS; i++)
		least = iw_time_min(least, model_fires(m, i));
	return least;
}

static void
model_arm(struct model *m, uint32_t i, uint64_t at)
{
	m->at[i] = at;
	iw_wheel_arm(&wheel, &m->timer[i], at);
	assert_int_equal(iw_wheel_is_armed(&m->timer[i]), at != IW_NEVER);
}

static uint32_t
model_armed(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < TIMERS; i++)
		n += m->at[i] != IW_NEVER;
	return n;
}

/* Moves now and pops: exactly the timers of the model come, each once. */
static void
model_advance(struct model *m, uint64_t now)
{
	uint32_t want = 0, got = 0;
	struct iw_timer *t;

	m->now = now;
	for (uint32_t i = 0; i < TIMERS; i++)
		want += model_fires(m, i) <= now;
	while ((t = iw_wheel_due(&wheel, now)) != NULL) {
		uint32_t i = (uint32_t)(t - m->timer);

		assert_true(i < TIMERS && model_fires(m, i) <= now && m->at[i] <= now);
		assert_int_equal(t->at_ns, m->at[i]);
		assert_false(iw_wheel_is_armed(t));
		m->at[i] = IW_NEVER;
		got++;
	}
	assert_int_equal(got, want);
	m->tick = now / TICK + 1 > m->tick ? now / TICK + 1 : m->tick;
	assert_int_equal(wheel.armed, model_armed(m));
}

static void
model_init(struct model *m, uint64_t now)
{
	memset(m, 0, sizeof(*m));
	memset(m->at, 0xff, sizeof(m->at));
	iw_wheel_init(&wheel, now);
	m->now = now;
	m->tick = now / TICK;
}

/* Spans that reach every level and beyond the epoch. */
static uint64_t
random_span(uint64_t *seed)
{
	return next_random(seed) % (UINT64_C(1) << (1 + next_random(seed) % 50));
}

static void
random_step(struct model *m, uint64_t *seed)
{
	uint32_t i = (uint32_t)(next_random(seed) % TIMERS);
	uint64_t back = next_random(seed) % (4 * TICK), deadline = iw_wheel_deadline(&wheel);

	switch (next_random(seed) % 8) {
	case 0:
		model_arm(m, i, m->now > back ? m->now - back : 0);
		break;
	case 1:
		m->at[i] = IW_NEVER;
		iw_wheel_cancel(&wheel, &m->timer[i]);
		break;
	case 2:
		if (deadline != IW_NEVER && deadline > m->now)
			model_advance(m, deadline);
		break;
	case 3:
		model_advance(m, m->now + random_span(seed));
		break;
	default:
		model_arm(m, i, m->now + random_span(seed));
		break;
	}
}

static void
test_against_a_model(void **state)
{
	static const uint64_t starts[] = {
		0, 1, TICK - 1, 255 * TICK, UINT64_C(0xffffff) * TICK, UINT64_C(0xfffffff0) * TICK, UINT64_C(1) << 60};
	struct model m;

	(void)state;
	for (uint64_t round = 0; round < 70; round++) {
		uint64_t seed = round + 1;

		model_init(&m, starts[round % 7] + round);
		for (int step = 0; step < 1500 && m.now < UINT64_C(1) << 62; step++) {
			random_step(&m, &seed);
			assert_true(iw_wheel_deadline(&wheel) <= model_deadline(&m));
			assert_true(model_armed(&m) > 0 || wheel.armed == 0);
		}
	}
}

/* Sleeping until the deadline each time arrives at the timer, in few steps, at its tick and not before. */
static void
test_deadline_leads_to_the_timer(void **state)
{
	static const uint64_t spans[] = {
		0, 1, TICK, 255 * TICK, 256 * TICK, 65536 * TICK + 1, 7200 * IW_SEC, 100000 * IW_SEC, 1000000 * IW_SEC};

	(void)state;
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		struct iw_timer t = {.at_ns = 0};
		uint64_t now = 12345678901, at = now + spans[i], last = now;
		int steps = 0;

		iw_wheel_init(&wheel, now);
		iw_wheel_arm(&wheel, &t, at);
		while (!iw_wheel_due(&wheel, now)) {
			now = iw_wheel_deadline(&wheel);
			assert_true(now > last);
			last = now;
			assert_true(++steps <= 100);
		}
		assert_true(now >= at && now < at + TICK);
		assert_int_equal(iw_wheel_deadline(&wheel), IW_NEVER);
	}
}

/* Moved later: the wheel is not touched, the bound stays early, the timer comes late.  Moved earlier: at once. */
static void
test_rearm(void **state)
{
	struct iw_timer t = {.at_ns = 0};

	(void)state;
	iw_wheel_init(&wheel, 0);
	iw_wheel_arm(&wheel, &t, 10 * TICK);
	for (uint64_t k = 11; k < 300; k++)
		iw_wheel_arm(&wheel, &t, k * TICK);
	assert_int_equal(wheel.armed, 1);
	assert_int_equal(iw_wheel_deadline(&wheel), 10 * TICK);
	assert_null(iw_wheel_due(&wheel, 10 * TICK));
	assert_true(iw_wheel_deadline(&wheel) > 10 * TICK);
	assert_null(iw_wheel_due(&wheel, 299 * TICK - 1));
	iw_wheel_arm(&wheel, &t, 1000 * TICK);
	iw_wheel_arm(&wheel, &t, 350 * TICK);
	assert_null(iw_wheel_due(&wheel, 350 * TICK - 1));
	assert_ptr_equal(iw_wheel_due(&wheel, 350 * TICK), &t);
	assert_null(iw_wheel_due(&wheel, 350 * TICK));
}

/* Handlers move and cancel others that are due at the same moment. */
static void
test_due_ones_can_be_moved_and_cancelled(void **state)
{
	struct iw_timer t[4];

	(void)state;
	memset(t, 0, sizeof(t));
	iw_wheel_init(&wheel, 0);
	for (int i = 0; i < 4; i++)
		iw_wheel_arm(&wheel, &t[i], TICK);
	assert_ptr_equal(iw_wheel_due(&wheel, TICK), &t[0]);
	assert_true(iw_wheel_deadline(&wheel) <= TICK);
	iw_wheel_arm(&wheel, &t[1], 5 * TICK);
	iw_wheel_cancel(&wheel, &t[2]);
	iw_wheel_arm(&wheel, &t[3], 0); /* earlier than it was: still due, now */
	assert_ptr_equal(iw_wheel_due(&wheel, TICK), &t[3]);
	assert_null(iw_wheel_due(&wheel, TICK));
	assert_int_equal(wheel.armed, 1);
	assert_ptr_equal(iw_wheel_due(&wheel, 5 * TICK), &t[1]);
	assert_int_equal(wheel.armed, 0);
}

/* One that arms itself for the past cannot keep its owner popping for ever. */
static void
test_armed_for_the_past_comes_once_a_tick(void **state)
{
	struct iw_timer t = {.at_ns = 0};

	(void)state;
	iw_wheel_init(&wheel, 0);
	iw_wheel_arm(&wheel, &t, 0);
	for (uint64_t now = 0; now < 1000 * TICK; now += 100 * TICK) {
		assert_ptr_equal(iw_wheel_due(&wheel, now), &t);
		iw_wheel_arm(&wheel, &t, now / 2);
		assert_null(iw_wheel_due(&wheel, now));
		assert_null(iw_wheel_due(&wheel, now + TICK - 1));
		assert_ptr_equal(iw_wheel_due(&wheel, now + TICK), &t);
		iw_wheel_arm(&wheel, &t, 0);
	}
}

/* A cancelled timer leaves no early wake-up behind. */
static void
test_cancel_clears_the_deadline(void **state)
{
	struct iw_timer t[2];

	(void)state;
	memset(t, 0, sizeof(t));
	iw_wheel_init(&wheel, 0);
	iw_wheel_arm(&wheel, &t[0], 3 * TICK);
	iw_wheel_arm(&wheel, &t[1], 300 * TICK);
	iw_wheel_cancel(&wheel, &t[0]);
	iw_wheel_cancel(&wheel, &t[0]);
	assert_true(iw_wheel_deadline(&wheel) > 3 * TICK);
	iw_wheel_arm(&wheel, &t[1], IW_NEVER);
	assert_int_equal(iw_wheel_deadline(&wheel), IW_NEVER);
	assert_null(iw_wheel_due(&wheel, IW_SEC));
}

/* The last slot of a round, and timers in it that were moved to the last one of the next: it is the same slot. */
static void
test_moved_by_one_round(void **state)
{
	static const uint64_t rounds[] = {1, 3, 256, 65536, UINT64_C(1) << 24, UINT64_C(3) << 24};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		uint64_t end = 256 * rounds[i] - 1;
		struct iw_timer t[2];

		memset(t, 0, sizeof(t));
		iw_wheel_init(&wheel, (end - 9) * TICK);
		for (uint32_t k = 0; k < 2; k++) {
			iw_wheel_arm(&wheel, &t[k], end * TICK);
			iw_wheel_arm(&wheel, &t[k], (end + 256) * TICK - k);
		}
		assert_null(iw_wheel_due(&wheel, end * TICK));
		assert_true(iw_wheel_deadline(&wheel) > end * TICK);
		assert_null(iw_wheel_due(&wheel, (end + 256) * TICK - 1));
		assert_ptr_equal(iw_wheel_due(&wheel, (end + 256) * TICK), &t[0]);
		assert_ptr_equal(iw_wheel_due(&wheel, (end + 256) * TICK), &t[1]);
		assert_int_equal(iw_wheel_deadline(&wheel), IW_NEVER);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_a_model),
		cmocka_unit_test(test_deadline_leads_to_the_timer),
		cmocka_unit_test(test_rearm),
		cmocka_unit_test(test_due_ones_can_be_moved_and_cancelled),
		cmocka_unit_test(test_armed_for_the_past_comes_once_a_tick),
		cmocka_unit_test(test_cancel_clears_the_deadline),
		cmocka_unit_test(test_moved_by_one_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
