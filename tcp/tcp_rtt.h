/* SPDX-License-Identifier: BSD-3-Clause */
/* Round-trip times and the retransmission timeout (RFC 6298); least RTT for RACK. */
#ifndef TCP_RTT_H
#define TCP_RTT_H

#include <stdbool.h>
#include <stdint.h>

#include "iw_time.h"

#define TCP_RTO_MIN_NS (200 * IW_MS)
#define TCP_RTO_MAX_NS (60 * IW_SEC)
#define TCP_RTO_INIT_NS (1 * IW_SEC)
#define TCP_RTO_SYN_LOST_NS (3 * IW_SEC)  /* RFC 6298 §5.7 */
#define TCP_RTT_GRAIN_NS (1 * IW_US * 17) /* G: one tick of the wheel, rounded up */

struct tcp_rtt {
	uint64_t srtt_ns, rttvar_ns; /* 0, 0: no sample yet */
	uint64_t rto_ns;             /* without back-off */
	uint64_t rto_min_ns;
	uint64_t min_ns, min_older_ns; /* least RTT of this and the previous window of 5 min; IW_NEVER: none */
	uint64_t min_since_ns;
	uint64_t latest_ns;
	uint8_t backoff; /* timeouts since the last sample or tcp_rtt_progress() */
	uint8_t kept;    /* those before, since the last sample: the RTO is doubled for each of both (Karn) */
};

/* rto_min_ns: 0 is TCP_RTO_MIN_NS. */
void tcp_rtt_init(struct tcp_rtt *r, uint64_t rto_min_ns);

/* A valid sample (Karn's rule is the caller's: never of a retransmitted record, unless by timestamps); clamped to
 * [1 us, TCP_RTO_MAX_NS].  Ends the back-off. */
void tcp_rtt_sample(struct tcp_rtt *r, uint64_t rtt_ns, uint64_t now_ns);

/* The retransmission timer fired: RTO doubles, up to TCP_RTO_MAX_NS (§5.5).  Never overflows. */
void tcp_rtt_timeout(struct tcp_rtt *r);

/* New data was acknowledged without a usable sample: the RTO stays as it is until there is one (§5; RFC 9293 MUST-18:
 * Karn's algorithm), the next timeout counts as the first. */
void tcp_rtt_progress(struct tcp_rtt *r);

/* The handshake is over.  syn_timed_out: a SYN had been retransmitted by timeout: RTO at least 3 s until the next
 * sample (§5.7). */
void tcp_rtt_established(struct tcp_rtt *r, bool syn_timed_out);

/* After tcp_rtt_init(): an estimate of earlier days; srtt_ns 0: there is none, only a timeout.  rto_ns: as it had been
 * doubled so many times. */
void tcp_rtt_recall(struct tcp_rtt *r, uint64_t srtt_ns, uint64_t rttvar_ns, uint64_t rto_ns, uint8_t doubled,
		    uint64_t now_ns);

/* What to arm the timer with: RTO with its back-off. */
uint64_t tcp_rtt_rto(const struct tcp_rtt *r);

/* Least RTT of the last 5 to 10 minutes (RACK.min_RTT); IW_NEVER: no sample. */
uint64_t tcp_rtt_min(const struct tcp_rtt *r);

/* ---- inline ---- */

static inline bool
tcp_rtt_has_sample(const struct tcp_rtt *r)
{
	return r->srtt_ns != 0;
}

#endif
