/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_listen.h"

#include <iwarp/err.h>

#include "iw_addr.h"
#include "seq.h"
#include "tcp_conn.h"
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
		struct tcp_conn *c = iw_list_entry(link, struct tcp_conn, embryo_link);

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

/* A connection in the listener's backlog, in SYN_RCVD, its SYN-ACK to go with the next emit. */
static void
open_passive(struct tcp *tcp, struct tcp_listener *l, uint32_t handle, const struct tcp_rx_seg *rx, uint32_t timewait,
	     uint32_t isn_after)
{
	struct iw_addr local = rx->pkt->dst, remote = rx->pkt->src;
	struct tcp_conn *c;
	int err;

	local.port = rx->seg.dport;
	remote.port = rx->seg.sport;
	c = tcp_conn_create(tcp, &local, &remote, timewait, rx->now_ns, &err);
	if (!c) {
		tcp->n.rx_syn_nomem++;
		return;
	}
	if (timewait && iw_seq_leq(c->iss, isn_after))
		c->iss = isn_after + 1;
	c->owner = l->owner;
	c->listener = handle;
	tcp_conn_set(c, TCP_CONN_PASSIVE | TCP_CONN_EMBRYO | TCP_CONN_UNSHOWN);
	l->used++;
	iw_list_add(&l->embryos, &c->embryo_link);
	tcp->n.opened_passive++;
	tcp_conn_event(tcp, c, TCP_EV_PASSIVE_OPEN, rx->now_ns);
	tcp_conn_take_syn(c, &rx->seg, rx->now_ns);
	tcp_conn_event(tcp, c, TCP_EV_RCV_SYN, rx->now_ns);
}

/* §3.10.7.2: RST, ACK, SYN, in this order. */
static void
rx_listen(struct tcp *tcp, struct tcp_listener *l, uint32_t handle, const struct tcp_rx_seg *rx, uint32_t timewait,
	  uint32_t isn_after)
{
	uint8_t kind = rx->seg.flags & (TCP_RST | TCP_ACK | TCP_SYN | TCP_FIN);

	if (kind & TCP_RST) {
		tcp->n.rx_nobody_rst++;
	} else if (kind & TCP_ACK) {
		tcp->n.rx_listen_bad++;
		tcp_out_refuse(tcp, rx->pkt, &rx->seg, rx->now_ns);
	} else if (kind != TCP_SYN) {
		tcp->n.rx_listen_bad++; /* no flags, FIN alone, SYN with FIN */
	} else if (l->used >= l->backlog) {
		tcp->n.rx_backlog_full++;
	} else {
		open_passive(tcp, l, handle, rx, timewait, isn_after);
	}
}

void
tcp_listen_rx(struct tcp *tcp, struct tcp_rx_seg *rx, uint32_t timewait, uint32_t isn_after)
{
	uint32_t handle = find(tcp, rx->pkt, &rx->seg);
	struct tcp_listener *l = listener_at(tcp, handle);

	if (l) {
		rx_listen(tcp, l, handle, rx, timewait, isn_after);
		return;
	}
	if (rx->seg.flags & TCP_RST) {
		tcp->n.rx_nobody_rst++;
		return;
	}
	tcp->n.rx_nobody++;
	tcp_out_refuse(tcp, rx->pkt, &rx->seg, rx->now_ns);
}
