/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads of the storage target share, under ThreadSanitizer: controllers, whose queues join, count, are hung up
 * on and leave on other engines than the admin queue's; the blocks of a RAM disk. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctrl.h"

#define THREADS 3
#define ROUNDS 100
#define KATO_MS 10
#define ENABLE (1u | 6u << 16 | 4u << 20)
#define BLOCK 512
#define PAGES 4
#define DISK (PAGES * 4096)

static struct ctrls all;
static struct subsys subsys;
static bool over;
static uint32_t joined[THREADS];

/* An assertion of cmocka ends a thread without a word. */
static void
must(bool holds)
{
	if (!holds)
		abort();
}

static bool
is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static void
run(void *(*owner)(void *), void *(*other)(void *))
{
	pthread_t threads[THREADS];

	over = false;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, i == 0 ? owner : other, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* ---- Controllers ------------------------------------------------------------------------------------------------ */

static void
wait_a_little(struct ctrl *c)
{
	ctrl_counts(&all, c);
	sched_yield();
}

/* Its host disables it: the others leave, and then it says that it is not ready. */
static void
reset(struct ctrl *c)
{
	uint64_t csts;

	ctrl_prop_set(c, PROP_CC, 4, ENABLE & ~1u);
	must(ctrl_reset(&all, c) == NULL);
	for (;;) {
		must(ctrl_prop_get(&all, c, PROP_CSTS, 4, &csts));
		if ((csts & CSTS_RDY) == 0)
			return;
		wait_a_little(c);
	}
}

/* One life of a controller: it comes when nothing of the one before is left, is enabled, others join, it is reset, its
 * host falls silent, the admin queue leaves. */
static void
live(struct shard *here, uint32_t round)
{
	struct connect_data d = {.hostid = {7}, .hostnqn = "nqn.h"};
	struct queue admin = {.shard = here, .size = 32};
	uint32_t before = __atomic_load_n(&joined[1], __ATOMIC_RELAXED);
	struct ctrl *c;

	while (!(c = ctrl_new(&all, &subsys, &d, KATO_MS, &admin)))
		sched_yield();
	must(ctrl_grant(&all, c, CTRL_IO_QUEUES));
	ctrl_prop_set(c, PROP_CC, 4, ENABLE);
	__atomic_store_n(&c->write_through, round % 2, __ATOMIC_RELAXED);
	while (__atomic_load_n(&joined[1], __ATOMIC_RELAXED) == before)
		wait_a_little(c);
	if (round % 3 == 0)
		reset(c);
	if (round % 2)
		here->now_ns += UINT64_C(1000000000);
	ctrl_expire(&all, here);
	ctrl_detach(&all, &admin);
}

static void *
own(void *number)
{
	struct shard here = {.number = 0};

	(void)number;
	for (uint32_t i = 0; i < ROUNDS; i++)
		live(&here, i);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	return NULL;
}

/* As the flow of a connection does it, until its controller is killed; a call to mind may be for a queue that has left.
 */
static void
serve_queue(struct queue *q)
{
	while (!__atomic_exchange_n(&q->shard->mind, false, __ATOMIC_ACQUIRE) || queue_hung_up(q) == HANG_NOT) {
		q->shard->now_ns += CTRL_SEEN_NS;
		must(q->ctrl->subsys == &subsys);
		ctrl_saw(q->ctrl, q->shard->now_ns);
		queue_count(&q->counts.reads, ctrl_ready(q->ctrl));
		queue_count(&q->counts.writes, __atomic_load_n(&q->ctrl->write_through, __ATOMIC_RELAXED));
	}
	if (q->counts.reads % 2)
		ctrl_drain(&all, q); /* a disk has something of it */
	ctrl_detach(&all, q);
}

static void *
join(void *number)
{
	uint32_t me = (uint32_t)(uintptr_t)number;
	struct connect_data d = {.hostid = {7}, .hostnqn = "nqn.h"};
	struct shard here = {.number = me};

	for (uint32_t at = 0; !is_over(); at++) {
		struct queue q = {.shard = &here, .qid = (uint16_t)me, .size = 32};

		d.cntlid = (uint16_t)(at % CTRL_MAX + 1);
		if (ctrl_join(&all, &subsys, &d, &q) != CTRL_JOINED) {
			sched_yield();
			continue;
		}
		__atomic_store_n(&joined[me], joined[me] + 1, __ATOMIC_RELAXED);
		serve_queue(&q);
	}
	return NULL;
}

static void
test_controllers(void **state)
{
	(void)state;
	memset(&all, 0, sizeof(all));
	run(own, join);
	assert_int_equal(all.used, 0);
	assert_true(joined[1] >= ROUNDS);
	assert_true(all.changes >= 2 * ROUNDS);
}

/* ---- Blocks ----------------------------------------------------------------------------------------------------- */

static struct bdev *disk[THREADS];

static void
io(struct bdev *b, enum bdev_op op, uint64_t offset, uint8_t *data, uint64_t len)
{
	struct bdev_io o = {.op = op, .offset = offset, .len = len, .iov[0] = {data, len}, .iovcnt = 1};

	must(bdev_submit(b, &o));
	must(o.result == 0);
}

/* Requests that lie across pages; each block that is read was written as a whole by somebody. */
static void *
use_disk(void *number)
{
	static uint8_t memory[THREADS][DISK];
	uintptr_t me = (uintptr_t)number;
	uint8_t *data = memory[me];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t offset = (i * 7 + me) % 8 * BLOCK, len = DISK - 8 * BLOCK;

		memset(data, (int)(me + 1 + 3 * (i % 80)), len);
		io(disk[me], BDEV_WRITE, offset, data, len);
		if (me == 0 && i % 16 == 0)
			io(disk[me], BDEV_ZEROES, offset, NULL, len);
		io(disk[me], BDEV_READ, offset, data, len);
		for (uint64_t k = 0; k < len; k++)
			must(data[k] == data[k / BLOCK * BLOCK]);
	}
	return NULL;
}

static void
test_blocks(void **state)
{
	char why[128];

	(void)state;
	disk[0] = bdev_open("ram:16K", false, NULL, 0, why, sizeof(why));
	assert_non_null(disk[0]);
	for (int i = 1; i < THREADS; i++)
		assert_non_null(disk[i] = bdev_share(disk[0], NULL, 0, why, sizeof(why)));
	run(use_disk, use_disk);
	for (int i = 0; i < THREADS; i++)
		bdev_close(disk[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_controllers),
		cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
