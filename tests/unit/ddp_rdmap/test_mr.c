/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LEN 4096

static const uint8_t secret[IW_SECRET_LEN] = {7};

struct fixture {
	struct iw_domain *d;
	struct iw_pd *pd, *other;
	uint8_t mem[LEN];
};

static void
set_up(struct fixture *f)
{
	f->d = domain_create(secret);
	f->pd = iw_pd_create(f->d);
	f->other = iw_pd_create(f->d);
}

static void
tear_down(struct fixture *f)
{
	assert_int_equal(iw_pd_destroy(f->pd), 0);
	assert_int_equal(iw_pd_destroy(f->other), 0);
	assert_int_equal(iw_domain_destroy(f->d), 0);
}

/* S4: offsets x lengths against plain arithmetic in 128 bits. */
static void
test_S4_bounds(void **state)
{
	static const uint64_t lens[] = {1, 2, 3, LEN - 1, LEN, LEN + 1, 1 << 16, UINT32_MAX};
	struct fixture f;
	struct mr_user user;
	struct iw_mr *mr;

	(void)state;
	set_up(&f);
	user = (struct mr_user){.domain = f.d, .pd = f.pd, .serial = 5};
	mr = iw_mr_reg(f.pd, f.mem, LEN, IW_REMOTE_WRITE, NULL);
	for (uint32_t l = 0; l < sizeof(lens) / sizeof(lens[0]); l++) {
		uint64_t base = (uintptr_t)f.mem;
		uint64_t at[] = {base - 1,
				 base,
				 base + 1,
				 base + LEN - 1,
				 base + LEN,
				 base + LEN + 1,
				 base + (1ull << 32),
				 base ^ 1ull << 63,
				 UINT64_MAX,
				 UINT64_MAX - lens[l] + 1,
				 0};

		for (uint32_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			unsigned __int128 end = (unsigned __int128)at[i] + lens[l];
			enum mr_verdict want = MR_OK;

			if (end > (unsigned __int128)1 << 64)
				want = MR_WRAP;
			else if (at[i] < base || end > base + LEN)
				want = MR_BOUNDS;
			assert_int_equal(mr_check(&user, iw_mr_rkey(mr), at[i], lens[l], IW_REMOTE_WRITE), want);
		}
	}
	assert_int_equal(iw_mr_dereg(mr), 0);
	tear_down(&f);
}

/* S7: each right alone, and all of them. */
static void
test_S7_rights(void **state)
{
	static const uint32_t rights[] = {0, IW_LOCAL_WRITE, IW_REMOTE_READ, IW_REMOTE_WRITE,
					  IW_REMOTE_READ | IW_REMOTE_WRITE};
	struct fixture f;
	struct mr_user user;

	(void)state;
	set_up(&f);
	user = (struct mr_user){.domain = f.d, .pd = f.pd, .serial = 5};
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 5; k++) {
			struct iw_mr *mr = iw_mr_reg(f.pd, f.mem, LEN, rights[i], NULL);

			assert_int_equal(mr_check(&user, iw_mr_rkey(mr), (uintptr_t)f.mem, 1, rights[k]),
					 (rights[k] & ~rights[i]) == 0 ? MR_OK : MR_ACCESS);
			assert_int_equal(iw_mr_dereg(mr), 0);
		}
	tear_down(&f);
}

/* S1, S2: PD and stream; D2: key, other STags, after deregistration. */
static void
test_S1_S2_who(void **state)
{
	struct fixture f;
	struct mr_user user, stranger, alien;
	struct iw_mr *mr;
	uint32_t stag;

	(void)state;
	set_up(&f);
	user = (struct mr_user){.domain = f.d, .pd = f.pd, .serial = 5};
	stranger = (struct mr_user){.domain = f.d, .pd = f.pd, .serial = 6};
	alien = (struct mr_user){.domain = f.d, .pd = f.other, .serial = 5};
	mr = iw_mr_reg(f.pd, f.mem, LEN, IW_REMOTE_READ, NULL);
	stag = iw_mr_rkey(mr);
	assert_int_equal(mr_check(&user, stag, (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_OK);
	assert_int_equal(mr_check(&stranger, stag, (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_OK);
	assert_int_equal(mr_check(&alien, stag, (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_STREAM);
	mr->scope = 5; /* as iw_mr_reg_qp() */
	assert_int_equal(mr_check(&user, stag, (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_OK);
	assert_int_equal(mr_check(&stranger, stag, (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_STREAM);
	for (uint32_t bit = 0; bit < 32; bit++)
		assert_int_equal(mr_check(&user, stag ^ 1u << bit, (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_STAG);
	assert_int_equal(iw_mr_dereg(mr), 0);
	assert_int_equal(mr_check(&user, stag, (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_STAG);
	tear_down(&f);
}

/* What granted the last one answers as a search would: for its own STag, for another one, and when it is gone. */
static void
test_again(void **state)
{
	struct fixture f;
	struct mr_user user, alien;
	const struct iw_mr *seen = NULL;
	struct iw_mr *mr[2];
	uintptr_t at;

	(void)state;
	set_up(&f);
	at = (uintptr_t)f.mem;
	user = (struct mr_user){.domain = f.d, .pd = f.pd, .serial = 5};
	alien = (struct mr_user){.domain = f.d, .pd = f.other, .serial = 5};
	for (int i = 0; i < 2; i++)
		mr[i] = iw_mr_reg(f.pd, f.mem, LEN, IW_REMOTE_READ, NULL);
	for (int i = 0; i < 6; i++) {
		assert_true(mr_get_again(&user, iw_mr_lkey(mr[i / 2 % 2]), at, LEN, &seen));
		assert_ptr_equal(seen, mr[i / 2 % 2]);
	}
	assert_false(mr_get_again(&alien, iw_mr_lkey(mr[0]), at, 1, &seen));
	assert_false(mr_get_again(&user, iw_mr_lkey(mr[0]), at, LEN + 1, &seen));
	assert_false(mr_get_again(&user, iw_mr_lkey(mr[0]), at - 1, 1, &seen));
	assert_false(mr_get_again(&user, iw_mr_lkey(mr[0]), UINT64_MAX, 2, &seen));
	assert_true(mr_get_again(&user, iw_mr_lkey(mr[0]), at, 1, &seen));
	at = iw_mr_lkey(mr[0]);
	assert_int_equal(iw_mr_dereg(mr[0]), 0);
	assert_false(mr_get_again(&user, (uint32_t)at, (uintptr_t)f.mem, 1, &seen));
	assert_int_equal(iw_mr_dereg(mr[1]), 0);
	tear_down(&f);
}

/* B21: a length of 0 grants nothing. */
static void
test_B21_zero_length(void **state)
{
	struct fixture f;
	struct mr_user user;
	struct iw_mr *mr;

	(void)state;
	set_up(&f);
	user = (struct mr_user){.domain = f.d, .pd = f.pd, .serial = 5};
	mr = iw_mr_reg(f.pd, f.mem, 0, IW_REMOTE_READ, NULL);
	assert_non_null(mr);
	assert_int_equal(mr_check(&user, iw_mr_rkey(mr), (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_BOUNDS);
	assert_int_equal(iw_mr_dereg(mr), 0);
	tear_down(&f);
}

/* R10, S17: only what one stream owns, and says so, can be invalidated by its peer. */
static void
test_R10_invalidate(void **state)
{
	struct fixture f;
	struct mr_user user, stranger;
	struct iw_mr *mr, *shared;

	(void)state;
	set_up(&f);
	user = (struct mr_user){.domain = f.d, .pd = f.pd, .serial = 5};
	stranger = (struct mr_user){.domain = f.d, .pd = f.pd, .serial = 6};
	shared = iw_mr_reg(f.pd, f.mem, LEN, IW_REMOTE_READ, NULL);
	assert_int_equal(mr_invalidate(&user, iw_mr_rkey(shared)), MR_ACCESS);
	mr = iw_mr_reg(f.pd, f.mem, LEN, IW_REMOTE_READ, NULL);
	mr->scope = 5;
	assert_int_equal(mr_invalidate(&user, iw_mr_rkey(mr)), MR_ACCESS);
	mr->access |= IW_REMOTE_INVALIDATE;
	assert_int_equal(mr_invalidate(&stranger, iw_mr_rkey(mr)), MR_STREAM);
	assert_int_equal(mr_check(&user, iw_mr_rkey(mr), (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_OK);
	assert_int_equal(mr_invalidate(&user, iw_mr_rkey(mr)), MR_OK);
	assert_int_equal(mr_check(&user, iw_mr_rkey(mr), (uintptr_t)f.mem, 1, IW_REMOTE_READ), MR_STAG);
	assert_int_equal(mr_invalidate(&user, iw_mr_rkey(mr)), MR_STAG);
	assert_int_equal(iw_mr_dereg(mr), 0);
	assert_int_equal(iw_mr_dereg(shared), 0);
	tear_down(&f);
}

static void
test_bad_arguments(void **state)
{
	struct fixture f;
	int err;

	(void)state;
	set_up(&f);
	assert_null(iw_mr_reg(NULL, f.mem, 1, 0, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_reg(f.pd, NULL, 1, 0, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_reg(f.pd, f.mem, UINT64_MAX, 0, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_reg(f.pd, f.mem, 1, 1 << 7, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_reg(f.pd, f.mem, 1, IW_REMOTE_INVALIDATE, &err)); /* S17 */
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_reg_qp(NULL, f.mem, 1, 0, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_int_equal(iw_mr_dereg(NULL), -IW_E_INVAL);
	tear_down(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_S4_bounds),       cmocka_unit_test(test_S7_rights),
		cmocka_unit_test(test_S1_S2_who),       cmocka_unit_test(test_again),
		cmocka_unit_test(test_B21_zero_length), cmocka_unit_test(test_R10_invalidate),
		cmocka_unit_test(test_bad_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
