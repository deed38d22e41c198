/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_undo.h"

#include "len.h"
#include "seq.h"

void
tcp_undo_begin(struct tcp_undo *u, uint32_t una, uint32_t nxt, uint32_t in_flight, bool rto)
{
	*u = (struct tcp_undo){.from = una,
			       .to = nxt,
			       .unanswered = in_flight,
			       .frto = rto ? TCP_FRTO_REXMIT : TCP_FRTO_OFF,
			       .open = true,
			       .dsack_seen = u->dsack_seen};
}

void
tcp_undo_rto_again(struct tcp_undo *u, uint32_t una)
{
	if (u->open && u->from == una && u->frto != TCP_FRTO_OFF) {
		u->frto = TCP_FRTO_REXMIT;
		return;
	}
	u->open = false;
	u->frto = TCP_FRTO_OFF;
}

void
tcp_undo_rexmit(struct tcp_undo *u, bool oldest, bool has_ts, uint32_t tsval)
{
	if (!u->open)
		return;
	u->unanswered += u->unanswered < UINT32_MAX;
	if (!u->sent) {
		u->has_ts = oldest && has_ts;
		u->rexmit_ts = tsval;
	}
	u->sent = true;
}

/* RFC 3522 §3.2, steps 3 to 5: the first acceptable ACK decides. */
static bool
eifel(struct tcp_undo *u, const struct tcp_undo_ack *a)
{
	if (!u->has_ts || !a->advanced)
		return false;
	u->has_ts = false;
	if (!a->has_ts || !iw_seq_lt(a->tsecr, u->rexmit_ts) || a->dsack)
		return false;
	return u->dsack_seen || iw_seq_lt(a->una, u->to);
}

/* RFC 3708 §3: each retransmission of this recovery has arrived twice. */
static bool
all_dsacked(struct tcp_undo *u, const struct tcp_undo_ack *a)
{
	const struct iw_range *b = &a->dsack_block;
	uint32_t segments;

	if (!a->dsack || !u->sent || iw_seq_lt(b->from, u->from) || iw_seq_gt(b->to, u->to))
		return false;
	segments = (b->to - b->from + a->emss - 1) / a->emss;
	u->unanswered -= iw_len_min(u->unanswered, segments);
	return u->unanswered == 0;
}

/* RFC 5682 §3.1 step 2. */
static void
frto_rexmit_acked(struct tcp_undo *u, const struct tcp_undo_ack *a)
{
	if (!a->advanced)
		return;
	if (iw_seq_geq(a->una, u->to) || !a->new_data) {
		u->frto = TCP_FRTO_OFF;
		return;
	}
	u->frto = TCP_FRTO_NEW;
	u->frto_left = TCP_FRTO_SEGMENTS;
}

/* Step 3: true: what was sent before the timeout has arrived. */
static bool
frto_verdict(struct tcp_undo *u, const struct tcp_undo_ack *a)
{
	if (!a->advanced && !a->duplicate && a->delivered == 0)
		return false;
	u->frto = TCP_FRTO_OFF;
	return a->delivered > 0 && iw_seq_leq(a->fack, u->to);
}

static bool
frto(struct tcp_undo *u, const struct tcp_undo_ack *a)
{
	switch ((enum tcp_frto)u->frto) {
	case TCP_FRTO_OFF:
		break;
	case TCP_FRTO_REXMIT:
		frto_rexmit_acked(u, a);
		break;
	case TCP_FRTO_NEW:
		return frto_verdict(u, a);
	}
	return false;
}

bool
tcp_undo_ack(struct tcp_undo *u, const struct tcp_undo_ack *a)
{
	bool mistake = false;

	if (u->open) {
		mistake = eifel(u, a);
		mistake |= all_dsacked(u, a);
		mistake |= frto(u, a);
	}
	u->dsack_seen |= a->dsack;
	if (mistake) {
		u->open = false;
		u->frto = TCP_FRTO_OFF;
	}
	return mistake;
}
