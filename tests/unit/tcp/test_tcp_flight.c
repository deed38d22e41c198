/* SPDX-License-Identifier: BSD-3-Clause */
/* What a connection sends with is lent: more connections than there is sending state for.  Nothing is lost, everybody
 * gets his turn, and what has to get out gets out. */
#include "tcp_flight.h"

#include "tcpscript.h"
#include "tcpstream.h"

#define CONNS 8
#define OCTETS 60000u

/* Host 0 once more, with room for so many flights. */
static void
few(struct sim *s, uint32_t max_flights)
{
	struct tcp_params params = sim_params();

	params.max_flights = max_flights;
	tcp_destroy(s->h[0].tcp);
	s->h[0].tcp = tcp_create(&s->h[0].env, s->h[0].net, &params, s->now_ns);
	assert_non_null(s->h[0].tcp);
}

struct many {
	struct stream st[2][CONNS]; /* of each host */
	bool runs[CONNS];           /* host 0: was told that there is room, and has not used it up */
};

/* As an engine does it: only who was told of room asks for a grant. */
static void
many_app(struct sim *s, struct host *h)
{
	struct many *all = s->arg;
	struct tcp_ready r;

	while (tcp_ready_next(h->tcp, &r))
		for (uint32_t i = 0; i < CONNS; i++) {
			struct stream *st = &all->st[h->id][i];

			if (st->conn != r.conn)
				continue;
			st->bits |= r.bits;
			all->runs[i] |= h->id == 0 && (r.bits & TCP_READY_ROOM);
		}
	for (uint32_t i = 0; i < CONNS; i++) {
		struct stream *st = &all->st[h->id][i];
		uint64_t before = st->sent;

		if (!st->conn)
			continue;
		if (h->id == 1 || all->runs[i] || st->sent == st->want)
			stream_turn(h, st);
		if (h->id == 0 && st->sent == before)
			all->runs[i] = false;
		if (h->id == 1)
			sim_read(h, st->conn, &st->got, UINT32_MAX);
	}
}

static bool
all_closed(const struct many *all)
{
	for (uint32_t i = 0; i < CONNS; i++)
		if (!(all->st[0][i].bits & TCP_READY_CLOSED))
			return false;
	return true;
}

static void
test_everybody_gets_his_turn(void **state)
{
	static struct many all;
	struct sim s;

	(void)state;
	for (uint32_t flights = 2; flights <= 4; flights++) {
		memset(&all, 0, sizeof(all));
		sim_init(&s, flights, true);
		few(&s, flights);
		s.loss_ppm = 10000;
		for (uint32_t i = 0; i < CONNS; i++) {
			sim_connect(&s, &all.st[0][i].conn, &all.st[1][i].conn);
			all.st[0][i].want = OCTETS;
			all.st[0][i].seed = i;
			all.runs[i] = true;
		}
		s.app = many_app;
		s.arg = &all;
		for (uint32_t sec = 0; sec < 300 && !all_closed(&all); sec++)
			assert_true(sim_run(&s, IW_SEC, 2000000));
		for (uint32_t i = 0; i < CONNS; i++)
			assert_int_equal(all.st[1][i].got, OCTETS);
		assert_true(all_closed(&all));
		assert_true(sim_counter(&s.h[0], "tcp.tx_no_flight") > 0);
		assert_true(sim_counter(&s.h[0], "tcp.flights_parted") > 0);
		for (uint32_t i = 0; i < CONNS; i++)
			tcp_release(s.h[0].tcp, all.st[0][i].conn, s.now_ns);
		assert_int_equal(s.h[0].tcp->flights.pool.used, 0);
		assert_true(iw_list_empty(&s.h[0].tcp->flights.starved));
		sim_fini(&s);
	}
}

static uint8_t lost_flags;

/* Swallows what carries data. */
static enum sim_fate
swallow_data(struct sim *s, uint32_t from, const struct tcp_seg *seg)
{
	if (from == 0 && seg->len > 0)
		return SIM_LOSE;
	if (from == 0)
		lost_flags |= seg->flags;
	return SIM_PASS;
}

static int
append(struct sim *s, uint32_t conn, uint32_t len)
{
	return tcp_tx_append(s->h[0].tcp, conn, sim_mbuf(&s->h[0], 0, len));
}

/* Two of three are taken by data that nobody acknowledges: a FIN and a Terminate (no grant) still leave, one after
 * another; data has to wait. */
static void
test_control_has_a_reserve(void **state)
{
	uint32_t a[5], p[5], last;
	struct iw_addr to, from = {0};
	struct sim s;

	(void)state;
	sim_init(&s, 1, true);
	few(&s, 3);
	for (uint32_t i = 0; i < 5; i++)
		sim_connect(&s, &a[i], &p[i]);
	s.filter = swallow_data;
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(tcp_tx_grant(s.h[0].tcp, a[i]).segments > 0);
		assert_int_equal(append(&s, a[i], 100), 0);
	}
	assert_true(sim_run(&s, IW_MS, 1000));
	assert_int_equal(tcp_tx_grant(s.h[0].tcp, a[2]).segments, 0);
	lost_flags = 0;
	tcp_close(s.h[0].tcp, a[3], s.now_ns);
	assert_true(sim_run(&s, 10 * IW_MS, 1000));
	assert_true(lost_flags & TCP_FIN);
	assert_int_equal(append(&s, a[4], 100), 0); /* the FIN was acknowledged: it has gone to rest */
	assert_true(sim_run(&s, IW_MS, 1000));
	/* now even the reserve is gone: a FIN waits, an open is refused */
	lost_flags = 0;
	tcp_close(s.h[0].tcp, a[2], s.now_ns);
	assert_true(sim_run(&s, 10 * IW_MS, 1000));
	assert_false(lost_flags & TCP_FIN);
	to = s.h[1].nif.addr;
	to.port = 4420;
	assert_int_equal(tcp_open(s.h[0].tcp, &from, &to, NULL, 1, s.now_ns, &last), -IW_E_NOMEM);
	s.filter = NULL;
	assert_true(sim_run(&s, 3 * IW_SEC, 100000));
	assert_int_equal(tcp_open(s.h[0].tcp, &from, &to, NULL, 1, s.now_ns, &last), 0);
	assert_int_equal(sim_conn(&s.h[0], a[2])->state, TCP_FIN_WAIT_2);
	sim_fini(&s);
}

/* Who was promised room and has nothing on its way is told again after it was taken away. */
static void
test_wake_is_not_lost(void **state)
{
	uint32_t a[3], p[3];
	struct tcp_ready r;
	struct sim s;

	(void)state;
	sim_init(&s, 1, true);
	few(&s, 2); /* one for data */
	for (uint32_t i = 0; i < 3; i++)
		sim_connect(&s, &a[i], &p[i]);
	s.filter = swallow_data;
	sim_ready(&s.h[0], NULL);
	assert_true(tcp_tx_grant(s.h[0].tcp, a[0]).segments > 0);
	assert_int_equal(append(&s, a[0], 100), 0);
	assert_true(sim_run(&s, IW_MS, 1000));
	for (uint32_t i = 1; i < 3; i++)
		assert_int_equal(tcp_tx_grant(s.h[0].tcp, a[i]).segments, 0);
	assert_true(sim_run(&s, 100 * IW_MS, 1000));
	assert_false(tcp_ready_next(s.h[0].tcp, &r));
	s.filter = NULL;
	assert_true(sim_run(&s, IW_SEC, 10000));
	/* both are told, in the order of asking; the first to ask gets it, the other is told again afterwards */
	assert_true(tcp_ready_next(s.h[0].tcp, &r));
	assert_int_equal(r.conn, a[1]);
	assert_int_equal(r.bits, TCP_READY_ROOM);
	assert_true(tcp_ready_next(s.h[0].tcp, &r));
	assert_int_equal(r.conn, a[2]);
	assert_true(tcp_tx_grant(s.h[0].tcp, a[1]).segments > 0);
	assert_int_equal(append(&s, a[1], 100), 0);
	assert_int_equal(tcp_tx_grant(s.h[0].tcp, a[2]).segments, 0);
	assert_true(sim_run(&s, IW_SEC, 10000));
	assert_true(tcp_ready_next(s.h[0].tcp, &r));
	assert_int_equal(r.conn, a[2]);
	assert_int_equal(r.bits, TCP_READY_ROOM);
	sim_fini(&s);
}

/* What stays when it is taken away, and what a window becomes that nothing has used since (RFC 5681 §4.1). */
static void
test_what_is_kept(void **state)
{
	struct tcp_info before, after;
	struct tcp_conn *c;
	struct script x;

	(void)state;
	script_init(&x);
	x.ts = x.sack = true;
	script_established(&x);
	c = script_conn(&x);
	script_send(&x, 0, 1000);
	script_skip(&x);
	script_wait(&x, 30 * IW_MS);
	script_in(&x, TCP_ACK, x.seq, x.ack, 0);
	assert_true(c->fl && tcp_conn_all_acked(c));
	c->fl->cc.cwnd = 100000;
	c->fl->cc.ssthresh = 50000;
	c->fl->rack.reo_wnd_mult = 3;
	c->fl->rack.reordering_seen = true;
	c->fl->undo.dsack_seen = true;
	assert_true(tcp_conn_info(x.sim.h[0].tcp, x.conn, &before));
	tcp_flight_drop(x.sim.h[0].tcp, c);
	assert_true(tcp_conn_info(x.sim.h[0].tcp, x.conn, &after));
	assert_int_equal(after.cwnd, before.cwnd);
	assert_int_equal(after.ssthresh, before.ssthresh);
	assert_in_range(after.srtt_ns, before.srtt_ns, before.srtt_ns + TCP_FLIGHT_RTT_NS);
	assert_in_range(after.rto_ns, before.rto_ns - 64, before.rto_ns + 64);
	/* it reads and answers without one */
	script_data(&x, 100);
	assert_int_equal(script_out(&x).ack, SCRIPT_ISS + 1 + 100);
	assert_null(c->fl);
	script_send(&x, 1000, 1000);
	assert_int_equal(script_out(&x).seq, x.our_iss + 1 + 1000);
	assert_int_equal(c->fl->cc.cwnd, tcp_cc_initial_window(c->emss));
	assert_int_equal(c->fl->cc.ssthresh, 50000);
	assert_int_equal(c->fl->rack.reo_wnd_mult, 3);
	assert_true(c->fl->rack.reordering_seen && c->fl->undo.dsack_seen);
	assert_in_range(tcp_rtt_rto(&c->fl->rtt), before.rto_ns - 64, before.rto_ns + 64);
	/* and it is lost: the RTO of before counts */
	script_wait(&x, before.rto_ns + IW_MS);
	assert_int_equal(script_out(&x).seq, x.our_iss + 1 + 1000);
	script_fini(&x);
}

/* Never sampled because the SYN was lost: 3 s for the first data (RFC 6298 §5.7), also with another flight. */
static void
test_lost_syn_is_kept(void **state)
{
	struct tcp_info info;
	struct script x;

	(void)state;
	script_init(&x);
	script_open(&x, NULL);
	script_wait(&x, 1100 * IW_MS);
	x.at = x.n;
	script_syn_ack(&x);
	script_skip(&x);
	tcp_flight_drop(x.sim.h[0].tcp, script_conn(&x));
	assert_true(tcp_conn_info(x.sim.h[0].tcp, x.conn, &info));
	assert_int_equal(info.srtt_ns, 0);
	assert_int_equal(info.rto_ns, TCP_RTO_SYN_LOST_NS);
	script_fini(&x);
}

/* Doubled, and no sample since (Karn, RFC 6298 §5): so it stays with another flight. */
static void
test_doubled_rto_is_kept(void **state)
{
	struct tcp_info before, after;
	struct script x;

	(void)state;
	script_init(&x);
	script_established(&x);
	script_send(&x, 0, 100);
	script_skip(&x);
	assert_true(tcp_conn_info(x.sim.h[0].tcp, x.conn, &before));
	script_wait(&x, before.rto_ns + IW_MS);
	script_skip(&x);
	script_in(&x, TCP_ACK, x.seq, x.our_iss + 101, 0);
	tcp_flight_drop(x.sim.h[0].tcp, script_conn(&x));
	script_send(&x, 100, 100);
	script_skip(&x);
	assert_true(tcp_conn_info(x.sim.h[0].tcp, x.conn, &after));
	assert_in_range(after.rto_ns, 2 * before.rto_ns - 64, 2 * before.rto_ns + 64);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everybody_gets_his_turn), cmocka_unit_test(test_control_has_a_reserve),
		cmocka_unit_test(test_wake_is_not_lost),        cmocka_unit_test(test_what_is_kept),
		cmocka_unit_test(test_lost_syn_is_kept),        cmocka_unit_test(test_doubled_rto_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
