/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receive queue holds and reports: spec T28 (our side), T29; RFC 2018 §4, RFC 2883 §4. */
#include "rxq_bench.h"
#include "seq.h"

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

/* What is known of CRCs stays with the octets, and goes when some are taken off their front. */
static void
test_sealed_octets(void **state)
{
	struct iw_view text = {.off = HDR, .len = 10, .sealed = 8}, v;

	(void)state;
	open_queue(16, 8, 2, 0);
	text.m = packet(10, 0, ROOM);
	assert_int_equal(tcp_rxq_add(&q, &p, &text, 0, 100).verdict, TCP_RXQ_IN_ORDER);
	assert_int_equal(tcp_rxq_peek(&q, &v, 1), 1);
	assert_int_equal(v.sealed, 8);
	read_and_check(&q, 4);
	assert_int_equal(tcp_rxq_peek(&q, &v, 1), 1);
	assert_int_equal(v.sealed, 0);
	read_and_check(&q, 6);
	/* Cut at the edge of the window. */
	text.m = packet(10, 10, ROOM);
	assert_int_equal(tcp_rxq_add(&q, &p, &text, 10, 15).advanced, 5);
	assert_int_equal(tcp_rxq_peek(&q, &v, 1), 1);
	assert_true(v.len == 5 && v.sealed == 0);
	read_and_check(&q, 5);
	close_queue();
}

static void
test_a_packet_in_segments_is_a_node_each(void **state)
{
	struct iw_view v[16];

	(void)state;
	open_queue(64, 8, 2, 0);
	/* 54 octets of header and 46 of payload in segments of 10: 5 segments of header only, 5 with payload. */
	assert_int_equal(put(&q, packet(46, 0, 10), 46, 0, 1000).verdict, TCP_RXQ_IN_ORDER);
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
	assert_int_equal(put(&q, packet(10, 0, ROOM), 10, 100, 100).verdict, TCP_RXQ_OUTSIDE);
	assert_int_equal(put(&q, packet(10, 0, ROOM), 10, 101, 100).verdict, TCP_RXQ_OUTSIDE);
	assert_int_equal(put(&q, packet(10, 95, ROOM), 10, 95, 100).verdict, TCP_RXQ_OOO);
	assert_blocks(4, 1, BLOCKS({95, 100}));
	assert_int_equal(put(&q, packet(400, 0, ROOM), 400, 0xffffff00u, 100).advanced, 356);
	assert_int_equal(q.nxt, 100);
	read_and_check(&q, 356);
	/* Window 0: nothing goes in; a duplicate is one all the same. */
	assert_int_equal(put(&q, packet(1, 100, ROOM), 1, 100, 100).verdict, TCP_RXQ_OUTSIDE);
	assert_int_equal(put(&q, packet(1, 99, ROOM), 1, 99, 100).verdict, TCP_RXQ_DUP);
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
	put(&q, packet(4, 0, ROOM), 4, 0, 1000); /* 0..3 */
	put(&q, packet(4, 6, ROOM), 4, 6, 1000); /* 6..9 */
	assert_int_equal(put(&q, packet(12, 100, 7), 12, 0, 1000).advanced, 8);
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
		a = put(&q, packet(len, fill, cut), len, start + at, start + SPAN);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order_peek_consume),
		cmocka_unit_test(test_sealed_octets),
		cmocka_unit_test(test_a_packet_in_segments_is_a_node_each),
		cmocka_unit_test(test_edge_of_the_window),
		cmocka_unit_test(test_sack_blocks_most_recent_first),
		cmocka_unit_test(test_dsack_examples),
		cmocka_unit_test(test_T29_first_octets_stay),
		cmocka_unit_test(test_T29_model),
		cmocka_unit_test(test_note_dup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
