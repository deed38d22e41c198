/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp_timer.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "pair.h"

static uint32_t
tick(struct pair *p, uint64_t now_ns)
{
	p->now_ns = now_ns;
	rdmap_tick(p->a.rdmap, now_ns);
	return pair_fill(p, &p->a);
}

/* A peer may lose a wake-up: 5, 20 and 80 ms after an initiator's first octets, while nothing came back. */
static void
test_nudge(void **state)
{
	static const char nudge[] = "\x00\x0e\xc1\x40\0\0\0\1\0\0\0\0\0\0\0\0";
	static const uint64_t at[] = {5, 20, 80};
	struct pair p;
	uint64_t t0;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	t0 = p.now_ns;
	assert_int_equal(tick(&p, t0 + IW_SEC), 0); /* nothing was sent yet: nothing to wake */
	t0 = p.now_ns;
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_fill(&p, &p.a), 1);
	for (int i = 0; i < 3; i++) {
		assert_true(rdmap_deadline(p.a.rdmap) <= t0 + at[i] * IW_MS + 20 * IW_US);
		assert_int_equal(tick(&p, t0 + at[i] * IW_MS - 100 * IW_US), 0);
		p.b.in.len = p.b.in.avail = 0;
		assert_int_equal(tick(&p, t0 + at[i] * IW_MS + 100 * IW_US), 1);
		assert_int_equal(p.b.in.len, 20);
		assert_memory_equal(p.b.in.p, nudge, 16);
	}
	assert_int_equal(tick(&p, t0 + 10 * IW_SEC), 0);
	assert_int_equal(rdmap_deadline(p.a.rdmap), IW_NEVER);
	pair_close(&p);
}

static void
test_no_nudge_when_awake(void **state)
{
	struct pair p;
	uint64_t t0;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	t0 = p.now_ns;
	assert_int_equal(pair_recv(&p.b, 1, NULL, 0, 0), 0);
	assert_int_equal(pair_recv(&p.a, 1, NULL, 0, 0), 0);
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_send(&p.b, 1, NULL, 0, 0, 0), 0);
	pair_pump(&p);
	for (int ms = 1; ms < 200; ms++)
		assert_int_equal(tick(&p, t0 + (uint64_t)ms * IW_MS), 0);
	pair_close(&p);
}

/* Whoever sends more wakes the peer by that. */
static void
test_no_nudge_when_more_was_sent(void **state)
{
	struct pair p;
	uint64_t t0;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	t0 = p.now_ns;
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, 0), 0);
	pair_fill(&p, &p.a);
	p.now_ns = t0 + 3 * IW_MS;
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, 0), 0);
	pair_fill(&p, &p.a);
	assert_int_equal(tick(&p, t0 + 6 * IW_MS), 0);
	assert_int_equal(tick(&p, t0 + 21 * IW_MS), 1);
	pair_close(&p);
}

/* X3: an FPDU that was begun must be finished within 30 s; each one has its own time. */
static void
test_X3_unfinished_fpdu(void **state)
{
	struct pair p;
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);
	uint8_t f[64];
	uint32_t n = pair_fpdu(f, &h, NULL, 0);
	uint64_t t0;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	t0 = p.now_ns;
	pair_inject(&p, &p.a, f, 1);
	p.now_ns = t0 + 20 * IW_SEC;
	pair_inject(&p, &p.a, f + 1, 5); /* no progress that counts */
	pair_inject(&p, &p.a, f + 6, n - 6);
	pair_inject(&p, &p.a, f, 3);
	tick(&p, t0 + 49 * IW_SEC);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
	tick(&p, t0 + 51 * IW_SEC);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_ERROR);
	assert_true(p.a.out_bits & RDMAP_OUT_FATAL);
	pair_close(&p);
}

static void
test_finished_fpdu_stops_the_clock(void **state)
{
	struct pair p;
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);
	uint8_t f[64];
	uint32_t n = pair_fpdu(f, &h, NULL, 0);
	uint64_t t0;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	t0 = p.now_ns;
	pair_inject(&p, &p.a, f, 7);
	pair_inject(&p, &p.a, f + 7, n - 7);
	for (int s = 1; s < 100; s++)
		tick(&p, t0 + (uint64_t)s * IW_SEC);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
	pair_close(&p);
}

static uint8_t
sent_code(const struct pair *p, uint8_t *first)
{
	const uint8_t *t = p->a.in.p;

	assert_int_equal(p->a.in.len, 48);
	assert_int_equal(t[3], 0x47);
	*first = t[20];
	assert_memory_equal(t + 22, "\xc0\x00\x00\x12", 4); /* M, D, the Send's length */
	assert_memory_equal(t + 26, "\x41\x43\0\0\0\0\0\0\0\0", 10);
	return t[21];
}

/* D9 with back-pressure: the message waits in the stream, and goes on when a receive is posted. */
static void
back_pressure(uint8_t opcode, uint32_t octets, bool markers)
{
	const struct iw_send_wr wr = {.opcode = opcode};
	struct pair p;
	struct rdmap_out out;
	struct iw_wc wc;

	pair_open(&p, &(struct pair_opts){.attr = {.recv_back_pressure = true}, .markers = markers});
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, NULL, 0, 0, NULL, 0, 0), 0);
	assert_int_equal(iw_post_send(p.a.qp, &wr, NULL), 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	assert_int_equal(p.b.fpdus_in, 1);
	assert_int_equal(p.b.in.len, octets);
	assert_false(rdmap_out_next(p.b.rdmap, &out));
	assert_int_equal(pair_recv(&p.b, 5, NULL, 0, 0), 0);
	assert_true(rdmap_out_next(p.b.rdmap, &out));
	assert_int_equal(out.bits, RDMAP_OUT_RX_RESUME);
	pair_deliver(&p, &p.b);
	assert_int_equal(iw_cq_poll(p.b.cq, &wc, 1), 1);
	assert_true(wc.wr_id == 5 && wc.status == IW_WC_SUCCESS);
	assert_int_equal(p.b.in.len, 0);
	pair_close(&p);
}

static void
test_D9_back_pressure(void **state)
{
	(void)state;
	for (int markers = 0; markers < 2; markers++) {
		back_pressure(IW_WR_SEND, 24, markers);
		back_pressure(IW_WR_IMM, 32, markers);
	}
}

/* D9 with back-pressure: when no receive is posted in time, what the standard says.  More octets do not prolong it. */
static void
test_D9_back_pressure_is_bounded(void **state)
{
	struct pair p;
	uint8_t first;

	(void)state;
	pair_open(&p, &(struct pair_opts){.attr = {.recv_back_pressure = true, .recv_wait_ms = 200}});
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, 0), 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	p.now_ns += 150 * 1000000u;
	rdmap_tick(p.b.rdmap, p.now_ns);
	assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, 0), 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	assert_true(rdmap_deadline(p.b.rdmap) <= p.now_ns + 60 * 1000000u);
	p.now_ns += 60 * 1000000u;
	rdmap_tick(p.b.rdmap, p.now_ns);
	p.b.out_bits = 0;
	pair_fill(&p, &p.b);
	assert_true(p.b.out_bits & RDMAP_OUT_RX_RESUME);
	pair_deliver(&p, &p.b);
	pair_fill(&p, &p.b);
	assert_int_equal(sent_code(&p, &first), 2);
	assert_int_equal(first, 0x12);
	assert_int_equal(p.b.in.len, 0);
	pair_close(&p);
}

/* Each message has its own time; a post in time is all it takes. */
static void
test_D9_back_pressure_anew_for_each(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.attr = {.recv_back_pressure = true, .recv_wait_ms = 200}});
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(pair_send(&p.a, i, NULL, 0, 0, 0), 0);
	pair_fill(&p, &p.a);
	for (uint32_t i = 0; i < 10; i++) {
		pair_deliver(&p, &p.b);
		p.now_ns += 150 * 1000000u;
		rdmap_tick(p.b.rdmap, p.now_ns);
		assert_int_equal(pair_recv(&p.b, i, NULL, 0, 0), 0);
		pair_deliver(&p, &p.b);
		assert_int_equal(pair_wc(&p.b).status, IW_WC_SUCCESS);
	}
	p.now_ns += 300 * 1000000u;
	rdmap_tick(p.b.rdmap, p.now_ns); /* nothing waits any more */
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	pair_close(&p);
}

/* The first FPDU has come, though it waits: the responder may send. */
static void
test_D9_first_fpdu_waits(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.attr = {.recv_back_pressure = true}});
	assert_int_equal(pair_send(&p.b, 1, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_fill(&p, &p.b), 0);
	assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, 0), 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	assert_true(p.b.out_bits & RDMAP_OUT_FIRST_FPDU);
	assert_int_equal(pair_fill(&p, &p.b), 1);
	p.b.out_bits = 0;
	assert_int_equal(pair_recv(&p.b, 5, NULL, 0, 0), 0);
	pair_fill(&p, &p.b);
	pair_deliver(&p, &p.b);
	assert_false(p.b.out_bits & RDMAP_OUT_FIRST_FPDU); /* once */
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nudge),
		cmocka_unit_test(test_no_nudge_when_awake),
		cmocka_unit_test(test_no_nudge_when_more_was_sent),
		cmocka_unit_test(test_X3_unfinished_fpdu),
		cmocka_unit_test(test_finished_fpdu_stops_the_clock),
		cmocka_unit_test(test_D9_back_pressure),
		cmocka_unit_test(test_D9_back_pressure_is_bounded),
		cmocka_unit_test(test_D9_back_pressure_anew_for_each),
		cmocka_unit_test(test_D9_first_fpdu_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
