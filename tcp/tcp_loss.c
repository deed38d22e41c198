/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_loss.h"

#include "len.h"
#include "seq.h"
#include "tcp_conn.h"
#include "tcp_ecn.h"
#include "tcp_isn.h"
#include "tcp_pace.h"
#include "tcp_pvt.h"
#include "tcp_timer.h"

uint32_t
tcp_loss_pipe(const struct tcp_conn *c)
{
	uint32_t pipe = tcp_txq_pipe(&c->fl->txq);

	return pipe > c->fl->dup_octets ? pipe - c->fl->dup_octets : 0;
}

static bool
has_sack(const struct tcp_conn *c)
{
	return tcp_conn_has(c, TCP_CONN_SACK);
}

/* ---- the window grows ---- */

static struct tcp_cc_ack
cc_ack(const struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	struct tcp_pace_rate rate = tcp_conn_rate(c);

	return (struct tcp_cc_ack){.now_ns = now_ns,
				   .srtt_ns = c->fl->rtt.srtt_ns,
				   .rtt_ns = f->rtt_ns,
				   .una = c->snd_una,
				   .nxt = c->snd_nxt,
				   .acked = f->delta.acked,
				   .flight = f->flight,
				   .cwnd_limited = c->phase == TCP_PHASE_LOSS ||
						   iw_seq_lt(c->snd_una - f->delta.acked, c->fl->limited_end),
				   .paced = tcp_pace_applies(&rate),
				   .ece = f->ece};
}

/* What an ACK with ECE acknowledges does not let it grow (RFC 3168 §6.1.2). */
static void
grow(struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	struct tcp_cc_ack ack = cc_ack(c, f, now_ns);

	if (c->phase == TCP_PHASE_LOSS && has_sack(c)) {
		ack.acked = f->delta.delivered;
		ack.exact = true;
	}
	if (ack.acked && !f->ece)
		c->fl->cc.ops->on_ack(&c->fl->cc, &ack);
}

static void
tell_una(struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	struct tcp_cc_ack ack;

	if (!c->fl->cc.ops->on_una || !f->advanced)
		return;
	ack = cc_ack(c, f, now_ns);
	c->fl->cc.ops->on_una(&c->fl->cc, &ack);
}

/* ---- recovery begins ---- */

static void
mark_first_lost(struct tcp_conn *c)
{
	struct tcp_txq_rec *rec = tcp_txq_first(&c->fl->txq);

	if (rec && (rec->flags & TCP_REC_SENT))
		tcp_txq_mark_lost(&c->fl->txq, rec);
}

static void
forget_duplicates(struct tcp_conn *c)
{
	c->dupacks = 0;
	c->fl->dup_octets = 0;
}

static void
enter_recovery(struct tcp *tcp, struct tcp_conn *c, uint32_t flight, uint64_t now_ns)
{
	tcp->n.fast_retransmits++;
	/* What limited transmit added does not count (RFC 5681 §3.2 step 2). */
	c->fl->cc.ops->enter_recovery(&c->fl->cc, TCP_CC_LOSS, iw_len_min(flight, c->fl->cc.cwnd), now_ns);
	c->phase = TCP_PHASE_RECOVERY;
	c->fl->recover = c->fl->txq.nxt;
	tcp_undo_begin(&c->fl->undo, c->snd_una, c->fl->txq.nxt, c->fl->txq.retrans_recs, false);
	tcp_tlp_init(&c->fl->tlp);
	tcp_prr_begin(&c->fl->prr, flight);
	tcp_ecn_reduced(c);
	tcp_conn_set(c, TCP_CONN_FORCE);
}

/* cwnd during recovery: what PRR lets go beyond the pipe (RFC 6937 §3). */
static void
set_recovery_window(struct tcp_conn *c, uint32_t delivered)
{
	uint32_t pipe = tcp_loss_pipe(c);

	c->fl->cc.cwnd = pipe + tcp_prr_ack(&c->fl->prr, delivered, pipe, c->fl->cc.ssthresh, c->emss);
}

/* RACK; true: something is lost. */
static bool
detect(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	uint64_t reo_wnd =
		tcp_rack_reo_wnd(&c->fl->rack, &c->fl->rtt, c->phase != TCP_PHASE_OPEN, c->fl->txq.sacked_recs);
	struct tcp_rack_verdict v = tcp_rack_detect(&c->fl->rack, &c->fl->txq, reo_wnd, now_ns);

	tcp_timer_set(tcp, c, TCP_TIMER_LOSS, v.again_ns);
	c->fl->tlp.reordering = v.again_ns != IW_NEVER;
	return v.lost > 0;
}

/* The loss that a probe has repaired (RFC 8985 §7.4.2), or congestion that was only marked: one reduction. */
static void
reduce_once(struct tcp_conn *c, enum tcp_cc_cause cause, uint32_t flight, uint64_t now_ns)
{
	c->fl->cc.ops->enter_recovery(&c->fl->cc, cause, iw_len_min(flight, c->fl->cc.cwnd), now_ns);
	if (cause == TCP_CC_LOSS)
		c->fl->cc.ops->exit_recovery(&c->fl->cc, now_ns);
	c->fl->undo.open = false; /* what was saved is of this reduction now */
	tcp_ecn_reduced(c);
}

/* ---- what an ACK tells, before the phases ---- */

static void
learn(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	struct tcp_tlp_ack probe = {.ack = c->snd_una,
				    .dsack = f->dsack && f->dsack_block.to == c->fl->tlp.end_seq,
				    .plain_dup = f->duplicate && !f->sacks};

	tell_una(c, f, now_ns);
	if (f->rtt_ns)
		c->fl->tlp.no_rtt = false;
	if (!has_sack(c))
		return;
	tcp_rack_delivered(&c->fl->rack, &f->delta, now_ns);
	tcp_rack_round(&c->fl->rack, c->snd_una, c->fl->txq.nxt, f->dsack);
	tcp->n.rx_dsack += f->dsack;
	if (!tcp_tlp_ack(&c->fl->tlp, &probe) || c->phase != TCP_PHASE_OPEN)
		return;
	tcp->n.tlp_repaired++;
	reduce_once(c, TCP_CC_LOSS, f->flight, now_ns);
}

static bool
was_a_mistake(const struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f)
{
	struct tcp_undo_ack ack = {.una = c->snd_una,
				   .fack = c->fl->txq.fack,
				   .tsecr = f->tsecr,
				   .delivered = f->delta.delivered,
				   .emss = c->emss,
				   .has_ts = f->has_ts,
				   .advanced = f->advanced,
				   .duplicate = f->duplicate,
				   .dsack = f->dsack,
				   .new_data = f->has_new,
				   .dsack_block = f->dsack_block};

	return tcp_undo_ack(&c->fl->undo, &ack);
}

/* Windows and records as if nothing had been lost. */
static void
take_back(struct tcp *tcp, struct tcp_conn *c)
{
	tcp->n.undone++;
	c->fl->cc.ops->undo(&c->fl->cc);
	tcp_txq_undo_lost(&c->fl->txq);
	forget_duplicates(c);
	if (c->phase != TCP_PHASE_OPEN)
		tcp_rack_recovered(&c->fl->rack);
	c->phase = TCP_PHASE_OPEN;
	c->fl->recover = c->snd_una;
}

/* ---- the phases ---- */

/* RFC 6582 §3.2 step 1: the third duplicate, unless it may come from our own retransmissions: true, a loss. */
static bool
count_duplicate(struct tcp_conn *c)
{
	if (c->dupacks < UINT8_MAX)
		c->dupacks++;
	c->fl->dup_octets += c->emss;
	if (c->dupacks != TCP_DUP_THRESH || iw_seq_leq(c->snd_una, c->fl->recover))
		return false;
	mark_first_lost(c);
	return true;
}

/* RFC 6582 §3.2 step 3, partial ACK: the next hole begins at SND.UNA; what was acknowledged beyond one segment had
 * been reported by duplicates.  Returns octets that were delivered now. */
static uint32_t
partial_ack(struct tcp_conn *c, uint32_t acked)
{
	uint32_t known = iw_len_min(c->fl->dup_octets, acked > c->emss ? acked - c->emss : 0);

	c->fl->dup_octets -= known;
	mark_first_lost(c);
	tcp_conn_set(c, TCP_CONN_FORCE);
	return acked - known;
}

/* Begins recovery when something is lost (what waits because of the path MTU is no loss): true. */
static bool
begin_if_lost(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	bool lost = false;

	if (has_sack(c))
		lost = detect(tcp, c, now_ns);
	else if (f->duplicate)
		lost = count_duplicate(c);
	if (!lost)
		return false;
	enter_recovery(tcp, c, f->flight, now_ns);
	set_recovery_window(c, has_sack(c) ? f->delta.delivered : c->emss);
	return true;
}

static void
open_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	if (f->advanced)
		forget_duplicates(c);
	if (begin_if_lost(tcp, c, f, now_ns))
		return;
	if (f->ece_is_news) {
		tcp->n.ecn_reduced++;
		reduce_once(c, TCP_CC_ECN, f->flight, now_ns);
	}
	grow(c, f, now_ns);
}

static void
recovery_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	uint32_t delivered = f->delta.delivered;

	if (iw_seq_geq(c->snd_una, c->fl->recover)) {
		c->phase = TCP_PHASE_OPEN;
		forget_duplicates(c);
		c->fl->cc.ops->exit_recovery(&c->fl->cc, now_ns);
		tcp_rack_recovered(&c->fl->rack);
		begin_if_lost(tcp, c, f, now_ns);
		return;
	}
	if (has_sack(c)) {
		detect(tcp, c, now_ns);
	} else if (f->advanced) {
		delivered = partial_ack(c, f->delta.acked);
	} else if (f->duplicate) {
		c->fl->dup_octets += c->emss;
		delivered = c->emss;
	}
	set_recovery_window(c, delivered);
}

/* Slow start through what the timeout declared lost. */
static void
loss_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	grow(c, f, now_ns);
	if (has_sack(c))
		detect(tcp, c, now_ns);
	if (iw_seq_lt(c->snd_una, c->fl->recover))
		return;
	c->phase = TCP_PHASE_OPEN;
	c->fl->undo.frto = TCP_FRTO_OFF;
	tcp_rack_recovered(&c->fl->rack);
}

void
tcp_loss_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	if (f->duplicate) /* with SACK or without */
		c->rx_dupacks += c->rx_dupacks < UINT16_MAX;
	learn(tcp, c, f, now_ns);
	if (was_a_mistake(tcp, c, f))
		take_back(tcp, c);
	switch ((enum tcp_conn_phase)c->phase) {
	case TCP_PHASE_OPEN:
		open_ack(tcp, c, f, now_ns);
		break;
	case TCP_PHASE_RECOVERY:
		recovery_ack(tcp, c, f, now_ns);
		break;
	case TCP_PHASE_LOSS:
		loss_ack(tcp, c, f, now_ns);
		break;
	}
}

/* ---- timers ---- */

void
tcp_loss_rto(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	const struct tcp_txq_rec *first = tcp_txq_first(&c->fl->txq);
	bool first_time = c->fl->rtt.backoff == 0;
	bool reneged = first && (first->flags & TCP_REC_SACKED);
	uint32_t flight = tcp_txq_flight_size(&c->fl->txq), in_flight = c->fl->txq.retrans_recs;

	tcp_rtt_timeout(&c->fl->rtt);
	/* A peer that has SACKed what it now asks for again has reneged (RFC 2018 §8). */
	tcp_txq_mark_all_lost(&c->fl->txq, reneged);
	if (reneged)
		tcp_sack_init(&c->fl->sack);
	tcp_conn_set(c, TCP_CONN_FORCE);
	if (!tcp_conn_synchronized(c))
		return;
	if (c->phase == TCP_PHASE_OPEN)
		tcp_undo_begin(&c->fl->undo, c->snd_una, c->fl->txq.nxt, in_flight, has_sack(c) && !reneged);
	else
		tcp_undo_rto_again(&c->fl->undo, c->snd_una);
	c->fl->cc.ops->on_rto(&c->fl->cc, flight, first_time, now_ns);
	c->phase = TCP_PHASE_LOSS;
	c->fl->recover = c->fl->txq.nxt;
	forget_duplicates(c);
	tcp_tlp_init(&c->fl->tlp);
	tcp_conn_clear(c, TCP_CONN_TLP);
	c->fl->at_ns[TCP_TIMER_LOSS] = IW_NEVER;
	tcp_ecn_reduced(c);
}

static void
reordering_passed(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	if (!detect(tcp, c, now_ns))
		return;
	if (c->phase == TCP_PHASE_OPEN)
		enter_recovery(tcp, c, tcp_txq_flight_size(&c->fl->txq), now_ns);
	if (c->phase == TCP_PHASE_RECOVERY)
		set_recovery_window(c, 0);
	tcp_conn_kick(tcp, c);
}

void
tcp_loss_timer(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	if (!tcp_conn_synchronized(c) || !c->fl->txq.sent_recs)
		return;
	if (c->fl->tlp.reordering) {
		reordering_passed(tcp, c, now_ns);
		return;
	}
	if (c->phase != TCP_PHASE_OPEN)
		return;
	if (tcp_tlp_may_probe(&c->fl->tlp)) {
		tcp_conn_set(c, TCP_CONN_TLP);
		tcp_conn_kick(tcp, c);
	}
	tcp_timer_set(tcp, c, TCP_TIMER_RTO, iw_time_after(now_ns, tcp_rtt_rto(&c->fl->rtt)));
}

void
tcp_loss_arm(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	uint64_t at;

	if (!has_sack(c) || !tcp_conn_synchronized(c))
		return;
	if (c->fl->tlp.reordering && c->fl->txq.sent_recs)
		return;
	if (c->phase != TCP_PHASE_OPEN || c->fl->txq.sacked_recs || !c->fl->txq.sent_recs) {
		c->fl->at_ns[TCP_TIMER_LOSS] = IW_NEVER;
		return;
	}
	at = iw_time_after(now_ns, tcp_tlp_pto(&c->fl->rtt, c->fl->txq.sent_recs));
	tcp_timer_set(tcp, c, TCP_TIMER_LOSS, iw_time_min(at, c->fl->at_ns[TCP_TIMER_RTO]));
}

void
tcp_loss_probed(struct tcp *tcp, struct tcp_conn *c, bool is_retrans, uint64_t now_ns)
{
	tcp->n.tlp_probes++;
	tcp_tlp_sent(&c->fl->tlp, c->fl->txq.nxt, is_retrans);
	tcp_conn_clear(c, TCP_CONN_TLP);
	tcp_timer_set(tcp, c, TCP_TIMER_RTO, iw_time_after(now_ns, tcp_rtt_rto(&c->fl->rtt)));
}

void
tcp_loss_resent(struct tcp_conn *c, const struct tcp_txq_rec *rec, uint64_t now_ns)
{
	bool oldest = rec->rexmits == 1 && rec == tcp_txq_first(&c->fl->txq);

	if (c->phase != TCP_PHASE_OPEN)
		tcp_undo_rexmit(&c->fl->undo, oldest, tcp_conn_has(c, TCP_CONN_TS),
				tcp_isn_tsval(now_ns, c->ts_offset));
}
