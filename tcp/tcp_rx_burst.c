/* SPDX-License-Identifier: BSD-3-Clause */
/* The way in: many segments at a time.  With a million connections each segment meets a connection that no cache knows:
 * bucket, entry, connection are three journeys to memory, one behind the other.  So each step is taken for all segments
 * of the burst before the next one, and only fetches; then they are processed in the order in which they came. */
#include <assert.h>
#include <string.h>

#include "cksum.h"
#include "tcp_hdr.h"
#include "tcp_pvt.h"
#include "tcp_rx.h"

#define CONN_LINES 5 /* what a segment in order looks at */

/* Header and table position; the bucket is on its way.  false: dropped and counted. */
static bool
parse(struct tcp *tcp, const struct tcp_rx_in *in, uint64_t now_ns, struct tcp_rx_seg *rx)
{
	const struct net_pkt *pkt = &in->pkt;

	rx->m = in->m;
	rx->pkt = pkt;
	rx->now_ns = now_ns;
	if (tcp_hdr_parse(in->m, pkt->l4_off, pkt->l4_len, &rx->seg) != TCP_HDR_OK)
		return false;
	memcpy(rx->tuple.local_ip, pkt->dst.ip, sizeof(rx->tuple.local_ip));
	memcpy(rx->tuple.remote_ip, pkt->src.ip, sizeof(rx->tuple.remote_ip));
	rx->tuple.local_port = rx->seg.dport;
	rx->tuple.remote_port = rx->seg.sport;
	rx->hash = tcp_demux_hash(&tcp->demux, &rx->tuple);
	return true;
}

static bool
cksum_is_good(const struct rte_mbuf *m, const struct net_pkt *pkt)
{
	return pkt->l4_cksum_good || iw_cksum_good(iw_cksum_add_mbuf(pkt->pseudo_sum, m, pkt->l4_off, pkt->l4_len));
}

static void
process(struct tcp *tcp, struct tcp_rx_seg *rx, bool parsed)
{
	tcp->n.rx_segs++;
	if (!parsed)
		tcp->n.rx_bad_hdr++;
	else if (!cksum_is_good(rx->m, rx->pkt))
		tcp->n.rx_bad_cksum++;
	else
		tcp_rx_dispatch(tcp, rx);
	rte_pktmbuf_free(rx->m);
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
		if (parsed[i])
			iw_pool_prefetch(&tcp->conns, tcp_demux_guess(&tcp->demux, rx[i].hash), CONN_LINES);
	for (uint32_t i = 0; i < n; i++)
		process(tcp, &rx[i], parsed[i]);
}
