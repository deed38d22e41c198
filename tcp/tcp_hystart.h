/* SPDX-License-Identifier: BSD-3-Clause */
/* HyStart++ (RFC 9406): leaves the first slow start when round trips become longer, by way of a conservative one. */
#ifndef TCP_HYSTART_H
#define TCP_HYSTART_H

#include "tcp_cc.h"

void tcp_hystart_init(struct tcp_cc_hystart_state *h);

/* An ACK in the first slow start, the window being the limit: grows cc->cwnd.  true: slow start is over, ssthresh is
 * to be set (§4.2). */
bool tcp_hystart_ack(struct tcp_cc *cc, const struct tcp_cc_ack *ack);

#endif
