/* SPDX-License-Identifier: BSD-3-Clause */
/* Slow start and congestion avoidance by octets (RFC 5681, RFC 3465); reactions of RFC 6582 with SACK and PRR doing
 * what happens inside recovery. */
#include "len.h"
#include "tcp_cc.h"

static void
newreno_init(struct tcp_cc *cc)
{
	cc->acc = 0;
}

/* max(FlightSize / 2, 2 * SMSS): RFC 5681 equation 4. */
static uint32_t
half_flight(const struct tcp_cc *cc, uint32_t flight)
{
	return iw_len_max(flight / 2, 2 * cc->mss);
}

static void
newreno_on_ack(struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	if (!ack->cwnd_limited)
		return;
	if (tcp_cc_slow_start(cc)) {
		tcp_cc_grow_slow_start(cc, ack);
		return;
	}
	cc->acc = iw_len_min(cc->acc + iw_len_min(ack->acked, cc->cwnd), 2 * cc->cwnd);
	if (cc->acc >= cc->cwnd) {
		cc->acc -= cc->cwnd;
		tcp_cc_grow(cc, cc->mss);
	}
}

static void
newreno_enter_recovery(struct tcp_cc *cc, enum tcp_cc_cause cause, uint32_t flight, uint64_t now_ns)
{
	tcp_cc_save(cc);
	cc->ssthresh = half_flight(cc, flight);
	cc->acc = 0;
	if (cause == TCP_CC_ECN)
		cc->cwnd = cc->ssthresh;
}

static void
newreno_exit_recovery(struct tcp_cc *cc, uint64_t now_ns)
{
	cc->cwnd = cc->ssthresh;
	cc->acc = 0;
}

static void
newreno_on_rto(struct tcp_cc *cc, uint32_t flight, bool first, uint64_t now_ns)
{
	if (first) {
		tcp_cc_save(cc);
		cc->ssthresh = half_flight(cc, flight);
	}
	cc->cwnd = cc->mss;
	cc->acc = 0;
	cc->after_rto = true;
}

const struct tcp_cc_ops tcp_cc_newreno = {.name = "newreno",
					  .init = newreno_init,
					  .on_ack = newreno_on_ack,
					  .enter_recovery = newreno_enter_recovery,
					  .exit_recovery = newreno_exit_recovery,
					  .on_rto = newreno_on_rto,
					  .undo = tcp_cc_restore};
