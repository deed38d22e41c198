/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of records: pipe (RFC 6675 §4), samples for RACK (RFC 8985 §6.2) and RTT (RFC 6298 §3), RTO, undo. */
#include "txq_bench.h"

/* RFC 6675 §4: sent - SACKed - lost + retransmitted. */
static void
test_pipe_through_a_recovery(void **state)
{
	(void)state;
	EACH_START(s)
	{
		struct tcp_txq_delta d = {.rexmit_limit_ns = 1000};

		open_queue(16, (uint32_t)s);
		append_and_send(6, 100, 10);
		assert_int_equal(tcp_txq_pipe(&q), 600);
		tcp_txq_mark_sacked(&q, nth(3), &d);
		tcp_txq_mark_sacked(&q, nth(3), &d); /* again: nothing */
		tcp_txq_mark_sacked(&q, nth(4), &d);
		assert_int_equal(d.sacked, 200);
		assert_int_equal(tcp_txq_pipe(&q), 400);
		tcp_txq_mark_lost(&q, nth(1));
		tcp_txq_mark_lost(&q, nth(0));
		tcp_txq_mark_lost(&q, nth(3)); /* SACKed: not lost */
		assert_int_equal(tcp_txq_pipe(&q), 200);
		assert_ptr_equal(tcp_txq_lost_first(&q), nth(0));
		audit();
		tcp_txq_sent(&q, nth(0), 50);
		assert_ptr_equal(tcp_txq_lost_first(&q), nth(1));
		assert_int_equal(tcp_txq_pipe(&q), 300);
		assert_int_equal(nth(0)->rexmits, 1);
		assert_true(nth(0)->first_ns == 10 && nth(0)->last_ns == 50);
		tcp_txq_mark_lost(&q, nth(0)); /* the retransmission too */
		assert_int_equal(tcp_txq_pipe(&q), 200);
		tcp_txq_sent(&q, nth(0), 60);
		tcp_txq_sent(&q, nth(1), 61);
		assert_int_equal(tcp_txq_pipe(&q), 400);
		audit();
		tcp_txq_ack(&q, &p, (uint32_t)s + 500, &d);
		assert_int_equal(d.delivered, 500);
		assert_int_equal(d.acked, 500);
		assert_int_equal(tcp_txq_pipe(&q), 100);
		audit();
		close_queue();
	}
}

/* T27: the count of retransmissions does not wrap. */
static void
test_T27_retransmissions_are_counted_up_to_a_limit(void **state)
{
	(void)state;
	open_queue(4, 1);
	append_and_send(1, 100, 10);
	for (uint32_t i = 0; i < 70000; i++)
		tcp_txq_sent(&q, nth(0), 20 + i);
	assert_int_equal(nth(0)->rexmits, UINT16_MAX);
	audit();
	close_queue();
}

/* A probe or rule 3 of NextSeg: retransmitted without being lost counts twice (RFC 6675 §4, note on SetPipe). */
static void
test_retransmitted_without_loss_counts_twice(void **state)
{
	(void)state;
	open_queue(4, 1);
	append_and_send(2, 100, 10);
	tcp_txq_sent(&q, nth(1), 20);
	assert_int_equal(tcp_txq_pipe(&q), 300);
	tcp_txq_sent(&q, nth(1), 30);
	assert_int_equal(tcp_txq_pipe(&q), 300);
	audit();
	tcp_txq_mark_lost(&q, nth(1));
	assert_int_equal(tcp_txq_pipe(&q), 100);
	audit();
	close_queue();
}

static void
test_rack_and_rtt_samples(void **state)
{
	(void)state;
	EACH_START(s)
	{
		struct tcp_txq_delta d = {.rexmit_limit_ns = 90};

		open_queue(16, (uint32_t)s);
		append_and_send(5, 100, 10); /* sent at 10..14 */
		tcp_txq_mark_lost(&q, nth(0));
		tcp_txq_sent(&q, nth(0), 80);
		tcp_txq_mark_sacked(&q, nth(1), &d);
		assert_true(d.has_rack && !d.rack_rexmit && d.rack_ns == 11 && d.rack_end == (uint32_t)s + 200);
		assert_true(d.has_rtt && d.rtt_sent_ns == 11 && !d.rexmit_acked && !d.reordered);
		tcp_txq_ack(&q, &p, (uint32_t)s + 300, &d);
		/* Newest by time: the retransmission at 80, which the limit of 90 lets pass; RTT only from record 2. */
		assert_true(d.has_rack && d.rack_rexmit && d.rack_ns == 80 && d.rack_end == (uint32_t)s + 100);
		assert_true(d.rtt_sent_ns == 12 && d.rexmit_acked && d.never_rexmit_acked);
		assert_int_equal(d.delivered, 300);

		/* Too young to be true: it counts for nothing but delivery (RFC 8985 §6.2 step 2). */
		tcp_txq_mark_lost(&q, nth(0));
		tcp_txq_sent(&q, nth(0), 95);
		d = (struct tcp_txq_delta){.rexmit_limit_ns = 94};
		tcp_txq_ack(&q, &p, (uint32_t)s + 400, &d);
		assert_true(!d.has_rack && !d.has_rtt && d.rexmit_acked && !d.never_rexmit_acked);
		assert_int_equal(d.delivered, 100);
		close_queue();
	}
}

/* RFC 8985 §6.2 step 2: equal times are ordered by sequence number. */
static void
test_rack_ties(void **state)
{
	struct tcp_txq_delta d = {0};

	(void)state;
	open_queue(8, 0xffffff9cu);
	for (int i = 0; i < 3; i++)
		tcp_txq_sent(&q, append(100), 5);
	tcp_txq_mark_sacked(&q, nth(2), &d);
	tcp_txq_mark_sacked(&q, nth(1), &d);
	assert_int_equal(d.rack_end, 200);
	close_queue();
}

/* Step 3: reordering is an original delivered below what was delivered before; a retransmission shows nothing. */
static void
test_rack_reordering(void **state)
{
	(void)state;
	EACH_START(s)
	{
		struct tcp_txq_delta d = {.rexmit_limit_ns = 99};

		open_queue(8, (uint32_t)s);
		append_and_send(5, 100, 10);
		tcp_txq_mark_sacked(&q, nth(3), &d);
		assert_int_equal(q.fack, (uint32_t)s + 400);
		tcp_txq_mark_lost(&q, nth(0));
		tcp_txq_sent(&q, nth(0), 50);
		tcp_txq_ack(&q, &p, (uint32_t)s + 100, &d);
		assert_false(d.reordered);
		tcp_txq_ack(&q, &p, (uint32_t)s + 200, &d);
		assert_true(d.reordered);
		assert_int_equal(q.fack, (uint32_t)s + 400);
		/* What was SACKed before is not delivered again. */
		d = (struct tcp_txq_delta){0};
		tcp_txq_mark_sacked(&q, nth(0), &d);
		d = (struct tcp_txq_delta){0};
		tcp_txq_ack(&q, &p, (uint32_t)s + 400, &d);
		assert_true(!d.reordered && !d.has_rack && !d.has_rtt && d.delivered == 0 && d.acked == 200);
		audit();
		close_queue();
	}
}

static void
test_rto_and_reneging(void **state)
{
	struct tcp_txq_delta d = {0};

	(void)state;
	open_queue(8, 0xffffff00u);
	append_and_send(5, 100, 10);
	append(100);
	tcp_txq_mark_sacked(&q, nth(2), &d);
	tcp_txq_mark_lost(&q, nth(1));
	tcp_txq_sent(&q, nth(1), 20);
	assert_int_equal(tcp_txq_mark_all_lost(&q, false), 300); /* record 1 was lost already */
	assert_int_equal(tcp_txq_pipe(&q), 0);
	assert_ptr_equal(tcp_txq_lost_first(&q), nth(0));
	audit();
	assert_int_equal(tcp_txq_mark_all_lost(&q, true), 100);
	assert_int_equal(q.sacked, 0);
	assert_int_equal(q.lost_recs, 5);
	audit();
	for (uint32_t i = 0; i < 5; i++) {
		assert_ptr_equal(tcp_txq_lost_first(&q), nth(i));
		tcp_txq_sent(&q, nth(i), 30 + i);
	}
	assert_null(tcp_txq_lost_first(&q));
	audit();
	close_queue();
}

static void
test_undo(void **state)
{
	struct tcp_txq_delta d = {0};

	(void)state;
	open_queue(8, 0xffffff00u);
	append_and_send(6, 100, 10);
	tcp_txq_mark_sacked(&q, nth(3), &d);
	tcp_txq_mark_all_lost(&q, false);
	tcp_txq_sent(&q, nth(0), 40);
	tcp_txq_undo_lost(&q);
	assert_null(tcp_txq_lost_first(&q));
	assert_ptr_equal(tcp_txq_flight_first(&q), nth(1));
	assert_int_equal(tcp_txq_pipe(&q), 500);
	audit();
	close_queue();
}

/* Everything at random, and the audit after each step. */
static void
test_random_operations(void **state)
{
	(void)state;
	EACH_START(s)
	{
		uint64_t x = 0x2545f4914f6cdd1du + s, now = 1;
		struct tcp_txq_delta d;

		open_queue(40, (uint32_t)s);
		for (int i = 0; i < 20000; i++, now += x >> 62) {
			struct tcp_txq_rec *rec;
			uint32_t k;

			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			k = (uint32_t)(x >> 40);
			d = (struct tcp_txq_delta){.rexmit_limit_ns = now};
			rec = q.recs ? nth(k % q.recs) : NULL;
			switch (x >> 20 & 15) {
			case 0:
			case 1:
			case 2:
				append(1 + k % 300);
				break;
			case 3:
			case 4:
			case 5:
				if (q.unsent)
					tcp_txq_sent(&q, q.unsent, now);
				break;
			case 6:
				tcp_txq_ack(&q, &p, q.una + k % (q.nxt - q.una + 1) / 3, &d);
				break;
			case 7:
			case 8:
				if (rec && rec->flags & TCP_REC_SENT)
					tcp_txq_mark_sacked(&q, rec, &d);
				break;
			case 9:
			case 10:
				if (rec && rec->flags & TCP_REC_SENT)
					tcp_txq_mark_lost(&q, rec);
				break;
			case 11:
			case 12:
				if (tcp_txq_lost_first(&q))
					tcp_txq_sent(&q, tcp_txq_lost_first(&q), now);
				break;
			case 13:
				if (rec && rec->len > 1)
					tcp_txq_split(&q, &p, rec, 1 + k % (rec->len - 1));
				break;
			case 14:
				if (k % 8 == 0)
					tcp_txq_mark_all_lost(&q, k & 256);
				break;
			default:
				if (k % 4 == 0)
					tcp_txq_undo_lost(&q);
				else if (rec && rec->flags & TCP_REC_SENT && !(rec->flags & TCP_REC_SACKED))
					tcp_txq_sent(&q, rec, now);
				break;
			}
			audit();
			assert_int_equal(mbufpool_in_use(data_pool), q.recs);
		}
		close_queue();
	}
}

/* Lost records that come in reverse order stand in order of sequence numbers as long as few are passed. */
static void
test_lost_list_is_sorted(void **state)
{
	(void)state;
	open_queue(64, 0xffffff00u);
	append_and_send(40, 100, 10);
	for (uint32_t i = 40; i-- > 0;)
		tcp_txq_mark_lost(&q, nth(i * 7 % 40));
	audit();
	close_queue();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipe_through_a_recovery),
		cmocka_unit_test(test_T27_retransmissions_are_counted_up_to_a_limit),
		cmocka_unit_test(test_retransmitted_without_loss_counts_twice),
		cmocka_unit_test(test_rack_and_rtt_samples),
		cmocka_unit_test(test_rack_ties),
		cmocka_unit_test(test_rack_reordering),
		cmocka_unit_test(test_rto_and_reneging),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_random_operations),
		cmocka_unit_test(test_lost_list_is_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
