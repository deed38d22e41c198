/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners and passive opening (RFC 9293 §3.10.7.1, §3.10.7.2).  A backlog counts connections in SYN_RCVD and
 * established ones that nobody has adopted; a SYN beyond it is dropped and counted. */
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "tcp.h"
#include "tcp_listener.h"
#include "tcp_rx_seg.h"

/* A segment for which there is no connection: a SYN for a listener opens one, all else gets RST or nothing.
 * timewait, isn_after: a SYN that a TIME_WAIT record (handle) lets in, our ISN has to lie above this; 0: none. */
void tcp_listen_rx(struct tcp *tcp, struct tcp_rx_seg *rx, uint32_t timewait, uint32_t isn_after);

/* Somebody listens there who has a place free for this SYN. */
bool tcp_listen_wants(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *seg);

#endif
