/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "end.h"
#include "iw_addr.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "net_face.h"
#include "seq.h"
#include "tcp_conn.h"
#include "tcp_face.h"
#include "tcp_loss.h"
#include "tcp_pvt.h"

#define BURST 64

struct own {
	struct end end;
	struct iw_env env;
	struct net *net;
	struct tcp *tcp;
	uint32_t conn, bits;
	uint64_t drawn;
	uint32_t edge; /* the largest right edge that the peer has announced: it may take some of it back (RFC 7323
			  §2.4) */
	bool has_edge;
	bool more; /* the last burst was full */
	struct rte_mbuf *out[BURST];
	uint32_t n_out, next_out;
};

static struct iw_addr
address(int host, bool v6, uint16_t port)
{
	struct iw_addr a = {.ip = {0xfd, [15] = (uint8_t)(host + 1)}, .port = port};

	return v6 ? a : iw_addr_from_v4(0x0a000001u + (uint32_t)host, port);
}

static void
own_close(struct end *e)
{
	struct own *o = (struct own *)e;

	while (o->next_out < o->n_out)
		rte_pktmbuf_free(o->out[o->next_out++]);
	if (o->tcp)
		tcp_destroy(o->tcp);
	if (o->net)
		net_destroy(o->net);
	mbufpool_destroy(o->env.data_pool);
	mbufpool_destroy(o->env.ctl_pool);
	free(o);
}

static bool
start(struct own *o, const struct end_config *c, uint64_t now_ns)
{
	struct iw_addr local = address(c->host, c->v6, c->listens ? END_PORT : END_CLIENT_PORT);
	struct iw_addr remote = address(!c->host, c->v6, END_PORT);
	uint32_t listener;

	if (c->listens)
		return tcp_listen(o->tcp, &local, 4, 9, &listener) == 0;
	return tcp_open(o->tcp, &local, &remote, NULL, 5, now_ns, &o->conn) == 0;
}

static struct end *
own_open(const struct end_config *config, uint64_t now_ns)
{
	struct tcp_params params = {.max_conns = 4,
				    .max_listeners = 1,
				    .max_timewait = 4,
				    .max_ooo_mbufs = 8192,
				    .rcv_buf = config->lazy ? END_LAZY_BUF : 0};
	struct netif nif = {
		.mac = {2, 0, 0, 0, 0, (uint8_t)(config->host + 1)}, .prefix_len = config->v6 ? 64 : 24, .mtu = 1500};
	struct own *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->end = (struct end){.kind = &end_own, .config = *config};
	o->env.data_pool = mbufpool_create("data", 2048, 0);
	o->env.ctl_pool = mbufpool_create("ctl", 512, 0);
	randombytes_buf(o->env.secret, sizeof(o->env.secret));
	nif.addr = address(config->host, config->v6, 0);
	o->net = net_create(&o->env, &nif, 16, now_ns);
	o->tcp = o->net ? tcp_create(&o->env, o->net, &params, now_ns) : NULL;
	if (o->tcp && start(o, config, now_ns))
		return &o->end;
	fprintf(stderr, "our end does not start\n");
	own_close(&o->end);
	return NULL;
}

static uint32_t
own_take(struct end *e, uint8_t *frame, uint32_t max)
{
	struct own *o = (struct own *)e;
	struct rte_mbuf *m;
	const void *data;
	uint32_t len;

	if (o->next_out == o->n_out) {
		o->n_out = net_drain(o->net, o->out, BURST);
		o->next_out = 0;
	}
	if (o->n_out == 0)
		return 0;
	m = o->out[o->next_out++];
	len = m->pkt_len;
	data = len <= max ? rte_pktmbuf_read(m, 0, len, frame) : NULL;
	if (data && data != frame)
		memcpy(frame, data, len);
	rte_pktmbuf_free(m);
	if (!data)
		e->stream.failed = true;
	return data ? len : 0;
}

static const struct tcp_conn *
note_edge(struct own *o)
{
	const struct tcp_conn *c = o->conn ? tcp_conn_at(o->tcp, o->conn) : NULL;
	uint32_t edge;

	if (!c || c->state < TCP_ESTABLISHED || c->state >= TCP_TIME_WAIT)
		return NULL;
	edge = c->snd_una + c->snd_wnd;
	if (!o->has_edge || iw_seq_gt(edge, o->edge))
		o->edge = edge;
	o->has_edge = true;
	return c;
}

static void
own_give(struct end *e, const uint8_t *frame, uint32_t len, uint64_t now_ns)
{
	struct own *o = (struct own *)e;
	struct rte_mbuf *m = rte_pktmbuf_alloc(o->env.data_pool);
	struct net_icmp_err err;
	struct net_pkt pkt;
	enum net_verdict v;

	if (!m)
		return;
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), frame, len);
	v = net_rx(o->net, m, now_ns, &pkt, &err);
	if (v == NET_TCP)
		tcp_rx(o->tcp, m, &pkt, now_ns);
	else if (v == NET_ICMP_ERR)
		tcp_icmp_err(o->tcp, &err, now_ns);
	else if (v == NET_HOST)
		rte_pktmbuf_free(m);
	note_edge(o);
}

/* ---- the application ---- */

static void
note_ready(struct own *o)
{
	struct stream *s = &o->end.stream;
	struct tcp_ready r;

	while (tcp_ready_next(o->tcp, &r)) {
		if (r.bits & TCP_READY_UP && r.listener)
			tcp_adopt(o->tcp, r.conn, 1, NULL);
		o->conn = r.conn;
		o->bits |= r.bits;
	}
	s->up = o->bits & TCP_READY_UP;
	if (o->bits & (TCP_READY_RST | TCP_READY_TIMEOUT | TCP_READY_UNREACH)) {
		fprintf(stderr, "our end: ready bits 0x%x\n", o->bits);
		s->failed = true;
	}
}

static void
receive(struct own *o, uint64_t now_ns)
{
	struct stream *s = &o->end.stream;
	struct iw_view views[TCP_PEEK_VIEWS];
	uint32_t n, octets = 0;

	n = tcp_rx_peek(o->tcp, o->conn, views, TCP_PEEK_VIEWS);
	for (uint32_t i = 0; i < n; i++) {
		stream_got(s, iw_view_data(&views[i]), views[i].len);
		octets += views[i].len;
	}
	if (octets)
		tcp_rx_consume(o->tcp, o->conn, octets, now_ns);
	s->eof = o->bits & TCP_READY_FIN && tcp_rx_pending(o->tcp, o->conn) == 0;
}

/* One record in eight is shorter than a segment. */
static uint32_t
record_length(struct own *o, uint32_t emss)
{
	o->drawn = o->drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return o->drawn >> 61 || o->end.stream.want == STREAM_ENDLESS ? emss : 1 + (uint32_t)(o->drawn >> 33) % emss;
}

static bool
append(struct own *o, uint32_t emss)
{
	struct stream *s = &o->end.stream;
	struct rte_mbuf *m = rte_pktmbuf_alloc(o->env.data_pool);
	uint8_t *data;
	uint32_t len;

	if (!m)
		return false;
	m->data_off = TCP_HEADROOM;
	data = rte_pktmbuf_mtod(m, uint8_t *);
	len = stream_fill(s, data, record_length(o, emss));
	if (len == 0) {
		rte_pktmbuf_free(m);
		return false;
	}
	m->pkt_len = m->data_len = (uint16_t)len;
	stream_sent(s, data, len);
	if (tcp_tx_append(o->tcp, o->conn, m))
		s->failed = true;
	return true;
}

static void
transmit(struct own *o, uint64_t now_ns)
{
	struct stream *s = &o->end.stream;
	struct tcp_grant g;
	bool goes_on = true;

	while (goes_on && !s->failed && (g = tcp_tx_grant(o->tcp, o->conn)).segments)
		for (uint32_t i = 0; i < g.segments && goes_on; i++)
			goes_on = append(o, g.emss);
	if (s->sent == s->want && !s->closed) {
		s->closed = true;
		tcp_close(o->tcp, o->conn, now_ns);
	}
}

/* ---- a turn ---- */

/* What was sent obeys both windows; a probe may be an octet more than the peer's (RFC 9293 §3.8.6.1), a probe of the
 * tail or the first retransmission a segment more than cwnd (RFC 8985 §7.3, RFC 6675 §5 step 4.3). */
static void
emit(struct own *o, uint64_t now_ns)
{
	const struct tcp_conn *c = note_edge(o);
	uint32_t before = c ? c->snd_nxt : 0;
	uint64_t again = c ? c->retransmits : 0;

	o->more = tcp_tx_emit(o->tcp, BURST, now_ns) == BURST;
	c = c ? note_edge(o) : NULL;
	if (!c || !c->fl || (c->snd_nxt == before && c->retransmits == again))
		return;
	if (iw_seq_gt(c->snd_nxt, o->edge + 1) || tcp_loss_pipe(c) > c->fl->cc.cwnd + c->emss) {
		fprintf(stderr, "our end: sent up to %d octets of the window, %u in flight, cwnd %u\n",
			(int)(c->snd_nxt - o->edge), tcp_loss_pipe(c), c->fl->cc.cwnd);
		o->end.stream.failed = true;
	}
}

static void
own_turn(struct end *e, uint64_t now_ns)
{
	struct own *o = (struct own *)e;

	net_tick(o->net, now_ns);
	tcp_tick(o->tcp, now_ns);
	note_ready(o);
	if (e->stream.up && !e->stream.failed) {
		if (end_may_read(e, now_ns))
			receive(o, now_ns);
		transmit(o, now_ns);
	}
	emit(o, now_ns);
}

static uint64_t
own_deadline(const struct end *e)
{
	const struct own *o = (const struct own *)e;

	uint64_t at = iw_time_min(tcp_deadline(o->tcp), net_deadline(o->net));

	return o->more ? 0 : e->config.lazy ? iw_time_min(at, e->read_ns) : at;
}

static uint32_t
own_fds(const struct end *e, struct pollfd fd[END_FDS])
{
	(void)e;
	(void)fd;
	return 0;
}

static bool
own_is_over(struct end *e)
{
	return ((struct own *)e)->bits & TCP_READY_CLOSED && e->stream.eof;
}

const struct end_kind end_own = {.name = "ours",
				 .open = own_open,
				 .close = own_close,
				 .take = own_take,
				 .give = own_give,
				 .turn = own_turn,
				 .deadline = own_deadline,
				 .fds = own_fds,
				 .is_over = own_is_over};
