/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rxq_piece.h"

#include <assert.h>

#include "len.h"

struct tcp_rxq_node *
tcp_rxq_piece_node(struct tcp_rxq_pool *p, struct iw_view v)
{
	struct tcp_rxq_node *node = p->free_node;

	assert(node);
	p->free_node = node->next;
	p->nodes_used++;
	*node = (struct tcp_rxq_node){.v = v};
	return node;
}

void
tcp_rxq_piece_free(struct tcp_rxq_pool *p, struct tcp_rxq_node *node)
{
	rte_pktmbuf_free_seg(node->v.m);
	node->next = p->free_node;
	p->free_node = node;
	p->nodes_used--;
}

uint32_t
tcp_rxq_piece_free_all(struct tcp_rxq_pool *p, struct tcp_rxq_node *node)
{
	uint32_t n = 0;

	for (; node; n++) {
		struct tcp_rxq_node *next = node->next;

		tcp_rxq_piece_free(p, node);
		node = next;
	}
	return n;
}

/* ---- pieces of a packet ---- */

/* The part of a segment, of which `before` octets of the packet lie in front, that lies in *r; len 0: none. */
static struct iw_view
part_of(const struct tcp_rxq_packet *pkt, struct rte_mbuf *s, uint32_t before, const struct iw_range *r)
{
	uint32_t from = pkt->off + (r->from - pkt->seq), to = pkt->off + (r->to - pkt->seq);
	uint32_t a = iw_len_max(from, before), b = iw_len_min(to, before + s->data_len);

	return (struct iw_view){.m = s, .off = a - before, .len = a < b ? b - a : 0};
}

static uint32_t
count_segments(const struct tcp_rxq_packet *pkt, const struct iw_range *r)
{
	uint32_t before = 0, n = 0;

	for (struct rte_mbuf *s = pkt->m; s; before += s->data_len, s = s->next)
		n += part_of(pkt, s, before, r).len > 0;
	return n;
}

static void
piece_add(struct tcp_rxq_piece *pc, struct tcp_rxq_node *node)
{
	if (pc->last)
		pc->last->next = node;
	else
		pc->first = node;
	pc->last = node;
	pc->mbufs++;
}

/* The segments themselves: once for each packet. */
static struct tcp_rxq_piece
take(struct tcp_rxq_pool *p, struct tcp_rxq_packet *pkt, const struct iw_range *r)
{
	struct tcp_rxq_piece pc = {0};
	uint32_t before = 0;

	for (struct rte_mbuf *s = pkt->m; s; before += s->data_len, s = s->next) {
		struct iw_view v = part_of(pkt, s, before, r);

		if (v.len > 0)
			piece_add(&pc, tcp_rxq_piece_node(p, v));
	}
	pkt->taken = *r;
	return pc;
}

/* A further piece: a received mbuf is never shared (design D19), so this one is a copy.  mbufs 0: no room. */
static struct tcp_rxq_piece
copy(struct tcp_rxq_pool *p, const struct tcp_rxq_packet *pkt, const struct iw_range *r)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->data_pool);
	uint32_t len = r->to - r->from, before = 0;
	struct tcp_rxq_piece pc = {0};

	if (!m)
		return pc;
	if (rte_pktmbuf_tailroom(m) < len) {
		rte_pktmbuf_free(m);
		return pc;
	}
	for (struct rte_mbuf *s = pkt->m; s; before += s->data_len, s = s->next) {
		struct iw_view v = part_of(pkt, s, before, r);

		if (v.len > 0)
			memcpy(rte_pktmbuf_append(m, (uint16_t)v.len), iw_view_data(&v), v.len);
	}
	piece_add(&pc, tcp_rxq_piece_node(p, (struct iw_view){.m = m, .len = len}));
	return pc;
}

void
tcp_rxq_piece_drop_rest(const struct tcp_rxq_packet *pkt)
{
	uint32_t before = 0;

	for (struct rte_mbuf *s = pkt->m, *next; s; s = next) {
		uint32_t len = s->data_len;
		bool held = pkt->taken.from != pkt->taken.to && part_of(pkt, s, before, &pkt->taken).len > 0;

		next = s->next;
		before += len;
		if (!held)
			rte_pktmbuf_free_seg(s);
	}
}

uint32_t
tcp_rxq_piece_cost(const struct tcp_rxq_packet *pkt, const struct iw_range *r)
{
	return pkt->taken.from == pkt->taken.to ? count_segments(pkt, r) : 1;
}

struct tcp_rxq_piece
tcp_rxq_piece_make(struct tcp_rxq_pool *p, struct tcp_rxq_packet *pkt, const struct iw_range *r)
{
	return pkt->taken.from == pkt->taken.to ? take(p, pkt, r) : copy(p, pkt, r);
}
