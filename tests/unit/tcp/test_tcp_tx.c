/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants, appending, small windows, order of what leaves (design D2, D20, D21, D24; RFC 9293 §3.8.6.2.1). */
#include "tcpscript.h"

#define HOST(x) ((x).sim.h[0].tcp)

static void
test_grant(void **state)
{
	struct script x;
	struct tcp_grant g;

	script_init(&x);
	x.ws = true;
	script_established(&x);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0); /* the window, scaled now: 65535 << 7 */
	g = tcp_tx_grant(HOST(x), x.conn);
	assert_int_equal(g.emss, 1460);
	assert_int_equal(g.segments, 10); /* initial window (RFC 6928) */
	for (uint32_t i = 0; i < 9; i++)
		script_send(&x, i * 1460, 1460);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, 1); /* what was appended counts, sent or not */
	script_poll(&x);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, 1);
	script_send(&x, 9 * 1460, 100);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, 0);
	script_skip(&x);
	assert_int_equal(x.bits & TCP_READY_ROOM, 0);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1 + 2 * 1460, 0);
	script_poll(&x);
	assert_int_equal(x.bits, TCP_READY_ROOM); /* at the edge, once */
	x.bits = 0;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1 + 4 * 1460, 0);
	script_poll(&x);
	assert_int_equal(x.bits, 0);
	assert_true(tcp_tx_grant(HOST(x), x.conn).segments >= 8);
	assert_int_equal(tcp_tx_grant(HOST(x), 0).segments, 0);
	script_fini(&x);
}

/* The division by reciprocal is exact for every EMSS at every edge. */
static void
test_grant_counts_exactly(void **state)
{
	struct script x;
	struct tcp_conn *c;

	script_init(&x);
	script_established(&x);
	c = script_conn(&x);
	c->snd_wnd = 0x3fffffff;
	for (uint32_t mtu = 128; mtu < 9100; mtu += 7) {
		c->peer_mss = 9000;
		tcp_conn_set_mtu(c, mtu);
		for (uint32_t n = 1; n < 64; n += 9) {
			c->fl->cc.cwnd = n * c->emss;
			assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, n);
			c->fl->cc.cwnd = (n + 1) * c->emss - 1;
			assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, n);
		}
	}
	script_fini(&x);
}

static void
test_append_refused(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	assert_int_equal(tcp_tx_append(HOST(x), 12345, sim_mbuf(&x.sim.h[0], 0, 10)), -IW_E_NOTCONN);
	tcp_close(HOST(x), x.conn, x.sim.now_ns);
	assert_int_equal(tcp_tx_append(HOST(x), x.conn, sim_mbuf(&x.sim.h[0], 0, 10)), -IW_E_NOTCONN);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, 0);
	script_fini(&x);
}

/* Records are for data only as long as each connection could still get its SYN and FIN. */
static void
test_records_run_out(void **state)
{
	struct script x;
	uint32_t n = 0;

	script_init(&x);
	script_established(&x);
	HOST(x)->txq_pool.max = HOST(x)->params.max_conns + 10;
	while (tcp_tx_append(HOST(x), x.conn, sim_mbuf(&x.sim.h[0], 0, 10)) == 0)
		n++;
	assert_int_equal(n, 10);
	assert_int_equal(tcp_tx_append(HOST(x), x.conn, sim_mbuf(&x.sim.h[0], 0, 10)), -IW_E_NOMEM);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, 0);
	tcp_close(HOST(x), x.conn, x.sim.now_ns);
	script_skip(&x);
	assert_int_equal(x.out[x.n - 1].flags, TCP_FIN | TCP_ACK);
	script_fini(&x);
}

/* Only the first of three finds a record: that one is TCP's and leaves, the others are given back. */
static void
test_some_appended(void **state)
{
	struct tcp_txq_pool *pool;
	struct rte_mbuf *m[3];
	struct script x;
	uint32_t held;

	(void)state;
	script_init(&x);
	script_established(&x);
	pool = &HOST(x)->txq_pool;
	while (iw_list_pop(&pool->free))
		;
	pool->max = pool->fresh + 1;
	held = mbufpool_in_use(x.sim.h[0].env.data_pool);
	for (uint32_t i = 0; i < 3; i++)
		m[i] = sim_mbuf(&x.sim.h[0], 10 * i, 10);
	assert_int_equal(tcp_tx_append_summed(HOST(x), x.conn, m,
					      (uint16_t[]){tcp_txq_sum(pool, m[0]), tcp_txq_sum(pool, m[1]),
							   tcp_txq_sum(pool, m[2])},
					      3),
			 -IW_E_NOMEM);
	assert_int_equal(mbufpool_in_use(x.sim.h[0].env.data_pool), held + 1);
	script_poll(&x);
	assert_int_equal(x.out[x.n - 1].len, 10);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 11, 0);
	assert_int_equal(mbufpool_in_use(x.sim.h[0].env.data_pool), held);
	script_fini(&x);
}

/* T36: no record for the FIN: what is before it is sent, and sent again, all the same.  Its last ACK is not one of the
 * FIN, which follows with the record that this gives back. */
static void
test_T36_fin_without_record(void **state)
{
	struct tcp_txq_pool *pool;
	struct script x;

	(void)state;
	script_init(&x);
	script_established(&x);
	pool = &HOST(x)->txq_pool;
	script_send(&x, 0, 100);
	pool->max = pool->fresh;
	while (iw_list_pop(&pool->free))
		;
	script_close(&x);
	assert_int_equal(script_state(&x), TCP_FIN_WAIT_1);
	assert_int_equal(x.out[x.n - 1].len, 100);
	script_wait(&x, 300 * IW_MS);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 1, x.seq).len, 100);
	script_expect_silence(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 101, 0);
	assert_int_equal(script_state(&x), TCP_FIN_WAIT_1);
	script_wait(&x, 3 * IW_MS);
	script_expect(&x, TCP_FIN | TCP_ACK, x.our_iss + 101, x.seq);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 102, 0);
	assert_int_equal(script_state(&x), TCP_FIN_WAIT_2);
	script_fini(&x);
}

/* X3: a peer that withholds its ACKs has at most as many records as it leaves to all others. */
static void
test_X3_withheld_acks_leave_records(void **state)
{
	struct script x;
	uint32_t n = 0;

	(void)state;
	script_init(&x);
	script_established(&x);
	HOST(x)->txq_pool.max = HOST(x)->params.max_conns + 400;
	script_conn(&x)->snd_wnd = script_conn(&x)->fl->cc.cwnd = 1 << 20;
	while (n < 400 && tcp_tx_grant(HOST(x), x.conn).segments > 0) {
		script_send(&x, n * 10, 10);
		n++;
	}
	assert_int_equal(n, 200);
	assert_int_equal(tcp_tx_append(HOST(x), x.conn, sim_mbuf(&x.sim.h[0], 0, 10)), -IW_E_NOMEM);
	/* What others give back it may have, half of it. */
	HOST(x)->txq_pool.max += 100;
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, 50);
	script_skip(&x);
	script_fini(&x);
}

/* One record is one segment; a FIN goes alone, behind them, also again (tcp_face.h). */
static void
test_records_and_fin(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 100);
	script_send(&x, 100, 1);
	tcp_close(HOST(x), x.conn, x.sim.now_ns);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 1, x.seq).len, 100);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 101, x.seq).len, 1);
	assert_int_equal(script_expect(&x, TCP_ACK | TCP_FIN, x.our_iss + 102, x.seq).len, 0);
	script_expect_silence(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 101, 0);
	script_wait(&x, 300 * IW_MS);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 101, x.seq).len, 1);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 102, 0);
	assert_int_equal(script_expect(&x, TCP_ACK | TCP_FIN, x.our_iss + 102, x.seq).len, 0);
	script_fini(&x);
}

/* A record longer than a segment (start-up frames) is cut by copy. */
static void
test_long_record_is_cut(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 4000);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 1, x.seq).len, 1460);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 1461, x.seq).len, 1460);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 2921, x.seq).len, 1080);
	script_expect_silence(&x);
	script_fini(&x);
}

/* A peer whose largest window is below a record: slices of what it takes (§3.8.6.2.1 (3)); a window that is only
 * half used up is waited for. */
static void
test_small_windows(void **state)
{
	struct script x;

	script_init(&x);
	x.wnd = 300;
	script_established(&x);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, 1);
	script_send(&x, 0, 1000);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 1, x.seq).len, 300);
	script_expect_silence(&x);
	x.wnd = 100; /* less than half of 300 */
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 301, 0);
	script_expect_silence(&x);
	script_wait(&x, 210 * IW_MS); /* the override timer */
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 301, x.seq).len, 100);
	x.wnd = 2000;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 401, 0);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 401, x.seq).len, 600);
	script_fini(&x);
}

/* Spec T9: the window is taken back below what is in flight: nothing new goes, nothing breaks, it goes on later. */
static void
test_T9_negative_window(void **state)
{
	struct script x;

	script_init(&x);
	x.wnd = 5000;
	script_established(&x);
	for (uint32_t i = 0; i < 4; i++)
		script_send(&x, i * 1000, 1000);
	script_skip(&x);
	x.wnd = 500;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1001, 0);
	assert_int_equal(tcp_tx_grant(HOST(x), x.conn).segments, 0);
	script_send(&x, 4000, 100);
	script_expect_silence(&x);
	x.wnd = 0;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1001, 0);
	script_expect_silence(&x);
	x.wnd = 5000;
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 4001, 0);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 4001, x.seq).len, 100);
	script_fini(&x);
}

/* Design D20: while somebody else holds the mbuf, its bytes and metadata stay as they were sent. */
static void
test_D20_shared_mbuf_is_not_touched(void **state)
{
	struct script x;
	struct rte_mbuf *m, held;
	uint8_t bytes[1000];

	script_init(&x);
	script_established(&x);
	m = sim_mbuf(&x.sim.h[0], 0, 700);
	rte_mbuf_refcnt_update(m, 1); /* ours: the other end of an in-process wire */
	assert_int_equal(tcp_tx_append(HOST(x), x.conn, m), 0);
	script_poll(&x);
	held = *m;
	memcpy(bytes, rte_pktmbuf_mtod(m, void *), m->data_len);
	script_wait(&x, 900 * IW_MS);
	assert_true(script_counter(&x, "tcp.tx_retrans") >= 2);
	assert_int_equal(m->data_off, held.data_off);
	assert_int_equal(m->data_len, held.data_len);
	assert_int_equal(m->pkt_len, held.pkt_len);
	assert_true(m->ol_flags == held.ol_flags);
	assert_memory_equal(bytes, rte_pktmbuf_mtod(m, void *), m->data_len);
	assert_int_equal(HOST(x)->txq_pool.copies, 1); /* once: the copy is ours alone */
	rte_pktmbuf_free(m);
	script_fini(&x);
}

/* The frames of one poll are bounded, and what is left makes the next poll due at once. */
static void
test_emit_is_bounded(void **state)
{
	struct script x;
	uint32_t made = 0;

	script_init(&x);
	script_established(&x);
	for (uint32_t i = 0; i < 10; i++)
		script_send(&x, i * 100, 100);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t n = tcp_tx_emit(HOST(x), 3, x.sim.now_ns);

		assert_int_equal(n, i < 3 ? 3 : 1);
		made += n;
		assert_int_equal(tcp_deadline(HOST(x)) <= x.sim.now_ns, i < 3);
	}
	assert_int_equal(made, 10);
	assert_int_equal(tcp_tx_emit(HOST(x), 3, x.sim.now_ns), 0);
	script_fini(&x);
}

/* Records appended before the handshake is over leave right behind it. */
static void
test_append_in_syn_sent(void **state)
{
	struct script x;

	script_init(&x);
	script_open(&x, NULL);
	script_send(&x, 0, 50);
	script_expect_silence(&x);
	tcp_close(HOST(x), x.conn, x.sim.now_ns);
	script_expect_silence(&x);
	assert_int_equal(script_state(&x), TCP_CLOSED); /* RFC 9293 §3.10.4: SYN-SENT: delete the TCB */
	script_fini(&x);
	script_init(&x);
	script_reach(&x, TCP_SYN_RCVD);
	script_send(&x, 0, 50);
	tcp_close(HOST(x), x.conn, x.sim.now_ns); /* queued until ESTABLISHED */
	script_expect_silence(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 1, 0);
	assert_int_equal(script_expect(&x, TCP_ACK, x.our_iss + 1, x.seq).len, 50);
	script_expect(&x, TCP_ACK | TCP_FIN, x.our_iss + 51, x.seq);
	assert_int_equal(script_state(&x), TCP_FIN_WAIT_1);
	script_fini(&x);
}

#define MANY 14

static void
open_many(struct sim *s, uint32_t *conn)
{
	struct iw_addr any = {.port = 4420}, to, from = {0};
	uint32_t listener;

	sim_init(s, 1, true);
	to = s->h[1].nif.addr;
	assert_int_equal(tcp_listen(s->h[1].tcp, &any, MANY, 77, &listener), 0);
	to.port = 4420;
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(tcp_open(s->h[0].tcp, &from, &to, NULL, 55, s->now_ns, &conn[i]), 0);
}

/* Many SYNs to a neighbour that nobody has asked for yet: more than wait for it, and all leave when it answers. */
static void
test_burst_to_a_new_neighbour(void **state)
{
	uint32_t conn[MANY];
	struct sim s;

	(void)state;
	open_many(&s, conn);
	assert_true(sim_run(&s, 10 * IW_MS, 10000));
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(sim_conn(&s.h[0], conn[i])->state, TCP_ESTABLISHED);
	assert_int_equal(sim_counter(&s.h[0], "tcp.tx_retrans"), 0);
	assert_true(sim_counter(&s.h[0], "tcp.tx_net_refused") > 0);
	sim_fini(&s);
}

/* It never answers: everybody is told, those whose SYN never left as well. */
static void
test_burst_to_nobody(void **state)
{
	uint32_t conn[MANY], told = 0;
	struct tcp_ready r;
	struct sim s;

	(void)state;
	open_many(&s, conn);
	s.h[1].down = true;
	assert_true(sim_run(&s, 20 * IW_SEC, 100000));
	while (tcp_ready_next(s.h[0].tcp, &r))
		told += (r.bits & TCP_READY_UNREACH) != 0;
	assert_int_equal(told, MANY);
	sim_fini(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grant),
		cmocka_unit_test(test_grant_counts_exactly),
		cmocka_unit_test(test_append_refused),
		cmocka_unit_test(test_records_run_out),
		cmocka_unit_test(test_some_appended),
		cmocka_unit_test(test_T36_fin_without_record),
		cmocka_unit_test(test_X3_withheld_acks_leave_records),
		cmocka_unit_test(test_records_and_fin),
		cmocka_unit_test(test_long_record_is_cut),
		cmocka_unit_test(test_small_windows),
		cmocka_unit_test(test_T9_negative_window),
		cmocka_unit_test(test_D20_shared_mbuf_is_not_touched),
		cmocka_unit_test(test_emit_is_bounded),
		cmocka_unit_test(test_append_in_syn_sent),
		cmocka_unit_test(test_burst_to_a_new_neighbour),
		cmocka_unit_test(test_burst_to_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
