/* SPDX-License-Identifier: BSD-3-Clause */
/* One struct tcp (host 0) against a peer made by hand (host 1: a struct net only).  Segments go in with
 * script_in(), what comes out is taken in order with script_out(); nothing takes time but script_wait(). */
#ifndef TCPSCRIPT_H
#define TCPSCRIPT_H

#include "tcpsim.h"

#include "cksum.h"

#define SCRIPT_OUT 512
#define SCRIPT_PORT 4420       /* ours when we listen */
#define SCRIPT_PEER_PORT 3333  /* the peer's */
#define SCRIPT_ISS start_seq() /* the peer's */

struct script {
	struct sim sim;
	struct tcp_seg out[SCRIPT_OUT];
	uint32_t n, at;
	uint32_t conn, listener;
	uint16_t our_port, peer_port;
	uint32_t seq; /* the peer's SND.NXT */
	uint32_t ack; /* the peer's RCV.NXT: behind all that came out in order */
	uint32_t our_iss;
	uint16_t wnd;   /* what the peer advertises */
	uint32_t tsval; /* the peer's clock */
	bool ts, sack, ws;
	uint32_t bits;    /* gathered ready bits */
	bool bad_cksum;   /* next segment only */
	uint16_t urp;     /* next segment only */
	uint8_t ecn;      /* codepoint of what the peer sends */
	uint8_t last_ecn; /* of what came out last */
};

static inline void
script_init(struct script *x)
{
	memset(x, 0, sizeof(*x));
	sim_init(&x->sim, 1, false);
	x->sim.delay_ns = 0;
	x->our_port = SCRIPT_PORT;
	x->peer_port = SCRIPT_PEER_PORT;
	x->seq = SCRIPT_ISS;
	x->wnd = 65535;
	x->tsval = 1000;
}

static inline void
script_fini(struct script *x)
{
	sim_fini(&x->sim);
}

static inline void
script_capture(struct script *x, struct rte_mbuf *m, const struct net_pkt *pkt)
{
	struct tcp_seg *seg = &x->out[x->n];

	assert_true(x->n < SCRIPT_OUT);
	assert_int_equal(tcp_hdr_parse(m, pkt->l4_off, pkt->l4_len, seg), TCP_HDR_OK);
	assert_true(iw_cksum_good(iw_cksum_add_mbuf(pkt->pseudo_sum, m, pkt->l4_off, pkt->l4_len)));
	x->n++;
	x->last_ecn = pkt->ecn;
	if (seg->flags & TCP_SYN)
		x->our_iss = seg->seq;
	if (seg->flags & TCP_SYN || seg->seq == x->ack)
		x->ack = seg->seq + tcp_hdr_seg_len(seg);
	rte_pktmbuf_free(m);
}

/* Host 0 polls, host 1 answers ARP and captures; again while something moves. */
static inline void
script_poll(struct script *x)
{
	struct sim *s = &x->sim;
	struct tcp_ready r;
	uint32_t before;

	do {
		struct sim_frame f;
		struct net_icmp_err err;
		struct net_pkt pkt;

		before = x->n;
		sim_poll(s, &s->h[0]);
		net_tick(s->h[1].net, s->now_ns);
		while (sim_take(s, 1, &f))
			if (net_rx(s->h[1].net, f.m, s->now_ns, &pkt, &err) == NET_TCP)
				script_capture(x, f.m, &pkt);
		sim_drain(s, 1);
	} while (x->n != before || s->n > 0);
	while (tcp_ready_next(s->h[0].tcp, &r)) {
		x->bits |= r.bits;
		if (r.bits & TCP_READY_UP)
			x->conn = r.conn;
	}
}

/* Time passes; timers fire on their way. */
static inline void
script_wait(struct script *x, uint64_t ns)
{
	uint64_t end = x->sim.now_ns + ns;

	for (uint32_t i = 0; i < 10000 && x->sim.now_ns < end; i++) {
		uint64_t next = sim_next(&x->sim);

		x->sim.now_ns = next > x->sim.now_ns && next < end ? next
				: next <= x->sim.now_ns            ? x->sim.now_ns + 1
								   : end;
		script_poll(x);
	}
}

/* The next segment that came out; fails when there is none. */
static inline struct tcp_seg
script_out(struct script *x)
{
	if (x->at == x->n)
		script_poll(x);
	if (x->at == x->n)
		script_poll(x); /* an owed ACK waits for the end of the next poll */
	assert_true(x->at < x->n);
	return x->out[x->at++];
}

static inline void
script_expect_silence(struct script *x)
{
	script_poll(x);
	script_poll(x);
	if (x->at != x->n)
		fail_msg("unexpected segment: flags 0x%x seq %u ack %u len %u", x->out[x->at].flags, x->out[x->at].seq,
			 x->out[x->at].ack, x->out[x->at].len);
}

static inline struct tcp_seg
script_expect(struct script *x, uint8_t flags, uint32_t seq, uint32_t ack)
{
	struct tcp_seg seg = script_out(x);

	assert_int_equal(seg.flags & ~TCP_PSH, flags);
	assert_int_equal(seg.seq, seq);
	if (flags & TCP_ACK)
		assert_int_equal(seg.ack, ack);
	return seg;
}

/* Everything that came out so far is of no interest. */
static inline void
script_skip(struct script *x)
{
	script_poll(x);
	script_poll(x);
	x->at = x->n;
}

static inline struct tcp_seg
script_seg(const struct script *x, uint8_t flags, uint32_t seq, uint32_t ack)
{
	return (struct tcp_seg){.sport = x->peer_port,
				.dport = x->our_port,
				.seq = seq,
				.ack = ack,
				.flags = flags,
				.wnd = x->wnd,
				.urp = x->urp,
				.has_ts = x->ts,
				.tsval = x->tsval,
				.tsecr = 0 /* tells nothing */};
}

/* Any segment with len octets of the stream that began behind the peer's SYN; handed in without a poll. */
static inline void
script_in_seg(struct script *x, const struct tcp_seg *seg, uint32_t len)
{
	struct host *peer = &x->sim.h[1];
	struct rte_mbuf *m = sim_mbuf(peer, seg->seq - (SCRIPT_ISS + 1), len);
	struct net_route route;
	struct sim_frame f;
	struct net_icmp_err err;
	struct net_pkt pkt;
	uint32_t sum, hdr_len;

	hdr_len = tcp_hdr_push(m, seg);
	assert_true(hdr_len);
	sum = net_pseudo_sum(peer->net, &peer->nif.addr, &x->sim.h[0].nif.addr, 6, hdr_len + len);
	sum = iw_cksum_add(sum, 0, rte_pktmbuf_mtod(m, const void *), hdr_len + len);
	tcp_hdr_set_cksum(m, (uint16_t)(~iw_cksum_fold_memory(sum) + x->bad_cksum));
	x->bad_cksum = false;
	x->urp = 0;
	assert_int_equal(net_route(peer->net, &x->sim.h[0].nif.addr, &route), 0);
	net_tx(peer->net, m, &route, 6, x->ecn, x->sim.now_ns);
	sim_drain(&x->sim, 1);
	while (sim_take(&x->sim, 0, &f)) {
		enum net_verdict v = net_rx(x->sim.h[0].net, f.m, x->sim.now_ns, &pkt, &err);

		if (v == NET_TCP)
			tcp_rx(x->sim.h[0].tcp, f.m, &pkt, x->sim.now_ns);
		else if (v == NET_HOST)
			rte_pktmbuf_free(f.m);
		sim_drain(&x->sim, 0);
		while (sim_take(&x->sim, 1, &f))
			if (net_rx(x->sim.h[1].net, f.m, x->sim.now_ns, &pkt, &err) == NET_TCP)
				script_capture(x, f.m, &pkt);
		sim_drain(&x->sim, 1);
	}
}

static inline void
script_in(struct script *x, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t len)
{
	struct tcp_seg seg = script_seg(x, flags, seq, ack);

	script_in_seg(x, &seg, len);
}

/* The next len octets in order. */
static inline void
script_data(struct script *x, uint32_t len)
{
	script_in(x, TCP_ACK | TCP_PSH, x->seq, x->ack, len);
	x->seq += len;
}

static inline void
script_syn_options(const struct script *x, struct tcp_seg *seg)
{
	seg->has_mss = true;
	seg->mss = 1460;
	seg->has_ws = x->ws;
	seg->ws = 7;
	seg->sack_perm = x->sack;
	seg->has_ts = x->ts;
}

static inline void
script_listen(struct script *x, uint32_t backlog)
{
	struct iw_addr any = {.port = SCRIPT_PORT};

	assert_int_equal(tcp_listen(x->sim.h[0].tcp, &any, backlog, 9, &x->listener), 0);
}

/* The peer's SYN to our listener. */
static inline void
script_syn(struct script *x)
{
	struct tcp_seg seg = script_seg(x, TCP_SYN, SCRIPT_ISS, 0);

	script_syn_options(x, &seg);
	script_in_seg(x, &seg, 0);
	x->seq = SCRIPT_ISS + 1;
}

/* The SYN of another one. */
static inline void
script_syn_from(struct script *x, uint16_t port)
{
	x->peer_port = port;
	x->seq = SCRIPT_ISS;
	script_syn(x);
}

/* We open; the SYN has come out when it returns. */
static inline void
script_open(struct script *x, const struct tcp_attr *attr)
{
	struct iw_addr local = {.port = 2222}, remote = x->sim.h[1].nif.addr;

	remote.port = SCRIPT_PEER_PORT;
	x->our_port = 2222;
	assert_int_equal(tcp_open(x->sim.h[0].tcp, &local, &remote, attr, 5, x->sim.now_ns, &x->conn), 0);
	script_poll(x);
	x->at = x->n;
	assert_int_equal(x->out[x->n - 1].flags, TCP_SYN);
}

/* The peer's answer to our SYN. */
static inline void
script_syn_ack(struct script *x)
{
	struct tcp_seg seg = script_seg(x, TCP_SYN | TCP_ACK, SCRIPT_ISS, x->our_iss + 1);

	script_syn_options(x, &seg);
	script_in_seg(x, &seg, 0);
	x->seq = SCRIPT_ISS + 1;
}

static inline enum tcp_state
script_state(struct script *x)
{
	struct tcp_info info;

	return tcp_conn_info(x->sim.h[0].tcp, x->conn, &info) ? info.state : TCP_CLOSED;
}

/* ESTABLISHED, opened by us. */
static inline void
script_established(struct script *x)
{
	script_open(x, NULL);
	script_syn_ack(x);
	script_skip(x);
	assert_int_equal(script_state(x), TCP_ESTABLISHED);
	assert_true(x->bits & TCP_READY_UP);
	x->bits = 0;
}

/* Appends len octets of our stream. */
static inline void
script_send(struct script *x, uint64_t place, uint32_t len)
{
	struct rte_mbuf *m = sim_mbuf(&x->sim.h[0], place, len);

	assert_int_equal(tcp_tx_append(x->sim.h[0].tcp, x->conn, m), 0);
}

static inline void
script_close(struct script *x)
{
	tcp_close(x->sim.h[0].tcp, x->conn, x->sim.now_ns);
	script_skip(x);
}

static inline void
script_fin(struct script *x)
{
	script_in(x, TCP_FIN | TCP_ACK, x->seq, x->ack, 0);
	x->seq++;
	script_skip(x);
}

/* From nothing into one of the synchronized states (or SYN_RCVD, SYN_SENT). */
static inline void
script_reach(struct script *x, enum tcp_state state)
{
	if (state == TCP_SYN_SENT || state == TCP_SYN_RCVD) {
		script_open(x, NULL);
		if (state == TCP_SYN_RCVD)
			script_syn(x);
		script_skip(x);
		return;
	}
	script_established(x);
	if (state == TCP_CLOSE_WAIT || state == TCP_LAST_ACK)
		script_fin(x);
	if (state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT)
		script_close(x);
	if (state == TCP_FIN_WAIT_2)
		script_in(x, TCP_ACK, x->seq, x->ack, 0);
	if (state == TCP_CLOSING)
		script_in(x, TCP_FIN | TCP_ACK, x->seq++, x->ack - 1, 0);
	script_skip(x);
	assert_int_equal(script_state(x), state);
}

/* The connection as it is inside. */
static inline struct tcp_conn *
script_conn(struct script *x)
{
	return sim_conn(&x->sim.h[0], x->conn);
}

static inline uint64_t
script_counter(struct script *x, const char *name)
{
	return sim_counter(&x->sim.h[0], name);
}

#endif
