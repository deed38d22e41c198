/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target's I/O, its admin commands and the lives of its controllers.  Expectations: NVM Express base 1.4,
 * NVM command set, NVMe over Fabrics 1.1 and its RDMA binding. */
#include <nvme/types.h>

#include "ends.h"
#include "flow.h"
#include "nvmf_ends.h"

/* ---- I/O -------------------------------------------------------------------------------------------------------- */

static void
test_write_read_compare(void **state)
{
	static const uint32_t blocks[] = {1, 8, 16, 127, 128, 129, 2048};
	static uint8_t copy[BUF];

	(void)state;
	nvmf_ends_io();
	for (size_t n = 0; n < sizeof(blocks) / sizeof(blocks[0]); n++) {
		uint32_t len = blocks[n] * 512;

		nvmf_ends_fill(ends.buf, len, (uint32_t)n);
		memcpy(copy, ends.buf, len);
		assert_int_equal(nvmf_ends_call(&ends.io,
						nvmf_ends_command(nvme_cmd_write, 0, blocks[n], nvmf_ends_keyed(len)),
						NULL, 0, NULL),
				 0);
		assert_int_equal(nvmf_ends_call(&ends.io,
						nvmf_ends_command(nvme_cmd_compare, 0, blocks[n], nvmf_ends_keyed(len)),
						NULL, 0, NULL),
				 0);
		memset(ends.buf, 0, len);
		assert_int_equal(nvmf_ends_call(&ends.io,
						nvmf_ends_command(nvme_cmd_read, 0, blocks[n], nvmf_ends_keyed(len)),
						NULL, 0, NULL),
				 0);
		assert_memory_equal(ends.buf, copy, len);
		ends.buf[len - 1] ^= 1;
		assert_int_equal(nvmf_ends_call(&ends.io,
						nvmf_ends_command(nvme_cmd_compare, 0, blocks[n], nvmf_ends_keyed(len)),
						NULL, 0, NULL),
				 MEDIA(NVME_SC_COMPARE_FAILED) | NVME_SC_DNR);
	}
}

static void
test_data_in_the_capsule(void **state)
{
	uint8_t data[EXEC_CAPSULE_DATA];
	struct sgl sgl = {SGL_CAPSULE, 0, sizeof(data), 0};

	(void)state;
	nvmf_ends_io();
	nvmf_ends_fill(data, sizeof(data), 7);
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_write, 5, 16, sgl), data, sizeof(data), NULL), 0);
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_read, 5, 16, nvmf_ends_keyed(8192)), NULL, 0, NULL),
		0);
	assert_memory_equal(ends.buf, data, sizeof(data));
}

static void
test_write_zeroes_and_deallocate(void **state)
{
	static const uint8_t zero[4096];
	/* Two ranges: blocks 2..3 and 6. */
	uint8_t ranges[32] = {[4] = 2, [8] = 2, [20] = 1, [24] = 6};
	struct nvme_command dsm = {.opcode = nvme_cmd_dsm, .nsid = 1, .cdw10 = 1, .cdw11 = 4};

	(void)state;
	nvmf_ends_io();
	memset(ends.buf, 0x77, 4096);
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_write, 0, 8, nvmf_ends_keyed(4096)), NULL, 0, NULL),
		0);
	assert_int_equal(nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_write_zeroes, 0, 1, (struct sgl){0}), NULL,
					0, NULL),
			 0);
	dsm.sgl = (struct sgl){SGL_CAPSULE, 0, sizeof(ranges), 0};
	assert_int_equal(nvmf_ends_call(&ends.io, dsm, ranges, sizeof(ranges), NULL), 0);
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_read, 0, 8, nvmf_ends_keyed(4096)), NULL, 0, NULL),
		0);
	for (int block = 0; block < 8; block++) {
		bool zeroed = block == 0 || block == 2 || block == 3 || block == 6;

		assert_int_equal(memcmp(ends.buf + block * 512, zero, 512) == 0, zeroed);
	}
	ranges[24] = 0xff, ranges[25] = 0xff; /* beyond the end: nothing is done */
	assert_int_equal(nvmf_ends_call(&ends.io, dsm, ranges, sizeof(ranges), NULL) & STATUS, NVME_SC_LBA_RANGE);
}

/* The host asks for its key to be invalidated: the response does it, whatever it says, and the key is dead. */
static void
invalidated(uint8_t opcode, uint32_t lba, uint16_t status)
{
	struct nvme_command c;
	struct nvme_response r;
	struct iw_mr *one;

	nvmf_ends_io();
	one = iw_mr_reg_qp(ends.io.qp, ends.buf, 512,
			   IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE, NULL);
	assert_non_null(one);
	c = nvmf_ends_command(opcode, lba, 1, (struct sgl){SGL_KEYED_INV, (uintptr_t)ends.buf, 512, iw_mr_rkey(one)});
	assert_int_equal(nvmf_ends_call(&ends.io, c, NULL, 0, NULL) & STATUS, status);
	c.opcode = nvme_cmd_read;
	c.cdw10 = 0;
	(void)initiator_call(&ends.io, &c, NULL, 0, &r); /* the second time it ends the stream */
	nvmf_ends_await(&ends.io.ended);
	nvmf_ends_hang_up(&ends.io);
	nvmf_ends_hang_up(&ends.admin);
	iw_mr_dereg(one);
}

static void
test_remote_invalidate(void **state)
{
	(void)state;
	invalidated(nvme_cmd_read, 0, 0);
	invalidated(nvme_cmd_write, 0, 0);
	invalidated(nvme_cmd_read, BLOCKS, NVME_SC_LBA_RANGE);
	invalidated(nvme_cmd_flush, 0, 0); /* without data */
}

/* ---- Admin ------------------------------------------------------------------------------------------------------ */

static void
test_identify(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .sgl = nvmf_ends_keyed(4096)};
	const struct nvme_id_ctrl *ctrl = (const void *)ends.buf;
	const struct nvme_id_ns *ns = (const void *)ends.buf;
	const uint32_t *list = (const void *)ends.buf;

	(void)state;
	nvmf_ends_admin();
	c.cdw10 = 1;
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	assert_string_equal(ctrl->subnqn, NQN);
	assert_int_equal(ctrl->cntlid, ends.cntlid);
	assert_int_equal(ctrl->nn, 2);
	assert_int_equal(ctrl->ioccsz * 16, CAPSULE_COMMAND + EXEC_CAPSULE_DATA);
	assert_int_equal(ctrl->sgls & 0x100005, 0x100005);
	assert_true(ctrl->kas > 0);
	c.cdw10 = 0;
	c.nsid = 2;
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	assert_int_equal(ns->nsze, 256);
	assert_int_equal(ns->ncap, 256);
	assert_int_equal(ns->nuse, 256);
	assert_int_equal(ns->nmic, 1); /* shared by controllers */
	assert_int_equal(ns->lbaf[0].ds, 12);
	assert_int_equal(ns->nsattr & 1, 1);
	c.cdw10 = 2;
	c.nsid = 1;
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	assert_int_equal(list[0], 2);
	assert_int_equal(list[1], 0);
}

static void
test_discovery_log(void **state)
{
	struct nvme_command c = {
		.opcode = nvme_admin_get_log_page, .cdw10 = 0x70 | 1023u << 16, .sgl = nvmf_ends_keyed(4096)};
	const struct nvmf_discovery_log *log = (const void *)ends.buf;

	(void)state;
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	assert_true(initiator_fabrics_connect(&ends.admin, "nqn.2014-08.org.nvmexpress.discovery", HOST, 0xffff, 0) >
		    0);
	assert_true(initiator_enable(&ends.admin));
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	assert_int_equal(log->numrec, 1); /* the other subsystem is not for this host */
	assert_int_equal(log->genctr, 1);
	assert_int_equal(log->recfmt, 0);
	assert_int_equal(log->entries[0].portid, 1);
	assert_string_equal(log->entries[0].subnqn, NQN);
	assert_int_equal(log->entries[0].trtype, NVMF_TRTYPE_RDMA);
	assert_int_equal(log->entries[0].adrfam, NVMF_ADDR_FAMILY_IP4);
	assert_int_equal(log->entries[0].subtype, NVME_NQN_NVME);
	assert_int_equal(log->entries[0].cntlid, 0xffff); /* made at Connect */
	assert_int_equal(log->entries[0].asqsz, 32);
	assert_int_equal(log->entries[0].tsas.rdma.qptype, NVMF_RDMA_QPTYPE_CONNECTED);
	assert_int_equal(log->entries[0].tsas.rdma.prtype, NVMF_RDMA_PRTYPE_IWARP);
	assert_int_equal(log->entries[0].tsas.rdma.cms, NVMF_RDMA_CMS_RDMA_CM);
	assert_memory_equal(log->entries[0].traddr, "192.0.2.1 ", 10);
	assert_memory_equal(log->entries[0].trsvcid, "4420 ", 5);
}

static void
test_features(void **state)
{
	struct nvme_command set = {.opcode = nvme_admin_set_features, .cdw10 = 7, .cdw11 = 3 << 16 | 7};
	struct nvme_command get = {.opcode = nvme_admin_get_features, .cdw10 = 7};
	uint64_t result;

	(void)state;
	nvmf_ends_admin();
	assert_int_equal(nvmf_ends_call(&ends.admin, set, NULL, 0, &result), 0);
	assert_int_equal(result, 3 << 16 | 3);
	assert_int_equal(nvmf_ends_call(&ends.admin, get, NULL, 0, &result), 0);
	assert_int_equal(result, 3 << 16 | 3);
	set.cdw11 = 999u << 16 | 999;
	assert_int_equal(nvmf_ends_call(&ends.admin, set, NULL, 0, &result), 0);
	assert_int_equal(result, (CTRL_IO_QUEUES - 1) << 16 | (CTRL_IO_QUEUES - 1));
	set.cdw11 = 0xffff;
	assert_int_equal(nvmf_ends_call(&ends.admin, set, NULL, 0, NULL) & STATUS, NVME_SC_INVALID_FIELD);
}

static void
test_async_events_are_held_and_limited(void **state)
{
	struct nvme_command aer = {.opcode = nvme_admin_async_event};
	struct nvme_response r;

	(void)state;
	nvmf_ends_admin();
	for (uint16_t i = 0; i < CTRL_AERS; i++) {
		aer.cid = i;
		assert_int_equal(initiator_send(&ends.admin, &aer, NULL, 0), 0);
	}
	nvmf_ends_turns(200);
	assert_int_equal(initiator_poll(&ends.admin, &r, 1), 0);
	aer.cid = CTRL_AERS;
	assert_int_equal(nvmf_ends_call(&ends.admin, aer, NULL, 0, NULL) & STATUS, SPECIFIC(NVME_SC_ASYNC_LIMIT));
}

/* A host that goes silent is dropped after its keep-alive timeout, with all its queues. */
static void
test_keep_alive(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_set_features, .cdw10 = 0x0f, .cdw11 = 300};

	(void)state;
	nvmf_ends_io();
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	nvmf_ends_await_conns(0);
	nvmf_ends_await(&ends.admin.ended);
	nvmf_ends_await(&ends.io.ended);
	assert_int_equal(ends.target.ctrls.used, 0);
}

static void
test_abort_of_a_held_event_request(void **state)
{
	struct nvme_command aer = {.opcode = nvme_admin_async_event, .cid = 7};
	struct nvme_command abort = {.opcode = nvme_admin_abort_cmd, .cid = 1};
	struct nvme_response r[2];
	uint64_t result;

	(void)state;
	nvmf_ends_admin();
	assert_int_equal(initiator_send(&ends.admin, &aer, NULL, 0), 0);
	nvmf_ends_turns(200);
	abort.cdw10 = 8u << 16;
	assert_int_equal(nvmf_ends_call(&ends.admin, abort, NULL, 0, &result), 0);
	assert_int_equal(result, 1); /* there is no 8 */
	abort.cdw10 = 7u << 16 | 1;
	assert_int_equal(nvmf_ends_call(&ends.admin, abort, NULL, 0, &result), 0);
	assert_int_equal(result, 1); /* nor a 7 on queue 1 */
	abort.cdw10 = 7u << 16;
	assert_int_equal(initiator_send(&ends.admin, &abort, NULL, 0), 0);
	nvmf_ends_await_responses(&ends.admin, r, 2);
	assert_int_equal(r[0].cid, 7);
	assert_int_equal(r[0].status & STATUS, NVME_SC_ABORT_REQ);
	assert_int_equal(r[1].cid, 1);
	assert_int_equal(r[1].status, 0);
	assert_int_equal(r[1].result, 0); /* aborted */
	/* Its place is free again. */
	for (uint16_t i = 0; i < CTRL_AERS; i++) {
		aer.cid = i;
		assert_int_equal(initiator_send(&ends.admin, &aer, NULL, 0), 0);
	}
	nvmf_ends_turns(200);
	assert_int_equal(initiator_poll(&ends.admin, r, 1), 0);
}

/* CC.SHN: the shutdown completes (base 1.4 §7.6.2). */
static void
test_shutdown(void **state)
{
	(void)state;
	nvmf_ends_admin();
	assert_int_equal(nvmf_ends_call(&ends.admin, nvmf_ends_shutdown(), NULL, 0, NULL), 0);
	assert_int_equal(nvmf_ends_shst(), CSTS_SHST_DONE);
}

/* A Connect may ask for a smaller queue than the connection has room for; SQHD wraps there. */
static void
test_queue_smaller_than_the_connection(void **state)
{
	struct nvme_command c = {.opcode = nvme_cmd_flush, .nsid = 1};
	struct private_request room = {.qid = 1, .hrqsize = 128, .hsqsize = 127};
	uint8_t raw[CAPSULE_PRIVATE];
	struct iw_cm_attr attr = {.private_data = raw, .private_len = sizeof(raw)};
	struct nvme_response r;

	(void)state;
	nvmf_ends_admin();
	capsule_private_emit(&room, raw);
	nvmf_ends_start(&ends.io, 1, 3, &attr);
	assert_int_equal(initiator_fabrics_connect(&ends.io, NQN, HOST, (uint16_t)ends.cntlid, 0), ends.cntlid);
	for (int i = 0; i < 7; i++) {
		assert_true(initiator_call(&ends.io, &c, NULL, 0, &r));
		assert_int_equal(r.sq_head, (2 + i) % 3);
	}
}

/* Room for more data than the command has is no fault: Linux sends Dataset Management so. */
static void
test_data_longer_than_the_command(void **state)
{
	struct nvme_command dsm = {.opcode = nvme_cmd_dsm, .nsid = 1, .cdw11 = 4, .sgl = nvmf_ends_keyed(4096)};

	(void)state;
	nvmf_ends_io();
	memset(ends.buf, 0x66, 512);
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_write, 9, 1, nvmf_ends_keyed(512)), NULL, 0, NULL),
		0);
	memset(ends.buf, 0, 16);
	ends.buf[4] = 1, ends.buf[8] = 9;
	assert_int_equal(nvmf_ends_call(&ends.io, dsm, NULL, 0, NULL), 0);
	memset(ends.buf, 0xa5, 1024);
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_read, 9, 1, nvmf_ends_keyed(1024)), NULL, 0, NULL),
		0);
	assert_int_equal(ends.buf[0], 0);
	assert_int_equal(ends.buf[511], 0);
	assert_int_equal(ends.buf[512], 0xa5);
}

/* More data than the ends.target has buffers for: the rest waits its turn, and all of it comes. */
static void
test_more_data_than_buffers(void **state)
{
	struct nvme_command c = nvmf_ends_command(nvme_cmd_compare, 0, 2048, nvmf_ends_keyed(BUF));
	struct nvme_response r[16];

	(void)state;
	nvmf_ends_io();
	memset(ends.buf, 0, BUF);
	for (c.cid = 0; c.cid < 16; c.cid++)
		assert_int_equal(initiator_send(&ends.io, &c, NULL, 0), 0);
	nvmf_ends_await_responses(&ends.io, r, 16);
	for (int i = 0; i < 16; i++)
		assert_int_equal(r[i].status, 0);
}

/* As many commands as the queue has entries, again and again: data that the target reads, and writes, in turn. */
static void
test_full_depth(void **state)
{
	struct nvme_command c = nvmf_ends_command(nvme_cmd_write, 0, 8, (struct sgl){0});
	struct nvme_response r[16];
	int sent = 0, done = 0;

	(void)state;
	nvmf_ends_io();
	c.sgl = nvmf_ends_keyed(4096);
	for (c.cid = 0; c.cid < 128; c.cid++, sent++)
		assert_int_equal(initiator_send(&ends.io, &c, NULL, 0), 0);
	for (uint64_t end = nvmf_ends_deadline(); done < sent && nvmf_ends_turn(end);) {
		int n;

		n = initiator_poll(&ends.io, r, 16);
		done += n;
		for (int k = 0; k < n; k++) {
			assert_int_equal(r[k].status, 0);
			c.cid = r[k].cid;
			c.opcode = sent % 7 == 0 ? nvme_cmd_read : nvme_cmd_write;
			if (sent < 3000 && initiator_send(&ends.io, &c, NULL, 0) == 0)
				sent++;
		}
	}
	assert_int_equal(done, 3000);
	assert_false(ends.io.ended);
}

/* Of the data that the target fetches, as many at once as the host answers (IRD) are in the send queue: others would
 * hold up responses there. */
static void
test_reads_at_once(void **state)
{
	struct nvme_command c = nvmf_ends_command(nvme_cmd_write, 0, 8, (struct sgl){0});
	struct nvme_response r[120];
	struct conn *conn;
	uint32_t most = 0;
	int done = 0;

	(void)state;
	nvmf_ends_io();
	conn = ends.server.side[0].conns; /* the last that came: the I/O queue's */
	assert_int_equal(conn->q.qid, 1);
	assert_true(conn->max_reads > 1);
	conn->max_reads = 3;
	c.sgl = nvmf_ends_keyed(4096);
	for (c.cid = 0; c.cid < 120; c.cid++)
		assert_int_equal(initiator_send(&ends.io, &c, NULL, 0), 0);
	for (uint64_t end = nvmf_ends_deadline(); done < 120 && nvmf_ends_turn(end);) {
		done += initiator_poll(&ends.io, &r[done], 120 - done);
		most = conn->reads > most ? conn->reads : most;
	}
	assert_int_equal(done, 120);
	assert_int_equal(most, 3);
}

/* The host vanishes with commands on their way: everything comes back (close_all looks). */
static void
test_host_gone_under_load(void **state)
{
	struct nvme_command c = nvmf_ends_command(nvme_cmd_write, 0, 2048, nvmf_ends_keyed(BUF));

	(void)state;
	for (int after = 0; after < 12; after += 3) {
		nvmf_ends_io();
		for (c.cid = 0; c.cid < 32; c.cid++)
			assert_int_equal(initiator_send(&ends.io, &c, NULL, 0), 0);
		nvmf_ends_turns(after);
		nvmf_ends_hang_up(&ends.io);
		nvmf_ends_hang_up(&ends.admin);
		nvmf_ends_await_conns(0);
		assert_int_equal(ends.server.side[0].shard.bufs.num_free, ends.server.side[0].shard.bufs.num);
	}
}

/* The admin queue leaves: the controller and its I/O queues go with it. */
static void
test_admin_queue_takes_the_controller_with_it(void **state)
{
	(void)state;
	nvmf_ends_io();
	nvmf_ends_hang_up(&ends.admin);
	nvmf_ends_await(&ends.io.ended);
}

/* Data that came in the capsule go to a RAM disk from there: also when there is no buffer to be had. */
static void
test_capsule_data_need_no_buffer(void **state)
{
	struct bufs *b = &ends.server.side[0].shard.bufs;
	struct sgl in_capsule = {.kind = SGL_CAPSULE, .addr = 3, .len = 4096};
	uint32_t free = b->num_free;
	static uint8_t data[3 + 4096];

	(void)state;
	nvmf_ends_io();
	nvmf_ends_fill(data, sizeof(data), 9);
	b->num_free = 0;
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_write, 8, 8, in_capsule), data, sizeof(data), NULL),
		0);
	b->num_free = free;
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_read, 8, 8, nvmf_ends_keyed(4096)), NULL, 0, NULL),
		0);
	assert_memory_equal(ends.buf, data + 3, 4096);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nvmf_ends_open, nvmf_ends_close)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_capsule_data_need_no_buffer),
		TEST(test_write_read_compare),
		TEST(test_data_in_the_capsule),
		TEST(test_write_zeroes_and_deallocate),
		TEST(test_remote_invalidate),
		TEST(test_identify),
		TEST(test_discovery_log),
		TEST(test_features),
		TEST(test_async_events_are_held_and_limited),
		TEST(test_abort_of_a_held_event_request),
		TEST(test_shutdown),
		TEST(test_queue_smaller_than_the_connection),
		TEST(test_data_longer_than_the_command),
		TEST(test_more_data_than_buffers),
		TEST(test_full_depth),
		TEST(test_reads_at_once),
		TEST(test_host_gone_under_load),
		TEST(test_keep_alive),
		TEST(test_admin_queue_takes_the_controller_with_it),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
