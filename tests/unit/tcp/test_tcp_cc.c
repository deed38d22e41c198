/* SPDX-License-Identifier: BSD-3-Clause */
/* What all algorithms share: RFC 6928 §2, RFC 3465, RFC 5681 §3.1 and §4.1. */
#include "tcp_cc.h"
#include "tcp_face.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct tcp_cc_ops *const all[] = {&tcp_cc_newreno, &tcp_cc_cubic};
#define EACH(ops)                           \
	for (uint32_t i_ = 0; i_ < 2; i_++) \
		for (const struct tcp_cc_ops *ops = all[i_]; ops; ops = NULL)

static void
test_initial_window(void **state)
{
	static const struct {
		uint32_t mss, iw;
	} t[] = {{536, 5360},   {1448, 14480}, {1460, 14600}, {1461, 14600},
		 {7300, 14600}, {7301, 14602}, {8948, 17896}, {88, 880}};
	struct tcp_cc cc;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(tcp_cc_initial_window(t[i].mss), t[i].iw);
		EACH(ops)
		{
			tcp_cc_init(&cc, ops, t[i].mss, false);
			assert_int_equal(cc.cwnd, t[i].iw);
			assert_true(tcp_cc_slow_start(&cc));
			tcp_cc_init(&cc, ops, t[i].mss, true);
			assert_int_equal(cc.cwnd, t[i].mss);
		}
	}
}

/* RFC 3465: by octets, at most 2 SMSS for an ACK; ACK division gains nothing; not limited: nothing. */
static void
test_slow_start(void **state)
{
	(void)state;
	EACH(ops)
	{
		struct tcp_cc cc;
		struct tcp_cc_ack ack = {.acked = 1000, .cwnd_limited = true};

		tcp_cc_init(&cc, ops, 1000, false);
		assert_int_equal(cc.cwnd, 10000);
		ops->on_ack(&cc, &ack);
		assert_int_equal(cc.cwnd, 11000);
		ack.acked = 50000;
		ops->on_ack(&cc, &ack);
		assert_int_equal(cc.cwnd, 19000); /* L = 8 (RFC 9406 §4.3) */
		ack.paced = true;
		ops->on_ack(&cc, &ack);
		assert_int_equal(cc.cwnd, 69000);
		ack.acked = 1;
		for (int i = 0; i < 1000; i++)
			ops->on_ack(&cc, &ack);
		assert_int_equal(cc.cwnd, 70000);
		ack.acked = 5000;
		ack.cwnd_limited = false;
		ops->on_ack(&cc, &ack);
		assert_int_equal(cc.cwnd, 70000);
	}
}

/* RFC 3465 §2.3: after an RTO at most 1 SMSS for an ACK, until ssthresh; with SACK it is known what has left. */
static void
test_slow_start_after_rto(void **state)
{
	(void)state;
	EACH(ops)
	{
		struct tcp_cc cc;
		struct tcp_cc_ack ack = {.acked = 5000, .cwnd_limited = true};

		tcp_cc_init(&cc, ops, 1000, false);
		cc.cwnd = 40000;
		ops->on_rto(&cc, 40000, true, 1);
		assert_int_equal(cc.cwnd, 1000); /* the loss window (RFC 5681 §3.1) */
		for (uint32_t w = 2000; w <= cc.ssthresh; w += 1000) {
			ops->on_ack(&cc, &ack);
			assert_int_equal(cc.cwnd, w);
		}
		assert_false(tcp_cc_slow_start(&cc));
		assert_false(cc.after_rto);
		ops->on_rto(&cc, 40000, true, 1);
		ack.exact = true;
		ops->on_ack(&cc, &ack);
		assert_int_equal(cc.cwnd, 6000);
	}
}

static void
test_rto_again_holds_ssthresh(void **state)
{
	(void)state;
	EACH(ops)
	{
		struct tcp_cc cc;
		uint32_t ssthresh;

		tcp_cc_init(&cc, ops, 1000, false);
		cc.cwnd = 40000;
		ops->on_rto(&cc, 40000, true, 1);
		ssthresh = cc.ssthresh;
		ops->on_rto(&cc, 3000, false, 2);
		assert_int_equal(cc.ssthresh, ssthresh);
		assert_int_equal(cc.cwnd, 1000);
	}
}

static void
test_idle(void **state)
{
	struct tcp_cc cc;

	(void)state;
	tcp_cc_init(&cc, &tcp_cc_newreno, 1460, false);
	cc.cwnd = 100000;
	tcp_cc_idle(&cc);
	assert_int_equal(cc.cwnd, 14600);
	cc.cwnd = 5000; /* never raised */
	tcp_cc_idle(&cc);
	assert_int_equal(cc.cwnd, 5000);
}

static void
test_smaller_mss_makes_cwnd_smaller(void **state)
{
	struct tcp_cc cc;

	(void)state;
	tcp_cc_init(&cc, &tcp_cc_newreno, 1460, false);
	cc.cwnd = 146000;
	tcp_cc_set_mss(&cc, 730);
	assert_int_equal(cc.cwnd, 73000);
	assert_int_equal(cc.mss, 730);
	tcp_cc_set_mss(&cc, 1460);
	assert_int_equal(cc.cwnd, 73000);
	cc.cwnd = 800;
	cc.ssthresh = 1000;
	tcp_cc_set_mss(&cc, 1400);
	assert_int_equal(cc.cwnd, 1400);
	assert_int_equal(cc.ssthresh, 2800);
}

static void
test_growth_stops(void **state)
{
	struct tcp_cc cc;

	(void)state;
	tcp_cc_init(&cc, &tcp_cc_newreno, 1460, false);
	tcp_cc_grow(&cc, UINT32_MAX);
	assert_int_equal(cc.cwnd, TCP_CC_CWND_MAX);
	tcp_cc_grow(&cc, 1);
	assert_int_equal(cc.cwnd, TCP_CC_CWND_MAX);
}

static void
test_undo(void **state)
{
	(void)state;
	EACH(ops)
	{
		struct tcp_cc cc;

		tcp_cc_init(&cc, ops, 1000, false);
		cc.cwnd = 50000;
		cc.ssthresh = 45000;
		ops->undo(&cc); /* nothing saved */
		assert_int_equal(cc.cwnd, 50000);
		ops->on_rto(&cc, 50000, true, 1);
		ops->undo(&cc);
		assert_int_equal(cc.cwnd, 50000);
		assert_int_equal(cc.ssthresh, 45000);
		assert_false(cc.after_rto);
		ops->enter_recovery(&cc, TCP_CC_LOSS, 50000, 2);
		ops->exit_recovery(&cc, 3);
		cc.cwnd = 60000; /* has grown past it since: stays */
		ops->undo(&cc);
		assert_int_equal(cc.cwnd, 60000);
		assert_int_equal(cc.ssthresh, 45000);
		cc.cwnd = 1000;
		ops->undo(&cc); /* once only */
		assert_int_equal(cc.cwnd, 1000);
	}
}

static void
test_kinds(void **state)
{
	(void)state;
	assert_ptr_equal(tcp_cc_ops_of(TCP_CC_CUBIC), &tcp_cc_cubic);
	assert_ptr_equal(tcp_cc_ops_of(TCP_CC_NEWRENO), &tcp_cc_newreno);
	assert_ptr_equal(tcp_cc_ops_of(TCP_CC_DCTCP), &tcp_cc_dctcp);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initial_window),
		cmocka_unit_test(test_slow_start),
		cmocka_unit_test(test_slow_start_after_rto),
		cmocka_unit_test(test_rto_again_holds_ssthresh),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_smaller_mss_makes_cwnd_smaller),
		cmocka_unit_test(test_growth_stops),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
