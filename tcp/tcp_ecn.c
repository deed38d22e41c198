/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_ecn.h"

#include "seq.h"
#include "tcp_pvt.h"

static bool
is_dctcp(const struct tcp *tcp)
{
	return tcp->params.cc == TCP_CC_DCTCP;
}

uint8_t
tcp_ecn_syn_flags(const struct tcp *tcp, struct tcp_conn *c, bool syn_ack, bool again)
{
	if (syn_ack)
		return tcp_conn_has(c, TCP_CONN_ECN) ? TCP_ECE : 0;
	if (tcp->params.no_ecn || again) {
		tcp_conn_clear(c, TCP_CONN_ECN_ASKED);
		return 0;
	}
	tcp_conn_set(c, TCP_CONN_ECN_ASKED);
	return TCP_ECE | TCP_CWR;
}

void
tcp_ecn_take_syn(const struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg)
{
	uint8_t flags = seg->flags & (TCP_ECE | TCP_CWR);
	bool ok;

	/* A SYN-ACK with both is a broken peer's reflection (§6.1.1). */
	if (seg->flags & TCP_ACK)
		ok = flags == TCP_ECE && tcp_conn_has(c, TCP_CONN_ECN_ASKED);
	else
		ok = flags == (TCP_ECE | TCP_CWR) && !tcp->params.no_ecn;
	if (ok)
		tcp_conn_set(c, TCP_CONN_ECN);
	else
		tcp_conn_clear(c, TCP_CONN_ECN);
}

/* RFC 8257 §3.2. */
static bool
rx_dctcp(struct tcp_conn *c, bool ce)
{
	if (ce == tcp_conn_has(c, TCP_CONN_ECN_ECHO))
		return false;
	if (ce)
		tcp_conn_set(c, TCP_CONN_ECN_ECHO);
	else
		tcp_conn_clear(c, TCP_CONN_ECN_ECHO);
	return true;
}

bool
tcp_ecn_rx(const struct tcp *tcp, struct tcp_conn *c, uint8_t codepoint, uint8_t flags)
{
	bool ce = codepoint == TCP_ECN_CE;

	if (!tcp_conn_has(c, TCP_CONN_ECN))
		return false;
	if (is_dctcp(tcp))
		return rx_dctcp(c, ce);
	/* CWR first: it speaks of what was sent before this segment was marked. */
	if (flags & TCP_CWR)
		tcp_conn_clear(c, TCP_CONN_ECN_ECHO);
	if (!ce || tcp_conn_has(c, TCP_CONN_ECN_ECHO))
		return false;
	tcp_conn_set(c, TCP_CONN_ECN_ECHO);
	return true;
}

uint8_t
tcp_ecn_echo(const struct tcp_conn *c)
{
	return tcp_conn_has(c, TCP_CONN_ECN) && tcp_conn_has(c, TCP_CONN_ECN_ECHO) ? TCP_ECE : 0;
}

/* RFC 3168 §6.1.1 forbids it; where switches mark early, SYNs without would be the first to be lost (RFC 8257 §3.6). */
uint8_t
tcp_ecn_syn_mark(const struct tcp *tcp, uint8_t flags)
{
	return is_dctcp(tcp) && (flags & TCP_ECE) ? TCP_ECN_ECT_0 : TCP_ECN_NOT_ECT;
}

uint8_t
tcp_ecn_mark(const struct tcp *tcp, struct tcp_conn *c, enum tcp_ecn_kind kind, uint8_t *flags)
{
	if (*flags & TCP_SYN)
		return tcp_ecn_syn_mark(tcp, *flags);
	if (!tcp_conn_has(c, TCP_CONN_ECN))
		return TCP_ECN_NOT_ECT;
	/* Retransmissions and what carries no data go without a mark (§6.1.4, §6.1.5), but where switches mark early
	 * that would be worse than marking them (RFC 8257 §4.1). */
	if (kind != TCP_ECN_NEW)
		return is_dctcp(tcp) ? TCP_ECN_ECT_0 : TCP_ECN_NOT_ECT;
	if (tcp_conn_has(c, TCP_CONN_ECN_CWR))
		*flags |= TCP_CWR;
	tcp_conn_clear(c, TCP_CONN_ECN_CWR);
	return TCP_ECN_ECT_0;
}

bool
tcp_ecn_reacts(const struct tcp_conn *c, const struct tcp_seg *seg)
{
	return tcp_conn_has(c, TCP_CONN_ECN) && (seg->flags & TCP_ECE) && iw_seq_gt(seg->ack, c->fl->ecn_end);
}

void
tcp_ecn_reduced(struct tcp_conn *c)
{
	if (!tcp_conn_has(c, TCP_CONN_ECN))
		return;
	tcp_conn_set(c, TCP_CONN_ECN_CWR);
	c->fl->ecn_end = c->snd_nxt;
}
