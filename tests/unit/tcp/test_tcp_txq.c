/* SPDX-License-Identifier: BSD-3-Clause */
/* Design D20, D21; RFC 8985 §6.2 steps 2 and 3, RFC 6298 §3 (Karn), RFC 6675 §4 (pipe). */
#include "tcp_txq.h"

#include <iwarp/err.h>
#include <rte_ip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "env.h"
#include "mbufpool.h"
#include "seq.h"
#include "tcp_hdr.h"

#define ROOM 2048

static const uint32_t starts[] = {1000, 0xffffff00u};
#define EACH_START(s) for (size_t i_ = 0, s = starts[0]; i_ < 2; s = starts[++i_ & 1])

static struct rte_mempool *data_pool, *ctl_pool;
static struct tcp_txq_pool p;
static struct tcp_txq q;

static void
open_queue(uint32_t recs, uint32_t seq)
{
	data_pool = mbufpool_create("data", ROOM, 0);
	ctl_pool = mbufpool_create("ctl", 256, 0);
	assert_int_equal(tcp_txq_pool_init(&p, data_pool, ctl_pool, recs), 0);
	tcp_txq_init(&q, seq);
}

static void
close_queue(void)
{
	tcp_txq_fini(&q, &p);
	assert_int_equal(p.used, 0);
	tcp_txq_pool_fini(&p);
	mbufpool_destroy(data_pool);
	mbufpool_destroy(ctl_pool);
}

static struct tcp_txq_rec *
append(uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(data_pool);
	uint8_t *d = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);

	for (uint32_t i = 0; i < len; i++)
		d[i] = (uint8_t)(q.end + i);
	return tcp_txq_append(&q, &p, m);
}

/* n records of len octets, sent one each nanosecond from `now` on. */
static void
append_and_send(uint32_t n, uint32_t len, uint64_t now)
{
	for (uint32_t i = 0; i < n; i++)
		tcp_txq_sent(&q, append(len), now + i);
}

static struct tcp_txq_rec *
nth(uint32_t n)
{
	struct tcp_txq_rec *rec = tcp_txq_first(&q);

	while (n-- > 0)
		rec = tcp_txq_next(&q, rec);
	return rec;
}

/* Every count and every list, against the records themselves. */
static void
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

static void
test_append_send_ack(void **state)
{
	(void)state;
	EACH_START(s)
	{
		struct tcp_txq_delta d = {0};

		open_queue(8, (uint32_t)s);
		assert_true(tcp_txq_empty(&q) && tcp_txq_pipe(&q) == 0 && !tcp_txq_last(&q));
		assert_int_equal(append(100)->seq, (uint32_t)s);
		append(101);
		append(102);
		assert_ptr_equal(q.unsent, nth(0));
		assert_int_equal(tcp_txq_unsent(&q), 303);
		audit();
		tcp_txq_sent(&q, nth(0), 10);
		tcp_txq_sent(&q, nth(1), 20);
		assert_ptr_equal(q.unsent, nth(2));
		assert_int_equal(tcp_txq_flight_size(&q), 201);
		assert_int_equal(q.nxt, (uint32_t)s + 201);
		audit();
		/* Acknowledged only when wholly covered (D21). */
		tcp_txq_ack(&q, &p, (uint32_t)s + 99, &d);
		assert_int_equal(d.acked, 99);
		assert_int_equal(d.delivered, 0);
		assert_int_equal(q.recs, 3);
		assert_int_equal(q.una, (uint32_t)s + 99);
		tcp_txq_ack(&q, &p, (uint32_t)s + 200, &d);
		assert_int_equal(d.acked, 200);
		assert_int_equal(d.delivered, 100);
		assert_int_equal(d.freed_recs, 1);
		assert_int_equal(mbufpool_in_use(data_pool), 2);
		audit();
		tcp_txq_ack(&q, &p, (uint32_t)s + 201, &d);
		assert_int_equal(tcp_txq_pipe(&q), 0);
		assert_ptr_equal(tcp_txq_first(&q), q.unsent);
		audit();
		tcp_txq_sent(&q, nth(0), 30);
		assert_null(q.unsent);
		tcp_txq_ack(&q, &p, (uint32_t)s + 303, &d);
		assert_true(tcp_txq_empty(&q));
		audit();
		close_queue();
	}
}

static void
test_syn_and_fin_take_one_number(void **state)
{
	struct tcp_txq_delta d = {0};
	struct rte_mbuf *m;

	(void)state;
	open_queue(8, 0xffffffffu);
	assert_int_equal(tcp_txq_append_ctl(&q, &p, TCP_REC_SYN)->seq, 0xffffffffu);
	append(10);
	assert_int_equal(tcp_txq_append_ctl(&q, &p, TCP_REC_FIN)->seq, 10);
	assert_int_equal(q.end, 11);
	m = tcp_txq_stamp(&p, nth(0));
	assert_ptr_equal(m->pool, ctl_pool);
	assert_int_equal(m->pkt_len, 0);
	rte_pktmbuf_free(m);
	for (uint32_t i = 0; i < 3; i++)
		tcp_txq_sent(&q, nth(i), i);
	tcp_txq_ack(&q, &p, 10, &d);
	assert_int_equal(q.recs, 1);
	assert_int_equal(tcp_txq_first(&q)->flags, TCP_REC_SENT | TCP_REC_FIN);
	tcp_txq_ack(&q, &p, 11, &d);
	assert_true(tcp_txq_empty(&q));
	close_queue();
}

/* Does to an mbuf what the way down does. */
static void
transmit(struct rte_mbuf *m, uint32_t seq)
{
	struct tcp_seg seg = {.seq = seq, .has_ts = true};

	assert_int_equal(tcp_hdr_push(m, &seg), 32);
	assert_non_null(rte_pktmbuf_prepend(m, 34));
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_TCP_CKSUM;
	m->l2_len = 14;
	m->l3_len = 20;
}

/* D20: only the record holds it: the same mbuf, stamped again in place. */
static void
test_D20_not_shared_is_stamped_in_place(void **state)
{
	struct tcp_txq_rec *rec;
	struct rte_mbuf *m, *again;

	(void)state;
	open_queue(4, 5);
	rec = append(200);
	m = tcp_txq_stamp(&p, rec);
	assert_ptr_equal(m, rec->m);
	assert_int_equal(rte_mbuf_refcnt_read(m), 2);
	transmit(m, 5);
	assert_int_equal(m->data_len, 266);
	rte_pktmbuf_free(m); /* by the driver */
	again = tcp_txq_stamp(&p, rec);
	assert_ptr_equal(again, m);
	assert_int_equal(again->data_len, 200);
	assert_int_equal(again->pkt_len, 200);
	assert_int_equal(again->data_off, rec->off);
	assert_true(again->ol_flags == 0 && again->tx_offload == 0);
	assert_int_equal(rte_pktmbuf_mtod(again, uint8_t *)[7], 12);
	assert_int_equal(p.copies, 0);
	transmit(again, 5);
	rte_pktmbuf_free(again);
	close_queue();
}

/* D20: somebody still holds it: not an octet of it changes; a copy takes its place. */
static void
test_D20_shared_is_copied_and_replaced(void **state)
{
	struct tcp_txq_rec *rec;
	struct rte_mbuf *m, *again, was;
	uint8_t octets[266];

	(void)state;
	open_queue(4, 5);
	rec = append(200);
	m = tcp_txq_stamp(&p, rec);
	transmit(m, 5);
	memcpy(octets, rte_pktmbuf_mtod(m, void *), sizeof(octets));
	was = *m;
	mbufpool_set_fuse(data_pool, 1);
	assert_null(tcp_txq_stamp(&p, rec));
	assert_ptr_equal(rec->m, m);
	again = tcp_txq_stamp(&p, rec);
	assert_ptr_not_equal(again, m);
	assert_ptr_equal(again, rec->m);
	assert_int_equal(p.copies, 1);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	transmit(again, 5);
	assert_memory_equal(rte_pktmbuf_mtod(again, void *), octets, sizeof(octets));
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), octets, sizeof(octets));
	rte_mbuf_refcnt_set(&was, 1);
	assert_memory_equal(m, &was, offsetof(struct rte_mbuf, dynfield1));
	audit();
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(again);
	close_queue();
}

static void
test_D21_slice(void **state)
{
	struct tcp_txq_rec *rec;
	struct rte_mbuf *m;
	uint16_t sum;

	(void)state;
	open_queue(4, 7);
	rec = append(201);
	m = tcp_txq_slice(&p, rec, 0, 1, &sum);
	assert_ptr_equal(m->pool, ctl_pool);
	assert_int_equal(m->pkt_len, 1);
	assert_int_equal(*rte_pktmbuf_mtod(m, uint8_t *), 7);
	rte_pktmbuf_free(m);
	m = tcp_txq_slice(&p, rec, 101, 100, &sum);
	assert_ptr_equal(m->pool, data_pool);
	assert_int_equal(m->pkt_len, 100);
	assert_int_equal(*rte_pktmbuf_mtod(m, uint8_t *), 108);
	assert_int_equal(sum, rte_raw_cksum(rte_pktmbuf_mtod(m, void *), 100));
	rte_pktmbuf_free(m);
	assert_int_equal(rec->len, 201);
	mbufpool_set_fuse(ctl_pool, 1);
	assert_null(tcp_txq_slice(&p, rec, 0, 1, &sum));
	close_queue();
}

static void
assert_content(const struct tcp_txq_rec *rec)
{
	struct rte_mbuf *m = tcp_txq_stamp(&p, (struct tcp_txq_rec *)(uintptr_t)rec);

	assert_int_equal(m->data_len, rec->len);
	for (uint32_t i = 0; i < rec->len; i++)
		assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[i], (uint8_t)(rec->seq + i));
	rte_pktmbuf_free(m);
}

/* In each of the states that a record can have. */
static void
test_D21_split(void **state)
{
	(void)state;
	EACH_START(s)
	{
		for (int kind = 0; kind < 5; kind++) {
			struct tcp_txq_delta d = {0};
			struct tcp_txq_rec *rec, *rest;

			open_queue(8, (uint32_t)s);
			append_and_send(kind > 0, 50, 1);
			rec = append(301);
			append(50);
			if (kind > 0)
				tcp_txq_sent(&q, rec, 2);
			if (kind == 2 || kind == 3)
				tcp_txq_mark_lost(&q, rec);
			if (kind == 3)
				tcp_txq_sent(&q, rec, 3);
			if (kind == 4)
				tcp_txq_mark_sacked(&q, rec, &d);
			mbufpool_set_fuse(data_pool, 1);
			assert_int_equal(tcp_txq_split(&q, &p, rec, 100), -IW_E_NOMEM);
			audit();
			assert_int_equal(tcp_txq_split(&q, &p, rec, 100), 0);
			rest = tcp_txq_next(&q, rec);
			assert_int_equal(rec->len, 100);
			assert_int_equal(rest->len, 201);
			assert_int_equal(rest->flags, rec->flags);
			assert_int_equal(rest->rexmits, rec->rexmits);
			assert_true(rest->last_ns == rec->last_ns && rest->first_ns == rec->first_ns);
			audit();
			assert_content(rec);
			assert_content(rest);
			if (kind == 0) {
				assert_ptr_equal(q.unsent, rec);
				tcp_txq_sent(&q, rec, 9);
				assert_ptr_equal(q.unsent, rest);
				audit();
			}
			close_queue();
		}
	}
}

static void
test_split_needs_a_record(void **state)
{
	struct tcp_txq_rec *rec;

	(void)state;
	open_queue(1, 1);
	rec = append(10);
	assert_int_equal(tcp_txq_split(&q, &p, rec, 5), -IW_E_NOMEM);
	assert_null(append(10));
	assert_null(tcp_txq_append_ctl(&q, &p, TCP_REC_FIN));
	assert_int_equal(q.end, 11);
	assert_int_equal(mbufpool_in_use(data_pool), 1);
	audit();
	close_queue();
}

/* RFC 6675 §4: sent - SACKed - lost + retransmitted. */
static void
test_pipe_through_a_recovery(void **state)
{
	(void)state;
	EACH_START(s)
	{
		struct tcp_txq_delta d = {.rexmit_limit_ns = 1000};

		open_queue(16, (uint32_t)s);
		append_and_send(6, 100, 10);
		assert_int_equal(tcp_txq_pipe(&q), 600);
		tcp_txq_mark_sacked(&q, nth(3), &d);
		tcp_txq_mark_sacked(&q, nth(3), &d); /* again: nothing */
		tcp_txq_mark_sacked(&q, nth(4), &d);
		assert_int_equal(d.sacked, 200);
		assert_int_equal(tcp_txq_pipe(&q), 400);
		tcp_txq_mark_lost(&q, nth(1));
		tcp_txq_mark_lost(&q, nth(0));
		tcp_txq_mark_lost(&q, nth(3)); /* SACKed: not lost */
		assert_int_equal(tcp_txq_pipe(&q), 200);
		assert_ptr_equal(tcp_txq_lost_first(&q), nth(0));
		audit();
		tcp_txq_sent(&q, nth(0), 50);
		assert_ptr_equal(tcp_txq_lost_first(&q), nth(1));
		assert_int_equal(tcp_txq_pipe(&q), 300);
		assert_int_equal(nth(0)->rexmits, 1);
		assert_true(nth(0)->first_ns == 10 && nth(0)->last_ns == 50);
		tcp_txq_mark_lost(&q, nth(0)); /* the retransmission too */
		assert_int_equal(tcp_txq_pipe(&q), 200);
		tcp_txq_sent(&q, nth(0), 60);
		tcp_txq_sent(&q, nth(1), 61);
		assert_int_equal(tcp_txq_pipe(&q), 400);
		audit();
		tcp_txq_ack(&q, &p, (uint32_t)s + 500, &d);
		assert_int_equal(d.delivered, 500);
		assert_int_equal(d.acked, 500);
		assert_int_equal(tcp_txq_pipe(&q), 100);
		audit();
		close_queue();
	}
}

/* A probe or rule 3 of NextSeg: retransmitted without being lost counts twice (RFC 6675 §4, note on SetPipe). */
static void
test_retransmitted_without_loss_counts_twice(void **state)
{
	(void)state;
	open_queue(4, 1);
	append_and_send(2, 100, 10);
	tcp_txq_sent(&q, nth(1), 20);
	assert_int_equal(tcp_txq_pipe(&q), 300);
	tcp_txq_sent(&q, nth(1), 30);
	assert_int_equal(tcp_txq_pipe(&q), 300);
	audit();
	tcp_txq_mark_lost(&q, nth(1));
	assert_int_equal(tcp_txq_pipe(&q), 100);
	audit();
	close_queue();
}

static void
test_rack_and_rtt_samples(void **state)
{
	(void)state;
	EACH_START(s)
	{
		struct tcp_txq_delta d = {.rexmit_limit_ns = 90};

		open_queue(16, (uint32_t)s);
		append_and_send(5, 100, 10); /* sent at 10..14 */
		tcp_txq_mark_lost(&q, nth(0));
		tcp_txq_sent(&q, nth(0), 80);
		tcp_txq_mark_sacked(&q, nth(1), &d);
		assert_true(d.has_rack && !d.rack_rexmit && d.rack_ns == 11 && d.rack_end == (uint32_t)s + 200);
		assert_true(d.has_rtt && d.rtt_sent_ns == 11 && !d.rexmit_acked && !d.reordered);
		tcp_txq_ack(&q, &p, (uint32_t)s + 300, &d);
		/* Newest by time: the retransmission at 80, which the limit of 90 lets pass; RTT only from record 2. */
		assert_true(d.has_rack && d.rack_rexmit && d.rack_ns == 80 && d.rack_end == (uint32_t)s + 100);
		assert_true(d.rtt_sent_ns == 12 && d.rexmit_acked && d.never_rexmit_acked);
		assert_int_equal(d.delivered, 300);

		/* Too young to be true: it counts for nothing but delivery (RFC 8985 §6.2 step 2). */
		tcp_txq_mark_lost(&q, nth(0));
		tcp_txq_sent(&q, nth(0), 95);
		d = (struct tcp_txq_delta){.rexmit_limit_ns = 94};
		tcp_txq_ack(&q, &p, (uint32_t)s + 400, &d);
		assert_true(!d.has_rack && !d.has_rtt && d.rexmit_acked && !d.never_rexmit_acked);
		assert_int_equal(d.delivered, 100);
		close_queue();
	}
}

/* RFC 8985 §6.2 step 2: equal times are ordered by sequence number. */
static void
test_rack_ties(void **state)
{
	struct tcp_txq_delta d = {0};

	(void)state;
	open_queue(8, 0xffffff9cu);
	for (int i = 0; i < 3; i++)
		tcp_txq_sent(&q, append(100), 5);
	tcp_txq_mark_sacked(&q, nth(2), &d);
	tcp_txq_mark_sacked(&q, nth(1), &d);
	assert_int_equal(d.rack_end, 200);
	close_queue();
}

/* Step 3: reordering is an original delivered below what was delivered before; a retransmission shows nothing. */
static void
test_rack_reordering(void **state)
{
	(void)state;
	EACH_START(s)
	{
		struct tcp_txq_delta d = {.rexmit_limit_ns = 99};

		open_queue(8, (uint32_t)s);
		append_and_send(5, 100, 10);
		tcp_txq_mark_sacked(&q, nth(3), &d);
		assert_int_equal(q.fack, (uint32_t)s + 400);
		tcp_txq_mark_lost(&q, nth(0));
		tcp_txq_sent(&q, nth(0), 50);
		tcp_txq_ack(&q, &p, (uint32_t)s + 100, &d);
		assert_false(d.reordered);
		tcp_txq_ack(&q, &p, (uint32_t)s + 200, &d);
		assert_true(d.reordered);
		assert_int_equal(q.fack, (uint32_t)s + 400);
		/* What was SACKed before is not delivered again. */
		d = (struct tcp_txq_delta){0};
		tcp_txq_mark_sacked(&q, nth(0), &d);
		d = (struct tcp_txq_delta){0};
		tcp_txq_ack(&q, &p, (uint32_t)s + 400, &d);
		assert_true(!d.reordered && !d.has_rack && !d.has_rtt && d.delivered == 0 && d.acked == 200);
		audit();
		close_queue();
	}
}

static void
test_rto_and_reneging(void **state)
{
	struct tcp_txq_delta d = {0};

	(void)state;
	open_queue(8, 0xffffff00u);
	append_and_send(5, 100, 10);
	append(100);
	tcp_txq_mark_sacked(&q, nth(2), &d);
	tcp_txq_mark_lost(&q, nth(1));
	tcp_txq_sent(&q, nth(1), 20);
	assert_int_equal(tcp_txq_mark_all_lost(&q, false), 300); /* record 1 was lost already */
	assert_int_equal(tcp_txq_pipe(&q), 0);
	assert_ptr_equal(tcp_txq_lost_first(&q), nth(0));
	audit();
	assert_int_equal(tcp_txq_mark_all_lost(&q, true), 100);
	assert_int_equal(q.sacked, 0);
	assert_int_equal(q.lost_recs, 5);
	audit();
	for (uint32_t i = 0; i < 5; i++) {
		assert_ptr_equal(tcp_txq_lost_first(&q), nth(i));
		tcp_txq_sent(&q, nth(i), 30 + i);
	}
	assert_null(tcp_txq_lost_first(&q));
	audit();
	close_queue();
}

static void
test_undo(void **state)
{
	struct tcp_txq_delta d = {0};

	(void)state;
	open_queue(8, 0xffffff00u);
	append_and_send(6, 100, 10);
	tcp_txq_mark_sacked(&q, nth(3), &d);
	tcp_txq_mark_all_lost(&q, false);
	tcp_txq_sent(&q, nth(0), 40);
	tcp_txq_undo_lost(&q);
	assert_null(tcp_txq_lost_first(&q));
	assert_ptr_equal(tcp_txq_flight_first(&q), nth(1));
	assert_int_equal(tcp_txq_pipe(&q), 500);
	audit();
	close_queue();
}

/* Everything at random, and the audit after each step. */
static void
test_random_operations(void **state)
{
	(void)state;
	EACH_START(s)
	{
		uint64_t x = 0x2545f4914f6cdd1du + s, now = 1;
		struct tcp_txq_delta d;

		open_queue(40, (uint32_t)s);
		for (int i = 0; i < 20000; i++, now += x >> 62) {
			struct tcp_txq_rec *rec;
			uint32_t k;

			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			k = (uint32_t)(x >> 40);
			d = (struct tcp_txq_delta){.rexmit_limit_ns = now};
			rec = q.recs ? nth(k % q.recs) : NULL;
			switch (x >> 20 & 15) {
			case 0:
			case 1:
			case 2:
				append(1 + k % 300);
				break;
			case 3:
			case 4:
			case 5:
				if (q.unsent)
					tcp_txq_sent(&q, q.unsent, now);
				break;
			case 6:
				tcp_txq_ack(&q, &p, q.una + k % (q.nxt - q.una + 1) / 3, &d);
				break;
			case 7:
			case 8:
				if (rec && rec->flags & TCP_REC_SENT)
					tcp_txq_mark_sacked(&q, rec, &d);
				break;
			case 9:
			case 10:
				if (rec && rec->flags & TCP_REC_SENT)
					tcp_txq_mark_lost(&q, rec);
				break;
			case 11:
			case 12:
				if (tcp_txq_lost_first(&q))
					tcp_txq_sent(&q, tcp_txq_lost_first(&q), now);
				break;
			case 13:
				if (rec && rec->len > 1)
					tcp_txq_split(&q, &p, rec, 1 + k % (rec->len - 1));
				break;
			case 14:
				if (k % 8 == 0)
					tcp_txq_mark_all_lost(&q, k & 256);
				break;
			default:
				if (k % 4 == 0)
					tcp_txq_undo_lost(&q);
				else if (rec && rec->flags & TCP_REC_SENT && !(rec->flags & TCP_REC_SACKED))
					tcp_txq_sent(&q, rec, now);
				break;
			}
			audit();
			assert_int_equal(mbufpool_in_use(data_pool), q.recs);
		}
		close_queue();
	}
}

/* Lost records that come in reverse order stand in order of sequence numbers as long as few are passed. */
static void
test_lost_list_is_sorted(void **state)
{
	(void)state;
	open_queue(64, 0xffffff00u);
	append_and_send(40, 100, 10);
	for (uint32_t i = 40; i-- > 0;)
		tcp_txq_mark_lost(&q, nth(i * 7 % 40));
	audit();
	close_queue();
}

static void
test_creation(void **state)
{
	(void)state;
	assert_int_equal(tcp_txq_pool_init(&p, NULL, NULL, 0), -IW_E_INVAL);
	iw_env_alloc_fuse = 1;
	assert_int_equal(tcp_txq_pool_init(&p, NULL, NULL, 4), -IW_E_NOMEM);
	iw_env_alloc_fuse = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append_send_ack),
		cmocka_unit_test(test_syn_and_fin_take_one_number),
		cmocka_unit_test(test_D20_not_shared_is_stamped_in_place),
		cmocka_unit_test(test_D20_shared_is_copied_and_replaced),
		cmocka_unit_test(test_D21_slice),
		cmocka_unit_test(test_D21_split),
		cmocka_unit_test(test_split_needs_a_record),
		cmocka_unit_test(test_pipe_through_a_recovery),
		cmocka_unit_test(test_retransmitted_without_loss_counts_twice),
		cmocka_unit_test(test_rack_and_rtt_samples),
		cmocka_unit_test(test_rack_ties),
		cmocka_unit_test(test_rack_reordering),
		cmocka_unit_test(test_rto_and_reneging),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_random_operations),
		cmocka_unit_test(test_lost_list_is_sorted),
		cmocka_unit_test(test_creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
