/* SPDX-License-Identifier: BSD-3-Clause */
/* S14 (RFC 5042 §6.4.6): a CQ that nobody polls is full.  It cannot overflow: posts that would need a place in it are
 * refused, whoever sends to the stream then is told that there is no buffer, or waits, and the QP goes to ERROR with an
 * event.  A stream that shares the CQ goes on where it needs no place, and those of other CQs lose nothing and are not
 * late. */
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
#include "traffic.h"
#include "victim.h"

#define DEPTH 4u               /* of each queue of both streams */
#define PLACES (2 * 2 * DEPTH) /* what both can complete */
#define FLOOD 200u

static struct sim *s;
static struct victim v;
static struct raw a, b; /* streams whose CQ nobody polls */
static struct pair p;   /* others, on the same engine */
static struct traffic t;
static struct iw_cq *full;
static const struct iw_qp *failed;
static uint32_t failures;
static uint8_t octets[FLOOD * 64];

static void
on_async(struct iw_engine *engine, const struct iw_async_event *event, void *context)
{
	(void)engine;
	(void)context;
	assert_int_equal(event->type, IW_ASYNC_QP_FATAL);
	assert_int_equal(event->term.code, 2);
	failed = event->qp;
	failures++;
}

static uint32_t
put_send(uint8_t *out, uint32_t msn)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, msn, 0);

	return raw_fpdu(out, &h, "12345678", 8);
}

static int
post_recv(uint32_t conn)
{
	struct iw_recv_wr wr = {.sg_list = &(struct iw_sge){(uintptr_t)victim_at(&v, VICTIM_RW), VICTIM_MR,
							    iw_mr_lkey(v.mr[VICTIM_RW])},
				.num_sge = 1};

	return iw_post_recv(v.conn[conn].qp, &wr, NULL);
}

static int
post_send(uint32_t conn)
{
	const struct iw_send_wr wr = {.opcode = IW_WR_SEND, .flags = IW_SEND_SIGNALED};

	return iw_post_send(v.conn[conn].qp, &wr, NULL);
}

/* Every place is taken. */
static void
fill(struct raw *r, uint32_t conn)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_int_equal(post_recv(conn), 0);
		n += put_send(octets + n, i + 1);
	}
	raw_send(r, octets, n);
	raw_run(r, IW_MS);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_int_equal(post_send(conn), 0);
	raw_run(r, IW_MS);
	assert_int_equal(post_recv(conn), -IW_E_NOMEM);
	assert_int_equal(post_send(conn), -IW_E_NOMEM);
}

static void
open_world(bool back_pressure)
{
	struct iw_cq *own;

	s = malloc(sizeof(*s));
	sim_init(s, 4, 3, 1500);
	pair_init(&p, s, NULL);
	traffic_init(&t, &p);
	assert_true(pair_connect(&p, 10 * IW_SEC));
	victim_init(&v, s, 0);
	v.recvs = 0;
	v.qp_attr.sq_depth = v.qp_attr.rq_depth = DEPTH;
	v.qp_attr.recv_back_pressure = back_pressure;
	failures = 0;
	assert_int_equal(iw_engine_set_async(v.engine, on_async, NULL), 0);
	full = iw_cq_create(v.engine, PLACES, NULL, NULL);
	own = v.cq;
	v.cq = full;
	victim_listen(&v);
	assert_true(raw_open(&a, s, 2, 0, VICTIM_PORT) && raw_start(&a));
	assert_true(raw_open(&b, s, 2, 0, VICTIM_PORT) && raw_start(&b));
	v.cq = own;
	fill(&a, 0);
	fill(&b, 1);
}

/* What others get done meanwhile; returns how long that took. */
static uint64_t
exchange(void)
{
	uint64_t began = s->now_ns;

	traffic_exchange(&t, 10 * IW_SEC);
	return s->now_ns - began;
}

static uint64_t
exchange_alone(void)
{
	uint64_t took;

	open_world(false);
	took = exchange();
	return took;
}

static void
flood(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < FLOOD; i++)
		n += put_send(octets + n, DEPTH + 1 + i);
	raw_send(&a, octets, n);
}

/* All that completed is there, once; what was posted behind it is flushed. */
static void
drain(uint32_t want)
{
	struct iw_wc wc;
	uint32_t n = 0;

	while (iw_cq_poll(full, &wc, 1) == 1) {
		assert_int_equal(wc.status, IW_WC_SUCCESS);
		n++;
	}
	assert_int_equal(n, want);
}

static void
close_world(void)
{
	assert_true(pair_disconnect(&p, 10 * IW_SEC));
	for (int i = 0; i < 2; i++)
		assert_int_equal(p.end[i].last.status, 0);
	traffic_check(&t);
	traffic_fini(&t);
	pair_fini(&p);
	raw_close(&a);
	raw_close(&b);
	raw_run(&b, IW_SEC);
	for (uint32_t i = 0; i < v.conns; i++) {
		assert_int_equal(iw_qp_destroy(v.conn[i].qp), 0);
		v.conn[i].qp = NULL;
	}
	assert_int_equal(iw_cq_destroy(full), 0);
	victim_close(&v);
}

/* A Read needs no place at its responder. */
static void
check_sharer(void)
{
	raw_forget(&b);
	raw_send(&b, octets,
		 raw_read_req(octets, 1, 64, iw_mr_rkey(v.mr[VICTIM_RO]), (uintptr_t)victim_at(&v, VICTIM_RO)));
	assert_true(raw_await(&b, 84, IW_MS));
	assert_memory_equal(b.in + 16, victim_at(&v, VICTIM_RO), 64);
	assert_int_equal(iw_qp_state(v.conn[1].qp), IW_QP_RTS);
}

static void
test_S14_others_go_on(void **state)
{
	uint64_t alone = exchange_alone();

	(void)state;
	close_world();
	open_world(false);
	flood();
	assert_in_range(exchange(), 1, alone + alone / 2);
	check_sharer();
	raw_run(&a, IW_MS);
	assert_int_equal(raw_terminate(&a), 0x1202);
	assert_int_not_equal(iw_qp_state(v.conn[0].qp), IW_QP_RTS);
	assert_int_equal(failures, 1);
	assert_ptr_equal(failed, v.conn[0].qp);
	drain(PLACES);
	assert_int_equal(post_recv(1), 0); /* polled: there is room again */
	raw_send(&b, octets, put_send(octets, DEPTH + 1));
	raw_run(&b, IW_MS);
	drain(1);
	close_world();
}

/* The same with back-pressure: nothing ends, and when it is polled at last all of it comes. */
static void
test_S14_back_pressure(void **state)
{
	uint64_t alone = exchange_alone();
	uint32_t got = 0;

	(void)state;
	close_world();
	open_world(true);
	flood();
	assert_in_range(exchange(), 1, alone + alone / 2);
	check_sharer();
	assert_int_equal(raw_terminate(&a), 0);
	assert_int_equal(failures, 0);
	drain(PLACES);
	while (got < FLOOD) {
		for (uint32_t i = 0; i < DEPTH; i++)
			assert_int_equal(post_recv(0), 0);
		raw_run(&a, IW_MS);
		drain(DEPTH);
		got += DEPTH;
	}
	assert_int_equal(iw_qp_state(v.conn[0].qp), IW_QP_RTS);
	close_world();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_S14_others_go_on),
		cmocka_unit_test(test_S14_back_pressure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
