/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_timer_fire.h"

#include "tcp_conn.h"
#include "tcp_loss.h"
#include "tcp_pmtu.h"
#include "tcp_pvt.h"
#include "tcp_timer.h"

#define KEEPALIVE_STEP_MIN_NS IW_SEC
#define KEEPALIVE_STEP_MAX_NS (75 * IW_SEC)
#define R1_RETRANSMITS 1 /* RFC 9293 §3.8.3: negative advice to the layer below; early, for a gateway that moved */

static bool
in_handshake(const struct tcp_conn *c)
{
	return c->state == TCP_SYN_SENT || c->state == TCP_SYN_RCVD;
}

/* SYN and SYN-ACK: how often, and whether there is a way at all. */
static bool
handshake_is_over(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	const struct tcp_txq_rec *syn = tcp_txq_first(&c->fl->txq);
	uint32_t retries = c->state == TCP_SYN_SENT ? TCP_SYN_RETRIES : TCP_SYN_ACK_RETRIES;

	if (net_reach(tcp->net, &c->route) == NET_REACH_FAILED)
		tcp_conn_event(tcp, c, TCP_EV_UNREACH, now_ns);
	else if (!tcp_conn_has(c, TCP_CONN_SYN_TIMED) && syn && syn->rexmits >= retries)
		tcp_conn_event(tcp, c, TCP_EV_TIMEOUT, now_ns);
	return c->state == TCP_CLOSED;
}

static void
fire_rto(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	if (in_handshake(c)) {
		if (handshake_is_over(tcp, c, now_ns))
			return;
		tcp_conn_set(c, TCP_CONN_SYN_LOST);
	}
	tcp->n.rto++;
	tcp_loss_rto(tcp, c, now_ns);
	if (tcp_conn_synchronized(c))
		tcp_pmtu_rto(tcp, c, now_ns);
	if (c->fl->rtt.backoff >= R1_RETRANSMITS)
		net_reconfirm(tcp->net, &c->route, now_ns);
	tcp_timer_set(tcp, c, TCP_TIMER_RTO, iw_time_after(now_ns, tcp_rtt_rto(&c->fl->rtt)));
	tcp_conn_kick(tcp, c);
}

static void
fire_persist(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	if (c->fl->persist_backoff < UINT8_MAX)
		c->fl->persist_backoff++;
	tcp_conn_set(c, TCP_CONN_PROBE);
	tcp_conn_kick(tcp, c);
	tcp_timer_set(tcp, c, TCP_TIMER_PERSIST, iw_time_after(now_ns, tcp_timer_persist_interval(c)));
}

static void
fire_give_up(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	tcp_conn_event(tcp, c, TCP_EV_TIMEOUT, now_ns);
}

/* Between two probes.  Two at least within the user timeout: a lost one is no verdict (MUST-29). */
static uint64_t
keepalive_step(const struct tcp_conn *c)
{
	uint64_t step = c->keepalive_ms * IW_MS / 4;

	if (step < KEEPALIVE_STEP_MIN_NS)
		step = KEEPALIVE_STEP_MIN_NS;
	step = c->keepalive_step_ms ? c->keepalive_step_ms * IW_MS : iw_time_min(step, KEEPALIVE_STEP_MAX_NS);
	return iw_time_min(step, c->user_timeout_ms * IW_MS / 2);
}

/* What is left of the user timeout, which holds for probes, too (RFC 5482 §1), a step behind each of those that have
 * left. */
static uint64_t
keepalive_left(const struct tcp_conn *c)
{
	uint64_t timeout = c->user_timeout_ms * IW_MS, passed = c->keepalive_probes * keepalive_step(c);

	return timeout > passed ? timeout - passed : 0;
}

static void
fire_keepalive(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	uint64_t wait;

	if (iw_time_after(c->last_rx_ns, c->keepalive_ms * IW_MS) > now_ns) {
		tcp_timer_keepalive(tcp, c);
		return;
	}
	/* RFC 9293 MUST-26: not while data is outstanding; there the user timeout rules. */
	if (!tcp_conn_all_acked(c)) {
		tcp_timer_set(tcp, c, TCP_TIMER_KEEPALIVE, iw_time_after(now_ns, keepalive_step(c)));
		return;
	}
	wait = iw_time_min(keepalive_step(c), keepalive_left(c));
	if (c->keepalive_probes >= c->keepalive_limit || wait == 0) {
		tcp_conn_event(tcp, c, TCP_EV_TIMEOUT, now_ns);
		return;
	}
	c->keepalive_probes++;
	tcp_conn_set(c, TCP_CONN_KEEPALIVE);
	tcp_conn_kick(tcp, c);
	tcp_timer_set(tcp, c, TCP_TIMER_KEEPALIVE, iw_time_after(now_ns, wait));
}

/* What pacing held back may go: the next emit does it. */
static void
fire_pace(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	tcp_conn_kick(tcp, c);
}

/* The least of the deadlines is what the wheel has to know. */
static void
rearm(struct tcp *tcp, struct tcp_conn *c)
{
	uint64_t at = IW_NEVER;

	for (uint32_t i = 0; i < TCP_TIMERS; i++)
		at = iw_time_min(at, tcp_conn_deadline(c, (enum tcp_conn_timer)i));
	iw_wheel_arm(&tcp->wheel, &c->timer, at);
}

void
tcp_timer_fire(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	static void (*const fire[TCP_TIMERS])(struct tcp *, struct tcp_conn *, uint64_t) = {
		[TCP_TIMER_LOSS] = tcp_loss_timer, [TCP_TIMER_PACE] = fire_pace,
		[TCP_TIMER_RTO] = fire_rto,        [TCP_TIMER_PERSIST] = fire_persist,
		[TCP_TIMER_USER] = fire_give_up,   [TCP_TIMER_KEEPALIVE] = fire_keepalive,
		[TCP_TIMER_LINGER] = fire_give_up, [TCP_TIMER_PMTU] = tcp_pmtu_raise,
	};

	for (uint32_t i = 0; i < TCP_TIMERS; i++) {
		if (tcp_conn_deadline(c, (enum tcp_conn_timer)i) > now_ns)
			continue;
		tcp_timer_set(tcp, c, (enum tcp_conn_timer)i, IW_NEVER);
		fire[i](tcp, c, now_ns);
	}
	rearm(tcp, c);
	tcp_conn_slow(c);
}
