/* SPDX-License-Identifier: BSD-3-Clause */
/* What an acceptable ACK does (RFC 9293 §3.10.7.4, fifth step): frees records, samples the RTT, moves the window,
 * feeds loss recovery, tells that our FIN arrived. */
#ifndef TCP_ACK_H
#define TCP_ACK_H

#include "tcp_conn_obj.h"
#include "tcp_hdr.h"

/* SEG.ACK was checked: SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT (RFC 5961 §5), the state is synchronized.  The
 * state may be another one afterwards. */
void tcp_ack_rx(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns);

/* The ACK of our SYN: SND.UNA moves over it, the first RTT sample; does not look at the window. */
void tcp_ack_syn(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns);

/* Takes the window of this segment whatever SND.WL1 and WL2 say (first segment after the handshake). */
void tcp_ack_set_window(struct tcp_conn *c, const struct tcp_seg *seg);

#endif
