/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive queue with its pools, packets to put in, and what to look at: shared by the tests of tcp_rxq. */
#ifndef RXQ_BENCH_H
#define RXQ_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mbufpool.h"
#include "tcp_rxq.h"

#define ROOM 2048
#define HDR 54 /* octets in front of the payload in the packets made here */

static struct rte_mempool *rx_pool, *data_pool;
static struct tcp_rxq_pool p;
static struct tcp_rxq q;

static inline void
open_queue(uint32_t nodes, uint32_t max_ooo, uint32_t conns, uint32_t nxt)
{
	rx_pool = mbufpool_create("rx", ROOM, 0);
	data_pool = mbufpool_create("data", ROOM, 0);
	assert_int_equal(tcp_rxq_pool_init(&p, data_pool, nodes, max_ooo, conns), 0);
	tcp_rxq_init(&q, nxt);
}

/* Every mbuf and node has to be back. */
static inline void
close_queue(void)
{
	tcp_rxq_fini(&q, &p);
	assert_int_equal(p.nodes_used, 0);
	assert_int_equal(p.ooo_mbufs, 0);
	tcp_rxq_pool_fini(&p);
	mbufpool_destroy(rx_pool);
	mbufpool_destroy(data_pool);
}

/* A packet whose payload is len octets; octet i of it is fill + i.  cut: octets in each mbuf segment. */
static inline struct rte_mbuf *
packet(uint32_t len, uint8_t fill, uint32_t cut)
{
	struct rte_mbuf *head = NULL, *tail = NULL;

	for (uint32_t at = 0; at < HDR + len;) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(rx_pool);
		uint32_t n = HDR + len - at < cut ? HDR + len - at : cut;
		uint8_t *d = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)n);

		for (uint32_t i = 0; i < n; i++)
			d[i] = (uint8_t)(at + i < HDR ? 0xee : fill + at + i - HDR);
		at += n;
		if (tail) {
			tail->next = m;
			head->nb_segs++;
			head->pkt_len += n;
		} else {
			head = m;
		}
		tail = m;
	}
	return head;
}

/* Puts a packet of packet() in. */
static inline struct tcp_rxq_added
put(struct tcp_rxq *to, struct rte_mbuf *m, uint32_t len, uint32_t seq, uint32_t edge)
{
	return tcp_rxq_add(to, &p, &(struct iw_view){.m = m, .off = HDR, .len = len}, seq, edge);
}

/* Content is a function of the sequence number. */
static inline struct tcp_rxq_added
add(struct tcp_rxq *to, uint32_t seq, uint32_t len)
{
	return put(to, packet(len, (uint8_t)seq, ROOM), len, seq, to->nxt + (1u << 20));
}

/* Reads and takes away n octets and compares them with their sequence numbers. */
static inline void
read_and_check(struct tcp_rxq *from, uint32_t n)
{
	struct iw_view views[512];
	uint32_t count = tcp_rxq_peek(from, views, 512), at = 0, seq = from->nxt - from->octets;

	for (uint32_t i = 0; i < count && at < n; i++)
		for (uint32_t j = 0; j < views[i].len && at < n; j++, at++)
			assert_int_equal(iw_view_data(&views[i])[j], (uint8_t)(seq + at));
	assert_int_equal(at, n);
	tcp_rxq_consume(from, &p, n);
}

static inline void
assert_blocks(uint32_t max, uint32_t n, const struct iw_range *want)
{
	struct iw_range got[4];

	assert_int_equal(tcp_rxq_sack(&q, got, max), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(got[i].from, want[i].from);
		assert_int_equal(got[i].to, want[i].to);
	}
}

#define BLOCKS(...)               \
	(const struct iw_range[]) \
	{                         \
		__VA_ARGS__       \
	}

#endif
