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
static struct shard here = {.number = 1}, there = {.number = 2};
static struct queue admin, io;

#define ENABLE (1u | 6u << 16 | 4u << 20)

static struct queue
queue_at(struct shard *shard, uint16_t qid)
{
	shard->mind = false;
	return (struct queue){.shard = shard, .qid = qid};
}

static struct ctrl *
start(struct subsys *s)
{
	struct ctrl *c;

	memset(&all, 0, sizeof(all));
	here.now_ns = 5 * MS;
	admin = queue_at(&here, 0);
	c = ctrl_new(&all, s, &host, KATO_MS, &admin);
	assert_non_null(c);
	return c;
}

/* With an I/O queue on another engine. */
static struct ctrl *
start_both(void)
{
	struct ctrl *c = start(&subsys);
	struct connect_data d = host;

	d.cntlid = c->cntlid;
	io = queue_at(&there, 1);
	assert_true(ctrl_prop_set(c, PROP_CC, 4, ENABLE));
	assert_int_equal(ctrl_join(&all, &subsys, &d, &io), CTRL_JOINED);
	assert_ptr_equal(io.ctrl, c);
	return c;
}

static void
expire(struct shard *shard, uint64_t now_ns)
{
	shard->now_ns = now_ns;
	ctrl_expire(&all, shard);
}

static void
test_numbers(void **state)
{
	static struct queue q[CTRL_MAX + 1];

	(void)state;
	memset(&all, 0, sizeof(all));
	for (int i = 0; i <= CTRL_MAX; i++)
		q[i] = queue_at(&here, 0);
	for (int i = 0; i < CTRL_MAX; i++)
		assert_int_equal(ctrl_new(&all, &subsys, &host, 0, &q[i])->cntlid, i + 1);
	assert_null(ctrl_new(&all, &subsys, &host, 0, &q[CTRL_MAX]));
}

/* Who joins which. */
static void
test_join(void **state)
{
	static struct subsys other;
	static const struct {
		const char *what;
		uint16_t cntlid, qid;
		bool other_subsys, other_host, other_id;
		enum ctrl_joined joined;
	} rows[] = {
		{"none", 0, 2, .joined = CTRL_NOT_YOURS},
		{"the next number", 2, 2, .joined = CTRL_NOT_YOURS},
		{"behind the last", CTRL_MAX + 1, 2, .joined = CTRL_NOT_YOURS},
		{"dynamic", 0xffff, 2, .joined = CTRL_NOT_YOURS},
		{"of another subsystem", 1, 2, .other_subsys = true, .joined = CTRL_NOT_YOURS},
		{"of another host", 1, 2, .other_host = true, .joined = CTRL_NOT_YOURS},
		{"of another host identifier", 1, 2, .other_id = true, .joined = CTRL_NOT_YOURS},
		{"more than granted", 1, 4, .joined = CTRL_NO_QUEUE},
		{"there already", 1, 1, .joined = CTRL_NOT_NOW},
		{"the last granted", 1, 3, .joined = CTRL_JOINED},
	};
	struct ctrl *c = start(&subsys);

	(void)state;
	assert_true(ctrl_grant(&all, c, 3));
	ctrl_prop_set(c, PROP_CC, 4, ENABLE);
	io = queue_at(&there, 1);
	assert_int_equal(
		ctrl_join(&all, &subsys, &(struct connect_data){.hostid = {7}, .cntlid = 1, .hostnqn = "nqn.h"}, &io),
		CTRL_JOINED);
	assert_false(ctrl_grant(&all, c, 4)); /* too late */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct queue q = queue_at(&there, rows[i].qid);
		struct connect_data d = host;

		d.cntlid = rows[i].cntlid;
		d.hostid[0] = rows[i].other_id ? 8 : 7;
		d.hostnqn[4] = rows[i].other_host ? 'x' : 'h';
		if (ctrl_join(&all, rows[i].other_subsys ? &other : &subsys, &d, &q) != rows[i].joined)
			fail_msg("%s", rows[i].what);
		if (q.ctrl)
			ctrl_detach(&all, &q);
	}
	ctrl_kill(&all, c, HANG_UP);
	io = queue_at(&there, 2);
	assert_int_equal(
		ctrl_join(&all, &subsys, &(struct connect_data){.hostid = {7}, .cntlid = 1, .hostnqn = "nqn.h"}, &io),
		CTRL_NOT_YOURS); /* nobody joins a dying one */
}

/* A number is not used again as long as there are others. */
static void
test_numbers_are_reused_late(void **state)
{
	(void)state;
	start_both();
	ctrl_detach(&all, &io);
	ctrl_detach(&all, &admin);
	assert_int_equal(all.used, 0);
	assert_int_equal(ctrl_new(&all, &subsys, &host, 0, &admin)->cntlid, 2);
}

/* Only the engine of the admin queue finds out; the engines of all its queues are told to look. */
static void
test_keep_alive(void **state)
{
	struct ctrl *c = start_both();
	uint64_t last = 5 * MS + CTRL_SEEN_NS + KATO_MS * MS;

	(void)state;
	expire(&here, last);
	assert_int_equal(admin.hang_up, HANG_NOT); /* just in time */
	ctrl_saw(c, 5 * MS + CTRL_SEEN_NS);        /* too soon to be written */
	assert_int_equal(c->last_seen, 5 * MS);
	ctrl_saw(c, 6 * MS + CTRL_SEEN_NS);
	expire(&here, last + MS + CTRL_SEEN_NS);
	assert_int_equal(admin.hang_up, HANG_NOT);
	expire(&there, UINT64_MAX / 2);
	assert_int_equal(admin.hang_up, HANG_NOT);
	assert_false(here.mind || there.mind);
	expire(&here, last + MS + CTRL_SEEN_NS + 1);
	assert_int_equal(admin.hang_up, HANG_UP_AT_ONCE);
	assert_int_equal(io.hang_up, HANG_UP_AT_ONCE);
	assert_true(here.mind && there.mind);
	assert_true(c->expired);
	c = start(&subsys);
	c->kato_ns = 0;
	expire(&here, UINT64_MAX / 2);
	assert_int_equal(admin.hang_up, HANG_NOT);
}

/* Another engine's turn began later, and it has seen a command since. */
static void
test_seen_in_the_future(void **state)
{
	struct ctrl *c = start_both();

	(void)state;
	ctrl_saw(c, 50 * MS);
	expire(&here, 40 * MS);
	assert_int_equal(admin.hang_up, HANG_NOT);
	ctrl_saw(c, 45 * MS);
	assert_int_equal(c->last_seen, 50 * MS);
}

/* The admin queue has left, and the host does not hang up the rest: it is done for it, by force in the end. */
static void
test_dying(void **state)
{
	struct ctrl *c = start_both();

	(void)state;
	c->num_aers = 2;
	ctrl_detach(&all, &admin);
	assert_int_equal(c->num_aers, 0);
	assert_int_equal(io.hang_up, HANG_UP);
	assert_true(there.mind);
	expire(&here, 100 * MS);
	expire(&here, (100 + KATO_MS) * MS);
	assert_int_equal(io.hang_up, HANG_UP);
	expire(&here, (101 + KATO_MS) * MS);
	assert_int_equal(io.hang_up, HANG_UP_AT_ONCE);
	assert_false(c->expired);
	ctrl_kill(&all, c, HANG_UP);
	assert_int_equal(io.hang_up, HANG_UP_AT_ONCE); /* force stays */
	ctrl_detach(&all, &io);
	assert_int_equal(all.used, 0);
}

/* What a queue has counted stays when it has left. */
static void
test_counts(void **state)
{
	struct ctrl *c = start_both();

	(void)state;
	queue_count(&io.counts.reads, 3);
	queue_count(&io.counts.blocks_read, 24);
	assert_int_equal(ctrl_counts(&all, c).reads, 3);
	ctrl_detach(&all, &io);
	assert_int_equal(ctrl_counts(&all, c).reads, 3);
	assert_int_equal(ctrl_counts(&all, c).blocks_read, 24);
	assert_int_equal(ctrl_counts(&all, c).writes, 0);
}

static uint64_t
csts(const struct ctrl *c)
{
	uint64_t value = 99;

	assert_true(ctrl_prop_get(&all, c, PROP_CSTS, 4, &value));
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

/* A controller that is disabled is ready no more, but says so when its I/O queues have gone; what was set is unset. */
static void
test_reset(void **state)
{
	struct request aer[2], *held;
	struct ctrl *c = start_both();

	(void)state;
	c->aer[c->num_aers++] = &aer[0];
	c->aer[c->num_aers++] = &aer[1];
	c->aen_config = 0x100;
	c->write_through = true;
	c->num_io_queues = 1;
	assert_true(ctrl_enabled(c));
	assert_true(ctrl_prop_set(c, PROP_CC, 4, ENABLE & ~1u));
	assert_false(ctrl_enabled(c));
	held = ctrl_reset(&all, c);
	assert_ptr_equal(held, &aer[0]);
	assert_ptr_equal(held->next, &aer[1]);
	assert_null(held->next->next);
	assert_int_equal(c->num_aers, 0);
	assert_int_equal(c->aen_config, 0);
	assert_false(c->write_through);
	assert_int_equal(c->num_io_queues, CTRL_IO_QUEUES);
	assert_int_equal(admin.hang_up, HANG_NOT);
	assert_int_equal(io.hang_up, HANG_UP_AT_ONCE);
	assert_false(ctrl_ready(c));
	assert_int_equal(csts(c), CSTS_RDY);
	ctrl_detach(&all, &io);
	assert_int_equal(csts(c), 0);
	assert_true(ctrl_prop_set(c, PROP_CC, 4, ENABLE));
	assert_int_equal(csts(c), CSTS_RDY);
}

/* As long as a disk has commands of a queue that has gone, its host gets no other controller of that subsystem; another
 * host does, and it does of another subsystem. */
static void
test_draining(void **state)
{
	static struct subsys other;
	struct connect_data second = host;
	struct queue next = queue_at(&here, 0), far = queue_at(&here, 0), beside = queue_at(&here, 0);

	(void)state;
	start_both();
	ctrl_drain(&all, &io);
	assert_int_equal(admin.hang_up, HANG_NOT);
	ctrl_drain(&all, &admin);
	assert_int_equal(io.hang_up, HANG_UP); /* the controller goes with its admin queue */
	ctrl_detach(&all, &admin);
	assert_null(ctrl_new(&all, &subsys, &host, 0, &next));
	second.hostid[0] = 8;
	assert_non_null(ctrl_new(&all, &subsys, &second, 0, &far));
	assert_non_null(ctrl_new(&all, &other, &host, 0, &beside));
	ctrl_detach(&all, &io);
	assert_non_null(ctrl_new(&all, &subsys, &host, 0, &next));
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
	assert_true(ctrl_prop_set(c, PROP_CC, 4, ENABLE)); /* only a reset starts it again (base 1.4 §7.6.2) */
	assert_int_equal(csts(c), CSTS_SHST_DONE);
	assert_true(ctrl_prop_set(c, PROP_CC, 4, 0));
	assert_true(ctrl_prop_set(c, PROP_CC, 4, ENABLE));
	assert_int_equal(csts(c), CSTS_RDY);
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
		assert_int_equal(ctrl_prop_get(&all, c, rows[i].offset, rows[i].size, &value), rows[i].there);
	assert_true(ctrl_prop_get(&all, c, PROP_CAP, 8, &value));
	assert_int_equal(value & 0xffff, CTRL_QUEUE_SIZE - 1); /* MQES, 0's based */
	assert_true(value >> 37 & 1);                          /* NVM command set */
	assert_false(ctrl_prop_set(c, PROP_CSTS, 4, 1));
	assert_false(ctrl_prop_set(c, PROP_CC, 8, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_seen_in_the_future),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_numbers_are_reused_late),
		cmocka_unit_test(test_keep_alive),
		cmocka_unit_test(test_dying),
		cmocka_unit_test(test_enable),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_draining),
		cmocka_unit_test(test_shutdown),
		cmocka_unit_test(test_properties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
