/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of transmit records with its pools, and an audit of all its counts: shared by the tests of tcp_txq. */
#ifndef TXQ_BENCH_H
#define TXQ_BENCH_H

#include <rte_ip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mbufpool.h"
#include "seq.h"
#include "tcp_txq.h"

#define ROOM 2048

static const uint32_t starts[] = {1000, 0xffffff00u};
#define EACH_START(s) for (size_t i_ = 0, s = starts[0]; i_ < 2; s = starts[++i_ & 1])

static struct rte_mempool *data_pool, *ctl_pool;
static struct tcp_txq_pool p;
static struct tcp_txq q;

static inline void
open_queue(uint32_t recs, uint32_t seq)
{
	data_pool = mbufpool_create("data", ROOM, 0);
	ctl_pool = mbufpool_create("ctl", 256, 0);
	assert_int_equal(tcp_txq_pool_init(&p, data_pool, ctl_pool, recs), 0);
	tcp_txq_init(&q, seq);
}

static inline void
close_queue(void)
{
	tcp_txq_fini(&q, &p);
	assert_int_equal(p.used, 0);
	tcp_txq_pool_fini(&p);
	mbufpool_destroy(data_pool);
	mbufpool_destroy(ctl_pool);
}

static inline struct tcp_txq_rec *
append(uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(data_pool);
	uint8_t *d = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	struct tcp_txq_rec *rec;

	for (uint32_t i = 0; i < len; i++)
		d[i] = (uint8_t)(q.end + i);
	rec = tcp_txq_append(&q, &p, m, tcp_txq_sum(&p, m));
	if (!rec)
		rte_pktmbuf_free(m);
	return rec;
}

/* n records of len octets, sent one each nanosecond from `now` on. */
static inline void
append_and_send(uint32_t n, uint32_t len, uint64_t now)
{
	for (uint32_t i = 0; i < n; i++)
		tcp_txq_sent(&q, append(len), now + i);
}

static inline struct tcp_txq_rec *
nth(uint32_t n)
{
	struct tcp_txq_rec *rec = tcp_txq_first(&q);

	while (n-- > 0)
		rec = tcp_txq_next(&q, rec);
	return rec;
}

/* Every count and every list, against the records themselves. */
static inline void
audit(void)
{
	uint32_t n = 0, sent = 0, sacked = 0, lost = 0, retrans = 0, flight = 0, waiting = 0, pipe = 0, seq = 0;
	uint32_t recs[3] = {0};
	uint64_t before = 0;
	struct iw_link *l;

	for (struct tcp_txq_rec *r = tcp_txq_first(&q); r; r = tcp_txq_next(&q, r), n++) {
		bool s = r->flags & TCP_REC_SENT, k = r->flags & TCP_REC_SACKED, o = r->flags & TCP_REC_LOST,
		     t = r->flags & TCP_REC_RETRANS;

		assert_true(n == 0 || r->seq == seq);
		seq = tcp_txq_rec_end(r);
		assert_int_equal(s, iw_seq_lt(r->seq, q.nxt));
		assert_true(s || q.unsent);
		assert_false(k && (o || t));
		sent += s;
		sacked += k ? r->len : 0;
		lost += o ? r->len : 0;
		retrans += t ? r->len : 0;
		recs[0] += k;
		recs[1] += o;
		recs[2] += t;
		flight += s && !k && (!o || t);
		waiting += o && !t;
		pipe += s && !k && !o ? r->len : 0;
		pipe += t ? r->len : 0;
		if (r->m)
			assert_int_equal(r->sum, rte_raw_cksum((uint8_t *)r->m->buf_addr + r->off, r->len));
	}
	assert_int_equal(q.recs, n);
	assert_int_equal(p.used, n);
	assert_int_equal(q.sent_recs, sent);
	assert_int_equal(q.sacked, sacked);
	assert_int_equal(q.lost_octets, lost);
	assert_int_equal(q.retrans, retrans);
	assert_int_equal(q.sacked_recs, recs[0]);
	assert_int_equal(q.lost_recs, recs[1]);
	assert_int_equal(q.retrans_recs, recs[2]);
	assert_int_equal(tcp_txq_pipe(&q), pipe);
	assert_true(n == 0 || seq == q.end);
	for (l = q.flight.head.next; l != &q.flight.head; l = l->next, flight--) {
		assert_true(tcp_txq_of_when(l)->last_ns >= before);
		before = tcp_txq_of_when(l)->last_ns;
	}
	assert_int_equal(flight, 0);
	for (l = q.lost.head.next; l != &q.lost.head; l = l->next, waiting--)
		assert_true(l->next == &q.lost.head ||
			    iw_seq_lt(tcp_txq_of_when(l)->seq, tcp_txq_of_when(l->next)->seq));
	assert_int_equal(waiting, 0);
}

#endif
