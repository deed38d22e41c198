/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
test_sizes_are_powers_of_two(void **state)
{
	static const uint32_t rows[][2] = {{0, 1},
					   {1, 1},
					   {2, 2},
					   {3, 4},
					   {4, 4},
					   {5, 8},
					   {1000, 1024},
					   {1u << 31, 1u << 31},
					   {(1u << 30) + 1, 1u << 31}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(iw_ring_size(rows[i][0]), rows[i][1]);
}

/* Counts stay right when the 32-bit positions wrap. */
static void
test_full_and_empty_across_the_wrap(void **state)
{
	struct iw_ring r;

	(void)state;
	iw_ring_init(&r, 4);
	r.head = r.tail = 0xfffffffe;
	assert_int_equal(iw_ring_count(&r), 0);
	for (uint32_t i = 1; i <= 4; i++) {
		iw_ring_produce(&r, 1);
		assert_int_equal(iw_ring_count(&r), i);
		assert_int_equal(iw_ring_space(&r), 4 - i);
	}
	assert_int_equal(iw_ring_slot(&r, 0xffffffff), 3);
	assert_int_equal(iw_ring_slot(&r, 0), 0);
	iw_ring_consume(&r, 3);
	assert_int_equal(iw_ring_count(&r), 1);
	assert_int_equal(iw_ring_space(&r), 3);
}

#define RECORDS 200000u
static struct iw_ring shared;
static uint64_t record[64];

static void *
produce_all(void *arg)
{
	(void)arg;
	for (uint64_t i = 0; i < RECORDS;) {
		if (iw_ring_space(&shared) == 0) {
			sched_yield();
			continue;
		}
		record[iw_ring_slot(&shared, shared.head)] = i++ * 3;
		iw_ring_produce(&shared, 1);
	}
	return NULL;
}

static void
test_two_threads_lose_nothing(void **state)
{
	pthread_t thread;

	(void)state;
	iw_ring_init(&shared, 64);
	assert_int_equal(pthread_create(&thread, NULL, produce_all, NULL), 0);
	for (uint64_t i = 0; i < RECORDS;) {
		if (iw_ring_count(&shared) == 0) {
			sched_yield();
			continue;
		}
		assert_int_equal(record[iw_ring_slot(&shared, shared.tail)], i++ * 3);
		iw_ring_consume(&shared, 1);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(iw_ring_count(&shared), 0);
	assert_int_equal(iw_ring_space(&shared), 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_are_powers_of_two),
		cmocka_unit_test(test_full_and_empty_across_the_wrap),
		cmocka_unit_test(test_two_threads_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
