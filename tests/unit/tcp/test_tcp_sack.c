/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec T28; RFC 2018 §3, RFC 2883 §4 and §5. */
#include "tcp_sack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mbufpool.h"
#include "seq.h"

static const uint32_t starts[] = {1000, 0xffffff00u};
#define EACH_START(s) for (size_t i_ = 0, s = starts[0]; i_ < 2; s = starts[++i_ & 1])

static struct rte_mempool *pool;
static struct tcp_txq_pool p;
static struct tcp_txq q;
static struct tcp_sack sack;

/* n records of len octets in flight, sent at 1, 2, ... */
static void
open_flight(uint32_t seq, uint32_t n, uint32_t len)
{
	pool = mbufpool_create("data", 256, 0);
	assert_int_equal(tcp_txq_pool_init(&p, pool, pool, n + 8), 0);
	tcp_txq_init(&q, seq);
	tcp_sack_init(&sack);
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		memset(rte_pktmbuf_append(m, (uint16_t)len), 0, len);
		tcp_txq_sent(&q, tcp_txq_append(&q, &p, m, tcp_txq_sum(&p, m)), i + 1);
	}
}

static struct tcp_txq_rec *
append(uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	memset(rte_pktmbuf_append(m, (uint16_t)len), 0, len);
	return tcp_txq_append(&q, &p, m, tcp_txq_sum(&p, m));
}

static void
close_flight(void)
{
	tcp_txq_fini(&q, &p);
	tcp_txq_pool_fini(&p);
	mbufpool_destroy(pool);
}

static struct tcp_sack_result
rx(const struct iw_range *blocks, uint32_t n, struct tcp_txq_delta *d)
{
	*d = (struct tcp_txq_delta){.rexmit_limit_ns = UINT64_MAX};
	return tcp_sack_rx(&sack, &q, q.una, blocks, n, d);
}

/* The SACKed records as bits. */
static uint32_t
sacked_bits(void)
{
	uint32_t bits = 0, i = 0;

	for (struct tcp_txq_rec *r = tcp_txq_first(&q); r && i < 32; r = tcp_txq_next(&q, r), i++)
		bits |= (r->flags & TCP_REC_SACKED ? 1u : 0) << i;
	return bits;
}

/* 10 records of 100 octets in flight, two more appended and not sent; SND.UNA at 0. */
static void
test_T28_which_blocks_count(void **state)
{
	static const struct {
		const char *what;
		uint32_t n;
		struct iw_range b[4];
		uint32_t bits;
		uint8_t bad;
		bool dsack;
	} t[] = {
		{"none", 0, {{0, 0}}, 0, 0, false},
		{"one record", 1, {{100, 200}}, 2, 0, false},
		{"two blocks in any order", 2, {{500, 600}, {100, 300}}, 0x26, 0, false},
		{"up to SND.NXT", 1, {{900, 1000}}, 0x200, 0, false},
		{"beyond SND.NXT", 1, {{900, 1001}}, 0, 1, false},
		{"of what was never sent", 1, {{1000, 1100}}, 0, 1, false},
		{"half the number space", 1, {{100, 0x80000100u}}, 0, 1, false},
		{"from SND.UNA: not inside (UNA, NXT]", 1, {{0, 100}}, 0, 1, false},
		{"over SND.UNA", 1, {{(uint32_t)-100, 300}}, 0, 1, false},
		{"reversed", 1, {{300, 200}}, 0, 1, false},
		{"empty", 1, {{300, 300}}, 0, 1, false},
		{"wrapped around", 1, {{0xfffffff0u - 0x7fffffffu, 5}}, 0, 1, false},
		{"only wholly covered records", 1, {{101, 399}}, 0x4, 0, false},
		{"part of a record", 1, {{110, 190}}, 0, 0, false},
		{"overlapping", 3, {{100, 300}, {200, 400}, {250, 600}}, 0x3e, 0, false},
		{"halves in two blocks", 2, {{150, 300}, {100, 150}}, 0x4, 0, false},
		{"the same four times: a duplicate", 4, {{100, 200}, {100, 200}, {100, 200}, {100, 200}}, 2, 0, true},
		{"D-SACK below SND.UNA", 2, {{(uint32_t)-200, (uint32_t)-100}, {400, 500}}, 0x10, 0, true},
		{"D-SACK up to SND.UNA", 1, {{(uint32_t)-100, 0}}, 0, 0, true},
		{"D-SACK inside the second block", 2, {{400, 500}, {300, 600}}, 0x38, 0, true},
		{"the second inside the first is none", 2, {{300, 600}, {400, 500}}, 0x38, 0, false},
		{"below SND.UNA but not first", 2, {{300, 400}, {(uint32_t)-100, (uint32_t)-50}}, 0x8, 1, false},
		{"good beside bad", 3, {{2000, 3000}, {300, 400}, {7, 7}}, 0x8, 2, false},
	};

	(void)state;
	EACH_START(s)
	{
		for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
			struct iw_range b[4];
			struct tcp_txq_delta d;
			struct tcp_sack_result r;

			open_flight((uint32_t)s, 10, 100);
			append(100);
			append(100);
			for (uint32_t k = 0; k < 4; k++)
				b[k] = (struct iw_range){t[i].b[k].from + (uint32_t)s, t[i].b[k].to + (uint32_t)s};
			r = rx(b, t[i].n, &d);
			if (sacked_bits() != t[i].bits || r.bad != t[i].bad || r.dsack != t[i].dsack)
				fail_msg("%s: bits %x, bad %u, dsack %d", t[i].what, sacked_bits(), r.bad, r.dsack);
			if (r.dsack)
				assert_memory_equal(&r.dsack_block, &b[0], sizeof(b[0]));
			assert_int_equal(d.sacked, 100 * (uint32_t)__builtin_popcount(t[i].bits));
			/* Once more: nothing is new. */
			r = rx(b, t[i].n, &d);
			assert_int_equal(d.sacked, 0);
			assert_int_equal(sacked_bits(), t[i].bits);
			assert_false(r.cut_short);
			close_flight();
		}
	}
}

/* The octet of a zero-window probe was taken, its record was not sent yet: a probe more is told as what it is. */
static void
test_T28_dsack_of_a_probe(void **state)
{
	(void)state;
	EACH_START(s)
	{
		struct iw_range b = {(uint32_t)s + 200, (uint32_t)s + 201};
		struct tcp_txq_delta d = {0};
		struct tcp_sack_result r;

		open_flight((uint32_t)s, 2, 100);
		append(100);
		tcp_txq_ack(&q, &p, (uint32_t)s + 200, &d);
		r = tcp_sack_rx(&sack, &q, (uint32_t)s + 201, &b, 1, &d);
		assert_true(r.dsack);
		assert_int_equal(r.bad, 0);
		r = tcp_sack_rx(&sack, &q, (uint32_t)s + 200, &b, 1, &d); /* not acknowledged: it was never sent */
		assert_false(r.dsack);
		assert_int_equal(r.bad, 1);
		close_flight();
	}
}

/* Blocks in one ACK are no reordering, whatever their order in the option (most recent first, RFC 2018 §4). */
static void
test_blocks_are_taken_in_ascending_order(void **state)
{
	struct iw_range b[] = {{700, 800}, {500, 600}, {100, 200}};
	struct tcp_txq_delta d;

	(void)state;
	open_flight(0, 10, 100);
	rx(b, 3, &d);
	assert_false(d.reordered);
	assert_int_equal(d.rack_end, 800);
	b[0] = (struct iw_range){300, 400}; /* below what was SACKed */
	rx(b, 1, &d);
	assert_true(d.reordered);
	close_flight();
}

/* A block that grows with each ACK, records cut after a block was seen, and the cumulative ACK between. */
static void
test_growing_blocks(void **state)
{
	(void)state;
	EACH_START(s)
	{
		uint32_t u = (uint32_t)s;
		struct tcp_txq_delta d;

		open_flight(u, 20, 100);
		for (uint32_t to = 150; to <= 2000; to += 50) {
			rx(&(struct iw_range){u + 100, u + to}, 1, &d);
			assert_int_equal(d.sacked, to % 100 == 0 ? 100 : 0);
		}
		assert_int_equal(sacked_bits(), 0xffffe);
		tcp_txq_ack(&q, &p, u + 2000, &d);
		assert_true(tcp_txq_empty(&q));
		/* The numbers were seen before, the records are new. */
		close_flight();
	}
}

/* After RTO with reneging the same block counts again. */
static void
test_forgotten_blocks_count_again(void **state)
{
	struct iw_range b = {200, 400};
	struct tcp_txq_delta d;

	(void)state;
	open_flight(0, 6, 100);
	rx(&b, 1, &d);
	assert_int_equal(q.sacked, 200);
	tcp_txq_mark_all_lost(&q, true);
	tcp_sack_init(&sack);
	rx(&b, 1, &d);
	assert_int_equal(q.sacked, 200);
	assert_int_equal(q.lost_octets, 400);
	close_flight();
}

/* Random blocks, good and bad, against a model without any cache: a record is SACKed when one valid block of some ACK
 * covered it; the records have random lengths. */
static void
test_T28_model(void **state)
{
	(void)state;
	EACH_START(s)
	{
		uint64_t x = 0x9e3779b97f4a7c15u + s;

		for (int round = 0; round < 60; round++) {
			uint32_t from[64], to[64], n = 0, una, end;
			bool want[64] = {false};
			struct tcp_txq_delta d = {0};

			open_flight((uint32_t)s, 0, 100);
			tcp_txq_pool_fini(&p);
			assert_int_equal(tcp_txq_pool_init(&p, pool, pool, 64), 0);
			for (n = 0; n < 60; n++) {
				struct tcp_txq_rec *r;

				x ^= x << 13, x ^= x >> 7, x ^= x << 17;
				r = append(1 + (uint32_t)(x >> 30) % 9);
				from[n] = r->seq;
				to[n] = tcp_txq_rec_end(r);
				tcp_txq_sent(&q, r, n);
			}
			una = (uint32_t)s;
			end = q.end;
			for (int ack = 0; ack < 40; ack++) {
				struct iw_range b[4];
				uint32_t nb = 1 + (uint32_t)(x >> 60) % 4;

				for (uint32_t k = 0; k < nb; k++) {
					x ^= x << 13, x ^= x >> 7, x ^= x << 17;
					b[k].from = una - 10 + (uint32_t)(x >> 20) % (end - una + 20);
					b[k].to = b[k].from + (uint32_t)(x >> 40) % 60;
					/* Most blocks look like a receiver's: they grow. */
					if (sack.n_seen && x & 1)
						b[k].from = sack.seen[x >> 62 & (sack.n_seen - 1u)].from;
				}
				if (ack % 8 == 7 && q.recs > 1) {
					una = tcp_txq_rec_end(tcp_txq_first(&q)) + (uint32_t)(x >> 33) % 3;
					una = iw_seq_min(una, end);
					tcp_txq_ack(&q, &p, una, &d);
				}
				for (uint32_t k = 0; k < nb; k++)
					for (uint32_t i = 0; i < n; i++)
						if (iw_seq_lt(b[k].from, b[k].to) && iw_seq_gt(b[k].from, una) &&
						    iw_seq_leq(b[k].to, end) && iw_seq_leq(b[k].from, from[i]) &&
						    iw_seq_leq(to[i], b[k].to))
							want[i] = true;
				assert_false(rx(b, nb, &d).cut_short);
				for (struct tcp_txq_rec *r = tcp_txq_first(&q); r; r = tcp_txq_next(&q, r)) {
					uint32_t i = 0;

					while (from[i] != r->seq)
						i++;
					assert_int_equal((r->flags & TCP_REC_SACKED) != 0, want[i]);
				}
			}
			close_flight();
		}
	}
}

/* CVE-2019-11477 ff.: blocks all over a large window cost a bounded number of steps, and still get there. */
static void
test_T28_work_is_bounded(void **state)
{
	struct iw_range far = {40000, 40004};
	struct tcp_txq_delta d;
	uint32_t acks = 0;

	(void)state;
	open_flight(0, 20000, 4);
	while (q.sacked == 0 && acks < 20) {
		struct tcp_sack_result r = rx(&far, 1, &d);

		assert_int_equal(r.cut_short, q.sacked == 0);
		acks++;
	}
	assert_in_range(acks, 4, 6); /* 10,000 records away, 2048 steps each */
	rx(&(struct iw_range){4, 80000}, 1, &d);
	assert_in_range(d.sacked, 4, 4 * TCP_SACK_STEPS);
	for (acks = 0; q.sacked < 79996 && acks < 40; acks++)
		rx(&(struct iw_range){4, 80000}, 1, &d);
	assert_in_range(acks, 5, 25);
	close_flight();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T28_which_blocks_count),
		cmocka_unit_test(test_T28_dsack_of_a_probe),
		cmocka_unit_test(test_blocks_are_taken_in_ascending_order),
		cmocka_unit_test(test_growing_blocks),
		cmocka_unit_test(test_forgotten_blocks_count_again),
		cmocka_unit_test(test_T28_model),
		cmocka_unit_test(test_T28_work_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
