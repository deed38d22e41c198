/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners under a flood and in want: SYN records, cookies, bounded answers (RFC 4987, RFC 9293 §3.10.7.2;
 * tcp_face.h). */
#include "tcpscript.h"

#define HOST(x) ((x).sim.h[0].tcp)

/* Forgets what came out: floods fill the script's list. */
static void
forget(struct script *x)
{
	x->n = x->at = 0;
}

/* A struct tcp of other sizes for the script. */
static void
init_with(struct script *x, const struct tcp_params *params)
{
	script_init(x);
	tcp_destroy(HOST(*x));
	HOST(*x) = tcp_create(&x->sim.h[0].env, x->sim.h[0].net, params, x->sim.now_ns);
	assert_non_null(HOST(*x));
}

static uint32_t
flood(struct script *x, uint32_t syns)
{
	uint32_t answers = 0;

	for (uint32_t i = 0; i < syns; i++) {
		script_syn_from(x, (uint16_t)(10000 + i));
		script_poll(x);
		answers += x->n - x->at;
		forget(x);
	}
	return answers;
}

/* Spec T24: a flood takes the records, then cookies; no connection, no growth; who means it gets through, with all
 * that was negotiated.  The flood's records end without a word. */
static void
test_T24_flood(void **state)
{
	struct tcp_params params = sim_params();

	params.max_syn = 64;
	for (uint32_t opts = 0; opts < 8; opts++) {
		struct script x;
		struct tcp_seg syn_ack;
		uint64_t place = 0;

		init_with(&x, &params);
		script_listen(&x, 4);
		assert_int_equal(flood(&x, 2000), 2000);
		assert_int_equal(tcp_syn_count(HOST(x)), 64);
		assert_int_equal(tcp_conn_count(HOST(x)), 0);
		assert_int_equal(script_counter(&x, "tcp.syn_cookies"), 2000 - 64);
		x.ts = opts & 1;
		x.sack = opts & 2;
		x.ws = opts & 4;
		script_syn_from(&x, 999);
		syn_ack = script_out(&x);
		assert_int_equal(syn_ack.has_ts, x.ts);
		assert_int_equal(syn_ack.has_ws, x.ts && x.ws); /* no more than will be remembered */
		assert_int_equal(syn_ack.sack_perm, x.ts && x.sack);
		assert_int_equal(tcp_syn_count(HOST(x)), 64);
		{
			struct tcp_seg ack = script_seg(&x, TCP_ACK | TCP_PSH, x.seq, syn_ack.seq + 1);

			ack.tsecr = syn_ack.tsval;
			script_in_seg(&x, &ack, 30);
		}
		script_poll(&x);
		assert_int_equal(x.bits, TCP_READY_UP | TCP_READY_RX);
		assert_int_equal(script_counter(&x, "tcp.syn_cookies_taken"), 1);
		assert_int_equal(script_state(&x), TCP_ESTABLISHED);
		assert_int_equal(sim_read(&x.sim.h[0], x.conn, &place, 30), 30);
		assert_int_equal(tcp_conn_has(script_conn(&x), TCP_CONN_TS), x.ts);
		assert_int_equal(tcp_conn_has(script_conn(&x), TCP_CONN_SACK), x.ts && x.sack);
		assert_int_equal(script_conn(&x)->snd_wscale, x.ts && x.ws ? 7 : 0);
		assert_int_equal(script_conn(&x)->emss, 1460 - (x.ts ? 12 : 0));
		script_send(&x, 0, 100);
		script_expect(&x, TCP_ACK, syn_ack.seq + 1, x.seq + 30);
		tcp_adopt(HOST(x), x.conn, 1, NULL);
		tcp_abort(HOST(x), x.conn, x.sim.now_ns);
		tcp_release(HOST(x), x.conn, x.sim.now_ns);
		for (uint32_t i = 0; i < 70; i++) {
			script_wait(&x, IW_SEC);
			forget(&x);
		}
		assert_int_equal(tcp_syn_count(HOST(x)), 0);
		assert_int_equal(script_counter(&x, "tcp.syn_expired"), 64);
		script_fini(&x);
	}
}

/* Spec T24: forged cookies draw RST, also when the backlog is full; good ones are only put off by it.  Out of the time
 * of cookies every ACK is a stray one. */
static void
test_T24_forged_cookie(void **state)
{
	struct tcp_params params = sim_params();
	struct script x;
	uint32_t good;

	params.max_syn = 4;
	init_with(&x, &params);
	script_listen(&x, 1);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, 4711, 0);
	script_expect(&x, TCP_RST, 4711, 0);
	assert_int_equal(script_counter(&x, "tcp.rx_listen_bad"), 1);
	flood(&x, 100);
	script_syn_from(&x, 999);
	good = script_out(&x).seq + 1;
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, good ^ 0x100, 0);
	script_expect(&x, TCP_RST, good ^ 0x100, 0);
	assert_int_equal(script_counter(&x, "tcp.syn_cookies_bad"), 1);
	/* The backlog is filled by another one. */
	x.peer_port = 10000;
	{
		uint32_t other;

		script_syn_from(&x, 10000);
		other = script_out(&x).seq + 1;
		script_in(&x, TCP_ACK, SCRIPT_ISS + 1, other, 0);
		script_poll(&x);
		assert_int_equal(x.bits, TCP_READY_UP);
	}
	x.peer_port = 999;
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, good ^ 0x100, 0);
	script_expect(&x, TCP_RST, good ^ 0x100, 0);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, good, 0);
	script_expect_silence(&x);
	assert_int_equal(tcp_conn_count(HOST(x)), 1);
	tcp_adopt(HOST(x), x.conn, 1, NULL);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, good, 0);
	script_poll(&x);
	assert_int_equal(tcp_conn_count(HOST(x)), 2);
	x.peer_port = 998;
	script_wait(&x, 300 * IW_SEC);
	forget(&x);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, good, 0);
	script_expect(&x, TCP_RST, good, 0);
	assert_int_equal(script_counter(&x, "tcp.rx_listen_bad"), 2);
	script_fini(&x);
}

/* Spec T24: a cookie is taken although records are free again, and a record although cookies go out. */
static void
test_T24_switched_in_between(void **state)
{
	struct tcp_params params = sim_params();
	struct script x;
	uint32_t rec, cookie;

	params.max_syn = 4;
	init_with(&x, &params);
	script_listen(&x, 4);
	script_syn_from(&x, 500);
	rec = script_out(&x).seq + 1;
	flood(&x, 100);
	script_syn_from(&x, 999);
	cookie = script_out(&x).seq + 1;
	for (uint32_t i = 0; i < 4; i++) { /* the flood's records go */
		x.peer_port = (uint16_t)(10000 + i);
		script_in(&x, TCP_RST, SCRIPT_ISS + 1, 0, 0);
	}
	assert_true(tcp_syn_count(HOST(x)) <= 1 + 3);
	x.peer_port = 999;
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, cookie, 0);
	x.peer_port = 500;
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, rec, 0);
	script_poll(&x);
	assert_int_equal(tcp_conn_count(HOST(x)), 2);
	script_fini(&x);
}

/* Spec T4: answers without a connection are bounded for each peer: RST for nobody, ACKs of TIME_WAIT, challenges of
 * half-open ones; what a connection answers is not touched by it. */
static void
test_T4_stateless_answers(void **state)
{
	struct script x;
	uint32_t rsts = 0, acks = 0;

	script_init(&x);
	script_listen(&x, 4);
	script_syn(&x);
	script_in(&x, TCP_ACK, x.seq, script_out(&x).seq + 1, 0);
	script_poll(&x);
	tcp_adopt(HOST(x), x.conn, 1, NULL);
	x.our_port = 81; /* nobody */
	for (uint32_t i = 0; i < 5000; i++) {
		script_in(&x, TCP_ACK, 1, 2, 0);
		script_poll(&x);
		rsts += x.n - x.at;
		forget(&x);
	}
	assert_int_equal(rsts, 200);
	assert_int_equal(script_counter(&x, "tcp.answers_limited"), 5000 - 200);
	script_wait(&x, 2 * IW_SEC);
	x.our_port = SCRIPT_PORT;
	script_syn_from(&x, 555);
	script_skip(&x);
	for (uint32_t i = 0; i < 5000; i++) { /* a half-open one, RST in its window */
		script_in(&x, TCP_RST, SCRIPT_ISS + 100, 0, 0);
		script_poll(&x);
		acks += x.n - x.at;
		forget(&x);
	}
	assert_int_equal(acks, 200);
	x.peer_port = SCRIPT_PEER_PORT;
	x.seq = SCRIPT_ISS + 1;
	script_in(&x, TCP_SYN, x.seq + 77, 0, 0);
	assert_int_equal(script_out(&x).flags, TCP_ACK); /* its own budget */
	script_fini(&x);
}

/* No connection object is left: the record waits, and the peer's next try gets through. */
static void
test_no_connection_object(void **state)
{
	struct script x;
	uint32_t ack;

	script_init(&x);
	script_listen(&x, 4);
	script_syn(&x);
	ack = script_out(&x).seq + 1;
	HOST(x)->conns.fuse = 1;
	script_in(&x, TCP_ACK, x.seq, ack, 0);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.rx_syn_nomem"), 1);
	assert_int_equal(tcp_conn_count(HOST(x)), 0);
	assert_int_equal(HOST(x)->demux.used, 0);
	script_in(&x, TCP_ACK, x.seq, ack, 0);
	script_poll(&x);
	assert_int_equal(x.bits, TCP_READY_UP);
	assert_int_equal(tcp_syn_count(HOST(x)), 0);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T24_flood),
		cmocka_unit_test(test_T24_forged_cookie),
		cmocka_unit_test(test_T24_switched_in_between),
		cmocka_unit_test(test_no_connection_object),
		cmocka_unit_test(test_T4_stateless_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
