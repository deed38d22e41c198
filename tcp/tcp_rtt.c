/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rtt.h"

#include <assert.h>

#define MIN_WINDOW_NS (300 * IW_SEC)
#define RTT_FLOOR_NS IW_US

static uint64_t
clamp(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

void
tcp_rtt_init(struct tcp_rtt *r, uint64_t rto_min_ns)
{
	*r = (struct tcp_rtt){.rto_ns = TCP_RTO_INIT_NS, .min_ns = IW_NEVER, .min_older_ns = IW_NEVER};
	r->rto_min_ns = rto_min_ns ? iw_time_min(rto_min_ns, TCP_RTO_MAX_NS) : TCP_RTO_MIN_NS;
}

static void
note_min(struct tcp_rtt *r, uint64_t rtt_ns, uint64_t now_ns)
{
	bool over = now_ns >= r->min_since_ns && now_ns - r->min_since_ns >= MIN_WINDOW_NS;

	if (r->min_ns == IW_NEVER || over) {
		r->min_older_ns = r->min_ns;
		r->min_ns = rtt_ns;
		r->min_since_ns = now_ns;
	}
	r->min_ns = iw_time_min(r->min_ns, rtt_ns);
}

/* RFC 6298 §2.2, §2.3: RTTVAR is updated with the SRTT before. */
static void
smooth(struct tcp_rtt *r, uint64_t rtt_ns)
{
	uint64_t off = r->srtt_ns > rtt_ns ? r->srtt_ns - rtt_ns : rtt_ns - r->srtt_ns;

	if (!tcp_rtt_has_sample(r)) {
		r->srtt_ns = rtt_ns;
		r->rttvar_ns = rtt_ns / 2;
		return;
	}
	r->rttvar_ns = (3 * r->rttvar_ns + off) / 4;
	r->srtt_ns = (7 * r->srtt_ns + rtt_ns) / 8;
}

/* §2.3, §2.4, §2.5. */
static void
set_rto(struct tcp_rtt *r)
{
	uint64_t var = 4 * r->rttvar_ns > TCP_RTT_GRAIN_NS ? 4 * r->rttvar_ns : TCP_RTT_GRAIN_NS;

	r->rto_ns = clamp(r->srtt_ns + var, r->rto_min_ns, TCP_RTO_MAX_NS);
}

void
tcp_rtt_recall(struct tcp_rtt *r, uint64_t srtt_ns, uint64_t rttvar_ns, uint64_t rto_ns, uint8_t doubled,
	       uint64_t now_ns)
{
	r->rto_ns = rto_ns >> doubled;
	r->kept = doubled;
	if (srtt_ns == 0)
		return;
	r->srtt_ns = srtt_ns;
	r->rttvar_ns = rttvar_ns;
	if (!doubled)
		set_rto(r);
	note_min(r, srtt_ns, now_ns);
}

void
tcp_rtt_sample(struct tcp_rtt *r, uint64_t rtt_ns, uint64_t now_ns)
{
	rtt_ns = clamp(rtt_ns, RTT_FLOOR_NS, TCP_RTO_MAX_NS);
	smooth(r, rtt_ns);
	set_rto(r);
	r->latest_ns = rtt_ns;
	r->backoff = r->kept = 0;
	note_min(r, rtt_ns, now_ns);
	assert(r->srtt_ns >= RTT_FLOOR_NS / 2);
}

void
tcp_rtt_timeout(struct tcp_rtt *r)
{
	if (tcp_rtt_rto(r) < TCP_RTO_MAX_NS)
		r->backoff++;
}

void
tcp_rtt_progress(struct tcp_rtt *r)
{
	r->kept += r->backoff;
	r->backoff = 0;
}

void
tcp_rtt_established(struct tcp_rtt *r, bool syn_timed_out)
{
	r->backoff = r->kept = 0;
	if (syn_timed_out && r->rto_ns < TCP_RTO_SYN_LOST_NS)
		r->rto_ns = TCP_RTO_SYN_LOST_NS;
}

uint64_t
tcp_rtt_rto(const struct tcp_rtt *r)
{
	/* rto_ns < 2^36 and backoff stops when the product passes 2^36: no overflow. */
	return iw_time_min(r->rto_ns << (r->backoff + r->kept), TCP_RTO_MAX_NS);
}

uint64_t
tcp_rtt_min(const struct tcp_rtt *r)
{
	return iw_time_min(r->min_ns, r->min_older_ns);
}
