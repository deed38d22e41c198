/* SPDX-License-Identifier: BSD-3-Clause */
/* What is lost, and what that does to the congestion window.  With SACK: RACK-TLP (RFC 8985), the pipe of RFC 6675, the
 * rate by PRR (RFC 6937), and all of it taken back when it was a mistake (RFC 3522, RFC 3708, RFC 5682).  Without SACK:
 * RFC 6582.  Timeouts: RFC 5681 §3.1, RFC 6298.  ECN: RFC 3168 §6.1.2.
 * Limited transmit (RFC 3042) needs no code of its own: what SACK or a duplicate ACK reports as arrived leaves the
 * pipe, and pipe < cwnd lets new data go. */
#ifndef TCP_LOSS_H
#define TCP_LOSS_H

#include "tcp_conn_obj.h"

/* What one ACK told. */
struct tcp_loss_facts {
	struct tcp_txq_delta delta;
	struct iw_range dsack_block; /* when dsack */
	uint64_t rtt_ns;             /* measured with it; 0: not */
	uint32_t flight;             /* FlightSize before it */
	uint32_t tsecr;              /* when has_ts */
	bool has_ts;
	bool advanced;  /* SND.UNA moved */
	bool duplicate; /* in the sense of RFC 5681 §2 */
	bool sacks;     /* it carried SACK blocks */
	bool dsack;
	bool ece;         /* it carried ECE, and that was agreed on */
	bool ece_is_news; /* and the window was not reduced in this round trip yet */
};

void tcp_loss_init(struct tcp_conn *c);

/* After the records were marked: growth of the window, begin, course and end of recovery. */
void tcp_loss_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *facts, uint64_t now_ns);

/* The retransmission timer fired: all that is not SACKed is lost, slow start from one segment. */
void tcp_loss_rto(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* TCP_TIMER_LOSS fired: the reordering window has passed, or a tail loss probe is due. */
void tcp_loss_timer(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* New data was sent, or SND.UNA moved (RTO was armed before): schedules a probe unless something else is under way. */
void tcp_loss_arm(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* A probe left (RFC 8985 §7.3): the RTO starts anew. */
void tcp_loss_probed(struct tcp *tcp, struct tcp_conn *c, bool is_retrans, uint64_t now_ns);

/* This record was sent again. */
void tcp_loss_resent(struct tcp_conn *c, const struct tcp_txq_rec *rec, uint64_t now_ns);

/* Octets estimated to be in the network (RFC 6675 §4; without SACK: less what duplicate ACKs stand for). */
uint32_t tcp_loss_pipe(const struct tcp_conn *c);

#endif
