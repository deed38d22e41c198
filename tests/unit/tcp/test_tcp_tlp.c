/* SPDX-License-Identifier: BSD-3-Clause */
/* Tail loss probes: RFC 8985 §7, alone and on a connection. */
#include "tcpscript.h"

#include "tcp_tlp.h"

#define SEG 1000u

static void
test_pto(void **state)
{
	struct tcp_rtt rtt;

	tcp_rtt_init(&rtt, 0);
	assert_true(tcp_tlp_pto(&rtt, 3) == IW_SEC);
	tcp_rtt_sample(&rtt, 10 * IW_MS, IW_SEC);
	assert_true(tcp_tlp_pto(&rtt, 3) == 20 * IW_MS);
	assert_true(tcp_tlp_pto(&rtt, 1) == 70 * IW_MS); /* TLP.max_ack_delay */
	tcp_rtt_init(&rtt, 0);
	tcp_rtt_sample(&rtt, 50 * IW_US, IW_SEC);
	assert_true(tcp_tlp_pto(&rtt, 3) == 2 * IW_MS); /* no less */
	tcp_rtt_init(&rtt, 5 * IW_MS);
	tcp_rtt_sample(&rtt, 50 * IW_US, IW_SEC);
	assert_true(tcp_tlp_pto(&rtt, 3) == 100 * IW_US);
	assert_true(tcp_tlp_pto(&rtt, 1) == 1350 * IW_US);
}

/* §7.3, §7.4.2: TLP_process_ack() row by row; the probe ended at 1000. */
static void
test_process_ack(void **state)
{
	static const struct {
		const char *what;
		bool retrans;
		struct tcp_tlp_ack a;
		bool repaired, still_out;
	} t[] = {
		{"below the probe", true, {.ack = 999}, false, true},
		{"new data delivered", false, {.ack = 1000}, false, false},
		{"new data, beyond", false, {.ack = 1001}, false, false},
		{"the first ACK of it: may be either", true, {.ack = 1000}, false, true},
		{"case 1: D-SACK", true, {.ack = 1000, .dsack = true}, false, false},
		{"case 2: plain duplicate", true, {.ack = 1000, .plain_dup = true}, false, false},
		{"beyond: one of both was lost", true, {.ack = 1001}, true, false},
		{"beyond, with D-SACK", true, {.ack = 1001, .dsack = true}, false, false},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct tcp_tlp tlp = {0};

		assert_true(tcp_tlp_may_probe(&tlp));
		tcp_tlp_sent(&tlp, 1000, t[i].retrans);
		assert_false(tcp_tlp_may_probe(&tlp));
		if (tcp_tlp_ack(&tlp, &t[i].a) != t[i].repaired || tlp.out != t[i].still_out)
			fail_msg("%s", t[i].what);
		assert_false(tcp_tlp_may_probe(&tlp)); /* no RTT since */
		tlp.no_rtt = false;
		assert_int_equal(tcp_tlp_may_probe(&tlp), !t[i].still_out);
	}
}

/* ---- on a connection with an RTT of 40 ms ---- */

static void
open_flight(struct script *x, uint32_t n)
{
	script_init(x);
	x->sack = true;
	script_open(x, NULL);
	x->sim.now_ns += 40 * IW_MS;
	script_syn_ack(x);
	script_skip(x);
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

	if (from < to) {
		seg.n_sack = 1;
		seg.sack[0] = (struct iw_range){at(x, from), at(x, to)};
	}
	script_in_seg(x, &seg, 0);
	script_poll(x);
}

/* At 2 SRTT, not before, the last record goes again; its SACK shows what was lost; no timeout. */
static void
test_probe_at_two_srtt(void **state)
{
	struct script x;
	struct tcp_seg seg;

	open_flight(&x, 5);
	script_wait(&x, 79 * IW_MS);
	script_expect_silence(&x);
	script_wait(&x, 1100 * IW_US);
	seg = script_out(&x);
	assert_int_equal(seg.seq, at(&x, 4));
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.tlp_probes"), 1);
	x.sim.now_ns += 40 * IW_MS;
	ack(&x, 0, 4, 5);
	/* §7.4.1: all before it are long overdue; the window is halved once. */
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(script_out(&x).seq, at(&x, i));
	assert_int_equal(script_conn(&x)->phase, TCP_PHASE_RECOVERY);
	assert_int_equal(script_counter(&x, "tcp.fast_retransmits"), 1);
	assert_int_equal(script_counter(&x, "tcp.rto"), 0);
	script_fini(&x);
}

/* New data goes first, whatever cwnd says; then the RTO is last (§7.3). */
static void
test_probe_with_new_data(void **state)
{
	struct script x;

	open_flight(&x, 10);
	script_conn(&x)->fl->cc.cwnd = 10 * SEG;
	script_send(&x, 10 * SEG, SEG);
	script_expect_silence(&x);
	script_wait(&x, 81 * IW_MS);
	assert_int_equal(script_out(&x).seq, at(&x, 10));
	script_expect_silence(&x);
	script_wait(&x, 190 * IW_MS); /* one probe only (§7.3 condition 1) */
	script_expect_silence(&x);
	script_wait(&x, 30 * IW_MS); /* RTO counted from the probe */
	assert_int_equal(script_out(&x).seq, at(&x, 0));
	assert_int_equal(script_counter(&x, "tcp.rto"), 1);
	script_fini(&x);
}

/* §7.4.2: the probe alone repairs the loss of the last record: congestion control hears of it when something beyond
 * the probe is acknowledged; a D-SACK says that nothing was lost. */
static void
test_repair_is_paid_for(void **state)
{
	for (uint32_t dsack = 0; dsack < 2; dsack++) {
		struct script x;
		uint32_t cwnd;

		open_flight(&x, 5);
		cwnd = script_conn(&x)->fl->cc.cwnd;
		script_wait(&x, 81 * IW_MS);
		assert_int_equal(script_out(&x).seq, at(&x, 4));
		x.sim.now_ns += 40 * IW_MS;
		ack(&x, 5, 0, 0);
		assert_int_equal(script_conn(&x)->fl->cc.cwnd, cwnd);
		if (dsack)
			ack(&x, 5, 4, 5);
		script_send(&x, 5 * SEG, SEG);
		script_skip(&x);
		x.sim.now_ns += 40 * IW_MS;
		ack(&x, 6, 0, 0);
		assert_int_equal(script_counter(&x, "tcp.tlp_repaired"), !dsack);
		if (dsack)
			assert_true(script_conn(&x)->fl->cc.cwnd >= cwnd);
		else
			assert_true(script_conn(&x)->fl->cc.cwnd < cwnd);
		script_fini(&x);
	}
}

/* Nothing to probe: no SACK; something SACKed; all acknowledged. */
static void
test_no_probe(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, SEG);
	script_send(&x, SEG, SEG);
	script_skip(&x);
	script_wait(&x, 190 * IW_MS);
	script_expect_silence(&x);
	script_fini(&x);
	open_flight(&x, 5);
	ack(&x, 5, 0, 0);
	script_wait(&x, 500 * IW_MS);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.tlp_probes"), 0);
	script_fini(&x);
}

/* §7.2: a PTO beyond the RTO is not waited for: the probe takes the timeout's place. */
static void
test_not_later_than_the_rto(void **state)
{
	struct script x;
	struct tcp_rtt *rtt;

	open_flight(&x, 5);
	ack(&x, 5, 0, 0);
	script_skip(&x);
	rtt = &script_conn(&x)->fl->rtt;
	rtt->srtt_ns = IW_SEC;
	rtt->rto_ns = 1100 * IW_MS;
	for (uint32_t i = 5; i < 7; i++)
		script_send(&x, i * SEG, SEG);
	script_skip(&x);
	script_wait(&x, 1090 * IW_MS);
	script_expect_silence(&x);
	script_wait(&x, 20 * IW_MS);
	assert_int_equal(script_out(&x).seq, at(&x, 6));
	assert_int_equal(script_counter(&x, "tcp.tlp_probes"), 1);
	assert_int_equal(script_counter(&x, "tcp.rto"), 0);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pto),
		cmocka_unit_test(test_process_ack),
		cmocka_unit_test(test_probe_at_two_srtt),
		cmocka_unit_test(test_probe_with_new_data),
		cmocka_unit_test(test_repair_is_paid_for),
		cmocka_unit_test(test_no_probe),
		cmocka_unit_test(test_not_later_than_the_rto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
