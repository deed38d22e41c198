/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target against an initiator that sends right and wrong capsules, both in one thread over an in-process
 * wire.  Expectations: NVM Express base 1.4, NVM command set, NVMe over Fabrics 1.1 and its RDMA binding. */
#include <nvme/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ends.h"
#include "host.h"
#include "initiator.h"
#include "serve.h"

#define NQN "nqn.2026-11.org.example:disk"
#define HOST "nqn.2026-11.org.example:host"
#define PORT 4420
#define BLOCKS 4096
#define GUARD 4096 /* octets around the host's buffer that nobody may touch */
#define BUF 1048576
#define SPECIFIC(sc) (NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | (sc))
#define MEDIA(sc) (NVME_SCT_MEDIA << NVME_SCT_SHIFT | (sc))
#define STATUS 0x7ff /* without "do not retry" */

static struct target target;
static struct server server;
static struct host far, near;
static struct iw_pd *pd;
static struct initiator admin, io;
static uint16_t port[2];
static int cntlid;
static uint8_t memory[GUARD + BUF + GUARD];
static uint8_t *const buf = memory + GUARD;
static struct iw_mr *mr, *read_only_mr;

static void
turn(void)
{
	serve_turn(&server);
}

static void
turns(int n)
{
	while (n-- > 0) {
		iw_engine_poll(near.engine);
		turn();
	}
}

static void
open_host(struct host *h, uint16_t port_id, const char *ip)
{
	struct host_options o = {.port_id = port_id, .prefix_len = 24, .has_ip = true, .mtu = 9000};

	assert_int_equal(iw_addr_parse(ip, &o.ip), 0);
	assert_true(host_open(h, &o));
}

static int
open_all(void **state)
{
	struct options o = {.port = PORT, .buffer_mib = 4};

	(void)state;
	memset(&target, 0, sizeof(target));
	assert_int_equal(iw_addr_parse("192.0.2.1", &o.host.ip), 0);
	assert_int_equal(iw_wire_create("nvmf", 1024, &port[0], &port[1]), 0);
	subsys_init(&target.subsys[0], NQN);
	subsys_add_ns(&target.subsys[0], "ram:2M");
	subsys_add_ns(&target.subsys[0], "ram:1M,bs=4096");
	target.subsys[0].ns[1].read_only = true;
	subsys_init(&target.subsys[1], NQN "2");
	subsys_add_ns(&target.subsys[1], "ram:64K");
	target.subsys[1].host[0] = HOST "x";
	target.subsys[1].num_hosts = 1;
	target.num_subsys = 2;
	open_host(&far, port[0], "192.0.2.1");
	open_host(&near, port[1], "192.0.2.2");
	assert_int_equal(serve_open(&server, &far, &o, &target), 0);
	pd = iw_pd_create(near.domain);
	memset(memory, 0xa5, sizeof(memory));
	mr = iw_mr_reg(pd, buf, BUF, IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE, NULL);
	read_only_mr = iw_mr_reg(pd, buf, BUF, IW_REMOTE_READ, NULL);
	return 0;
}

static void
hang_up(struct initiator *i)
{
	if (i->qp)
		initiator_close(i);
	turns(200);
}

static int
close_all(void **state)
{
	(void)state;
	hang_up(&io);
	hang_up(&admin);
	turns(500);
	assert_true(conn_idle(&server.side));
	assert_int_equal(target.ctrls.used, 0);
	assert_int_equal(target.bufs.num_free, target.bufs.num);
	serve_close(&server);
	iw_mr_dereg(mr);
	iw_mr_dereg(read_only_mr);
	iw_pd_destroy(pd);
	host_close(&near);
	host_close(&far);
	iw_wire_destroy(port[0], port[1]);
	for (int i = 0; i < GUARD; i++)
		assert_true(memory[i] == 0xa5 && memory[GUARD + BUF + i] == 0xa5);
	return 0;
}

static void
start(struct initiator *i, uint16_t qid, uint16_t depth, const uint8_t *private)
{
	struct iw_addr addr;

	assert_int_equal(iw_addr_parse("192.0.2.1", &addr), 0);
	addr.port = PORT;
	assert_int_equal(initiator_connect(i, near.engine, pd, &addr, qid, depth,
					   qid ? EXEC_CAPSULE_DATA : EXEC_CAPSULE_ADMIN, private),
			 0);
	i->turn = turn;
	for (int n = 0; n < 20000 && !i->up && !i->ended; n++)
		turns(1);
}

static void
connect_admin(void)
{
	start(&admin, 0, 32, NULL);
	assert_true(admin.up);
	cntlid = initiator_fabrics_connect(&admin, NQN, HOST, 0xffff, 0);
	assert_true(cntlid > 0);
	assert_true(initiator_enable(&admin));
}

static void
connect_io(void)
{
	connect_admin();
	start(&io, 1, 128, NULL);
	assert_true(io.up);
	assert_int_equal(initiator_fabrics_connect(&io, NQN, HOST, (uint16_t)cntlid, 0), cntlid);
}

static uint16_t
call(struct initiator *i, struct nvme_command c, const void *data, uint32_t len, uint64_t *result)
{
	struct nvme_response r;

	assert_true(initiator_call(i, &c, data, len, &r));
	assert_int_equal(r.cid, c.cid);
	if (result)
		*result = r.result;
	return r.status;
}

static struct sgl
keyed(uint32_t len)
{
	return (struct sgl){SGL_KEYED, (uintptr_t)buf, len, iw_mr_rkey(mr)};
}

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
		start(&i, 0, 32, raw);
		assert_true(i.ended);
		assert_int_equal(i.status, -IW_E_CONNREFUSED);
		assert_int_equal(i.reject_status, rows[n].status);
		hang_up(&i);
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

		start(&i, rows[n].qid, 32, NULL);
		assert_true(i.up);
		assert_int_equal(-initiator_fabrics_connect(&i, rows[n].subnqn, rows[n].hostnqn, rows[n].cntlid, 0) &
					 STATUS,
				 rows[n].status);
		hang_up(&i);
	}
}

static void
test_command_before_connect(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .cdw10 = 1, .sgl = keyed(4096)};

	(void)state;
	start(&admin, 0, 32, NULL);
	assert_int_equal(call(&admin, c, NULL, 0, NULL) & STATUS, NVME_SC_CMD_SEQ_ERROR);
	assert_int_equal(initiator_fabrics_connect(&admin, NQN, HOST, 0xffff, 0) > 0, 1);
	/* Connected, but not enabled. */
	assert_int_equal(call(&admin, c, NULL, 0, NULL) & STATUS, NVME_SC_CMD_SEQ_ERROR);
	assert_true(initiator_enable(&admin));
	assert_int_equal(call(&admin, c, NULL, 0, NULL), 0);
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
	connect_io();
	for (size_t n = 0; n < sizeof(bad_rows) / sizeof(bad_rows[0]); n++) {
		const struct bad_row *row = &bad_rows[n];
		struct nvme_command c = row->c;
		uint16_t status;

		if (row->key == KEY_GOOD) {
			c.sgl.addr = (uintptr_t)buf;
			c.sgl.key = iw_mr_rkey(mr);
		}
		status = call(row->on == ON_A ? &admin : &io, c, NULL, 0, NULL);
		if ((status & STATUS) != row->status)
			print_error("%s: status 0x%x, not 0x%x\n", row->name, status & STATUS, row->status);
		assert_int_equal(status & STATUS, row->status);
		assert_true(status & NVME_SC_DNR);
	}
	for (int i = 0; i < BUF; i++)
		assert_int_equal(buf[i], 0xa5);
}

/* A key that grants nothing ends the connection (RFC 5040 §7): the target reads and writes nothing, and goes on. */
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

		connect_io();
		c.sgl = (struct sgl){SGL_KEYED, (uintptr_t)buf, rows[n].len,
				     rows[n].foreign_key ? iw_mr_rkey(mr) ^ 0x5500 : iw_mr_rkey(read_only_mr)};
		if (initiator_call(&io, &c, NULL, 0, &r))
			assert_true(rows[n].opcode == nvme_cmd_read); /* the response may have been under way */
		for (int i = 0; i < 20000 && !io.ended; i++)
			turns(1);
		assert_true(io.ended);
		hang_up(&io);
		hang_up(&admin);
	}
	for (int i = 0; i < BUF; i++)
		assert_int_equal(buf[i], 0xa5);
}

/* The host keeps sending and does not wait for responses: it is cut off, and no request is used twice. */
static void
test_flood(void **state)
{
	struct nvme_command c = {.opcode = nvme_cmd_read, .nsid = 1, .sgl = keyed(512)};
	uint8_t raw[CAPSULE_COMMAND];
	struct iw_sge sge = {(uintptr_t)raw, sizeof(raw), 0};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_INLINE};

	(void)state;
	connect_admin();
	start(&io, 1, 4, NULL);
	assert_int_equal(initiator_fabrics_connect(&io, NQN, HOST, (uint16_t)cntlid, 0), cntlid);
	for (int round = 0; round < 1000 && !io.ended; round++) {
		for (uint16_t i = 0; i < 3; i++) {
			c.cid = (uint16_t)(3 * round + i);
			capsule_command_emit(&c, raw);
			(void)iw_post_send(io.qp, &wr, NULL);
		}
		turns(1);
	}
	for (int i = 0; i < 20000 && !io.ended; i++)
		turns(1);
	assert_true(io.ended);
}

static void
test_short_capsule(void **state)
{
	uint8_t junk[10] = {1};
	struct iw_sge sge = {(uintptr_t)junk, sizeof(junk), 0};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_INLINE};

	(void)state;
	connect_admin();
	assert_int_equal(iw_post_send(admin.qp, &wr, NULL), 0);
	for (int i = 0; i < 20000 && !admin.ended; i++)
		turns(1);
	assert_true(admin.ended);
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
	start(&admin, 0, 2, NULL);
	assert_true(initiator_fabrics_connect(&admin, NQN, HOST, 0xffff, 0) > 0);
	assert_true(initiator_enable(&admin));
	for (uint16_t i = 0; i < 4; i++) { /* held, all of them */
		c.cid = i;
		capsule_command_emit(&c, raw);
		if (iw_post_send(admin.qp, &wr, NULL) != 0)
			break;
		turns(20);
	}
	for (int i = 0; i < 20000 && !admin.ended; i++)
		turns(1);
	assert_true(admin.ended);
}

/* ---- I/O -------------------------------------------------------------------------------------------------------- */

static void
fill(uint8_t *p, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24);
	}
}

static struct nvme_command
io_command(uint8_t opcode, uint32_t lba, uint32_t blocks, struct sgl sgl)
{
	return (struct nvme_command){.opcode = opcode, .nsid = 1, .cdw10 = lba, .cdw12 = blocks - 1, .sgl = sgl};
}

static void
test_write_read_compare(void **state)
{
	static const uint32_t blocks[] = {1, 8, 16, 127, 128, 129, 2048};
	static uint8_t copy[BUF];

	(void)state;
	connect_io();
	for (size_t n = 0; n < sizeof(blocks) / sizeof(blocks[0]); n++) {
		uint32_t len = blocks[n] * 512;

		fill(buf, len, (uint32_t)n);
		memcpy(copy, buf, len);
		assert_int_equal(call(&io, io_command(nvme_cmd_write, 0, blocks[n], keyed(len)), NULL, 0, NULL), 0);
		assert_int_equal(call(&io, io_command(nvme_cmd_compare, 0, blocks[n], keyed(len)), NULL, 0, NULL), 0);
		memset(buf, 0, len);
		assert_int_equal(call(&io, io_command(nvme_cmd_read, 0, blocks[n], keyed(len)), NULL, 0, NULL), 0);
		assert_memory_equal(buf, copy, len);
		buf[len - 1] ^= 1;
		assert_int_equal(call(&io, io_command(nvme_cmd_compare, 0, blocks[n], keyed(len)), NULL, 0, NULL) &
					 STATUS,
				 MEDIA(NVME_SC_COMPARE_FAILED));
	}
}

static void
test_data_in_the_capsule(void **state)
{
	uint8_t data[EXEC_CAPSULE_DATA];
	struct sgl sgl = {SGL_CAPSULE, 0, sizeof(data), 0};

	(void)state;
	connect_io();
	fill(data, sizeof(data), 7);
	assert_int_equal(call(&io, io_command(nvme_cmd_write, 5, 16, sgl), data, sizeof(data), NULL), 0);
	assert_int_equal(call(&io, io_command(nvme_cmd_read, 5, 16, keyed(8192)), NULL, 0, NULL), 0);
	assert_memory_equal(buf, data, sizeof(data));
}

static void
test_write_zeroes_and_deallocate(void **state)
{
	static const uint8_t zero[4096];
	/* Two ranges: blocks 2..3 and 6. */
	uint8_t ranges[32] = {[4] = 2, [8] = 2, [20] = 1, [24] = 6};
	struct nvme_command dsm = {.opcode = nvme_cmd_dsm, .nsid = 1, .cdw10 = 1, .cdw11 = 4};

	(void)state;
	connect_io();
	memset(buf, 0x77, 4096);
	assert_int_equal(call(&io, io_command(nvme_cmd_write, 0, 8, keyed(4096)), NULL, 0, NULL), 0);
	assert_int_equal(call(&io, io_command(nvme_cmd_write_zeroes, 0, 1, (struct sgl){0}), NULL, 0, NULL), 0);
	dsm.sgl = (struct sgl){SGL_CAPSULE, 0, sizeof(ranges), 0};
	assert_int_equal(call(&io, dsm, ranges, sizeof(ranges), NULL), 0);
	assert_int_equal(call(&io, io_command(nvme_cmd_read, 0, 8, keyed(4096)), NULL, 0, NULL), 0);
	for (int block = 0; block < 8; block++) {
		bool zeroed = block == 0 || block == 2 || block == 3 || block == 6;

		assert_int_equal(memcmp(buf + block * 512, zero, 512) == 0, zeroed);
	}
	ranges[24] = 0xff, ranges[25] = 0xff; /* beyond the end: nothing is done */
	assert_int_equal(call(&io, dsm, ranges, sizeof(ranges), NULL) & STATUS, NVME_SC_LBA_RANGE);
}

/* The host asks for its key to be invalidated: the response does it, and the key is dead. */
static void
test_remote_invalidate(void **state)
{
	struct iw_mr *one = NULL;
	struct nvme_command c;
	struct nvme_response r;

	(void)state;
	connect_io();
	one = iw_mr_reg_qp(io.qp, buf, 512, IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE, NULL);
	assert_non_null(one);
	c = io_command(nvme_cmd_read, 0, 1, (struct sgl){SGL_KEYED_INV, (uintptr_t)buf, 512, iw_mr_rkey(one)});
	assert_int_equal(call(&io, c, NULL, 0, NULL), 0);
	(void)initiator_call(&io, &c, NULL, 0, &r); /* the second time it ends the stream */
	for (int i = 0; i < 20000 && !io.ended; i++)
		turns(1);
	assert_true(io.ended);
	hang_up(&io);
	iw_mr_dereg(one);
}

/* ---- Admin ------------------------------------------------------------------------------------------------------ */

static void
test_identify(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .sgl = keyed(4096)};
	const struct nvme_id_ctrl *ctrl = (const void *)buf;
	const struct nvme_id_ns *ns = (const void *)buf;
	const uint32_t *list = (const void *)buf;

	(void)state;
	connect_admin();
	c.cdw10 = 1;
	assert_int_equal(call(&admin, c, NULL, 0, NULL), 0);
	assert_string_equal(ctrl->subnqn, NQN);
	assert_int_equal(ctrl->cntlid, cntlid);
	assert_int_equal(ctrl->nn, 2);
	assert_int_equal(ctrl->ioccsz * 16, CAPSULE_COMMAND + EXEC_CAPSULE_DATA);
	assert_int_equal(ctrl->sgls & 0x100005, 0x100005);
	assert_true(ctrl->kas > 0);
	c.cdw10 = 0;
	c.nsid = 2;
	assert_int_equal(call(&admin, c, NULL, 0, NULL), 0);
	assert_int_equal(ns->nsze, 256);
	assert_int_equal(ns->lbaf[0].ds, 12);
	assert_int_equal(ns->nsattr & 1, 1);
	c.cdw10 = 2;
	c.nsid = 1;
	assert_int_equal(call(&admin, c, NULL, 0, NULL), 0);
	assert_int_equal(list[0], 2);
	assert_int_equal(list[1], 0);
}

static void
test_discovery_log(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_get_log_page, .cdw10 = 0x70 | 1023u << 16, .sgl = keyed(4096)};
	const struct nvmf_discovery_log *log = (const void *)buf;

	(void)state;
	start(&admin, 0, 32, NULL);
	assert_true(initiator_fabrics_connect(&admin, "nqn.2014-08.org.nvmexpress.discovery", HOST, 0xffff, 0) > 0);
	assert_true(initiator_enable(&admin));
	assert_int_equal(call(&admin, c, NULL, 0, NULL), 0);
	assert_int_equal(log->numrec, 1); /* the other subsystem is not for this host */
	assert_string_equal(log->entries[0].subnqn, NQN);
	assert_int_equal(log->entries[0].trtype, NVMF_TRTYPE_RDMA);
	assert_int_equal(log->entries[0].tsas.rdma.prtype, NVMF_RDMA_PRTYPE_IWARP);
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
	connect_admin();
	assert_int_equal(call(&admin, set, NULL, 0, &result), 0);
	assert_int_equal(result, 3 << 16 | 3);
	assert_int_equal(call(&admin, get, NULL, 0, &result), 0);
	assert_int_equal(result, 3 << 16 | 3);
	set.cdw11 = 0xffff;
	assert_int_equal(call(&admin, set, NULL, 0, NULL) & STATUS, NVME_SC_INVALID_FIELD);
}

static void
test_async_events_are_held_and_limited(void **state)
{
	struct nvme_command aer = {.opcode = nvme_admin_async_event};
	struct nvme_response r;

	(void)state;
	connect_admin();
	for (uint16_t i = 0; i < CTRL_AERS; i++) {
		aer.cid = i;
		assert_int_equal(initiator_send(&admin, &aer, NULL, 0), 0);
	}
	turns(200);
	assert_int_equal(initiator_poll(&admin, &r, 1), 0);
	aer.cid = CTRL_AERS;
	assert_int_equal(call(&admin, aer, NULL, 0, NULL) & STATUS, SPECIFIC(NVME_SC_ASYNC_LIMIT));
}

/* A host that goes silent is dropped after its keep-alive timeout, with all its queues. */
static void
test_keep_alive(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_set_features, .cdw10 = 0x0f, .cdw11 = 300};

	(void)state;
	connect_io();
	assert_int_equal(call(&admin, c, NULL, 0, NULL), 0);
	for (uint64_t end = iw_engine_now(near.engine) + UINT64_C(2000000000); iw_engine_now(near.engine) < end;)
		turns(1);
	assert_true(admin.ended && io.ended);
	assert_true(conn_idle(&server.side));
	assert_int_equal(target.ctrls.used, 0);
}

static void
test_abort_of_a_held_event_request(void **state)
{
	struct nvme_command aer = {.opcode = nvme_admin_async_event, .cid = 7};
	struct nvme_command abort = {.opcode = nvme_admin_abort_cmd, .cid = 1};
	struct nvme_response r[2];
	uint64_t result;
	int n = 0;

	(void)state;
	connect_admin();
	assert_int_equal(initiator_send(&admin, &aer, NULL, 0), 0);
	turns(200);
	abort.cdw10 = 8u << 16;
	assert_int_equal(call(&admin, abort, NULL, 0, &result), 0);
	assert_int_equal(result, 1); /* there is no 8 */
	abort.cdw10 = 7u << 16;
	assert_int_equal(initiator_send(&admin, &abort, NULL, 0), 0);
	for (int i = 0; i < 20000 && n < 2; i++) {
		turns(1);
		n += initiator_poll(&admin, &r[n], 2 - n);
	}
	assert_int_equal(n, 2);
	assert_int_equal(r[0].cid, 7);
	assert_int_equal(r[0].status & STATUS, NVME_SC_ABORT_REQ);
	assert_int_equal(r[1].cid, 1);
	assert_int_equal(r[1].status, 0);
	assert_int_equal(r[1].result, 0); /* aborted */
	/* Its place is free again. */
	for (uint16_t i = 0; i < CTRL_AERS; i++) {
		aer.cid = i;
		assert_int_equal(initiator_send(&admin, &aer, NULL, 0), 0);
	}
	turns(200);
	assert_int_equal(initiator_poll(&admin, r, 1), 0);
}

/* CC.SHN: the shutdown completes (base 1.4 §7.6.2). */
static void
test_shutdown(void **state)
{
	struct nvme_command set = {.opcode = nvme_admin_fabrics,
				   .nsid = nvme_fabrics_type_property_set,
				   .cdw11 = PROP_CC,
				   .cdw12 = 1u | 1u << 14 | 6u << 16 | 4u << 20};
	struct nvme_command get = {
		.opcode = nvme_admin_fabrics, .nsid = nvme_fabrics_type_property_get, .cdw11 = PROP_CSTS};
	uint64_t csts;

	(void)state;
	connect_admin();
	assert_int_equal(call(&admin, set, NULL, 0, NULL), 0);
	assert_int_equal(call(&admin, get, NULL, 0, &csts), 0);
	assert_int_equal(csts & CSTS_SHST, CSTS_SHST_DONE);
}

/* A Connect may ask for a smaller queue than the connection has room for; SQHD wraps there. */
static void
test_queue_smaller_than_the_connection(void **state)
{
	struct nvme_command c = {.opcode = nvme_cmd_flush, .nsid = 1};
	struct private_request room = {.qid = 1, .hrqsize = 128, .hsqsize = 127};
	uint8_t raw[CAPSULE_PRIVATE];
	struct nvme_response r;

	(void)state;
	connect_admin();
	capsule_private_emit(&room, raw);
	start(&io, 1, 3, raw);
	assert_int_equal(initiator_fabrics_connect(&io, NQN, HOST, (uint16_t)cntlid, 0), cntlid);
	for (int i = 0; i < 7; i++) {
		assert_true(initiator_call(&io, &c, NULL, 0, &r));
		assert_int_equal(r.sq_head, (2 + i) % 3);
	}
}

/* Room for more data than the command has is no fault: Linux sends Dataset Management so. */
static void
test_data_longer_than_the_command(void **state)
{
	struct nvme_command dsm = {.opcode = nvme_cmd_dsm, .nsid = 1, .cdw11 = 4, .sgl = keyed(4096)};

	(void)state;
	connect_io();
	memset(buf, 0x66, 512);
	assert_int_equal(call(&io, io_command(nvme_cmd_write, 9, 1, keyed(512)), NULL, 0, NULL), 0);
	memset(buf, 0, 16);
	buf[4] = 1, buf[8] = 9;
	assert_int_equal(call(&io, dsm, NULL, 0, NULL), 0);
	memset(buf, 0xa5, 1024);
	assert_int_equal(call(&io, io_command(nvme_cmd_read, 9, 1, keyed(1024)), NULL, 0, NULL), 0);
	assert_int_equal(buf[0], 0);
	assert_int_equal(buf[511], 0);
	assert_int_equal(buf[512], 0xa5);
}

/* More data than the target has buffers for: the rest waits its turn, and all of it comes. */
static void
test_more_data_than_buffers(void **state)
{
	struct nvme_command c = io_command(nvme_cmd_compare, 0, 2048, keyed(BUF));
	struct nvme_response r[16];
	int n = 0;

	(void)state;
	connect_io();
	memset(buf, 0, BUF);
	for (c.cid = 0; c.cid < 16; c.cid++)
		assert_int_equal(initiator_send(&io, &c, NULL, 0), 0);
	for (int i = 0; i < 200000 && n < 16; i++) {
		turns(1);
		n += initiator_poll(&io, &r[n], 16 - n);
	}
	assert_int_equal(n, 16);
	for (int i = 0; i < 16; i++)
		assert_int_equal(r[i].status, 0);
}

/* The host vanishes with commands on their way: everything comes back (close_all looks). */
static void
test_host_gone_under_load(void **state)
{
	struct nvme_command c = io_command(nvme_cmd_write, 0, 2048, keyed(BUF));

	(void)state;
	for (int after = 0; after < 12; after += 3) {
		connect_io();
		for (c.cid = 0; c.cid < 32; c.cid++)
			assert_int_equal(initiator_send(&io, &c, NULL, 0), 0);
		turns(after);
		hang_up(&io);
		hang_up(&admin);
		turns(500);
		assert_true(conn_idle(&server.side));
		assert_int_equal(target.bufs.num_free, target.bufs.num);
	}
}

/* The admin queue leaves: the controller and its I/O queues go with it. */
static void
test_admin_queue_takes_the_controller_with_it(void **state)
{
	(void)state;
	connect_io();
	hang_up(&admin);
	for (int i = 0; i < 20000 && !io.ended; i++)
		turns(1);
	assert_true(io.ended);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_private_data),
		TEST(test_connect_refused),
		TEST(test_command_before_connect),
		TEST(test_malformed_capsules),
		TEST(test_key_that_grants_nothing),
		TEST(test_flood),
		TEST(test_short_capsule),
		TEST(test_queue_overrun),
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
		TEST(test_host_gone_under_load),
		TEST(test_keep_alive),
		TEST(test_admin_queue_takes_the_controller_with_it),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
