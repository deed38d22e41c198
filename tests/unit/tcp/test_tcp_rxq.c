/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec T28 (our side), T29, T30; design D13, D19; security X2; RFC 2018 §4, RFC 2883 §4. */
#include "tcp_rxq.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "env.h"
#include "mbufpool.h"
#include "seq.h"

#define ROOM 2048
#define HDR 54 /* octets in front of the payload in the packets made here */

static struct rte_mempool *rx_pool, *data_pool;
static struct tcp_rxq_pool p;
static struct tcp_rxq q;

static void
open_queue(uint32_t nodes, uint32_t max_ooo, uint32_t conns, uint32_t nxt)
{
	rx_pool = mbufpool_create("rx", ROOM, 0);
	data_pool = mbufpool_create("data", ROOM, 0);
	assert_int_equal(tcp_rxq_pool_init(&p, data_pool, nodes, max_ooo, conns), 0);
	tcp_rxq_init(&q, nxt);
}

/* Every mbuf and node has to be back. */
static void
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
static struct rte_mbuf *
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

/* Content is a function of the sequence number. */
static struct tcp_rxq_added
add(struct tcp_rxq *to, uint32_t seq, uint32_t len)
{
	return tcp_rxq_add(to, &p, packet(len, (uint8_t)seq, ROOM), HDR, len, seq, to->nxt + (1u << 20));
}

/* Reads and takes away n octets and compares them with their sequence numbers. */
static void
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

static void
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

static void
test_in_order_peek_consume(void **state)
{
	struct iw_view v[4];

	(void)state;
	open_queue(16, 8, 2, 0xfffffff0u);
	assert_int_equal(tcp_rxq_peek(&q, v, 4), 0);
	assert_int_equal(add(&q, 0xfffffff0u, 10).verdict, TCP_RXQ_IN_ORDER);
	assert_int_equal(add(&q, 0xfffffffau, 20).advanced, 20);
	assert_int_equal(q.nxt, 14);
	assert_int_equal(q.octets, 30);
	assert_int_equal(tcp_rxq_peek(&q, v, 1), 1);
	assert_int_equal(v[0].len, 10);
	assert_int_equal(v[0].off, HDR);
	read_and_check(&q, 3);
	assert_int_equal(mbufpool_in_use(rx_pool), 2);
	read_and_check(&q, 7);
	assert_int_equal(mbufpool_in_use(rx_pool), 1);
	read_and_check(&q, 20);
	assert_int_equal(mbufpool_in_use(rx_pool), 0);
	assert_int_equal(add(&q, 14, 1).verdict, TCP_RXQ_IN_ORDER); /* the tail was right */
	read_and_check(&q, 1);
	close_queue();
}

static void
test_a_packet_in_segments_is_a_node_each(void **state)
{
	struct iw_view v[16];

	(void)state;
	open_queue(64, 8, 2, 0);
	/* 54 octets of header and 46 of payload in segments of 10: 5 segments of header only, 5 with payload. */
	assert_int_equal(tcp_rxq_add(&q, &p, packet(46, 0, 10), HDR, 46, 0, 1000).verdict, TCP_RXQ_IN_ORDER);
	assert_int_equal(q.mbufs, 5);
	assert_int_equal(mbufpool_in_use(rx_pool), 5);
	assert_int_equal(tcp_rxq_peek(&q, v, 16), 5);
	assert_int_equal(v[0].off, 4);
	read_and_check(&q, 46);
	close_queue();
}

static void
test_edge_of_the_window(void **state)
{
	(void)state;
	open_queue(16, 8, 2, 0xffffff00u);
	assert_int_equal(tcp_rxq_add(&q, &p, packet(10, 0, ROOM), HDR, 10, 100, 100).verdict, TCP_RXQ_OUTSIDE);
	assert_int_equal(tcp_rxq_add(&q, &p, packet(10, 0, ROOM), HDR, 10, 101, 100).verdict, TCP_RXQ_OUTSIDE);
	assert_int_equal(tcp_rxq_add(&q, &p, packet(10, 95, ROOM), HDR, 10, 95, 100).verdict, TCP_RXQ_OOO);
	assert_blocks(4, 1, BLOCKS({95, 100}));
	assert_int_equal(tcp_rxq_add(&q, &p, packet(400, 0, ROOM), HDR, 400, 0xffffff00u, 100).advanced, 356);
	assert_int_equal(q.nxt, 100);
	read_and_check(&q, 356);
	/* Window 0: nothing goes in; a duplicate is one all the same. */
	assert_int_equal(tcp_rxq_add(&q, &p, packet(1, 100, ROOM), HDR, 1, 100, 100).verdict, TCP_RXQ_OUTSIDE);
	assert_int_equal(tcp_rxq_add(&q, &p, packet(1, 99, ROOM), HDR, 1, 99, 100).verdict, TCP_RXQ_DUP);
	close_queue();
}

/* RFC 2018 §4: the first block has the latest segment, then most recent first, at most max. */
static void
test_sack_blocks_most_recent_first(void **state)
{
	(void)state;
	open_queue(64, 32, 2, 5000);
	assert_int_equal(add(&q, 5500, 500).verdict, TCP_RXQ_OOO);
	assert_blocks(3, 1, BLOCKS({5500, 6000}));
	add(&q, 6500, 500);
	assert_blocks(3, 2, BLOCKS({6500, 7000}, {5500, 6000}));
	add(&q, 7500, 500);
	add(&q, 8500, 500);
	assert_blocks(3, 3, BLOCKS({8500, 9000}, {7500, 8000}, {6500, 7000}));
	assert_blocks(4, 4, BLOCKS({8500, 9000}, {7500, 8000}, {6500, 7000}, {5500, 6000}));
	add(&q, 6000, 500); /* joins two */
	assert_blocks(4, 3, BLOCKS({5500, 7000}, {8500, 9000}, {7500, 8000}));
	assert_int_equal(q.ooo->n, 3);
	assert_int_equal(add(&q, 5000, 500).verdict, TCP_RXQ_FILLED);
	assert_int_equal(q.nxt, 7000);
	assert_blocks(4, 2, BLOCKS({8500, 9000}, {7500, 8000}));
	add(&q, 7000, 2000);
	assert_false(tcp_rxq_has_ooo(&q));
	read_and_check(&q, 4000);
	close_queue();
}

/* The examples of RFC 2883 §4.1 and §4.2. */
static void
test_dsack_examples(void **state)
{
	(void)state;
	open_queue(64, 32, 2, 500);
	/* 1: a duplicate of what was acknowledged; reported once. */
	add(&q, 500, 3500);
	assert_int_equal(add(&q, 3000, 500).verdict, TCP_RXQ_DUP);
	assert_blocks(3, 1, BLOCKS({3000, 3500}));
	assert_blocks(3, 0, NULL);
	/* 2: beside an island. */
	add(&q, 4500, 500);
	assert_blocks(3, 1, BLOCKS({4500, 5000}));
	add(&q, 3000, 500);
	assert_blocks(3, 2, BLOCKS({3000, 3500}, {4500, 5000}));
	/* 3: a duplicate of an island's part: the island comes second. */
	add(&q, 6000, 500);
	add(&q, 5000, 500);
	assert_int_equal(add(&q, 5000, 500).verdict, TCP_RXQ_DUP);
	assert_blocks(3, 3, BLOCKS({5000, 5500}, {4500, 5500}, {6000, 6500}));
	close_queue();

	/* 4: a part of the segment is a duplicate. */
	open_queue(64, 32, 2, 1000);
	add(&q, 2000, 500);
	add(&q, 1000, 500);
	assert_int_equal(add(&q, 1000, 1000).verdict, TCP_RXQ_FILLED);
	assert_int_equal(q.nxt, 2500);
	assert_blocks(3, 1, BLOCKS({1000, 1500}));
	close_queue();

	/* 5: two parts below the cumulative ACK: the first one. */
	open_queue(64, 32, 2, 1000);
	add(&q, 3000, 500);
	add(&q, 1000, 500);
	add(&q, 2000, 500);
	assert_blocks(3, 2, BLOCKS({2000, 2500}, {3000, 3500}));
	add(&q, 1000, 1500);
	assert_int_equal(q.nxt, 2500);
	assert_blocks(3, 2, BLOCKS({1000, 1500}, {3000, 3500}));
	close_queue();

	/* 6: two parts above it (a hole between them): the first one, then the island. */
	open_queue(64, 32, 2, 1000);
	add(&q, 3500, 500);
	add(&q, 1500, 300);
	add(&q, 2000, 500);
	assert_int_equal(add(&q, 1500, 1500).verdict, TCP_RXQ_OOO);
	assert_blocks(3, 3, BLOCKS({1500, 1800}, {1500, 3000}, {3500, 4000}));
	close_queue();
}

/* The second transmission has other octets: what came first stays (spec T29), whatever overlaps it. */
static void
test_T29_first_octets_stay(void **state)
{
	static const uint8_t want[] = {0, 1, 2, 3, 104, 105, 6, 7, 8, 9, 110, 111};
	struct iw_view v[16];
	uint8_t got[12];

	(void)state;
	open_queue(64, 32, 2, 0);
	tcp_rxq_add(&q, &p, packet(4, 0, ROOM), HDR, 4, 0, 1000); /* 0..3 */
	tcp_rxq_add(&q, &p, packet(4, 6, ROOM), HDR, 4, 6, 1000); /* 6..9 */
	assert_int_equal(tcp_rxq_add(&q, &p, packet(12, 100, 7), HDR, 12, 0, 1000).advanced, 8);
	assert_int_equal(tcp_rxq_peek(&q, v, 16), q.mbufs);
	assert_int_equal(iw_view_copy(v, q.mbufs, 0, got, 12), 12);
	assert_memory_equal(got, want, 12);
	tcp_rxq_consume(&q, &p, 12);
	close_queue();
}

/* Random segments with random content against an array: what was first stays, islands and D-SACKs are right, and
 * nothing leaks.  Budgets are ample, so that nothing may be dropped. */
static void
model(uint32_t start, uint64_t x)
{
	enum { SPAN = 3000, PEEK = 192 };
	static uint8_t val[SPAN + 200], held[SPAN + 200];
	uint32_t nxt = 0, rd = 0;

	memset(held, 0, sizeof(held));
	open_queue(4096, 2048, 2, start);
	while (rd < SPAN) {
		uint32_t at, len, cut, want_adv;
		struct tcp_rxq_added a;
		struct iw_range blocks[4];
		uint8_t fill;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		len = 1 + (uint32_t)(x >> 8) % 90;
		at = (uint32_t)(x >> 20) % 400 + nxt;
		at = at < 150 + rd ? rd : at - 150;
		at = (x & 15) == 0 ? nxt : at;
		if (at + len > SPAN)
			len = at < SPAN ? SPAN - at : 0;
		if (len == 0)
			continue;
		cut = 1 + (uint32_t)(x >> 40) % 120;
		fill = (uint8_t)(x >> 50);
		a = tcp_rxq_add(&q, &p, packet(len, fill, cut), HDR, len, start + at, start + SPAN);
		for (uint32_t i = 0; i < len; i++) {
			if (!held[at + i])
				val[at + i] = (uint8_t)(fill + i);
			held[at + i] = 1;
		}
		want_adv = nxt;
		while (held[nxt])
			nxt++;
		assert_int_equal(a.advanced, nxt - want_adv);
		assert_int_equal(q.nxt, start + nxt);
		assert_int_equal(q.octets, nxt - rd);
		assert_true(q.mbufs <= tcp_rxq_mbuf_limit(q.octets));
		q.dsack = (struct iw_range){0};
		for (uint32_t i = tcp_rxq_sack(&q, blocks, 4); i-- > 0;) {
			assert_true(!held[blocks[i].from - start - 1] && !held[blocks[i].to - start]);
			for (uint32_t s = blocks[i].from; s != blocks[i].to; s++)
				assert_true(held[s - start]);
		}
		if (x >> 61 == 0 || nxt == SPAN) {
			struct iw_view v[PEEK];
			uint8_t got[SPAN];
			uint32_t n = (uint32_t)(x >> 30) % (nxt - rd + 1), pieces = tcp_rxq_peek(&q, v, PEEK);

			n = nxt == SPAN ? nxt - rd : n;
			assert_int_equal(iw_view_copy(v, pieces, 0, got, n), n);
			assert_memory_equal(got, val + rd, n);
			tcp_rxq_consume(&q, &p, n);
			rd += n;
		}
	}
	assert_int_equal(mbufpool_in_use(rx_pool) + mbufpool_in_use(data_pool), 0);
	close_queue();
}

static void
test_T29_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		model(1000, seed * 0x9e3779b97f4a7c15u);
		model(0xffffff00u, seed * 0xbf58476d1ce4e5b9u);
	}
}

/* X2, T30: the out-of-order budget is full; the octet that is missing still gets in, and all flows. */
static void
test_T30_in_order_gets_in_when_out_of_order_is_full(void **state)
{
	uint32_t kept = 0;

	(void)state;
	open_queue(64, 16, 4, 0xffffff00u);
	for (uint32_t i = 0; i < 40; i++) {
		enum tcp_rxq_verdict v = add(&q, 0xffffff01u + i, 1).verdict;

		assert_true(v == TCP_RXQ_OOO || v == TCP_RXQ_NO_OOO);
		kept += v == TCP_RXQ_OOO;
	}
	assert_int_equal(kept, 8); /* as much as it leaves to the others */
	assert_int_equal(p.ooo_mbufs, 8);
	assert_blocks(4, 1, BLOCKS({0xffffff01u, 0xffffff09u})); /* dropped before SACKed */
	assert_int_equal(add(&q, 0xffffff00u, 1).advanced, 9);
	assert_int_equal(p.ooo_mbufs, 0);
	read_and_check(&q, 9);
	close_queue();
}

/* X2: hostile connections that fill what they get leave something to an honest one. */
static void
test_X2_budget_is_shared(void **state)
{
	struct tcp_rxq bad[3];
	uint32_t honest = 0;

	(void)state;
	open_queue(2048, 1024, 8, 0);
	for (uint32_t c = 0; c < 3; c++) {
		tcp_rxq_init(&bad[c], 0);
		for (uint32_t i = 0; i < 2000; i++)
			add(&bad[c], 1 + i, 1);
	}
	assert_true(p.ooo_mbufs <= 1024 - 128);
	for (uint32_t i = 0; i < 200; i++)
		honest += add(&q, 1448 + i * 1448, 1448).verdict == TCP_RXQ_OOO;
	assert_in_range(honest, 60, 130);
	for (uint32_t c = 0; c < 3; c++)
		tcp_rxq_fini(&bad[c], &p);
	close_queue();
}

static void
test_T28_islands_are_bounded(void **state)
{
	(void)state;
	open_queue(4096, 2048, 2, 0);
	for (uint32_t i = 0; i < TCP_RXQ_RUNS; i++)
		assert_int_equal(add(&q, 10 + i * 10, 5).verdict, TCP_RXQ_OOO);
	assert_int_equal(add(&q, 10 + TCP_RXQ_RUNS * 10, 5).verdict, TCP_RXQ_NO_OOO);
	/* What touches an island is still taken: at its end, at its head, and between two. */
	assert_int_equal(add(&q, 5 + TCP_RXQ_RUNS * 10, 2).verdict, TCP_RXQ_OOO);
	assert_int_equal(add(&q, 9, 1).verdict, TCP_RXQ_OOO);
	assert_int_equal(add(&q, 15, 5).verdict, TCP_RXQ_OOO);
	assert_int_equal(q.ooo->n, TCP_RXQ_RUNS - 1);
	assert_int_equal(add(&q, 20 + TCP_RXQ_RUNS * 10, 5).verdict, TCP_RXQ_OOO);
	close_queue();
}

/* Only max_ooo_conns connections can hold something out of order. */
static void
test_out_of_order_state_runs_out(void **state)
{
	struct tcp_rxq other;

	(void)state;
	open_queue(64, 32, 1, 0);
	tcp_rxq_init(&other, 0);
	assert_int_equal(add(&q, 5, 5).verdict, TCP_RXQ_OOO);
	assert_int_equal(add(&other, 5, 5).verdict, TCP_RXQ_NO_OOO);
	assert_int_equal(add(&other, 0, 5).verdict, TCP_RXQ_IN_ORDER);
	assert_int_equal(add(&q, 0, 5).verdict, TCP_RXQ_FILLED);
	assert_int_equal(add(&other, 10, 5).verdict, TCP_RXQ_OOO);
	tcp_rxq_fini(&other, &p);
	close_queue();
}

/* D13: one-octet segments pin no mbuf each; each octet is copied once at most (data mbufs show it). */
static void
test_D13_one_octet_segments_are_compacted(void **state)
{
	(void)state;
	open_queue(256, 64, 2, 0xffffff00u);
	for (uint32_t i = 0; i < 20000; i++) {
		assert_int_equal(add(&q, 0xffffff00u + i, 1).verdict, TCP_RXQ_IN_ORDER);
		assert_true(q.mbufs <= tcp_rxq_mbuf_limit(q.octets));
		assert_int_equal(mbufpool_in_use(rx_pool) + mbufpool_in_use(data_pool), q.mbufs);
	}
	assert_in_range(mbufpool_in_use(data_pool), 9, 10);
	for (uint32_t n = 1; q.octets > 0; n = n * 2 + 1)
		read_and_check(&q, n < q.octets ? n : q.octets);
	assert_int_equal(mbufpool_in_use(rx_pool) + mbufpool_in_use(data_pool), 0);
	close_queue();
}

/* A lawful FPDU of 64 KiB in small segments can be seen whole in one peek. */
static void
test_D13_a_large_fpdu_in_small_segments_fits_a_peek(void **state)
{
	struct iw_view v[TCP_RXQ_RUNS * 4];

	(void)state;
	for (uint32_t size = 1; size < 1500; size = size * 3 + 1) {
		open_queue(4096, 64, 2, 7);
		for (uint32_t at = 0; at < 65536; at += size)
			add(&q, 7 + at, size);
		assert_true(tcp_rxq_peek(&q, v, 192) == q.mbufs);
		close_queue();
	}
}

/* Reading in the middle of a packed mbuf, and adding behind it. */
static void
test_D13_reading_and_packing_alternate(void **state)
{
	uint32_t seq = 0xfffff000u;

	(void)state;
	open_queue(256, 64, 2, seq);
	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t n = 1 + i * 7 % 13;

		assert_int_equal(add(&q, seq, n).verdict, TCP_RXQ_IN_ORDER);
		seq += n;
		if (i % 5 == 4)
			read_and_check(&q, q.octets * (i % 4) / 4);
		assert_true(q.mbufs <= tcp_rxq_mbuf_limit(q.octets));
	}
	read_and_check(&q, q.octets);
	close_queue();
}

/* No mbuf to compact into: the next segment is dropped by name, none is lost, and it goes on when there is one. */
static void
test_D13_no_mbuf_for_compaction(void **state)
{
	struct tcp_rxq_added a = {0};
	uint32_t seq = 0;

	(void)state;
	open_queue(256, 64, 2, 0);
	for (; a.verdict == TCP_RXQ_IN_ORDER && seq < 100; seq++) {
		mbufpool_set_fuse(data_pool, 1);
		a = add(&q, seq, 1);
	}
	seq--;
	assert_int_equal(a.verdict, TCP_RXQ_NO_NODE);
	assert_int_equal(a.advanced, 0);
	assert_int_equal(seq, 9); /* the limit is 8; the ninth could not be packed, the tenth was refused */
	mbufpool_set_fuse(data_pool, 0);
	assert_int_equal(add(&q, seq, 1).verdict, TCP_RXQ_IN_ORDER);
	assert_true(q.mbufs <= 2);
	read_and_check(&q, seq + 1);
	close_queue();
}

static void
test_nodes_run_out(void **state)
{
	(void)state;
	open_queue(5, 3, 2, 0);
	assert_int_equal(add(&q, 10, 5).verdict, TCP_RXQ_OOO);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(add(&q, i, 1).verdict, TCP_RXQ_FILLED);
	assert_int_equal(add(&q, 4, 1).verdict, TCP_RXQ_NO_NODE);
	assert_int_equal(add(&q, 20, 5).verdict, TCP_RXQ_NO_OOO);
	assert_int_equal(tcp_rxq_add(&q, &p, packet(6, 4, 3), HDR, 6, 4, 100).verdict, TCP_RXQ_NO_NODE);
	assert_int_equal(mbufpool_in_use(rx_pool), 5);
	read_and_check(&q, 4);
	assert_int_equal(add(&q, 4, 6).advanced, 11);
	read_and_check(&q, 11);
	close_queue();
}

/* A segment over two holes needs a copy for the second; without an mbuf that part is dropped, the first one stays. */
static void
test_no_mbuf_for_the_second_piece(void **state)
{
	(void)state;
	open_queue(64, 32, 2, 0);
	add(&q, 10, 10);
	mbufpool_set_fuse(data_pool, 1);
	assert_int_equal(add(&q, 0, 30).verdict, TCP_RXQ_FILLED);
	assert_int_equal(q.nxt, 20);
	assert_int_equal(add(&q, 20, 10).verdict, TCP_RXQ_IN_ORDER);
	read_and_check(&q, 30);
	close_queue();
}

/* D19: the sender may hold the same mbuf: not an octet and no field of it changes until it is free. */
static void
test_D19_shared_mbufs_are_not_touched(void **state)
{
	struct rte_mbuf *m[3], was[3], *seg;
	uint8_t copy[3][200];

	(void)state;
	open_queue(64, 32, 2, 0);
	m[0] = packet(100, 0, 70); /* header and payload in 3 segments */
	for (int i = 1; i < 3; i++)
		m[i] = m[i - 1]->next;
	for (int i = 0; i < 3; i++) {
		rte_mbuf_refcnt_update(m[i], 1);
		was[i] = *m[i];
		memcpy(copy[i], rte_pktmbuf_mtod(m[i], void *), m[i]->data_len);
	}
	add(&q, 40, 20);
	tcp_rxq_add(&q, &p, m[0], HDR, 100, 0, 1000); /* cut around 40..59: taken, duplicate, copied */
	assert_int_equal(q.nxt, 100);
	for (uint32_t i = 100; i < 140; i++)
		add(&q, i, 1);
	assert_true(p.compactions > 0);
	read_and_check(&q, 140);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rte_mbuf_refcnt_read(m[i]), 1);
		rte_mbuf_refcnt_set(&was[i], 1);
		assert_memory_equal(m[i], &was[i], offsetof(struct rte_mbuf, dynfield1));
		assert_memory_equal(rte_pktmbuf_mtod(m[i], void *), copy[i], m[i]->data_len);
	}
	seg = m[0];
	rte_pktmbuf_free(seg);
	close_queue();
}

static void
test_note_dup(void **state)
{
	(void)state;
	open_queue(8, 4, 1, 100);
	tcp_rxq_note_dup(&q, 0xfffffff0u, 5);
	assert_blocks(3, 1, BLOCKS({0xfffffff0u, 5}));
	assert_blocks(3, 0, NULL);
	close_queue();
}

static void
test_creation(void **state)
{
	(void)state;
	assert_int_equal(tcp_rxq_pool_init(&p, NULL, 8, 8, 1), -IW_E_INVAL);
	for (uint32_t n = 1; n <= 2; n++) {
		iw_env_alloc_fuse = n;
		assert_int_equal(tcp_rxq_pool_init(&p, NULL, 8, 4, 1), -IW_E_NOMEM);
	}
	iw_env_alloc_fuse = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order_peek_consume),
		cmocka_unit_test(test_a_packet_in_segments_is_a_node_each),
		cmocka_unit_test(test_edge_of_the_window),
		cmocka_unit_test(test_sack_blocks_most_recent_first),
		cmocka_unit_test(test_dsack_examples),
		cmocka_unit_test(test_T29_first_octets_stay),
		cmocka_unit_test(test_T29_model),
		cmocka_unit_test(test_T30_in_order_gets_in_when_out_of_order_is_full),
		cmocka_unit_test(test_X2_budget_is_shared),
		cmocka_unit_test(test_T28_islands_are_bounded),
		cmocka_unit_test(test_out_of_order_state_runs_out),
		cmocka_unit_test(test_D13_one_octet_segments_are_compacted),
		cmocka_unit_test(test_D13_a_large_fpdu_in_small_segments_fits_a_peek),
		cmocka_unit_test(test_D13_reading_and_packing_alternate),
		cmocka_unit_test(test_D13_no_mbuf_for_compaction),
		cmocka_unit_test(test_nodes_run_out),
		cmocka_unit_test(test_no_mbuf_for_the_second_piece),
		cmocka_unit_test(test_D19_shared_mbufs_are_not_touched),
		cmocka_unit_test(test_note_dup),
		cmocka_unit_test(test_creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
