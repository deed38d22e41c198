/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_pace.h"

bool
tcp_pace_applies(const struct tcp_pace_rate *r)
{
	return r->srtt_ns >= TCP_PACE_RTT_NS && r->cwnd / TCP_PACE_SEGMENTS >= r->mss;
}

/* Time that octets take at the rate: 5/6 or 1/2 of their part of the round trip.  No overflow: both are below 2^36,
 * 2^30, and octets are at most a window. */
static uint64_t
duration(const struct tcp_pace_rate *r, uint32_t octets)
{
	uint64_t share = r->srtt_ns / r->cwnd * octets + r->srtt_ns % r->cwnd * octets / r->cwnd;

	return r->slow_start ? share / 2 : share * 5 / 6;
}

/* What may leave at once, as a time. */
static uint64_t
burst(const struct tcp_pace_rate *r)
{
	uint64_t segments = duration(r, TCP_PACE_BURST_SEGMENTS * r->mss);

	return segments > TCP_PACE_BURST_NS ? segments : TCP_PACE_BURST_NS;
}

uint64_t
tcp_pace_next(const struct tcp_pace *p, const struct tcp_pace_rate *r)
{
	uint64_t ahead = burst(r);

	return p->at_ns > ahead ? p->at_ns - ahead : 0;
}

void
tcp_pace_sent(struct tcp_pace *p, const struct tcp_pace_rate *r, uint32_t octets, uint64_t now_ns)
{
	if (p->at_ns < now_ns)
		p->at_ns = now_ns;
	p->at_ns += duration(r, octets);
}
