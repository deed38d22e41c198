/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetching ahead (qp_ahead.h): the lines that a receive is about to need, nothing that is not the QP's; changes
 * nothing, and any handle will do.  What is fetched cannot be seen, so the source is compiled in here, and each line is
 * noted. */
#include <rte_mbuf.h>
#include <stdbool.h>

static void note(const void *line);
#define __builtin_prefetch(line, ...) note(line)
#include "qp_ahead.c"
#undef __builtin_prefetch

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "qp.h"
#include "rdmap_ctx.h"

#define RECVS 4
#define LINES 64

static const char *noted[LINES];
static uint32_t noted_n;

static void
note(const void *line)
{
	assert_true(noted_n < LINES);
	noted[noted_n++] = line;
}

/* Some line that was fetched holds this octet. */
static bool
is_fetched(const void *octet)
{
	for (uint32_t i = 0; i < noted_n; i++)
		if ((uintptr_t)noted[i] / 64 == (uintptr_t)octet / 64)
			return true;
	return false;
}

/* All that a step looks at, as it was. */
struct snapshot {
	struct rdmap rdmap;
	struct iw_qp qp;
	struct wr_rq rq;
	struct wr_recv wr[RECVS];
};

static void
take(struct snapshot *s, const struct rdmap *rdmap, const struct iw_qp *qp)
{
	memset(s, 0, sizeof(*s));
	memcpy(&s->rdmap, rdmap, sizeof(s->rdmap));
	memcpy(&s->qp, qp, sizeof(s->qp));
	if (!qp->rq)
		return;
	memcpy(&s->rq, qp->rq, sizeof(s->rq));
	memcpy(s->wr, qp->rq->wr, sizeof(s->wr[0]) * (qp->rq->shared ? 1 : RECVS));
}

/* Every step, in order and the other way round. */
static void
look_ahead(const struct rdmap *rdmap, uint32_t handle)
{
	noted_n = 0;
	for (int step = 0; step < QP_AHEAD_STEPS; step++)
		qp_ahead(rdmap, handle, (enum qp_ahead_step)step);
	for (int step = QP_AHEAD_STEPS - 1; step >= 0; step--)
		qp_ahead(rdmap, handle, (enum qp_ahead_step)step);
}

static void
expect_nothing_changes(const struct rdmap *rdmap, const struct iw_qp *qp, uint32_t handle)
{
	static struct snapshot before, after;

	take(&before, rdmap, qp);
	look_ahead(rdmap, handle);
	take(&after, rdmap, qp);
	assert_memory_equal(&before, &after, sizeof(before));
}

static struct pair_opts
opts(void)
{
	return (struct pair_opts){.attr = {.rq_depth = RECVS, .sq_depth = RECVS}};
}

static void
nothing(struct pair *p)
{
	(void)p;
}

static void
post_one(struct pair *p)
{
	assert_int_equal(pair_recv(&p->b, 1, p->b.arena, 0, 0), 0);
}

static void
post_all(struct pair *p)
{
	for (uint64_t i = 0; i < RECVS; i++)
		assert_int_equal(pair_recv(&p->b, i, p->b.arena, 0, 0), 0);
}

/* The queue's next receive is the last slot of its ring. */
static void
use_most(struct pair *p)
{
	post_all(p);
	for (uint64_t i = 0; i < RECVS - 1; i++)
		assert_int_equal(pair_send(&p->a, i, NULL, 0, 0, 0), 0);
	pair_pump(p);
}

static void
close_it(struct pair *p)
{
	qp_close(p->b.qp);
}

static void
fail_it(struct pair *p)
{
	qp_set_error(p->b.qp);
}

static const struct {
	const char *name;
	void (*bring_about)(struct pair *p);
} states[] = {
	{"running, no receive", nothing}, {"one receive", post_one}, {"queue full", post_all},
	{"last slot", use_most},          {"closing", close_it},     {"in error", fail_it},
};

static void
test_changes_nothing(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		const struct pair_opts o = opts();
		struct pair p;

		pair_open(&p, &o);
		states[i].bring_about(&p);
		print_message("%s\n", states[i].name);
		expect_nothing_changes(p.b.rdmap, p.b.qp, qp_handle(p.b.qp));
		pair_close(&p);
	}
}

static void
fetch(const struct pair *p, enum qp_ahead_step step)
{
	noted_n = 0;
	qp_ahead(p->b.rdmap, qp_handle(p->b.qp), step);
}

/* Each step fetches what the next one and the receive will read: the lines of the QP that are for it (QP_RX_LINES,
 * whose fields qp_obj.h pins); the head of its receive queue; the request that comes next, wherever it stands in the
 * ring.
 */
static void
test_fetches_what_is_needed(void **state)
{
	(void)state;
	for (uint32_t used = 0; used < 2 * RECVS; used++) {
		const struct pair_opts o = opts();
		const struct wr_recv *next;
		struct pair p;

		pair_open(&p, &o);
		for (uint64_t i = 0; i < used; i++) {
			assert_int_equal(pair_recv(&p.b, i, NULL, 0, 0), 0);
			assert_int_equal(pair_send(&p.a, i, NULL, 0, 0, 0), 0);
			pair_pump(&p);
			assert_int_equal(pair_wc(&p.b).wr_id, i);
		}
		post_one(&p);
		fetch(&p, QP_AHEAD_QP);
		for (size_t at = 0; at < QP_RX_LINES * 64; at += 64)
			assert_true(is_fetched((const char *)p.b.qp + at));
		fetch(&p, QP_AHEAD_QUEUE);
		assert_true(is_fetched(p.b.qp->rq));
		assert_true(is_fetched(&p.b.qp->rq->shared));
		fetch(&p, QP_AHEAD_RECV);
		next = &p.b.qp->rq->wr[used % RECVS];
		assert_true(is_fetched(next));
		assert_true(is_fetched(&next->sge[1]));
		pair_close(&p);
	}
}

/* Of what is gone no memory is touched, but the place of a handle that was once given out. */
static void
expect_no_queue(const struct rdmap *rdmap, uint32_t handle)
{
	noted_n = 0;
	qp_ahead(rdmap, handle, QP_AHEAD_QUEUE);
	qp_ahead(rdmap, handle, QP_AHEAD_RECV);
	assert_int_equal(noted_n, 0);
}

/* Messages go on as if nobody had looked: each receive once, in its order. */
static void
test_messages_between_looks(void **state)
{
	const struct pair_opts o = opts();
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	for (uint64_t i = 0; i < 3 * RECVS; i++) {
		assert_int_equal(pair_recv(&p.b, i, NULL, 0, 0), 0);
		look_ahead(p.b.rdmap, qp_handle(p.b.qp));
		assert_int_equal(pair_send(&p.a, i, NULL, 0, 0, IW_SEND_SIGNALED), 0);
		pair_pump(&p);
		look_ahead(p.b.rdmap, qp_handle(p.b.qp));
		assert_int_equal(pair_wc(&p.a).wr_id, i);
		assert_int_equal(pair_wc(&p.b).wr_id, i);
		assert_true(pair_no_wc(&p.b));
	}
	pair_close(&p);
}

/* Handles of nobody, of no slot, of another generation. */
static void
test_any_handle(void **state)
{
	const struct pair_opts o = opts();
	struct pair p;
	uint32_t live;

	(void)state;
	pair_open(&p, &o);
	live = qp_handle(p.b.qp);
	const uint32_t handles[] = {0,
				    1,
				    live + 1,
				    live - 1,
				    live ^ 1u << IW_POOL_INDEX_BITS,
				    IW_POOL_INDEX_MASK,
				    (uint32_t)~IW_POOL_INDEX_MASK,
				    UINT32_MAX};
	for (uint32_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		expect_nothing_changes(p.b.rdmap, p.b.qp, handles[i]);
		expect_no_queue(p.b.rdmap, handles[i]);
	}
	pair_close(&p);
}

/* Destroyed: its handle may still stand in the list of what is ready; and its memory may be another's by then. */
static void
test_destroyed(void **state)
{
	struct iw_qp_attr attr = {.rq_depth = RECVS, .sq_depth = RECVS};
	const struct pair_opts o = opts();
	uint32_t stale;
	struct pair p;
	struct iw_qp *qp;
	int err = -1;

	(void)state;
	pair_open(&p, &o);
	attr.send_cq = attr.recv_cq = p.b.cq;
	qp = qp_create(p.b.rdmap, p.b.pd, &attr, &err);
	assert_int_equal(err, 0);
	stale = qp_handle(qp);
	qp_destroy(qp);
	assert_null(qp_at(p.b.rdmap, stale));
	expect_nothing_changes(p.b.rdmap, p.b.qp, stale);
	expect_no_queue(p.b.rdmap, stale);
	qp = qp_create(p.b.rdmap, p.b.pd, &attr, &err);
	assert_int_equal(err, 0);
	assert_int_not_equal(qp_handle(qp), stale);
	expect_nothing_changes(p.b.rdmap, qp, stale);
	qp_destroy(qp);
	pair_close(&p);
}

/* Its receives come from an SRQ: its own queue holds at most the one under way. */
static void
test_shared_queue(void **state)
{
	struct iw_qp_attr attr = {.sq_depth = RECVS};
	const struct pair_opts o = opts();
	const struct iw_recv_wr wr = {.wr_id = 1};
	struct pair p;
	struct iw_qp *qp;
	int err = -1;

	(void)state;
	pair_open(&p, &o);
	attr.send_cq = attr.recv_cq = p.b.cq;
	attr.srq = srq_create(p.b.rdmap, p.b.pd, &(struct iw_srq_attr){.depth = RECVS}, &err);
	assert_int_equal(err, 0);
	qp = qp_create(p.b.rdmap, p.b.pd, &attr, &err);
	assert_int_equal(err, 0);
	expect_nothing_changes(p.b.rdmap, qp, qp_handle(qp));
	assert_int_equal(iw_post_srq_recv(attr.srq, &wr, NULL), 0);
	expect_nothing_changes(p.b.rdmap, qp, qp_handle(qp));
	qp_destroy(qp);
	assert_int_equal(srq_destroy(attr.srq), 0);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes_nothing),
		cmocka_unit_test(test_fetches_what_is_needed),
		cmocka_unit_test(test_messages_between_looks),
		cmocka_unit_test(test_any_handle),
		cmocka_unit_test(test_destroyed),
		cmocka_unit_test(test_shared_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
