/* SPDX-License-Identifier: BSD-3-Clause */
/* Segment arrival (RFC 9293 §3.10.7): who it is for, the fast path, the slow path in the order
 * of the RFC.  The calls of the face that read (tcp_rx_peek and so on) are here as well. */
#ifndef TCP_RX_H
#define TCP_RX_H

#include "tcp_conn_obj.h"
#include "tcp_rx_seg.h"

/* A segment whose header and checksum are good and whose tuple and hash are set. */
void tcp_rx_dispatch(struct tcp *tcp, struct tcp_rx_seg *rx);

/* SYN_SENT (§3.10.7.3). */
void tcp_rx_syn_sent(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx);

/* Text and FIN (§3.10.7.4, seventh and eighth step) of a segment that was accepted. */
void tcp_rx_text(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx);
void tcp_rx_fin(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx);

/* RST for a segment that cannot be meant for c, which is in the handshake and stays (RFC 9293 §3.10.7.3, §3.10.7.4);
 * within c's own limit. */
void tcp_rx_refuse(struct tcp *tcp, struct tcp_conn *c, const struct tcp_rx_seg *rx);

#endif
