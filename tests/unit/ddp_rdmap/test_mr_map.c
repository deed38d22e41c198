/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr_map.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "domain.h"
#include "env.h"
#include "mr.h"
#include "wr.h"

static uint8_t mem[4096];

/* Every octet is found where a plain walk finds it, with as many behind it as are there in one piece. */
static void
test_runs(void **state)
{
	static const struct iw_iov iov[] = {
		{mem + 100, 1}, {mem + 50, 7}, {mem + 2000, 512}, {mem, 3}, {mem + 700, 64}};
	struct mr_map *map = mr_map_create(8);
	uint64_t off = 0;

	(void)state;
	assert_int_equal(mr_map_fill(map, iov, 5), 0);
	assert_int_equal(map->total, 587);
	for (uint32_t i = 0; i < 5; i++)
		for (uint64_t k = 0; k < iov[i].length; k++, off++)
			for (uint32_t want = 1; want < 600; want += 97) {
				uint32_t len = want;

				assert_ptr_equal(mr_map_run(map, off, &len), (uint8_t *)iov[i].addr + k);
				assert_int_equal(len, want < iov[i].length - k ? want : iov[i].length - k);
			}
	assert_int_equal(mr_map_fill(map, iov + 2, 1), 0); /* again, shorter */
	assert_int_equal(map->total, 512);
	mr_map_destroy(map);
}

static void
test_bad_lists(void **state)
{
	const struct iw_iov good[3] = {{mem, 1}, {mem, 1}, {mem, 1}};
	const struct iw_iov bad[][2] = {{{mem, 1}, {mem, 0}},
					{{NULL, 1}, {mem, 1}},
					{{mem, 1}, {mem, UINT64_MAX}},
					{{(void *)1, UINT64_MAX - 1}, {(void *)1, UINT64_MAX - 1}}};
	struct mr_map *map = mr_map_create(2);

	(void)state;
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mr_map_fill(map, bad[i], 2), -IW_E_INVAL);
	assert_int_equal(mr_map_fill(map, good, 0), -IW_E_INVAL);
	assert_int_equal(mr_map_fill(map, NULL, 1), -IW_E_INVAL);
	assert_int_equal(mr_map_fill(map, good, 3), -IW_E_TOOBIG);
	mr_map_destroy(map);
	mr_map_destroy(NULL);
}

/* iw_mr_reg_iov(): tagged offsets begin at iova; nothing is granted before and behind. */
static void
test_registration(void **state)
{
	static const uint8_t secret[IW_SECRET_LEN] = {7};
	const struct iw_iov iov[2] = {{mem + 64, 100}, {mem + 1024, 28}};
	const uint64_t iova = 0x4000000000000000;
	struct iw_domain *d = domain_create(secret);
	struct iw_pd *pd = iw_pd_create(d);
	struct mr_user user = {.domain = d, .pd = pd, .serial = 1};
	struct iw_iov many = {mem, 1};
	const struct iw_mr *found;
	struct wr_piece piece;
	uint32_t len = 128, stag;
	struct iw_mr *mr;
	int err = -1;

	(void)state;
	mr = iw_mr_reg_iov(pd, iov, 2, iova, IW_REMOTE_READ, &err);
	assert_int_equal(err, 0);
	stag = iw_mr_rkey(mr);
	assert_int_equal(mr_check(&user, stag, iova, 128, IW_REMOTE_READ), MR_OK);
	assert_int_equal(mr_check(&user, stag, iova, 129, IW_REMOTE_READ), MR_BOUNDS);
	assert_int_equal(mr_check(&user, stag, iova - 1, 1, IW_REMOTE_READ), MR_BOUNDS);
	assert_int_equal(mr_check(&user, stag, (uintptr_t)mem + 64, 1, IW_REMOTE_READ), MR_BOUNDS);
	assert_int_equal(mr_get(&user, stag, iova + 98, 30, 0, &found), MR_OK);
	piece = wr_piece_of(found, iova + 98, 30);
	assert_ptr_equal(wr_piece_run(&piece, 0, &len), mem + 64 + 98);
	assert_int_equal(len, 2);
	assert_ptr_equal(wr_piece_run(&piece, 2, &len), mem + 1024);
	assert_null(iw_mr_reg_iov(pd, iov, 2, UINT64_MAX - 100, 0, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_reg_iov(pd, iov, 0, 0, 0, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_reg_iov(pd, &many, IW_MAX_IOV + 1, 0, 0, &err));
	assert_int_equal(err, -IW_E_INVAL);
	iw_env_alloc_fuse = 1;
	assert_null(iw_mr_reg_iov(pd, iov, 2, 0, 0, &err));
	assert_int_equal(err, -IW_E_NOMEM);
	iw_env_alloc_fuse = 0;
	assert_int_equal(iw_mr_dereg(mr), 0);
	assert_int_equal(iw_mr_dereg(mr), -IW_E_STALE);
	assert_int_equal(iw_mr_rkey(mr), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_bad_lists),
					   cmocka_unit_test(test_registration)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
