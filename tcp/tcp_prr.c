/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_prr.h"

#include <assert.h>

#include "len.h"

void
tcp_prr_begin(struct tcp_prr *prr, uint32_t flight)
{
	*prr = (struct tcp_prr){.recover_fs = iw_len_max(flight, 1)};
}

/* a - b, 0 when that were negative. */
static uint64_t
minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

uint32_t
tcp_prr_ack(struct tcp_prr *prr, uint32_t delivered, uint32_t pipe, uint32_t ssthresh, uint32_t mss)
{
	uint64_t limit, count;

	assert(prr->recover_fs > 0);
	prr->delivered += delivered;
	if (pipe > ssthresh) {
		uint64_t share = (uint64_t)prr->delivered * ssthresh;

		count = minus((share + prr->recover_fs - 1) / prr->recover_fs, prr->out);
	} else {
		limit = minus(prr->delivered, prr->out);
		limit = (limit > delivered ? limit : delivered) + mss;
		count = ssthresh - pipe < limit ? ssthresh - pipe : limit;
	}
	return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

void
tcp_prr_sent(struct tcp_prr *prr, uint32_t octets)
{
	prr->out += octets;
}
