/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include <string.h>

#define WORD sizeof(uint64_t)

static uint64_t
word_of(uint32_t qp, uint32_t i)
{
	uint64_t x = (uint64_t)(qp + 1) << 32 | i;

	x *= UINT64_C(0x9e3779b97f4a7c15);
	return (x ^ x >> 29) | UINT64_C(0x0101010101010101); /* no octet is 0 */
}

/* A receive of a shared queue takes whatever comes: all QPs send the same. */
static uint32_t
pattern_of(const struct peer *p, uint32_t qp)
{
	return p->o->srq && perf_takes_recv(p->o->verb) ? 0 : qp;
}

static void
fill(uint8_t *p, uint32_t qp, uint32_t size)
{
	for (uint32_t at = 0; at < size; at += WORD) {
		uint64_t word = word_of(qp, at / WORD);

		memcpy(p + at, &word, size - at < WORD ? size - at : WORD);
	}
}

static uint64_t
count_bad(const uint8_t *p, uint32_t qp, uint32_t size)
{
	uint64_t bad = 0;

	for (uint32_t at = 0; at < size; at += WORD) {
		uint64_t word = word_of(qp, at / WORD);

		for (uint32_t i = 0; i < WORD && at + i < size; i++)
			bad += p[at + i] != ((const uint8_t *)&word)[i];
	}
	return bad;
}

void
data_prepare(struct peer *p, uint32_t size, bool initiates)
{
	bool read = p->o->verb == PERF_READ, source = p->o->both_ways || p->o->test == PERF_LAT || initiates != read,
	     sink = p->o->both_ways || p->o->test == PERF_LAT || initiates == read;

	for (uint32_t q = 0; q < p->qps; q++) {
		uint8_t *from = read ? peer_in(p, q) : peer_out(p, q), *to = read ? peer_out(p, q) : peer_in(p, q);

		if (p->o->verb == PERF_ATOMIC)
			memset(peer_in(p, q), 0, size);
		else if (source)
			fill(from, pattern_of(p, q), size);
		if (p->o->verb != PERF_ATOMIC && sink)
			memset(to, 0, size);
	}
}

static uint64_t
check_counters(const struct peer *p, uint64_t count)
{
	uint64_t sum = 0;

	for (uint32_t q = 0; q < p->qps; q++) {
		uint64_t n;

		memcpy(&n, peer_in(p, q), sizeof(n));
		sum += n;
	}
	return sum > count ? sum - count : count - sum;
}

uint64_t
data_check(const struct peer *p, uint32_t size, bool initiates, uint64_t count)
{
	bool read = p->o->verb == PERF_READ, lat = p->o->test == PERF_LAT;
	uint64_t bad = 0;

	if (p->o->verb == PERF_ATOMIC)
		return initiates ? 0 : check_counters(p, count);
	if (!p->o->both_ways && initiates != read && !(lat && !read))
		return 0;
	/* The last octet of a latency test says which message it is; few of them do not go round. */
	for (uint32_t q = 0; q < p->qps && (!lat || q < count); q++)
		bad += count_bad(read ? peer_out(p, q) : peer_in(p, q), pattern_of(p, q), lat ? size - 1 : size);
	return bad;
}
