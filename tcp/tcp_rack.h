/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss detection by time (RFC 8985 §6, RACK): a record is lost when one that was sent later has arrived and the
 * reordering window has passed.  Takes the place of the loss rules of RFC 6675 §4 (RFC 8985 §9.2).  Times are those of
 * the bursts in which things were sent and heard; ties are broken by sequence number. */
#ifndef TCP_RACK_H
#define TCP_RACK_H

#include <stdbool.h>
#include <stdint.h>

#include "tcp_rtt.h"
#include "tcp_txq.h"

#define TCP_DUP_THRESH 3    /* RFC 5681 §3.2 */
#define TCP_RACK_STEPS 2048 /* records looked at in one call */

/* Of one connection. */
struct tcp_rack {
	uint64_t xmit_ns;     /* RACK.xmit_ts: of the record sent last among those delivered; 0: none yet */
	uint64_t rtt_ns;      /* RACK.rtt */
	uint32_t end_seq;     /* RACK.end_seq */
	uint32_t dsack_round; /* RACK.dsack_round, when has_round */
	uint8_t reo_wnd_mult, reo_wnd_persist;
	bool has_round;
	bool reordering_seen;
};

struct tcp_rack_verdict {
	uint32_t lost;     /* records newly lost, lost retransmissions among them */
	uint64_t again_ns; /* when to look again without an ACK (the reordering timer); IW_NEVER: no need */
};

void tcp_rack_init(struct tcp_rack *r);

/* Steps 2 and 3: what one ACK delivered. */
void tcp_rack_delivered(struct tcp_rack *r, const struct tcp_txq_delta *d, uint64_t now_ns);

/* Step 4, of each ACK: una, nxt: SND.UNA after it, SND.NXT; dsack: it carried a D-SACK. */
void tcp_rack_round(struct tcp_rack *r, uint32_t una, uint32_t nxt, bool dsack);

/* Step 4: a recovery has ended. */
void tcp_rack_recovered(struct tcp_rack *r);

/* RACK.reo_wnd.  recovering: in fast or RTO recovery; sacked_recs: records SACKed now. */
uint64_t tcp_rack_reo_wnd(const struct tcp_rack *r, const struct tcp_rtt *rtt, bool recovering, uint32_t sacked_recs);

/* Step 5: marks what is lost.  Walks the flight list, oldest transmission first, up to the first record that is too
 * young: work is in proportion to what is found. */
struct tcp_rack_verdict tcp_rack_detect(const struct tcp_rack *r, struct tcp_txq *q, uint64_t reo_wnd_ns,
					uint64_t now_ns);

#endif
