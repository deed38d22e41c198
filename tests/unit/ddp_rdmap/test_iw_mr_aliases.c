/* SPDX-License-Identifier: BSD-3-Clause */
/* S8: two STags on one buffer for peers that need not trust each other (RFC 5042 §6.3.6). */
#include <iwarp/err.h>
#include <iwarp/verbs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "domain.h"
#include "env.h"
#include "mr.h"

#define READ IW_REMOTE_READ
#define WRITE IW_REMOTE_WRITE
#define ATOMIC IW_REMOTE_ATOMIC

static uint8_t memory[1024];
static struct iw_domain *d;
static struct iw_pd *pd[2];

static void
set_up(void)
{
	static const uint8_t secret[IW_SECRET_LEN] = {7};

	d = domain_create(secret);
	pd[0] = iw_pd_create(d);
	pd[1] = iw_pd_create(d);
}

static void
tear_down(void)
{
	for (uint32_t slot = 0; slot < d->fresh; slot++)
		if (d->chunk[0][slot].kind != MR_FREE)
			assert_int_equal(iw_mr_dereg(&d->chunk[0][slot]), 0);
	assert_int_equal(iw_pd_destroy(pd[0]), 0);
	assert_int_equal(iw_pd_destroy(pd[1]), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
}

/* Two registrations: whose, for which QP (0: the PD's), where, what they grant; pieces that are shared. */
static const struct row {
	struct {
		uint8_t pd, scope;
		uint32_t off, len, access;
	} r[2];
	int shared;
} rows[] = {
	{{{0, 0, 0, 64, WRITE}, {1, 0, 0, 64, WRITE}}, 2},
	{{{0, 0, 0, 64, WRITE}, {1, 0, 63, 64, WRITE}}, 2},
	{{{0, 0, 63, 64, WRITE}, {1, 0, 0, 64, READ}}, 2}, /* what one writes the other sees */
	{{{0, 0, 0, 64, READ}, {1, 0, 0, 64, ATOMIC}}, 2},
	{{{0, 0, 0, 64, WRITE}, {1, 0, 16, 16, READ}}, 2},
	{{{0, 0, 0, 64, WRITE}, {1, 0, 64, 64, WRITE}}, 0}, /* neighbours */
	{{{0, 0, 0, 64, READ}, {1, 0, 0, 64, READ}}, 0},    /* nothing new (§6.3.6) */
	{{{0, 0, 0, 64, WRITE}, {0, 0, 0, 64, READ}}, 0},   /* one PD: they trust each other */
	{{{0, 0, 0, 64, WRITE}, {1, 0, 0, 64, IW_LOCAL_WRITE}}, 0},
	{{{0, 0, 0, 64, WRITE}, {1, 0, 0, 0, WRITE}}, 0},
	{{{0, 1, 0, 64, WRITE}, {0, 1, 0, 64, READ}}, 0}, /* one stream */
	{{{0, 1, 0, 64, WRITE}, {0, 2, 0, 64, WRITE}}, 2},
	{{{0, 1, 0, 64, READ}, {0, 0, 0, 64, WRITE}}, 2}, /* every stream of the PD may write there */
};

static void
test_S8(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set_up();
		assert_int_equal(iw_mr_aliases(d), 0);
		for (int k = 0; k < 2; k++) {
			struct iw_mr *mr = iw_mr_reg(pd[rows[i].r[k].pd], memory + rows[i].r[k].off, rows[i].r[k].len,
						     rows[i].r[k].access, NULL);

			assert_non_null(mr);
			mr->scope = rows[i].r[k].scope; /* as iw_mr_reg_qp() does */
		}
		if (iw_mr_aliases(d) != rows[i].shared)
			fail_msg("row %zu: %d", i, iw_mr_aliases(d));
		tear_down();
	}
}

/* Pieces of a list count each; one that is gone does not. */
static void
test_S8_pieces(void **state)
{
	struct iw_iov iov[3] = {{memory, 16}, {memory + 64, 16}, {memory + 32, 16}};
	struct iw_mr *a, *b;

	(void)state;
	set_up();
	a = iw_mr_reg_iov(pd[0], iov, 3, 4096, WRITE, NULL);
	b = iw_mr_reg(pd[1], memory + 40, 30, READ, NULL);
	assert_int_equal(iw_mr_aliases(d), 3); /* two of a's, and b's */
	b->valid = 0;                          /* invalidated */
	assert_int_equal(iw_mr_aliases(d), 0);
	b->valid = 1;
	assert_int_equal(iw_mr_dereg(a), 0);
	assert_int_equal(iw_mr_aliases(d), 0);
	tear_down();
}

static void
test_arguments(void **state)
{
	(void)state;
	assert_int_equal(iw_mr_aliases(NULL), -IW_E_INVAL);
	set_up();
	iw_env_alloc_fuse = 1;
	assert_int_equal(iw_mr_aliases(d), -IW_E_NOMEM);
	tear_down();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_S8),
		cmocka_unit_test(test_S8_pieces),
		cmocka_unit_test(test_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
