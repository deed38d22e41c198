/* SPDX-License-Identifier: BSD-3-Clause */
/* One shared receive queue under two streams of one engine, their peers made by hand: the limit of each stream, the
 * event of the queue, and a stream that dies with receives of the queue in hand. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"
#include "raw.h"
#include "victim.h"

#define DEPTH 16
#define STREAM_LIMIT 4
#define LEN 64
#define NO_BUFFER 0x1202 /* RFC 5041 §7.2: untagged, MSN without a buffer */

static struct sim *s;
static struct victim v;
static struct iw_srq *srq;
static struct iw_mr *mr;
static uint8_t *memory;
static uint32_t posted; /* in all: number i is at place i % DEPTH */
static uint32_t limit_events;

static struct stream {
	struct raw raw;
	struct iw_qp *qp;
	uint32_t msn;
	uint8_t fill;
} a, b;

static void
on_async(struct iw_engine *engine, const struct iw_async_event *event, void *context)
{
	(void)engine;
	(void)context;
	if (event->type != IW_ASYNC_SRQ_LIMIT)
		return;
	assert_ptr_equal(event->srq, srq);
	limit_events++;
}

static int
post(void)
{
	uint8_t *p = memory + posted % DEPTH * LEN;
	struct iw_sge sge = {.addr = (uintptr_t)p, .length = LEN, .lkey = iw_mr_lkey(mr)};
	struct iw_recv_wr wr = {.wr_id = posted, .sg_list = &sge, .num_sge = 1};
	int err = iw_post_srq_recv(srq, &wr, NULL);

	posted += err == 0;
	return err;
}

static void
post_many(uint32_t n)
{
	while (n-- > 0)
		assert_int_equal(post(), 0);
}

/* One segment from a peer. */
static void
send(struct stream *t, uint32_t mo, uint32_t len, bool last)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, last, 0, 0, t->msn, mo);
	uint8_t body[LEN], octets[LEN + 64];

	memset(body, t->fill, sizeof(body));
	t->msn += last;
	raw_send(&t->raw, octets, raw_fpdu(octets, &h, body, len));
	raw_run(&t->raw, IW_MS);
}

static void
expect(const struct stream *t, uint32_t number, uint8_t status, uint32_t len)
{
	struct iw_wc wc;

	assert_int_equal(iw_cq_poll(v.cq, &wc, 1), 1);
	assert_ptr_equal(wc.qp, t->qp);
	assert_int_equal(wc.wr_id, number);
	assert_int_equal(wc.status, status);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(memory[number % DEPTH * LEN + i], t->fill);
}

static void
expect_nothing(void)
{
	struct iw_wc wc;

	assert_int_equal(iw_cq_poll(v.cq, &wc, 1), 0);
}

static void
open_stream(struct stream *t, uint32_t host, uint8_t fill)
{
	assert_true(raw_open(&t->raw, s, host, 0, VICTIM_PORT) && raw_start(&t->raw));
	t->qp = v.conn[v.conns - 1].qp;
	t->msn = 1;
	t->fill = fill;
}

static void
set_up(uint32_t stream_limit)
{
	struct iw_srq_attr attr = {.depth = DEPTH};

	s = malloc(sizeof(*s));
	sim_init(s, 9, 3, 1500);
	victim_init(&v, s, 0);
	v.recvs = 0;
	posted = limit_events = 0;
	memory = oracle_memory(DEPTH * LEN);
	mr = iw_mr_reg(v.pd, memory, DEPTH * LEN, IW_LOCAL_WRITE, NULL);
	srq = iw_srq_create(v.engine, v.pd, &attr, NULL);
	assert_int_equal(iw_engine_set_async(v.engine, on_async, NULL), 0);
	v.qp_attr.srq = srq;
	v.qp_attr.srq_limit = stream_limit;
	victim_listen(&v);
	open_stream(&a, 1, 0xaa);
	open_stream(&b, 2, 0xbb);
}

static void
tear_down(void)
{
	struct iw_srq *queue = srq;

	raw_close(&a.raw);
	raw_close(&b.raw);
	sim_run(s, IW_SEC);
	assert_int_equal(iw_srq_destroy(queue), -IW_E_BUSY);
	for (uint32_t i = 0; i < v.conns; i++) {
		assert_int_equal(iw_qp_destroy(v.conn[i].qp), 0);
		v.conn[i].qp = NULL;
	}
	victim_reap(&v);
	assert_int_equal(iw_srq_destroy(queue), 0);
	assert_int_equal(iw_mr_dereg(mr), 0);
	victim_close(&v);
}

/* First come, first served over both streams; one event when fewer than the limit are posted, and again only when it
 * was asked for again. */
static void
test_limit_event(void **state)
{
	(void)state;
	set_up(0);
	post_many(8);
	assert_int_equal(iw_srq_set_limit(srq, 6), 0);
	send(&a, 0, LEN, true);
	send(&b, 0, 10, true);
	assert_int_equal(limit_events, 0); /* six are left */
	send(&a, 0, 0, true);
	assert_int_equal(limit_events, 1);
	send(&b, 0, LEN, true);
	assert_int_equal(limit_events, 1);
	expect(&a, 0, IW_WC_SUCCESS, LEN);
	expect(&b, 1, IW_WC_SUCCESS, 10);
	expect(&a, 2, IW_WC_SUCCESS, 0);
	expect(&b, 3, IW_WC_SUCCESS, LEN);
	expect_nothing();
	assert_int_equal(iw_srq_set_limit(srq, 5), 0); /* four are posted: at once */
	raw_run(&a.raw, IW_MS);
	assert_int_equal(limit_events, 2);
	tear_down();
}

/* S11: a stream gets no more than its limit at a time, however many are posted; what was polled counts no more; the
 * other stream does not notice. */
static void
test_S11_limit_of_each_stream(void **state)
{
	uint32_t next = 0;

	(void)state;
	set_up(STREAM_LIMIT);
	post_many(DEPTH);
	for (int round = 0; round < 2; round++) { /* polled in between */
		for (uint32_t i = 0; i < STREAM_LIMIT; i++)
			send(&a, 0, 8, true);
		for (uint32_t i = 0; i < STREAM_LIMIT; i++)
			expect(&a, next++, IW_WC_SUCCESS, 8);
	}
	for (uint32_t i = 0; i < STREAM_LIMIT; i++)
		send(&a, 0, 8, true);
	assert_int_equal(raw_terminate(&a.raw), 0);
	send(&a, 0, 8, true); /* one more, with four still posted */
	assert_int_equal(raw_terminate(&a.raw), NO_BUFFER);
	assert_int_not_equal(iw_qp_state(a.qp), IW_QP_RTS);
	for (uint32_t i = 0; i < STREAM_LIMIT; i++)
		send(&b, 0, LEN, true);
	for (uint32_t i = 0; i < STREAM_LIMIT; i++)
		expect(&a, next++, IW_WC_SUCCESS, 8);
	for (uint32_t i = 0; i < STREAM_LIMIT; i++)
		expect(&b, next++, IW_WC_SUCCESS, LEN);
	expect_nothing();
	assert_int_equal(raw_terminate(&b.raw), 0);
	tear_down();
}

/* A stream ends with one receive half filled and two completions not polled: that one is flushed, once, and named after
 * its stream; the others of the queue stay for who lives on; and none of its places is lost. */
static void
death_in_hand(void (*die)(struct raw *))
{
	struct iw_qp_info info;

	set_up(STREAM_LIMIT);
	post_many(8);
	send(&a, 0, LEN, true);
	send(&b, 0, 32, false); /* the other stream is in the middle of a message, too */
	send(&a, 0, LEN, true);
	send(&a, 0, 24, false);
	assert_int_equal(iw_qp_query(a.qp, &info), 0);
	assert_int_equal(info.srq_used, 3);
	die(&a.raw);
	raw_run(&a.raw, 10 * IW_MS);
	assert_int_not_equal(iw_qp_state(a.qp), IW_QP_RTS);
	send(&b, 32, 32, true);
	send(&b, 0, 5, true);
	expect(&a, 0, IW_WC_SUCCESS, LEN);
	expect(&a, 2, IW_WC_SUCCESS, LEN);
	expect(&a, 3, IW_WC_WR_FLUSH_ERR, 0);
	expect(&b, 1, IW_WC_SUCCESS, LEN);
	expect(&b, 4, IW_WC_SUCCESS, 5);
	expect_nothing();
	for (uint32_t i = 5; i < 8; i++) {
		send(&b, 0, LEN, true);
		expect(&b, i, IW_WC_SUCCESS, LEN);
	}
	post_many(DEPTH);
	assert_int_equal(post(), -IW_E_NOMEM);
	for (uint32_t i = 8; i < 8 + DEPTH; i++) {
		send(&b, 0, LEN, true);
		expect(&b, i, IW_WC_SUCCESS, LEN);
	}
	send(&b, 0, 0, true); /* D9: there is none left */
	assert_int_equal(raw_terminate(&b.raw), NO_BUFFER);
	tear_down();
}

static void
test_death_by_reset(void **state)
{
	(void)state;
	death_in_hand(raw_rst);
}

static void
bad_fpdu(struct raw *r)
{
	uint8_t octets[64];
	uint32_t n = raw_read_req(octets, 1, 8, 1, 0);

	octets[n - 1] ^= 1;
	raw_send(r, octets, n);
}

static void
test_death_by_fault(void **state)
{
	(void)state;
	death_in_hand(bad_fpdu);
}

static void
test_death_by_fin(void **state)
{
	(void)state;
	death_in_hand(raw_fin);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit_event),    cmocka_unit_test(test_S11_limit_of_each_stream),
		cmocka_unit_test(test_death_by_reset), cmocka_unit_test(test_death_by_fault),
		cmocka_unit_test(test_death_by_fin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
