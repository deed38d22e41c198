/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target on two engines: queues of one controller on both of them; the port has one queue, so connections
 * are spread in software.  One thread polls all, what crosses threads is tests/tsan's. */
#include <nvme/types.h>
#include <unistd.h>

#include "ends.h"
#include "nvmf_ends.h"

#define QUEUES 8 /* chance puts all of them on one engine once in 128 times: more are tried then */
#define TRIES 64
#define DEPTH 16
#define LEN 4096
#define KATO_MS 300

static struct initiator queue[TRIES];
static uint16_t num_queues, first_on[2]; /* the first queue on each engine */

static int
open_two(void **state)
{
	static const char *const spec[] = {"ram:2M"};

	(void)state;
	nvmf_ends_open_with(spec, 1, 2);
	assert_int_equal(ends.server.n, 2);
	return 0;
}

static struct ctrl *
controller(void)
{
	return &ends.target.ctrls.ctrl[ends.cntlid - 1];
}

static void
add_queue(void)
{
	uint16_t qid = num_queues + 1;

	assert_true(num_queues < TRIES);
	nvmf_ends_start(&queue[num_queues], qid, DEPTH, NULL);
	assert_int_equal(initiator_fabrics_connect(&queue[num_queues], NQN, HOST, (uint16_t)ends.cntlid, 0),
			 ends.cntlid);
	first_on[nvmf_ends_engine_of(ends.cntlid, qid)] = num_queues++;
}

/* A controller with I/O queues on both engines. */
static void
connect_all(uint32_t kato_ms)
{
	num_queues = 0;
	first_on[0] = first_on[1] = TRIES;
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	ends.cntlid = initiator_fabrics_connect(&ends.admin, NQN, HOST, 0xffff, kato_ms);
	assert_true(ends.cntlid > 0);
	assert_true(initiator_enable(&ends.admin));
	while (num_queues < QUEUES || first_on[0] == TRIES || first_on[1] == TRIES)
		add_queue();
	assert_true(ends.server.side[0].num_conns > 0 && ends.server.side[1].num_conns > 0);
}

static void
hang_up_all(void)
{
	for (uint16_t i = 0; i < num_queues; i++)
		nvmf_ends_hang_up(&queue[i]);
}

static struct nvme_command
command(uint16_t number, uint8_t opcode, uint16_t cid)
{
	struct nvme_command c =
		nvmf_ends_command(opcode, (number * DEPTH + cid) % 64 * 8, LEN / 512, nvmf_ends_keyed(LEN));

	c.sgl.addr += (size_t)number * LEN;
	c.cid = cid;
	return c;
}

/* What a queue writes the next one reads, from the other engine too; the health log has them all. */
static void
test_queues_on_both(void **state)
{
	struct nvme_command log = {.opcode = nvme_admin_get_log_page,
				   .cdw10 = (sizeof(struct nvme_smart_log) / 4 - 1) << 16 | NVME_LOG_LID_SMART,
				   .sgl = nvmf_ends_keyed(sizeof(struct nvme_smart_log))};
	static uint8_t wrote[LEN];
	uint64_t reads;

	(void)state;
	connect_all(0);
	for (uint16_t i = 0; i < num_queues; i++) {
		struct initiator *next = &queue[(i + 1) % num_queues];
		struct nvme_command read = nvmf_ends_command(nvme_cmd_read, i * 8u, LEN / 512, nvmf_ends_keyed(LEN));
		struct nvme_command write = read;

		nvmf_ends_fill(wrote, LEN, i + 1);
		memcpy(ends.buf, wrote, LEN);
		write.opcode = nvme_cmd_write;
		assert_int_equal(nvmf_ends_call(&queue[i], write, NULL, 0, NULL), 0);
		memset(ends.buf, 0, LEN);
		assert_int_equal(nvmf_ends_call(next, read, NULL, 0, NULL), 0);
		assert_memory_equal(ends.buf, wrote, LEN);
	}
	nvmf_ends_hang_up(&queue[0]); /* what it counted stays */
	assert_int_equal(nvmf_ends_call(&ends.admin, log, NULL, 0, NULL), 0);
	memcpy(&reads, ((struct nvme_smart_log *)(void *)ends.buf)->host_reads, sizeof(reads));
	assert_int_equal(reads, num_queues);
	hang_up_all();
}

static void
load_all(uint16_t from, uint16_t to)
{
	for (uint16_t i = 0; i < num_queues; i++)
		for (uint16_t cid = from; cid < to; cid++) {
			struct nvme_command c = command(i, cid % 2 ? nvme_cmd_write : nvme_cmd_read, cid);

			assert_int_equal(initiator_send(&queue[i], &c, NULL, 0), 0);
		}
}

/* Every I/O queue of a controller closes, on whichever engine, under way or idle, without a word of its host. */
static void
await_all_closed(void)
{
	nvmf_ends_await_conns(0);
	assert_int_equal(ends.target.ctrls.used, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ends.server.side[i].shard.bufs.num_free, ends.server.side[i].shard.bufs.num);
	for (uint16_t i = 0; i < num_queues; i++)
		nvmf_ends_await(&queue[i].ended);
}

static void
test_admin_queue_goes_under_load(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		connect_all(0);
		load_all(0, DEPTH - 1);
		nvmf_ends_turns(round); /* in the middle of it */
		initiator_close(&ends.admin);
		await_all_closed();
		hang_up_all();
	}
}

static void
hold_events(void)
{
	struct nvme_command aer = {.opcode = nvme_admin_async_event};
	struct nvme_response r;

	for (aer.cid = 1; aer.cid <= CTRL_AERS; aer.cid++)
		assert_int_equal(initiator_send(&ends.admin, &aer, NULL, 0), 0);
	nvmf_ends_turns(100);
	assert_int_equal(initiator_poll(&ends.admin, &r, 1), 0);
}

/* CC.EN falls in the middle of everything: what was held is answered, then the host is told, and the I/O queues go. */
static void
disable(void)
{
	struct nvme_command off = nvmf_ends_shutdown();
	struct nvme_response r[CTRL_AERS + 1];

	off.cid = CTRL_AERS + 1;
	off.cdw12 = 6u << 16 | 4u << 20;
	assert_int_equal(initiator_send(&ends.admin, &off, NULL, 0), 0);
	nvmf_ends_await_responses(&ends.admin, r, CTRL_AERS + 1);
	for (int i = 0; i < CTRL_AERS; i++)
		assert_int_equal(r[i].status, NVME_SC_ABORT_REQ);
	assert_int_equal(r[CTRL_AERS].cid, off.cid);
	assert_int_equal(r[CTRL_AERS].status, 0);
	for (uint64_t end = nvmf_ends_deadline(); nvmf_ends_csts() != 0;)
		assert_true(nvmf_ends_turn(end));
	assert_int_equal(controller()->open_queues, 1);
	for (uint16_t i = 0; i < num_queues; i++)
		nvmf_ends_await(&queue[i].ended);
	hang_up_all();
}

/* A controller level reset (base 1.4 §7.3.2): the association and its admin queue stay, and the host starts anew. */
static void
test_reset_under_load(void **state)
{
	struct nvme_command cache = {.opcode = nvme_admin_set_features, .cdw10 = NVME_FEAT_FID_VOLATILE_WC};
	struct nvme_command queues = {
		.opcode = nvme_admin_set_features, .cdw10 = NVME_FEAT_FID_NUM_QUEUES, .cdw11 = 1u << 16 | 1};
	struct nvme_command flush = {.opcode = nvme_cmd_flush, .nsid = 1};

	(void)state;
	connect_all(0);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(nvmf_ends_call(&ends.admin, cache, NULL, 0, NULL), 0);
		hold_events();
		load_all(0, DEPTH - 1);
		nvmf_ends_turns(round);
		disable();
		assert_true(initiator_enable(&ends.admin));
		assert_false(controller()->write_through);
		assert_int_equal(nvmf_ends_call(&ends.admin, queues, NULL, 0, NULL), 0);
		num_queues = 0;
		add_queue();
		assert_int_equal(nvmf_ends_call(&queue[0], flush, NULL, 0, NULL), 0);
	}
	hang_up_all();
}

/* Commands of any engine's queue keep a controller alive; when none come, its queues are closed on all of them. */
static void
test_keep_alive(void **state)
{
	struct nvme_command flush = {.opcode = nvme_cmd_flush, .nsid = 1};

	(void)state;
	connect_all(KATO_MS);
	for (int i = 0; i < 2; i++) {
		uint64_t seen = controller()->last_seen, end = nvmf_ends_deadline();

		while (controller()->last_seen == seen && nvmf_ends_turn(end))
			assert_int_equal(nvmf_ends_call(&queue[first_on[i]], flush, NULL, 0, NULL), 0);
		assert_true(controller()->last_seen > seen);
	}
	load_all(0, 2);
	await_all_closed();
	assert_true(controller()->expired);
	nvmf_ends_hang_up(&ends.admin);
	hang_up_all();
}

/* An I/O queue hangs up by Disconnect; the controller and its queues on the other engine go on. */
static void
test_one_queue_leaves(void **state)
{
	struct nvme_command flush = {.opcode = nvme_cmd_flush, .nsid = 1};
	struct nvme_command bye = {.opcode = nvme_admin_fabrics, .nsid = nvme_fabrics_type_disconnect};

	(void)state;
	connect_all(0);
	assert_int_equal(nvmf_ends_call(&queue[first_on[0]], bye, NULL, 0, NULL), 0);
	nvmf_ends_await_conns(num_queues);
	assert_int_equal(nvmf_ends_call(&queue[first_on[1]], flush, NULL, 0, NULL), 0);
	hang_up_all();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_two, nvmf_ends_close)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_queues_on_both),   TEST(test_admin_queue_goes_under_load),
		TEST(test_keep_alive),       TEST(test_one_queue_leaves),
		TEST(test_reset_under_load),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
