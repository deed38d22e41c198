/* SPDX-License-Identifier: BSD-3-Clause */
/* The plain case of sending: nothing is lost, nothing is forced, and new records go one behind the other as far as
 * windows and pacing let them.  What may go is decided once for all of them; tcp_tx.c has the rules for everything
 * else. */
#ifndef TCP_RUN_H
#define TCP_RUN_H

#include "tcp_conn_obj.h"
#include "tcp_out.h"

/* Sends up to max new records, *sent of them; what is left to send then is for the slow rules.  0, or the error of
 * tcp_out_rec(). */
int tcp_run_send(struct tcp *tcp, struct tcp_conn *c, uint32_t max, struct tcp_out_train *train, uint64_t now_ns,
		 uint32_t *sent);

/* Before something new is sent: a window that opens after a pause longer than the RTO starts small again (RFC 5681
 * §4.1). */
void tcp_run_after_idle(struct tcp_conn *c, const struct tcp_txq_rec *rec, uint64_t now_ns);

#endif
