/* SPDX-License-Identifier: BSD-3-Clause */
/* How a host gets in, and how not: private data, Fabrics Connect, what may come before and after it.  Expectations:
 * NVMe over Fabrics 1.1 and its RDMA binding. */
#include <nvme/types.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ends.h"
#include "flow.h"
#include "nvmf_ends.h"

#define PARAM SPECIFIC(NVME_SC_CONNECT_INVALID_PARAM)
#define IN_DATA (1u << 16) /* of the result: where the fault is, in the data or else in the command */

/* ---- Private data of the connection ----------------------------------------------------------------------------- */

static void
test_private_data(void **state)
{
	static const struct {
		struct private_request r;
		uint16_t len, status;
	} rows[] = {
		{{0, 0, 32, 31}, 0, 1},                   /* length */
		{{0, 0, 32, 31}, 31, 1},                  /* likewise */
		{{1, 0, 32, 31}, 32, 2},                  /* recfmt */
		{{0, CTRL_IO_QUEUES + 1, 32, 31}, 32, 3}, /* qid */
		{{0, 0xffff, 32, 31}, 32, 3},             /* likewise */
		{{0, 0, 32, 0}, 32, 4},                   /* hsqsize */
		{{0, 0, 32, CTRL_QUEUE_SIZE}, 32, 4},     /* too deep */
		{{0, 0, 32, 0xffff}, 32, 4},              /* likewise */
		{{0, 0, 0, 31}, 32, 5},                   /* hrqsize */
	};

	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		uint8_t raw[CAPSULE_PRIVATE];
		struct iw_cm_attr attr = {.private_data = raw, .private_len = rows[n].len};
		struct initiator i;

		capsule_private_emit(&rows[n].r, raw);
		nvmf_ends_start(&i, 0, 32, &attr);
		assert_true(i.ended);
		assert_int_equal(i.status, -IW_E_CONNREFUSED);
		assert_int_equal(i.reject_status, rows[n].status);
		nvmf_ends_hang_up(&i);
	}
}

/* The accept says how many commands the queue takes. */
static void
test_accepted(void **state)
{
	static const uint16_t depths[] = {2, 32, 128, CTRL_QUEUE_SIZE};

	(void)state;
	for (size_t n = 0; n < sizeof(depths) / sizeof(depths[0]); n++) {
		struct initiator i;

		nvmf_ends_start(&i, 0, depths[n], NULL);
		assert_true(i.up);
		assert_int_equal(i.crqsize, depths[n]);
		nvmf_ends_hang_up(&i);
	}
}

static void
refused(struct initiator *i, uint16_t status)
{
	nvmf_ends_await(&i->ended);
	assert_int_equal(i->status, -IW_E_CONNREFUSED);
	assert_int_equal(i->reject_status, status);
	nvmf_ends_hang_up(i);
	assert_int_equal(nvmf_ends_conns(), 0);
}

/* Status 6: there is no memory for the queue. Nothing of it stays, and there is room for the next one when there is
 * memory again. */
static void
test_no_resources(void **state)
{
	struct rlimit all, none;
	unsigned long pages;
	struct initiator i;
	FILE *f;

	(void)state;
	nvmf_ends_begin(&i, NVMF_PORT, 1, CTRL_QUEUE_SIZE, NULL);
	assert_int_equal(getrlimit(RLIMIT_AS, &all), 0);
	f = fopen("/proc/self/statm", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	none = all;
	none.rlim_cur = pages * (unsigned long)sysconf(_SC_PAGESIZE);
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	for (uint64_t end = nvmf_ends_deadline(); !i.ended && nvmf_ends_turn(end);)
		;
	assert_int_equal(setrlimit(RLIMIT_AS, &all), 0);
	refused(&i, 6);
	nvmf_ends_io();
}

static uint16_t seen_ird, seen_ord;      /* what the next host is said to have */
static const struct iw_addr *seen_local; /* and as what it is said to have reached us; NULL: as it did */

static int
other_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct iw_cm_event e = *event;

	if (e.type == IW_CM_CONNECT_REQUEST) {
		e.ird = seen_ird;
		e.ord = seen_ord;
		e.local = seen_local ? *seen_local : e.local;
	}
	return conn_event(id, &e, context);
}

static iw_cm_id
listen_beside(void)
{
	struct host_side *side = &ends.server.side[0];
	iw_cm_id listener = iw_cm_create(side->engine, other_event, side);
	struct iw_addr addr = {.port = NVMF_PORT + 1};

	seen_ird = seen_ord = 0;
	seen_local = NULL;
	assert_int_equal(iw_cm_listen(side->engine, listener, &addr, 4), 0);
	return listener;
}

/* Status 7: a host that answers no RDMA Read could write nothing. Status 8 is for none: a controller answers no Reads,
 * for hosts do none (RDMA binding: the controller moves the data), so whatever a host's ORD is, it is met. */
static void
test_read_depths(void **state)
{
	struct host_side *side = &ends.server.side[0];
	iw_cm_id listener = listen_beside();
	struct initiator i;

	(void)state;
	seen_ord = 16;
	nvmf_ends_begin(&i, NVMF_PORT + 1, 0, 32, NULL);
	refused(&i, 7);
	seen_ird = 1;
	for (int n = 0; n < 3; n++) {
		seen_ord = (uint16_t[]){0, 1, 0x3fff}[n];
		nvmf_ends_begin(&i, NVMF_PORT + 1, 0, 32, NULL);
		nvmf_ends_await(&i.up);
		assert_int_equal(side->conns->max_reads, 1);
		nvmf_ends_hang_up(&i);
		nvmf_ends_await_conns(0);
	}
	iw_cm_destroy(side->engine, listener);
}

/* The discovery log has our address as the host reached it, without the scope, which is ours alone. */
static void
test_address_of_the_log(void **state)
{
	struct nvme_command c = {
		.opcode = nvme_admin_get_log_page, .cdw10 = 0x70 | 511u << 16, .sgl = nvmf_ends_keyed(2048)};
	const struct nvmf_discovery_log *log = (const void *)ends.buf;
	iw_cm_id listener = listen_beside();
	struct iw_addr local;

	(void)state;
	assert_int_equal(iw_addr_parse("fe80::1", &local), 0);
	local.scope = 5;
	seen_local = &local;
	seen_ird = 1;
	nvmf_ends_begin(&ends.admin, NVMF_PORT + 1, 0, 32, NULL);
	nvmf_ends_await(&ends.admin.up);
	assert_true(initiator_fabrics_connect(&ends.admin, SUBSYS_DISCOVERY, HOST, 0xffff, 0) > 0);
	assert_true(initiator_enable(&ends.admin));
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	assert_int_equal(log->entries[0].adrfam, NVMF_ADDR_FAMILY_IP6);
	assert_memory_equal(log->entries[0].traddr, "fe80::1 ", 8);
	iw_cm_destroy(ends.server.side[0].engine, listener);
}

/* More of it than there is to know is no fault: a later format may have it. */
static void
test_longer_private_data(void **state)
{
	static const struct private_request r = {.qid = 0, .hrqsize = 32, .hsqsize = 31};
	uint8_t raw[CAPSULE_PRIVATE + 24] = {0};
	struct iw_cm_attr attr = {.private_data = raw, .private_len = sizeof(raw)};

	(void)state;
	capsule_private_emit(&r, raw);
	nvmf_ends_start(&ends.admin, 0, 32, &attr);
	assert_true(ends.admin.up);
}

/* ---- Connect ---------------------------------------------------------------------------------------------------- */

/* What a host says in its Connect; 0 is what is right, on a queue of 32 entries. */
struct say {
	uint16_t qid, recfmt, said_qid, cattr;
	int sqsize; /* -1: 0 */
	const char *subnqn, *hostnqn;
	uint8_t hostid;
	uint16_t cntlid;
	uint32_t unended; /* where a name has no end */
	struct sgl sgl;
};

static struct nvme_response
say(struct initiator *i, const struct say *s)
{
	uint16_t cntlid = s->cntlid ? s->cntlid : s->qid == 0 ? 0xffff : (uint16_t)ends.cntlid;
	struct nvme_command c = {.opcode = nvme_admin_fabrics, .nsid = nvme_fabrics_type_connect};
	struct connect_data d = {.cntlid = cntlid};
	uint8_t raw[CAPSULE_CONNECT_DATA];
	struct nvme_response r;

	memset(d.hostid, s->hostid ? s->hostid : 0x42, sizeof(d.hostid));
	snprintf(d.subnqn, sizeof(d.subnqn), "%s", s->subnqn ? s->subnqn : NQN);
	snprintf(d.hostnqn, sizeof(d.hostnqn), "%s", s->hostnqn ? s->hostnqn : HOST);
	capsule_connect_emit(&d, raw);
	if (s->unended)
		memset(raw + s->unended, 'x', CAPSULE_NQN);
	c.cdw10 = (uint32_t)(s->said_qid ? s->said_qid : s->qid) << 16 | s->recfmt;
	c.cdw11 = s->sqsize < 0 ? 0 : s->sqsize ? (uint32_t)s->sqsize : 31;
	c.cdw11 |= (uint32_t)s->cattr << 16;
	c.sgl = s->sgl.len ? s->sgl : (struct sgl){SGL_CAPSULE, 0, sizeof(raw), 0};
	assert_true(initiator_call(i, &c, raw, sizeof(raw), &r));
	return r;
}

static const struct connect_row {
	const char *what;
	struct say say;
	uint16_t status;
	uint32_t result;
} connect_rows[] = {
	{"format", {.recfmt = 1}, SPECIFIC(NVME_SC_CONNECT_FORMAT), 0},
	{"another qid", {.said_qid = 5}, PARAM, 42},
	{"queue of one entry", {.sqsize = -1}, PARAM, 44},
	{"queue deeper than the connection's", {.sqsize = 32}, PARAM, 44},
	{"no such subsystem", {.subnqn = NQN "none"}, PARAM, IN_DATA | 256},
	{"subsystem without an end", {.unended = 256}, PARAM, IN_DATA | 256},
	{"host that is no NQN", {.hostnqn = "host"}, PARAM, IN_DATA | 512},
	{"host that writes to the terminal", {.hostnqn = HOST "\n\x1b[2J"}, PARAM, IN_DATA | 512},
	{"host without an end", {.unended = 512}, PARAM, IN_DATA | 512},
	{"host that may not", {.subnqn = NQN "2"}, SPECIFIC(NVME_SC_CONNECT_INVALID_HOST), 0},
	{"static controller", {.cntlid = 1}, PARAM, IN_DATA | 16},
	{"data too short", {.sgl = {SGL_CAPSULE, 0, 1023, 0}}, NVME_SC_SGL_INVALID_DATA, 0},
	{"data beyond the capsule", {.sgl = {SGL_CAPSULE, 1, 1024, 0}}, NVME_SC_SGL_INVALID_OFFSET, 0},
	{"I/O: no such controller", {.qid = 1, .cntlid = 77}, PARAM, IN_DATA | 16},
	{"I/O: controller 0xffff", {.qid = 1, .cntlid = 0xffff}, PARAM, IN_DATA | 16},
	{"I/O: another host's", {.qid = 1, .hostnqn = HOST "2"}, PARAM, IN_DATA | 16},
	{"I/O: another host identifier", {.qid = 1, .hostid = 0x43}, PARAM, IN_DATA | 16},
	{"I/O: another subsystem's", {.qid = 1, .subnqn = SUBSYS_DISCOVERY}, PARAM, IN_DATA | 16},
	{"I/O: more queues than granted", {.qid = 3}, PARAM, 42},
	{"I/O: there already", {.qid = 1}, NVME_SC_CMD_SEQ_ERROR, 0},
};

/* The queue is there, but whoever comes is not let in: the status, and where the fault is (DW0).  Afterwards the same
 * queue may do better. */
static void
test_connect_refused(void **state)
{
	struct nvme_command queues = {.opcode = nvme_admin_set_features, .cdw10 = 7, .cdw11 = 1u << 16 | 1};

	(void)state;
	nvmf_ends_admin();
	assert_int_equal(nvmf_ends_call(&ends.admin, queues, NULL, 0, NULL), 0); /* two of them */
	nvmf_ends_start(&ends.io, 1, 32, NULL);
	assert_int_equal(say(&ends.io, &(struct say){.qid = 1}).status, 0);
	for (size_t n = 0; n < sizeof(connect_rows) / sizeof(connect_rows[0]); n++) {
		const struct connect_row *row = &connect_rows[n];
		struct nvme_response r;
		struct initiator i;

		nvmf_ends_start(&i, row->say.qid, 32, NULL);
		assert_true(i.up);
		r = say(&i, &row->say);
		if ((r.status & STATUS) != row->status || r.result != row->result)
			print_error("%s: status 0x%x, result 0x%x\n", row->what, r.status & STATUS, (unsigned)r.result);
		assert_int_equal(r.status & STATUS, row->status);
		assert_int_equal(r.result, row->result);
		assert_true(r.status & NVME_SC_DNR);
		if (row->say.qid == 0)
			assert_int_equal(say(&i, &(struct say){.qid = 0}).status, 0);
		nvmf_ends_hang_up(&i);
	}
}

/* A host may do without the flow control of its submission queue (CATTR bit 2): SQHD is FFFFh then, at once.  The
 * priority class beside it is nobody's business. */
static void
test_without_flow_control(void **state)
{
	struct nvme_command flush = {.opcode = nvme_cmd_flush, .nsid = 1};
	struct nvme_response r;

	(void)state;
	nvmf_ends_admin();
	for (uint16_t cattr = 0; cattr < 8; cattr++) {
		nvmf_ends_start(&ends.io, 1, 32, NULL);
		r = say(&ends.io, &(struct say){.qid = 1, .cattr = cattr});
		assert_int_equal(r.status, 0);
		assert_int_equal(r.sq_head, cattr & 4 ? 0xffff : 1);
		assert_true(initiator_call(&ends.io, &flush, NULL, 0, &r));
		assert_int_equal(r.sq_head, cattr & 4 ? 0xffff : 2);
		nvmf_ends_hang_up(&ends.io);
		nvmf_ends_await_conns(1);
	}
}

/* SQHD is a place in the queue that Connect made, wherever those that were refused had left it. */
static void
test_queue_head_after_refusals(void **state)
{
	struct nvme_response r;

	(void)state;
	nvmf_ends_admin();
	nvmf_ends_start(&ends.io, 1, 32, NULL);
	for (uint16_t i = 1; i < 5; i++) {
		r = say(&ends.io, &(struct say){.qid = 1, .cntlid = 77});
		assert_int_equal(r.status & STATUS, PARAM);
		assert_int_equal(r.sq_head, i);
	}
	r = say(&ends.io, &(struct say){.qid = 1, .sqsize = 2});
	assert_int_equal(r.status, 0);
	assert_int_equal(r.sq_head, 5 % 3);
}

/* A discovery controller has no I/O queues; a controller that is not enabled has none yet. */
static void
test_io_queue_too_early(void **state)
{
	static const struct {
		const char *subnqn;
		uint16_t status;
	} rows[] = {{NQN, NVME_SC_CMD_SEQ_ERROR}, {SUBSYS_DISCOVERY, PARAM}};

	(void)state;
	for (size_t n = 0; n < 2; n++) {
		struct say s = {.qid = 1, .subnqn = rows[n].subnqn};

		nvmf_ends_start(&ends.admin, 0, 32, NULL);
		ends.cntlid = initiator_fabrics_connect(&ends.admin, rows[n].subnqn, HOST, 0xffff, 0);
		assert_true(ends.cntlid > 0);
		nvmf_ends_start(&ends.io, 1, 32, NULL);
		assert_int_equal(say(&ends.io, &s).status & STATUS, rows[n].status);
		nvmf_ends_hang_up(&ends.io);
		nvmf_ends_hang_up(&ends.admin);
	}
}

static void
test_command_before_connect(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .cdw10 = 1, .sgl = nvmf_ends_keyed(4096)};
	struct nvme_command read = nvmf_ends_command(nvme_cmd_read, 0, 1, nvmf_ends_keyed(512));

	(void)state;
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL) & STATUS, NVME_SC_CMD_SEQ_ERROR);
	ends.cntlid = initiator_fabrics_connect(&ends.admin, NQN, HOST, 0xffff, 0);
	assert_true(ends.cntlid > 0);
	/* Connected, but not enabled. */
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL) & STATUS, NVME_SC_CMD_SEQ_ERROR);
	assert_true(initiator_enable(&ends.admin));
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	nvmf_ends_start(&ends.io, 1, 32, NULL);
	assert_int_equal(nvmf_ends_call(&ends.io, read, NULL, 0, NULL) & STATUS, NVME_SC_CMD_SEQ_ERROR);
}

/* What the controller cannot be enabled with makes it fail, not ready (base 1.4 §3.1.5); it can be reset. */
static void
test_configuration(void **state)
{
	static const uint32_t wrong[] = {
		1 | 6u << 16 | 4u << 20 | 1u << 4, /* command set */
		1 | 6u << 16 | 4u << 20 | 1u << 7, /* page size */
		1 | 7u << 16 | 4u << 20,           /* I/O entries */
		1 | 6u << 16 | 3u << 20,           1,
	};
	struct nvme_command set = {
		.opcode = nvme_admin_fabrics, .nsid = nvme_fabrics_type_property_set, .cdw11 = PROP_CC};
	struct nvme_command get = {
		.opcode = nvme_admin_fabrics, .nsid = nvme_fabrics_type_property_get, .cdw11 = PROP_CSTS};
	uint64_t csts;

	(void)state;
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	assert_true(initiator_fabrics_connect(&ends.admin, NQN, HOST, 0xffff, 0) > 0);
	for (size_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++) {
		set.cdw12 = wrong[n];
		assert_int_equal(nvmf_ends_call(&ends.admin, set, NULL, 0, NULL), 0);
		assert_int_equal(nvmf_ends_call(&ends.admin, get, NULL, 0, &csts), 0);
		assert_int_equal(csts, CSTS_CFS);
		set.cdw12 = 0;
		assert_int_equal(nvmf_ends_call(&ends.admin, set, NULL, 0, NULL), 0);
		assert_int_equal(nvmf_ends_call(&ends.admin, get, NULL, 0, &csts), 0);
		assert_int_equal(csts, 0);
	}
	assert_true(initiator_enable(&ends.admin));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nvmf_ends_open, nvmf_ends_close)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_accepted),
		TEST(test_no_resources),
		TEST(test_read_depths),
		TEST(test_private_data),
		TEST(test_longer_private_data),
		TEST(test_address_of_the_log),
		TEST(test_connect_refused),
		TEST(test_io_queue_too_early),
		TEST(test_without_flow_control),
		TEST(test_queue_head_after_refusals),
		TEST(test_command_before_connect),
		TEST(test_configuration),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
