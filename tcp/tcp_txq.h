/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmit records (design D21): one segment each, kept until it is wholly acknowledged.  Knows no work request, no
 * window and no clock.  All records of a connection stand in order of sequence numbers; besides, each one that is in
 * flight stands in the flight list in order of its last transmission (RFC 8985 §7.2), each one that is lost and not
 * yet sent again in the lost list in order of sequence numbers. */
#ifndef TCP_TXQ_H
#define TCP_TXQ_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "list.h"

enum tcp_txq_flag {
	TCP_REC_SENT = 1 << 0, /* at least once */
	TCP_REC_SACKED = 1 << 1,
	TCP_REC_LOST = 1 << 2,    /* judged lost; it stays while it is sent again */
	TCP_REC_RETRANS = 1 << 3, /* a retransmission is in flight (with LOST: only that) */
	TCP_REC_SYN = 1 << 4,     /* one sequence number, no mbuf */
	TCP_REC_FIN = 1 << 5      /* likewise: a FIN always goes alone */
};

struct tcp_txq_rec {
	struct iw_link order;       /* by sequence number; or free list */
	struct iw_link when;        /* flight list or lost list */
	struct rte_mbuf *m;         /* one reference of each is ours; NULL: SYN, FIN */
	uint64_t first_ns, last_ns; /* first and latest transmission; SENT only */
	uint32_t seq, len;          /* len: sequence numbers it takes */
	uint16_t off;               /* data_off of the payload's first octet, whatever the header did to the mbuf */
	uint16_t sum;               /* of the payload: folded, not complemented, memory order */
	uint16_t rexmits;           /* transmissions after the first one; stops at UINT16_MAX */
	uint8_t flags;
	uint8_t segs; /* mbufs that the payload lies in: m and those behind it */
};

/* Of one engine. */
struct tcp_txq_pool {
	struct rte_mempool *data_pool, *ctl_pool;
	struct tcp_txq_rec *recs;
	struct iw_list free;
	uint32_t fresh; /* records from here on were never used */
	uint32_t used, max;
	bool no_sums;    /* the port makes checksums: payloads are not summed, rec.sum stays 0 */
	uint64_t copies; /* payloads copied because their mbuf was still shared, or re-cut */
};

/* Of one connection. */
struct tcp_txq {
	struct iw_list order, flight, lost;
	struct tcp_txq_rec *unsent; /* first one that was never sent; NULL: none */
	struct tcp_txq_rec *hint;   /* where the last SACK block ended; NULL: nowhere */
	uint32_t una;               /* oldest octet not acknowledged: may lie inside the first record */
	uint32_t nxt;               /* behind the last record that was sent */
	uint32_t end;               /* behind the last record */
	uint32_t fack;              /* RACK.fack: highest end that was acknowledged or SACKed */
	uint32_t recs, sent_recs;
	uint32_t sacked, lost_octets, retrans; /* octets in records with that flag */
	uint32_t sacked_recs, lost_recs, retrans_recs;
};

/* What one ACK told, summed over its cumulative and its selective part.  Zero it, set rexmit_limit_ns, pass it to
 * tcp_txq_ack() and tcp_sack_rx(). */
struct tcp_txq_delta {
	/* in: a retransmitted record counts for RACK only when it was sent at or before this: the least of now minus
	 * the minimum RTT and the time that TSecr tells (RFC 8985 §6.2 step 2) */
	uint64_t rexmit_limit_ns;
	/* out */
	uint32_t acked;     /* octets by which una moved */
	uint32_t sacked;    /* octets newly SACKed */
	uint32_t delivered; /* octets in records that were not SACKed before and are now acked or SACKed */
	uint32_t freed_recs;
	bool has_rack; /* newest of the records newly acked or SACKed, by (sent, end) */
	bool has_rtt;
	bool rexmit_acked;       /* some record among them had been retransmitted */
	bool never_rexmit_acked; /* some record newly *cumulatively* acked was never retransmitted nor SACKed before */
	bool reordered;          /* RFC 8985 §6.2 step 3: one below fack arrived, never retransmitted */
	bool rack_rexmit;        /* the newest one had been retransmitted */
	uint32_t rack_end;
	uint64_t rack_ns;     /* its latest transmission */
	uint64_t rtt_sent_ns; /* latest transmission of one never retransmitted: an RTT sample by Karn's rule */
};

/* max: records of all connections.  0, -IW_E_INVAL, -IW_E_NOMEM. */
int tcp_txq_pool_init(struct tcp_txq_pool *p, struct rte_mempool *data_pool, struct rte_mempool *ctl_pool,
		      uint32_t max);
void tcp_txq_pool_fini(struct tcp_txq_pool *p);

/* seq: of the first record (the ISS when SYN is kept as a record, else behind it). */
void tcp_txq_init(struct tcp_txq *q, uint32_t seq);
/* Frees all records. */
void tcp_txq_fini(struct tcp_txq *q, struct tcp_txq_pool *p);

/* What a record keeps as the sum of m's octets; 0 with no_sums. */
uint16_t tcp_txq_sum(const struct tcp_txq_pool *p, const struct rte_mbuf *m);

/* Takes over m (not empty, at most 65535 octets and TCP_TXQ_SEGS mbufs; headers go in front of the first one) as the
 * next record; sum: of its octets, as tcp_txq_sum() says it.  NULL: no record is left; m stays the caller's. */
#define TCP_TXQ_SEGS 8
struct tcp_txq_rec *tcp_txq_append(struct tcp_txq *q, struct tcp_txq_pool *p, struct rte_mbuf *m, uint16_t sum);
/* A record for SYN or FIN (flag: TCP_REC_SYN or TCP_REC_FIN).  NULL: no record is left. */
struct tcp_txq_rec *tcp_txq_append_ctl(struct tcp_txq *q, struct tcp_txq_pool *p, uint8_t flag);

/* A packet to be stamped and sent: a reference for the caller to each of its mbufs, its data exactly the payload,
 * header room in front, no offload flags.  For SYN and FIN an empty one from ctl_pool.  Where only the record holds its
 * mbufs it is those, else a copy in one mbuf that takes their place (design D20).  NULL: no mbuf; nothing has changed.
 */
struct rte_mbuf *tcp_txq_stamp(struct tcp_txq_pool *p, struct tcp_txq_rec *rec);

/* A copy of octets [off, off + len) of the record's payload in a fresh mbuf from ctl_pool (len <= 64) or data_pool,
 * for a probe or a slice; *sum: of the copy.  The record stays as it is.  NULL: no mbuf. */
struct rte_mbuf *tcp_txq_slice(struct tcp_txq_pool *p, const struct tcp_txq_rec *rec, uint32_t off, uint32_t len,
			       uint16_t *sum);

/* Cuts the record behind `octets` (0 < octets < len) by copy: the rest becomes a record of its own with the same
 * history and flags.  -IW_E_NOMEM: nothing has changed. */
int tcp_txq_split(struct tcp_txq *q, struct tcp_txq_pool *p, struct tcp_txq_rec *rec, uint32_t octets);

/* It has gone out at now_ns: first transmission (must be q->unsent) or retransmission. */
void tcp_txq_sent(struct tcp_txq *q, struct tcp_txq_rec *rec, uint64_t now_ns);

/* The cumulative ACK: una moves to `ack`, records wholly below are freed.  una <= ack <= nxt. */
void tcp_txq_ack(struct tcp_txq *q, struct tcp_txq_pool *p, uint32_t ack, struct tcp_txq_delta *delta);

/* Marks a record that was sent. */
void tcp_txq_mark_sacked(struct tcp_txq *q, struct tcp_txq_rec *rec, struct tcp_txq_delta *delta);
/* Judged lost: also one whose retransmission was in flight.  Nothing when it is SACKED or waits in the lost list. */
void tcp_txq_mark_lost(struct tcp_txq *q, struct tcp_txq_rec *rec);
/* All that was sent and is not SACKED is lost (RTO); forget_sacked: SACKED ones too (reneging, RFC 2018 §8).
 * Returns the octets newly lost. */
uint32_t tcp_txq_mark_all_lost(struct tcp_txq *q, bool forget_sacked);
/* The loss was a mistake: everything in the lost list is in flight again (as of its last transmission). */
void tcp_txq_undo_lost(struct tcp_txq *q);

/* ---- inline ---- */

#define tcp_txq_of_order(l) iw_list_entry(l, struct tcp_txq_rec, order)
#define tcp_txq_of_when(l) iw_list_entry(l, struct tcp_txq_rec, when)

/* Behind its last sequence number. */
static inline uint32_t
tcp_txq_rec_end(const struct tcp_txq_rec *rec)
{
	return rec->seq + rec->len;
}

static inline struct tcp_txq_rec *
tcp_txq_first(const struct tcp_txq *q)
{
	struct iw_link *l = iw_list_first(&q->order);

	return l ? tcp_txq_of_order(l) : NULL;
}

static inline struct tcp_txq_rec *
tcp_txq_last(const struct tcp_txq *q)
{
	return iw_list_empty(&q->order) ? NULL : tcp_txq_of_order(q->order.head.prev);
}

/* Neighbours by sequence number; NULL at the ends. */
static inline struct tcp_txq_rec *
tcp_txq_next(const struct tcp_txq *q, const struct tcp_txq_rec *rec)
{
	return rec->order.next == &q->order.head ? NULL : tcp_txq_of_order(rec->order.next);
}

static inline struct tcp_txq_rec *
tcp_txq_prev(const struct tcp_txq *q, const struct tcp_txq_rec *rec)
{
	return rec->order.prev == &q->order.head ? NULL : tcp_txq_of_order(rec->order.prev);
}

/* The flight list: transmitted longest ago first (RACK walks it and stops at the first that is too young). */
static inline struct tcp_txq_rec *
tcp_txq_flight_first(const struct tcp_txq *q)
{
	struct iw_link *l = iw_list_first(&q->flight);

	return l ? tcp_txq_of_when(l) : NULL;
}

static inline struct tcp_txq_rec *
tcp_txq_flight_next(const struct tcp_txq *q, const struct tcp_txq_rec *rec)
{
	return rec->when.next == &q->flight.head ? NULL : tcp_txq_of_when(rec->when.next);
}

/* What is to be retransmitted first; NULL: nothing. */
static inline struct tcp_txq_rec *
tcp_txq_lost_first(const struct tcp_txq *q)
{
	struct iw_link *l = iw_list_first(&q->lost);

	return l ? tcp_txq_of_when(l) : NULL;
}

/* The highest record that was sent; NULL: none. */
static inline struct tcp_txq_rec *
tcp_txq_last_sent(const struct tcp_txq *q)
{
	return q->unsent ? tcp_txq_prev(q, q->unsent) : tcp_txq_last(q);
}

/* Octets sent and not cumulatively acknowledged (FlightSize, RFC 5681 §2). */
static inline uint32_t
tcp_txq_flight_size(const struct tcp_txq *q)
{
	return q->nxt - q->una;
}

/* Octets appended and never sent. */
static inline uint32_t
tcp_txq_unsent(const struct tcp_txq *q)
{
	return q->end - q->nxt;
}

/* Octets estimated to be in the network (RFC 6675 §4, pipe): sent - SACKed - lost + retransmitted. */
static inline uint32_t
tcp_txq_pipe(const struct tcp_txq *q)
{
	const struct tcp_txq_rec *first = tcp_txq_first(q);

	return first ? q->nxt - first->seq - q->sacked - q->lost_octets + q->retrans : 0;
}

/* The last of its mbufs: others may be chained behind it. */
static inline struct rte_mbuf *
tcp_txq_last_seg(const struct tcp_txq_rec *rec)
{
	struct rte_mbuf *m = rec->m;

	for (uint32_t i = 1; i < rec->segs; i++)
		m = m->next;
	return m;
}

static inline bool
tcp_txq_empty(const struct tcp_txq *q)
{
	return iw_list_empty(&q->order);
}

#endif
