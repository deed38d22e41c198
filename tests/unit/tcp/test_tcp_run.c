/* SPDX-License-Identifier: BSD-3-Clause */
/* How many new records go at once (RFC 5681 §3.1, RFC 9293 §3.8.6), and what is left to the slow rules. */
#include "tcpscript.h"

#include "tcp_run.h"

#define HOST(x) ((x).sim.h[0].tcp)

/* Appends n records of len octets and sends what may go. */
static uint32_t
run(struct script *x, uint32_t n, uint32_t len, uint32_t max)
{
	struct tcp_out_train train = {.head.len = 0};
	uint32_t sent;

	for (uint32_t i = 0; i < n; i++)
		script_send(x, i * len, len);
	assert_int_equal(tcp_run_send(HOST(*x), script_conn(x), max, &train, x->sim.now_ns, &sent), 0);
	return sent;
}

static void
test_how_many(void **state)
{
	static const struct {
		uint32_t cwnd, wnd, n, len, max, sent;
	} rows[] = {
		{10000, 65535, 12, 1000, 64, 10}, /* cwnd */
		{10999, 65535, 12, 1000, 64, 10}, {9999, 65535, 12, 1000, 64, 9},
		{65535, 3000, 12, 1000, 64, 3}, /* the peer's window */
		{65535, 3999, 12, 1000, 64, 3},   {65535, 0, 12, 1000, 64, 0},
		{65535, 65535, 12, 1000, 5, 5}, /* frames */
		{65535, 65535, 0, 1000, 64, 0},   {65535, 65535, 3, 1460, 64, 3},
		{65535, 65535, 3, 1461, 64, 0}, /* to be cut */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct script x;

		script_init(&x);
		script_established(&x);
		script_conn(&x)->fl->cc.cwnd = rows[i].cwnd;
		script_conn(&x)->snd_wnd = rows[i].wnd;
		assert_int_equal(run(&x, rows[i].n, rows[i].len, rows[i].max), rows[i].sent);
		/* What is in flight counts. */
		if (rows[i].cwnd == 10000)
			assert_int_equal(run(&x, 0, 0, 64), 0);
		script_fini(&x);
	}
}

/* Loss, a retransmission that is forced, and F-RTO have rules of their own. */
static void
test_not_plain(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		struct script x;
		struct tcp_conn *c;

		script_init(&x);
		script_established(&x);
		assert_int_equal(run(&x, 2, 1000, 64), 2);
		c = script_conn(&x);
		if (i == 1)
			c->phase = TCP_PHASE_RECOVERY;
		if (i == 2)
			tcp_txq_mark_lost(&c->fl->txq, tcp_txq_first(&c->fl->txq));
		if (i == 3)
			tcp_conn_set(c, TCP_CONN_FORCE);
		if (i == 4)
			c->fl->undo.frto = TCP_FRTO_NEW;
		assert_int_equal(run(&x, 2, 1000, 64), i == 0 ? 2 : 0);
		script_fini(&x);
	}
}

/* RFC 5681 §4.1: after a pause longer than the RTO the window is the initial one again. */
static void
test_after_idle(void **state)
{
	struct script x;

	(void)state;
	script_init(&x);
	script_established(&x);
	script_conn(&x)->fl->cc.cwnd = 40000;
	x.sim.now_ns += 10 * IW_SEC;
	assert_int_equal(run(&x, 40, 1000, 64), 14); /* 10 segments of 1460 */
	script_fini(&x);
}

/* Large windows over long ways leave in bursts: the rest waits for its time. */
static void
test_paced(void **state)
{
	struct script x;
	struct tcp_conn *c;
	uint32_t first;

	(void)state;
	script_init(&x);
	script_established(&x);
	c = script_conn(&x);
	c->fl->cc.cwnd = 400 * c->emss;
	c->fl->rtt.srtt_ns = 100 * IW_MS;
	c->snd_wnd = 1u << 30;
	x.sim.now_ns += IW_MS;
	first = run(&x, 300, 1000, 300);
	assert_in_range(first, TCP_PACE_BURST_SEGMENTS, 2 * TCP_PACE_BURST_SEGMENTS);
	assert_int_equal(run(&x, 0, 0, 300), 0);
	x.sim.now_ns += 10 * IW_MS;
	assert_in_range(run(&x, 0, 0, 300), 1, 299 - first);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_how_many),
		cmocka_unit_test(test_not_plain),
		cmocka_unit_test(test_after_idle),
		cmocka_unit_test(test_paced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
