/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_loss.h"

#include "len.h"
#include "seq.h"
#include "tcp_pvt.h"

uint32_t
tcp_loss_pipe(const struct tcp_conn *c)
{
	uint32_t pipe = tcp_txq_pipe(&c->txq);

	return pipe > c->dup_octets ? pipe - c->dup_octets : 0;
}

static void
grow(struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	struct tcp_cc_ack ack = {.now_ns = now_ns,
				 .srtt_ns = c->rtt.srtt_ns,
				 .acked = f->delta.acked,
				 .flight = f->flight,
				 .cwnd_limited = c->phase == TCP_PHASE_LOSS ||
						 iw_seq_lt(c->snd_una - f->delta.acked, c->limited_end)};

	if (f->delta.acked)
		c->cc.ops->on_ack(&c->cc, &ack);
}

static void
mark_first_lost(struct tcp_conn *c)
{
	struct tcp_txq_rec *rec = tcp_txq_first(&c->txq);

	if (rec && (rec->flags & TCP_REC_SENT))
		tcp_txq_mark_lost(&c->txq, rec);
}

static void
forget_duplicates(struct tcp_conn *c)
{
	c->dupacks = 0;
	c->dup_octets = 0;
}

/* RFC 6582 §3.2 step 1: the third duplicate, unless it may come from our own retransmissions: true, a loss. */
static bool
count_duplicate(struct tcp_conn *c)
{
	if (c->dupacks < UINT8_MAX)
		c->dupacks++;
	c->dup_octets += c->emss;
	if (c->dupacks != TCP_DUP_THRESH || iw_seq_leq(c->snd_una, c->recover))
		return false;
	mark_first_lost(c);
	return true;
}

/* RFC 6582 §3.2 step 3, partial ACK: the next hole begins at SND.UNA; what was acknowledged beyond one segment had
 * been reported by duplicates.  Returns octets that were delivered now. */
static uint32_t
partial_ack(struct tcp_conn *c, uint32_t acked)
{
	uint32_t known = iw_len_min(c->dup_octets, acked > c->emss ? acked - c->emss : 0);

	c->dup_octets -= known;
	mark_first_lost(c);
	tcp_conn_set(c, TCP_CONN_FORCE);
	return acked - known;
}

static void
enter_recovery(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	/* What limited transmit added does not count (RFC 5681 §3.2 step 2). */
	uint32_t flight = iw_len_min(f->flight, c->cc.cwnd);

	tcp->n.fast_retransmits++;
	c->cc.ops->enter_recovery(&c->cc, TCP_CC_LOSS, flight, now_ns);
	c->phase = TCP_PHASE_RECOVERY;
	c->recover = c->txq.nxt;
	tcp_prr_begin(&c->prr, f->flight);
	tcp_conn_set(c, TCP_CONN_FORCE);
}

/* cwnd during recovery: what PRR lets go beyond the pipe (RFC 6937 §3). */
static void
pace(struct tcp_conn *c, uint32_t delivered)
{
	uint32_t pipe = tcp_loss_pipe(c);

	c->cc.cwnd = pipe + tcp_prr_ack(&c->prr, delivered, pipe, c->cc.ssthresh, c->emss);
}

static void
open_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	bool lost = false; /* what waits because of the path MTU is no loss */

	if (f->advanced)
		forget_duplicates(c);
	if (tcp_conn_has(c, TCP_CONN_SACK))
		lost = (f->delta.sacked || f->advanced) && tcp_sack_mark_lost(&c->txq, c->emss) > 0;
	else if (f->duplicate)
		lost = count_duplicate(c);
	if (!lost) {
		grow(c, f, now_ns);
		return;
	}
	enter_recovery(tcp, c, f, now_ns);
	pace(c, tcp_conn_has(c, TCP_CONN_SACK) ? f->delta.delivered : c->emss);
}

static void
recovery_ack(struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	uint32_t delivered = f->delta.delivered;

	if (iw_seq_geq(c->snd_una, c->recover)) {
		c->phase = TCP_PHASE_OPEN;
		forget_duplicates(c);
		c->cc.ops->exit_recovery(&c->cc, now_ns);
		return;
	}
	if (tcp_conn_has(c, TCP_CONN_SACK)) {
		tcp_sack_mark_lost(&c->txq, c->emss);
	} else if (f->advanced) {
		delivered = partial_ack(c, f->delta.acked);
	} else if (f->duplicate) {
		c->dup_octets += c->emss;
		delivered = c->emss;
	}
	pace(c, delivered);
}

/* Slow start through what the timeout declared lost. */
static void
loss_ack(struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	grow(c, f, now_ns);
	if (iw_seq_geq(c->snd_una, c->recover))
		c->phase = TCP_PHASE_OPEN;
}

void
tcp_loss_ack(struct tcp *tcp, struct tcp_conn *c, const struct tcp_loss_facts *f, uint64_t now_ns)
{
	switch ((enum tcp_conn_phase)c->phase) {
	case TCP_PHASE_OPEN:
		open_ack(tcp, c, f, now_ns);
		break;
	case TCP_PHASE_RECOVERY:
		recovery_ack(c, f, now_ns);
		break;
	case TCP_PHASE_LOSS:
		loss_ack(c, f, now_ns);
		break;
	}
}

void
tcp_loss_rto(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	const struct tcp_txq_rec *first = tcp_txq_first(&c->txq);
	bool first_time = c->rtt.backoff == 0;
	bool reneged = first && (first->flags & TCP_REC_SACKED);
	uint32_t flight = tcp_txq_flight_size(&c->txq);

	tcp_rtt_timeout(&c->rtt);
	/* A peer that has SACKed what it now asks for again has reneged (RFC 2018 §8). */
	tcp_txq_mark_all_lost(&c->txq, reneged);
	if (reneged)
		tcp_sack_init(&c->sack);
	tcp_conn_set(c, TCP_CONN_FORCE);
	if (!tcp_conn_synchronized(c))
		return;
	c->cc.ops->on_rto(&c->cc, flight, first_time, now_ns);
	c->phase = TCP_PHASE_LOSS;
	c->recover = c->txq.nxt;
	forget_duplicates(c);
}
