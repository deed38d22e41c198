/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of receive queues: spec T28, T30; security X2; design D13 (compaction), D19; shortages of everything. */
#include <iwarp/err.h>

#include "env.h"
#include "rxq_bench.h"

/* As a queue that has received much. */
static void
prove(struct tcp_rxq *to)
{
	to->first = to->nxt - TCP_RXQ_PROVEN;
}

/* X2, T30: the out-of-order budget is full; the octet that is missing still gets in, and all flows. */
static void
test_T30_in_order_gets_in_when_out_of_order_is_full(void **state)
{
	uint32_t kept = 0;

	(void)state;
	open_queue(64, 16, 4, 0xffffff00u);
	prove(&q);
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
	prove(&q);
	for (uint32_t c = 0; c < 3; c++) {
		tcp_rxq_init(&bad[c], 0);
		prove(&bad[c]);
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

/* X2: those that come only to open holes leave half of it, however many they are, to those that have received octets
 * in order: as long as one of these has not, it is one of them. */
static void
test_X2_half_is_for_who_received(void **state)
{
	struct tcp_rxq bad[600];
	uint32_t at = 0;

	(void)state;
	open_queue(2048, 1024, 601, 0);
	for (uint32_t c = 0; c < 600; c++) {
		tcp_rxq_init(&bad[c], 0);
		add(&bad[c], 1, 1);
	}
	assert_int_equal(p.ooo_mbufs, 512);
	for (; at + 1448 < TCP_RXQ_PROVEN; at += 1448) {
		assert_int_equal(add(&q, at + 1448, 1448).verdict, TCP_RXQ_NO_OOO);
		assert_int_equal(add(&q, at, 1448).verdict, TCP_RXQ_IN_ORDER);
		read_and_check(&q, q.octets);
	}
	add(&q, at, 1448);
	for (uint32_t i = 2; i < 400; i++)
		add(&q, at + i * 1448, 1448);
	assert_int_equal(q.ooo->mbufs, 256); /* as many as it leaves to others like it */
	for (uint32_t c = 0; c < 600; c++)
		tcp_rxq_fini(&bad[c], &p);
	close_queue();
}

/* X3: so many hoard beginnings of FPDUs that they could hold all there is; who reads what comes still gets on. */
static void
test_X3_hoards_leave_something(void **state)
{
	struct tcp_rxq bad[60];

	(void)state;
	open_queue(2048, 512, 8, 0);
	for (uint32_t c = 0; c < 60; c++)
		tcp_rxq_init(&bad[c], 0);
	for (uint32_t i = 0; i < 45; i++)
		for (uint32_t c = 0; c < 60; c++)
			if (bad[c].nxt == i * 1448)
				add(&bad[c], i * 1448, 1448);
	assert_in_range(p.nodes_used, 1900, 2048 - 16);
	for (uint32_t i = 0; i < 200; i++) {
		assert_int_equal(add(&q, i * 1448, 1448).verdict, TCP_RXQ_IN_ORDER);
		if (i % 8 == 7)
			read_and_check(&q, q.octets);
	}
	/* What was refused is taken when it comes again and there is room. */
	for (uint32_t c = 1; c < 60; c++)
		tcp_rxq_fini(&bad[c], &p);
	assert_int_equal(add(&bad[0], bad[0].nxt, 1448).verdict, TCP_RXQ_IN_ORDER);
	tcp_rxq_fini(&bad[0], &p);
	close_queue();
}

/* X3: they are short when octets come in and few are left, a sixteenth, or what an FPDU of 64 KiB takes; each question
 * is about what came since the last. */
static void
test_X3_short(void **state)
{
	struct tcp_rxq bad[2];

	(void)state;
	open_queue(2048, 512, 8, 0);
	for (uint32_t c = 0; c < 2; c++)
		tcp_rxq_init(&bad[c], 0);
	assert_int_equal(p.low, 66560 / 512 + 8);
	p.nodes_used += p.max_nodes - p.low - 3; /* of others */
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(add(&bad[0], i, 1).verdict, TCP_RXQ_IN_ORDER);
	assert_false(tcp_rxq_is_short(&p));
	assert_int_equal(add(&bad[1], 0, 1).verdict, TCP_RXQ_IN_ORDER);
	assert_true(tcp_rxq_is_short(&p));
	assert_false(tcp_rxq_is_short(&p)); /* nothing came */
	assert_int_equal(add(&bad[1], 1, 1).verdict, TCP_RXQ_IN_ORDER);
	tcp_rxq_fini(&bad[0], &p);
	assert_false(tcp_rxq_is_short(&p)); /* and nobody needs it any more */
	p.nodes_used += p.low;
	assert_int_equal(add(&bad[0], 3, 1).verdict, TCP_RXQ_IN_ORDER);
	assert_int_equal(add(&bad[0], 4, 1).verdict, TCP_RXQ_NO_NODE); /* what is refused counts, too */
	assert_true(tcp_rxq_is_short(&p));
	p.nodes_used -= 2048 - 3;
	tcp_rxq_fini(&bad[0], &p);
	tcp_rxq_fini(&bad[1], &p);
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
	assert_int_equal(p.compacted_mbufs, 20000 - q.mbufs);
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

/* Small segments behind large ones are within the limit as long as the large ones are there; when these are read, an
 * FPDU of 64 KiB in the small ones must still fit a peek, though nothing more comes. */
static void
test_D13_small_segments_behind_large_ones(void **state)
{
	struct iw_view v[TCP_RXQ_RUNS * 4];
	uint32_t at = 7;

	(void)state;
	open_queue(4096, 64, 2, at);
	for (uint32_t i = 0; i < 600; i++, at += 1448)
		add(&q, at, 1448);
	for (uint32_t i = 0; i < 1024; i++, at += 64)
		add(&q, at, 64);
	assert_int_equal(q.mbufs, 600 + 1024);
	for (uint32_t i = 0; i < 600; i++) {
		read_and_check(&q, 1448);
		assert_true(q.mbufs <= tcp_rxq_mbuf_limit(q.octets));
	}
	assert_int_equal(q.octets, 65536);
	assert_true(tcp_rxq_peek(&q, v, 192) == q.mbufs);
	assert_true(p.compactions < 10);
	read_and_check(&q, 65536);
	close_queue();
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

/* The second mbuf is missing: what was packed stays packed, the rest stays as it is, all in order. */
static void
test_D13_compaction_stops_half_way(void **state)
{
	uint32_t seq = 0xfffffff0u;

	(void)state;
	open_queue(256, 64, 2, seq);
	add(&q, seq, 1448);
	seq += 1448;
	mbufpool_set_fuse(data_pool, 2);
	for (uint32_t i = 0; i < 13; i++, seq += 100)
		assert_int_equal(add(&q, seq, 100).verdict, TCP_RXQ_IN_ORDER);
	assert_int_equal(mbufpool_in_use(data_pool), 1);
	assert_int_equal(q.mbufs, 1 + 8 - 1); /* 2048 octets packed; 7 segments, the first of them in part, not */
	add(&q, seq, 100);
	read_and_check(&q, q.octets);
	add(&q, q.nxt, 5);
	read_and_check(&q, 5);
	close_queue();
}

/* Copies that have no room for an octet do not make it run for ever. */
static void
test_D13_data_mbufs_without_room(void **state)
{
	uint32_t n = 0;

	(void)state;
	open_queue(256, 64, 2, 0);
	mbufpool_destroy(data_pool);
	data_pool = p.data_pool = mbufpool_create("none", 0, 0);
	while (n < 100 && add(&q, n, 1).verdict == TCP_RXQ_IN_ORDER)
		n++;
	assert_int_equal(n, 9);
	assert_int_equal(mbufpool_in_use(data_pool), 0);
	read_and_check(&q, 9);
	close_queue();
}

/* Every node is in use: compaction has one of its own. */
static void
test_D13_compaction_with_the_last_node(void **state)
{
	(void)state;
	open_queue(9, 1, 2, 0);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(add(&q, i, 1).verdict, TCP_RXQ_IN_ORDER);
	assert_true(q.mbufs <= 9);
	read_and_check(&q, 40);
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
	assert_int_equal(put(&q, packet(6, 4, 3), 6, 4, 100).verdict, TCP_RXQ_NO_NODE);
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
	put(&q, m[0], 100, 0, 1000); /* cut around 40..59: taken, duplicate, copied */
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
		cmocka_unit_test(test_T30_in_order_gets_in_when_out_of_order_is_full),
		cmocka_unit_test(test_X2_budget_is_shared),
		cmocka_unit_test(test_X2_half_is_for_who_received),
		cmocka_unit_test(test_X3_hoards_leave_something),
		cmocka_unit_test(test_X3_short),
		cmocka_unit_test(test_T28_islands_are_bounded),
		cmocka_unit_test(test_out_of_order_state_runs_out),
		cmocka_unit_test(test_D13_one_octet_segments_are_compacted),
		cmocka_unit_test(test_D13_a_large_fpdu_in_small_segments_fits_a_peek),
		cmocka_unit_test(test_D13_small_segments_behind_large_ones),
		cmocka_unit_test(test_D13_reading_and_packing_alternate),
		cmocka_unit_test(test_D13_no_mbuf_for_compaction),
		cmocka_unit_test(test_D13_compaction_stops_half_way),
		cmocka_unit_test(test_D13_data_mbufs_without_room),
		cmocka_unit_test(test_D13_compaction_with_the_last_node),
		cmocka_unit_test(test_nodes_run_out),
		cmocka_unit_test(test_no_mbuf_for_the_second_piece),
		cmocka_unit_test(test_D19_shared_mbufs_are_not_touched),
		cmocka_unit_test(test_creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
