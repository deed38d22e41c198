/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target against hosts that say the wrong thing.  Expectations: NVM Express base 1.4, NVM command set, NVMe
 * over Fabrics 1.1 and its RDMA binding. */
#include <nvme/types.h>

#include "ends.h"
#include "nvmf_ends.h"

/* ---- Rejects and Connect ---------------------------------------------------------------------------------------- */

static void
test_private_data(void **state)
{
	static const struct {
		struct private_request r;
		uint16_t status;
	} rows[] = {
		{{1, 0, 32, 31}, 2},                  /* recfmt */
		{{0, CTRL_IO_QUEUES + 1, 32, 31}, 3}, /* qid */
		{{0, 0, 32, 0}, 4},                   /* hsqsize */
		{{0, 0, 32, CTRL_QUEUE_SIZE}, 4},     /* too deep */
		{{0, 0, 0, 31}, 5},                   /* hrqsize */
	};

	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		uint8_t raw[CAPSULE_PRIVATE];
		struct initiator i;

		capsule_private_emit(&rows[n].r, raw);
		nvmf_ends_start(&i, 0, 32, raw);
		assert_true(i.ended);
		assert_int_equal(i.status, -IW_E_CONNREFUSED);
		assert_int_equal(i.reject_status, rows[n].status);
		nvmf_ends_hang_up(&i);
	}
}

/* The queue is there, but whoever comes is not let in: the status, and where the fault is (DW0). */
static void
test_connect_refused(void **state)
{
	static const struct {
		const char *subnqn, *hostnqn;
		uint16_t qid, cntlid, status;
	} rows[] = {
		{NQN "none", HOST, 0, 0xffff, SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM)},
		{NQN, "host", 0, 0xffff, SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM)},
		{NQN, HOST, 0, 1, SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM)},
		{NQN "2", HOST, 0, 0xffff, SPECIFIC(NVME_SC_CONNECT_INVALID_HOST)},
		{NQN, HOST, 1, 77, SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM)},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct initiator i;

		nvmf_ends_start(&i, rows[n].qid, 32, NULL);
		assert_true(i.up);
		assert_int_equal(-initiator_fabrics_connect(&i, rows[n].subnqn, rows[n].hostnqn, rows[n].cntlid, 0) &
					 STATUS,
				 rows[n].status);
		nvmf_ends_hang_up(&i);
	}
}

static void
test_command_before_connect(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .cdw10 = 1, .sgl = nvmf_ends_keyed(4096)};

	(void)state;
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL) & STATUS, NVME_SC_CMD_SEQ_ERROR);
	assert_int_equal(initiator_fabrics_connect(&ends.admin, NQN, HOST, 0xffff, 0) > 0, 1);
	/* Connected, but not enabled. */
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL) & STATUS, NVME_SC_CMD_SEQ_ERROR);
	assert_true(initiator_enable(&ends.admin));
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
}

/* ---- Malformed capsules ----------------------------------------------------------------------------------------- */

enum { ON_A = 1, ON_B = 2 };

static const struct bad_row {
	const char *name;
	int on;
	struct nvme_command c;
	enum { KEY_GOOD, KEY_NONE } key;
	uint16_t status;
} bad_rows[] = {
	{"admin opcode", ON_A, {.opcode = 0x99}, KEY_NONE, NVME_SC_INVALID_OPCODE},
	{"io opcode", ON_B, {.opcode = 0x77, .nsid = 1}, KEY_NONE, NVME_SC_INVALID_OPCODE},
	{"fabrics type", ON_A, {.opcode = nvme_admin_fabrics, .nsid = 0x55}, KEY_NONE, NVME_SC_INVALID_OPCODE},
	{"fused", ON_B, {.opcode = nvme_cmd_flush, .nsid = 1, .fuse = 1}, KEY_NONE, NVME_SC_INVALID_FIELD},
	{"nsid 0", ON_B, {.opcode = nvme_cmd_flush}, KEY_NONE, NVME_SC_INVALID_NS},
	{"nsid beyond", ON_B, {.opcode = nvme_cmd_flush, .nsid = 3}, KEY_NONE, NVME_SC_INVALID_NS},
	{"lba beyond",
	 ON_B,
	 {.opcode = nvme_cmd_read, .nsid = 1, .cdw10 = BLOCKS, .sgl = {SGL_KEYED, 0, 512, 0}},
	 KEY_GOOD,
	 NVME_SC_LBA_RANGE},
	{"lba wraps",
	 ON_B,
	 {.opcode = nvme_cmd_read, .nsid = 1, .cdw10 = ~0u, .cdw11 = ~0u, .cdw12 = 1, .sgl = {SGL_KEYED, 0, 1024, 0}},
	 KEY_GOOD,
	 NVME_SC_LBA_RANGE},
	{"too long for MDTS",
	 ON_B,
	 {.opcode = nvme_cmd_read, .nsid = 1, .cdw12 = 2048, .sgl = {SGL_KEYED, 0, 2049 * 512, 0}},
	 KEY_GOOD,
	 NVME_SC_INVALID_FIELD},
	{"data shorter than the command",
	 ON_B,
	 {.opcode = nvme_cmd_read, .nsid = 1, .cdw12 = 1, .sgl = {SGL_KEYED, 0, 512, 0}},
	 KEY_GOOD,
	 NVME_SC_SGL_INVALID_DATA},
	{"no data", ON_B, {.opcode = nvme_cmd_write, .nsid = 1}, KEY_NONE, NVME_SC_SGL_INVALID_DATA},
	{"address wraps",
	 ON_B,
	 {.opcode = nvme_cmd_read, .nsid = 1, .sgl = {SGL_KEYED, UINT64_MAX - 100, 512, 0}},
	 KEY_NONE,
	 NVME_SC_SGL_INVALID_DATA},
	{"offset beyond the capsule",
	 ON_B,
	 {.opcode = nvme_cmd_write, .nsid = 1, .sgl = {SGL_CAPSULE, 4096, 512, 0}},
	 KEY_NONE,
	 NVME_SC_SGL_INVALID_OFFSET},
	{"length beyond the capsule",
	 ON_B,
	 {.opcode = nvme_cmd_write, .nsid = 1, .sgl = {SGL_CAPSULE, 0, 512, 0}},
	 KEY_NONE,
	 NVME_SC_SGL_INVALID_OFFSET},
	{"read into the capsule",
	 ON_B,
	 {.opcode = nvme_cmd_read, .nsid = 1, .sgl = {SGL_CAPSULE, 0, 512, 0}},
	 KEY_NONE,
	 NVME_SC_SGL_INVALID_TYPE},
	{"protection information",
	 ON_B,
	 {.opcode = nvme_cmd_read, .nsid = 1, .cdw12 = 1u << 29, .sgl = {SGL_KEYED, 0, 512, 0}},
	 KEY_GOOD,
	 NVME_SC_INVALID_FIELD},
	{"write to a read-only namespace",
	 ON_B,
	 {.opcode = nvme_cmd_write, .nsid = 2, .sgl = {SGL_KEYED, 0, 4096, 0}},
	 KEY_GOOD,
	 NVME_SC_NS_WRITE_PROTECTED},
	{"zeroes to a read-only namespace",
	 ON_B,
	 {.opcode = nvme_cmd_write_zeroes, .nsid = 2},
	 KEY_NONE,
	 NVME_SC_NS_WRITE_PROTECTED},
	{"deallocate of a read-only namespace",
	 ON_B,
	 {.opcode = nvme_cmd_dsm, .nsid = 2, .cdw11 = 4, .sgl = {SGL_KEYED, 0, 16, 0}},
	 KEY_GOOD,
	 NVME_SC_NS_WRITE_PROTECTED},
	{"identify CNS",
	 ON_A,
	 {.opcode = nvme_admin_identify, .cdw10 = 0x55, .sgl = {SGL_KEYED, 0, 4096, 0}},
	 KEY_GOOD,
	 NVME_SC_INVALID_FIELD},
	{"identify NSID",
	 ON_A,
	 {.opcode = nvme_admin_identify, .nsid = 9, .sgl = {SGL_KEYED, 0, 4096, 0}},
	 KEY_GOOD,
	 NVME_SC_INVALID_NS},
	{"log page",
	 ON_A,
	 {.opcode = nvme_admin_get_log_page, .cdw10 = 0x55, .sgl = {SGL_KEYED, 0, 4, 0}},
	 KEY_GOOD,
	 SPECIFIC(NVME_SC_INVALID_LOG_PAGE)},
	{"log page offset",
	 ON_A,
	 {.opcode = nvme_admin_get_log_page, .cdw10 = 2, .cdw12 = 3, .sgl = {SGL_KEYED, 0, 4, 0}},
	 KEY_GOOD,
	 NVME_SC_INVALID_FIELD},
	{"feature", ON_A, {.opcode = nvme_admin_get_features, .cdw10 = 0x7f}, KEY_NONE, NVME_SC_INVALID_FIELD},
	{"feature saved",
	 ON_A,
	 {.opcode = nvme_admin_set_features, .cdw10 = 0x8000000f},
	 KEY_NONE,
	 SPECIFIC(NVME_SC_FEATURE_NOT_SAVEABLE)},
	{"property",
	 ON_A,
	 {.opcode = nvme_admin_fabrics, .nsid = nvme_fabrics_type_property_get, .cdw11 = 0x444},
	 KEY_NONE,
	 NVME_SC_INVALID_FIELD},
	{"connected twice",
	 ON_A,
	 {.opcode = nvme_admin_fabrics, .nsid = nvme_fabrics_type_connect, .sgl = {SGL_KEYED, 0, 1024, 0}},
	 KEY_GOOD,
	 NVME_SC_CMD_SEQ_ERROR},
};

static void
test_malformed_capsules(void **state)
{
	(void)state;
	nvmf_ends_io();
	for (size_t n = 0; n < sizeof(bad_rows) / sizeof(bad_rows[0]); n++) {
		const struct bad_row *row = &bad_rows[n];
		struct nvme_command c = row->c;
		uint16_t status;

		if (row->key == KEY_GOOD) {
			c.sgl.addr = (uintptr_t)ends.buf;
			c.sgl.key = iw_mr_rkey(ends.mr);
		}
		status = nvmf_ends_call(row->on == ON_A ? &ends.admin : &ends.io, c, NULL, 0, NULL);
		if ((status & STATUS) != row->status)
			print_error("%s: status 0x%x, not 0x%x\n", row->name, status & STATUS, row->status);
		assert_int_equal(status & STATUS, row->status);
		assert_true(status & NVME_SC_DNR);
	}
	for (int i = 0; i < BUF; i++)
		assert_int_equal(ends.buf[i], 0xa5);
}

/* A key that grants nothing ends the connection (RFC 5040 §7): the ends.target reads and writes nothing, and goes on.
 */
static void
test_key_that_grants_nothing(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t len;
		bool foreign_key;
	} rows[] = {{nvme_cmd_write, 512, true}, {nvme_cmd_read, 512, true}, {nvme_cmd_read, 512, false}};

	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct nvme_command c = {.opcode = rows[n].opcode, .nsid = 1};
		struct nvme_response r;

		nvmf_ends_io();
		c.sgl = (struct sgl){SGL_KEYED, (uintptr_t)ends.buf, rows[n].len,
				     rows[n].foreign_key ? iw_mr_rkey(ends.mr) ^ 0x5500
							 : iw_mr_rkey(ends.read_only_mr)};
		if (initiator_call(&ends.io, &c, NULL, 0, &r))
			assert_true(rows[n].opcode == nvme_cmd_read); /* the response may have been under way */
		nvmf_ends_await(&ends.io.ended);
		nvmf_ends_hang_up(&ends.io);
		nvmf_ends_hang_up(&ends.admin);
	}
	for (int i = 0; i < BUF; i++)
		assert_int_equal(ends.buf[i], 0xa5);
}

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
		TEST(test_private_data),       TEST(test_connect_refused),         TEST(test_command_before_connect),
		TEST(test_malformed_capsules), TEST(test_key_that_grants_nothing), TEST(test_flood),
		TEST(test_short_capsule),      TEST(test_queue_overrun),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
