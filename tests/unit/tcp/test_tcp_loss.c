/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss recovery against a hand-made peer (RFC 5681, RFC 6582, RFC 6675, RFC 3042, RFC 6298). */
#include "tcpscript.h"

#include "tcp_loss.h"

#define SEG 1000u

/* ESTABLISHED, with n records of SEG octets sent: record i is at at(x, i). */
static void
flight(struct script *x, bool sack, uint32_t n)
{
	script_init(x);
	x->sack = sack;
	script_established(x);
	script_conn(x)->fl->cc.cwnd = 100 * SEG;
	for (uint32_t i = 0; i < n; i++)
		script_send(x, i * SEG, SEG);
	script_skip(x);
	assert_int_equal(tcp_txq_flight_size(&script_conn(x)->fl->txq), n * SEG);
}

static uint32_t
at(const struct script *x, uint32_t record)
{
	return x->our_iss + 1 + record * SEG;
}

/* An ACK up to record `una`, SACKing records [from, to). */
static void
ack(struct script *x, uint32_t una, uint32_t from, uint32_t to)
{
	struct tcp_seg seg = script_seg(x, TCP_ACK, x->seq, at(x, una));

	x->sim.now_ns += IW_US; /* what was sent again is younger than what it is sent again for */
	if (x->sack && from < to) {
		seg.n_sack = 1;
		seg.sack[0] = (struct iw_range){at(x, from), at(x, to)};
	}
	script_in_seg(x, &seg, 0);
	script_poll(x);
}

static struct tcp_txq_rec *
nth(struct script *x, uint32_t n)
{
	struct tcp_txq *q = &script_conn(x)->fl->txq;
	struct tcp_txq_rec *rec = tcp_txq_first(q);

	while (n-- > 0)
		rec = tcp_txq_next(q, rec);
	return rec;
}

static void
expect_record(struct script *x, uint32_t record)
{
	struct tcp_seg seg = script_out(x);

	assert_int_equal(seg.seq, at(x, record));
	assert_int_equal(seg.len, SEG);
}

/* The third duplicate, not the second, brings the first record again, without any timeout; cwnd is reduced. */
static void
test_fast_retransmit_newreno(void **state)
{
	struct script x;

	flight(&x, false, 10);
	ack(&x, 0, 0, 0);
	ack(&x, 0, 0, 0);
	script_expect_silence(&x);
	ack(&x, 0, 0, 0);
	expect_record(&x, 0);
	script_expect_silence(&x);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_RECOVERY);
	assert_int_equal(script_conn(&x)->fl->cc.ssthresh, 7 * SEG); /* CUBIC's beta */
	assert_int_equal(script_counter(&x, "tcp.rto"), 0);
	ack(&x, 10, 0, 0);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_OPEN);
	assert_int_equal(script_conn(&x)->fl->cc.cwnd, 7 * SEG);
	script_expect_silence(&x);
	script_fini(&x);
}

/* RFC 6582 §3.2 step 3: two holes: the partial ACK brings the second at once. */
static void
test_newreno_partial_ack(void **state)
{
	struct script x;

	flight(&x, false, 10);
	for (uint32_t i = 0; i < 3; i++)
		ack(&x, 0, 0, 0);
	expect_record(&x, 0);
	ack(&x, 4, 0, 0);
	expect_record(&x, 4);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_RECOVERY);
	ack(&x, 10, 0, 0);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_OPEN);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.tx_retrans"), 2);
	assert_int_equal(script_counter(&x, "tcp.fast_retransmits"), 1);
	script_fini(&x);
}

/* RFC 3042: the first two duplicates let a new record go each, although cwnd is full. */
static void
limited_transmit(bool sack)
{
	struct script x;

	flight(&x, sack, 10);
	script_conn(&x)->fl->cc.cwnd = 10 * SEG;
	for (uint32_t i = 10; i < 14; i++)
		script_send(&x, i * SEG, SEG);
	script_expect_silence(&x);
	ack(&x, 0, 1, 2);
	expect_record(&x, 10);
	script_expect_silence(&x);
	ack(&x, 0, 1, 3);
	expect_record(&x, 11);
	script_expect_silence(&x);
	ack(&x, 0, 1, 4);
	expect_record(&x, 0);
	script_fini(&x);
}

static void
test_limited_transmit(void **state)
{
	limited_transmit(false);
	limited_transmit(true);
}

/* A window update or data is no duplicate (RFC 5681 §2). */
static void
test_what_is_no_duplicate(void **state)
{
	struct script x;

	flight(&x, false, 10);
	for (uint32_t i = 0; i < 10; i++) {
		x.wnd--;
		ack(&x, 0, 0, 0);
		script_data(&x, 10);
	}
	script_skip(&x);
	assert_int_equal(script_counter(&x, "tcp.tx_retrans"), 0);
	assert_int_equal(script_conn(&x)->dupacks, 0);
	script_fini(&x);
}

/* RFC 6675: three holes found by SACK; all are sent again within pipe <= cwnd, and nothing else. */
static void
test_sack_recovery(void **state)
{
	struct script x;
	struct tcp_seg seg;

	flight(&x, true, 12);
	seg = script_seg(&x, TCP_ACK, x.seq, at(&x, 0));
	seg.n_sack = 3; /* records 0, 2, 4 are missing */
	seg.sack[0] = (struct iw_range){at(&x, 5), at(&x, 12)};
	seg.sack[1] = (struct iw_range){at(&x, 3), at(&x, 4)};
	seg.sack[2] = (struct iw_range){at(&x, 1), at(&x, 2)};
	script_in_seg(&x, &seg, 0);
	script_poll(&x);
	expect_record(&x, 0);
	expect_record(&x, 2);
	expect_record(&x, 4);
	script_expect_silence(&x);
	assert_true(tcp_loss_pipe(script_conn(&x)) <= script_conn(&x)->fl->cc.cwnd);
	ack(&x, 12, 0, 0);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_OPEN);
	assert_int_equal(script_conn(&x)->fl->cc.cwnd, script_conn(&x)->fl->cc.ssthresh);
	assert_int_equal(script_counter(&x, "tcp.rto"), 0);
	script_fini(&x);
}

/* During recovery never more is in the network than cwnd lets, however ACKs come. */
static void
test_pipe_stays_below_cwnd(void **state)
{
	struct script x;

	flight(&x, true, 40);
	script_conn(&x)->fl->cc.cwnd = 40 * SEG;
	for (uint32_t i = 40; i < 80; i++)
		script_send(&x, i * SEG, SEG);
	script_expect_silence(&x);
	for (uint32_t to = 4; to < 40; to++) {
		ack(&x, 0, 3, to);
		/* The first retransmission goes whatever cwnd says (RFC 6675 §5 step 4.3). */
		assert_true(tcp_loss_pipe(script_conn(&x)) <= script_conn(&x)->fl->cc.cwnd + (to == 6) * SEG);
		assert_true(script_conn(&x)->phase == TCP_PHASE_OPEN || script_conn(&x)->fl->cc.ssthresh == 28 * SEG);
	}
	assert_in_range(tcp_loss_pipe(script_conn(&x)), 25 * SEG, 29 * SEG);
	script_fini(&x);
}

/* RFC 6937 §3 on each ACK: what went out is in proportion to what arrived, ssthresh to RecoverFS (14 to 20 with CUBIC's
 * beta), in whole segments, from the first ACK of the recovery on. */
static void
test_prr_budget(void **state)
{
	for (uint32_t cwnd = 20; cwnd <= 40; cwnd += 20) { /* RecoverFS is what is in flight, not what might be */
		struct script x;

		flight(&x, true, 20);
		script_conn(&x)->fl->cc.cwnd = cwnd * SEG;
		for (uint32_t to = 4; to < 13; to++) {
			uint32_t delivered = to - 1;

			ack(&x, 0, 1, to);
			for (uint32_t i = 20; to == 4 && i < 40; i++)
				script_send(&x, i * SEG, SEG);
			script_poll(&x);
			assert_int_equal(script_conn(&x)->fl->cc.ssthresh, 14 * SEG);
			assert_int_equal(x.n - x.at, delivered * 14 / 20);
			assert_int_equal(x.out[x.at].seq, at(&x, 0));
		}
		script_fini(&x);
	}
}

/* RFC 5681 §3.1: a timeout starts from one segment; ssthresh falls once, not with each back-off; slow start through
 * what was lost; what was SACKed is not sent again. */
static void
test_rto(void **state)
{
	struct tcp_txq_delta d = {0};
	struct script x;

	flight(&x, true, 10);
	tcp_txq_mark_sacked(&script_conn(&x)->fl->txq, nth(&x, 8), &d); /* nobody could tell from it what is lost */
	script_conn(&x)->fl->at_ns[TCP_TIMER_LOSS] = IW_NEVER;
	script_wait(&x, 210 * IW_MS);
	expect_record(&x, 0);
	script_expect_silence(&x);
	assert_int_equal(script_conn(&x)->fl->cc.cwnd, script_conn(&x)->emss);
	assert_int_equal(script_conn(&x)->fl->cc.ssthresh, 7 * SEG);
	script_wait(&x, 410 * IW_MS);
	expect_record(&x, 0);
	assert_int_equal(script_conn(&x)->fl->cc.ssthresh, 7 * SEG);
	ack(&x, 1, 8, 9);
	expect_record(&x, 1);
	expect_record(&x, 2);
	script_expect_silence(&x);
	ack(&x, 3, 8, 9);
	for (uint32_t i = 3; i < 7; i++)
		expect_record(&x, i);
	ack(&x, 6, 8, 9);
	expect_record(&x, 7);
	expect_record(&x, 9);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_LOSS);
	ack(&x, 10, 0, 0);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_OPEN);
	script_expect_silence(&x);
	script_fini(&x);
}

/* RFC 2018 §8: a peer that forgot what it had SACKed gets it again. */
static void
test_reneging(void **state)
{
	struct script x;

	flight(&x, true, 4);
	ack(&x, 0, 1, 4);
	expect_record(&x, 0);
	ack(&x, 1, 0, 0); /* has record 0, and 1..3 no more */
	script_wait(&x, 500 * IW_MS);
	expect_record(&x, 1);
	ack(&x, 2, 0, 0);
	expect_record(&x, 2);
	ack(&x, 4, 0, 0);
	assert_true(tcp_txq_empty(&script_conn(&x)->fl->txq));
	script_fini(&x);
}

/* RFC 6582 §3.2: after a timeout duplicates of what was outstanding then start no second recovery. */
static void
test_no_fast_retransmit_behind_rto(void **state)
{
	struct script x;

	flight(&x, false, 10);
	script_wait(&x, 210 * IW_MS);
	expect_record(&x, 0);
	for (uint32_t i = 0; i < 6; i++)
		ack(&x, 0, 0, 0);
	assert_int_equal(script_counter(&x, "tcp.fast_retransmits"), 0);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_LOSS);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fast_retransmit_newreno),
		cmocka_unit_test(test_newreno_partial_ack),
		cmocka_unit_test(test_limited_transmit),
		cmocka_unit_test(test_what_is_no_duplicate),
		cmocka_unit_test(test_sack_recovery),
		cmocka_unit_test(test_pipe_stays_below_cwnd),
		cmocka_unit_test(test_prr_budget),
		cmocka_unit_test(test_rto),
		cmocka_unit_test(test_reneging),
		cmocka_unit_test(test_no_fast_retransmit_behind_rto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
