/* SPDX-License-Identifier: BSD-3-Clause */
/* CUBIC (RFC 9438).  Inside, windows are segments and times seconds, as in its formulas; cwnd stays in octets. */
#include "iw_time.h"
#include "len.h"
#include "tcp_cc.h"
#include "tcp_hystart.h"

#define CUBIC_C 0.4
#define CUBIC_BETA 0.7
#define CUBIC_ALPHA (3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA))

static double
segments(const struct tcp_cc *cc)
{
	return (double)cc->cwnd / cc->mss;
}

/* By Newton's method, for x >= 0; from above it falls steadily. */
static double
cube_root(double x)
{
	double y = x > 1.0 ? x : 1.0;

	for (int i = 0; i < 100; i++) {
		double next = (2.0 * y + x / (y * y)) / 3.0;

		if (next >= y)
			break;
		y = next;
	}
	return y;
}

static void
cubic_init(struct tcp_cc *cc)
{
	cc->cubic = (struct tcp_cc_cubic_state){0};
	tcp_hystart_init(&cc->hystart);
}

/* HyStart++ is for the first slow start (RFC 9406 §4.3). */
static void
slow_start(struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	if (cc->ssthresh != TCP_CC_SSTHRESH_INIT || cc->after_rto)
		tcp_cc_grow_slow_start(cc, ack);
	else if (tcp_hystart_ack(cc, ack))
		cc->ssthresh = cc->cwnd;
}

/* Begins a stage of congestion avoidance (§4.2); after an RTO, or out of a first slow start, K = 0 (§4.8, §4.10). */
static void
begin_epoch(struct tcp_cc *cc, uint64_t now_ns)
{
	struct tcp_cc_cubic_state *s = &cc->cubic;
	double cwnd = segments(cc);

	s->epoch_ns = now_ns ? now_ns : 1;
	s->w_est = cwnd;
	s->k = 0;
	s->carry = 0;
	if (s->w_max > cwnd)
		s->k = cube_root((s->w_max - cwnd) / CUBIC_C);
	else
		s->w_max = cwnd;
	if (s->cwnd_prior == 0)
		s->cwnd_prior = cwnd;
}

static double
w_cubic(const struct tcp_cc_cubic_state *s, double t)
{
	double d = t - s->k;

	return CUBIC_C * d * d * d + s->w_max;
}

/* Figure 4. */
static void
grow_reno_estimate(struct tcp_cc *cc, double acked_segments)
{
	struct tcp_cc_cubic_state *s = &cc->cubic;
	double alpha = s->w_est >= s->cwnd_prior ? 1.0 : CUBIC_ALPHA;

	s->w_est += alpha * acked_segments / segments(cc);
}

/* §4.3 to §4.5: what cwnd, in segments, becomes with this ACK. */
static double
avoidance(struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	struct tcp_cc_cubic_state *s = &cc->cubic;
	double t = (double)(ack->now_ns - s->epoch_ns) / IW_SEC, rtt = (double)ack->srtt_ns / IW_SEC;
	double cwnd = segments(cc), target = w_cubic(s, t + rtt);
	double acked = (double)iw_len_min(ack->acked, cc->cwnd) / cc->mss;

	grow_reno_estimate(cc, acked);
	if (w_cubic(s, t) < s->w_est)
		return s->w_est > cwnd ? s->w_est : cwnd;
	if (target < cwnd)
		target = cwnd;
	if (target > 1.5 * cwnd)
		target = 1.5 * cwnd;
	return cwnd + (target - cwnd) / cwnd * acked;
}

/* t does not contain times in which cwnd was not the limit (§4.2, §5.8). */
static void
pass_idle_time(struct tcp_cc_cubic_state *s, uint64_t now_ns)
{
	if (s->epoch_ns && now_ns > s->seen_ns)
		s->epoch_ns += now_ns - s->seen_ns;
	s->seen_ns = now_ns;
}

static void
cubic_on_ack(struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	struct tcp_cc_cubic_state *s = &cc->cubic;
	double octets;

	if (!ack->cwnd_limited) {
		pass_idle_time(s, ack->now_ns);
		return;
	}
	if (tcp_cc_slow_start(cc)) {
		slow_start(cc, ack);
		return;
	}
	s->seen_ns = ack->now_ns;
	if (s->epoch_ns == 0 || ack->now_ns < s->epoch_ns)
		begin_epoch(cc, ack->now_ns);
	octets = (avoidance(cc, ack) - segments(cc)) * cc->mss + s->carry;
	s->carry = octets - (double)(uint32_t)octets;
	tcp_cc_grow(cc, (uint32_t)octets);
}

/* beta in whole octets. */
static uint32_t
beta_of(uint32_t flight)
{
	return (uint32_t)((uint64_t)flight * 7 / 10);
}

/* §4.6, §4.7. */
static void
reduce(struct tcp_cc *cc, uint32_t flight)
{
	struct tcp_cc_cubic_state *s = &cc->cubic;
	double cwnd = segments(cc);

	tcp_cc_save(cc);
	cc->cubic_prior = cc->cubic;
	s->w_max = cwnd < s->w_max ? cwnd * (1.0 + CUBIC_BETA) / 2.0 : cwnd;
	s->cwnd_prior = cwnd;
	s->epoch_ns = 0;
	cc->ssthresh = iw_len_max(beta_of(flight), 2 * cc->mss);
}

static void
cubic_enter_recovery(struct tcp_cc *cc, enum tcp_cc_cause cause, uint32_t flight, uint64_t now_ns)
{
	reduce(cc, flight);
	if (cause == TCP_CC_ECN)
		cc->cwnd = iw_len_max(beta_of(flight), cc->mss);
}

static void
cubic_exit_recovery(struct tcp_cc *cc, uint64_t now_ns)
{
	cc->cwnd = cc->ssthresh;
	cc->cubic.epoch_ns = 0;
}

static void
cubic_on_rto(struct tcp_cc *cc, uint32_t flight, bool first, uint64_t now_ns)
{
	if (first)
		reduce(cc, flight);
	cc->cubic.w_max = 0; /* K = 0, and W_max the window when avoidance begins (§4.8) */
	cc->cubic.epoch_ns = 0;
	cc->cwnd = cc->mss;
	cc->after_rto = true;
}

/* Also what was known of the curve, unless the window has outgrown it. */
static void
cubic_undo(struct tcp_cc *cc)
{
	if (cc->prior_cwnd && cc->cwnd < cc->prior_cwnd)
		cc->cubic = cc->cubic_prior;
	tcp_cc_restore(cc);
	if (cc->ssthresh == TCP_CC_SSTHRESH_INIT)
		tcp_hystart_init(&cc->hystart);
}

const struct tcp_cc_ops tcp_cc_cubic = {.name = "cubic",
					.init = cubic_init,
					.on_ack = cubic_on_ack,
					.enter_recovery = cubic_enter_recovery,
					.exit_recovery = cubic_exit_recovery,
					.on_rto = cubic_on_rto,
					.undo = cubic_undo};
