/* SPDX-License-Identifier: BSD-3-Clause */
#include "cq.h"

#include <pthread.h>

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain.h"
#include "rdmap_face.h"

static const uint8_t secret[IW_SECRET_LEN] = {7};

struct fixture {
	struct iw_env env;
	struct iw_domain *d;
	struct rdmap *r;
	struct iw_cq *cq;
	uint32_t fired;
};

static void
on_event(struct iw_cq *cq, void *context)
{
	struct fixture *f = context;

	assert_ptr_equal(cq, f->cq);
	f->fired++;
}

static void
set_up(struct fixture *f, uint32_t depth)
{
	const struct rdmap_params params = {.max_qps = 4};

	memset(f, 0, sizeof(*f));
	f->d = domain_create(secret);
	f->r = rdmap_create(&f->env, f->d, NULL, &params);
	f->cq = cq_create(f->r, depth, on_event, f);
	assert_non_null(f->cq);
}

static void
tear_down(struct fixture *f)
{
	rdmap_destroy(f->r);
	assert_int_equal(iw_domain_destroy(f->d), 0);
}

static uint32_t
deliver(struct fixture *f)
{
	struct iw_cq *cq;

	f->fired = 0;
	rdmap_doorbells(f->r);
	while ((cq = cq_notify_next(f->r)))
		cq_notify(cq);
	return f->fired;
}

static void
push(struct fixture *f, uint64_t id, uint8_t status, uint16_t flags)
{
	const struct iw_wc wc = {.wr_id = id, .status = status, .flags = flags};

	cq_push(f->cq, &wc);
}

static void
test_first_in_first_out(void **state)
{
	struct fixture f;
	struct iw_wc wc[8];

	(void)state;
	set_up(&f, 5); /* 8 */
	for (uint64_t round = 0; round < 100; round++) {
		for (uint64_t i = 0; i < 8; i++)
			push(&f, round * 8 + i, IW_WC_SUCCESS, 0);
		assert_int_equal(iw_cq_poll(f.cq, wc, 3), 3);
		assert_int_equal(wc[2].wr_id, round * 8 + 2);
		assert_int_equal(iw_cq_poll(f.cq, wc, 8), 5);
		assert_int_equal(wc[0].wr_id, round * 8 + 3);
		assert_int_equal(wc[4].wr_id, round * 8 + 7);
		assert_int_equal(iw_cq_poll(f.cq, wc, 8), 0);
	}
	tear_down(&f);
}

/* S13: room is reserved, and given back only when what the QP left behind was polled. */
static void
test_S13_room(void **state)
{
	struct fixture f;
	struct iw_wc wc[8];

	(void)state;
	set_up(&f, 8);
	assert_int_equal(cq_attach(f.cq, 5), 0);
	assert_int_equal(cq_attach(f.cq, 4), -IW_E_NOMEM);
	assert_int_equal(cq_attach(f.cq, 3), 0);
	assert_int_equal(cq_attach(f.cq, 1), -IW_E_NOMEM);
	assert_int_equal(cq_destroy(f.cq), -IW_E_BUSY);
	push(&f, 1, IW_WC_SUCCESS, 0);
	push(&f, 2, IW_WC_SUCCESS, 0);
	cq_detach(f.cq, 5);
	assert_int_equal(cq_attach(f.cq, 4), -IW_E_NOMEM);
	assert_int_equal(cq_attach(f.cq, 3), 0);
	cq_detach(f.cq, 3);
	assert_int_equal(iw_cq_poll(f.cq, wc, 8), 2);
	assert_int_equal(cq_attach(f.cq, 5), 0);
	cq_detach(f.cq, 5);
	cq_detach(f.cq, 3);
	tear_down(&f);
}

static void
test_armed_once(void **state)
{
	struct fixture f;
	struct iw_wc wc[8];

	(void)state;
	set_up(&f, 8);
	push(&f, 1, IW_WC_SUCCESS, 0);
	assert_int_equal(deliver(&f), 0); /* not armed */
	assert_int_equal(iw_cq_poll(f.cq, wc, 8), 1);
	assert_int_equal(iw_cq_arm(f.cq, false), 0);
	assert_int_equal(deliver(&f), 0);
	push(&f, 2, IW_WC_SUCCESS, 0);
	push(&f, 3, IW_WC_SUCCESS, 0);
	assert_int_equal(deliver(&f), 1);
	push(&f, 4, IW_WC_SUCCESS, 0);
	assert_int_equal(deliver(&f), 0);
	/* Completions wait already: it fires at the next poll. */
	assert_int_equal(iw_cq_arm(f.cq, false), 0);
	assert_int_equal(iw_cq_arm(f.cq, false), 0);
	assert_int_equal(deliver(&f), 1);
	assert_int_equal(deliver(&f), 0);
	tear_down(&f);
}

static void
test_solicited_only(void **state)
{
	struct fixture f;
	struct iw_wc wc[8];

	(void)state;
	set_up(&f, 8);
	push(&f, 1, IW_WC_SUCCESS, 0);
	assert_int_equal(iw_cq_arm(f.cq, true), 0);
	push(&f, 2, IW_WC_SUCCESS, IW_WC_WITH_INV);
	assert_int_equal(deliver(&f), 0);
	push(&f, 3, IW_WC_SUCCESS, IW_WC_SOLICITED);
	assert_int_equal(deliver(&f), 1);
	assert_int_equal(iw_cq_poll(f.cq, wc, 8), 3);
	assert_int_equal(iw_cq_arm(f.cq, true), 0);
	push(&f, 4, IW_WC_WR_FLUSH_ERR, 0);
	assert_int_equal(deliver(&f), 1);
	assert_int_equal(iw_cq_arm(f.cq, true), 0); /* the failed one still waits */
	assert_int_equal(deliver(&f), 1);
	tear_down(&f);
}

/* A CQ that has rung or fired can be destroyed before anybody looked. */
static void
test_destroy_while_fired(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 8);
	push(&f, 1, IW_WC_SUCCESS, 0);
	assert_int_equal(iw_cq_arm(f.cq, false), 0);
	assert_int_equal(cq_destroy(f.cq), 0);
	assert_int_equal(deliver(&f), 0);
	assert_int_equal(rdmap_cq_count(f.r), 0);
	tear_down(&f);
}

static void
test_bad_depth(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 1);
	assert_null(cq_create(f.r, 0, NULL, NULL));
	assert_null(cq_create(f.r, UINT32_MAX, NULL, NULL));
	iw_env_alloc_fuse = 1;
	assert_null(cq_create(f.r, 8, NULL, NULL));
	iw_env_alloc_fuse = 0;
	tear_down(&f);
}

/* Longer and shorter, wherever the ring stands; what waits stays, what is reserved must fit. */
static void
test_resize(void **state)
{
	struct fixture f;
	struct iw_wc wc[64];
	uint64_t id = 0, got = 0;

	(void)state;
	set_up(&f, 8);
	assert_int_equal(cq_attach(f.cq, 8), 0);
	for (int round = 0; round < 40; round++) {
		uint32_t depth = round % 3 == 0 ? 64 : round % 3 == 1 ? 16 : 8;
		int n = round % 9;

		for (int i = 0; i < n; i++)
			push(&f, id++, IW_WC_SUCCESS, 0);
		assert_int_equal(cq_resize(f.cq, depth), 0);
		assert_int_equal(f.cq->mask + 1, depth);
		assert_int_equal(iw_cq_poll(f.cq, wc, 64), n);
		for (int i = 0; i < n; i++)
			assert_int_equal(wc[i].wr_id, got++);
	}
	assert_int_equal(cq_resize(f.cq, 4), -IW_E_BUSY); /* reserved */
	cq_detach(f.cq, 8);
	for (int i = 0; i < 5; i++)
		push(&f, id++, IW_WC_SUCCESS, 0);
	assert_int_equal(cq_resize(f.cq, 4), -IW_E_BUSY); /* waiting */
	assert_int_equal(cq_resize(f.cq, 0), -IW_E_INVAL);
	assert_int_equal(cq_resize(f.cq, UINT32_MAX), -IW_E_INVAL);
	iw_env_alloc_fuse = 1;
	assert_int_equal(cq_resize(f.cq, 64), -IW_E_NOMEM);
	iw_env_alloc_fuse = 0;
	assert_int_equal(iw_cq_poll(f.cq, wc, 64), 5);
	assert_int_equal(cq_resize(f.cq, 4), 0);
	tear_down(&f);
}

struct poller {
	struct iw_cq *cq;
	uint64_t want, got, wrong;
};

static void *
poll_on(void *arg)
{
	struct poller *p = arg;
	struct iw_wc wc[16];

	while (p->got < p->want) {
		int n = iw_cq_poll(p->cq, wc, 16);

		for (int i = 0; i < n; i++)
			p->wrong += wc[i].wr_id != p->got++;
		iw_cq_arm(p->cq, false);
	}
	return NULL;
}

/* D22: the poller may be another thread; nothing is lost, doubled or torn. */
static void
test_two_threads(void **state)
{
	struct fixture f;
	struct poller p = {.want = 20000};
	pthread_t thread;

	(void)state;
	set_up(&f, 64);
	p.cq = f.cq;
	assert_int_equal(pthread_create(&thread, NULL, poll_on, &p), 0);
	for (uint64_t i = 0; i < p.want;) {
		if (i >= 64 && !cq_is_polled(f.cq, i - 64)) {
			deliver(&f);
			continue;
		}
		push(&f, i++, IW_WC_SUCCESS, 0);
	}
	pthread_join(thread, NULL);
	assert_int_equal(p.wrong, 0);
	assert_int_equal(p.got, p.want);
	tear_down(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_in_first_out),  cmocka_unit_test(test_S13_room),
		cmocka_unit_test(test_armed_once),          cmocka_unit_test(test_solicited_only),
		cmocka_unit_test(test_destroy_while_fired), cmocka_unit_test(test_bad_depth),
		cmocka_unit_test(test_two_threads),         cmocka_unit_test(test_resize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
