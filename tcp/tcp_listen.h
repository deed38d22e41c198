/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners and passive opening (RFC 9293 §3.10.7.1, §3.10.7.2).  A handshake is a record of 64 octets (tcp_syn.h), or
 * a cookie when none is left (tcp_cookie.h); a connection exists from the handshake's last ACK on.  A backlog counts
 * connections that nobody has adopted; a SYN, or a last ACK, beyond it is dropped and counted. */
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "tcp_conn_obj.h"
#include "tcp_face.h"
#include "tcp_listener.h"
#include "tcp_rx_seg.h"

/* A segment for which there is no connection.  Returns the one it completes, in SYN_RCVD: the caller hands it the
 * segment; NULL: it was dealt with (a SYN answered, or RST, or nothing).  timewait, isn_after: it hit this TIME_WAIT
 * record (handle), our ISN has to lie above this; 0: none. */
struct tcp_conn *tcp_listen_rx(struct tcp *tcp, const struct tcp_rx_seg *rx, uint32_t timewait, uint32_t isn_after);

/* Somebody listens there who has a place free for this SYN. */
bool tcp_listen_wants(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *seg);

/* Somebody listens there, with a place or without. */
bool tcp_listen_there(const struct tcp *tcp, const struct tcp_rx_seg *rx);

/* A handshake is under way between these ends (beside a TIME_WAIT record of an earlier connection). */
bool tcp_listen_half_open(const struct tcp *tcp, const struct tcp_rx_seg *rx);

/* SYN-ACKs again, and the end of handshakes that nobody finishes. */
void tcp_listen_tick(struct tcp *tcp, uint64_t now_ns);

#endif
