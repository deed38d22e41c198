/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run must leave in memory, and that one octet which is not so is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data.h"

#define SIZE 13u
#define QPS 2u

static struct options o;
static uint8_t memory[2][2][QPS][SIZE + 3]; /* of two ends: out, in */
static struct peer ends[2];

/* peer.c's, for memory that is ours. */
uint8_t *
peer_out(const struct peer *p, uint32_t qp)
{
	return memory[p == &ends[1]][0][qp];
}

uint8_t *
peer_in(const struct peer *p, uint32_t qp)
{
	return memory[p == &ends[1]][1][qp];
}

static void
prepare(enum perf_verb verb, enum perf_test test, bool both)
{
	o = (struct options){.verb = verb, .test = test, .both_ways = both};
	memset(memory, 0xee, sizeof(memory));
	for (int i = 0; i < 2; i++) {
		ends[i] = (struct peer){.o = &o, .qps = QPS};
		data_prepare(&ends[i], SIZE, i == 0);
	}
}

static void
copy(uint8_t *to, const uint8_t *from)
{
	memcpy(to, from, SIZE);
}

/* As the verb moves it: from end `e`'s request. */
static void
move(int e)
{
	for (uint32_t q = 0; q < QPS; q++)
		if (o.verb == PERF_READ)
			copy(memory[e][0][q], memory[!e][1][q]);
		else
			copy(memory[!e][1][q], memory[e][0][q]);
}

static uint64_t
bad_of(uint64_t messages)
{
	return data_check(&ends[0], SIZE, true, messages) + data_check(&ends[1], SIZE, false, messages);
}

static uint64_t
bad(void)
{
	return bad_of(QPS);
}

static void
test_each_verb(void **state)
{
	static const enum perf_verb verbs[] = {PERF_WRITE, PERF_READ, PERF_SEND, PERF_WRITE_IMM};

	(void)state;
	for (int v = 0; v < 4; v++) {
		uint8_t *octet;

		prepare(verbs[v], PERF_BW, false);
		assert_int_equal(bad(), QPS * SIZE); /* nothing has come */
		move(0);
		assert_int_equal(bad(), 0);
		octet = verbs[v] == PERF_READ ? &memory[0][0][1][SIZE - 1] : &memory[1][1][1][SIZE - 1];
		*octet ^= 1;
		assert_int_equal(bad(), 1);
		assert_int_equal(memory[0][0][0][SIZE], 0xee); /* nothing behind the message was touched */
	}
}

static void
test_both_ways(void **state)
{
	(void)state;
	prepare(PERF_SEND, PERF_BW, true);
	move(0);
	assert_int_equal(bad(), QPS * SIZE);
	move(1);
	assert_int_equal(bad(), 0);
}

/* The last octet counts the messages. */
static void
test_latency(void **state)
{
	(void)state;
	prepare(PERF_WRITE, PERF_LAT, false);
	move(0);
	move(1);
	memory[1][1][0][SIZE - 1] ^= 1;
	assert_int_equal(bad(), 0);
	memory[1][1][0][0] ^= 1;
	assert_int_equal(bad(), 1);
	/* The QPs have their turns: fewer messages than QPs leave the last ones alone. */
	memory[1][1][QPS - 1][0] ^= 1;
	assert_int_equal(bad(), 2);
	assert_int_equal(bad_of(QPS - 1), 1);
}

static void
test_atomics(void **state)
{
	uint64_t n = 7;

	(void)state;
	o = (struct options){.verb = PERF_ATOMIC};
	data_prepare(&ends[1], 8, false);
	assert_int_equal(data_check(&ends[1], 8, false, 0), 0);
	memcpy(memory[1][1][0], &n, 8);
	memcpy(memory[1][1][1], &n, 8);
	assert_int_equal(data_check(&ends[1], 8, false, 14), 0);
	assert_int_equal(data_check(&ends[1], 8, false, 15), 1);
	assert_int_equal(data_check(&ends[1], 8, false, 12), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_verb),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_atomics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
