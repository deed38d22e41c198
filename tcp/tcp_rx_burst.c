/* SPDX-License-Identifier: BSD-3-Clause */
/* The way in: many segments at a time.  With a million connections each segment meets a connection that no cache knows:
 * bucket, entry, connection are three journeys to memory, one behind the other.  So each step is taken for all segments
 * of the burst before the next one, and only fetches; then they are processed in the order in which they came. */
#include <assert.h>
#include <string.h>

#include "cksum.h"
#include "crc32c.h"
#include "fpdu_hdr.h"
#include "len.h"
#include "sum.h"
#include "tcp_conn.h"
#include "tcp_hdr.h"
#include "tcp_pvt.h"
#include "tcp_rx.h"

#define CRC_LEAST 4096 /* octets of payload: below, two passes are as fast, for the first cache holds the segment */

#define TEXT_AHEAD (144u * RTE_CACHE_LINE_SIZE) /* a segment of a jumbo frame */

/* Header and table position; the bucket is on its way.  false: dropped and counted. */
static bool
parse(struct tcp *tcp, const struct tcp_rx_in *in, uint64_t now_ns, struct tcp_rx_seg *rx)
{
	const struct net_pkt *pkt = &in->pkt;

	rx->m = in->m;
	rx->pkt = pkt;
	rx->now_ns = now_ns;
	rx->sealed = 0;
	if (tcp_hdr_parse(in->m, pkt->l4_off, pkt->l4_len, &rx->seg) != TCP_HDR_OK)
		return false;
	memcpy(rx->tuple.local_ip, pkt->dst.ip, sizeof(rx->tuple.local_ip));
	memcpy(rx->tuple.remote_ip, pkt->src.ip, sizeof(rx->tuple.remote_ip));
	rx->tuple.local_port = rx->seg.dport;
	rx->tuple.remote_port = rx->seg.sport;
	rx->hash = tcp_demux_hash(&tcp->demux, &rx->tuple);
	return true;
}

/* Nothing of the segment is believed yet: who it may be for only tells how it is summed. */
static bool
wants_crc(const struct tcp *tcp, const struct tcp_rx_seg *rx)
{
	const struct tcp_conn *c;

	if (rx->seg.len < CRC_LEAST || rx->m->next)
		return false;
	c = tcp_conn_at(tcp, rx->guess);
	return c && tcp_conn_has(c, TCP_CONN_CRC_WANTED);
}

/* Whole FPDUs at the front, as long as their CRC is right; returns their octets, a multiple of 4. */
static uint32_t
sum_sealed(const uint8_t *p, uint32_t len, uint64_t *sum)
{
	uint32_t done = 0, n;
	uint64_t part;

	for (; len - done >= FPDU_HDR_MIN; done += n) {
		n = fpdu_hdr_len(fpdu_hdr_length_parse(p + done));
		if (n > len - done ||
		    iw_crc32c_final(iw_crc32c_sum(IW_CRC32C_INIT, p + done, n, &part)) != IW_CRC32C_SEALED)
			break;
		*sum += part;
	}
	return done;
}

/* The segment's sum, and its payload's CRCs in the same pass. */
static uint32_t
sum_with_crc(struct tcp_rx_seg *rx)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(rx->m, const uint8_t *, rx->pkt->l4_off);
	const uint8_t *payload = p + rx->seg.hdr_len;
	uint64_t sum = 0;

	rx->sealed = sum_sealed(payload, rx->seg.len, &sum);
	sum += iw_sum(payload + rx->sealed, rx->seg.len - rx->sealed);
	return iw_cksum_join(iw_cksum_add(rx->pkt->pseudo_sum, 0, p, rx->seg.hdr_len), 0, iw_sum_fold(sum));
}

static bool
cksum_is_good(struct tcp *tcp, struct tcp_rx_seg *rx)
{
	const struct net_pkt *pkt = rx->pkt;

	if (pkt->l4_cksum_good)
		return true;
	if (!wants_crc(tcp, rx))
		return iw_cksum_good(iw_cksum_add_mbuf(pkt->pseudo_sum, rx->m, pkt->l4_off, pkt->l4_len));
	tcp->n.rx_crcs++;
	return iw_cksum_good(sum_with_crc(rx));
}

static void
process(struct tcp *tcp, struct tcp_rx_seg *rx, bool parsed)
{
	tcp->n.rx_segs++;
	if (!parsed)
		tcp->n.rx_bad_hdr++;
	else if (!cksum_is_good(tcp, rx))
		tcp->n.rx_bad_cksum++;
	else
		tcp_rx_dispatch(tcp, rx);
	rte_pktmbuf_free(rx->m);
}

/* What will be summed, while the segment before it is. */
static void
fetch_text(const struct tcp_rx_seg *rx)
{
	const char *p = rte_pktmbuf_mtod_offset(rx->m, const char *, rx->pkt->l4_off);
	uint32_t n = iw_len_min(iw_len_min(rx->pkt->l4_len, rte_pktmbuf_data_len(rx->m) - rx->pkt->l4_off), TEXT_AHEAD);

	for (uint32_t at = RTE_CACHE_LINE_SIZE; at < n; at += RTE_CACHE_LINE_SIZE)
		__builtin_prefetch(p + at);
}

void
tcp_rx_burst(struct tcp *tcp, const struct tcp_rx_in *in, uint32_t n, uint64_t now_ns)
{
	struct tcp_rx_seg rx[TCP_RX_BURST];
	bool parsed[TCP_RX_BURST];

	assert(n <= TCP_RX_BURST);
	tcp->now_ns = now_ns;
	for (uint32_t i = 0; i < n; i++)
		parsed[i] = parse(tcp, &in[i], now_ns, &rx[i]);
	for (uint32_t i = 0; i < n; i++)
		if (parsed[i])
			tcp_demux_look(&tcp->demux, rx[i].hash);
	for (uint32_t i = 0; i < n; i++)
		if (parsed[i]) {
			rx[i].guess = tcp_demux_guess(&tcp->demux, rx[i].hash);
			iw_pool_prefetch(&tcp->conns, rx[i].guess, TCP_CONN_LINES);
		}
	for (uint32_t i = 0; i < n; i++) {
		if (i + 1 < n && parsed[i + 1])
			fetch_text(&rx[i + 1]);
		process(tcp, &rx[i], parsed[i]);
	}
}
