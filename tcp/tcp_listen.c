/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_listen.h"

#include <iwarp/err.h>
#include <string.h>

#include "iw_addr.h"
#include "seq.h"
#include "tcp_conn.h"
#include "tcp_cookie.h"
#include "tcp_isn.h"
#include "tcp_out.h"
#include "tcp_pvt.h"

static struct tcp_listener *
listener_at(const struct tcp *tcp, uint32_t handle)
{
	return (struct tcp_listener *)iw_pool_at(&tcp->listeners, handle);
}

/* Enters the address, choosing a port where none was given. */
static int
enter(struct tcp *tcp, struct iw_addr *addr, uint32_t handle)
{
	struct tcp_isn_ports walk;
	uint16_t port;

	if (addr->port)
		return tcp_demux_listen(&tcp->demux, addr->ip, addr->port, handle);
	for (port = tcp_isn_port_first(&walk, tcp->env); port; port = tcp_isn_port_next(&walk)) {
		if (tcp_demux_port_listens(&tcp->demux, port))
			continue;
		addr->port = port;
		return tcp_demux_listen(&tcp->demux, addr->ip, port, handle);
	}
	return -IW_E_ADDRINUSE;
}

int
tcp_listen(struct tcp *tcp, struct iw_addr *addr, uint32_t backlog, uint32_t owner, uint32_t *listener)
{
	struct tcp_listener *l;
	int err;

	if (!iw_addr_is_any(addr) && !net_own_is(tcp->net, addr))
		return -IW_E_ADDRNOTAVAIL;
	l = (struct tcp_listener *)iw_pool_get(&tcp->listeners, listener);
	if (!l)
		return -IW_E_NOMEM;
	err = enter(tcp, addr, *listener);
	if (err) {
		iw_pool_put(&tcp->listeners, *listener);
		return err;
	}
	l->addr = *addr;
	l->owner = owner;
	l->backlog = backlog ? backlog : 1;
	iw_list_init(&l->embryos);
	return 0;
}

void
tcp_unlisten(struct tcp *tcp, uint32_t listener, uint64_t now_ns)
{
	struct tcp_listener *l = listener_at(tcp, listener);
	struct iw_link *link;

	if (!l)
		return;
	tcp->now_ns = now_ns;
	while ((link = iw_list_first(&l->embryos)) != NULL) {
		struct tcp_conn *c = iw_list_entry(link, struct tcp_conn, wait_link);

		tcp_conn_event(tcp, c, TCP_EV_ABORT, now_ns);
		tcp_conn_free(tcp, c);
	}
	tcp_demux_unlisten(&tcp->demux, l->addr.ip, l->addr.port);
	iw_pool_put(&tcp->listeners, listener);
}

static uint32_t
find(const struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *seg)
{
	return tcp_demux_listener(&tcp->demux, pkt->dst.ip, seg->dport);
}

bool
tcp_listen_wants(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *seg)
{
	const struct tcp_listener *l = listener_at(tcp, find(tcp, pkt, seg));

	return l && l->used < l->backlog;
}

/* ---- SYN-ACKs ---- */

/* Both ends of what has no connection yet. */
struct ends {
	struct iw_addr local, remote;
	struct tcp_tuple tuple;
};

static struct ends
ends_of(const struct tcp_rx_seg *rx)
{
	struct ends e = {.local = rx->pkt->dst, .remote = rx->pkt->src};

	e.local.port = rx->seg.dport;
	e.remote.port = rx->seg.sport;
	e.tuple = tcp_tuple_of(&e.local, &e.remote);
	return e;
}

/* A record has no room for the scope of link-local addresses: it is that of the engine's only port. */
static struct ends
ends_of_rec(const struct tcp *tcp, const struct tcp_syn_rec *rec)
{
	struct ends e = {
		.local.port = rec->tuple.local_port, .remote.port = rec->tuple.remote_port, .tuple = rec->tuple};

	memcpy(e.local.ip, rec->tuple.local_ip, sizeof(e.local.ip));
	memcpy(e.remote.ip, rec->tuple.remote_ip, sizeof(e.remote.ip));
	e.local = net_own_scoped(tcp->net, &e.local);
	e.remote = net_own_scoped(tcp->net, &e.remote);
	return e;
}

static uint32_t
clock_of(const struct tcp *tcp, const struct ends *e, uint64_t now_ns)
{
	return tcp_isn_tsval(now_ns, tcp_isn_ts_offset(tcp->env, &e->tuple));
}

static void
send_rec(struct tcp *tcp, const struct ends *e, const struct tcp_syn_rec *rec, uint64_t now_ns)
{
	struct tcp_seg syn = tcp_syn_seg(rec);

	tcp_out_syn_ack(tcp, &e->local, &e->remote, &syn, rec->iss, clock_of(tcp, e, now_ns), now_ns);
}

/* No record is left: the SYN-ACK itself remembers.  Behind a TIME_WAIT record our ISN has to be greater than the old
 * SND.NXT, which a cookie cannot promise: the peer tries again. */
static void
send_cookie(struct tcp *tcp, const struct ends *e, const struct tcp_rx_seg *rx, uint32_t timewait)
{
	uint32_t tsval = clock_of(tcp, e, rx->now_ns), iss;
	struct tcp_seg syn = tcp_cookie_kept(&rx->seg);

	if (timewait) {
		tcp->n.rx_syn_nomem++;
		return;
	}
	iss = tcp_cookie_make(tcp->env, &e->tuple, &syn, rx->now_ns, &tsval);
	tcp->n.syn_cookies++;
	tcp->cookie_ns = rx->now_ns;
	tcp_out_syn_ack(tcp, &e->local, &e->remote, &syn, iss, tsval, rx->now_ns);
}

static void
rx_syn(struct tcp *tcp, const struct ends *e, const struct tcp_rx_seg *rx, uint32_t timewait, uint32_t isn_after)
{
	uint32_t iss = tcp_isn_seq(tcp->env, &e->tuple, rx->now_ns);
	struct tcp_syn_rec *rec;

	bool moved = timewait && iw_seq_leq(iss, isn_after);

	if (moved)
		iss = isn_after + 1;
	rec = tcp_syn_add(&tcp->syn, &e->tuple, &rx->seg, iss, rx->now_ns);
	if (rec && moved)
		tcp_syn_set_untimed(rec);
	if (rec)
		send_rec(tcp, e, rec, rx->now_ns);
	else
		send_cookie(tcp, e, rx, timewait);
}

void
tcp_listen_tick(struct tcp *tcp, uint64_t now_ns)
{
	struct tcp_syn_rec *rec;

	while ((rec = tcp_syn_due(&tcp->syn, now_ns)) != NULL) {
		struct ends e = ends_of_rec(tcp, rec);

		if (tcp_demux_listener(&tcp->demux, rec->tuple.local_ip, rec->tuple.local_port) == 0 ||
		    !tcp_syn_again(&tcp->syn, rec, now_ns)) {
			tcp->n.syn_expired++;
			tcp_syn_del(&tcp->syn, rec);
			continue;
		}
		tcp->n.tx_retrans++;
		send_rec(tcp, &e, rec, now_ns);
	}
}

/* ---- the handshake's end ---- */

/* The connection, in SYN_RCVD and in its listener's backlog, for the segment that completes the handshake. */
static struct tcp_conn *
open_passive(struct tcp *tcp, uint32_t listener, const struct ends *e, const struct tcp_syn_ack *sent,
	     uint32_t timewait, uint64_t now_ns)
{
	struct tcp_listener *l = listener_at(tcp, listener);
	struct tcp_conn *c;
	int err;

	if (l->used >= l->backlog) {
		tcp->n.rx_backlog_full++;
		return NULL;
	}
	c = tcp_conn_create(tcp, &e->local, &e->remote, timewait, now_ns, &err);
	if (!c) {
		tcp->n.rx_syn_nomem++;
		return NULL;
	}
	tcp->n.timewait_reused += timewait != 0;
	if (!tcp_conn_resume(tcp, c, sent, now_ns)) {
		tcp->n.rx_syn_nomem++;
		tcp_conn_free(tcp, c);
		return NULL;
	}
	c->owner = l->owner;
	c->listener = listener;
	tcp_conn_set(c, TCP_CONN_PASSIVE | TCP_CONN_EMBRYO);
	l->used++;
	iw_list_add(&l->embryos, &c->wait_link);
	tcp->n.opened_passive++;
	return c;
}

static struct tcp_conn *
complete(struct tcp *tcp, uint32_t listener, struct tcp_syn_rec *rec, const struct ends *e, const struct tcp_rx_seg *rx,
	 uint32_t timewait)
{
	struct tcp_seg syn = tcp_syn_seg(rec);
	struct tcp_syn_ack sent = {&syn, rec->iss, tcp_syn_sent_ns(&tcp->syn, rec, rx->now_ns)};
	struct tcp_conn *c = open_passive(tcp, listener, e, &sent, timewait, rx->now_ns);

	if (!c) /* the record stays: the SYN-ACK and its answer come again */
		return NULL;
	if (tcp_syn_retries(rec))
		tcp_conn_set(c, TCP_CONN_SYN_LOST);
	tcp_syn_del(&tcp->syn, rec);
	return c;
}

static void
challenge(struct tcp *tcp, const struct tcp_syn_rec *rec, const struct ends *e, const struct tcp_rx_seg *rx)
{
	struct tcp_seg syn = tcp_syn_seg(rec);
	struct tcp_seg ack = {.sport = e->local.port,
			      .dport = e->remote.port,
			      .flags = TCP_ACK,
			      .seq = rec->iss + 1,
			      .ack = rec->irs + 1,
			      .wnd = (uint16_t)(tcp_out_first_window(tcp) >> (syn.has_ws ? tcp_out_wscale(tcp) : 0)),
			      .has_ts = syn.has_ts,
			      .tsecr = syn.tsval};

	if (ack.has_ts)
		ack.tsval = clock_of(tcp, e, rx->now_ns);
	tcp->n.rx_handshake_bad++;
	tcp_out_bare_ack(tcp, rx->pkt, &ack, rx->now_ns);
}

/* A segment for a record. */
static struct tcp_conn *
rx_rec(struct tcp *tcp, uint32_t listener, struct tcp_syn_rec *rec, const struct ends *e, const struct tcp_rx_seg *rx,
       uint32_t timewait)
{
	switch (tcp_syn_check(rec, &rx->seg, tcp_out_first_window(tcp))) {
	case TCP_SYN_TAKE:
		return complete(tcp, listener, rec, e, rx, timewait);
	case TCP_SYN_REPEAT:
		tcp->n.rx_dup++;
		send_rec(tcp, e, rec, rx->now_ns);
		break;
	case TCP_SYN_END:
		tcp->n.syn_reset++;
		tcp_syn_del(&tcp->syn, rec);
		break;
	case TCP_SYN_CHALLENGE:
		challenge(tcp, rec, e, rx);
		break;
	case TCP_SYN_REFUSE:
		tcp->n.rx_bad_ack++;
		tcp_out_refuse(tcp, rx->pkt, &rx->seg, rx->now_ns);
		break;
	case TCP_SYN_DROP:
		tcp->n.rx_handshake_bad++;
		break;
	}
	return NULL;
}

/* An ACK for a listener: perhaps of a cookie, if one was sent lately. */
static struct tcp_conn *
rx_ack(struct tcp *tcp, uint32_t listener, const struct ends *e, const struct tcp_rx_seg *rx)
{
	bool lately = tcp->cookie_ns && rx->now_ns - tcp->cookie_ns < 2 * TCP_COOKIE_SLOT_NS;
	struct tcp_conn *c;
	struct tcp_seg syn;

	if (!lately || rx->seg.flags & TCP_SYN) {
		tcp->n.rx_listen_bad++;
		tcp_out_refuse(tcp, rx->pkt, &rx->seg, rx->now_ns);
		return NULL;
	}
	if (!tcp_cookie_take(tcp->env, &e->tuple, &rx->seg, rx->now_ns, &syn)) {
		tcp->n.syn_cookies_bad++;
		tcp_out_refuse(tcp, rx->pkt, &rx->seg, rx->now_ns);
		return NULL;
	}
	c = open_passive(tcp, listener, e, &(struct tcp_syn_ack){&syn, rx->seg.ack - 1, 0}, 0, rx->now_ns);
	tcp->n.syn_cookies_taken += c != NULL;
	return c;
}

/* §3.10.7.2: RST, ACK, SYN, in this order. */
static struct tcp_conn *
rx_listen(struct tcp *tcp, uint32_t listener, const struct ends *e, const struct tcp_rx_seg *rx, uint32_t timewait,
	  uint32_t isn_after)
{
	const struct tcp_listener *l = listener_at(tcp, listener);
	uint8_t kind = rx->seg.flags & (TCP_RST | TCP_ACK | TCP_SYN);

	if (kind & TCP_RST)
		tcp->n.rx_nobody_rst++;
	else if (kind & TCP_ACK)
		return rx_ack(tcp, listener, e, rx);
	else if (kind != TCP_SYN)
		tcp->n.rx_listen_bad++; /* no flags, FIN alone; what comes with a SYN will come again */
	else if (l->used >= l->backlog)
		tcp->n.rx_backlog_full++;
	else
		rx_syn(tcp, e, rx, timewait, isn_after);
	return NULL;
}

struct tcp_conn *
tcp_listen_rx(struct tcp *tcp, const struct tcp_rx_seg *rx, uint32_t timewait, uint32_t isn_after)
{
	struct ends e = ends_of(rx);
	struct tcp_syn_rec *rec = tcp_syn_find(&tcp->syn, &e.tuple);
	uint32_t listener = find(tcp, rx->pkt, &rx->seg);

	if (listener && rec)
		return rx_rec(tcp, listener, rec, &e, rx, timewait);
	if (listener)
		return rx_listen(tcp, listener, &e, rx, timewait, isn_after);
	if (rec) { /* its listener has gone */
		tcp->n.syn_expired++;
		tcp_syn_del(&tcp->syn, rec);
	}
	if (rx->seg.flags & TCP_RST) {
		tcp->n.rx_nobody_rst++;
		return NULL;
	}
	tcp->n.rx_nobody++;
	tcp_out_refuse(tcp, rx->pkt, &rx->seg, rx->now_ns);
	return NULL;
}

bool
tcp_listen_half_open(const struct tcp *tcp, const struct tcp_rx_seg *rx)
{
	struct ends e = ends_of(rx);

	return tcp_syn_find(&tcp->syn, &e.tuple) != NULL;
}

bool
tcp_listen_there(const struct tcp *tcp, const struct tcp_rx_seg *rx)
{
	return find(tcp, rx->pkt, &rx->seg) != 0;
}
