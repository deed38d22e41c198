/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of receive queues, and the pieces that a packet falls into when parts of it are held already.  tcp_rxq
 * alone calls these. */
#ifndef TCP_RXQ_PIECE_H
#define TCP_RXQ_PIECE_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "range.h"
#include "view.h"

struct tcp_rxq_node {
	struct tcp_rxq_node *next;
	struct iw_view v;
};

struct tcp_rxq_ooo;

/* Of one engine. */
struct tcp_rxq_pool {
	struct rte_mempool *data_pool; /* for copies */
	struct tcp_rxq_node *nodes, *free_node;
	struct tcp_rxq_ooo *ooos, *free_ooo;
	uint32_t nodes_used, max_nodes; /* one more exists: compaction's */
	uint32_t low;                   /* as few as that are left: they are short */
	bool pressed;                   /* octets came in order while they were, since tcp_rxq_is_short() */
	uint32_t ooos_used;
	uint32_t ooo_mbufs, max_ooo_mbufs;
	uint64_t compactions, compacted_mbufs; /* queues packed; mbufs freed by it */
};

/* The payload of a packet in sequence space, and the piece of it whose mbuf segments were taken over. */
struct tcp_rxq_packet {
	struct rte_mbuf *m;
	uint32_t off; /* of the octet with number seq, from the packet's first octet */
	uint32_t seq;
	struct iw_range taken; /* from == to: nothing yet */
};

struct tcp_rxq_piece {
	struct tcp_rxq_node *first, *last;
	uint32_t mbufs;
};

/* A node for the view; there must be one left. */
struct tcp_rxq_node *tcp_rxq_piece_node(struct tcp_rxq_pool *p, struct iw_view v);
/* Frees a node with its mbuf. */
void tcp_rxq_piece_free(struct tcp_rxq_pool *p, struct tcp_rxq_node *node);
/* Frees this node and all behind it; returns how many there were. */
uint32_t tcp_rxq_piece_free_all(struct tcp_rxq_pool *p, struct tcp_rxq_node *node);

/* How many mbufs (and nodes) tcp_rxq_piece_make() will hold for the octets *r. */
uint32_t tcp_rxq_piece_cost(const struct tcp_rxq_packet *pkt, const struct iw_range *r);
/* The octets *r of the packet as nodes: the first piece takes over the mbuf segments, further ones are copies, for a
 * received mbuf is never shared (design D19).  The nodes must be there.  mbufs is 0 when no mbuf is. */
struct tcp_rxq_piece tcp_rxq_piece_make(struct tcp_rxq_pool *p, struct tcp_rxq_packet *pkt, const struct iw_range *r);
/* Frees the segments of the packet that no node holds. */
void tcp_rxq_piece_drop_rest(const struct tcp_rxq_packet *pkt);

#endif
