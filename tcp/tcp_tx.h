/* SPDX-License-Identifier: BSD-3-Clause */
/* What may go now: the windows of peer and congestion control, silly-window avoidance, probes, owed ACKs.  The calls
 * of the face (tcp_tx_grant, tcp_tx_append, tcp_tx_emit) are declared in tcp_face.h. */
#ifndef TCP_TX_H
#define TCP_TX_H

#include "tcp_conn_obj.h"

/* An ACK came: what waited may go, and an owner who got no grant may get one. */
void tcp_tx_opened(struct tcp *tcp, struct tcp_conn *c);

/* Something never sent waits, and the peer's window lets it go. */
bool tcp_tx_has_new(const struct tcp_conn *c);

#endif
