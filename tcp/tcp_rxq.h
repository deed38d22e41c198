/* SPDX-License-Identifier: BSD-3-Clause */
/* Received octets of one connection: in order, ready to be read, and out of order, waiting for a hole to fill.
 * Received mbufs are read-only (design D19): the queues are made of nodes, one for each mbuf segment.  Budgets count
 * mbufs (design D13).  What came first stays: overlapping octets that come later are cut off (spec T29). */
#ifndef TCP_RXQ_H
#define TCP_RXQ_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "range.h"
#include "tcp_rxq_piece.h"
#include "view.h"

#define TCP_RXQ_RUNS 64             /* islands of out-of-order octets in one connection */
#define TCP_RXQ_PROVEN (256u << 10) /* octets in order that open the other half of the out-of-order budget */

/* An island: [from, to) without a hole. */
struct tcp_rxq_run {
	uint32_t from, to;
	uint32_t touched; /* larger: more recently (RFC 2018 §4) */
	uint32_t mbufs;
	struct tcp_rxq_node *first, *last;
};

/* What a connection needs only while octets are out of order. */
struct tcp_rxq_ooo {
	struct tcp_rxq_ooo *next_free;
	uint32_t n, mbufs, clock;
	struct tcp_rxq_run run[TCP_RXQ_RUNS + 1]; /* sorted, a hole between each two; one more while joining */
};

/* Of one connection. */
struct tcp_rxq {
	struct tcp_rxq_node *head, *tail;
	struct tcp_rxq_node *packed; /* last node made by compaction, all before it are dense; NULL: none */
	uint32_t nxt;                /* of the first octet that is not in order yet */
	uint32_t octets, mbufs;      /* in order */
	struct iw_range dsack;       /* to be reported once (RFC 2883); from == to: none */
	uint32_t first;              /* nxt as it was at first */
	struct tcp_rxq_ooo *ooo;     /* NULL: nothing is out of order */
};

enum tcp_rxq_verdict {
	TCP_RXQ_IN_ORDER, /* nxt has advanced, no hole existed */
	TCP_RXQ_FILLED,   /* nxt has advanced, and a hole was filled or holes remain: ACK at once (RFC 5681 §4.2) */
	TCP_RXQ_OOO,      /* kept out of order: ACK at once */
	TCP_RXQ_DUP,      /* nothing new in it: ACK at once, D-SACK */
	TCP_RXQ_OUTSIDE,  /* wholly at or beyond the window's right edge */
	TCP_RXQ_NO_OOO,   /* out of order and over budget: dropped before it was SACKed */
	TCP_RXQ_NO_NODE   /* no node, or as many as it leaves to the others; no mbuf to compact: dropped */
};

struct tcp_rxq_added {
	enum tcp_rxq_verdict verdict;
	uint32_t advanced; /* how far nxt moved */
};

/* max_nodes: mbufs that can be held at once in all queues; max_ooo_mbufs of them out of order (less than
 * max_nodes); max_ooo_conns: connections that have something out of order at a time.  One connection may hold as many
 * out of order as remain free for all others, and half of the budget is for connections that have received
 * TCP_RXQ_PROVEN octets before: neither one nor a thousand take all of it (X2).  0, -IW_E_INVAL, -IW_E_NOMEM. */
int tcp_rxq_pool_init(struct tcp_rxq_pool *p, struct rte_mempool *data_pool, uint32_t max_nodes, uint32_t max_ooo_mbufs,
		      uint32_t max_ooo_conns);
void tcp_rxq_pool_fini(struct tcp_rxq_pool *p);

/* Few of the mbufs that can be held are left (p->low), and octets came in order meanwhile, since this was asked last.
 */
bool tcp_rxq_is_short(struct tcp_rxq_pool *p);

/* nxt: sequence number of the first octet to come. */
void tcp_rxq_init(struct tcp_rxq *q, uint32_t nxt);
/* Frees all that is held. */
void tcp_rxq_fini(struct tcp_rxq *q, struct tcp_rxq_pool *p);

/* Takes over the packet text->m (every segment of it, in every case).  text is its payload, not empty, which may go on
 * in further segments; its first octet has sequence number seq; octets at or behind `edge` are cut off. */
struct tcp_rxq_added tcp_rxq_add(struct tcp_rxq *q, struct tcp_rxq_pool *p, const struct iw_view *text, uint32_t seq,
				 uint32_t edge);

/* Up to max pieces of the in-order octets, from the first one; returns how many pieces. */
uint32_t tcp_rxq_peek(const struct tcp_rxq *q, struct iw_view *views, uint32_t max);

/* Copies what is in order together, as far as it was not: short segments that long ones behind them had made
 * acceptable.  Stops where there is no mbuf. */
void tcp_rxq_pack(struct tcp_rxq *q, struct tcp_rxq_pool *p);

/* Takes octets (<= q->octets) off the front and frees what is used up. */
void tcp_rxq_consume(struct tcp_rxq *q, struct tcp_rxq_pool *p, uint32_t octets);

/* The blocks for the next ACK: a D-SACK first (then forgotten), then islands, most recent first (RFC 2018 §4,
 * RFC 2883 §4).  max: 4, or 3 beside timestamps.  Returns how many. */
uint32_t tcp_rxq_sack(struct tcp_rxq *q, struct iw_range *blocks, uint32_t max);

/* A segment without a new octet came that never reached tcp_rxq_add(): report it as D-SACK. */
void tcp_rxq_note_dup(struct tcp_rxq *q, uint32_t from, uint32_t to);

/* ---- inline ---- */

/* Octets out of order are waiting. */
static inline bool
tcp_rxq_has_ooo(const struct tcp_rxq *q)
{
	return q->ooo != NULL;
}

/* In-order mbufs beyond which the queue is compacted (design D13). */
static inline uint32_t
tcp_rxq_mbuf_limit(uint32_t octets)
{
	return octets / 512 + 8;
}

#endif
