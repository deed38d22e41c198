/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors about a connection (RFC 9293 §3.9.2.2, RFC 5927, RFC 1191, RFC 8201). */
#ifndef TCP_PMTU_H
#define TCP_PMTU_H

#include "tcp_conn_obj.h"

/* err is about this connection.  What does not quote octets in flight is ignored, soft errors always, hard ones
 * outside the handshake.  Too big: EMSS is lowered, and what was sent in longer segments is sent again, re-cut. */
void tcp_pmtu_icmp(struct tcp *tcp, struct tcp_conn *c, const struct net_icmp_err *err, uint64_t now_ns);

/* The next lower plateau for a router that does not tell (RFC 1191 §7.1). */
uint32_t tcp_pmtu_plateau(uint32_t mtu);

#endif
