/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 6937 §3, and the two examples of §3.1. */
#include "tcp_prr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MSS 1000

/* §3.1, first figure: 20 segments in flight, the first is lost; ssthresh 10.  One goes out for every other ACK, pipe
 * falls to ssthresh, and no more than the window was ever sent. */
static void
test_one_loss(void **state)
{
	struct tcp_prr prr;
	uint32_t pipe = 20 * MSS, sent = 0;

	(void)state;
	tcp_prr_begin(&prr, 20 * MSS);
	for (uint32_t i = 1; i <= 19; i++) {
		uint32_t n;

		pipe -= i == 1 ? 2 * MSS : MSS; /* the lost one leaves too */
		n = tcp_prr_ack(&prr, MSS, pipe, 10 * MSS, MSS);
		n -= n % MSS;
		tcp_prr_sent(&prr, n);
		pipe += n;
		sent += n;
		/* In proportion; from pipe == ssthresh on, one for one. */
		assert_int_equal(sent, (i < 16 ? i / 2 : i - 9) * MSS);
	}
	assert_int_equal(sent, 10 * MSS);
	assert_int_equal(pipe, 10 * MSS);
}

/* §3.1, second figure: the first 15 of 20 are lost; 10 is the target.  Below ssthresh it grows by slow start: an
 * ACK of one lets two out. */
static void
test_burst_loss(void **state)
{
	struct tcp_prr prr;
	uint32_t pipe = 5 * MSS;

	(void)state;
	tcp_prr_begin(&prr, 20 * MSS);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t n;

		pipe -= MSS;
		n = tcp_prr_ack(&prr, MSS, pipe, 10 * MSS, MSS);
		assert_int_equal(n, 2 * MSS);
		tcp_prr_sent(&prr, n);
		pipe += n;
	}
	assert_int_equal(pipe, 10 * MSS);
}

/* Every number of the formula. */
static void
test_formula(void **state)
{
	static const struct {
		uint32_t flight, out, delivered, pipe, ssthresh, want;
	} t[] = {
		{20000, 0, 1000, 18000, 10000, 500},    /* proportional */
		{20000, 0, 1001, 18000, 10000, 501},    /* rounded up */
		{20000, 500, 1000, 18000, 10000, 0},    /* sent already */
		{20000, 900, 1000, 18000, 10000, 0},    /* more than that: not negative */
		{20000, 0, 1000, 10000, 10000, 0},      /* at ssthresh: no room */
		{20000, 0, 1000, 9500, 10000, 500},     /* room is the bound */
		{20000, 0, 1000, 2000, 10000, 2000},    /* delivered + MSS is */
		{20000, 4000, 1000, 2000, 10000, 2000}, /* delivered - out is negative: DeliveredData + MSS */
		{20000, 0, 0, 2000, 10000, 1000},       /* at least one segment to catch up */
		{0, 0, 1000, 5000, 2000, 2000000},      /* no flight: no division by zero */
		{0x3fffffff, 0, 0x3fffffff, 0x3ffffffe, 0x20000000, 0x20000000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct tcp_prr prr;

		tcp_prr_begin(&prr, t[i].flight);
		tcp_prr_sent(&prr, t[i].out);
		assert_int_equal(tcp_prr_ack(&prr, t[i].delivered, t[i].pipe, t[i].ssthresh, MSS), t[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_loss),
		cmocka_unit_test(test_burst_loss),
		cmocka_unit_test(test_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
