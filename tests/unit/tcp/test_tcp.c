/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole room: two struct tcp on a wire that does everything to them. */
#include "tcpsim.h"

#include <stdlib.h>

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
	assert_int_equal(sim_conn(&s.h[0], a)->snd_wscale, 5);              /* 1 MiB needs a shift of 5 */
	assert_true(ia.srtt_ns >= 100 * IW_US && ia.srtt_ns < 400 * IW_US); /* ARP comes on top */
	sim_fini(&s);
}

/* ---- data ---- */

struct stream {
	uint32_t conn;
	uint64_t sent, want, got; /* octets */
	uint32_t seed, bits;
	bool closed;
};

static uint32_t
record_length(struct stream *st, uint32_t emss)
{
	uint32_t len;

	st->seed = st->seed * 1103515245u + 12345u;
	len = st->seed >> 28 ? emss : 1 + (st->seed >> 8) % emss;
	return len > st->want - st->sent ? (uint32_t)(st->want - st->sent) : len;
}

/* Sends what the grant allows, reads all, closes when everything has gone. */
static void
stream_turn(struct host *h, struct stream *st)
{
	struct tcp_grant g;

	for (uint32_t i = 0; i < 16 && st->conn && st->sent < st->want; i++) {
		g = tcp_tx_grant(h->tcp, st->conn);
		if (!g.segments)
			break;
		for (uint32_t k = 0; k < g.segments && st->sent < st->want; k++) {
			uint32_t len = record_length(st, g.emss);
			struct rte_mbuf *m = sim_mbuf(h, st->sent, len);

			if (!m || tcp_tx_append(h->tcp, st->conn, m))
				return;
			st->sent += len;
		}
	}
	sim_read(h, st->conn, &st->got, UINT32_MAX);
	if (st->sent == st->want && !st->closed) {
		st->closed = true;
		tcp_close(h->tcp, st->conn, h->sim->now_ns);
	}
}

static void
stream_app(struct sim *s, struct host *h)
{
	struct stream *st = (struct stream *)s->arg + h->id;
	struct tcp_ready r;

	while (tcp_ready_next(h->tcp, &r)) {
		if (r.conn == st->conn)
			st->bits |= r.bits;
	}
	if (st->conn)
		stream_turn(h, st);
}

/* Octets 0..n-1 both ways, then both close; everything arrives, and nothing is left behind. */
static void
transfer(struct sim *s, uint64_t n, uint64_t limit_ns)
{
	struct stream st[2] = {{.want = n, .seed = 1}, {.want = n, .seed = 2}};
	struct tcp_info info;

	sim_connect(s, &st[0].conn, &st[1].conn);
	s->app = stream_app;
	s->arg = st;
	for (uint64_t spent = 0; spent < limit_ns; spent += IW_SEC) {
		assert_true(sim_run(s, IW_SEC, 2000000));
		if (st[0].got == n && st[1].got == n && (st[0].bits & st[1].bits & TCP_READY_CLOSED))
			break;
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(st[i].got, n);
		assert_true(st[i].bits & TCP_READY_FIN);
		assert_true(st[i].bits & TCP_READY_CLOSED);
		assert_false(st[i].bits & (TCP_READY_RST | TCP_READY_TIMEOUT));
		assert_true(tcp_conn_info(s->h[i].tcp, st[i].conn, &info));
		assert_int_equal(info.queued, 0);
		tcp_release(s->h[i].tcp, st[i].conn, s->now_ns);
		assert_int_equal(tcp_conn_count(s->h[i].tcp), 0);
	}
}

static void
test_transfer_clean(void **state)
{
	struct sim s;

	sim_init(&s, 3, true);
	transfer(&s, 3000000, 20 * IW_SEC);
	assert_int_equal(sim_counter(&s.h[0], "tcp.tx_retrans"), 0);
	assert_int_equal(sim_counter(&s.h[1], "tcp.tx_retrans"), 0);
	assert_true(sim_counter(&s.h[0], "tcp.rx_fast") > sim_counter(&s.h[0], "tcp.rx_segs") / 2);
	sim_fini(&s);
}

/* Loss, duplication and reordering together, several seeds each: byte-exact and to the end (faults.md 1, 2). */
static void
test_transfer_lossy(void **state)
{
	static const struct {
		uint32_t loss_ppm, dup_ppm;
		uint64_t jitter_ns;
	} rows[] = {{1000, 0, 0},  {10000, 0, 0},       {30000, 10000, 0},           {100000, 20000, 0},
		    {0, 50000, 0}, {0, 0, 200 * IW_US}, {20000, 20000, 300 * IW_US}, {100000, 50000, 100 * IW_US}};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct sim s;

			sim_init(&s, seed * 100 + i, true);
			s.loss_ppm = rows[i].loss_ppm;
			s.dup_ppm = rows[i].dup_ppm;
			s.jitter_ns = rows[i].jitter_ns;
			transfer(&s, 400000, 400 * IW_SEC);
			sim_fini(&s);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handshake_both_roles_with_options),
		cmocka_unit_test(test_transfer_clean),
		cmocka_unit_test(test_transfer_lossy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
