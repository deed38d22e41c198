/* SPDX-License-Identifier: BSD-3-Clause */
/* False retransmissions found and taken back: RFC 3522, RFC 3708, RFC 5682, each as a function and on a connection. */
#include "tcpscript.h"

#include "tcp_undo.h"

#define SEG 1000u

static struct tcp_undo
begun(bool rto)
{
	struct tcp_undo u = {0};

	tcp_undo_begin(&u, 1000, 11000, 0, rto);
	return u;
}

/* RFC 3522 §3.2: steps 4 and 5. */
static void
test_eifel_rows(void **state)
{
	static const struct {
		const char *what;
		struct tcp_undo_ack a;
		bool dsack_before, mistake;
	} t[] = {
		{"older echo, partial", {.una = 2000, .tsecr = 499, .has_ts = true, .advanced = true}, false, true},
		{"equal echo", {.una = 2000, .tsecr = 500, .has_ts = true, .advanced = true}, false, false},
		{"older, all acknowledged",
		 {.una = 11000, .tsecr = 499, .has_ts = true, .advanced = true},
		 false,
		 false},
		{"the same, D-SACK known", {.una = 11000, .tsecr = 499, .has_ts = true, .advanced = true}, true, true},
		{"with D-SACK",
		 {.una = 2000, .tsecr = 499, .has_ts = true, .advanced = true, .dsack = true},
		 true,
		 false},
		{"not acceptable", {.una = 1000, .tsecr = 499, .has_ts = true}, false, false},
		{"no timestamp", {.una = 2000, .advanced = true}, false, false},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct tcp_undo u = begun(false);
		struct tcp_undo_ack a = t[i].a;

		u.dsack_seen = t[i].dsack_before;
		a.emss = SEG;
		tcp_undo_rexmit(&u, true, true, 500);
		tcp_undo_rexmit(&u, true, true, 700); /* does not overwrite RetransmitTS */
		if (tcp_undo_ack(&u, &a) != t[i].mistake)
			fail_msg("%s", t[i].what);
		assert_false(t[i].mistake && tcp_undo_ack(&u, &a)); /* once */
	}
}

/* An echo of a record that was sent again before this recovery tells nothing, nor that of another than the oldest. */
static void
test_eifel_needs_the_oldest(void **state)
{
	struct tcp_undo u = begun(false);
	struct tcp_undo_ack a = {.una = 2000,
				 .fack = 9000,
				 .emss = SEG,
				 .tsecr = 499,
				 .delivered = SEG,
				 .has_ts = true,
				 .advanced = true};

	tcp_undo_rexmit(&u, false, true, 500);
	tcp_undo_rexmit(&u, true, true, 501);
	assert_false(tcp_undo_ack(&u, &a));
}

/* Retransmissions that were on their way when recovery began have to be reported too. */
static void
test_dsack_of_before(void **state)
{
	struct tcp_undo u = {0};
	struct tcp_undo_ack a = {.una = 9000, .fack = 9000, .emss = SEG, .dsack = true, .dsack_block = {1000, 2000}};

	tcp_undo_begin(&u, 1000, 11000, 1, false);
	tcp_undo_rexmit(&u, false, false, 0);
	assert_false(tcp_undo_ack(&u, &a));
	a.dsack_block = (struct iw_range){2000, 3000};
	assert_true(tcp_undo_ack(&u, &a));
}

/* Only when each retransmission was reported. */
static void
test_dsack_counts(void **state)
{
	struct tcp_undo u = begun(false);
	struct tcp_undo_ack a = {.una = 9000, .fack = 9000, .emss = SEG, .dsack = true};

	a.dsack_block = (struct iw_range){1000, 2000};
	assert_false(tcp_undo_ack(&u, &a)); /* nothing was sent again yet */
	for (uint32_t i = 0; i < 3; i++)
		tcp_undo_rexmit(&u, true, false, 0);
	assert_false(tcp_undo_ack(&u, &a));
	a.dsack_block = (struct iw_range){0, 1000}; /* of before */
	assert_false(tcp_undo_ack(&u, &a));
	a.dsack_block = (struct iw_range){11000, 12000}; /* of behind */
	assert_false(tcp_undo_ack(&u, &a));
	a.dsack_block = (struct iw_range){2000, 3000};
	assert_false(tcp_undo_ack(&u, &a));
	a.dsack_block = (struct iw_range){3000, 4000};
	assert_true(tcp_undo_ack(&u, &a));
	assert_false(tcp_undo_ack(&u, &a));
}

/* RFC 5682 §3.1: recovery of [1000, 11000) by timeout. */
static void
test_frto_steps(void **state)
{
	struct tcp_undo_ack rexmit = {
		.una = 2000, .fack = 2000, .emss = SEG, .delivered = SEG, .advanced = true, .new_data = true};
	struct tcp_undo_ack a;
	struct tcp_undo u = begun(true);

	assert_int_equal(u.frto, TCP_FRTO_REXMIT);
	a = (struct tcp_undo_ack){.una = 1000, .fack = 3000, .emss = SEG, .delivered = SEG, .duplicate = true};
	assert_false(tcp_undo_ack(&u, &a)); /* step 2: duplicates wait */
	assert_int_equal(u.frto, TCP_FRTO_REXMIT);
	assert_false(tcp_undo_ack(&u, &rexmit)); /* 2b */
	assert_int_equal(u.frto, TCP_FRTO_NEW);
	assert_int_equal(u.frto_left, 2);
	a = (struct tcp_undo_ack){.una = 2000, .fack = 2000, .emss = SEG};
	assert_false(tcp_undo_ack(&u, &a)); /* a window update: ignored */
	assert_int_equal(u.frto, TCP_FRTO_NEW);
	a = (struct tcp_undo_ack){.una = 2000, .fack = 4000, .emss = SEG, .delivered = SEG, .duplicate = true};
	assert_true(tcp_undo_ack(&u, &a)); /* 3b */
	u = begun(true);
	tcp_undo_ack(&u, &rexmit);
	a.fack = 12000; /* of the new data: 3a */
	assert_false(tcp_undo_ack(&u, &a));
	assert_int_equal(u.frto, TCP_FRTO_OFF);
	u = begun(true);
	tcp_undo_ack(&u, &rexmit);
	a = (struct tcp_undo_ack){.una = 2000, .fack = 2000, .emss = SEG, .duplicate = true};
	assert_false(tcp_undo_ack(&u, &a)); /* 3a: a duplicate without news */
	assert_int_equal(u.frto, TCP_FRTO_OFF);
	u = begun(true);
	rexmit.una = 11000; /* 2a */
	assert_false(tcp_undo_ack(&u, &rexmit));
	assert_int_equal(u.frto, TCP_FRTO_OFF);
	u = begun(true);
	rexmit.una = 2000;
	rexmit.new_data = false; /* nothing new to send */
	assert_false(tcp_undo_ack(&u, &rexmit));
	assert_int_equal(u.frto, TCP_FRTO_OFF);
}

static void
test_rto_again(void **state)
{
	struct tcp_undo u = begun(true);

	u.frto = TCP_FRTO_NEW;
	tcp_undo_rto_again(&u, 1000);
	assert_int_equal(u.frto, TCP_FRTO_REXMIT);
	tcp_undo_rto_again(&u, 2000);
	assert_int_equal(u.frto, TCP_FRTO_OFF);
	assert_false(u.open);
}

/* ---- on a connection ---- */

static void
open_flight(struct script *x, uint32_t n)
{
	script_init(x);
	x->sack = true;
	script_open(x, NULL);
	x->sim.now_ns += 40 * IW_MS;
	script_syn_ack(x);
	script_skip(x);
	script_conn(x)->fl->cc.cwnd = n * SEG;
	for (uint32_t i = 0; i < n; i++)
		script_send(x, i * SEG, SEG);
	script_skip(x);
}

static uint32_t
at(const struct script *x, uint32_t record)
{
	return x->our_iss + 1 + record * SEG;
}

static void
ack(struct script *x, uint32_t una, uint32_t from, uint32_t to)
{
	struct tcp_seg seg = script_seg(x, TCP_ACK, x->seq, at(x, una));

	seg.tsecr = x->tsval;
	if (from < to) {
		seg.n_sack = 1;
		seg.sack[0] = (struct iw_range){at(x, from), at(x, to)};
	}
	script_in_seg(x, &seg, 0);
	script_poll(x);
}

/* Reordering looked like loss: the D-SACK gives the window back, and RACK becomes more patient. */
static void
test_dsack_undo(void **state)
{
	struct script x;
	struct tcp_conn *c;

	open_flight(&x, 20);
	c = script_conn(&x);
	x.sim.now_ns += 40 * IW_MS;
	ack(&x, 0, 1, 5); /* the first one is late */
	assert_int_equal(script_out(&x).seq, at(&x, 0));
	assert_int_equal(c->phase, TCP_PHASE_RECOVERY);
	assert_int_equal(c->fl->cc.ssthresh, 14 * SEG); /* beta 0.7 */
	x.sim.now_ns += IW_MS;
	ack(&x, 20, 0, 0); /* it arrived after all */
	assert_int_equal(c->phase, TCP_PHASE_OPEN);
	assert_int_equal(c->fl->cc.cwnd, 14 * SEG);
	x.sim.now_ns += 40 * IW_MS;
	ack(&x, 20, 0, 1); /* and then the retransmission */
	assert_int_equal(c->fl->cc.cwnd, 20 * SEG);
	assert_int_equal(c->fl->cc.ssthresh, TCP_CC_SSTHRESH_INIT);
	assert_int_equal(script_counter(&x, "tcp.undone"), 1);
	assert_int_equal(c->fl->rack.reo_wnd_mult, 2);
	script_fini(&x);
}

/* The path stood still for longer than the RTO: two new segments instead of going back, and what had been sent before
 * is acknowledged: everything as it was. */
static void
test_frto_undo(void **state)
{
	struct script x;
	struct tcp_conn *c;

	open_flight(&x, 10);
	c = script_conn(&x);
	for (uint32_t i = 10; i < 13; i++)
		script_send(&x, i * SEG, SEG);
	script_wait(&x, 81 * IW_MS);
	assert_int_equal(script_out(&x).seq, at(&x, 10)); /* tail loss probe */
	script_wait(&x, 220 * IW_MS);
	assert_int_equal(script_out(&x).seq, at(&x, 0));
	assert_int_equal(script_counter(&x, "tcp.rto"), 1);
	assert_int_equal(c->fl->cc.cwnd, c->emss);
	ack(&x, 1, 0, 0);
	assert_int_equal(script_out(&x).seq, at(&x, 11));
	script_skip(&x);
	assert_int_equal(script_counter(&x, "tcp.tx_retrans"), 1); /* nothing else went again */
	ack(&x, 2, 0, 0);
	assert_int_equal(script_counter(&x, "tcp.undone"), 1);
	assert_int_equal(c->phase, TCP_PHASE_OPEN);
	assert_true(c->fl->cc.cwnd >= 10 * SEG);
	assert_int_equal(c->fl->txq.lost_octets, 0);
	ack(&x, 13, 0, 0);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.tx_retrans"), 1);
	script_fini(&x);
}

/* Genuine: the ACK of new data below RecoveryPoint's hole: slow start through all of it. */
static void
test_frto_genuine(void **state)
{
	struct script x;

	open_flight(&x, 10);
	for (uint32_t i = 10; i < 13; i++)
		script_send(&x, i * SEG, SEG);
	script_wait(&x, 81 * IW_MS);
	script_wait(&x, 220 * IW_MS);
	script_skip(&x);
	ack(&x, 1, 0, 0);
	script_skip(&x);
	ack(&x, 1, 11, 12);
	assert_int_equal(script_out(&x).seq, at(&x, 1));
	assert_int_equal(script_counter(&x, "tcp.undone"), 0);
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_LOSS);
	script_fini(&x);
}

/* RFC 3522: an ACK that echoes the first transmission, after a timeout, without SACK. */
static void
test_eifel_undo(void **state)
{
	struct script x;
	struct tcp_conn *c;
	struct tcp_seg seg, sent;

	script_init(&x);
	x.ts = true;
	script_established(&x);
	c = script_conn(&x);
	for (uint32_t i = 0; i < 10; i++)
		script_send(&x, i * SEG, SEG);
	script_poll(&x);
	sent = x.out[x.n - 1];
	script_wait(&x, 210 * IW_MS);
	assert_int_equal(script_counter(&x, "tcp.rto"), 1);
	script_skip(&x);
	seg = script_seg(&x, TCP_ACK, x.seq, at(&x, 2));
	seg.tsecr = sent.tsval;
	script_in_seg(&x, &seg, 0);
	script_poll(&x);
	assert_int_equal(script_counter(&x, "tcp.undone"), 1);
	assert_int_equal(c->phase, TCP_PHASE_OPEN);
	assert_true(c->fl->cc.cwnd >= 10 * SEG);
	script_expect_silence(&x);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eifel_rows),
		cmocka_unit_test(test_dsack_counts),
		cmocka_unit_test(test_eifel_needs_the_oldest),
		cmocka_unit_test(test_dsack_of_before),
		cmocka_unit_test(test_frto_steps),
		cmocka_unit_test(test_rto_again),
		cmocka_unit_test(test_dsack_undo),
		cmocka_unit_test(test_frto_undo),
		cmocka_unit_test(test_frto_genuine),
		cmocka_unit_test(test_eifel_undo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
