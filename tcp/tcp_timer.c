/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_timer.h"

#include <assert.h>

#include "tcp_pvt.h"

void
tcp_timer_set(struct tcp *tcp, struct tcp_conn *c, enum tcp_conn_timer which, uint64_t at_ns)
{
	if (which >= TCP_FLIGHT_TIMERS)
		c->at_ns[which - TCP_FLIGHT_TIMERS] = at_ns;
	else if (c->fl)
		c->fl->at_ns[which] = at_ns;
	else
		assert(at_ns == IW_NEVER);
	if (at_ns != IW_NEVER && (!iw_wheel_is_armed(&c->timer) || at_ns < c->timer.at_ns))
		iw_wheel_arm(&tcp->wheel, &c->timer, at_ns);
}

void
tcp_timer_stop_all(struct tcp *tcp, struct tcp_conn *c)
{
	for (uint32_t i = 0; i < TCP_TIMERS; i++)
		tcp_timer_set(tcp, c, (enum tcp_conn_timer)i, IW_NEVER);
	iw_wheel_cancel(&tcp->wheel, &c->timer);
}

void
tcp_timer_update(struct tcp *tcp, struct tcp_conn *c, bool progress, uint64_t now_ns)
{
	if (!c->fl)
		return;
	if (!c->fl->txq.sent_recs)
		c->fl->at_ns[TCP_TIMER_RTO] = IW_NEVER;
	else if (progress || c->fl->at_ns[TCP_TIMER_RTO] == IW_NEVER)
		tcp_timer_set(tcp, c, TCP_TIMER_RTO, iw_time_after(now_ns, tcp_rtt_rto(&c->fl->rtt)));
	if (!tcp_conn_synchronized(c))
		return;
	if (tcp_txq_empty(&c->fl->txq))
		c->fl->at_ns[TCP_TIMER_USER] = IW_NEVER;
	else if (progress || c->fl->at_ns[TCP_TIMER_USER] == IW_NEVER)
		tcp_timer_set(tcp, c, TCP_TIMER_USER, iw_time_after(now_ns, c->user_timeout_ms * IW_MS));
}

void
tcp_timer_keepalive(struct tcp *tcp, struct tcp_conn *c)
{
	uint64_t at = c->keepalive_ms ? iw_time_after(c->last_rx_ns, c->keepalive_ms * IW_MS) : IW_NEVER;

	c->keepalive_probes = 0;
	tcp_timer_set(tcp, c, TCP_TIMER_KEEPALIVE, at);
}

void
tcp_timer_linger(struct tcp *tcp, struct tcp_conn *c, uint64_t delay_ns, uint64_t now_ns)
{
	uint64_t at = iw_time_min(tcp_conn_deadline(c, TCP_TIMER_LINGER), iw_time_after(now_ns, delay_ns));

	tcp_timer_set(tcp, c, TCP_TIMER_LINGER, at);
}

uint64_t
tcp_timer_persist_interval(const struct tcp_conn *c)
{
	uint64_t rto = c->fl->rtt.rto_ns;
	uint8_t shift = c->fl->persist_backoff < 16 ? c->fl->persist_backoff : 16;

	return iw_time_min(rto << shift, TCP_PERSIST_MAX_NS);
}

void
tcp_timer_persist(struct tcp *tcp, struct tcp_conn *c, bool on, uint64_t now_ns)
{
	bool is_on = tcp_conn_deadline(c, TCP_TIMER_PERSIST) != IW_NEVER;

	if (on == is_on)
		return;
	c->fl->persist_backoff = 0;
	tcp_conn_clear(c, TCP_CONN_PROBE);
	tcp_timer_set(tcp, c, TCP_TIMER_PERSIST, on ? iw_time_after(now_ns, tcp_timer_persist_interval(c)) : IW_NEVER);
	tcp_conn_slow(c);
}
