/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_run.h"

#include "len.h"
#include "seq.h"
#include "tcp_loss.h"
#include "tcp_pvt.h"

static bool
is_plain(const struct tcp_conn *c)
{
	const struct tcp_flight *fl = c->fl;

	return c->phase == TCP_PHASE_OPEN && fl->undo.frto == TCP_FRTO_OFF && !tcp_txq_lost_first(&fl->txq) &&
	       tcp_conn_synchronized(c) && !tcp_conn_has(c, TCP_CONN_FORCE | TCP_CONN_PROBE);
}

/* Octets that congestion control and the peer let go (RFC 5681 §3.1); rec is the first one. */
static uint32_t
room_for(const struct tcp_conn *c, const struct tcp_txq_rec *rec)
{
	uint32_t pipe = tcp_loss_pipe(c), cwnd = c->fl->cc.cwnd;
	int32_t wnd = iw_seq_diff(c->snd_una + c->snd_wnd, rec->seq);

	if (wnd <= 0 || pipe >= cwnd)
		return 0;
	return iw_len_min(cwnd - pipe, (uint32_t)wnd);
}

/* How many records go now; *pace is moved on behind them. */
static uint32_t
count(const struct tcp_conn *c, uint32_t max, struct tcp_pace *pace, uint64_t now_ns)
{
	const struct tcp_txq_rec *rec = c->fl->txq.unsent;
	struct tcp_pace_rate rate = tcp_conn_rate(c);
	bool paced = tcp_pace_applies(&rate);
	uint32_t room = room_for(c, rec), n = 0;

	for (; rec && n < max && rec->m && rec->len <= c->emss && rec->len <= room;
	     rec = tcp_txq_next(&c->fl->txq, rec)) {
		if (paced && tcp_pace_next(pace, &rate) > now_ns)
			break;
		if (paced)
			tcp_pace_sent(pace, &rate, rec->len, now_ns);
		room -= rec->len;
		n++;
	}
	return n;
}

void
tcp_run_after_idle(struct tcp_conn *c, const struct tcp_txq_rec *rec, uint64_t now_ns)
{
	if (c->fl->txq.sent_recs == 0 && rec->m && now_ns - c->last_tx_ns > tcp_rtt_rto(&c->fl->rtt))
		tcp_cc_idle(&c->fl->cc);
}

int
tcp_run_send(struct tcp *tcp, struct tcp_conn *c, uint32_t max, struct tcp_out_train *train, uint64_t now_ns,
	     uint32_t *sent)
{
	struct tcp_txq *q = &c->fl->txq;
	struct tcp_pace pace = c->fl->pace;
	uint32_t n;
	int err;

	*sent = 0;
	if (!q->unsent || !is_plain(c))
		return 0;
	tcp_run_after_idle(c, q->unsent, now_ns);
	n = count(c, max, &pace, now_ns);
	err = tcp_out_run(tcp, c, n, train, now_ns, sent);
	if (err == 0)
		c->fl->pace = pace;
	return err;
}
