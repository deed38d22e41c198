/* SPDX-License-Identifier: BSD-3-Clause */
/* An application on each host of tcpsim.h: sends a stream by grants, reads and checks the other, closes. */
#ifndef TCPSTREAM_H
#define TCPSTREAM_H

#include "tcpsim.h"

struct stream {
	uint32_t conn;
	uint64_t sent, want, got; /* octets */
	uint64_t last_ns;
	uint32_t seed, bits;
	bool closed;
};

static inline uint32_t
record_length(struct stream *st, uint32_t emss)
{
	uint32_t len;

	st->seed = st->seed * 1103515245u + 12345u;
	len = st->seed >> 28 ? emss : 1 + (st->seed >> 8) % emss;
	return len > st->want - st->sent ? (uint32_t)(st->want - st->sent) : len;
}

/* Sends what the grant allows, reads all, closes when everything has gone. */
static inline void
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

static inline void
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
static inline void
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
	s->app = NULL;
	s->arg = NULL;
}

#endif
