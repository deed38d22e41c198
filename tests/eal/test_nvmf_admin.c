/* SPDX-License-Identifier: BSD-3-Clause */
/* What the storage target says of itself: namespace identification, features, log pages; and what keeps a controller
 * alive.  Expectations: NVM Express base 1.4 §5.14, §5.15.2.4, §5.21, §5.24; NVMe over Fabrics 1.1 §5. */
#include <nvme/types.h>

#include "ends.h"
#include "nvmf_ends.h"

#define DISCOVERY "nqn.2014-08.org.nvmexpress.discovery"
#define CHANGEABLE 4 /* "supported capabilities" */

/* ---- Identification of controllers ------------------------------------------------------------------------------ */

static void
open_discovery(void)
{
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	assert_true(initiator_fabrics_connect(&ends.admin, DISCOVERY, HOST, 0xffff, 0) > 0);
	assert_true(initiator_enable(&ends.admin));
}

static const struct nvme_id_ctrl *
identify(void)
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .cdw10 = 1, .sgl = nvmf_ends_keyed(4096)};

	memset(ends.buf, 0x99, 4096);
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	return (const void *)ends.buf;
}

/* What any of them says. */
static void
check_common(const struct nvme_id_ctrl *id)
{
	assert_memory_equal(id->mn, "dpdk-iwarp NVMe-oF target               ", 40);
	assert_memory_equal(id->fr, "1       ", 8);
	assert_int_equal(id->ver, 0x10400);
	assert_int_equal(id->mdts, 8);      /* 2^8 times 4 KiB */
	assert_int_equal(id->ctratt, 0x41); /* host identifiers of 128 bits, traffic based keep-alive */
	assert_int_equal(id->aerl, CTRL_AERS - 1);
	assert_int_equal(id->lpa & 4, 4); /* log pages by offset */
	assert_int_equal(id->kas, 1);
	assert_int_equal(id->maxcmd, CTRL_QUEUE_SIZE);
	assert_int_equal(id->sgls, 0x140005); /* keyed, in the capsule, and longer than the data */
	assert_int_equal(id->ioccsz, (CAPSULE_COMMAND + EXEC_CAPSULE_DATA) / 16);
	assert_int_equal(id->iorcsz, 1);
	assert_int_equal(id->icdoff, 0);
	assert_int_equal(id->fcatt, 0);
	assert_int_equal(id->msdbd, 1);
}

static void
test_controller(void **state)
{
	const struct nvme_id_ctrl *id;

	(void)state;
	nvmf_ends_admin();
	id = identify();
	check_common(id);
	assert_int_equal(id->cntrltype, NVME_CTRL_CNTRLTYPE_IO);
	assert_int_equal(id->cmic, NVME_CTRL_CMIC_MULTI_CTRL);
	assert_int_equal(id->sqes, 0x66);
	assert_int_equal(id->cqes, 0x44);
	assert_int_equal(id->oncs, NVME_CTRL_ONCS_COMPARE | NVME_CTRL_ONCS_DSM | NVME_CTRL_ONCS_WRITE_ZEROES);
	assert_int_equal(id->ofcs, NVME_CTRL_OFCS_DISCONNECT);
	assert_int_equal(id->vwc, 4); /* no cache; Flush is for one namespace */
	assert_memory_equal(id->sn, ends.target.subsys[0].serial, 20);
	ends.target.subsys[0].ns[1].bdev[0]->volatile_cache = true;
	assert_int_equal(identify()->vwc, 5);
}

static void
test_discovery_controller(void **state)
{
	const struct nvme_id_ctrl *id;

	(void)state;
	open_discovery();
	id = identify();
	check_common(id);
	assert_int_equal(id->cntrltype, NVME_CTRL_CNTRLTYPE_DISCOVERY);
	assert_string_equal(id->subnqn, DISCOVERY);
	assert_memory_equal(id->sn, "discovery           ", 20);
	assert_int_equal(id->nn, 0);
	assert_int_equal(id->ofcs, 0); /* it has no I/O queue to disconnect */
}

/* ---- Identification of namespaces ------------------------------------------------------------------------------- */

static void
describe(uint32_t nsid, uint8_t uuid[16])
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .nsid = nsid, .cdw10 = 3, .sgl = nvmf_ends_keyed(4096)};
	const uint8_t *p = ends.buf;

	memset(ends.buf, 0x99, 4096);
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	assert_int_equal(p[0], NVME_NIDT_NGUID);
	assert_int_equal(p[1], 16);
	assert_int_equal(p[20], NVME_NIDT_UUID);
	assert_int_equal(p[21], 16);
	memcpy(uuid, p + 24, 16);
	for (int i = 40; i < 4096; i++)
		assert_int_equal(p[i], 0); /* the list has an end */
	c.cdw10 = 0;                       /* Identify Namespace has the same NGUID */
	memcpy(ends.buf + 8192, ends.buf + 4, 16);
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	assert_memory_equal(((const struct nvme_id_ns *)(const void *)ends.buf)->nguid, ends.buf + 8192, 16);
}

static void
test_descriptors(void **state)
{
	static const uint8_t none[16];
	uint8_t one[16], two[16];

	(void)state;
	nvmf_ends_admin();
	describe(1, one);
	describe(2, two);
	assert_memory_not_equal(one, none, 16);
	assert_memory_not_equal(one, two, 16);
}

/* Active namespaces: all, and those behind each. */
static void
test_list(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_identify, .cdw10 = 2, .sgl = nvmf_ends_keyed(4096)};
	const uint32_t *list = (const void *)ends.buf;

	(void)state;
	nvmf_ends_admin();
	for (c.nsid = 0; c.nsid < 4; c.nsid++) {
		uint32_t n = c.nsid < 2 ? 2 - c.nsid : 0;

		memset(ends.buf, 0x99, 4096);
		assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
		for (uint32_t i = 0; i < 1024; i++)
			assert_int_equal(list[i], i < n ? c.nsid + 1 + i : 0);
	}
}

/* ---- Features --------------------------------------------------------------------------------------------------- */

static uint64_t
get_feature(uint8_t id, uint32_t select)
{
	struct nvme_command c = {.opcode = nvme_admin_get_features, .cdw10 = select << 8 | id};
	uint64_t result;

	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, &result), 0);
	return result;
}

static void
test_features(void **state)
{
	static const struct {
		uint8_t id;
		uint32_t preset, set; /* 0: it cannot be set */
	} rows[] = {
		{NVME_FEAT_FID_ARBITRATION, 0, 0},  {NVME_FEAT_FID_POWER_MGMT, 0, 0},
		{NVME_FEAT_FID_TEMP_THRESH, 0, 0},  {NVME_FEAT_FID_ERR_RECOVERY, 0, 0},
		{NVME_FEAT_FID_VOLATILE_WC, 1, 2},  {NVME_FEAT_FID_NUM_QUEUES, 63u << 16 | 63, 4u << 16 | 4},
		{NVME_FEAT_FID_WRITE_ATOMIC, 0, 0}, {NVME_FEAT_FID_ASYNC_EVENT, 0, 0x100},
		{NVME_FEAT_FID_KATO, 0, 600000},
	};

	(void)state;
	nvmf_ends_admin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nvme_command c = {.opcode = nvme_admin_set_features, .cdw10 = rows[i].id, .cdw11 = rows[i].set};
		uint32_t want = rows[i].id == NVME_FEAT_FID_VOLATILE_WC ? 0 : rows[i].set; /* bit 0 */
		uint16_t status = rows[i].set ? 0 : SPECIFIC(NVME_SC_FEATURE_NOT_CHANGEABLE);

		assert_int_equal(get_feature(rows[i].id, 1), rows[i].preset);
		assert_int_equal(get_feature(rows[i].id, 2), rows[i].preset); /* saved: none is */
		assert_int_equal(get_feature(rows[i].id, 3), rows[i].set ? CHANGEABLE : 0);
		assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL) & STATUS, status);
		assert_int_equal(get_feature(rows[i].id, 0), want);
	}
	assert_int_equal(ends.target.ctrls.ctrl[ends.cntlid - 1].kato_ns, UINT64_C(600000000000));
}

/* A keep-alive timeout is rounded up to what Identify says (KAS, 100 ms; base 1.4 §5.21.1.15). */
static void
test_keep_alive_granularity(void **state)
{
	static const uint32_t rows[][2] = {{0, 0}, {1, 100}, {100, 100}, {101, 200}, {5000, 5000}, {5001, 5100}};
	struct nvme_command c = {.opcode = nvme_admin_set_features, .cdw10 = NVME_FEAT_FID_KATO};

	(void)state;
	nvmf_ends_admin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		c.cdw11 = rows[i][0];
		assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
		assert_int_equal(get_feature(NVME_FEAT_FID_KATO, 0), rows[i][1]);
	}
	nvmf_ends_hang_up(&ends.admin);
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	ends.cntlid = initiator_fabrics_connect(&ends.admin, NQN, HOST, 0xffff, 15001);
	assert_true(ends.cntlid > 0);
	assert_int_equal(ends.target.ctrls.ctrl[ends.cntlid - 1].kato_ns, UINT64_C(15100000000));
}

/* A discovery controller keeps a host's name and time, and has nothing to write to (NVMe-oF 1.1 §5.2). */
static void
test_features_of_discovery(void **state)
{
	static const struct {
		uint8_t id;
		uint16_t status;
	} rows[] = {{NVME_FEAT_FID_KATO, 0},
		    {NVME_FEAT_FID_ASYNC_EVENT, 0},
		    {NVME_FEAT_FID_NUM_QUEUES, NVME_SC_INVALID_FIELD},
		    {NVME_FEAT_FID_VOLATILE_WC, NVME_SC_INVALID_FIELD}};

	(void)state;
	open_discovery();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nvme_command c = {.opcode = nvme_admin_get_features, .cdw10 = rows[i].id};

		assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL) & STATUS, rows[i].status);
		c.opcode = nvme_admin_set_features;
		assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL) & STATUS, rows[i].status);
	}
}

/* The host identifier is Connect's. */
static void
test_host_identifier(void **state)
{
	struct nvme_command c = {.opcode = nvme_admin_get_features,
				 .cdw10 = NVME_FEAT_FID_HOST_ID,
				 .cdw11 = 1,
				 .sgl = nvmf_ends_keyed(16)};

	(void)state;
	nvmf_ends_admin();
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(ends.buf[i], 0x42); /* initiator.c */
}

/* ---- Log pages -------------------------------------------------------------------------------------------------- */

static void
get_log(uint8_t lid, uint32_t offset, uint32_t len)
{
	struct nvme_command c = {.opcode = nvme_admin_get_log_page,
				 .cdw10 = lid | (len / 4 - 1) << 16,
				 .cdw12 = offset,
				 .sgl = nvmf_ends_keyed(len)};

	memset(ends.buf, 0x99, len);
	assert_int_equal(nvmf_ends_call(&ends.admin, c, NULL, 0, NULL), 0);
}

static void
all_zero(uint32_t from, uint32_t to)
{
	while (from < to)
		assert_int_equal(ends.buf[from++], 0);
}

static uint64_t
count_of(const uint8_t *p)
{
	uint64_t n;

	memcpy(&n, p, sizeof(n));
	return n;
}

/* Commands, and thousands of 512 octets, rounded up: 2 Writes of 1 MiB, 3 Reads of 4 KiB, 1 Compare of 1 MiB. */
static void
test_health(void **state)
{
	const struct nvme_smart_log *log = (const void *)ends.buf;

	(void)state;
	nvmf_ends_io();
	for (int i = 0; i < 6; i++) {
		static const uint8_t op[6] = {nvme_cmd_write, nvme_cmd_compare, nvme_cmd_write,
					      nvme_cmd_read,  nvme_cmd_read,    nvme_cmd_read};
		uint32_t blocks = i < 3 ? 2048 : 8;
		struct nvme_command c = nvmf_ends_command(op[i], 0, blocks, nvmf_ends_keyed(blocks * 512));

		assert_int_equal(nvmf_ends_call(&ends.io, c, NULL, 0, NULL), 0);
	}
	get_log(NVME_LOG_LID_SMART, 0, 512);
	assert_int_equal(log->critical_warning, 0);
	assert_int_equal(log->avail_spare, 100);
	assert_int_equal(count_of(log->host_writes), 2);
	assert_int_equal(count_of(log->host_reads), 4);
	assert_int_equal(count_of(log->data_units_written), 5);
	assert_int_equal(count_of(log->data_units_read), 3);
}

static void
test_small_logs(void **state)
{
	const struct nvme_firmware_slot *firmware = (const void *)ends.buf;
	const struct nvme_cmd_effects_log *effects = (const void *)ends.buf;

	(void)state;
	nvmf_ends_admin();
	get_log(NVME_LOG_LID_ERROR, 0, 64);
	all_zero(0, 64);
	get_log(NVME_LOG_LID_CHANGED_NS, 0, 4096);
	all_zero(0, 4096);
	get_log(NVME_LOG_LID_FW_SLOT, 0, 512);
	assert_int_equal(firmware->afi, 1);
	assert_memory_equal(firmware->frs[0], "1       ", 8);
	get_log(NVME_LOG_LID_CMD_EFFECTS, 0, 4096);
	assert_int_equal(effects->acs[nvme_admin_identify], 1);
	assert_int_equal(effects->acs[nvme_admin_format_nvm], 0);
	assert_int_equal(effects->iocs[nvme_cmd_read], 1);
	assert_int_equal(effects->iocs[nvme_cmd_write], 3); /* changes blocks */
	assert_int_equal(effects->iocs[nvme_cmd_write_zeroes], 3);
	assert_int_equal(effects->iocs[nvme_cmd_dsm], 3);
	assert_int_equal(effects->iocs[nvme_cmd_verify], 0);
}

/* The discovery log in parts is the same as in one, and it has an end. */
static void
test_log_in_parts(void **state)
{
	static uint8_t whole[4096];

	(void)state;
	open_discovery();
	get_log(NVME_LOG_LID_DISCOVER, 0, 4096);
	memcpy(whole, ends.buf, sizeof(whole));
	all_zero(2048, 4096); /* one entry behind the header */
	for (uint32_t at = 0; at < 2048; at += 68) {
		get_log(NVME_LOG_LID_DISCOVER, at, 68);
		assert_memory_equal(ends.buf, whole + at, 68);
	}
	get_log(NVME_LOG_LID_DISCOVER, 2048, 64); /* at its end there is nothing, and that is no fault */
	all_zero(0, 64);
}

/* ---- Keep-alive ------------------------------------------------------------------------------------------------- */

/* Keep Alive counts as a sign of life, and so does any command of any queue; held event requests do not keep on doing
 * so. */
static void
test_signs_of_life(void **state)
{
	struct nvme_command alive = {.opcode = nvme_admin_keep_alive};
	struct nvme_command flush = {.opcode = nvme_cmd_flush, .nsid = 1};
	struct nvme_command aer = {.opcode = nvme_admin_async_event, .cid = 9};
	struct ctrl *c;

	(void)state;
	nvmf_ends_io();
	c = &ends.target.ctrls.ctrl[ends.cntlid - 1];
	assert_int_equal(initiator_send(&ends.admin, &aer, NULL, 0), 0);
	c->last_seen = 1;
	assert_int_equal(nvmf_ends_call(&ends.admin, alive, NULL, 0, NULL), 0);
	assert_true(c->last_seen > 1);
	c->last_seen = 1;
	assert_int_equal(nvmf_ends_call(&ends.io, flush, NULL, 0, NULL), 0);
	assert_true(c->last_seen > 1);
	c->last_seen = 1;
	nvmf_ends_turns(100);
	assert_int_equal(c->last_seen, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nvmf_ends_open, nvmf_ends_close)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_controller),
		TEST(test_discovery_controller),
		TEST(test_descriptors),
		TEST(test_list),
		TEST(test_features),
		TEST(test_features_of_discovery),
		TEST(test_keep_alive_granularity),
		TEST(test_host_identifier),
		TEST(test_health),
		TEST(test_small_logs),
		TEST(test_log_in_parts),
		TEST(test_signs_of_life),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
