/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rack.h"

#include "seq.h"

#define REO_WND_PERSIST 16 /* recoveries that keep a grown window */

void
tcp_rack_init(struct tcp_rack *r)
{
	*r = (struct tcp_rack){.reo_wnd_mult = 1};
}

/* RACK_sent_after(). */
static bool
sent_after(uint64_t a_ns, uint32_t a_end, uint64_t b_ns, uint32_t b_end)
{
	return a_ns > b_ns || (a_ns == b_ns && iw_seq_gt(a_end, b_end));
}

void
tcp_rack_delivered(struct tcp_rack *r, const struct tcp_txq_delta *d, uint64_t now_ns)
{
	r->reordering_seen |= d->reordered;
	if (!d->has_rack)
		return;
	r->rtt_ns = now_ns - d->rack_ns;
	if (r->xmit_ns && !sent_after(d->rack_ns, d->rack_end, r->xmit_ns, r->end_seq))
		return;
	r->xmit_ns = d->rack_ns;
	r->end_seq = d->rack_end;
}

void
tcp_rack_round(struct tcp_rack *r, uint32_t una, uint32_t nxt, bool dsack)
{
	if (r->has_round && iw_seq_geq(una, r->dsack_round))
		r->has_round = false;
	if (r->has_round || !dsack)
		return;
	r->has_round = true;
	r->dsack_round = nxt;
	r->reo_wnd_mult += r->reo_wnd_mult < UINT8_MAX;
	r->reo_wnd_persist = REO_WND_PERSIST;
}

void
tcp_rack_recovered(struct tcp_rack *r)
{
	if (r->reo_wnd_persist > 0)
		r->reo_wnd_persist--;
	if (r->reo_wnd_persist == 0)
		r->reo_wnd_mult = 1;
}

uint64_t
tcp_rack_reo_wnd(const struct tcp_rack *r, const struct tcp_rtt *rtt, bool recovering, uint32_t sacked_recs)
{
	if (!r->reordering_seen && (recovering || sacked_recs >= TCP_DUP_THRESH))
		return 0;
	if (!tcp_rtt_has_sample(rtt))
		return 0;
	return iw_time_min(r->reo_wnd_mult * (tcp_rtt_min(rtt) / 4), rtt->srtt_ns);
}

struct tcp_rack_verdict
tcp_rack_detect(const struct tcp_rack *r, struct tcp_txq *q, uint64_t reo_wnd_ns, uint64_t now_ns)
{
	struct tcp_rack_verdict v = {.again_ns = IW_NEVER};
	struct tcp_txq_rec *rec = tcp_txq_flight_first(q), *next;
	uint64_t wait_ns = r->rtt_ns + reo_wnd_ns;

	for (uint32_t i = 0; rec && rec->last_ns <= r->xmit_ns; rec = next, i++) {
		next = tcp_txq_flight_next(q, rec);
		if (!sent_after(r->xmit_ns, r->end_seq, rec->last_ns, tcp_txq_rec_end(rec)))
			continue;
		if (i == TCP_RACK_STEPS) {
			v.again_ns = now_ns;
			break;
		}
		if (rec->last_ns + wait_ns > now_ns) {
			/* None was sent later than the one that arrived: then all of them can be judged. */
			v.again_ns = r->xmit_ns + wait_ns;
			break;
		}
		tcp_txq_mark_lost(q, rec);
		v.lost++;
	}
	return v;
}
