/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmit records and their mbufs: design D20, D21. */
#include <iwarp/err.h>

#include "env.h"
#include "tcp_hdr.h"
#include "txq_bench.h"

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

/* Who has filled an mbuf may know its sum already; where the port makes checksums nobody sums. */
static void
test_sum_is_taken_over(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	open_queue(8, 1);
	m = rte_pktmbuf_alloc(data_pool);
	memcpy(rte_pktmbuf_append(m, 5), "\x01\x02\x03\x04\x05", 5);
	assert_int_equal(tcp_txq_sum(&p, m), rte_cpu_to_be_16(0x0102 + 0x0304 + 0x0500));
	assert_int_equal(tcp_txq_append(&q, &p, m, 0x1234)->sum, 0x1234);
	p.no_sums = true;
	assert_int_equal(tcp_txq_sum(&p, m), 0);
	p.no_sums = false;
	assert_null(tcp_txq_next(&q, tcp_txq_first(&q)));
	close_queue();
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

/* D20: records whose mbufs stand in one frame's chain: whoever is last frees each, and each can be sent again alone. */
static void
test_chained_by_the_port(void **state)
{
	struct tcp_txq_delta d = {0};
	struct rte_mbuf *m[3], *again;

	(void)state;
	open_queue(8, 1);
	for (uint32_t i = 0; i < 3; i++)
		append(10);
	for (uint32_t i = 0; i < 3; i++) {
		m[i] = tcp_txq_stamp(&p, nth(i));
		tcp_txq_sent(&q, nth(i), i + 1);
	}
	m[0]->next = m[1];
	m[1]->next = m[2];
	m[0]->nb_segs = 3;
	m[0]->pkt_len = 30;
	tcp_txq_ack(&q, &p, 11, &d); /* the port still has the frame */
	assert_int_equal(mbufpool_in_use(data_pool), 3);
	again = tcp_txq_stamp(&p, nth(0));
	assert_ptr_not_equal(again, m[1]);
	assert_int_equal(again->pkt_len, 10);
	rte_pktmbuf_free(again);
	rte_pktmbuf_free(m[0]);
	assert_int_equal(mbufpool_in_use(data_pool), 2);
	again = tcp_txq_stamp(&p, nth(1));
	assert_ptr_equal(again, m[2]);
	assert_true(again->nb_segs == 1 && !again->next);
	rte_pktmbuf_free(again);
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
/* A record whose payload lies in three mbufs, the middle one in memory that is not the pool's, each octet its place. */
static uint8_t lent[100];
static uint32_t lent_freed;

static void
give_back(void *addr, void *opaque)
{
	assert_ptr_equal(addr, lent);
	++*(uint32_t *)opaque;
}

static struct tcp_txq_rec *
append_chain(struct rte_mbuf_ext_shared_info *shared)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(data_pool), *ext = rte_pktmbuf_alloc(ctl_pool);
	uint8_t *d = (uint8_t *)rte_pktmbuf_append(m, 30), *end;

	m->next = ext;
	ext->next = rte_pktmbuf_alloc(ctl_pool);
	end = (uint8_t *)rte_pktmbuf_append(ext->next, 8);
	for (uint32_t i = 0; i < 138; i++)
		*(i < 30 ? d + i : i < 130 ? lent + i - 30 : end + i - 130) = (uint8_t)(q.end + i);
	*shared = (struct rte_mbuf_ext_shared_info){.free_cb = give_back, .fcb_opaque = &lent_freed, .refcnt = 1};
	rte_pktmbuf_attach_extbuf(ext, lent, 0, sizeof(lent), shared);
	ext->data_len = sizeof(lent);
	m->nb_segs = 3;
	m->pkt_len = 138;
	lent_freed = 0;
	return tcp_txq_append(&q, &p, m, 0);
}

/* D20, D21 for a record of several mbufs: in place where nobody else has one of them; its memory is let go with the
 * last reference, and not before. */
static void
test_chain_is_stamped_in_place(void **state)
{
	struct rte_mbuf_ext_shared_info shared;
	struct tcp_txq_delta d = {0};
	struct tcp_txq_rec *rec;
	struct rte_mbuf *m;

	(void)state;
	open_queue(4, 5);
	rec = append_chain(&shared);
	assert_int_equal(rec->len, 138);
	for (uint32_t i = 0; i < 3; i++) {
		m = tcp_txq_stamp(&p, rec);
		assert_true(m == rec->m && m->nb_segs == 3 && m->pkt_len == 138 && m->data_len == 30);
		assert_true(m->ol_flags == 0 && !tcp_txq_last_seg(rec)->next);
		transmit(m, 5);
		tcp_txq_last_seg(rec)->next = m; /* as in a frame that the port cuts up */
		for (struct rte_mbuf *s = m; rte_mbuf_refcnt_read(s) == 2; s = s->next)
			rte_pktmbuf_free_seg(s);
	}
	assert_int_equal(p.copies, 0);
	m = tcp_txq_stamp(&p, rec);
	tcp_txq_sent(&q, rec, 1);
	tcp_txq_ack(&q, &p, 5 + 138, &d); /* the port still has it */
	assert_int_equal(lent_freed, 0);
	rte_pktmbuf_free(m);
	assert_int_equal(lent_freed, 1);
	close_queue();
}

/* D20: somebody has one of its mbufs, be it the last: a copy takes its place, in one mbuf. */
static void
test_shared_chain_is_copied(void **state)
{
	struct rte_mbuf_ext_shared_info shared;
	struct tcp_txq_rec *rec;
	struct rte_mbuf *held, *m;

	(void)state;
	for (uint32_t which = 0; which < 3; which++) {
		open_queue(4, 5);
		rec = append_chain(&shared);
		held = rec->m;
		for (uint32_t i = 0; i < which; i++)
			held = held->next;
		rte_mbuf_refcnt_update(held, 1);
		mbufpool_set_fuse(data_pool, 1);
		assert_null(tcp_txq_stamp(&p, rec));
		assert_int_equal(rec->segs, 3);
		m = tcp_txq_stamp(&p, rec);
		assert_true(m == rec->m && m->nb_segs == 1 && m->pkt_len == 138 && p.copies == 1);
		assert_content(rec);
		assert_int_equal(lent_freed, which != 1);
		rte_pktmbuf_free_seg(held);
		assert_int_equal(lent_freed, 1);
		rte_pktmbuf_free(m);
		close_queue();
	}
}

/* D21: probes and slices from wherever they lie; what is cut up is copied, and the memory is let go. */
static void
test_chain_is_cut(void **state)
{
	struct rte_mbuf_ext_shared_info shared;
	struct tcp_txq_rec *rec;
	struct rte_mbuf *m;
	uint16_t sum;

	(void)state;
	for (uint32_t at = 1; at < 138; at++) {
		open_queue(4, 5);
		rec = append_chain(&shared);
		m = tcp_txq_slice(&p, rec, at, 138 - at < 40 ? 138 - at : 40, &sum);
		for (uint32_t i = 0; i < m->data_len; i++)
			assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[i], 5 + at + i);
		assert_int_equal(sum, rte_raw_cksum(rte_pktmbuf_mtod(m, void *), m->data_len));
		rte_pktmbuf_free(m);
		mbufpool_set_fuse(data_pool, 1);
		assert_int_equal(tcp_txq_split(&q, &p, rec, at), -IW_E_NOMEM);
		assert_int_equal(lent_freed, 0);
		assert_int_equal(tcp_txq_split(&q, &p, rec, at), 0);
		assert_int_equal(lent_freed, 1);
		assert_true(rec->len == at && tcp_txq_next(&q, rec)->len == 138 - at);
		assert_content(rec);
		assert_content(tcp_txq_next(&q, rec));
		audit();
		close_queue();
	}
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

/* T36: what came out of the reserve is sent again out of the reserve, when a driver still holds it. */
static void
test_T36_replaced_from_the_reserve(void **state)
{
	struct rte_mbuf *m = NULL, *again;
	struct tcp_txq_rec *rec;

	(void)state;
	open_queue(4, 5);
	m = rte_pktmbuf_alloc(ctl_pool);
	memset(rte_pktmbuf_append(m, 76), 1, 76);
	rec = tcp_txq_append(&q, &p, m, tcp_txq_sum(&p, m));
	m = tcp_txq_stamp(&p, rec);
	tcp_txq_sent(&q, rec, 1);
	mbufpool_set_fuse(data_pool, 1);
	again = tcp_txq_stamp(&p, rec);
	assert_non_null(again);
	assert_ptr_not_equal(again, m);
	assert_ptr_equal(again->pool, ctl_pool);
	assert_memory_equal(rte_pktmbuf_mtod(again, void *), rte_pktmbuf_mtod(m, void *), 76);
	mbufpool_set_fuse(data_pool, 0);
	rte_pktmbuf_free(m);
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
			assert_int_equal(rest->m->data_len, 201);
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
		cmocka_unit_test(test_sum_is_taken_over),
		cmocka_unit_test(test_syn_and_fin_take_one_number),
		cmocka_unit_test(test_chained_by_the_port),
		cmocka_unit_test(test_chain_is_stamped_in_place),
		cmocka_unit_test(test_shared_chain_is_copied),
		cmocka_unit_test(test_chain_is_cut),
		cmocka_unit_test(test_D20_not_shared_is_stamped_in_place),
		cmocka_unit_test(test_T36_replaced_from_the_reserve),
		cmocka_unit_test(test_D20_shared_is_copied_and_replaced),
		cmocka_unit_test(test_D21_slice),
		cmocka_unit_test(test_D21_split),
		cmocka_unit_test(test_split_needs_a_record),
		cmocka_unit_test(test_creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
