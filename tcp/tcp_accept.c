/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_accept.h"

#include "seq.h"

#define TS_RECENT_MAX_AGE_NS (24 * 24 * 3600 * IW_SEC) /* RFC 7323 §5.5: half the space of a 1 ms clock */

/* RFC 7323 §5.3 R1: older than what was seen, unless that is too old to compare with. */
static bool
fails_paws(const struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	return tcp_conn_has(c, TCP_CONN_TS) && seg->has_ts && iw_seq_lt(seg->tsval, c->ts_recent) &&
	       now_ns - c->ts_recent_ns < TS_RECENT_MAX_AGE_NS;
}

bool
tcp_accept_is_inside(uint32_t seq, uint32_t len, uint32_t nxt, uint32_t wnd)
{
	if (wnd == 0)
		return len == 0 && seq == nxt;
	return iw_seq_within(seq, nxt, wnd) || (len > 0 && iw_seq_within(seq + len - 1, nxt, wnd));
}

/* RFC 5961 §3.2: RST. */
static enum tcp_accept_verdict
check_rst(const struct tcp_seg *seg, uint32_t nxt, uint32_t wnd)
{
	if (seg->seq == nxt)
		return TCP_ACCEPT_RST;
	return iw_seq_within(seg->seq, nxt, wnd) ? TCP_ACCEPT_RST_INSIDE : TCP_ACCEPT_RST_OUTSIDE;
}

/* RFC 5961 §4.2: never a reason to reset.  In SYN_RCVD the peer's own SYN may come again, or come with the ACK of
 * ours when both have opened actively (RFC 9293 figure 8). */
static enum tcp_accept_verdict
check_syn(const struct tcp_conn *c, const struct tcp_seg *seg)
{
	if (c->state != TCP_SYN_RCVD || seg->seq != c->irs)
		return TCP_ACCEPT_SYN;
	if (!(seg->flags & TCP_ACK))
		return TCP_ACCEPT_SYN_AGAIN;
	return iw_seq_gt(seg->ack, c->snd_una) && iw_seq_leq(seg->ack, c->snd_nxt) ? TCP_ACCEPT_SYN_ACK
										   : TCP_ACCEPT_BAD_ACK_SYN;
}

/* SEG.ACK: RFC 9293 §3.10.7.4 fifth step; RFC 5961 §5.2 for all but SYN_RCVD. */
static enum tcp_accept_verdict
check_ack(const struct tcp_conn *c, const struct tcp_seg *seg)
{
	if (!(seg->flags & TCP_ACK))
		return TCP_ACCEPT_NO_ACK;
	if (c->state == TCP_SYN_RCVD)
		return iw_seq_gt(seg->ack, c->snd_una) && iw_seq_leq(seg->ack, c->snd_nxt) ? TCP_ACCEPT_PASS
											   : TCP_ACCEPT_BAD_ACK_SYN;
	if (iw_seq_gt(seg->ack, c->snd_nxt) || iw_seq_lt(seg->ack, c->snd_una - c->snd_max_wnd))
		return TCP_ACCEPT_BAD_ACK;
	return TCP_ACCEPT_PASS;
}

enum tcp_accept_verdict
tcp_accept_check(const struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns)
{
	uint32_t nxt = tcp_conn_rcv_nxt(c), wnd = tcp_conn_rcv_wnd(c), len = tcp_hdr_seg_len(seg);
	enum tcp_accept_verdict ack;

	if (seg->flags & TCP_RST)
		return check_rst(seg, nxt, wnd);
	/* RFC 7323 §3.2; the last ACK of the handshake is let off, and a SYN has to be answered whatever it lacks: a
	 * peer that starts anew without timestamps could not get through for ever (RFC 5961 §4.2). */
	if (tcp_conn_has(c, TCP_CONN_TS) && !seg->has_ts && c->state != TCP_SYN_RCVD && !(seg->flags & TCP_SYN))
		return TCP_ACCEPT_NO_TS;
	if (fails_paws(c, seg, now_ns))
		return len ? TCP_ACCEPT_PAWS : TCP_ACCEPT_PAWS_EMPTY;
	if (seg->flags & TCP_SYN)
		return check_syn(c, seg);
	if (tcp_accept_is_inside(seg->seq, len, nxt, wnd))
		return check_ack(c, seg);
	/* "special allowance should be made to accept valid ACKs" */
	if (wnd == 0 && iw_seq_leq(seg->seq, nxt) && iw_seq_gt(seg->seq + len, nxt)) {
		ack = check_ack(c, seg);
		return ack == TCP_ACCEPT_PASS ? TCP_ACCEPT_ACK_ONLY : ack;
	}
	return len ? TCP_ACCEPT_OUTSIDE : TCP_ACCEPT_OUTSIDE_EMPTY;
}

bool
tcp_accept_challenge(struct tcp_conn *c, uint32_t limit, uint64_t now_ns)
{
	uint32_t now_ms = (uint32_t)(now_ns / IW_MS);

	if (now_ms - c->challenge_ms >= TCP_CHALLENGE_NS / IW_MS) {
		c->challenge_ms = now_ms;
		c->challenges = 0;
	}
	if (c->challenges >= limit)
		return false;
	c->challenges++;
	return true;
}
