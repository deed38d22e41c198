/* SPDX-License-Identifier: BSD-3-Clause */
/* Lending and giving back of what a connection sends with; see tcp_flight_obj.h. */
#ifndef TCP_FLIGHT_H
#define TCP_FLIGHT_H

#include "tcp_conn_obj.h"

struct tcp;

enum tcp_flight_use { TCP_FLIGHT_DATA, TCP_FLIGHT_CONTROL };

/* max: how many connections can have something on its way at a time (it takes place for each of them); 0: as many as
 * the data pool has mbufs, and TCP_FLIGHT_LEAST at least.  0, -IW_E_NOMEM. */
int tcp_flight_init(struct tcp *tcp, uint32_t max, uint32_t mbufs);
void tcp_flight_fini(struct tcp *tcp);

/* Makes sure that the connection has one (c->fl); false: there is none, counted as tx_no_flight. */
bool tcp_flight_take(struct tcp *tcp, struct tcp_conn *c, enum tcp_flight_use use);

/* It has none and wants to send data: it will be told. */
void tcp_flight_starve(struct tcp *tcp, struct tcp_conn *c);

/* Tells those who starve as far as there is something for them; some may get nothing and starve again. */
void tcp_flight_wake(struct tcp *tcp, uint64_t now_ns);

/* The retransmission timeout, also of a connection that has none. */
uint64_t tcp_flight_rto(const struct tcp_conn *c);

/* Everything is acknowledged: another one may take it away from now on. */
void tcp_flight_rest(struct tcp *tcp, struct tcp_conn *c);

/* Nothing will be sent any more, or it is needed elsewhere: records are freed, the rest is kept as above. */
void tcp_flight_drop(struct tcp *tcp, struct tcp_conn *c);

#endif
