/* SPDX-License-Identifier: BSD-3-Clause */
/* What is lost, and what that does to the congestion window: fast retransmit and recovery with SACK (RFC 6675, rate
 * by PRR), without SACK (RFC 6582), limited transmit (RFC 3042), retransmission timeouts (RFC 5681 §3.1, RFC 6298).
 * Limited transmit needs no code of its own: what SACK or a duplicate ACK reports as arrived leaves the pipe, and
 * pipe < cwnd lets new data go. */
#ifndef TCP_LOSS_H
#define TCP_LOSS_H

#include "tcp_conn_obj.h"

/* What one ACK told. */
struct tcp_loss_facts {
	struct tcp_txq_delta delta;
	uint32_t flight; /* FlightSize before it */
	bool advanced;   /* SND.UNA moved */
	bool duplicate;  /* in the sense of RFC 5681 §2 */
};

/* After the records were marked: growth of the window, begin, course and end of recovery. */
void tcp_loss_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *facts, uint64_t now_ns);

/* The retransmission timer fired: all that is not SACKed is lost, slow start from one segment. */
void tcp_loss_rto(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* Octets estimated to be in the network (RFC 6675 §4; without SACK: less what duplicate ACKs stand for). */
uint32_t tcp_loss_pipe(const struct tcp_conn *c);

#endif
