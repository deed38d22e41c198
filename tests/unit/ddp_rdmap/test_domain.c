/* SPDX-License-Identifier: BSD-3-Clause */
#include "domain.h"

#include <pthread.h>

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mr.h"

static const uint8_t secret[IW_SECRET_LEN] = {9};

static void
test_busy_until_all_is_gone(void **state)
{
	struct iw_domain *d = domain_create(secret);
	struct iw_pd *pd = iw_pd_create(d);
	uint8_t buf[16];
	struct iw_mr *mr = iw_mr_reg(pd, buf, sizeof(buf), 0, NULL);
	uint32_t reader;

	(void)state;
	assert_int_equal(domain_join(d, &reader), 0);
	assert_int_equal(iw_domain_destroy(d), -IW_E_BUSY);
	domain_leave(d, reader);
	assert_int_equal(iw_domain_destroy(d), -IW_E_BUSY);
	assert_int_equal(iw_pd_destroy(pd), -IW_E_BUSY);
	assert_int_equal(iw_mr_dereg(mr), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
	assert_int_equal(iw_domain_destroy(NULL), -IW_E_INVAL);
	assert_null(iw_pd_create(NULL));
}

/* Slots are used again as late as possible, and then with another STag. */
static void
test_S3_reused_late(void **state)
{
	struct iw_domain *d = domain_create(secret);
	struct iw_pd *pd = iw_pd_create(d);
	uint32_t *seen = malloc(20000 * sizeof(*seen));
	uint8_t buf[16];

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		struct iw_mr *mr = iw_mr_reg(pd, buf, sizeof(buf), 0, NULL);

		assert_non_null(mr);
		seen[i] = iw_mr_rkey(mr) >> 8;
		assert_int_equal(iw_mr_dereg(mr), 0);
	}
	for (uint32_t i = 0; i < 20000; i += 97)
		for (uint32_t k = i + 1; k < 20000; k++)
			assert_int_not_equal(seen[i], seen[k]);
	free(seen);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
}

static void
test_slots_come_back_in_order(void **state)
{
	struct iw_domain *d = domain_create(secret);
	struct iw_mr *a, *b;
	uint32_t slot, other;

	(void)state;
	d->fresh = STAG_SLOTS - 2; /* as after a million registrations */
	d->chunk[DOMAIN_CHUNKS - 1] = iw_env_alloc(sizeof(struct iw_mr) * DOMAIN_CHUNK);
	a = domain_mr_get(d, &slot);
	assert_int_equal(slot, STAG_SLOTS - 2);
	a->stag = stag_make(&d->perm, slot, a->gen, 1);
	assert_ptr_equal(domain_mr(d, a->stag), a);
	b = domain_mr_get(d, &other);
	assert_int_equal(other, STAG_SLOTS - 1);
	b->stag = stag_make(&d->perm, other, b->gen, 2);
	assert_int_equal(b->gen, 1);
	assert_null(domain_mr_get(d, &other));
	domain_mr_put(d, b);
	domain_mr_put(d, a);
	assert_ptr_equal(domain_mr_get(d, &slot), b);
	assert_int_equal(slot, STAG_SLOTS - 1);
	assert_int_equal(b->gen, 2);
	b->stag = stag_make(&d->perm, slot, b->gen, 2);
	domain_mr_put(d, b);
	assert_int_equal(d->mrs, 0);
	assert_int_equal(iw_domain_destroy(d), 0);
}

/* What was destroyed is known as such. */
static void
test_stale_pd(void **state)
{
	struct iw_domain *d = domain_create(secret);
	struct iw_pd *pd = iw_pd_create(d);
	uint8_t buf[16];
	int err;

	(void)state;
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_pd_destroy(pd), -IW_E_STALE);
	assert_null(iw_mr_reg(pd, buf, sizeof(buf), 0, &err));
	assert_int_equal(err, -IW_E_STALE);
	assert_int_equal(iw_pd_destroy(NULL), -IW_E_INVAL);
	assert_int_equal(iw_domain_destroy(d), 0);
}

static void
test_short_of_memory(void **state)
{
	struct iw_domain *d = domain_create(secret);
	struct iw_pd *pd = iw_pd_create(d);
	uint8_t buf[16];
	int err = 0;

	(void)state;
	iw_env_alloc_fuse = 1; /* a piece of the table */
	assert_null(iw_mr_reg(pd, buf, sizeof(buf), 0, &err));
	assert_int_equal(err, -IW_E_NOMEM);
	for (uint32_t fuse = 1; fuse <= 5; fuse++) {
		iw_env_alloc_fuse = fuse;
		assert_null(domain_create(secret));
	}
	iw_env_alloc_fuse = 0;
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
}

/* A reader on another thread that checks and then touches the memory, as an engine does within one poll. */
struct reader {
	struct iw_domain *d;
	struct iw_pd *pd;
	uint32_t stag, stop;
	uint64_t hits;
	uint8_t *mem;
};

static void *
read_on(void *arg)
{
	struct reader *r = arg;
	struct mr_user user = {.domain = r->d, .pd = r->pd, .serial = 1};
	uint32_t me;

	domain_join(r->d, &me);
	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		uint32_t stag = __atomic_load_n(&r->stag, __ATOMIC_RELAXED);

		domain_enter(r->d, me);
		for (int i = 0; i < 64; i++)
			if (stag && mr_check(&user, stag, (uintptr_t)r->mem, 64, IW_REMOTE_WRITE) == MR_OK)
				r->hits += ((volatile uint8_t *)r->mem)[i];
		domain_quiescent(r->d, me);
	}
	domain_leave(r->d, me);
	return NULL;
}

/* D16: when iw_mr_dereg() returns no other thread has the registration in hand; freed memory would be seen by the
 * sanitizer, a table that loses its MR too early by the counter. */
static void
test_dereg_waits_for_other_threads(void **state)
{
	struct iw_domain *d = domain_create(secret);
	struct reader r = {.d = d, .pd = iw_pd_create(d), .mem = malloc(64)};
	pthread_t thread;

	(void)state;
	memset(r.mem, 1, 64);
	assert_int_equal(pthread_create(&thread, NULL, read_on, &r), 0);
	for (int i = 0; i < 300; i++) {
		struct iw_mr *mr = iw_mr_reg(r.pd, r.mem, 64, IW_REMOTE_WRITE, NULL);

		__atomic_store_n(&r.stag, iw_mr_rkey(mr), __ATOMIC_RELAXED);
		assert_int_equal(iw_mr_dereg(mr), 0);
	}
	__atomic_store_n(&r.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	free(r.mem);
	assert_int_equal(iw_pd_destroy(r.pd), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
}

/* Engines of the calling thread need not be polled: it is not inside of them. */
static void
test_own_engines_do_not_block(void **state)
{
	struct iw_domain *d = domain_create(secret);
	struct iw_pd *pd = iw_pd_create(d);
	uint32_t reader[DOMAIN_READERS], one;
	uint8_t buf[16];

	(void)state;
	for (int i = 0; i < DOMAIN_READERS; i++)
		assert_int_equal(domain_join(d, &reader[i]), 0);
	assert_int_equal(domain_join(d, &one), -IW_E_NOMEM);
	assert_int_equal(iw_mr_dereg(iw_mr_reg(pd, buf, 16, 0, NULL)), 0);
	for (int i = 0; i < DOMAIN_READERS; i++)
		domain_leave(d, reader[i]);
	assert_int_equal(iw_mr_dereg(iw_mr_reg(pd, buf, 16, 0, NULL)), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
}

static void *
one_turn(void *arg)
{
	struct reader *r = arg;
	uint32_t me;

	domain_join(r->d, &me);
	domain_enter(r->d, me);
	domain_quiescent(r->d, me);
	return (void *)(uintptr_t)me;
}

/* An engine whose thread has stopped polling for ever, or has never begun, does not block iw_mr_dereg() elsewhere. */
static void
test_between_turns_nobody_waits(void **state)
{
	struct iw_domain *d = domain_create(secret);
	struct reader r = {.d = d, .pd = iw_pd_create(d)};
	uint8_t buf[16];
	pthread_t thread;
	void *reader;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, one_turn, &r), 0);
	pthread_join(thread, &reader);
	assert_int_equal(iw_mr_dereg(iw_mr_reg(r.pd, buf, 16, 0, NULL)), 0);
	domain_leave(d, (uint32_t)(uintptr_t)reader);
	assert_int_equal(iw_pd_destroy(r.pd), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy_until_all_is_gone),   cmocka_unit_test(test_S3_reused_late),
		cmocka_unit_test(test_slots_come_back_in_order), cmocka_unit_test(test_stale_pd),
		cmocka_unit_test(test_short_of_memory),          cmocka_unit_test(test_dereg_waits_for_other_threads),
		cmocka_unit_test(test_own_engines_do_not_block), cmocka_unit_test(test_between_turns_nobody_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
