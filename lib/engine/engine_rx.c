/* SPDX-License-Identifier: BSD-3-Clause */
/* The way up: frames -> net -> tcp -> (ready list) -> cm while a stream starts up, its QP afterwards. */
#include <rte_prefetch.h>

#include "engine_flow.h"
#include "qp_ahead.h"

#define HEADERS_AHEAD 8u /* frames */
#define READY_PER_TURN 512u
#define READY_AHEAD 16u
#define FPDUS_PER_TURN 256u /* of one connection */
#define ENDED (TCP_READY_FIN | TCP_READY_RST | TCP_READY_TIMEOUT | TCP_READY_UNREACH | TCP_READY_CLOSED)
#define STARTING (TCP_READY_UP | TCP_READY_RX)

static void
to_host(struct iw_engine *e, struct rte_mbuf *m, struct rte_mbuf **host, uint32_t max, uint32_t *n)
{
	if (*n < max) {
		host[(*n)++] = m;
		return;
	}
	e->counters.host_dropped++;
	rte_pktmbuf_free(m);
}

/* Segments that have passed net and wait for tcp to take them together. */
struct batch {
	struct tcp_rx_in in[TCP_RX_BURST];
	uint32_t n;
};

static void
flush(struct iw_engine *e, struct batch *b)
{
	tcp_rx_burst(e->tcp, b->in, b->n, e->now_ns);
	b->n = 0;
}

static void
rx_one(struct iw_engine *e, struct rte_mbuf *m, struct batch *b, struct rte_mbuf **host, uint32_t max_host,
       uint32_t *n_host)
{
	struct net_icmp_err err;

	switch (net_rx(e->net, m, e->now_ns, &b->in[b->n].pkt, &err)) {
	case NET_TCP:
		b->in[b->n++].m = m;
		if (b->n == TCP_RX_BURST)
			flush(e, b);
		break;
	case NET_ICMP_ERR: /* what came before it counts */
		flush(e, b);
		tcp_icmp_err(e->tcp, &err, e->now_ns);
		break;
	case NET_HOST:
		to_host(e, m, host, max_host, n_host);
		break;
	case NET_DROP:
	case NET_EATEN:
		break;
	}
}

/* Frame i's headers, and where those of a later one are. */
static void
fetch(struct rte_mbuf **m, uint32_t i, uint32_t n)
{
	if (i + HEADERS_AHEAD < n)
		rte_prefetch0(m[i + HEADERS_AHEAD]);
	if (i < n)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
}

void
engine_rx(struct iw_engine *e, struct rte_mbuf **m, uint32_t n, uint64_t now_ns, struct rte_mbuf **host,
	  uint32_t *n_host)
{
	uint32_t max_host = n_host ? *n_host : 0, used = 0;
	struct batch b;

	b.n = 0;
	e->now_ns = now_ns;
	for (uint32_t i = 0; i < n && i < HEADERS_AHEAD; i++)
		rte_prefetch0(m[i]);
	for (uint32_t i = 0; i < HEADERS_AHEAD; i++)
		fetch(m, i, n);
	for (uint32_t i = 0; i < n; i++) {
		fetch(m, i + HEADERS_AHEAD, n);
		rx_one(e, m[i], &b, host, max_host, &used);
	}
	flush(e, &b);
	if (n_host)
		*n_host = used;
	engine_streams(e);
}

/* Whole FPDUs of one stream to its QP.  True: some are left, the budget is used up. */
static bool
feed_qp(struct iw_engine *e, uint32_t conn, struct iw_qp *qp)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	uint32_t budget = FPDUS_PER_TURN;
	struct mpa_rx_result r;

	do {
		uint32_t n = tcp_rx_peek(e->tcp, conn, views, TCP_PEEK_VIEWS);

		if (n == 0)
			return false;
		r = mpa_rx(qp, views, n, budget, e->now_ns);
		tcp_rx_consume(e->tcp, conn, r.consumed, e->now_ns);
		tcp_rx_want_crc(e->tcp, conn, r.sealable > 0);
		budget -= r.fpdus < budget ? r.fpdus : budget;
	} while (r.consumed > 0 && budget > 0);
	return budget == 0;
}

void
engine_qp_outs(struct iw_engine *e)
{
	struct rdmap_out out;

	while (rdmap_out_next(e->rdmap, &out)) {
		if (out.bits & RDMAP_OUT_RX_RESUME)
			tcp_ready_again(e->tcp, qp_conn(out.qp));
		cm_qp_out(e->cm, &out, e->now_ns);
	}
}

static struct tcp_ready
only(const struct tcp_ready *ready, uint32_t bits)
{
	struct tcp_ready r = *ready;

	r.bits &= bits;
	return r;
}

/* Octets come before what ended the stream: start-up first, then FPDUs, then FIN, RST and the like.  cm looks last at
 * every entry, also without such a bit: it may hold one back until the octets before it are read, and it sees that the
 * QP has failed.  True: the connection must be looked at again. */
static bool
serve(struct iw_engine *e, const struct tcp_ready *ready)
{
	struct tcp_ready start = only(ready, STARTING), end = only(ready, ENDED);
	uint32_t stream = ready->stream;
	struct iw_qp *qp;
	bool again = false;

	if (!stream && start.bits) {
		cm_tcp_ready(e->cm, &start, e->now_ns);
		stream = tcp_stream(e->tcp, ready->conn);
	}
	qp = stream ? qp_at(e->rdmap, stream) : NULL;
	if (qp && ready->bits & TCP_READY_ROOM)
		rdmap_run_add(qp);
	if (qp && ready->bits & (TCP_READY_RX | ENDED))
		again = feed_qp(e, ready->conn, qp);
	engine_qp_outs(e);
	if (end.bits || stream)
		cm_tcp_ready(e->cm, &end, e->now_ns);
	return again;
}

/* Fetches what the next entries will be served with. */
static void
look_ahead(struct iw_engine *e)
{
	struct tcp_ready ready[READY_AHEAD];
	uint32_t n = tcp_ready_peek(e->tcp, ready, READY_AHEAD);

	if (n < 2)
		return;
	for (uint32_t i = 0; i < n; i++)
		cm_id_prefetch(e->cm, ready[i].owner);
	for (int step = 0; step < QP_AHEAD_STEPS; step++)
		for (uint32_t i = 0; i < n; i++)
			if (ready[i].stream)
				qp_ahead(e->rdmap, ready[i].stream, (enum qp_ahead_step)step);
}

void
engine_streams(struct iw_engine *e)
{
	uint32_t again[READY_PER_TURN], n = 0;
	struct tcp_ready ready;

	if (!tcp_is_ready(e->tcp)) { /* as after most timers */
		engine_qp_outs(e);
		return;
	}
	for (uint32_t i = 0; i < READY_PER_TURN; i++) {
		if (i % READY_AHEAD == 0)
			look_ahead(e);
		if (!tcp_ready_next(e->tcp, &ready))
			break;
		e->work++;
		if (serve(e, &ready))
			again[n++] = ready.conn;
	}
	for (uint32_t i = 0; i < n; i++)
		tcp_ready_again(e->tcp, again[i]);
	engine_qp_outs(e);
}
