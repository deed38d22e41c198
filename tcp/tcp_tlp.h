/* SPDX-License-Identifier: BSD-3-Clause */
/* Tail loss probes (RFC 8985 §7): the end of a flight that nothing follows is probed once, long before the RTO. */
#ifndef TCP_TLP_H
#define TCP_TLP_H

#include <stdbool.h>
#include <stdint.h>

#include "tcp_rtt.h"

/* Of one connection. */
struct tcp_tlp {
	uint32_t end_seq; /* TLP.end_seq, when out */
	bool out;         /* a probe is in flight */
	bool is_retrans;  /* and it was a retransmission */
	bool no_rtt;      /* no RTT was measured since the last probe */
	bool reordering;  /* the timer is RACK's, not the probe's */
};

/* What one ACK told about the probe. */
struct tcp_tlp_ack {
	uint32_t ack;
	bool dsack;     /* a D-SACK ends at the probe's end */
	bool plain_dup; /* a duplicate ACK without any SACK block */
};

/* At the start, and when recovery begins. */
void tcp_tlp_init(struct tcp_tlp *t);

/* TLP_calc_PTO() without its bound by the RTO.  recs: in flight.  TLP.max_ack_delay is a quarter of the RTO's floor;
 * and no PTO is below a hundredth of that floor, for peers that answer every second segment only. */
uint64_t tcp_tlp_pto(const struct tcp_rtt *rtt, uint32_t recs);

/* Both conditions of §7.3. */
bool tcp_tlp_may_probe(const struct tcp_tlp *t);

/* A probe left; end_seq: SND.NXT. */
void tcp_tlp_sent(struct tcp_tlp *t, uint32_t end_seq, bool is_retrans);

/* TLP_process_ack(); true: the probe has repaired a loss that congestion control must hear of (§7.4.2). */
bool tcp_tlp_ack(struct tcp_tlp *t, const struct tcp_tlp_ack *a);

#endif
