/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rxq.h"

#include <assert.h>
#include <iwarp/err.h>

#include "env.h"
#include "len.h"
#include "seq.h"
#include "tcp_face.h"

#define SHARE_LEAST 8 /* mbufs in order that each connection may hold */
#define LOW_PART 16   /* a sixteenth left: they are short */

/* ---- pools ---- */

/* A sixteenth, and no less than the longest FPDU takes: above it nobody who holds less than one is refused more.  Of
 * few mbufs half. */
static uint32_t
low_water(uint32_t max_nodes)
{
	return iw_len_min(iw_len_max(max_nodes / LOW_PART, tcp_rxq_mbuf_limit(TCP_PEEK_OCTETS)), max_nodes / 2);
}

int
tcp_rxq_pool_init(struct tcp_rxq_pool *p, struct rte_mempool *data_pool, uint32_t max_nodes, uint32_t max_ooo_mbufs,
		  uint32_t max_ooo_conns)
{
	*p = (struct tcp_rxq_pool){.data_pool = data_pool,
				   .max_nodes = max_nodes,
				   .low = low_water(max_nodes),
				   .max_ooo_mbufs = max_ooo_mbufs};
	if (max_ooo_mbufs >= max_nodes || max_nodes == UINT32_MAX)
		return -IW_E_INVAL;
	p->nodes = iw_env_alloc(((size_t)max_nodes + 1) * sizeof(*p->nodes));
	p->ooos = iw_env_alloc((size_t)max_ooo_conns * sizeof(*p->ooos));
	if (!p->nodes || !p->ooos) {
		tcp_rxq_pool_fini(p);
		return -IW_E_NOMEM;
	}
	for (uint32_t i = 0; i <= max_nodes; i++) {
		p->nodes[i].next = p->free_node;
		p->free_node = &p->nodes[i];
	}
	for (uint32_t i = 0; i < max_ooo_conns; i++) {
		p->ooos[i].next_free = p->free_ooo;
		p->free_ooo = &p->ooos[i];
	}
	return 0;
}

void
tcp_rxq_pool_fini(struct tcp_rxq_pool *p)
{
	assert(p->nodes_used == 0 && p->ooos_used == 0 && p->ooo_mbufs == 0);
	iw_env_free(p->nodes);
	iw_env_free(p->ooos);
	*p = (struct tcp_rxq_pool){0};
}

/* ---- in order ---- */

static bool
over_limit(const struct tcp_rxq *q)
{
	return q->mbufs > tcp_rxq_mbuf_limit(q->octets);
}

/* A fresh node behind q->packed (or in front of all); false: no node or mbuf. */
static bool
open_packed(struct tcp_rxq *q, struct tcp_rxq_pool *p)
{
	struct rte_mbuf *m = p->free_node ? rte_pktmbuf_alloc(p->data_pool) : NULL;
	struct tcp_rxq_node *node, **at = q->packed ? &q->packed->next : &q->head;

	if (!m)
		return false;
	if (rte_pktmbuf_tailroom(m) == 0) {
		rte_pktmbuf_free(m);
		return false;
	}
	node = tcp_rxq_piece_node(p, (struct iw_view){.m = m});
	node->next = *at;
	*at = node;
	q->packed = node;
	q->mbufs++;
	return true;
}

/* Copies what fits from the node behind q->packed; frees the node when all of it was copied. */
static void
pack_some(struct tcp_rxq *q, struct tcp_rxq_pool *p)
{
	struct tcp_rxq_node *dst = q->packed, *src = dst->next;
	uint32_t n = iw_len_min(src->v.len, rte_pktmbuf_tailroom(dst->v.m));

	memcpy(rte_pktmbuf_append(dst->v.m, (uint16_t)n), iw_view_data(&src->v), n);
	dst->v.len += n;
	iw_view_cut(&src->v, n);
	if (src->v.len > 0)
		return;
	dst->next = src->next;
	if (q->tail == src)
		q->tail = dst;
	q->mbufs--;
	tcp_rxq_piece_free(p, src);
}

/* Copies everything behind q->packed together; each octet is copied at most once in its life.  Ends: each turn
 * uses up a node or fills an mbuf. */
void
tcp_rxq_pack(struct tcp_rxq *q, struct tcp_rxq_pool *p)
{
	uint32_t before = q->mbufs;

	while (q->packed ? q->packed->next != NULL : q->head != NULL) {
		if ((!q->packed || rte_pktmbuf_tailroom(q->packed->v.m) == 0) && !open_packed(q, p))
			break;
		pack_some(q, p);
	}
	p->compactions++;
	p->compacted_mbufs += before > q->mbufs ? before - q->mbufs : 0;
}

static void
append(struct tcp_rxq *q, const struct tcp_rxq_piece *pc, uint32_t octets)
{
	if (q->tail)
		q->tail->next = pc->first;
	else
		q->head = pc->first;
	q->tail = pc->last;
	q->mbufs += pc->mbufs;
	q->octets += octets;
	q->nxt += octets;
}

/* ---- out of order ---- */

static struct tcp_rxq_ooo *
ooo_get(struct tcp_rxq *q, struct tcp_rxq_pool *p)
{
	if (!q->ooo && p->free_ooo) {
		q->ooo = p->free_ooo;
		p->free_ooo = q->ooo->next_free;
		p->ooos_used++;
		q->ooo->n = q->ooo->mbufs = q->ooo->clock = 0;
	}
	return q->ooo;
}

static void
ooo_put_if_empty(struct tcp_rxq *q, struct tcp_rxq_pool *p)
{
	if (!q->ooo || q->ooo->n > 0)
		return;
	assert(q->ooo->mbufs == 0);
	q->ooo->next_free = p->free_ooo;
	p->free_ooo = q->ooo;
	p->ooos_used--;
	q->ooo = NULL;
}

/* The first run that ends behind seq; n when there is none. */
static uint32_t
find_run(const struct tcp_rxq_ooo *o, uint32_t seq)
{
	uint32_t i = o->n;

	while (i > 0 && iw_seq_gt(o->run[i - 1].to, seq))
		i--;
	return i;
}

static void
run_remove(struct tcp_rxq_ooo *o, uint32_t i)
{
	o->n--;
	memmove(&o->run[i], &o->run[i + 1], (o->n - i) * sizeof(o->run[0]));
}

/* run[i + 1] goes behind run[i], with which it touches. */
static void
run_join(struct tcp_rxq_ooo *o, uint32_t i)
{
	struct tcp_rxq_run *a = &o->run[i], *b = &o->run[i + 1];

	a->last->next = b->first;
	a->last = b->last;
	a->to = b->to;
	a->mbufs += b->mbufs;
	a->touched = iw_len_max(a->touched, b->touched);
	run_remove(o, i + 1);
}

/* As run[i], joined with neighbours that it touches. */
static void
run_insert(struct tcp_rxq_ooo *o, uint32_t i, const struct iw_range *r, const struct tcp_rxq_piece *pc)
{
	memmove(&o->run[i + 1], &o->run[i], (o->n - i) * sizeof(o->run[0]));
	o->n++;
	o->run[i] = (struct tcp_rxq_run){.from = r->from,
					 .to = r->to,
					 .touched = ++o->clock,
					 .mbufs = pc->mbufs,
					 .first = pc->first,
					 .last = pc->last};
	if (i + 1 < o->n && o->run[i + 1].from == r->to)
		run_join(o, i);
	if (i > 0 && o->run[i - 1].to == r->from)
		run_join(o, i - 1);
}

/* The first run has become in order. */
static void
absorb(struct tcp_rxq *q, struct tcp_rxq_pool *p)
{
	struct tcp_rxq_run *run = &q->ooo->run[0];
	struct tcp_rxq_piece pc = {.first = run->first, .last = run->last, .mbufs = run->mbufs};

	assert(run->from == q->nxt);
	q->ooo->mbufs -= run->mbufs;
	p->ooo_mbufs -= run->mbufs;
	append(q, &pc, run->to - run->from);
	run_remove(q->ooo, 0);
}

/* What is left for this connection: half of the budget is for those that have received something, not for whoever has
 * only come to open holes (X2).  (Every 4 GiB one is new for a moment.) */
static uint32_t
ooo_left(const struct tcp_rxq *q, const struct tcp_rxq_pool *p)
{
	bool proven = q->nxt - q->first >= TCP_RXQ_PROVEN;
	uint32_t all = proven ? p->max_ooo_mbufs : (p->max_ooo_mbufs + 1) / 2;

	return all > p->ooo_mbufs ? all - p->ooo_mbufs : 0;
}

static bool
ooo_budget_allows(const struct tcp_rxq *q, const struct tcp_rxq_pool *p, uint32_t mbufs)
{
	uint32_t left = ooo_left(q, p), mine = q->ooo ? q->ooo->mbufs : 0;

	return mbufs <= left && mine < left;
}

/* [r] would join run[i - 1] or run[i]. */
static bool
touches(const struct tcp_rxq_ooo *o, uint32_t i, const struct iw_range *r)
{
	return (i > 0 && o->run[i - 1].to == r->from) || (i < o->n && o->run[i].from == r->to);
}

/* ---- adding ---- */

static uint32_t
nodes_left(const struct tcp_rxq_pool *p)
{
	return p->nodes_used < p->max_nodes ? p->max_nodes - p->nodes_used : 0;
}

/* In order, and not to be had again once it is acknowledged; dropped before, it comes again.  Who holds much (the
 * beginning of an FPDU that does not come to its end, what waits for a receive) leaves as much to all others; a few
 * everybody may have as long as there are any (X3). */
static bool
holds_its_share(const struct tcp_rxq *q, const struct tcp_rxq_pool *p)
{
	return q->mbufs > iw_len_max(nodes_left(p), SHARE_LEAST);
}

static enum tcp_rxq_verdict
add_in_order(struct tcp_rxq *q, struct tcp_rxq_pool *p, struct tcp_rxq_packet *pkt, const struct iw_range *r)
{
	bool first = pkt->taken.from == pkt->taken.to;
	struct tcp_rxq_piece pc;

	p->pressed = p->pressed || nodes_left(p) <= p->low;
	if ((first && (over_limit(q) || holds_its_share(q, p))) || tcp_rxq_piece_cost(pkt, r) > nodes_left(p))
		return TCP_RXQ_NO_NODE;
	pc = tcp_rxq_piece_make(p, pkt, r);
	if (pc.mbufs == 0)
		return TCP_RXQ_NO_NODE;
	append(q, &pc, r->to - r->from);
	if (q->ooo && q->ooo->n > 0 && q->ooo->run[0].from == q->nxt)
		absorb(q, p);
	return TCP_RXQ_IN_ORDER;
}

/* Before run[i] or between two runs. */
static enum tcp_rxq_verdict
add_ooo(struct tcp_rxq *q, struct tcp_rxq_pool *p, struct tcp_rxq_packet *pkt, const struct iw_range *r, uint32_t i)
{
	uint32_t mbufs = tcp_rxq_piece_cost(pkt, r);
	struct tcp_rxq_ooo *o;
	struct tcp_rxq_piece pc;

	if (!ooo_budget_allows(q, p, mbufs) || mbufs > nodes_left(p))
		return TCP_RXQ_NO_OOO;
	o = ooo_get(q, p);
	if (!o || (o->n == TCP_RXQ_RUNS && !touches(o, i, r)))
		return TCP_RXQ_NO_OOO;
	pc = tcp_rxq_piece_make(p, pkt, r);
	if (pc.mbufs == 0)
		return TCP_RXQ_NO_OOO;
	o->mbufs += pc.mbufs;
	p->ooo_mbufs += pc.mbufs;
	run_insert(o, i, r, &pc);
	return TCP_RXQ_OOO;
}

void
tcp_rxq_note_dup(struct tcp_rxq *q, uint32_t from, uint32_t to)
{
	q->dsack = (struct iw_range){.from = from, .to = to};
}

/* What the loop over one packet has found out so far. */
struct adding {
	enum tcp_rxq_verdict verdict; /* of the first piece that was not a duplicate; TCP_RXQ_DUP: none yet */
	bool dup;
};

/* Only the first duplicate part of a packet is reported (RFC 2883 §4.2). */
static void
found_dup(struct tcp_rxq *q, struct adding *a, uint32_t from, uint32_t to)
{
	if (!a->dup)
		tcp_rxq_note_dup(q, from, to);
	a->dup = true;
}

/* Deals with the octets from `at` up to the next border between held and new ones; returns that border, or `at` when
 * they had to be dropped. */
static uint32_t
add_next(struct tcp_rxq *q, struct tcp_rxq_pool *p, struct tcp_rxq_packet *pkt, uint32_t at, uint32_t end,
	 struct adding *a)
{
	uint32_t i = q->ooo ? find_run(q->ooo, at) : 0;
	struct tcp_rxq_run *run = q->ooo && i < q->ooo->n ? &q->ooo->run[i] : NULL;
	struct iw_range r = {.from = at, .to = run ? iw_seq_min(end, run->from) : end};
	enum tcp_rxq_verdict v;

	if (run && iw_seq_leq(run->from, at)) {
		r.to = iw_seq_min(end, run->to);
		run->touched = ++q->ooo->clock;
		found_dup(q, a, at, r.to);
		return r.to;
	}
	v = at == q->nxt ? add_in_order(q, p, pkt, &r) : add_ooo(q, p, pkt, &r, i);
	if (a->verdict == TCP_RXQ_DUP)
		a->verdict = v;
	return v == TCP_RXQ_IN_ORDER || v == TCP_RXQ_OOO ? r.to : at;
}

/* Every octet of [at, end) becomes part of a queue or is dropped.  Bounded: each turn passes a border of a run. */
static void
add_pieces(struct tcp_rxq *q, struct tcp_rxq_pool *p, struct tcp_rxq_packet *pkt, uint32_t at, uint32_t end,
	   struct adding *a)
{
	while (iw_seq_lt(at, end)) {
		uint32_t next;

		if (iw_seq_lt(at, q->nxt)) { /* before it, or in the run that was absorbed just now */
			next = iw_seq_min(end, q->nxt);
			found_dup(q, a, at, next);
		} else {
			next = add_next(q, p, pkt, at, end, a);
		}
		if (next == at)
			break;
		at = next;
	}
}

/* The next octets in one mbuf, and nothing out of order: nearly every segment. */
static bool
is_plain(const struct tcp_rxq *q, const struct tcp_rxq_pool *p, const struct iw_view *text, uint32_t seq, uint32_t edge)
{
	return seq == q->nxt && iw_seq_leq(seq + text->len, edge) && !q->ooo && !text->m->next && !over_limit(q) &&
	       !holds_its_share(q, p) && nodes_left(p) > p->low;
}

static struct tcp_rxq_added
add_plain(struct tcp_rxq *q, struct tcp_rxq_pool *p, const struct iw_view *text)
{
	struct tcp_rxq_node *node = tcp_rxq_piece_node(p, *text);
	struct tcp_rxq_piece pc = {.first = node, .last = node, .mbufs = 1};

	append(q, &pc, text->len);
	if (over_limit(q))
		tcp_rxq_pack(q, p);
	return (struct tcp_rxq_added){.verdict = TCP_RXQ_IN_ORDER, .advanced = text->len};
}

struct tcp_rxq_added
tcp_rxq_add(struct tcp_rxq *q, struct tcp_rxq_pool *p, const struct iw_view *text, uint32_t seq, uint32_t edge)
{
	struct tcp_rxq_packet pkt = {.m = text->m, .off = text->off, .seq = seq};
	uint32_t nxt = q->nxt, len = text->len, end = iw_seq_min(seq + len, edge);
	struct adding a = {.verdict = TCP_RXQ_DUP};
	bool holes = q->ooo != NULL;

	assert(len > 0 && iw_len_fits(text->off, len, rte_pktmbuf_pkt_len(text->m)));
	if (is_plain(q, p, text, seq, edge))
		return add_plain(q, p, text);
	if (over_limit(q))
		tcp_rxq_pack(q, p); /* it had failed */
	if (iw_seq_leq(seq + len, nxt)) {
		end = seq + len; /* a duplicate, wherever the edge is */
	} else if (iw_seq_geq(seq, edge)) {
		a.verdict = TCP_RXQ_OUTSIDE;
		end = seq;
	}
	add_pieces(q, p, &pkt, seq, end, &a);
	tcp_rxq_piece_drop_rest(&pkt);
	ooo_put_if_empty(q, p);
	if (over_limit(q))
		tcp_rxq_pack(q, p);
	if (a.verdict == TCP_RXQ_IN_ORDER && holes)
		a.verdict = TCP_RXQ_FILLED;
	return (struct tcp_rxq_added){.verdict = a.verdict, .advanced = q->nxt - nxt};
}

bool
tcp_rxq_is_short(struct tcp_rxq_pool *p)
{
	if (!p->pressed)
		return false;
	p->pressed = false;
	return nodes_left(p) <= p->low;
}

/* ---- the rest of the life ---- */

void
tcp_rxq_init(struct tcp_rxq *q, uint32_t nxt)
{
	*q = (struct tcp_rxq){.nxt = nxt, .first = nxt};
}

void
tcp_rxq_fini(struct tcp_rxq *q, struct tcp_rxq_pool *p)
{
	tcp_rxq_piece_free_all(p, q->head);
	while (q->ooo && q->ooo->n > 0) {
		uint32_t n = tcp_rxq_piece_free_all(p, q->ooo->run[q->ooo->n - 1].first);

		assert(n == q->ooo->run[q->ooo->n - 1].mbufs);
		q->ooo->mbufs -= n;
		p->ooo_mbufs -= n;
		q->ooo->n--;
	}
	ooo_put_if_empty(q, p);
	tcp_rxq_init(q, q->nxt);
}

uint32_t
tcp_rxq_peek(const struct tcp_rxq *q, struct iw_view *views, uint32_t max)
{
	uint32_t n = 0;

	for (const struct tcp_rxq_node *node = q->head; node && n < max; node = node->next)
		views[n++] = node->v;
	return n;
}

void
tcp_rxq_consume(struct tcp_rxq *q, struct tcp_rxq_pool *p, uint32_t octets)
{
	assert(octets <= q->octets);
	q->octets -= octets;
	while (octets > 0) {
		struct tcp_rxq_node *node = q->head;

		assert(node != NULL);
		if (octets < node->v.len) {
			iw_view_cut(&node->v, octets);
			break;
		}
		octets -= node->v.len;
		q->head = node->next;
		if (!q->head)
			q->tail = NULL;
		if (q->packed == node)
			q->packed = NULL;
		q->mbufs--;
		tcp_rxq_piece_free(p, node);
	}
	/* What is left may be small segments that only the large ones before them had made acceptable. */
	if (over_limit(q))
		tcp_rxq_pack(q, p);
}

/* The run touched most recently before `than`; NULL: none. */
static const struct tcp_rxq_run *
next_recent(const struct tcp_rxq_ooo *o, uint32_t than)
{
	const struct tcp_rxq_run *best = NULL;

	for (uint32_t i = 0; i < o->n; i++)
		if (o->run[i].touched < than && (!best || o->run[i].touched > best->touched))
			best = &o->run[i];
	return best;
}

uint32_t
tcp_rxq_sack(struct tcp_rxq *q, struct iw_range *blocks, uint32_t max)
{
	uint32_t n = 0, than = UINT32_MAX;

	if (q->dsack.from != q->dsack.to && max > 0)
		blocks[n++] = q->dsack;
	q->dsack = (struct iw_range){0};
	while (q->ooo && n < max) {
		const struct tcp_rxq_run *run = next_recent(q->ooo, than);

		if (!run)
			break;
		blocks[n++] = (struct iw_range){.from = run->from, .to = run->to};
		than = run->touched;
	}
	return n;
}
