/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of lib/net share: packets from hex, packets cut into segments, counters by name. */
#ifndef NET_TEST_H
#define NET_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>

#include "counter.h"
#include "mbufpool.h"

#define TEST_MAX 2048

struct bytes {
	uint32_t len;
	uint8_t b[TEST_MAX];
};

/* "0a 0b|0c": hex digits, everything else is decoration. */
static inline struct bytes
hex(const char *text)
{
	struct bytes out = {0};
	int high = -1;

	for (; *text; text++) {
		int v = *text >= '0' && *text <= '9'   ? *text - '0'
			: *text >= 'a' && *text <= 'f' ? *text - 'a' + 10
						       : -1;

		if (v < 0)
			continue;
		if (high < 0) {
			high = v;
			continue;
		}
		out.b[out.len++] = (uint8_t)(high << 4 | v);
		high = -1;
	}
	return out;
}

static inline struct rte_mbuf *
packet(struct rte_mempool *pool, const void *p, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	char *at = rte_pktmbuf_append(m, (uint16_t)len);

	assert_non_null(at);
	if (len)
		memcpy(at, p, len);
	return m;
}

/* The same in two segments, cut before octet `cut` (0..len). */
static inline struct rte_mbuf *
packet_cut(struct rte_mempool *pool, const uint8_t *p, uint32_t len, uint32_t cut)
{
	struct rte_mbuf *m = packet(pool, p, cut);

	assert_int_equal(rte_pktmbuf_chain(m, packet(pool, p + cut, len - cut)), 0);
	return m;
}

/* One segment for each octet. */
static inline struct rte_mbuf *
packet_crumbs(struct rte_mempool *pool, const uint8_t *p, uint32_t len)
{
	struct rte_mbuf *m = packet(pool, p, len ? 1 : 0);

	for (uint32_t i = 1; i < len; i++)
		assert_int_equal(rte_pktmbuf_chain(m, packet(pool, p + i, 1)), 0);
	return m;
}

static inline uint64_t
count_of(struct iw_counter_list list, const char *name)
{
	for (uint32_t i = 0; i < list.n; i++)
		if (strcmp(list.names[i] + strlen("net."), name) == 0)
			return list.values[i];
	fail_msg("no counter %s", name);
	return 0;
}

/* RFC 1071 §1 word for word, without any trick: the folded sum of big-endian words, the last one padded. */
static inline uint16_t
slow_sum(const uint8_t *p, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i += 2) {
		sum += (uint32_t)p[i] << 8 | (i + 1 < len ? p[i + 1] : 0);
		if (sum > 0xffff)
			sum = (sum & 0xffff) + 1;
	}
	return (uint16_t)sum;
}

/* Writes a checksum over [from, from+len) to `at`. */
static inline void
slow_cksum_put(uint8_t *p, uint32_t from, uint32_t len, uint32_t at)
{
	uint16_t v;

	p[at] = p[at + 1] = 0;
	v = (uint16_t)~slow_sum(p + from, len);
	p[at] = (uint8_t)(v >> 8);
	p[at + 1] = (uint8_t)v;
}

#endif
