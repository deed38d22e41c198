/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_tlp.h"

#include "seq.h"

#define ACK_DELAY_PART 4 /* of the RTO's floor: 50 ms, as others delay up to 40 ms; 1.25 ms in a data centre */
#define PTO_MIN_PART 100 /* 2 ms; 50 us */

void
tcp_tlp_init(struct tcp_tlp *t)
{
	t->out = false;
	t->is_retrans = false;
	t->reordering = false;
}

uint64_t
tcp_tlp_pto(const struct tcp_rtt *rtt, uint32_t recs)
{
	uint64_t pto = 2 * rtt->srtt_ns, least = rtt->rto_min_ns / PTO_MIN_PART;

	if (!tcp_rtt_has_sample(rtt))
		return IW_SEC;
	if (pto < least)
		pto = least;
	return recs == 1 ? pto + rtt->rto_min_ns / ACK_DELAY_PART : pto;
}

bool
tcp_tlp_may_probe(const struct tcp_tlp *t)
{
	return !t->out && !t->no_rtt;
}

void
tcp_tlp_sent(struct tcp_tlp *t, uint32_t end_seq, bool is_retrans)
{
	t->end_seq = end_seq;
	t->out = true;
	t->is_retrans = is_retrans;
	t->no_rtt = true;
}

bool
tcp_tlp_ack(struct tcp_tlp *t, const struct tcp_tlp_ack *a)
{
	if (!t->out || iw_seq_lt(a->ack, t->end_seq))
		return false;
	if (!t->is_retrans || a->dsack) {
		t->out = false;
		return false;
	}
	if (iw_seq_gt(a->ack, t->end_seq)) {
		t->out = false;
		return true;
	}
	t->out = !a->plain_dup;
	return false;
}
