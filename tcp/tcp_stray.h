/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that belong to another engine on the same port.  What is known here stays; everything else goes to its home
 * first, which hashes say, and from there round all engines: one of them has the connection, or listens, or the last
 * one refuses.  So a connection that chose its own port, or a listener of one engine alone, is found wherever its
 * segments arrive. */
#ifndef TCP_STRAY_H
#define TCP_STRAY_H

#include "tcp_face.h"
#include "tcp_rx_seg.h"

/* A segment without connection and TIME_WAIT record.  True: it goes away, and its mbuf with it. */
bool tcp_stray_take(struct tcp *tcp, struct tcp_rx_seg *rx);

#endif
