/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events of QPs, and objects that are gone. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "qp_obj.h"
#include "rdmap_ctx.h"

static uint8_t bad_write[64];

static uint32_t
make_bad_write(void)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 0xdeadbeef, 0);

	return pair_fpdu(bad_write, &h, "12345678", 8);
}

/* The one who found it hears QP_FATAL, the other one the Terminate; each once, with what it says. */
static void
test_both_sides(void **state)
{
	struct pair p;
	struct iw_async_event ev;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	pair_inject(&p, &p.b, bad_write, make_bad_write());
	pair_pump(&p);
	qp_stream_end(p.b.qp, -IW_E_CONNRESET);
	assert_true(rdmap_async_next(p.b.rdmap, &ev));
	assert_int_equal(ev.type, IW_ASYNC_QP_FATAL);
	assert_ptr_equal(ev.qp, p.b.qp);
	assert_true(ev.term.valid && ev.term.sent);
	assert_int_equal(ev.term.layer << 8 | ev.term.etype << 4 | ev.term.code, 0x110);
	assert_false(rdmap_async_next(p.b.rdmap, &ev));
	assert_true(rdmap_async_next(p.a.rdmap, &ev));
	assert_int_equal(ev.type, IW_ASYNC_QP_TERMINATE);
	assert_true(ev.term.valid && !ev.term.sent);
	assert_int_equal(ev.term.layer << 8 | ev.term.etype << 4 | ev.term.code, 0x110);
	assert_false(rdmap_async_next(p.a.rdmap, &ev));
	pair_close(&p);
}

/* What its user did or asked for is no event. */
static void
test_orderly_is_silent(void **state)
{
	struct pair p;
	struct iw_async_event ev;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	qp_close(p.a.qp);
	qp_stream_end(p.a.qp, 0);
	qp_set_error(p.b.qp);
	assert_false(rdmap_async_next(p.a.rdmap, &ev));
	assert_false(rdmap_async_next(p.b.rdmap, &ev));
	pair_close(&p);
}

/* S20: every QP has its place in the list once; one that is destroyed gives it back, whoever stands behind stays. */
static void
test_S20_bounded(void **state)
{
	struct pair p;
	struct iw_async_event ev;
	struct iw_qp *qp[7];
	int err;

	(void)state;
	pair_open(&p, &(struct pair_opts){.cq_depth = 4096});
	for (int round = 0; round < 50; round++) {
		struct iw_qp_attr attr = {.send_cq = p.b.cq, .recv_cq = p.b.cq, .sq_depth = 8, .rq_depth = 8};
		const struct qp_stream st = {.conn = 7, .initiator = true};

		for (int i = 0; i < 7; i++) { /* there is room for 16 */
			qp[i] = qp_create(p.b.rdmap, p.b.pd, &attr, &err);
			assert_int_equal(qp_start(qp[i], &st, 1), 0);
			qp_fail(qp[i], RDMAP_FAULT_MPA_LOCAL);
		}
		for (int i = 0; i < 7; i++)
			if (i != 3)
				qp_destroy(qp[i]);
		assert_int_equal(iw_ring_count(&p.b.rdmap->async_ring), 1);
		if (round % 2) {
			assert_true(rdmap_async_next(p.b.rdmap, &ev));
			assert_ptr_equal(ev.qp, qp[3]);
		}
		qp_destroy(qp[3]);
		assert_false(rdmap_async_next(p.b.rdmap, &ev));
	}
	pair_close(&p);
}

/* Every public call knows an object that was destroyed, and NULL. */
static void
test_stale_handles(void **state)
{
	struct pair p;
	struct iw_qp_attr attr;
	struct iw_send_wr swr = {.opcode = IW_WR_SEND};
	struct iw_recv_wr rwr = {.wr_id = 1};
	const struct iw_send_wr *sbad = NULL;
	struct iw_qp_info info;
	struct iw_terminate t = {.valid = true};
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct iw_wc wc;
	int err;

	(void)state;
	pair_open(&p, &(struct pair_opts){.cq_depth = 4096});
	cq = cq_create(p.a.rdmap, 512, NULL, NULL);
	attr = (struct iw_qp_attr){.send_cq = cq, .recv_cq = cq};
	qp = qp_create(p.a.rdmap, p.a.pd, &attr, &err);
	assert_int_equal(iw_qp_query(qp, &info), 0);
	assert_int_equal(info.state, IW_QP_IDLE);
	assert_int_equal(info.sq_depth, 128);
	assert_int_equal(info.rq_depth, 128);
	assert_int_equal(info.ird, 16);
	assert_int_equal(iw_qp_query(qp, NULL), -IW_E_INVAL);
	qp_destroy(qp);
	assert_int_equal(cq_destroy(cq), 0);
	assert_int_equal(iw_post_send(qp, &swr, &sbad), -IW_E_STALE);
	assert_ptr_equal(sbad, &swr);
	assert_int_equal(iw_post_recv(qp, &rwr, NULL), -IW_E_STALE);
	assert_int_equal(iw_qp_query(qp, &info), -IW_E_STALE);
	assert_int_equal(iw_qp_query(NULL, &info), -IW_E_INVAL);
	assert_int_equal(iw_qp_state(qp), IW_QP_ERROR);
	assert_int_equal(iw_qp_state(NULL), IW_QP_ERROR);
	assert_null(iw_qp_context(qp));
	iw_qp_terminate_info(qp, &t);
	assert_false(t.valid);
	assert_null(iw_mr_reg_qp(qp, p.a.arena, 1, 0, &err));
	assert_int_equal(err, -IW_E_STALE);
	assert_int_equal(iw_cq_poll(cq, &wc, 1), -IW_E_STALE);
	assert_int_equal(iw_cq_arm(cq, false), -IW_E_STALE);
	assert_int_equal(iw_cq_poll(NULL, &wc, 1), -IW_E_INVAL);
	assert_int_equal(iw_cq_poll(p.a.cq, NULL, 1), -IW_E_INVAL);
	assert_null(qp_create(p.a.rdmap, p.a.pd, &attr, &err));
	assert_int_equal(err, -IW_E_STALE);
	for (int i = 0; i < 3; i++) {
		assert_string_not_equal(iw_async_name(i), "unknown");
		assert_string_not_equal(iw_async_name(i), iw_async_name(i + 1));
	}
	assert_string_equal(iw_async_name(3), "unknown");
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_sides),
		cmocka_unit_test(test_orderly_is_silent),
		cmocka_unit_test(test_S20_bounded),
		cmocka_unit_test(test_stale_handles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
