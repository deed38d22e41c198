/* SPDX-License-Identifier: BSD-3-Clause */
#include "range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define SPACE 256 /* serial numbers that the model covers, from a base that makes them wrap */

static uint32_t
next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* Runs of ones in the model. */
static uint32_t
model_runs(const bool *in)
{
	uint32_t runs = 0;

	for (uint32_t i = 0; i < SPACE; i++)
		runs += in[i] && (i == 0 || !in[i - 1]);
	return runs;
}

static void
assert_same(const struct iw_range_set *s, const bool *in, uint32_t base)
{
	uint32_t at = 0, total = 0;

	assert_int_equal(s->n, model_runs(in));
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t from = s->r[i].from - base, to = s->r[i].to - base;

		assert_true(from < to && to <= SPACE && (i == 0 || from > at));
		for (; at < from; at++)
			assert_false(in[at]);
		for (; at < to; at++)
			assert_true(in[at]);
		total += to - from;
	}
	for (; at < SPACE; at++)
		assert_false(in[at]);
	assert_int_equal(iw_range_total(s), total);
}

static void
assert_questions(const struct iw_range_set *s, const bool *in, uint32_t base, uint32_t a, uint32_t b)
{
	uint32_t n = 0;

	for (uint32_t i = a; i < b; i++)
		n += in[i];
	assert_int_equal(iw_range_overlap(s, base + a, base + b), n);
	assert_int_equal(iw_range_covers(s, base + a, base + b), n == b - a);
}

static void
model_add(struct iw_range_set *s, bool *in, uint32_t base, uint32_t a, uint32_t b)
{
	bool then[SPACE];

	memcpy(then, in, sizeof(then));
	for (uint32_t i = a; i < b; i++)
		then[i] = true;
	if (iw_range_add(s, base + a, base + b))
		memcpy(in, then, sizeof(then));
	else
		assert_true(model_runs(then) > IW_RANGE_MAX);
}

static void
test_against_a_bitmap(void **state)
{
	static const uint32_t bases[] = {0, 0xffffff80, 0x7fffff80, 0xffffffff};
	uint64_t seed = 1;

	(void)state;
	for (uint32_t round = 0; round < 400; round++) {
		uint32_t base = bases[round % 4], longest = 1 + next_random(&seed) % 20, trimmed = 0;
		struct iw_range_set s;
		bool in[SPACE] = {false};

		iw_range_init(&s);
		for (uint32_t step = 0; step < 120; step++) {
			uint32_t a = trimmed + next_random(&seed) % (SPACE - trimmed);
			uint32_t b = a + next_random(&seed) % longest;

			b = b > SPACE ? SPACE : b;
			model_add(&s, in, base, a, b);
			if (step % 16 == 15) {
				trimmed += next_random(&seed) % 8;
				iw_range_trim(&s, base + trimmed);
				memset(in, 0, trimmed);
			}
			assert_same(&s, in, base);
			assert_questions(&s, in, base, next_random(&seed) % 128, 128 + next_random(&seed) % 128);
			assert_questions(&s, in, base, a, b);
		}
	}
}

/* A full set refuses a new range, stays as it was, and still takes what merges. */
static void
test_full(void **state)
{
	struct iw_range_set s, before;

	(void)state;
	iw_range_init(&s);
	for (uint32_t i = 0; i < IW_RANGE_MAX; i++)
		assert_true(iw_range_add(&s, 10 * i, 10 * i + 5));
	before = s;
	assert_false(iw_range_add(&s, 7, 8));
	assert_false(iw_range_add(&s, 10 * IW_RANGE_MAX, 10 * IW_RANGE_MAX + 1));
	assert_memory_equal(&s, &before, sizeof(s));
	assert_true(iw_range_add(&s, 5, 6)); /* touches the first */
	assert_int_equal(s.n, IW_RANGE_MAX);
	assert_int_equal(s.r[0].to, 6);
	assert_true(iw_range_add(&s, 6, 10)); /* joins two */
	assert_int_equal(s.n, IW_RANGE_MAX - 1);
	assert_true(iw_range_add(&s, 0, 10 * IW_RANGE_MAX)); /* swallows all */
	assert_int_equal(s.n, 1);
	assert_int_equal(iw_range_total(&s), 10 * IW_RANGE_MAX);
}

static void
test_empty_ranges_add_nothing(void **state)
{
	struct iw_range_set s;

	(void)state;
	iw_range_init(&s);
	assert_true(iw_range_add(&s, 5, 5));
	assert_true(iw_range_add(&s, 5, 4));
	assert_int_equal(s.n, 0);
	assert_int_equal(iw_range_total(&s), 0);
	assert_int_equal(iw_range_overlap(&s, 0, 100), 0);
	assert_true(iw_range_covers(&s, 3, 3));
	assert_false(iw_range_covers(&s, 3, 4));
	iw_range_trim(&s, 100);
	assert_int_equal(s.n, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_a_bitmap),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_empty_ranges_add_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
