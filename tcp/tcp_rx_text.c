/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of segment arrival: text and FIN, SYN_SENT, and the reader's calls. */
#include <assert.h>

#include "len.h"
#include "seq.h"
#include "tcp_ack.h"
#include "tcp_conn.h"
#include "tcp_ecn.h"
#include "tcp_flight.h"
#include "tcp_out.h"
#include "tcp_pvt.h"
#include "tcp_rx.h"
#include "tcp_timer.h"

#define ACK_EVERY 2 /* segments (RFC 9293 §3.8.6.3, MUST-58) */

/* The RFC ignores text in states that have seen the FIN. */
static bool
takes_text(const struct tcp_conn *c)
{
	return c->state == TCP_ESTABLISHED || c->state == TCP_FIN_WAIT_1 || c->state == TCP_FIN_WAIT_2;
}

/* Nobody will ever read it: the peer has to know that it is lost (RFC 9293 SHLD-3). */
static bool
is_for_nobody(const struct tcp_conn *c, const struct tcp_seg *seg)
{
	return tcp_conn_has(c, TCP_CONN_RELEASED) && iw_seq_gt(seg->seq + seg->len, c->rxq.nxt);
}

/* Counts what became of it and owes the ACK (RFC 5681 §4.2: at once for all that is not in order). */
static void
acknowledge(struct tcp *tcp, struct tcp_conn *c, enum tcp_rxq_verdict verdict, bool ce_changed, uint64_t now_ns)
{
	bool now = true;

	switch (verdict) {
	case TCP_RXQ_IN_ORDER:
		now = tcp_rcvbuf_quick(&c->rcvbuf, tcp_flight_rto(c), now_ns) || ce_changed;
		now |= ++c->ack_segs >= ACK_EVERY;
		break;
	case TCP_RXQ_FILLED:
		break;
	case TCP_RXQ_OOO:
		tcp->n.rx_ooo++;
		c->rx_ooo += c->rx_ooo < UINT16_MAX;
		break;
	case TCP_RXQ_DUP:
		tcp->n.rx_dup++;
		c->rx_dup += c->rx_dup < UINT16_MAX;
		break;
	case TCP_RXQ_OUTSIDE:
		tcp->n.rx_no_window++;
		c->rx_outside += c->rx_outside < UINT16_MAX;
		break;
	case TCP_RXQ_NO_OOO:
		tcp->n.rx_ooo_dropped++;
		c->rx_ooo += c->rx_ooo < UINT16_MAX;
		break;
	case TCP_RXQ_NO_NODE:
		tcp->n.rx_no_node++;
		return;
	}
	tcp_conn_ack(tcp, c, now);
}

void
tcp_rx_text(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx)
{
	const struct iw_view text = {.m = rx->m, .off = rx->seg.off, .len = rx->seg.len, .sealed = rx->sealed};
	uint32_t edge = c->rcv_adv;
	struct tcp_rxq_added added;
	bool ce_changed;

	if (!takes_text(c)) {
		tcp->n.rx_after_fin++;
		return;
	}
	if (is_for_nobody(c, &rx->seg)) {
		tcp->n.rx_after_release++;
		tcp_conn_event(tcp, c, TCP_EV_ABORT, rx->now_ns);
		return;
	}
	if (tcp_conn_has(c, TCP_CONN_FIN_SEEN))
		edge = iw_seq_min(edge, c->fin_seq);
	ce_changed = tcp_ecn_rx(tcp, c, rx->pkt->ecn, rx->seg.flags);
	added = tcp_rxq_add(&c->rxq, &tcp->rxq_pool, &text, rx->seg.seq, edge);
	rx->m = NULL;
	acknowledge(tcp, c, added.verdict, ce_changed, rx->now_ns);
	if (added.advanced)
		tcp_conn_ready(tcp, c, TCP_READY_RX);
	if (added.verdict != TCP_RXQ_IN_ORDER)
		tcp_conn_slow(c);
}

/* Remembers a FIN that lies in the window; one that contradicts what was received is nobody's. */
static void
note_fin(struct tcp *tcp, struct tcp_conn *c, uint32_t fin)
{
	if (tcp_conn_has(c, TCP_CONN_FIN_SEEN)) {
		tcp->n.rx_fin_ignored += fin != c->fin_seq;
	} else if (iw_seq_lt(fin, c->rxq.nxt) || iw_seq_geq(fin, c->rcv_adv)) {
		tcp->n.rx_fin_ignored++;
	} else {
		tcp_conn_set(c, TCP_CONN_FIN_SEEN);
		c->fin_seq = fin;
	}
}

void
tcp_rx_fin(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx)
{
	if (rx->seg.flags & TCP_FIN) {
		note_fin(tcp, c, rx->seg.seq + rx->seg.len);
		tcp_conn_ack(tcp, c, true);
	}
	if (tcp_conn_has(c, TCP_CONN_FIN_SEEN) && !tcp_conn_got_fin(c) && iw_seq_geq(c->rxq.nxt, c->fin_seq))
		tcp_conn_event(tcp, c, TCP_EV_RCV_FIN, rx->now_ns);
}

/* ---- SYN_SENT ---- */

static bool
acks_our_syn(const struct tcp_conn *c, const struct tcp_seg *seg)
{
	return (seg->flags & TCP_ACK) && iw_seq_gt(seg->ack, c->iss) && iw_seq_leq(seg->ack, c->snd_nxt);
}

/* The answer to our SYN: established. */
static void
take_syn_ack(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx)
{
	tcp_conn_take_syn(tcp, c, &rx->seg, rx->now_ns);
	tcp_ack_syn(tcp, c, &rx->seg, rx->now_ns);
	tcp_conn_event(tcp, c, TCP_EV_RCV_SYN_ACK, rx->now_ns);
	rx->seg.flags &= (uint8_t)~TCP_SYN;
	rx->seg.seq++;
	if (rx->seg.len)
		tcp_rx_text(tcp, c, rx);
	tcp_conn_clear(c, TCP_CONN_ECN_ECHO); /* CE on a SYN-ACK tells nothing (RFC 8257 §3.6) */
	tcp_rx_fin(tcp, c, rx);
}

/* The peer has lost its state, and loses the rest of it by our RST: now our SYN will be welcome.  Once for each, not
 * as often as somebody likes to send bad ACKs: SYNs count. */
static void
syn_again(struct tcp *tcp, struct tcp_conn *c)
{
	struct tcp_txq_rec *syn = tcp_txq_first(&c->fl->txq);

	if (!syn || !(syn->flags & TCP_REC_SENT) || syn->rexmits)
		return;
	tcp_txq_mark_lost(&c->fl->txq, syn);
	tcp_conn_kick(tcp, c);
}

/* §3.10.7.3, in its order: ACK, RST, SYN. */
void
tcp_rx_syn_sent(struct tcp *tcp, struct tcp_conn *c, struct tcp_rx_seg *rx)
{
	const struct tcp_seg *seg = &rx->seg;

	if ((seg->flags & TCP_ACK) && !acks_our_syn(c, seg)) {
		tcp->n.rx_bad_ack++;
		tcp_rx_refuse(tcp, c, rx);
		if (!(seg->flags & TCP_RST))
			syn_again(tcp, c);
	} else if (seg->flags & TCP_RST) {
		if (seg->flags & TCP_ACK)
			tcp_conn_event(tcp, c, TCP_EV_RCV_RST, rx->now_ns);
		else
			tcp->n.rx_rst_outside++;
	} else if (!(seg->flags & TCP_SYN)) {
		tcp->n.rx_no_syn++;
	} else if (seg->flags & TCP_ACK) {
		take_syn_ack(tcp, c, rx);
	} else {
		tcp_conn_take_syn(tcp, c, seg, rx->now_ns);
		tcp_conn_event(tcp, c, TCP_EV_RCV_SYN, rx->now_ns);
	}
}

/* ---- the reader ---- */

uint32_t
tcp_rx_peek(struct tcp *tcp, uint32_t conn, struct iw_view *views, uint32_t max)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);
	uint32_t n = c ? tcp_rxq_peek(&c->rxq, views, max) : 0;

	if (n < TCP_PEEK_VIEWS || iw_len_min(c->rxq.octets, TCP_PEEK_OCTETS) <= iw_view_total(views, n))
		return n;
	tcp_rxq_pack(&c->rxq, &tcp->rxq_pool);
	return tcp_rxq_peek(&c->rxq, views, max);
}

void
tcp_rx_want_crc(struct tcp *tcp, uint32_t conn, bool want)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (c && want)
		tcp_conn_set(c, TCP_CONN_CRC_WANTED);
	else if (c)
		tcp_conn_clear(c, TCP_CONN_CRC_WANTED);
}

uint32_t
tcp_rx_pending(struct tcp *tcp, uint32_t conn)
{
	const struct tcp_conn *c = tcp_conn_user(tcp, conn);

	return c ? c->rxq.octets : 0;
}

/* A window update is worth a segment of its own when it opens two segments or half the buffer; one segment where the
 * peer may be waiting for just that (RFC 9293 §3.8.6.2.2). */
static void
announce_window(struct tcp *tcp, struct tcp_conn *c)
{
	uint32_t space = c->rcv_buf - iw_len_min(c->rcv_buf, c->rxq.octets), wnd = tcp_conn_rcv_wnd(c);
	uint32_t step = wnd < c->emss ? c->emss : 2 * c->emss;

	if (space > wnd && space - wnd >= iw_len_min(c->rcv_buf / 2, step) && takes_text(c))
		tcp_conn_ack(tcp, c, true);
}

/* The window follows what the reader takes in a round trip.  All growth together stays below what is given to it: a
 * window is a promise of mbufs. */
static void
tune(struct tcp *tcp, struct tcp_conn *c, uint32_t octets, uint64_t now_ns)
{
	uint64_t limit = c->rcv_buf + (tcp->rcv_grow_max - tcp->rcv_grown);
	uint32_t size;

	if (limit > tcp->params.rcv_buf_max)
		limit = tcp->params.rcv_buf_max;
	size = tcp_rcvbuf_taken(&c->rcvbuf, octets, c->rcv_buf, (uint32_t)limit, tcp_conn_srtt(c), now_ns);
	tcp->rcv_grown += size - c->rcv_buf;
	tcp->n.rcv_buf_grown += size != c->rcv_buf;
	c->rcv_buf = size;
}

void
tcp_rx_consume(struct tcp *tcp, uint32_t conn, uint32_t octets, uint64_t now_ns)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (!c || !octets)
		return;
	assert(octets <= c->rxq.octets);
	tcp->now_ns = now_ns;
	tcp_rxq_consume(&c->rxq, &tcp->rxq_pool, octets);
	tune(tcp, c, octets, now_ns);
	announce_window(tcp, c);
}
