/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target against hosts that say the wrong thing on a queue.  Expectations: NVM Express base 1.4, NVM
 * command set, NVMe over Fabrics 1.1 and its RDMA binding. */
#include <nvme/types.h>

#include "ends.h"
#include "nvmf_ends.h"

#define BEHIND_MAX 1024

/* ---- Commands that are wrong ------------------------------------------------------------------------------------ */

enum { A, B };

static const struct bad_row {
	const char *what;
	int on;
	struct {
		struct sgl sgl;
		uint32_t behind; /* octets in the capsule */
	} data;
	uint16_t status;
	struct nvme_command c;
} bad_rows[] = {
#define NONE                           \
	{                              \
		{SGL_NONE, 0, 0, 0}, 0 \
	}
#define MEMORY(len)                       \
	{                                 \
		{SGL_KEYED, 0, len, 0}, 0 \
	}
#define AT(addr, len)                        \
	{                                    \
		{SGL_KEYED, addr, len, 0}, 0 \
	}
#define CAPSULE(offset, len, behind)                  \
	{                                             \
		{SGL_CAPSULE, offset, len, 0}, behind \
	}
#define BAD(what, on, data, status, ...) {what, on, data, status, {__VA_ARGS__}},
#include "nvmf_bad.def"
};

static void
expect(const char *what, int on, struct nvme_command c, uint32_t behind, uint16_t want)
{
	static const uint8_t data[BEHIND_MAX];
	uint16_t status;

	if (c.sgl.kind == SGL_KEYED && c.sgl.addr == 0)
		c.sgl.addr = (uintptr_t)ends.buf;
	if (c.sgl.kind == SGL_KEYED)
		c.sgl.key = iw_mr_rkey(ends.mr);
	status = nvmf_ends_call(on == A ? &ends.admin : &ends.io, c, data, behind, NULL);
	if ((status & STATUS) != want)
		print_error("%s: status 0x%x, not 0x%x\n", what, status & STATUS, want);
	assert_int_equal(status & STATUS, want);
	assert_true(status & NVME_SC_DNR);
}

static void
test_wrong_commands(void **state)
{
	(void)state;
	nvmf_ends_fill_disk();
	nvmf_ends_io();
	for (size_t n = 0; n < sizeof(bad_rows) / sizeof(bad_rows[0]); n++) {
		const struct bad_row *row = &bad_rows[n];
		struct nvme_command c = row->c;

		c.sgl = row->data.sgl;
		expect(row->what, row->on, c, row->data.behind, row->status);
	}
	nvmf_ends_untouched();
}

/* A command's octets as they are, with one of them changed. */
static void
expect_octet(struct nvme_command c, int at, uint8_t value, uint16_t want)
{
	uint8_t raw[CAPSULE_COMMAND];
	struct nvme_response r;

	capsule_command_emit(&c, raw);
	raw[at] = value;
	assert_int_equal(nvmf_ends_send_raw(&ends.io, raw, sizeof(raw)), 0);
	nvmf_ends_await_responses(&ends.io, &r, 1);
	if ((r.status & STATUS) != want)
		print_error("octet %d is 0x%02x: status 0x%x, not 0x%x\n", at, value, r.status & STATUS, want);
	assert_int_equal(r.status & STATUS, want);
}

/* Every type and subtype but the two for the host's memory (and the capsule, which a Read has nothing to do with); and
 * whatever says that the command has no SGL (PSDT). */
static void
test_sgl_types(void **state)
{
	static const uint8_t psdt[] = {0x00, 0x80, 0xc0};
	struct nvme_command c = nvmf_ends_command(nvme_cmd_read, 0, 1, nvmf_ends_keyed(512));

	(void)state;
	nvmf_ends_fill_disk();
	nvmf_ends_io();
	for (int type = 0; type < 256; type++)
		if (type != 0x40 && type != 0x4f)
			expect_octet(c, 39, (uint8_t)type, NVME_SC_SGL_INVALID_TYPE);
	c.opcode = nvme_cmd_flush; /* also where no data are */
	expect_octet(c, 39, 0x20, NVME_SC_SGL_INVALID_TYPE);
	for (size_t i = 0; i < sizeof(psdt); i++)
		expect_octet(c, 1, psdt[i], NVME_SC_INVALID_FIELD);
	nvmf_ends_untouched();
}

static const struct {
	const char *what;
	uint8_t opcode;
	uint32_t len;
} io_commands[] = {
	{"read", nvme_cmd_read, 1024},
	{"write", nvme_cmd_write, 1024},
	{"compare", nvme_cmd_compare, 1024},
	{"write zeroes", nvme_cmd_write_zeroes, 0},
	{"dataset management", nvme_cmd_dsm, 4096},
	{"flush", nvme_cmd_flush, 0},
};

#define IO_COMMANDS (sizeof(io_commands) / sizeof(io_commands[0]))
#define WITH_LBA 4 /* so many of them, the first, have it in the command */

static struct sgl
room(uint32_t len)
{
	return len > 0 ? (struct sgl){SGL_KEYED, 0, len, 0} : (struct sgl){.kind = SGL_NONE};
}

static void
test_namespaces(void **state)
{
	static const uint32_t nsids[] = {0, 3, 0xfffffffe, 0xffffffff};

	(void)state;
	nvmf_ends_fill_disk();
	nvmf_ends_io();
	for (size_t i = 0; i < IO_COMMANDS; i++) {
		struct nvme_command c = nvmf_ends_command(io_commands[i].opcode, 0, 1, room(io_commands[i].len));

		for (size_t k = 0; k < sizeof(nsids) / sizeof(nsids[0]); k++) {
			c.nsid = nsids[k];
			expect(io_commands[i].what, B, c, 0, NVME_SC_INVALID_NS);
		}
	}
	nvmf_ends_untouched();
}

static void
test_ranges(void **state)
{
	static const struct {
		uint64_t lba;
		uint32_t blocks;
	} ranges[] = {{BLOCKS, 1},
		      {BLOCKS - 1, 2},
		      {UINT64_C(1) << 32, 1},
		      {UINT64_MAX, 1},
		      {UINT64_MAX, 2}, /* wraps */
		      {UINT64_MAX / 512 + 1, 1}};

	(void)state;
	nvmf_ends_fill_disk();
	nvmf_ends_io();
	for (size_t i = 0; i < WITH_LBA; i++) {
		for (size_t k = 0; k < sizeof(ranges) / sizeof(ranges[0]); k++) {
			struct nvme_command c = nvmf_ends_command(io_commands[i].opcode, (uint32_t)ranges[k].lba,
								  ranges[k].blocks, room(io_commands[i].len));

			c.cdw11 = (uint32_t)(ranges[k].lba >> 32);
			expect(io_commands[i].what, B, c, 0, NVME_SC_LBA_RANGE);
		}
	}
	nvmf_ends_untouched();
}

/* Ranges of Dataset Management: one beyond the end, and none of them is touched. */
static void
test_ranges_to_deallocate(void **state)
{
	static const uint8_t bad[][16] = {
		{[4] = 1, [9] = 0x10},             /* block 4096 */
		{[4] = 2, [8] = 0xff, [9] = 0x0f}, /* 4095 and the next */
		{[4] = 0xff, 0xff, 0xff, 0xff},    /* 2^32 - 1 of them */
		{[4] = 1, [8] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{[4] = 2, [8] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, /* wraps */
	};
	struct nvme_command c = {.opcode = nvme_cmd_dsm, .nsid = 1, .cdw10 = 1, .cdw11 = 4};
	uint8_t list[32] = {[4] = 8};

	(void)state;
	nvmf_ends_fill_disk();
	nvmf_ends_io();
	c.sgl = (struct sgl){SGL_CAPSULE, 0, sizeof(list), 0};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(list + 16, bad[i], 16);
		assert_int_equal(nvmf_ends_call(&ends.io, c, list, sizeof(list), NULL) & STATUS, NVME_SC_LBA_RANGE);
	}
	nvmf_ends_untouched();
}

/* ---- Only what the SGL grants ----------------------------------------------------------------------------------- */

/* One command with an SGL of room octets at an odd place, of which the host has registered len: one octet more that is
 * read or written ends the stream, as does one before. */
static void
exactly(uint8_t opcode, uint32_t blocks, uint32_t at, uint32_t room_len)
{
	uint32_t len = opcode == nvme_cmd_dsm ? 16 : blocks * 512;
	struct iw_mr *mr =
		iw_mr_reg(ends.pd, ends.buf + at, len, IW_REMOTE_READ | IW_REMOTE_WRITE | IW_LOCAL_WRITE, NULL);
	struct sgl sgl = {SGL_KEYED, (uintptr_t)ends.buf + at, room_len, iw_mr_rkey(mr)};
	struct nvme_command c = nvmf_ends_command(opcode, 1, blocks, sgl);

	if (opcode == nvme_cmd_dsm)
		c.cdw10 = c.cdw11 = c.cdw12 = 0;
	assert_int_equal(nvmf_ends_call(&ends.io, c, NULL, 0, NULL), 0);
	assert_false(ends.io.ended);
	assert_int_equal(iw_mr_dereg(mr), 0);
}

static void
test_only_the_sgl_is_touched(void **state)
{
	static const uint32_t blocks[] = {1, 2, 16, 127, 129, 2000};

	(void)state;
	nvmf_ends_fill_disk();
	nvmf_ends_io();
	for (uint32_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		uint32_t len = blocks[i] * 512, at = 3 + 7 * i;

		exactly(nvme_cmd_read, blocks[i], at, len);
		assert_memory_equal(ends.buf + at, ends.disk + 512, len);
		for (uint32_t k = 0; k < BUF; k++)
			if (k < at || k >= at + len)
				assert_int_equal(ends.buf[k], 0xa5);
		exactly(nvme_cmd_compare, blocks[i], at, len + 4096); /* more room than data is no fault */
		exactly(nvme_cmd_write, blocks[i], at, 0xffffff);
		memset(ends.buf + at, 0, 16); /* no blocks */
		exactly(nvme_cmd_dsm, blocks[i], at, 4096);
		memset(ends.buf, 0xa5, BUF);
	}
	nvmf_ends_untouched();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nvmf_ends_open, nvmf_ends_close)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_wrong_commands),       TEST(test_sgl_types),
		TEST(test_namespaces),           TEST(test_ranges),
		TEST(test_ranges_to_deallocate), TEST(test_only_the_sgl_is_touched),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
