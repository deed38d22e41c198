/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection object: what a SYN sets, opening and its errors, ends, release (tcp_face.h, tcp_conn.h). */
#include "tcpscript.h"

#define HOST(x) ((x).sim.h[0].tcp)

/* EMSS = min(peer's MSS, MTU - 40) - 12 with timestamps; X7: small ones are taken for 88; default 536
 * (RFC 9293 MUST-15). */
static void
test_emss(void **state)
{
	static const struct {
		uint16_t mss;
		bool has_mss, ts;
		uint32_t emss;
	} rows[] = {{1460, true, false, 1460}, {1460, true, true, 1448}, {9000, true, true, 1448},
		    {536, true, false, 536},   {88, true, false, 88},    {87, true, false, 88},
		    {0, true, true, 76},       {0, false, false, 536},   {0, false, true, 524}};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct script x;
		struct tcp_seg seg;

		script_init(&x);
		script_open(&x, NULL);
		seg = script_seg(&x, TCP_SYN | TCP_ACK, SCRIPT_ISS, x.our_iss + 1);
		seg.has_mss = rows[i].has_mss;
		seg.mss = rows[i].mss;
		seg.has_ts = rows[i].ts;
		script_in_seg(&x, &seg, 0);
		assert_int_equal(tcp_tx_grant(HOST(x), x.conn).emss, rows[i].emss);
		assert_int_equal(script_conn(&x)->fl->cc.mss, rows[i].emss);
		script_fini(&x);
	}
}

static void
test_open_errors(void **state)
{
	struct script x;
	struct iw_addr any = {0}, peer, own, other = iw_addr_from_v4(0x0a000063u, 0),
		       far = iw_addr_from_v4(0x08080808u, 80);
	uint32_t conn, n;

	script_init(&x);
	own = x.sim.h[0].nif.addr;
	peer = x.sim.h[1].nif.addr;
	assert_int_equal(tcp_open(HOST(x), &any, &peer, NULL, 0, x.sim.now_ns, &conn), -IW_E_HOSTUNREACH); /* port 0 */
	peer.port = 80;
	assert_int_equal(tcp_open(HOST(x), &other, &peer, NULL, 0, x.sim.now_ns, &conn), -IW_E_ADDRNOTAVAIL);
	assert_int_equal(tcp_open(HOST(x), &any, &far, NULL, 0, x.sim.now_ns, &conn), -IW_E_HOSTUNREACH);
	own.port = 80;
	assert_int_equal(tcp_open(HOST(x), &any, &own, NULL, 0, x.sim.now_ns, &conn), -IW_E_HOSTUNREACH);
	own.port = 4000;
	assert_int_equal(tcp_open(HOST(x), &own, &peer, NULL, 0, x.sim.now_ns, &conn), 0);
	assert_int_equal(tcp_open(HOST(x), &own, &peer, NULL, 0, x.sim.now_ns, &conn), -IW_E_ADDRINUSE);
	own.port = 0;
	for (n = 1; tcp_open(HOST(x), &own, &peer, NULL, 0, x.sim.now_ns, &conn) == 0; n++)
		;
	assert_int_equal(n, sim_params().max_conns); /* fault 34: refuse new, keep old */
	assert_int_equal(tcp_open(HOST(x), &own, &peer, NULL, 0, x.sim.now_ns, &conn), -IW_E_NOMEM);
	assert_int_equal(tcp_conn_count(HOST(x)), n);
	assert_int_equal(HOST(x)->demux.used, n);
	script_fini(&x);
}

/* Spec T26: a source port is never one that is listened on, nor one in use. */
static void
test_T26_source_ports(void **state)
{
	struct script x;
	struct iw_addr any = {0}, peer;
	uint16_t ports[60];
	uint32_t conn;

	script_init(&x);
	peer = x.sim.h[1].nif.addr;
	peer.port = 80;
	for (uint32_t i = 0; i < 60; i++) {
		struct tcp_info info;

		assert_int_equal(tcp_open(HOST(x), &any, &peer, NULL, 0, x.sim.now_ns, &conn), 0);
		assert_true(tcp_conn_info(HOST(x), conn, &info));
		ports[i] = info.local.port;
		assert_true(ports[i] >= 32768);
		for (uint32_t k = 0; k < i; k++)
			assert_true(ports[k] != ports[i]);
	}
	script_fini(&x);
}

/* Spec T26: every port leads to this peer already: an error of its own, other peers are not concerned; the port that
 * becomes free is found. */
static void
test_T26_ports_exhausted(void **state)
{
	struct tcp_params params = sim_params();
	struct script x;
	struct iw_addr own, any = {0}, peer, other;
	uint32_t ref[32768], conn, n;
	struct tcp_info info;

	script_init(&x);
	tcp_destroy(HOST(x));
	params.max_timewait = 40000;
	HOST(x) = tcp_create(&x.sim.h[0].env, x.sim.h[0].net, &params, x.sim.now_ns);
	own = x.sim.h[0].nif.addr;
	peer = other = x.sim.h[1].nif.addr;
	peer.port = 80;
	other.port = 81;
	for (n = 0; n < 32768; n++) {
		struct tcp_tuple t;

		own.port = (uint16_t)(32768 + n);
		t = tcp_tuple_of(&own, &peer);
		assert_int_equal(tcp_demux_add(&HOST(x)->demux, &t, TCP_DEMUX_TIMEWAIT, 1, &ref[n]), 0);
	}
	assert_int_equal(tcp_open(HOST(x), &any, &peer, NULL, 0, x.sim.now_ns, &conn), -IW_E_ADDRNOTAVAIL);
	assert_int_equal(tcp_conn_count(HOST(x)), 0);
	assert_int_equal(tcp_open(HOST(x), &any, &other, NULL, 0, x.sim.now_ns, &conn), 0);
	tcp_demux_del(&HOST(x)->demux, ref[12345]);
	assert_int_equal(tcp_open(HOST(x), &any, &peer, NULL, 0, x.sim.now_ns, &conn), 0);
	assert_true(tcp_conn_info(HOST(x), conn, &info));
	assert_int_equal(info.local.port, 32768 + 12345);
	script_fini(&x);
}

/* ABORT in each state: RST where RFC 9293 §3.10.5 has one, CLOSED, and no ready entry. */
static void
test_abort_in_every_state(void **state)
{
	for (uint32_t st = TCP_SYN_SENT; st <= TCP_LAST_ACK; st++) {
		bool rst = st != TCP_SYN_SENT && st != TCP_CLOSING && st != TCP_LAST_ACK;
		struct script x;

		script_init(&x);
		script_reach(&x, (enum tcp_state)st);
		x.bits = 0;
		tcp_abort(HOST(x), x.conn, x.sim.now_ns);
		if (rst)
			script_expect(&x, TCP_RST | TCP_ACK, x.ack, x.seq);
		script_expect_silence(&x);
		assert_int_equal(x.bits, 0);
		assert_int_equal(script_state(&x), TCP_CLOSED);
		assert_int_equal(tcp_conn_count(HOST(x)), 1); /* until it is released */
		tcp_abort(HOST(x), x.conn, x.sim.now_ns);
		tcp_close(HOST(x), x.conn, x.sim.now_ns);
		tcp_release(HOST(x), x.conn, x.sim.now_ns);
		tcp_release(HOST(x), x.conn, x.sim.now_ns);
		script_expect_silence(&x);
		assert_int_equal(tcp_conn_count(HOST(x)), 0);
		script_fini(&x);
	}
}

/* Release in each state, with and without unread octets (RFC 9293 SHLD-3, spec T35). */
static void
test_T35_release_in_every_state(void **state)
{
	for (uint32_t st = TCP_SYN_SENT; st <= TCP_LAST_ACK; st++)
		for (uint32_t unread = 0; unread < 2; unread++) {
			bool rst = st == TCP_SYN_RCVD || st == TCP_ESTABLISHED || st == TCP_CLOSE_WAIT ||
				   (unread && (st == TCP_FIN_WAIT_1 || st == TCP_FIN_WAIT_2));
			bool stays = !rst && st >= TCP_FIN_WAIT_1;
			struct script x;
			struct tcp_info info;

			script_init(&x);
			script_reach(&x, (enum tcp_state)st);
			if (unread && (st == TCP_ESTABLISHED || st == TCP_FIN_WAIT_1 || st == TCP_FIN_WAIT_2)) {
				script_in(&x, TCP_ACK, x.seq, script_conn(&x)->snd_una, 10);
				x.seq += 10;
				script_skip(&x);
			}
			x.bits = 0;
			tcp_release(HOST(x), x.conn, x.sim.now_ns);
			assert_false(tcp_conn_info(HOST(x), x.conn, &info)); /* stale at once */
			if (rst)
				assert_int_equal(script_out(&x).flags, TCP_RST | TCP_ACK);
			script_expect_silence(&x);
			assert_int_equal(tcp_conn_count(HOST(x)), stays);
			assert_int_equal(x.bits, 0);
			if (stays) {
				/* It finishes alone. */
				script_in(&x, TCP_ACK, x.seq, x.ack, 0);
				if (st == TCP_FIN_WAIT_1 || st == TCP_FIN_WAIT_2)
					script_in(&x, TCP_ACK | TCP_FIN, x.seq, x.ack, 0);
				script_skip(&x);
				assert_int_equal(tcp_conn_count(HOST(x)), 0);
				assert_int_equal(tcp_timewait_count(HOST(x)), st != TCP_LAST_ACK);
				assert_int_equal(x.bits, 0);
			}
			script_fini(&x);
		}
}

static void
test_abort_all(void **state)
{
	struct script x;

	script_init(&x);
	script_established(&x);
	tcp_abort_all(HOST(x), x.sim.now_ns);
	script_expect(&x, TCP_RST | TCP_ACK, x.ack, x.seq);
	assert_int_equal(script_state(&x), TCP_CLOSED);
	script_fini(&x);
}

/* TIME_WAIT records run out: the oldest goes first, and its tag is told. */
static void
test_timewait_table_full(void **state)
{
	struct script x;
	uint32_t tag;

	script_init(&x);
	HOST(x)->timewait.max = 3;
	for (uint32_t i = 0; i < 5; i++) {
		struct iw_addr local = {.port = (uint16_t)(2000 + i)}, remote = x.sim.h[1].nif.addr;

		remote.port = SCRIPT_PEER_PORT;
		x.our_port = local.port;
		assert_int_equal(tcp_open(HOST(x), &local, &remote, NULL, 5, x.sim.now_ns, &x.conn), 0);
		script_poll(&x);
		script_syn_ack(&x);
		script_skip(&x);
		tcp_want_timewait(HOST(x), x.conn, 100 + i);
		script_close(&x);
		script_in(&x, TCP_ACK | TCP_FIN, x.seq, x.ack, 0);
		script_skip(&x);
		assert_int_equal(script_state(&x), TCP_TIME_WAIT);
		tcp_release(HOST(x), x.conn, x.sim.now_ns);
	}
	assert_int_equal(tcp_timewait_count(HOST(x)), 3);
	assert_true(tcp_timewait_gone(HOST(x), &tag));
	assert_int_equal(tag, 100);
	assert_true(tcp_timewait_gone(HOST(x), &tag));
	assert_int_equal(tag, 101);
	assert_false(tcp_timewait_gone(HOST(x), &tag));
	assert_int_equal(script_counter(&x, "tcp.timewait_evicted"), 2);
	assert_int_equal(HOST(x)->demux.used, 3);
	script_fini(&x);
}

/* Every allocation of tcp_create() fails once: NULL, and nothing is left. */
static void
test_create_short_of_memory(void **state)
{
	struct script x;
	struct tcp_params params = sim_params();
	struct tcp *tcp = NULL;
	uint32_t n;

	script_init(&x);
	for (n = 1; !tcp; n++) {
		iw_env_alloc_fuse = n;
		tcp = tcp_create(&x.sim.h[1].env, x.sim.h[1].net, &params, 0);
	}
	iw_env_alloc_fuse = 0;
	assert_true(n > 8);
	tcp_destroy(tcp);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_emss),
		cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_T26_source_ports),
		cmocka_unit_test(test_T26_ports_exhausted),
		cmocka_unit_test(test_abort_in_every_state),
		cmocka_unit_test(test_T35_release_in_every_state),
		cmocka_unit_test(test_abort_all),
		cmocka_unit_test(test_timewait_table_full),
		cmocka_unit_test(test_create_short_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
