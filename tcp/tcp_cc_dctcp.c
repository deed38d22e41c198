/* SPDX-License-Identifier: BSD-3-Clause */
/* DCTCP (RFC 8257): a window grows and reacts to loss as in RFC 5681, and to marks by their share.  For networks whose
 * switches mark early, and between ends that both speak it. */
#include "len.h"
#include "seq.h"
#include "tcp_cc.h"

#define GAIN_SHIFT 4 /* g = 1/16 (§4.2) */

static void
dctcp_init(struct tcp_cc *cc)
{
	tcp_cc_newreno.init(cc);
	cc->dctcp = (struct tcp_cc_dctcp_state){.alpha = TCP_CC_DCTCP_ONE};
}

/* §3.3 steps 5 to 8, with the integers of §4.2. */
static void
end_window(struct tcp_cc_dctcp_state *s, uint32_t nxt)
{
	uint32_t share = (uint32_t)((uint64_t)s->marked * TCP_CC_DCTCP_ONE / s->acked);

	if (s->alpha >> GAIN_SHIFT == 0)
		s->alpha = 0;
	s->alpha += (share >> GAIN_SHIFT) - (s->alpha >> GAIN_SHIFT);
	s->alpha = iw_len_min(s->alpha, TCP_CC_DCTCP_ONE);
	s->window_end = nxt;
	s->acked = s->marked = 0;
}

/* §3.3 steps 1 to 4. */
static void
dctcp_on_una(struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	struct tcp_cc_dctcp_state *s = &cc->dctcp;

	if (!s->begun) {
		s->begun = true;
		s->window_end = ack->una - ack->acked; /* SND.UNA at the start */
	}
	s->acked += ack->acked;
	s->marked += ack->ece ? ack->acked : 0;
	if (s->acked && iw_seq_gt(ack->una, s->window_end))
		end_window(s, ack->nxt);
}

static void
dctcp_on_ack(struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	tcp_cc_newreno.on_ack(cc, ack);
}

/* §3.3 step 9; loss as in RFC 5681 (§3.5). */
static void
dctcp_enter_recovery(struct tcp_cc *cc, enum tcp_cc_cause cause, uint32_t flight, uint64_t now_ns)
{
	uint32_t cut;

	if (cause == TCP_CC_LOSS) {
		tcp_cc_newreno.enter_recovery(cc, cause, flight, now_ns);
		return;
	}
	tcp_cc_save(cc);
	cut = (uint32_t)((uint64_t)cc->cwnd * cc->dctcp.alpha / (2 * TCP_CC_DCTCP_ONE));
	cc->cwnd = iw_len_max(cc->cwnd - cut, 2 * cc->mss);
	cc->ssthresh = cc->cwnd;
	cc->acc = 0;
}

static void
dctcp_exit_recovery(struct tcp_cc *cc, uint64_t now_ns)
{
	tcp_cc_newreno.exit_recovery(cc, now_ns);
}

static void
dctcp_on_rto(struct tcp_cc *cc, uint32_t flight, bool first, uint64_t now_ns)
{
	tcp_cc_newreno.on_rto(cc, flight, first, now_ns);
}

const struct tcp_cc_ops tcp_cc_dctcp = {.name = "dctcp",
					.init = dctcp_init,
					.on_una = dctcp_on_una,
					.on_ack = dctcp_on_ack,
					.enter_recovery = dctcp_enter_recovery,
					.exit_recovery = dctcp_exit_recovery,
					.on_rto = dctcp_on_rto,
					.undo = tcp_cc_restore};
