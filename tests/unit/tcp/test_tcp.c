/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole room, two struct tcp on a wire: opening, closing, ending.  Streams of data: test_tcp_transfer.c. */
#include "tcpstream.h"

static void
test_handshake_both_roles_with_options(void **state)
{
	struct sim s;
	uint32_t a, b;
	struct tcp_info ia, ib;
	struct tcp_ready r;

	sim_init(&s, 1, true);
	sim_connect(&s, &a, &b);
	assert_true(tcp_ready_next(s.h[0].tcp, &r));
	assert_int_equal(r.bits, TCP_READY_UP);
	assert_int_equal(r.owner, 55);
	assert_int_equal(r.listener, 0);
	assert_true(tcp_conn_info(s.h[0].tcp, a, &ia));
	assert_true(tcp_conn_info(s.h[1].tcp, b, &ib));
	assert_int_equal(ia.state, TCP_ESTABLISHED);
	assert_int_equal(ib.state, TCP_ESTABLISHED);
	assert_false(ia.passive);
	assert_true(ib.passive);
	assert_int_equal(ia.emss, 1500 - 40 - 12);
	assert_int_equal(ib.emss, 1500 - 40 - 12);
	assert_int_equal(ia.local.port, ib.peer.port);
	assert_true(tcp_conn_has(sim_conn(&s.h[0], a), TCP_CONN_TS));
	assert_true(tcp_conn_has(sim_conn(&s.h[1], b), TCP_CONN_SACK));
	assert_int_equal(sim_conn(&s.h[0], a)->snd_wscale, 9);              /* 16 MiB need a shift of 9 */
	assert_true(ia.srtt_ns >= 100 * IW_US && ia.srtt_ns < 400 * IW_US); /* ARP comes on top */
	sim_fini(&s);
}

/* ---- both at once ---- */

/* Spec T18 with two real ends: both open to each other's port, with and without loss. */
static void
test_T18_simultaneous_open(void **state)
{
	for (uint32_t seed = 0; seed < 12; seed++) {
		struct stream st[2] = {{.want = 50000, .seed = 3}, {.want = 50000, .seed = 4}};
		struct sim s;

		sim_init(&s, seed + 1, true);
		s.loss_ppm = seed ? 150000 : 0;
		for (uint32_t i = 0; i < 2; i++) {
			struct iw_addr local = {.port = (uint16_t)(7000 + i)}, remote = s.h[!i].nif.addr;

			remote.port = (uint16_t)(7000 + !i);
			assert_int_equal(tcp_open(s.h[i].tcp, &local, &remote, NULL, i, s.now_ns, &st[i].conn), 0);
		}
		s.app = stream_app;
		s.arg = st;
		for (uint32_t i = 0; i < 400 && !(st[0].bits & st[1].bits & TCP_READY_CLOSED); i++)
			sim_run(&s, IW_SEC, 1000000);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(st[i].got, 50000);
			assert_true(st[i].bits & TCP_READY_UP);
			assert_true(st[i].bits & TCP_READY_CLOSED);
			assert_false(st[i].bits & (TCP_READY_RST | TCP_READY_TIMEOUT));
			assert_true(sim_counter(&s.h[i], "tcp.opened_active") == 1);
		}
		sim_fini(&s);
	}
}

/* Spec T19: FINs cross: CLOSING, then TIME_WAIT on both sides. */
static void
test_T19_simultaneous_close(void **state)
{
	struct sim s;
	uint32_t conn[2];
	struct tcp_info info;

	sim_init(&s, 7, true);
	sim_connect(&s, &conn[0], &conn[1]);
	sim_run(&s, IW_SEC, 1000);
	sim_ready(&s.h[0], NULL);
	sim_ready(&s.h[1], NULL);
	for (uint32_t i = 0; i < 2; i++) {
		tcp_want_timewait(s.h[i].tcp, conn[i], 500 + i);
		tcp_close(s.h[i].tcp, conn[i], s.now_ns);
	}
	sim_run(&s, 60 * IW_US, 100);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(tcp_conn_info(s.h[i].tcp, conn[i], &info));
		assert_int_equal(info.state, TCP_CLOSING);
	}
	sim_run(&s, IW_SEC, 100);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(sim_ready(&s.h[i], NULL), TCP_READY_FIN | TCP_READY_CLOSED);
		assert_true(tcp_conn_info(s.h[i].tcp, conn[i], &info));
		assert_int_equal(info.state, TCP_TIME_WAIT);
		tcp_release(s.h[i].tcp, conn[i], s.now_ns);
		assert_int_equal(tcp_conn_count(s.h[i].tcp), 0);
		assert_int_equal(tcp_timewait_count(s.h[i].tcp), 1);
	}
	sim_run(&s, 59 * IW_SEC - 100 * IW_MS, 100);
	assert_int_equal(tcp_timewait_count(s.h[0].tcp), 1);
	sim_run(&s, IW_SEC, 100);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t tag = 0;

		assert_int_equal(tcp_timewait_count(s.h[i].tcp), 0);
		assert_true(tcp_timewait_gone(s.h[i].tcp, &tag));
		assert_int_equal(tag, 500 + i);
		assert_false(tcp_timewait_gone(s.h[i].tcp, &tag));
	}
	sim_fini(&s);
}

/* One closes first: FIN_WAIT_1, FIN_WAIT_2, TIME_WAIT there, CLOSE_WAIT, LAST_ACK, CLOSED here. */
static void
test_states_of_a_close(void **state)
{
	struct sim s;
	uint32_t a, b;
	struct tcp_info ia, ib;

	sim_init(&s, 8, true);
	sim_connect(&s, &a, &b);
	sim_run(&s, IW_SEC, 1000);
	tcp_close(s.h[0].tcp, a, s.now_ns);
	tcp_conn_info(s.h[0].tcp, a, &ia);
	assert_int_equal(ia.state, TCP_FIN_WAIT_1); /* when it is queued, not when it has left (spec T36) */
	sim_run(&s, IW_SEC, 1000);
	tcp_conn_info(s.h[0].tcp, a, &ia);
	tcp_conn_info(s.h[1].tcp, b, &ib);
	assert_int_equal(ia.state, TCP_FIN_WAIT_2);
	assert_int_equal(ib.state, TCP_CLOSE_WAIT);
	/* Half closed: data still goes this way. */
	assert_int_equal(tcp_tx_append(s.h[1].tcp, b, sim_mbuf(&s.h[1], 0, 500)), 0);
	assert_int_equal(tcp_tx_append(s.h[0].tcp, a, sim_mbuf(&s.h[0], 0, 500)), -IW_E_NOTCONN);
	sim_run(&s, IW_SEC, 1000);
	assert_int_equal(tcp_rx_pending(s.h[0].tcp, a), 500);
	tcp_close(s.h[1].tcp, b, s.now_ns);
	tcp_conn_info(s.h[1].tcp, b, &ib);
	assert_int_equal(ib.state, TCP_LAST_ACK);
	sim_run(&s, IW_SEC, 1000);
	tcp_conn_info(s.h[0].tcp, a, &ia);
	tcp_conn_info(s.h[1].tcp, b, &ib);
	assert_int_equal(ia.state, TCP_TIME_WAIT);
	assert_int_equal(ib.state, TCP_CLOSED);
	assert_int_equal(tcp_rx_pending(s.h[0].tcp, a), 500); /* readable until release */
	assert_int_equal(tcp_timewait_count(s.h[0].tcp), 1);
	assert_int_equal(tcp_timewait_count(s.h[1].tcp), 0);
	sim_fini(&s);
}

/* ---- many, again and again ---- */

static void
test_cycles_leave_nothing(void **state)
{
	struct sim s;

	sim_init(&s, 30, true);
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t a, b;

		s.loss_ppm = i % 3 == 0 ? 100000 : 0;
		sim_connect(&s, &a, &b);
		switch (i % 5) {
		case 0: /* both release at once */
			break;
		case 1:
			tcp_abort(s.h[0].tcp, a, s.now_ns);
			break;
		case 2:
			tcp_close(s.h[0].tcp, a, s.now_ns);
			tcp_close(s.h[1].tcp, b, s.now_ns);
			break;
		case 3: /* released unread */
			tcp_tx_append(s.h[0].tcp, a, sim_mbuf(&s.h[0], 0, 100));
			sim_run(&s, IW_MS, 100);
			break;
		default:
			tcp_close(s.h[1].tcp, b, s.now_ns);
			break;
		}
		tcp_release(s.h[0].tcp, a, s.now_ns);
		tcp_release(s.h[1].tcp, b, s.now_ns);
		assert_int_equal(tcp_tx_append(s.h[0].tcp, a, sim_mbuf(&s.h[0], 0, 10)), -IW_E_NOTCONN);
		sim_run(&s, IW_SEC, 1000);
	}
	sim_run(&s, 400 * IW_SEC, 100000);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(tcp_conn_count(s.h[i].tcp), 0);
		assert_int_equal(tcp_timewait_count(s.h[i].tcp), 0);
		assert_int_equal(s.h[i].tcp->demux.used, 0);
		assert_int_equal(s.h[i].tcp->txq_pool.used, 0);
		assert_int_equal(s.h[i].tcp->wheel.armed, 0);
	}
	sim_fini(&s);
}

/* Fault 12, spec T20: one side has forgotten everything; its new SYN from the same port gets a challenge ACK, its RST
 * ends the old connection here, and the SYN is let in. */
static void
test_T20_peer_rebooted(void **state)
{
	struct tcp_params params = sim_params();
	struct sim s;
	uint32_t a, b;

	sim_init(&s, 31, true);
	s.local_port = 5000;
	sim_connect(&s, &a, &b);
	sim_run(&s, IW_SEC, 1000);
	tcp_destroy(s.h[0].tcp); /* without a word */
	s.h[0].tcp = tcp_create(&s.h[0].env, s.h[0].net, &params, s.now_ns);
	sim_ready(&s.h[1], NULL);
	sim_connect(&s, &a, &b);
	assert_true(sim_counter(&s.h[1], "tcp.rx_syn_challenged") >= 1);
	assert_int_equal(sim_counter(&s.h[1], "tcp.resets"), 1);
	sim_fini(&s);
}

/* A 4-tuple in TIME_WAIT is used again at once: its SYN is let in (RFC 6191, spec T22). */
static void
test_T22_timewait_reuse(void **state)
{
	struct sim s;
	uint32_t a, b;

	sim_init(&s, 32, true);
	s.local_port = 5000;
	for (uint32_t i = 0; i < 5; i++) {
		sim_connect(&s, &a, &b);
		tcp_close(s.h[1].tcp, b, s.now_ns); /* the listener's side closes first and keeps the record */
		sim_run(&s, IW_SEC, 1000);
		tcp_close(s.h[0].tcp, a, s.now_ns);
		sim_run(&s, IW_SEC, 1000);
		tcp_release(s.h[0].tcp, a, s.now_ns);
		tcp_release(s.h[1].tcp, b, s.now_ns);
		assert_int_equal(tcp_timewait_count(s.h[1].tcp), 1);
		assert_int_equal(tcp_conn_count(s.h[1].tcp), 0);
	}
	assert_int_equal(sim_counter(&s.h[1], "tcp.timewait_reused"), 4);
	sim_fini(&s);
}

/* X3: however much connections hoard, unfinished FPDUs or octets that are not acknowledged, an eighth of the data pool
 * stays with the port: without it nothing was heard any more, not even an ACK. */
static void
test_X3_the_port_keeps_mbufs(void **state)
{
	const struct tcp *tcp;
	uint32_t mbufs, held;
	struct sim s;

	(void)state;
	sim_init(&s, 32, true);
	tcp = s.h[0].tcp;
	mbufs = s.h[0].env.data_pool->size ? s.h[0].env.data_pool->size : 8192;
	held = tcp->rxq_pool.max_nodes + tcp->txq_pool.max - tcp->params.max_conns;
	assert_in_range(held, mbufs / 2, mbufs - mbufs / 8 + 2);
	sim_fini(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handshake_both_roles_with_options),
		cmocka_unit_test(test_T18_simultaneous_open),
		cmocka_unit_test(test_T19_simultaneous_close),
		cmocka_unit_test(test_states_of_a_close),
		cmocka_unit_test(test_cycles_leave_nothing),
		cmocka_unit_test(test_T20_peer_rebooted),
		cmocka_unit_test(test_X3_the_port_keeps_mbufs),
		cmocka_unit_test(test_T22_timewait_reuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
