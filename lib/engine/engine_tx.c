/* SPDX-License-Identifier: BSD-3-Clause */
/* The way down: tcp grants room, the QP fills whole FPDUs into one mbuf for each segment, tcp keeps and stamps it. */
#include "engine_flow.h"
#include "len.h"

#define FPDU_SEGMENTS_PER_TURN 16u /* of one QP, then the next one has its turn */
#define QPS_PER_TURN 1024u

/* A Terminate must get out when data mbufs are short. */
static struct rte_mbuf *
mbuf_for(struct iw_engine *e, const struct iw_qp *qp)
{
	struct rte_mbuf *m = mbuf_stock_take(&e->stock, e->env.data_pool);

	return m || !qp_is_terminating(qp) ? m : rte_pktmbuf_alloc(e->env.ctl_pool);
}

/* One segment of one QP; NULL: it has nothing to send, or there is no mbuf. */
static struct rte_mbuf *
fill_segment(struct iw_engine *e, struct iw_qp *qp, uint32_t emss, uint16_t *sum)
{
	struct rte_mbuf *m = mbuf_for(e, qp);
	uint32_t octets;

	if (!m) {
		e->counters.tx_no_mbuf++;
		return NULL;
	}
	octets = rdmap_tx_fill(qp, m, iw_len_min(emss, rte_pktmbuf_tailroom(m)), sum, e->now_ns);
	if (octets == 0) {
		mbuf_stock_return(&e->stock, e->env.data_pool, m);
		return NULL;
	}
	e->stock.last = m->data_len;
	return m;
}

/* As many as it has, at most max; returns how many. */
static uint32_t
fill_segments(struct iw_engine *e, struct iw_qp *qp, uint32_t emss, uint32_t max)
{
	bool offloaded = net_l4_cksum_offloaded(e->net);
	struct rte_mbuf *m[FPDU_SEGMENTS_PER_TURN];
	uint16_t sum[FPDU_SEGMENTS_PER_TURN];
	uint32_t n;

	for (n = 0; n < max; n++) {
		sum[n] = 0;
		m[n] = fill_segment(e, qp, emss, offloaded ? NULL : &sum[n]);
		if (!m[n])
			break;
	}
	if (n == 0 || tcp_tx_append_summed(e->tcp, qp_conn(qp), m, sum, n) == 0)
		return n;
	/* What was filled counts as sent: without it the stream has a hole. */
	cm_qp_gone(e->cm, qp, e->now_ns);
	return 0;
}

/* A turn of one QP; returns segments made.  A Terminate needs no grant: behind a closed window it waits in tcp, and the
 * time that it may linger has begun. */
static uint32_t
fill_qp(struct iw_engine *e, struct iw_qp *qp, uint32_t max)
{
	struct tcp_grant grant = tcp_tx_grant(e->tcp, qp_conn(qp));
	uint32_t n = qp_is_terminating(qp) ? 1 : iw_len_min(iw_len_min(grant.segments, max), FPDU_SEGMENTS_PER_TURN);
	uint32_t made = fill_segments(e, qp, grant.emss, n);

	/* Without a grant it stays off the list: tcp sets ROOM. */
	if (n > 0)
		rdmap_run_add(qp);
	return made;
}

/* QPs in turn until the frame budget, the run list or the mbufs are used up. */
static void
fill_all(struct iw_engine *e, uint32_t room)
{
	uint64_t dry = e->counters.tx_no_mbuf;
	struct iw_qp *qp;

	for (uint32_t i = 0; i < QPS_PER_TURN && room > 0 && dry == e->counters.tx_no_mbuf; i++) {
		qp = rdmap_run_next(e->rdmap);
		if (!qp)
			break;
		room -= fill_qp(e, qp, room);
	}
	e->dry = dry != e->counters.tx_no_mbuf;
}

uint32_t
engine_tx(struct iw_engine *e, struct rte_mbuf **out, uint32_t max, uint64_t now_ns)
{
	uint32_t frames;

	e->now_ns = now_ns;
	rdmap_doorbells(e->rdmap);
	fill_all(e, iw_len_min(max, net_tx_space(e->net)));
	rdmap_quiescent(e->rdmap);
	engine_qp_outs(e);
	tcp_tx_emit(e->tcp, net_tx_space(e->net), now_ns);
	frames = net_drain(e->net, out, max);
	e->work += frames;
	return frames;
}
