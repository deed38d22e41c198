/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rcvbuf.h"

#include "iw_time.h"
#include "len.h"

#define RTT_LEAST_NS IW_MS /* shorter measurements say little */
#define RTT_UNKNOWN_NS (100 * IW_MS)

void
tcp_rcvbuf_init(struct tcp_rcvbuf *b)
{
	*b = (struct tcp_rcvbuf){.quick = TCP_RCVBUF_QUICK_ACKS};
}

static void
begin(struct tcp_rcvbuf *b, uint64_t now_ns)
{
	b->since_ns = now_ns;
	b->taken = 0;
}

uint32_t
tcp_rcvbuf_taken(struct tcp_rcvbuf *b, uint32_t octets, uint32_t size, uint32_t limit, uint64_t srtt_ns,
		 uint64_t now_ns)
{
	uint64_t rtt = srtt_ns ? srtt_ns : RTT_UNKNOWN_NS, spent = now_ns - b->since_ns;
	uint32_t want;

	if (rtt < RTT_LEAST_NS)
		rtt = RTT_LEAST_NS;
	/* What contains a pause counts more than a round trip. */
	if (b->since_ns == 0 || spent >= 2 * rtt) {
		begin(b, now_ns);
		b->taken = octets;
		return size;
	}
	b->taken = octets < UINT32_MAX - b->taken ? b->taken + octets : UINT32_MAX;
	if (spent < rtt)
		return size;
	want = b->taken < limit / 2 ? 2 * b->taken : limit;
	begin(b, now_ns);
	return iw_len_max(want, size);
}

bool
tcp_rcvbuf_quick(struct tcp_rcvbuf *b, uint64_t idle_ns, uint64_t now_ns)
{
	if (b->data_ns && now_ns - b->data_ns > idle_ns)
		b->quick = TCP_RCVBUF_QUICK_ACKS;
	b->data_ns = now_ns;
	if (b->quick == 0)
		return false;
	b->quick--;
	return true;
}
