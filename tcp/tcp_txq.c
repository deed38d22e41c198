/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_txq.h"

#include <assert.h>
#include <iwarp/err.h>
#include <rte_prefetch.h>
#include <string.h>

#include "env.h"
#include "len.h"
#include "seq.h"
#include "sum.h"

#define CTL_SLICE_MAX 64 /* larger slices come from the data pool */
#define LOST_WALK_MAX 64
#define ACKED_AHEAD 8 /* records */

static uint16_t
sum_of(const struct tcp_txq_pool *p, const uint8_t *at, uint32_t len)
{
	return p->no_sums ? 0 : iw_sum_fold(iw_sum(at, len));
}

/* ---- records ---- */

int
tcp_txq_pool_init(struct tcp_txq_pool *p, struct rte_mempool *data_pool, struct rte_mempool *ctl_pool, uint32_t max)
{
	*p = (struct tcp_txq_pool){.data_pool = data_pool, .ctl_pool = ctl_pool, .max = max};
	if (max == 0)
		return -IW_E_INVAL;
	iw_list_init(&p->free);
	p->recs = iw_env_alloc((size_t)max * sizeof(*p->recs));
	return p->recs ? 0 : -IW_E_NOMEM;
}

void
tcp_txq_pool_fini(struct tcp_txq_pool *p)
{
	assert(p->used == 0);
	iw_env_free(p->recs);
	*p = (struct tcp_txq_pool){0};
}

static struct tcp_txq_rec *
rec_get(struct tcp_txq_pool *p)
{
	struct iw_link *l = iw_list_pop(&p->free);
	struct tcp_txq_rec *rec;

	if (!l && p->fresh == p->max)
		return NULL;
	rec = l ? tcp_txq_of_order(l) : &p->recs[p->fresh++];
	*rec = (struct tcp_txq_rec){0};
	p->used++;
	return rec;
}

/* Its mbufs, and those alone: they may stand in the chain of a frame that the port cut up, or still has. */
static void
free_segs(const struct tcp_txq_rec *rec)
{
	struct rte_mbuf *m = rec->m, *next = m ? m->next : NULL;

	if (m)
		rte_pktmbuf_free_seg(m);
	for (uint32_t i = 1; i < rec->segs; i++) {
		m = next;
		next = m->next;
		rte_pktmbuf_free_seg(m);
	}
}

/* In no list any more. */
static void
rec_put(struct tcp_txq_pool *p, struct tcp_txq_rec *rec)
{
	free_segs(rec);
	rec->m = NULL;
	iw_list_push(&p->free, &rec->order); /* the next one to be used: it is in the cache */
	p->used--;
}

static void
insert_before(struct iw_link *at, struct iw_link *n)
{
	n->next = at;
	n->prev = at->prev;
	at->prev->next = n;
	at->prev = n;
}

static const uint8_t *
payload(const struct tcp_txq_rec *rec)
{
	return (const uint8_t *)rec->m->buf_addr + rec->off;
}

/* ---- queue ---- */

void
tcp_txq_init(struct tcp_txq *q, uint32_t seq)
{
	*q = (struct tcp_txq){.una = seq, .nxt = seq, .end = seq, .fack = seq};
	iw_list_init(&q->order);
	iw_list_init(&q->flight);
	iw_list_init(&q->lost);
}

void
tcp_txq_fini(struct tcp_txq *q, struct tcp_txq_pool *p)
{
	struct iw_link *l;

	while ((l = iw_list_pop(&q->order)) != NULL)
		rec_put(p, tcp_txq_of_order(l));
	tcp_txq_init(q, q->una);
}

static struct tcp_txq_rec *
append(struct tcp_txq *q, struct tcp_txq_pool *p, uint32_t len)
{
	struct tcp_txq_rec *rec = rec_get(p);

	if (!rec)
		return NULL;
	rec->seq = q->end;
	rec->len = len;
	q->end += len;
	q->recs++;
	iw_list_add(&q->order, &rec->order);
	if (!q->unsent)
		q->unsent = rec;
	return rec;
}

uint16_t
tcp_txq_sum(const struct tcp_txq_pool *p, const struct rte_mbuf *m)
{
	return sum_of(p, rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m));
}

struct tcp_txq_rec *
tcp_txq_append(struct tcp_txq *q, struct tcp_txq_pool *p, struct rte_mbuf *m, uint16_t sum)
{
	struct tcp_txq_rec *rec;

	assert(m->nb_segs <= TCP_TXQ_SEGS && rte_pktmbuf_data_len(m) > 0);
	rec = append(q, p, rte_pktmbuf_pkt_len(m));
	if (!rec)
		return NULL;
	rec->m = m;
	rec->segs = (uint8_t)m->nb_segs;
	rec->off = m->data_off;
	rec->sum = sum;
	return rec;
}

struct tcp_txq_rec *
tcp_txq_append_ctl(struct tcp_txq *q, struct tcp_txq_pool *p, uint8_t flag)
{
	struct tcp_txq_rec *rec = append(q, p, 1);

	assert(flag == TCP_REC_SYN || flag == TCP_REC_FIN);
	if (rec)
		rec->flags = flag;
	return rec;
}

/* ---- mbufs ---- */

/* Octets of the payload in the first mbuf, whatever headers stand in front of them; the others never change. */
static uint32_t
first_len(const struct tcp_txq_rec *rec)
{
	const struct rte_mbuf *m = rec->m;
	uint32_t len = rec->len;

	for (uint32_t i = 1; i < rec->segs; i++) {
		m = m->next;
		len -= m->data_len;
	}
	return len;
}

/* Octets [off, off + len) of the payload. */
static void
gather(const struct tcp_txq_rec *rec, uint32_t off, uint32_t len, uint8_t *to)
{
	const struct rte_mbuf *m = rec->m;

	for (uint32_t i = 0; len > 0; i++, m = m->next) {
		const uint8_t *from = i ? rte_pktmbuf_mtod(m, const uint8_t *) : payload(rec);
		uint32_t n = i ? m->data_len : first_len(rec);
		uint32_t part = n > off ? iw_len_min(n - off, len) : 0;

		if (part > 0)
			memcpy(to, from + off, part);
		to += part;
		len -= part;
		off = off > n ? off - n : 0;
	}
}

/* Octets [off, off + len) of the payload in an mbuf of their own. */
static struct rte_mbuf *
copy_of(struct rte_mempool *pool, const struct tcp_txq_rec *rec, uint32_t off, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (!m)
		return NULL;
	if (rte_pktmbuf_tailroom(m) < len) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	gather(rec, off, len, (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len));
	return m;
}

/* Its payload in an mbuf that nobody else has; of the reserve if it came from there (a start-up frame, a Terminate:
 * T36). False: there is none. */
static bool
replace(struct tcp_txq_pool *p, struct tcp_txq_rec *rec)
{
	struct rte_mbuf *m = copy_of(rec->m->pool == p->ctl_pool ? p->ctl_pool : p->data_pool, rec, 0, rec->len);

	if (!m)
		return false;
	p->copies++;
	free_segs(rec);
	rec->m = m;
	rec->segs = 1;
	rec->off = m->data_off;
	return true;
}

static bool
is_shared(const struct tcp_txq_rec *rec)
{
	const struct rte_mbuf *m = rec->m;

	for (uint32_t i = 1; i < rec->segs && rte_mbuf_refcnt_read(m) == 1; i++)
		m = m->next;
	return rte_mbuf_refcnt_read(m) > 1;
}

/* Only ours: as they were when they were appended, whatever headers and drivers did to them. */
static void
reset_mbufs(const struct tcp_txq_rec *rec)
{
	struct rte_mbuf *m = rec->m;

	m->data_off = rec->off;
	m->data_len = (uint16_t)first_len(rec);
	m->pkt_len = rec->len;
	m->nb_segs = rec->segs;
	tcp_txq_last_seg(rec)->next = NULL;
	m->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	m->tx_offload = 0;
}

struct rte_mbuf *
tcp_txq_stamp(struct tcp_txq_pool *p, struct tcp_txq_rec *rec)
{
	struct rte_mbuf *m = rec->m;

	if (!m)
		return rte_pktmbuf_alloc(p->ctl_pool);
	if (!is_shared(rec))
		reset_mbufs(rec);
	else if (!replace(p, rec))
		return NULL;
	m = rec->m;
	rte_mbuf_refcnt_update(m, 1);
	for (uint32_t i = 1; i < rec->segs; i++) {
		m = m->next;
		rte_mbuf_refcnt_update(m, 1);
	}
	return rec->m;
}

struct rte_mbuf *
tcp_txq_slice(struct tcp_txq_pool *p, const struct tcp_txq_rec *rec, uint32_t off, uint32_t len, uint16_t *sum)
{
	struct rte_mbuf *m;

	assert(rec->m && off <= rec->len && len <= rec->len - off);
	m = copy_of(len <= CTL_SLICE_MAX ? p->ctl_pool : p->data_pool, rec, off, len);
	*sum = m ? tcp_txq_sum(p, m) : 0;
	return m;
}

/* ---- split ---- */

static void
count_flags(struct tcp_txq *q, uint8_t flags)
{
	q->recs++;
	q->sent_recs += (flags & TCP_REC_SENT) != 0;
	q->sacked_recs += (flags & TCP_REC_SACKED) != 0;
	q->lost_recs += (flags & TCP_REC_LOST) != 0;
	q->retrans_recs += (flags & TCP_REC_RETRANS) != 0;
}

int
tcp_txq_split(struct tcp_txq *q, struct tcp_txq_pool *p, struct tcp_txq_rec *rec, uint32_t octets)
{
	struct tcp_txq_rec *rest;
	struct rte_mbuf *m;

	assert(rec->m && octets > 0 && octets < rec->len);
	if (rec->segs > 1 && !replace(p, rec))
		return -IW_E_NOMEM;
	m = copy_of(p->data_pool, rec, octets, rec->len - octets);
	rest = m ? rec_get(p) : NULL;
	if (!rest) {
		rte_pktmbuf_free(m);
		return -IW_E_NOMEM;
	}
	*rest = (struct tcp_txq_rec){.m = m,
				     .segs = 1,
				     .off = m->data_off,
				     .seq = rec->seq + octets,
				     .len = rec->len - octets,
				     .first_ns = rec->first_ns,
				     .last_ns = rec->last_ns,
				     .rexmits = rec->rexmits,
				     .flags = rec->flags};
	rest->sum = sum_of(p, payload(rest), rest->len);
	rec->len = octets;
	rec->sum = sum_of(p, payload(rec), octets);
	insert_before(rec->order.next, &rest->order);
	if (iw_list_linked(&rec->when))
		insert_before(rec->when.next, &rest->when);
	count_flags(q, rest->flags);
	p->copies++;
	return 0;
}

/* ---- what became of it ---- */

void
tcp_txq_sent(struct tcp_txq *q, struct tcp_txq_rec *rec, uint64_t now_ns)
{
	assert(!(rec->flags & TCP_REC_SACKED));
	if (!(rec->flags & TCP_REC_SENT)) {
		assert(rec == q->unsent);
		q->unsent = tcp_txq_next(q, rec);
		q->nxt = tcp_txq_rec_end(rec);
		q->sent_recs++;
		rec->flags |= TCP_REC_SENT;
		rec->first_ns = now_ns;
	} else {
		rec->rexmits += rec->rexmits < UINT16_MAX;
		if (!(rec->flags & TCP_REC_RETRANS)) {
			rec->flags |= TCP_REC_RETRANS;
			q->retrans += rec->len;
			q->retrans_recs++;
		}
	}
	rec->last_ns = now_ns;
	iw_list_del(&rec->when);
	iw_list_add(&q->flight, &rec->when);
}

static void
forget_retrans(struct tcp_txq *q, struct tcp_txq_rec *rec)
{
	if (!(rec->flags & TCP_REC_RETRANS))
		return;
	rec->flags &= (uint8_t)~TCP_REC_RETRANS;
	q->retrans -= rec->len;
	q->retrans_recs--;
}

static void
forget_lost(struct tcp_txq *q, struct tcp_txq_rec *rec)
{
	if (!(rec->flags & TCP_REC_LOST))
		return;
	rec->flags &= (uint8_t)~TCP_REC_LOST;
	q->lost_octets -= rec->len;
	q->lost_recs--;
}

static void
forget_sacked(struct tcp_txq *q, struct tcp_txq_rec *rec)
{
	if (!(rec->flags & TCP_REC_SACKED))
		return;
	rec->flags &= (uint8_t)~TCP_REC_SACKED;
	q->sacked -= rec->len;
	q->sacked_recs--;
}

/* RFC 8985 §6.2, steps 2 and 3, and Karn's rule, for one record that has just been found delivered. */
static void
note_delivery(struct tcp_txq *q, const struct tcp_txq_rec *rec, struct tcp_txq_delta *d)
{
	uint32_t end = tcp_txq_rec_end(rec);
	bool rexmit = rec->rexmits > 0;

	d->delivered += rec->len;
	d->rexmit_acked |= rexmit;
	if (!rexmit && (!d->has_rtt || rec->last_ns > d->rtt_sent_ns)) {
		d->has_rtt = true;
		d->rtt_sent_ns = rec->last_ns;
	}
	if (iw_seq_gt(end, q->fack))
		q->fack = end;
	else if (end != q->fack && !rexmit)
		d->reordered = true;
	if (rexmit && rec->last_ns > d->rexmit_limit_ns)
		return;
	if (!d->has_rack || rec->last_ns > d->rack_ns || (rec->last_ns == d->rack_ns && iw_seq_gt(end, d->rack_end))) {
		d->has_rack = true;
		d->rack_rexmit = rexmit;
		d->rack_ns = rec->last_ns;
		d->rack_end = end;
	}
}

static void
free_acked(struct tcp_txq *q, struct tcp_txq_pool *p, struct tcp_txq_rec *rec, struct tcp_txq_delta *d)
{
	assert(rec->flags & TCP_REC_SENT);
	if (!(rec->flags & TCP_REC_SACKED)) {
		note_delivery(q, rec, d);
		d->never_rexmit_acked |= rec->rexmits == 0;
	}
	forget_retrans(q, rec);
	forget_lost(q, rec);
	forget_sacked(q, rec);
	if (q->hint == rec)
		q->hint = NULL;
	iw_list_del(&rec->when);
	iw_list_del(&rec->order);
	q->recs--;
	q->sent_recs--;
	d->freed_recs++;
	rec_put(p, rec);
}

/* What counts the references to its mbuf is where the driver let go of it: maybe on another core.  Returns the next one
 * to be fetched. */
static const struct tcp_txq_rec *
fetch(const struct tcp_txq *q, const struct tcp_txq_rec *rec, uint32_t ack)
{
	if (!rec || iw_seq_gt(tcp_txq_rec_end(rec), ack))
		return NULL;
	rte_prefetch0(rec->m);
	return tcp_txq_next(q, rec);
}

void
tcp_txq_ack(struct tcp_txq *q, struct tcp_txq_pool *p, uint32_t ack, struct tcp_txq_delta *delta)
{
	const struct tcp_txq_rec *ahead = tcp_txq_first(q);
	struct tcp_txq_rec *rec;

	assert(iw_seq_leq(q->una, ack) && iw_seq_leq(ack, q->nxt));
	for (int i = 0; i < ACKED_AHEAD; i++)
		ahead = fetch(q, ahead, ack);
	while ((rec = tcp_txq_first(q)) != NULL && iw_seq_leq(tcp_txq_rec_end(rec), ack)) {
		ahead = fetch(q, ahead, ack);
		free_acked(q, p, rec, delta);
	}
	delta->acked += ack - q->una;
	q->una = ack;
}

void
tcp_txq_mark_sacked(struct tcp_txq *q, struct tcp_txq_rec *rec, struct tcp_txq_delta *delta)
{
	assert(rec->flags & TCP_REC_SENT);
	if (rec->flags & TCP_REC_SACKED)
		return;
	note_delivery(q, rec, delta);
	forget_retrans(q, rec);
	forget_lost(q, rec);
	iw_list_del(&rec->when);
	rec->flags |= TCP_REC_SACKED;
	q->sacked += rec->len;
	q->sacked_recs++;
	delta->sacked += rec->len;
}

/* The lost list is sorted by sequence number; records are nearly always found lost in that order.  What comes far
 * out of order stands a little late. */
static void
file_lost(struct tcp_txq *q, struct tcp_txq_rec *rec)
{
	struct iw_link *at = q->lost.head.prev;
	struct tcp_txq_rec *first = tcp_txq_lost_first(q);

	if (first && iw_seq_lt(rec->seq, first->seq)) {
		insert_before(&first->when, &rec->when);
		return;
	}
	for (uint32_t i = 0; i < LOST_WALK_MAX && at != &q->lost.head; i++, at = at->prev)
		if (iw_seq_lt(tcp_txq_of_when(at)->seq, rec->seq))
			break;
	insert_before(at->next, &rec->when);
}

static bool
waits_as_lost(const struct tcp_txq_rec *rec)
{
	return (rec->flags & (TCP_REC_LOST | TCP_REC_RETRANS)) == TCP_REC_LOST;
}

/* Returns the octets newly lost. */
static uint32_t
set_lost(struct tcp_txq *q, struct tcp_txq_rec *rec)
{
	forget_retrans(q, rec);
	iw_list_del(&rec->when);
	if (rec->flags & TCP_REC_LOST)
		return 0;
	rec->flags |= TCP_REC_LOST;
	q->lost_octets += rec->len;
	q->lost_recs++;
	return rec->len;
}

void
tcp_txq_mark_lost(struct tcp_txq *q, struct tcp_txq_rec *rec)
{
	assert(rec->flags & TCP_REC_SENT);
	if (rec->flags & TCP_REC_SACKED || waits_as_lost(rec))
		return;
	set_lost(q, rec);
	file_lost(q, rec);
}

uint32_t
tcp_txq_mark_all_lost(struct tcp_txq *q, bool forget_what_was_sacked)
{
	uint32_t newly = 0;

	for (struct tcp_txq_rec *rec = tcp_txq_first(q); rec && rec != q->unsent; rec = tcp_txq_next(q, rec)) {
		if (forget_what_was_sacked)
			forget_sacked(q, rec);
		if (rec->flags & TCP_REC_SACKED)
			continue;
		newly += set_lost(q, rec);
		iw_list_add(&q->lost, &rec->when);
	}
	return newly;
}

void
tcp_txq_undo_lost(struct tcp_txq *q)
{
	struct iw_link *at = q->flight.head.next, *l;
	uint64_t before_ns = 0;

	while ((l = iw_list_pop(&q->lost)) != NULL) {
		struct tcp_txq_rec *rec = tcp_txq_of_when(l);

		forget_lost(q, rec);
		if (rec->last_ns < before_ns)
			at = q->flight.head.next;
		while (at != &q->flight.head && tcp_txq_of_when(at)->last_ns <= rec->last_ns)
			at = at->next;
		insert_before(at, &rec->when);
		before_ns = rec->last_ns;
	}
}
