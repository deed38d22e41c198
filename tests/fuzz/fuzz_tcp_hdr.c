/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP headers and options: parsed from mbufs that are cut anywhere, and what was understood of them is written and
 * parsed again.  Input: where the mbuf is cut, octets in front of the header, the segment. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "mbufpool.h"
#include "tcp_hdr.h"

#define ROOM 2048

/* In one piece, or in two. */
static struct rte_mbuf *
packet(struct rte_mempool *pool, const uint8_t *p, size_t len, size_t cut)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool), *more;

	if (cut == 0 || cut >= len)
		cut = len;
	memcpy(rte_pktmbuf_append(m, (uint16_t)cut), p, cut);
	if (cut == len)
		return m;
	more = rte_pktmbuf_alloc(pool);
	memcpy(rte_pktmbuf_append(more, (uint16_t)(len - cut)), p + cut, len - cut);
	assert(rte_pktmbuf_chain(m, more) == 0);
	return m;
}

/* What a header cannot say twice: an option's place, and what we never write. */
static void
forget(struct tcp_seg *s)
{
	s->off = s->len = 0;
	s->hdr_len = 0;
}

static void
round_trip(struct rte_mempool *pool, struct tcp_seg seg)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct tcp_seg back;
	uint32_t len = tcp_hdr_push(m, &seg);

	assert(len >= TCP_HDR_MIN && len <= TCP_HDR_MAX && len % 4 == 0 && len == tcp_hdr_len(&seg));
	memset(&back, 0, sizeof(back));
	assert(tcp_hdr_parse(m, 0, len, &back) == TCP_HDR_OK);
	assert(back.hdr_len == len && back.off == len && back.len == 0);
	assert(back.n_sack <= seg.n_sack);
	seg.n_sack = back.n_sack; /* blocks for which no room was left */
	memset(seg.sack + seg.n_sack, 0, sizeof(seg.sack[0]) * (TCP_SACK_MAX - seg.n_sack));
	memset(back.sack + back.n_sack, 0, sizeof(back.sack[0]) * (TCP_SACK_MAX - back.n_sack));
	forget(&seg);
	forget(&back);
	assert(memcmp(&seg, &back, sizeof(seg)) == 0);
	rte_pktmbuf_free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rte_mempool *pool = mbufpool_create("fuzz", ROOM, 0);
	struct fuzz_in in = {data, data + len};
	size_t cut = fuzz_u8(&in), before = fuzz_u8(&in) % 64, got;
	const uint8_t *p = fuzz_take(&in, ROOM, &got);
	struct rte_mbuf *m = packet(pool, p, got, cut);
	struct tcp_seg seg;

	memset(&seg, 0, sizeof(seg));
	if (got >= before && tcp_hdr_parse(m, (uint32_t)before, (uint32_t)(got - before), &seg) == TCP_HDR_OK) {
		assert(seg.hdr_len >= TCP_HDR_MIN && seg.hdr_len <= TCP_HDR_MAX);
		assert(seg.off == before + seg.hdr_len && seg.off + seg.len == got);
		assert(seg.ws <= TCP_WS_MAX && seg.n_sack <= TCP_SACK_MAX);
		round_trip(pool, seg);
	}
	rte_pktmbuf_free(m);
	mbufpool_destroy(pool);
	return 0;
}
