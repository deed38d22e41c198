/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_hystart.h"

#include "iw_time.h"
#include "len.h"
#include "seq.h"

/* §4.3 */
#define MIN_RTT_THRESH (4 * IW_MS)
#define MAX_RTT_THRESH (16 * IW_MS)
#define MIN_RTT_DIVISOR 8
#define N_RTT_SAMPLE 8
#define CSS_GROWTH_DIVISOR 4
#define CSS_ROUNDS 5

void
tcp_hystart_init(struct tcp_cc_hystart_state *h)
{
	*h = (struct tcp_cc_hystart_state){.last_ns = IW_NEVER, .now_ns = IW_NEVER, .base_ns = IW_NEVER};
}

/* windowEnd is acknowledged: a round ends.  true: it was the last one of conservative slow start. */
static bool
next_round(struct tcp_cc_hystart_state *h, const struct tcp_cc_ack *ack)
{
	if (!h->begun) {
		h->begun = true;
		h->window_end = ack->nxt;
		return false;
	}
	if (iw_seq_lt(ack->una, h->window_end))
		return false;
	h->window_end = ack->nxt;
	h->last_ns = h->now_ns;
	h->now_ns = IW_NEVER;
	h->samples = 0;
	return h->css_rounds > 0 && h->css_rounds++ == CSS_ROUNDS;
}

static void
sample(struct tcp_cc_hystart_state *h, uint64_t rtt_ns)
{
	if (rtt_ns == 0)
		return;
	h->now_ns = iw_time_min(h->now_ns, rtt_ns);
	h->samples += h->samples < N_RTT_SAMPLE;
}

/* The delay has grown: into conservative slow start. */
static void
check_delay(struct tcp_cc_hystart_state *h)
{
	uint64_t thresh;

	if (h->last_ns == IW_NEVER)
		return;
	thresh = iw_time_min(h->last_ns / MIN_RTT_DIVISOR, MAX_RTT_THRESH);
	if (thresh < MIN_RTT_THRESH)
		thresh = MIN_RTT_THRESH;
	if (h->now_ns < h->last_ns + thresh)
		return;
	h->base_ns = h->now_ns;
	h->css_rounds = 1;
}

/* It was a mistake: back to standard slow start. */
static void
check_baseline(struct tcp_cc_hystart_state *h)
{
	if (h->now_ns < h->base_ns)
		h->css_rounds = 0;
}

bool
tcp_hystart_ack(struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	struct tcp_cc_hystart_state *h = &cc->hystart;
	uint32_t octets = iw_len_min(ack->acked, tcp_cc_limit(cc, ack));

	tcp_cc_grow(cc, h->css_rounds ? octets / CSS_GROWTH_DIVISOR : octets);
	sample(h, ack->rtt_ns);
	if (h->samples == N_RTT_SAMPLE && h->css_rounds)
		check_baseline(h);
	else if (h->samples == N_RTT_SAMPLE)
		check_delay(h);
	return next_round(h, ack); /* the ACK of windowEnd still speaks of the round that it ends */
}
