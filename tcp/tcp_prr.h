/* SPDX-License-Identifier: BSD-3-Clause */
/* Proportional Rate Reduction (RFC 6937, with the slow-start reduction bound): how much may be sent on each ACK
 * during recovery. */
#ifndef TCP_PRR_H
#define TCP_PRR_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_prr {
	uint32_t delivered;  /* prr_delivered */
	uint32_t out;        /* prr_out */
	uint32_t recover_fs; /* RecoverFS: FlightSize when recovery began */
};

/* Recovery begins with this FlightSize. */
void tcp_prr_begin(struct tcp_prr *prr, uint32_t flight);
/* An ACK in recovery.  delivered: octets newly acked or SACKed; pipe: after marking.  Returns sndcnt: octets that may
 * go now; cwnd = pipe + sndcnt. */
uint32_t tcp_prr_ack(struct tcp_prr *prr, uint32_t delivered, uint32_t pipe, uint32_t ssthresh, uint32_t mss);
/* Octets went out in recovery (first transmissions and retransmissions). */
void tcp_prr_sent(struct tcp_prr *prr, uint32_t octets);

#endif
