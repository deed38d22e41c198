/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_out.h"

#include <iwarp/err.h>

#include "cksum.h"
#include "iw_addr.h"
#include "len.h"
#include "seq.h"
#include "tcp_ecn.h"
#include "tcp_isn.h"
#include "tcp_pvt.h"

#define WND_FIELD_MAX 65535u
#define HEADERS_V4 40 /* without options */
#define HEADERS_V6 60
#define GRAIN 4 /* a record that leaves less than that of a segment is a full one */
_Static_assert(RTE_PKTMBUF_HEADROOM >= TCP_HEADROOM, "fresh mbufs have room for every header");

/* Where a segment goes. */
struct path {
	const struct iw_addr *local, *remote;
	struct net_route *route;
	uint8_t ecn;
};

/* pseudo, hdr: sums. */
static void
set_cksum(const struct tcp *tcp, struct rte_mbuf *m, uint32_t pseudo, uint32_t hdr, uint16_t payload)
{
	if (net_l4_cksum_offloaded(tcp->net))
		tcp_hdr_set_cksum(m, (uint16_t)iw_cksum_fold_memory(pseudo));
	else
		tcp_hdr_set_cksum(m, (uint16_t)~iw_cksum_fold_memory(pseudo + hdr + payload));
}

/* Header and checksum in front of a payload with that sum; the mbuf is net's from here on.  Others may follow in the
 * train, if there is one. */
static int
put(struct tcp *tcp, const struct path *path, struct rte_mbuf *m, const struct tcp_seg *seg, uint16_t payload_sum,
    struct tcp_out_train *train, uint64_t now_ns)
{
	uint32_t payload = rte_pktmbuf_pkt_len(m);
	uint32_t hdr_len = tcp_hdr_push(m, seg);
	uint32_t pseudo;
	int err;

	if (!hdr_len) {
		rte_pktmbuf_free(m);
		tcp->n.tx_net_refused++;
		return -IW_E_TOOBIG;
	}
	pseudo = net_pseudo_sum(tcp->net, path->local, path->remote, NET_PROTO_TCP, 0);
	set_cksum(tcp, m, iw_cksum_add_len(pseudo, (uint16_t)(hdr_len + payload)), tcp_hdr_sum(m, hdr_len),
		  payload_sum);
	if (train) {
		tcp_hdr_form_init(&train->form, rte_pktmbuf_mtod(m, const uint8_t *), hdr_len);
		train->pseudo = pseudo;
	}
	tcp->n.tx_segs++;
	err = net_tx_first(tcp->net, m, path->route, NET_PROTO_TCP, path->ecn, now_ns, train ? &train->head : NULL);
	tcp->n.tx_net_refused += err != 0;
	return err;
}

/* The next segment of a train. */
static int
put_next(struct tcp *tcp, const struct tcp_out_train *train, struct rte_mbuf *m, uint32_t seq, uint16_t payload_sum)
{
	uint32_t payload = rte_pktmbuf_pkt_len(m);
	uint32_t hdr = tcp_hdr_push_form(m, &train->form, seq);
	int err;

	set_cksum(tcp, m, iw_cksum_add_len(train->pseudo, (uint16_t)(train->form.len + payload)), hdr, payload_sum);
	tcp->n.tx_segs++;
	err = net_tx_next(tcp->net, m, &train->head);
	tcp->n.tx_net_refused += err != 0;
	return err;
}

/* New data may follow in the train, but not what tells once that the window was reduced. */
static int
send_data(struct tcp *tcp, struct tcp_conn *c, struct rte_mbuf *m, struct tcp_seg *seg, enum tcp_ecn_kind kind,
	  uint16_t payload_sum, struct tcp_out_train *train, uint64_t now_ns)
{
	struct path path = {tcp_conn_local(c), tcp_conn_remote(c), &c->route, tcp_ecn_mark(tcp, c, kind, &seg->flags)};
	bool follow = kind == TCP_ECN_NEW && !(seg->flags & TCP_CWR);

	if (rte_pktmbuf_pkt_len(m)) /* an ACK is no use of the window (RFC 5681 §4.1) */
		c->last_tx_ns = now_ns;
	return put(tcp, &path, m, seg, payload_sum, follow ? train : NULL, now_ns);
}

static int
send_control(struct tcp *tcp, struct tcp_conn *c, struct rte_mbuf *m, struct tcp_seg *seg, uint16_t payload_sum,
	     uint64_t now_ns)
{
	return send_data(tcp, c, m, seg, TCP_ECN_CONTROL, payload_sum, NULL, now_ns);
}

/* An mbuf without payload, from the reserve. */
static struct rte_mbuf *
empty_mbuf(struct tcp *tcp)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(tcp->env->ctl_pool);

	if (!m) {
		tcp->n.tx_no_mbuf++;
		return NULL;
	}
	return m;
}

/* The window field.  The right edge moves right only (RFC 9293 SHLD-14), and only by steps that are worth it (the
 * receiver's half of silly-window avoidance, §3.8.6.2.2). */
static uint16_t
window(struct tcp_conn *c)
{
	uint32_t shift = c->rcv_wscale, grain = (1u << shift) - 1;
	uint32_t held = c->rxq.octets, nxt = tcp_conn_rcv_nxt(c);
	uint32_t space = held < c->rcv_buf ? c->rcv_buf - held : 0;
	uint32_t old = tcp_conn_rcv_wnd(c), step = iw_len_min(c->rcv_buf / 2, c->emss);
	uint32_t wnd = iw_len_min(space, WND_FIELD_MAX << shift) & ~grain;

	/* Rounded up what was promised would move on with each small segment: no further than one grain beyond the
	 * buffer, then down (RFC 7323 §2.4; rcv_adv remembers what was promised). */
	if (wnd < old || wnd - old < step)
		wnd = held + ((old + grain) & ~grain) <= c->rcv_buf + grain ? (old + grain) & ~grain : old & ~grain;
	if (wnd > WND_FIELD_MAX << shift)
		wnd = WND_FIELD_MAX << shift;
	c->rcv_adv = iw_seq_max(c->rcv_adv, nxt + wnd);
	return (uint16_t)(wnd >> shift);
}

/* What every segment of a connection after the SYN carries; the ACK that was owed goes with it. */
static void
fill(struct tcp_conn *c, struct tcp_seg *seg, uint32_t seq, uint8_t flags, uint64_t now_ns)
{
	seg->sport = tcp_conn_local(c)->port;
	seg->dport = tcp_conn_remote(c)->port;
	seg->seq = seq;
	seg->flags = flags;
	if (tcp_conn_has(c, TCP_CONN_TS)) {
		seg->has_ts = true;
		seg->tsval = tcp_isn_tsval(now_ns, c->ts_offset);
		seg->tsecr = c->ts_recent;
	}
	if (!(flags & TCP_ACK))
		return;
	seg->ack = tcp_conn_rcv_nxt(c);
	if (!(flags & TCP_SYN)) {
		seg->wnd = window(c);
		seg->flags |= tcp_ecn_echo(c);
	}
	c->last_ack_sent = seg->ack;
	c->ack_segs = 0;
	tcp_conn_clear(c, TCP_CONN_ACK_OWED | TCP_CONN_ACK_NOW);
}

uint16_t
tcp_out_own_mss(const struct tcp *tcp, const struct iw_addr *remote)
{
	return (uint16_t)(net_if(tcp->net)->mtu - (iw_addr_is_v4(remote) ? HEADERS_V4 : HEADERS_V6));
}

/* The least shift that lets the whole buffer be advertised (RFC 7323 §2.3). */
static uint8_t
wscale_for(uint32_t octets)
{
	uint8_t shift = 0;

	while (shift < TCP_WS_MAX && octets >> shift > WND_FIELD_MAX)
		shift++;
	return shift;
}

uint8_t
tcp_out_wscale(const struct tcp *tcp)
{
	return wscale_for(tcp->params.rcv_buf_max);
}

uint32_t
tcp_out_first_window(const struct tcp *tcp)
{
	return tcp->params.rcv_buf < WND_FIELD_MAX ? tcp->params.rcv_buf : WND_FIELD_MAX;
}

/* SYN offers everything; SYN-ACK what the peer has offered.  Its window is never scaled (RFC 7323 §2.2). */
static void
fill_syn(struct tcp *tcp, struct tcp_conn *c, struct tcp_seg *seg, bool again, uint64_t now_ns)
{
	bool first = c->state == TCP_SYN_SENT;
	uint8_t ecn = tcp_ecn_syn_flags(tcp, c, !first, again);

	fill(c, seg, c->iss, (uint8_t)((first ? TCP_SYN : TCP_SYN | TCP_ACK) | ecn), now_ns);
	seg->wnd = (uint16_t)iw_len_min(c->rcv_buf, WND_FIELD_MAX);
	seg->has_mss = true;
	seg->mss = tcp_out_own_mss(tcp, tcp_conn_remote(c));
	seg->has_ws = first || tcp_conn_has(c, TCP_CONN_WS);
	seg->ws = c->rcv_wscale;
	seg->sack_perm = first || tcp_conn_has(c, TCP_CONN_SACK);
	seg->has_ts = first || tcp_conn_has(c, TCP_CONN_TS);
	seg->tsval = tcp_isn_tsval(now_ns, c->ts_offset);
}

static enum tcp_ecn_kind
ecn_kind(const struct tcp_txq_rec *rec)
{
	if (!rec->m)
		return TCP_ECN_CONTROL;
	return rec->flags & TCP_REC_SENT ? TCP_ECN_AGAIN : TCP_ECN_NEW;
}

static void
note_rec(struct tcp *tcp, struct tcp_conn *c, struct tcp_txq_rec *rec, bool again, uint64_t now_ns)
{
	tcp_txq_sent(&c->fl->txq, rec, now_ns);
	c->snd_nxt = iw_seq_max(c->snd_nxt, tcp_txq_rec_end(rec));
	c->retransmits += again;
	tcp->n.tx_retrans += again;
	tcp->n.tx_data += !again && rec->m;
}

/* The first of its turn, or one that is like no other.  Who has none behind it begins no train. */
static int
send_alone(struct tcp *tcp, struct tcp_conn *c, const struct tcp_txq_rec *rec, struct rte_mbuf *m,
	   struct tcp_out_train *train, uint64_t now_ns)
{
	struct tcp_seg seg = {0};

	if (rec->flags & TCP_REC_SYN)
		fill_syn(tcp, c, &seg, (rec->flags & TCP_REC_SENT) != 0, now_ns);
	else if (rec->flags & TCP_REC_FIN)
		fill(c, &seg, rec->seq, TCP_FIN | TCP_ACK, now_ns);
	else
		fill(c, &seg, rec->seq, TCP_PSH | TCP_ACK, now_ns);
	if (!tcp_txq_next(&c->fl->txq, rec))
		train = NULL;
	return send_data(tcp, c, m, &seg, ecn_kind(rec), rec->sum, train, now_ns);
}

/* *queued: its frame waits in net's queue, with the train's head. */
static int
send_rec(struct tcp *tcp, struct tcp_conn *c, struct tcp_txq_rec *rec, struct tcp_out_train *train, uint64_t now_ns,
	 bool *queued)
{
	struct rte_mbuf *m = tcp_txq_stamp(&tcp->txq_pool, rec);
	int err;

	if (!m) {
		tcp->n.tx_no_mbuf++;
		return -IW_E_NOMEM;
	}
	if (train->head.len && ecn_kind(rec) == TCP_ECN_NEW)
		err = put_next(tcp, train, m, rec->seq, rec->sum);
	else
		err = send_alone(tcp, c, rec, m, train, now_ns);
	/* What net lost is lost on the way; what it cannot take yet was not sent. */
	if (err == -IW_E_AGAIN)
		return err;
	*queued = err == 0 && train->head.len > 0;
	note_rec(tcp, c, rec, (rec->flags & TCP_REC_SENT) != 0, now_ns);
	return 0;
}

int
tcp_out_rec(struct tcp *tcp, struct tcp_conn *c, struct tcp_txq_rec *rec, struct tcp_out_train *train, uint64_t now_ns)
{
	bool queued;

	return send_rec(tcp, c, rec, train, now_ns, &queued);
}

/* Up to max records behind `first` go in its frame, which has room for so many mbufs.  These stay their own: each
 * record can be sent again alone.  Returns how many do. */
static uint32_t
send_along(struct tcp *tcp, struct tcp_conn *c, const struct tcp_txq_rec *first, uint32_t max, uint32_t mbufs,
	   const struct tcp_out_train *train, uint64_t now_ns)
{
	struct net_tso tso = {.mbufs = first->segs, .segsz = (uint16_t)first->len};
	uint32_t room = UINT16_MAX - rte_pktmbuf_pkt_len(first->m), n = 0;
	struct rte_mbuf **at = &tcp_txq_last_seg(first)->next;
	struct tcp_txq_rec *rec;

	while (n < max && tso.octets == n * first->len && (rec = c->fl->txq.unsent) && rec->len <= first->len &&
	       tso.octets + rec->len <= room && tso.mbufs + rec->segs <= mbufs &&
	       (*at = tcp_txq_stamp(&tcp->txq_pool, rec)) != NULL) {
		at = &tcp_txq_last_seg(rec)->next;
		n++;
		tso.mbufs += rec->segs;
		tso.octets += rec->len;
		note_rec(tcp, c, rec, false, now_ns);
	}
	if (n == 0)
		return 0;
	net_tx_grow(first->m, &train->head, &tso);
	tcp_hdr_set_cksum_at(first->m, train->head.len, (uint16_t)iw_cksum_fold_memory(train->pseudo));
	tcp->n.tx_segs += n;
	tcp->n.tx_tso++;
	return n;
}

int
tcp_out_run(struct tcp *tcp, struct tcp_conn *c, uint32_t n, struct tcp_out_train *train, uint64_t now_ns,
	    uint32_t *sent)
{
	uint32_t most = net_tso(tcp->net, &c->route);

	for (*sent = 0; *sent < n;) {
		struct tcp_txq_rec *rec = c->fl->txq.unsent;
		bool queued;
		int err = send_rec(tcp, c, rec, train, now_ns, &queued);

		if (err)
			return err;
		++*sent;
		if (most > 1 && queued && rec->len + GRAIN > c->emss)
			*sent += send_along(tcp, c, rec, n - *sent, most, train, now_ns);
	}
	return 0;
}

int
tcp_out_ack(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	struct rte_mbuf *m = empty_mbuf(tcp);
	struct tcp_seg seg = {0};

	if (!m)
		return -IW_E_NOMEM;
	fill(c, &seg, c->snd_nxt, TCP_ACK, now_ns);
	if (tcp_conn_has(c, TCP_CONN_SACK))
		seg.n_sack = (uint8_t)tcp_rxq_sack(&c->rxq, seg.sack, TCP_SACK_MAX - seg.has_ts);
	tcp->n.tx_acks++;
	send_control(tcp, c, m, &seg, 0, now_ns);
	return 0;
}

int
tcp_out_probe(struct tcp *tcp, struct tcp_conn *c, const struct tcp_txq_rec *rec, uint64_t now_ns)
{
	uint16_t sum;
	struct rte_mbuf *m = tcp_txq_slice(&tcp->txq_pool, rec, 0, 1, &sum);
	struct tcp_seg seg = {0};

	if (!m) {
		tcp->n.tx_no_mbuf++;
		return -IW_E_NOMEM;
	}
	fill(c, &seg, rec->seq, TCP_PSH | TCP_ACK, now_ns);
	tcp->n.tx_probes++;
	send_control(tcp, c, m, &seg, sum, now_ns);
	c->snd_nxt = iw_seq_max(c->snd_nxt, rec->seq + 1);
	return 0;
}

int
tcp_out_keepalive(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	struct rte_mbuf *m = empty_mbuf(tcp);
	struct tcp_seg seg = {0};

	if (!m)
		return -IW_E_NOMEM;
	fill(c, &seg, c->snd_una - 1, TCP_ACK, now_ns);
	tcp->n.tx_probes++;
	send_control(tcp, c, m, &seg, 0, now_ns);
	return 0;
}

/* SND.NXT, as far as the peer's window goes: behind it nobody listens (RFC 5961 §3.2: outside, silently dropped), and
 * an octet that was sent as a probe into a closed window was not taken. */
static uint32_t
rst_seq(const struct tcp_conn *c)
{
	return tcp_conn_synchronized(c) ? iw_seq_min(c->snd_nxt, c->snd_una + c->snd_wnd) : c->snd_nxt;
}

void
tcp_out_rst(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	struct rte_mbuf *m = empty_mbuf(tcp);
	struct tcp_seg seg = {0};

	if (!m)
		return;
	fill(c, &seg, rst_seq(c), TCP_RST | TCP_ACK, now_ns);
	seg.wnd = 0;
	tcp->n.tx_rst++;
	send_control(tcp, c, m, &seg, 0, now_ns);
}

void
tcp_out_seg(struct tcp *tcp, const struct iw_addr *local, const struct iw_addr *remote, const struct tcp_seg *seg,
	    uint64_t now_ns)
{
	struct net_route route;
	struct path path = {local, remote, &route,
			    seg->flags & TCP_SYN ? tcp_ecn_syn_mark(tcp, seg->flags) : TCP_ECN_NOT_ECT};
	struct rte_mbuf *m;

	if (net_route_from(tcp->net, local, remote, &route)) {
		tcp->n.tx_net_refused++;
		return;
	}
	m = empty_mbuf(tcp);
	if (m)
		put(tcp, &path, m, seg, 0, NULL, now_ns);
}

void
tcp_out_syn_ack(struct tcp *tcp, const struct iw_addr *local, const struct iw_addr *remote, const struct tcp_seg *syn,
		uint32_t iss, uint32_t tsval, uint64_t now_ns)
{
	struct tcp_seg seg = {.sport = local->port,
			      .dport = remote->port,
			      .flags = TCP_SYN | TCP_ACK,
			      .seq = iss,
			      .ack = syn->seq + 1,
			      .wnd = (uint16_t)tcp_out_first_window(tcp),
			      .has_mss = true,
			      .mss = tcp_out_own_mss(tcp, remote),
			      .has_ws = syn->has_ws,
			      .ws = tcp_out_wscale(tcp),
			      .sack_perm = syn->sack_perm,
			      .has_ts = syn->has_ts,
			      .tsval = tsval,
			      .tsecr = syn->tsval};

	if ((syn->flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR) && !tcp->params.no_ecn)
		seg.flags |= TCP_ECE; /* RFC 3168 §6.1.1 */
	tcp_out_seg(tcp, local, remote, &seg, now_ns);
}

void
tcp_out_bare_ack(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *ack, uint64_t now_ns)
{
	if (!tcp_limit_allows(&tcp->limit, tcp->env, &pkt->src, now_ns)) {
		tcp->n.answers_limited++;
		return;
	}
	tcp->n.tx_acks++;
	tcp_out_seg(tcp, &pkt->dst, &pkt->src, ack, now_ns);
}

void
tcp_out_rst_for(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *seg, uint64_t now_ns)
{
	struct tcp_seg rst = {.sport = seg->dport, .dport = seg->sport, .flags = TCP_RST};

	if (seg->flags & TCP_RST)
		return;
	if (seg->flags & TCP_ACK) {
		rst.seq = seg->ack;
	} else {
		rst.flags |= TCP_ACK;
		rst.ack = seg->seq + tcp_hdr_seg_len(seg);
	}
	tcp->n.tx_rst++;
	tcp_out_seg(tcp, &pkt->dst, &pkt->src, &rst, now_ns);
}

void
tcp_out_refuse(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *seg, uint64_t now_ns)
{
	if (tcp_limit_allows(&tcp->limit, tcp->env, &pkt->src, now_ns))
		tcp_out_rst_for(tcp, pkt, seg, now_ns);
	else
		tcp->n.answers_limited++;
}
