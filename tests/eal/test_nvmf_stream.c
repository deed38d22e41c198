/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target against hosts whose messages, keys or queues are such that the stream ends, or the queue is never
 * there.  Expectations: NVMe over Fabrics 1.1 and its RDMA binding; RFC 5040, RFC 5041. */
#include <nvme/types.h>

#include "ends.h"
#include "nvmf_ends.h"

/* ---- Keys ------------------------------------------------------------------------------------------------------- */

/* Memory that the host does not grant ends the connection (RFC 5040 §7): the target neither reads nor writes, and goes
 * on. */
static void
test_key_that_grants_nothing(void **state)
{
	enum { FOREIGN = 1, READ_ONLY, WRITE_ONLY, BEFORE, BEHIND, GONE };
	static const struct {
		uint8_t opcode;
		int how;
	} rows[] = {{nvme_cmd_write, FOREIGN},    {nvme_cmd_read, FOREIGN}, {nvme_cmd_read, READ_ONLY},
		    {nvme_cmd_write, WRITE_ONLY}, {nvme_cmd_read, BEFORE},  {nvme_cmd_write, BEFORE},
		    {nvme_cmd_read, BEHIND},      {nvme_cmd_write, BEHIND}, {nvme_cmd_compare, BEHIND},
		    {nvme_cmd_read, GONE},        {nvme_cmd_compare, GONE}};

	(void)state;
	nvmf_ends_fill_disk();
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		uint32_t access = IW_LOCAL_WRITE | (rows[n].how == READ_ONLY ? 0 : IW_REMOTE_WRITE) |
				  (rows[n].how == WRITE_ONLY ? 0 : IW_REMOTE_READ);
		struct iw_mr *mr = iw_mr_reg(ends.pd, ends.buf + 4096, 1024, access, NULL);
		struct sgl sgl = {SGL_KEYED, (uintptr_t)ends.buf + 4096, 1024, iw_mr_rkey(mr)};
		struct nvme_response r;
		struct nvme_command c;

		if (rows[n].how == FOREIGN)
			sgl.key ^= 0x5500;
		if (rows[n].how == BEFORE || rows[n].how == BEHIND)
			sgl.addr += rows[n].how == BEFORE ? -1 : 1;
		if (rows[n].how == GONE)
			iw_mr_dereg(mr);
		nvmf_ends_io();
		c = nvmf_ends_command(rows[n].opcode, 0, 2, sgl);
		if (initiator_call(&ends.io, &c, NULL, 0, &r))
			assert_true(rows[n].opcode == nvme_cmd_read); /* the response may have been under way */
		nvmf_ends_await(&ends.io.ended);
		nvmf_ends_hang_up(&ends.io);
		nvmf_ends_hang_up(&ends.admin);
		if (rows[n].how != GONE)
			iw_mr_dereg(mr);
	}
	nvmf_ends_untouched();
}

/* The host asks for a key to be invalidated that is not its stream's: its own stream ends, by its own end (RFC 5040
 * §8.1); the target has done what was asked. */
static void
test_invalidate_of_a_foreign_key(void **state)
{
	struct nvme_command c = nvmf_ends_command(nvme_cmd_read, 0, 1, nvmf_ends_keyed(512));
	struct nvme_response r;

	(void)state;
	nvmf_ends_io();
	c.sgl.kind = SGL_KEYED_INV;
	(void)initiator_call(&ends.io, &c, NULL, 0, &r);
	nvmf_ends_await(&ends.io.ended);
	assert_int_equal(iw_mr_rkey(ends.mr), c.sgl.key); /* it grants what it did */
	nvmf_ends_hang_up(&ends.io);
	nvmf_ends_hang_up(&ends.admin);
	nvmf_ends_io();
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_read, 0, 1, nvmf_ends_keyed(512)), NULL, 0, NULL),
		0);
}

/* ---- Messages and queues ---------------------------------------------------------------------------------------- */

/* The host keeps sending and waits for no response: the stream ends (RFC 5041 §7.2), and no request was used twice. */
static void
test_flood(void **state)
{
	struct nvme_command c = {.opcode = nvme_cmd_read, .nsid = 1, .sgl = nvmf_ends_keyed(512)};
	uint8_t raw[CAPSULE_COMMAND];
	struct iw_sge sge = {(uintptr_t)raw, sizeof(raw), 0};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_INLINE};

	(void)state;
	nvmf_ends_admin();
	nvmf_ends_start(&ends.io, 1, 4, NULL);
	assert_int_equal(initiator_fabrics_connect(&ends.io, NQN, HOST, (uint16_t)ends.cntlid, 0), ends.cntlid);
	for (int round = 0; round < 1000 && !ends.io.ended; round++) {
		for (uint16_t i = 0; i < 3; i++) {
			c.cid = (uint16_t)(3 * round + i);
			capsule_command_emit(&c, raw);
			(void)iw_post_send(ends.io.qp, &wr, NULL);
		}
		nvmf_ends_turns(1);
	}
	nvmf_ends_await(&ends.io.ended);
}

static void
test_short_capsule(void **state)
{
	uint8_t junk[10] = {1};
	struct iw_sge sge = {(uintptr_t)junk, sizeof(junk), 0};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_INLINE};

	(void)state;
	nvmf_ends_admin();
	assert_int_equal(iw_post_send(ends.admin.qp, &wr, NULL), 0);
	nvmf_ends_await(&ends.admin.ended);
}

/* More octets than a capsule may have: the receive has no room (RFC 5041 §7.2). */
static void
test_long_capsule(void **state)
{
	static uint8_t raw[CAPSULE_COMMAND + EXEC_CAPSULE_DATA + 1];
	struct iw_mr *mr = iw_mr_reg(ends.pd, raw, sizeof(raw), IW_LOCAL_WRITE, NULL);
	struct iw_sge sge = {(uintptr_t)raw, sizeof(raw), iw_mr_lkey(mr)};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND};

	(void)state;
	nvmf_ends_io();
	assert_int_equal(iw_post_send(ends.io.qp, &wr, NULL), 0);
	nvmf_ends_await(&ends.io.ended);
	nvmf_ends_hang_up(&ends.io);
	iw_mr_dereg(mr);
}

/* More commands than the queue has entries: no receive is there for them, so the stream ends (RFC 5041 §7.2). */
static void
test_queue_overrun(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_async_event};
	uint8_t raw[CAPSULE_COMMAND];
	struct iw_sge sge = {(uintptr_t)raw, sizeof(raw), 0};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_INLINE};

	(void)state;
	nvmf_ends_start(&ends.admin, 0, 2, NULL);
	assert_true(initiator_fabrics_connect(&ends.admin, NQN, HOST, 0xffff, 0) > 0);
	assert_true(initiator_enable(&ends.admin));
	for (uint16_t i = 0; i < 4; i++) { /* held, all of them */
		c.cid = i;
		capsule_command_emit(&c, raw);
		if (iw_post_send(ends.admin.qp, &wr, NULL) != 0)
			break;
		nvmf_ends_turns(20);
	}
	nvmf_ends_await(&ends.admin.ended);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nvmf_ends_open, nvmf_ends_close)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_key_that_grants_nothing),
		TEST(test_invalidate_of_a_foreign_key),
		TEST(test_flood),
		TEST(test_short_capsule),
		TEST(test_long_capsule),
		TEST(test_queue_overrun),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
