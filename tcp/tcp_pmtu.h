/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors about a connection (RFC 9293 §3.9.2.2, RFC 5927, RFC 1191, RFC 8201), and paths that swallow what is too
 * long without a word (RFC 4821 §7.7). */
#ifndef TCP_PMTU_H
#define TCP_PMTU_H

#include "tcp_conn_obj.h"

/* err is about this connection.  What does not quote octets in flight is ignored, soft errors always, hard ones
 * outside the handshake.  Too big: EMSS is lowered, and what was sent in longer segments is sent again, re-cut; where
 * segments of that size were acknowledged before, only once the quoted one times out (RFC 5927 §7.2). */
void tcp_pmtu_icmp(struct tcp *tcp, struct tcp_conn *c, const struct net_icmp_err *err, uint64_t now_ns);

/* The retransmission timer has fired, backoff counts it: an ICMP error that waited is believed; after three times in a
 * row of a full segment, a smaller size is tried. */
void tcp_pmtu_rto(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* TCP_TIMER_PMTU: the path may carry more again. */
void tcp_pmtu_raise(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* Segments of today's size have got through: so much was acknowledged that some of it came in them.  It must have a
 * flight. */
bool tcp_pmtu_is_proven(const struct tcp_conn *c);

/* The next lower plateau for a router that does not tell (RFC 1191 §7.1). */
uint32_t tcp_pmtu_plateau(uint32_t mtu);

#endif
