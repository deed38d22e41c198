/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ctrl.h"

#define KATO_MS 1000
#define MS UINT64_C(1000000)

static struct ctrls all;
static struct subsys subsys;
static struct connect_data host = {.hostid = {7}, .cntlid = 0xffff, .subnqn = "nqn.s", .hostnqn = "nqn.h"};
static struct queue admin, io;

static struct ctrl *
start(struct subsys *s)
{
	struct ctrl *c;

	memset(&all, 0, sizeof(all));
	admin = (struct queue){.qid = 0};
	io = (struct queue){.qid = 1};
	c = ctrl_new(&all, s, &host, KATO_MS, 5 * MS);
	assert_non_null(c);
	ctrl_attach(c, &admin);
	ctrl_attach(c, &io);
	return c;
}

static void
test_numbers(void **state)
{
	struct ctrl *c;

	(void)state;
	memset(&all, 0, sizeof(all));
	for (int i = 1; i <= CTRL_MAX; i++)
		assert_int_equal(ctrl_new(&all, &subsys, &host, 0, 0)->cntlid, i);
	assert_null(ctrl_new(&all, &subsys, &host, 0, 0));
	assert_null(ctrl_find(&all, 0));
	assert_null(ctrl_find(&all, CTRL_MAX + 1));
	assert_null(ctrl_find(&all, 0xffff));
	c = ctrl_find(&all, 9);
	assert_int_equal(c->cntlid, 9);
	ctrl_kill(c, HANG_UP);
	assert_null(ctrl_find(&all, 9)); /* nobody joins a dying one */
}

/* A number is not used again as long as there are others. */
static void
test_numbers_are_reused_late(void **state)
{
	(void)state;
	start(&subsys);
	ctrl_detach(&all, &io);
	ctrl_detach(&all, &admin);
	assert_int_equal(all.used, 0);
	assert_int_equal(ctrl_new(&all, &subsys, &host, 0, 0)->cntlid, 2);
}

static void
test_keep_alive(void **state)
{
	struct ctrl *c = start(&subsys);

	(void)state;
	ctrl_expire(&all, (KATO_MS + 5) * MS);
	assert_int_equal(admin.hang_up, HANG_NOT); /* just in time */
	c->last_seen += MS;
	ctrl_expire(&all, (KATO_MS + 6) * MS);
	assert_int_equal(admin.hang_up, HANG_NOT);
	ctrl_expire(&all, (KATO_MS + 7) * MS);
	assert_int_equal(admin.hang_up, HANG_UP_AT_ONCE);
	assert_int_equal(io.hang_up, HANG_UP_AT_ONCE);
	assert_true(c->expired);
	c = start(&subsys);
	c->kato_ns = 0;
	ctrl_expire(&all, UINT64_MAX / 2);
	assert_int_equal(admin.hang_up, HANG_NOT);
}

/* The admin queue has left, and the host does not hang up the rest: it is done for it, by force in the end. */
static void
test_dying(void **state)
{
	struct ctrl *c = start(&subsys);

	(void)state;
	c->num_aers = 2;
	ctrl_detach(&all, &admin);
	assert_int_equal(c->num_aers, 0);
	assert_int_equal(io.hang_up, HANG_UP);
	ctrl_expire(&all, 100 * MS);
	ctrl_expire(&all, (100 + KATO_MS) * MS);
	assert_int_equal(io.hang_up, HANG_UP);
	ctrl_expire(&all, (101 + KATO_MS) * MS);
	assert_int_equal(io.hang_up, HANG_UP_AT_ONCE);
	assert_false(c->expired);
	ctrl_kill(c, HANG_UP);
	assert_int_equal(io.hang_up, HANG_UP_AT_ONCE); /* force stays */
	ctrl_detach(&all, &io);
	assert_int_equal(all.used, 0);
}

static uint64_t
csts(const struct ctrl *c)
{
	uint64_t value = 99;

	assert_true(ctrl_prop_get(c, PROP_CSTS, 4, &value));
	return value;
}

/* CC and CSTS (base 1.4 §3.1.5, §3.1.6). */
static void
test_enable(void **state)
{
	static const struct {
		uint32_t cc;
		bool ready;
	} rows[] = {
		{1u | 6u << 16 | 4u << 20, true},
		{1u | 5u << 16 | 4u << 20, false}, /* IOSQES */
		{1u | 6u << 16 | 3u << 20, false},
		{1u | 1u << 4 | 6u << 16 | 4u << 20, false}, /* CSS */
		{1u | 1u << 7 | 6u << 16 | 4u << 20, false},
		{6u << 16 | 4u << 20, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ctrl *c = start(&subsys);

		assert_false(ctrl_ready(c));
		assert_true(ctrl_prop_set(c, PROP_CC, 4, rows[i].cc));
		assert_int_equal(ctrl_ready(c), rows[i].ready);
		assert_int_equal(csts(c), rows[i].ready ? CSTS_RDY : rows[i].cc & 1 ? CSTS_CFS : 0);
		assert_true(ctrl_prop_set(c, PROP_CC, 4, 0));
		assert_int_equal(csts(c), 0);
	}
}

static void
test_shutdown(void **state)
{
	struct ctrl *c = start(&subsys);

	(void)state;
	assert_true(ctrl_prop_set(c, PROP_CC, 4, 1u | 6u << 16 | 4u << 20));
	assert_false(ctrl_shutting_down(c));
	assert_true(ctrl_prop_set(c, PROP_CC, 4, 1u | 1u << 14 | 6u << 16 | 4u << 20));
	assert_true(ctrl_shutting_down(c));
	assert_int_equal(csts(c), CSTS_SHST_OCCURRING);
	ctrl_shut_down(c);
	assert_int_equal(csts(c), CSTS_SHST_DONE);
	ctrl_shut_down(c);
	assert_int_equal(csts(c), CSTS_SHST_DONE);
}

static void
test_properties(void **state)
{
	static const struct {
		uint32_t offset;
		int size;
		bool there;
	} rows[] = {{PROP_CAP, 8, true}, {PROP_CAP, 4, false},  {PROP_VS, 4, true},
		    {PROP_VS, 8, false}, {PROP_CC, 4, true},    {PROP_CSTS, 4, true},
		    {PROP_CC, 0, false}, {PROP_NSSR, 4, false}, {0x444, 4, false}};
	struct ctrl *c = start(&subsys);
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ctrl_prop_get(c, rows[i].offset, rows[i].size, &value), rows[i].there);
	assert_true(ctrl_prop_get(c, PROP_CAP, 8, &value));
	assert_int_equal(value & 0xffff, CTRL_QUEUE_SIZE - 1); /* MQES, 0's based */
	assert_true(value >> 37 & 1);                          /* NVM command set */
	assert_false(ctrl_prop_set(c, PROP_CSTS, 4, 1));
	assert_false(ctrl_prop_set(c, PROP_CC, 8, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),    cmocka_unit_test(test_numbers_are_reused_late),
		cmocka_unit_test(test_keep_alive), cmocka_unit_test(test_dying),
		cmocka_unit_test(test_enable),     cmocka_unit_test(test_shutdown),
		cmocka_unit_test(test_properties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
