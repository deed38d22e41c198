/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target and several hosts: who leaves what he owes, who is idle, who shares a disk with others.
 * Expectations: NVM Express base 1.4, NVM command set, NVMe over Fabrics 1.1. */
#include <nvme/types.h>
#include <unistd.h>

#include "ends.h"
#include "nvmf_ends.h"

/* ---- A host that owes something --------------------------------------------------------------------------------- */

#define TIMEOUT_NS UINT64_C(400000000)
#define DEPTH 4

static void
await_receives(const struct initiator *i, uint32_t left)
{
	uint64_t end = nvmf_ends_deadline();
	struct iw_qp_info info;

	do
		assert_int_equal(iw_qp_query(i->qp, &info), 0);
	while (info.rq_used > left && nvmf_ends_turn(end));
	assert_int_equal(info.rq_used, left);
}

/* The host takes no response any more: the next one waits there in TCP, which acknowledges, and what comes behind it
 * is not looked at. */
static void
stop_listening(struct initiator *i)
{
	struct nvme_command flush = {.opcode = nvme_cmd_flush, .nsid = 1};

	for (; flush.cid < DEPTH; flush.cid++) {
		assert_int_equal(initiator_send(i, &flush, NULL, 0), 0);
		await_receives(i, DEPTH - 1u - flush.cid);
	}
	flush.cid = 0;
	assert_int_equal(initiator_send(i, &flush, NULL, 0), 0);
	nvmf_ends_turns(10);
}

static void
keep_alive(void)
{
	struct nvme_command c = {.opcode = nvme_admin_keep_alive};

	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
}

/* The admin queue lives; the I/O queue, its commands and their buffers are given up after a time, and not before. */
static void
owes(uint8_t opcode)
{
	struct nvme_command c = nvmf_ends_command(opcode, 0, 2048, nvmf_ends_keyed(BUF));
	uint64_t begin, end;

	ends.cntlid = nvmf_ends_connect(&ends.admin, &ends.io, HOST, DEPTH);
	stop_listening(&ends.io);
	for (c.cid = 1; c.cid < DEPTH; c.cid++)
		assert_int_equal(initiator_send(&ends.io, &c, NULL, 0), 0);
	begin = iw_engine_now(ends.near.engine);
	ends.server.side[0].host_timeout_ns = TIMEOUT_NS;
	for (end = nvmf_ends_deadline(); ends.server.side[0].num_conns > 1 && nvmf_ends_turn(end);)
		keep_alive();
	assert_int_equal(ends.server.side[0].num_conns, 1);
	assert_true(iw_engine_now(ends.near.engine) - begin >= TIMEOUT_NS / 2);
	assert_int_equal(ends.server.side[0].shard.bufs.num_free, ends.server.side[0].shard.bufs.num);
	keep_alive();
	nvmf_ends_hang_up(&ends.io);
}

static void
test_host_answers_no_read(void **state)
{
	(void)state;
	owes(nvme_cmd_write);
}

static void
test_host_takes_no_response(void **state)
{
	(void)state;
	owes(nvme_cmd_read);
}

static void
test_host_never_connects(void **state)
{
	(void)state;
	nvmf_ends_admin();
	nvmf_ends_start(&ends.io, 1, DEPTH, NULL);
	assert_int_equal(ends.server.side[0].num_conns, 2);
	ends.server.side[0].host_timeout_ns = TIMEOUT_NS;
	nvmf_ends_await_conns(1);
	keep_alive();
}

/* ---- Hosts that are idle ---------------------------------------------------------------------------------------- */

#define IDLE 40

/* A turn looks at the queues that have work, and ten times a second at all. */
static void
test_idle_queues_cost_nothing(void **state)
{
	static struct initiator idle[IDLE];
	struct nvme_command flush = {.opcode = nvme_cmd_flush, .nsid = 1};
	struct host_side *side = &ends.server.side[0];
	uint64_t begin, minded, tenths;

	(void)state;
	nvmf_ends_io();
	for (uint16_t i = 0; i < IDLE; i++) {
		nvmf_ends_start(&idle[i], i + 2, 128, NULL);
		assert_int_equal(initiator_fabrics_connect(&idle[i], NQN, HOST, (uint16_t)ends.cntlid, 0), ends.cntlid);
	}
	assert_true(side->cq_used > 4096); /* the CQ has grown */
	nvmf_ends_turns(1);
	begin = ends.server.side[0].shard.now_ns;
	minded = side->minded;
	for (int i = 0; i < 500; i++)
		assert_int_equal(nvmf_ends_call(&ends.io, flush, NULL, 0, NULL), 0);
	tenths = (ends.server.side[0].shard.now_ns - begin) / 100000000 + 1;
	assert_true(side->minded - minded <= tenths * (IDLE + 2));
	for (int i = 0; i < IDLE; i++)
		nvmf_ends_hang_up(&idle[i]);
	nvmf_ends_await_conns(2);
	assert_int_equal(side->cq_used, 3 * (32 + 128));
}

/* ---- Hosts that share ------------------------------------------------------------------------------------------- */

#define SLOTS 16
#define SLOT_BLOCKS 8
#define SLOT_LEN (SLOT_BLOCKS * 512)
#define OPS 1500
#define TRIES 64

/* A host of its own name and controller.  Blocks that it writes are full of its tag: its number and a counter. */
struct sharer {
	struct initiator admin, io;
	uint32_t number, nsid;
	bool alone; /* nobody else writes there: each slot has blocks of its own, and knows what is in them */
	uint64_t counter;
	uint64_t tag[SLOTS];
	uint8_t opcode[SLOTS];
	uint32_t compared[2]; /* equal, different */
};

static struct sharer sharers[2];
static uint32_t seed;

static uint32_t
random_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 16) % n;
}

static uint64_t *
slot_memory(const struct sharer *h, uint16_t slot)
{
	return (uint64_t *)(void *)(ends.buf + ((size_t)h->number * SLOTS + slot) * SLOT_LEN);
}

static void
fill_slot(struct sharer *h, uint16_t slot, uint64_t tag)
{
	for (uint32_t i = 0; i < SLOT_LEN / 8; i++)
		slot_memory(h, slot)[i] = tag;
	h->tag[slot] = tag;
}

static void
next_op(struct sharer *h, uint16_t slot)
{
	static const uint8_t ops[] = {nvme_cmd_write, nvme_cmd_read, nvme_cmd_compare};
	struct sgl sgl = {SGL_KEYED, (uintptr_t)slot_memory(h, slot), SLOT_LEN, iw_mr_rkey(ends.mr)};
	struct nvme_command c;

	h->opcode[slot] = h->tag[slot] == 0 ? nvme_cmd_write : ops[random_below(3)];
	if (h->opcode[slot] == nvme_cmd_write)
		fill_slot(h, slot, (uint64_t)(h->number + 1) << 32 | ++h->counter);
	if (h->opcode[slot] == nvme_cmd_compare)
		fill_slot(h, slot, h->tag[slot]);
	c = nvmf_ends_command(h->opcode[slot], h->alone ? slot * SLOT_BLOCKS : 0, SLOT_BLOCKS, sgl);
	c.nsid = h->nsid;
	c.cid = slot;
	assert_int_equal(initiator_send(&h->io, &c, NULL, 0), 0);
}

/* No block is torn, and each holds what somebody has written there. */
static void
check_blocks(const struct sharer *h, uint16_t slot)
{
	for (uint32_t b = 0; b < SLOT_BLOCKS; b++) {
		const uint64_t *p = slot_memory(h, slot) + (size_t)b * 64;
		uint64_t host = *p >> 32;

		for (int i = 1; i < 64; i++)
			assert_int_equal(p[i], p[0]);
		assert_in_range(host, 1, 2);
		assert_in_range(*p & 0xffffffff, 1, sharers[host - 1].counter);
		if (h->alone)
			assert_int_equal(*p, h->tag[slot]);
	}
}

static void
check_op(struct sharer *h, const struct nvme_response *r)
{
	bool compare = h->opcode[r->cid] == nvme_cmd_compare;
	uint16_t status = r->status & STATUS;

	if (compare && !h->alone && status == MEDIA(NVME_SC_COMPARE_FAILED))
		h->compared[1]++;
	else
		assert_int_equal(status, 0);
	h->compared[0] += compare && status == 0;
	if (h->opcode[r->cid] == nvme_cmd_read)
		check_blocks(h, r->cid);
}

static void
run_sharers(void)
{
	struct nvme_response r[SLOTS];
	uint64_t end = nvmf_ends_deadline();
	int done = 0, under_way = 2 * SLOTS;

	for (uint16_t slot = 0; slot < SLOTS; slot++)
		for (int i = 0; i < 2; i++)
			next_op(&sharers[i], slot);
	while (under_way > 0 && nvmf_ends_turn(end)) {
		for (int i = 0; i < 2; i++) {
			int n = initiator_poll(&sharers[i].io, r, SLOTS);

			under_way -= n;
			for (int k = 0; k < n; k++, done++) {
				check_op(&sharers[i], &r[k]);
				if (done < OPS) {
					next_op(&sharers[i], r[k].cid);
					under_way++;
				}
			}
		}
	}
	assert_int_equal(under_way, 0);
}

/* The engine that its I/O queue is on. */
static uint32_t
open_sharer(struct sharer *h)
{
	return nvmf_ends_engine_of(nvmf_ends_connect(&h->admin, &h->io, h->number == 0 ? HOST : HOST "2", SLOTS + 1),
				   1);
}

static void
close_sharer(struct sharer *h)
{
	nvmf_ends_hang_up(&h->io);
	nvmf_ends_hang_up(&h->admin);
}

static void
open_sharers(bool alone)
{
	uint32_t on[2];

	memset(sharers, 0, sizeof(sharers));
	seed = 1;
	for (uint32_t i = 0; i < 2; i++) {
		sharers[i].number = i;
		sharers[i].alone = alone;
		sharers[i].nsid = alone ? i + 1 : 1;
		on[i] = open_sharer(&sharers[i]);
	}
	/* By chance on one engine: again, until they share the disk from two. */
	for (int tries = 0; ends.server.n > 1 && on[0] == on[1]; tries++) {
		assert_true(tries < TRIES);
		close_sharer(&sharers[1]);
		on[1] = open_sharer(&sharers[1]);
	}
}

static void
close_sharers(void)
{
	for (int i = 0; i < 2; i++)
		close_sharer(&sharers[i]);
}

static uint16_t
whole(struct sharer *h, uint8_t opcode, uint32_t number)
{
	uint64_t tag = UINT64_C(1) << 32 | number;
	struct sgl sgl = {SGL_KEYED, (uintptr_t)slot_memory(h, 0), SLOT_LEN, iw_mr_rkey(ends.mr)};

	if (opcode != nvme_cmd_read)
		fill_slot(h, 0, tag);
	return nvmf_ends_call(&h->io, nvmf_ends_command(opcode, 0, SLOT_BLOCKS, sgl), NULL, 0, NULL) & STATUS;
}

/* Both know the blocks; who compares and then writes finds out when the other was there before. */
static void
compare_then_write(void)
{
	struct sharer *a = &sharers[0], *b = &sharers[1];

	assert_int_equal(whole(a, nvme_cmd_write, 1), 0);
	assert_int_equal(whole(a, nvme_cmd_compare, 1), 0);
	assert_int_equal(whole(b, nvme_cmd_compare, 1), 0);
	assert_int_equal(whole(a, nvme_cmd_write, 2), 0);
	assert_int_equal(whole(b, nvme_cmd_compare, 1), MEDIA(NVME_SC_COMPARE_FAILED));
	assert_int_equal(whole(b, nvme_cmd_compare, 2), 0);
	assert_int_equal(whole(b, nvme_cmd_write, 3), 0);
	assert_int_equal(whole(a, nvme_cmd_compare, 2), MEDIA(NVME_SC_COMPARE_FAILED));
	assert_int_equal(whole(a, nvme_cmd_compare, 3), 0);
}

/* The unit of what is written at once, normally and after a power failure, is one block (AWUN, AWUPF; 0's based). */
static void
check_atomic_unit(void)
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .cdw10 = 1, .sgl = nvmf_ends_keyed(4096)};
	const struct nvme_id_ctrl *id = (const void *)ends.buf;

	assert_int_equal(nvmf_ends_call(&sharers[0].admin, c, NULL, 0, NULL), 0);
	assert_int_equal(id->awun, 0);
	assert_int_equal(id->awupf, 0);
	assert_int_equal(id->fuses, 0); /* so Compare and Write are two commands */
}

static void
share(void)
{
	open_sharers(false);
	sharers[0].counter = 3;
	check_atomic_unit();
	compare_then_write();
	run_sharers();
	assert_true(sharers[0].compared[1] > 0 && sharers[1].compared[1] > 0);
	compare_then_write();
	close_sharers();
}

static void
test_two_hosts_on_one_namespace(void **state)
{
	(void)state;
	share();
}

static void
test_two_engines_on_one_namespace(void **state)
{
	static const char *const spec[] = {"ram:1M"};

	nvmf_ends_open_with(spec, 1, 2);
	share();
	nvmf_ends_close(state);
}

static void
share_file(void **state, uint32_t engines)
{
	const char *spec[1];
	char path[128];
	int fd = nvmf_ends_make_file(".", 1 << 20, path, sizeof(path));

	if (fd < 0)
		skip();
	spec[0] = path;
	nvmf_ends_open_with(spec, 1, engines);
	share();
	nvmf_ends_close(state);
	close(fd);
	unlink(path);
}

static void
test_two_hosts_on_one_file(void **state)
{
	share_file(state, 1);
}

static void
test_two_engines_on_one_file(void **state)
{
	share_file(state, 2);
}

static void
test_two_hosts_on_two_namespaces(void **state)
{
	static const char *const spec[] = {"ram:1M", "ram:1M"};

	nvmf_ends_open_with(spec, 2, 1);
	open_sharers(true);
	run_sharers();
	assert_true(sharers[0].compared[0] > 0 && sharers[1].compared[0] > 0);
	close_sharers();
	nvmf_ends_close(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nvmf_ends_open, nvmf_ends_close)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_host_answers_no_read),
		TEST(test_host_takes_no_response),
		TEST(test_host_never_connects),
		TEST(test_idle_queues_cost_nothing),
		TEST(test_two_hosts_on_one_namespace),
		cmocka_unit_test(test_two_hosts_on_one_file),
		cmocka_unit_test(test_two_engines_on_one_namespace),
		cmocka_unit_test(test_two_engines_on_one_file),
		cmocka_unit_test(test_two_hosts_on_two_namespaces),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
