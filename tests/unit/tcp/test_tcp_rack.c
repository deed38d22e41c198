/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 8985 §6.2. */
#include "tcp_rack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mbufpool.h"
#include "seq.h"

#define LEN 100u
#define T0 (50 * IW_SEC) /* record i was sent at T0 + i * gap */

static struct rte_mempool *pool;
static struct tcp_txq_pool p;
static struct tcp_txq q;
static struct tcp_rack rack;
static struct tcp_rtt rtt;

static void
open_flight(uint32_t n, uint64_t gap_ns)
{
	pool = mbufpool_create("data", 256, 0);
	assert_int_equal(tcp_txq_pool_init(&p, pool, pool, n + 8), 0);
	tcp_txq_init(&q, 0xffffff80u); /* it wraps */
	tcp_rack_init(&rack);
	tcp_rtt_init(&rtt, 0);
	tcp_rtt_sample(&rtt, 10 * IW_MS, T0);
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		memset(rte_pktmbuf_append(m, LEN), 0, LEN);
		tcp_txq_sent(&q, tcp_txq_append(&q, &p, m, tcp_txq_sum(&p, m)), T0 + i * gap_ns);
	}
}

static void
close_flight(void)
{
	tcp_txq_fini(&q, &p);
	tcp_txq_pool_fini(&p);
	mbufpool_destroy(pool);
}

static struct tcp_txq_rec *
nth(uint32_t n)
{
	struct tcp_txq_rec *rec = tcp_txq_first(&q);

	while (n-- > 0)
		rec = tcp_txq_next(&q, rec);
	return rec;
}

static void
sack(uint32_t n, uint64_t now_ns)
{
	struct tcp_txq_delta d = {.rexmit_limit_ns = now_ns - tcp_rtt_min(&rtt)};

	tcp_txq_mark_sacked(&q, nth(n), &d);
	tcp_rack_delivered(&rack, &d, now_ns);
}

static struct tcp_rack_verdict
detect(bool recovering, uint64_t now_ns)
{
	return tcp_rack_detect(&rack, &q, tcp_rack_reo_wnd(&rack, &rtt, recovering, q.sacked_recs), now_ns);
}

static uint32_t
lost_bits(void)
{
	uint32_t bits = 0, i = 0;

	for (struct tcp_txq_rec *r = tcp_txq_first(&q); r && i < 32; r = tcp_txq_next(&q, r), i++)
		bits |= (r->flags & TCP_REC_LOST ? 1u : 0) << i;
	return bits;
}

/* Step 5: one SACK, min RTT / 4 of patience, to the nanosecond; then all that was sent before it is lost, and nothing
 * that was sent after. */
static void
test_window_passes(void **state)
{
	struct tcp_rack_verdict v;
	uint64_t now = T0 + 2 * IW_US + 10 * IW_MS;

	(void)state;
	open_flight(5, IW_US);
	v = detect(false, T0);
	assert_int_equal(v.lost, 0);
	assert_true(v.again_ns == IW_NEVER);
	sack(2, now);
	v = detect(false, now);
	assert_int_equal(v.lost, 0);
	assert_true(v.again_ns == now + 2500 * IW_US);
	v = detect(false, now + 2500 * IW_US - 2 * IW_US - 1);
	assert_int_equal(v.lost, 0);
	v = detect(false, now + 2500 * IW_US - 2 * IW_US);
	assert_int_equal(v.lost, 1); /* record 0 went 2 us before record 2 */
	assert_int_equal(lost_bits(), 0x1);
	v = detect(false, v.again_ns);
	assert_int_equal(lost_bits(), 0x3);
	assert_true(v.again_ns == IW_NEVER);
	close_flight();
}

/* §6.2 step 4: the third SACKed record, or recovery, needs no patience; unless reordering was seen. */
static void
test_dup_thresh(void **state)
{
	(void)state;
	open_flight(6, 0); /* one burst: sequence numbers break the tie */
	sack(2, T0 + 10 * IW_MS);
	sack(3, T0 + 10 * IW_MS);
	assert_int_equal(detect(false, T0 + 10 * IW_MS).lost, 0);
	assert_int_equal(lost_bits(), 0);
	sack(4, T0 + 10 * IW_MS);
	assert_int_equal(detect(false, T0 + 10 * IW_MS).lost, 2);
	assert_int_equal(lost_bits(), 0x3);
	close_flight();
	open_flight(6, 0);
	sack(2, T0 + 10 * IW_MS);
	assert_int_equal(detect(true, T0 + 10 * IW_MS).lost, 2);
	close_flight();
	open_flight(6, 0);
	sack(2, T0 + 10 * IW_MS);
	sack(1, T0 + 10 * IW_MS); /* below the highest, never retransmitted */
	assert_true(rack.reordering_seen);
	sack(4, T0 + 10 * IW_MS);
	assert_int_equal(detect(true, T0 + 10 * IW_MS).lost, 0);
	assert_int_equal(detect(true, T0 + 12500 * IW_US).lost, 2);
	assert_int_equal(lost_bits(), 0x9);
	close_flight();
}

/* RFC 8985 §9.1, example 2: a retransmission that is lost is found lost by one that was sent with it. */
static void
test_lost_retransmission(void **state)
{
	uint64_t now = T0 + 10 * IW_MS;

	(void)state;
	open_flight(3, 10 * IW_US);
	sack(2, now);
	assert_int_equal(detect(true, now).lost, 2);
	tcp_txq_sent(&q, nth(0), now);
	tcp_txq_sent(&q, nth(1), now);
	assert_int_equal(detect(true, now).lost, 0);
	now += 10 * IW_MS;
	sack(1, now);
	assert_int_equal(detect(true, now).lost, 1);
	assert_ptr_equal(tcp_txq_lost_first(&q), nth(0));
	close_flight();
}

/* Step 2: an ACK too early to answer the retransmission says nothing of its time. */
static void
test_ambiguous_retransmission(void **state)
{
	uint64_t now = T0 + 10 * IW_MS;

	(void)state;
	open_flight(3, 10 * IW_US);
	sack(1, now);
	detect(true, now);
	tcp_txq_sent(&q, nth(0), now);
	now += IW_MS; /* min RTT is 10 ms: this is the original */
	sack(0, now);
	assert_true(rack.xmit_ns == T0 + 10 * IW_US);
	assert_int_equal(detect(true, now).lost, 0);
	close_flight();
}

/* Step 4: the window grows with each round trip that brings a D-SACK, up to SRTT, for 16 recoveries. */
static void
test_window_adapts(void **state)
{
	(void)state;
	open_flight(1, 0);
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, false, 0) == 2500 * IW_US);
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, true, 0) == 0);
	rack.reordering_seen = true;
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, true, 9) == 2500 * IW_US);
	tcp_rack_round(&rack, 100, 200, true);
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, true, 0) == 5000 * IW_US);
	tcp_rack_round(&rack, 199, 300, true); /* the same round */
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, true, 0) == 5000 * IW_US);
	tcp_rack_round(&rack, 200, 300, true);
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, true, 0) == 7500 * IW_US);
	tcp_rack_round(&rack, 300, 400, true);
	tcp_rack_round(&rack, 400, 500, true);
	tcp_rack_round(&rack, 500, 600, true);
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, true, 0) == 10 * IW_MS); /* SRTT */
	for (uint32_t i = 0; i < 15; i++)
		tcp_rack_recovered(&rack);
	tcp_rack_round(&rack, 600, 700, true); /* 16 more from here */
	for (uint32_t i = 0; i < 15; i++)
		tcp_rack_recovered(&rack);
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, true, 0) == 10 * IW_MS);
	tcp_rack_recovered(&rack);
	assert_true(tcp_rack_reo_wnd(&rack, &rtt, true, 0) == 2500 * IW_US);
	close_flight();
}

/* A bounded number of records for one ACK; the rest follows at once. */
static void
test_T28_work_is_bounded(void **state)
{
	struct tcp_rack_verdict v;
	uint64_t now = T0 + 10 * IW_MS;

	(void)state;
	open_flight(5000, 0);
	sack(4999, now);
	v = detect(true, now);
	assert_int_equal(v.lost, TCP_RACK_STEPS);
	assert_true(v.again_ns == now);
	v = detect(true, now);
	v = detect(true, now);
	assert_int_equal(q.lost_recs, 4999);
	assert_true(v.again_ns == IW_NEVER);
	close_flight();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_passes),       cmocka_unit_test(test_dup_thresh),
		cmocka_unit_test(test_lost_retransmission), cmocka_unit_test(test_ambiguous_retransmission),
		cmocka_unit_test(test_window_adapts),       cmocka_unit_test(test_T28_work_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
