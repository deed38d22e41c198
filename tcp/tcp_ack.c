/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_ack.h"

#include "seq.h"
#include "tcp_conn.h"
#include "tcp_ecn.h"
#include "tcp_flight.h"
#include "tcp_isn.h"
#include "tcp_loss.h"
#include "tcp_pvt.h"
#include "tcp_timer.h"
#include "tcp_tx.h"

void
tcp_ack_set_window(struct tcp_conn *c, const struct tcp_seg *seg)
{
	uint32_t wnd = (uint32_t)seg->wnd << (seg->flags & TCP_SYN ? 0 : c->snd_wscale);

	c->snd_wnd = wnd;
	if (wnd > c->snd_max_wnd)
		c->snd_max_wnd = wnd;
	c->snd_wl1 = seg->seq;
	c->snd_wl2 = seg->ack;
}

/* Only from a segment that is not older than the one the window came from (RFC 9293 §3.10.7.4). */
static void
update_window(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	if (iw_seq_lt(c->snd_wl1, seg->seq) || (c->snd_wl1 == seg->seq && iw_seq_leq(c->snd_wl2, seg->ack)))
		tcp_ack_set_window(c, seg);
	/* A peer that answers at zero window is alive, however long (RFC 9293 MUST-37). */
	if (c->snd_wnd == 0 && tcp_conn_deadline(c, TCP_TIMER_USER) != IW_NEVER)
		tcp_timer_set(tcp, c, TCP_TIMER_USER, iw_time_after(now_ns, c->user_timeout_ms * IW_MS));
}

/* RFC 5681 §2; the window has not been taken over yet. */
static bool
is_duplicate(const struct tcp_conn *c, const struct tcp_seg *seg)
{
	return seg->ack == c->snd_una && seg->len == 0 && !(seg->flags & (TCP_SYN | TCP_FIN)) &&
	       c->fl->txq.sent_recs > 0 && (uint32_t)seg->wnd << c->snd_wscale == c->snd_wnd;
}

/* The time that an echoed timestamp tells, as the end of its tick; IW_NEVER: it tells nothing, for it was never sent,
 * or not with anything that is on its way: it is older than that.  Asked before records are freed. */
static uint64_t
echoed_ns(const struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	uint64_t ticks = (uint32_t)(tcp_isn_tsval(now_ns, c->ts_offset) - seg->tsecr);
	uint64_t tick_begin = now_ns - now_ns % IW_MS, echoed;
	const struct tcp_txq_rec *first = tcp_txq_first(&c->fl->txq);

	if (!seg->has_ts || !seg->tsecr || !first || ticks * IW_MS > tick_begin)
		return IW_NEVER;
	echoed = tick_begin - ticks * IW_MS + IW_MS - 1;
	return echoed < first->first_ns ? IW_NEVER : echoed;
}

/* The most that may have passed since that tick began; IW_NEVER: nothing is known. */
static uint64_t
since_tick(uint64_t echoed, uint64_t now_ns)
{
	return echoed == IW_NEVER ? IW_NEVER : now_ns - (echoed - (IW_MS - 1));
}

/* Karn's rule holds for times of our own; an echoed timestamp tells which transmission was meant (RFC 7323 §4), and is
 * a bound for the others: a record sent once may be reported late because the reports before were lost.  Returns the
 * sample, 0: none. */
static uint64_t
sample_rtt(struct tcp_conn *c, uint64_t echoed, const struct tcp_txq_delta *d, uint64_t now_ns)
{
	uint64_t rtt = 0;

	if (d->has_rtt)
		rtt = iw_time_min(now_ns - d->rtt_sent_ns, since_tick(echoed, now_ns));
	else if (d->acked && echoed != IW_NEVER)
		rtt = now_ns > echoed ? now_ns - now_ns % IW_MS - (echoed - echoed % IW_MS) : IW_MS;
	else if (d->acked)
		tcp_rtt_progress(&c->fl->rtt);
	if (!d->has_rtt && rtt == 0)
		return 0;
	tcp_rtt_sample(&c->fl->rtt, rtt, now_ns);
	return c->fl->rtt.latest_ns;
}

/* When a retransmission must have left to be what this ACK answers (RFC 8985 §6.2). */
static uint64_t
rexmit_limit(const struct tcp_conn *c, uint64_t echoed, uint64_t now_ns)
{
	uint64_t min = tcp_rtt_min(&c->fl->rtt);

	return iw_time_min(min < now_ns ? now_ns - min : now_ns, echoed);
}

/* Records: the cumulative part, then the blocks. */
static struct tcp_sack_result
account(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, struct tcp_txq_delta *d)
{
	struct tcp_txq *q = &c->fl->txq;
	uint32_t ack = iw_seq_min(seg->ack, q->nxt); /* the rest was a probe's octet: its record is not sent yet */
	struct tcp_sack_result res = {0};

	if (iw_seq_gt(seg->ack, c->snd_una))
		c->snd_una = seg->ack;
	if (iw_seq_gt(ack, q->una))
		tcp_txq_ack(q, &tcp->txq_pool, ack, d);
	if (seg->n_sack && tcp_conn_has(c, TCP_CONN_SACK))
		res = tcp_sack_rx(&c->fl->sack, q, seg->ack, seg->sack, seg->n_sack, d);
	tcp->n.rx_bad_sack += res.bad;
	return res;
}

/* All that was appended is acknowledged, and the FIN was the last of it. */
static bool
fin_is_acked(const struct tcp_conn *c)
{
	return (c->state == TCP_FIN_WAIT_1 || c->state == TCP_CLOSING || c->state == TCP_LAST_ACK) &&
	       tcp_conn_all_acked(c) && !tcp_conn_has(c, TCP_CONN_CLOSE_WANTED);
}

/* Everything this ACK tells, and the records are marked. */
static struct tcp_loss_facts
gather(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	struct tcp_loss_facts f = {.flight = tcp_txq_flight_size(&c->fl->txq),
				   .tsecr = seg->tsecr,
				   .has_ts = seg->has_ts && tcp_conn_has(c, TCP_CONN_TS),
				   .advanced = iw_seq_gt(seg->ack, c->snd_una),
				   .duplicate = is_duplicate(c, seg),
				   .sacks = seg->n_sack > 0,
				   .ece = (seg->flags & TCP_ECE) && tcp_conn_has(c, TCP_CONN_ECN),
				   .ece_is_news = tcp_ecn_reacts(c, seg)};
	uint64_t echoed = echoed_ns(c, seg, now_ns);
	struct tcp_sack_result sack;

	update_window(tcp, c, seg, now_ns);
	f.delta.rexmit_limit_ns = rexmit_limit(c, echoed, now_ns);
	sack = account(tcp, c, seg, &f.delta);
	f.dsack = sack.dsack;
	f.dsack_block = sack.dsack_block;
	f.rtt_ns = sample_rtt(c, echoed, &f.delta, now_ns);
	f.has_new = tcp_tx_has_new(c);
	return f;
}

void
tcp_ack_rx(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	struct tcp_loss_facts f;

	if (iw_seq_lt(seg->ack, c->snd_una))
		return;
	if (!c->fl) { /* nothing is on its way: only the window is news */
		update_window(tcp, c, seg, now_ns);
		return;
	}
	f = gather(tcp, c, seg, now_ns);
	tcp_loss_ack(tcp, c, &f, now_ns);
	if (fin_is_acked(c))
		tcp_conn_event(tcp, c, TCP_EV_FIN_ACKED, now_ns);
	if (c->state == TCP_CLOSED || c->state == TCP_TIME_WAIT)
		return;
	if (f.advanced)
		tcp_timer_update(tcp, c, true, now_ns);
	if (f.advanced || f.delta.sacked)
		tcp_loss_arm(tcp, c, now_ns);
	tcp_tx_opened(tcp, c);
	if (tcp_txq_empty(&c->fl->txq))
		tcp_flight_rest(tcp, c);
}

void
tcp_ack_syn(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	struct tcp_txq_delta d = {.rexmit_limit_ns = now_ns};
	uint64_t echoed = echoed_ns(c, seg, now_ns);

	account(tcp, c, seg, &d);
	sample_rtt(c, echoed, &d, now_ns);
}
