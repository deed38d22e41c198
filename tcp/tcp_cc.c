/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_cc.h"

#include <assert.h>

#include "len.h"
#include "tcp_face.h"

#define IW_SEGMENTS 10
#define IW_OCTETS 14600
#define SLOW_START_L 8

const struct tcp_cc_ops *
tcp_cc_ops_of(uint8_t kind)
{
	static const struct tcp_cc_ops *const ops[] = {
		[TCP_CC_CUBIC] = &tcp_cc_cubic, [TCP_CC_NEWRENO] = &tcp_cc_newreno, [TCP_CC_DCTCP] = &tcp_cc_dctcp};

	assert(kind > TCP_CC_DEFAULT && kind <= TCP_CC_DCTCP);
	return ops[kind];
}

uint32_t
tcp_cc_initial_window(uint32_t mss)
{
	return iw_len_min(IW_SEGMENTS * mss, iw_len_max(2 * mss, IW_OCTETS));
}

void
tcp_cc_init(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint32_t mss, bool syn_lost)
{
	assert(mss > 0 && mss <= UINT16_MAX);
	*cc = (struct tcp_cc){.ops = ops, .mss = mss, .ssthresh = TCP_CC_SSTHRESH_INIT};
	cc->cwnd = syn_lost ? mss : tcp_cc_initial_window(mss);
	ops->init(cc);
}

void
tcp_cc_set_mss(struct tcp_cc *cc, uint32_t mss)
{
	assert(mss > 0 && mss <= UINT16_MAX);
	if (mss < cc->mss)
		cc->cwnd = (uint32_t)((uint64_t)cc->cwnd * mss / cc->mss);
	cc->mss = mss;
	cc->cwnd = iw_len_max(cc->cwnd, mss);
	cc->ssthresh = iw_len_max(cc->ssthresh, 2 * mss);
}

void
tcp_cc_idle(struct tcp_cc *cc)
{
	cc->cwnd = iw_len_min(cc->cwnd, tcp_cc_initial_window(cc->mss));
	cc->acc = 0;
}

void
tcp_cc_grow(struct tcp_cc *cc, uint32_t octets)
{
	assert(cc->cwnd <= TCP_CC_CWND_MAX);
	cc->cwnd += iw_len_min(octets, TCP_CC_CWND_MAX - cc->cwnd);
}

uint32_t
tcp_cc_limit(const struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	if (cc->after_rto && !ack->exact)
		return cc->mss;
	return ack->paced ? TCP_CC_CWND_MAX : SLOW_START_L * cc->mss;
}

void
tcp_cc_grow_slow_start(struct tcp_cc *cc, const struct tcp_cc_ack *ack)
{
	tcp_cc_grow(cc, iw_len_min(ack->acked, tcp_cc_limit(cc, ack)));
	if (!tcp_cc_slow_start(cc))
		cc->after_rto = false;
}

void
tcp_cc_save(struct tcp_cc *cc)
{
	cc->prior_cwnd = cc->cwnd;
	cc->prior_ssthresh = cc->ssthresh;
}

void
tcp_cc_restore(struct tcp_cc *cc)
{
	if (cc->prior_cwnd == 0)
		return;
	cc->cwnd = iw_len_max(cc->cwnd, cc->prior_cwnd);
	cc->ssthresh = iw_len_max(cc->ssthresh, cc->prior_ssthresh);
	cc->prior_cwnd = 0;
	cc->after_rto = false;
}
