/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever test it is that sends (ld --wrap, as in start.c): new octets lie in the peer's window (RFC 9293 §3.8.6), and
 * what is in flight in the congestion window (RFC 5681 §3.1).  A probe of either kind and the first retransmission may
 * be one segment more (RFC 8985 §7.3, RFC 6675 §5 step 4.3), a zero-window probe an octet (MUST-36); SYN and FIN are
 * for no window; what was in flight when the window shrank stays there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "len.h"
#include "seq.h"
#include "tcp_loss.h"
#include "tcp_pvt.h"

#define SEEN 64 /* connections that want to send, of which it is looked at */

struct seen {
	struct tcp_conn *c;
	uint32_t snd_nxt, txq_nxt, pipe, retransmits;
};

uint32_t __real_tcp_tx_emit(struct tcp *tcp, uint32_t max, uint64_t now_ns);
uint32_t __wrap_tcp_tx_emit(struct tcp *tcp, uint32_t max, uint64_t now_ns);

static uint32_t
look(const struct tcp *tcp, struct seen *seen)
{
	uint32_t n = 0;

	for (struct iw_link *l = tcp->tx.head.next; l != &tcp->tx.head && n < SEEN; l = l->next) {
		struct tcp_conn *c = iw_list_entry(l, struct tcp_conn, tx_link);

		if (c->fl)
			seen[n++] = (struct seen){.c = c,
						  .snd_nxt = c->snd_nxt,
						  .txq_nxt = c->fl->txq.nxt,
						  .pipe = tcp_loss_pipe(c),
						  .retransmits = (uint32_t)c->retransmits};
	}
	return n;
}

static void
check_peers_window(const struct tcp_conn *c, const struct seen *before)
{
	const struct tcp_txq_rec *last = tcp_txq_last_sent(&c->fl->txq);
	bool control = last && last->flags & (TCP_REC_SYN | TCP_REC_FIN), fresh = c->fl->txq.nxt != before->txq_nxt;
	uint32_t edge = iw_seq_max(c->snd_una + c->snd_wnd, before->snd_nxt);

	/* Nothing fresh: an octet of a probe. */
	if (iw_seq_gt(c->snd_nxt, edge + (control || !fresh)))
		fail_msg("%u octets sent beyond the peer's window of %u", c->snd_nxt - edge, c->snd_wnd);
}

static void
check(const struct seen *before)
{
	const struct tcp_conn *c = before->c;
	uint32_t most;

	if (!c->fl)
		return;
	check_peers_window(c, before);
	if (c->fl->txq.nxt == before->txq_nxt && (uint32_t)c->retransmits == before->retransmits)
		return;
	most = iw_len_max(c->fl->cc.cwnd, before->pipe);
	if (tcp_loss_pipe(c) > most + c->emss)
		fail_msg("%u in flight, %u before, cwnd %u, phase %u", tcp_loss_pipe(c), before->pipe, c->fl->cc.cwnd,
			 c->phase);
}

uint32_t
__wrap_tcp_tx_emit(struct tcp *tcp, uint32_t max, uint64_t now_ns)
{
	struct seen seen[SEEN];
	uint32_t n = look(tcp, seen), made = __real_tcp_tx_emit(tcp, max, now_ns);

	for (uint32_t i = 0; i < n; i++)
		check(&seen[i]);
	return made;
}
