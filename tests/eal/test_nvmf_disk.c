/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target on files: what the host was told is on the disk is there, and what goes wrong there is told. */
#define _GNU_SOURCE
#include <nvme/types.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ends.h"
#include "nvmf_ends.h"

#define FILE_LEN (4 << 20)

static char path[128];
static int fd;

static void
open_disk(void)
{
	const char *spec[] = {path};

	fd = nvmf_ends_make_file(".", FILE_LEN, path, sizeof(path));
	if (fd < 0)
		skip();
	nvmf_ends_open_with(spec, 1, 1);
	nvmf_ends_io();
}

static int
close_file(void **state)
{
	if (!ends.near.engine)
		return 0; /* skipped */
	nvmf_ends_close(state);
	memset(&ends, 0, sizeof(ends));
	close(fd);
	unlink(path);
	return 0;
}

static uint16_t
io(uint8_t opcode, uint32_t lba, uint32_t blocks)
{
	return nvmf_ends_call(&ends.io, nvmf_ends_command(opcode, lba, blocks, nvmf_ends_keyed(blocks * 512)), NULL, 0,
			      NULL) &
	       STATUS;
}

static void
in_file(uint32_t lba, const uint8_t *want, uint32_t len)
{
	static uint8_t have[BUF];

	assert_int_equal(pread(fd, have, len, (off_t)lba * 512), len);
	assert_memory_equal(have, want, len);
}

static void
test_write_read_flush(void **state)
{
	static const uint32_t blocks[] = {1, 8, 127, 129, 2048};
	static uint8_t copy[BUF];
	struct nvme_command fua;

	(void)state;
	open_disk();
	for (size_t n = 0; n < sizeof(blocks) / sizeof(blocks[0]); n++) {
		uint32_t len = blocks[n] * 512;

		nvmf_ends_fill(ends.buf, len, (uint32_t)n);
		memcpy(copy, ends.buf, len);
		assert_int_equal(io(nvme_cmd_write, 3, blocks[n]), 0);
		assert_int_equal(io(nvme_cmd_flush, 0, 1), 0);
		in_file(3, copy, len);
		memset(ends.buf, 0, len);
		assert_int_equal(io(nvme_cmd_read, 3, blocks[n]), 0);
		assert_memory_equal(ends.buf, copy, len);
		assert_int_equal(io(nvme_cmd_compare, 3, blocks[n]), 0);
		ends.buf[len / 2] ^= 1;
		assert_int_equal(io(nvme_cmd_compare, 3, blocks[n]), MEDIA(NVME_SC_COMPARE_FAILED));
	}
	fua = nvmf_ends_command(nvme_cmd_write, 9, 1, nvmf_ends_keyed(512));
	fua.cdw12 |= 1u << 30;
	assert_int_equal(nvmf_ends_call(&ends.io, fua, NULL, 0, NULL), 0);
	in_file(9, ends.buf, 512);
}

/* Data in the capsule, at an odd place of it: direct I/O wants them elsewhere. */
static void
test_data_in_the_capsule(void **state)
{
	static uint8_t data[3 + 4096];
	struct sgl sgl = {SGL_CAPSULE, 3, 4096, 0};

	(void)state;
	open_disk();
	nvmf_ends_fill(data, sizeof(data), 11);
	assert_int_equal(
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_write, 8, 8, sgl), data, sizeof(data), NULL), 0);
	in_file(8, data + 3, 4096);
}

/* Zeroes over part of a pattern, with and without FUA; the rest stays. */
static void
zeroes(uint32_t blocks, bool fua)
{
	struct nvme_command c = nvmf_ends_command(nvme_cmd_write_zeroes, 5, blocks, (struct sgl){0});
	static uint8_t want[BUF];

	nvmf_ends_fill(ends.buf, BUF, blocks);
	memcpy(want, ends.buf, BUF);
	memset(want + 5 * 512, 0, blocks * 512);
	assert_int_equal(io(nvme_cmd_write, 0, BUF / 512), 0);
	c.cdw12 |= fua ? 1u << 30 : 0;
	assert_int_equal(nvmf_ends_call(&ends.io, c, NULL, 0, NULL), 0);
	in_file(0, want, BUF);
}

static void
test_write_zeroes(void **state)
{
	(void)state;
	open_disk();
	zeroes(1, false);
	zeroes(300, true);
}

static void
test_deallocate(void **state)
{
	uint8_t range[16] = {[5] = 8}; /* 2048 blocks from 0 */
	struct nvme_command dsm = {.opcode = nvme_cmd_dsm, .nsid = 1, .cdw11 = 4};
	static const uint8_t zero[4096];
	struct stat before, after;

	(void)state;
	open_disk();
	nvmf_ends_fill(ends.buf, BUF, 1);
	assert_int_equal(io(nvme_cmd_write, 0, 2048), 0);
	assert_int_equal(io(nvme_cmd_flush, 0, 1), 0);
	assert_int_equal(fstat(fd, &before), 0);
	dsm.sgl = (struct sgl){SGL_CAPSULE, 0, sizeof(range), 0};
	assert_int_equal(nvmf_ends_call(&ends.io, dsm, range, sizeof(range), NULL), 0);
	assert_int_equal(fstat(fd, &after), 0);
	assert_true(after.st_blocks < before.st_blocks);
	in_file(0, zero, sizeof(zero));
}

/* Somebody cuts the file off: Read says "unrecovered read error", may be tried again, and the queue lives. */
static void
test_read_error(void **state)
{
	uint16_t status;

	(void)state;
	open_disk();
	assert_int_equal(ftruncate(fd, 4096), 0);
	status =
		nvmf_ends_call(&ends.io, nvmf_ends_command(nvme_cmd_read, 64, 8, nvmf_ends_keyed(4096)), NULL, 0, NULL);
	assert_int_equal(status, MEDIA(NVME_SC_READ_ERROR));                  /* without "do not retry" */
	assert_int_equal(io(nvme_cmd_read, 7, 2), MEDIA(NVME_SC_READ_ERROR)); /* half of it is there */
	assert_int_equal(io(nvme_cmd_compare, 64, 8), MEDIA(NVME_SC_READ_ERROR));
	for (int i = 0; i < 4096; i++) /* nor does the host get what the buffer held before */
		assert_int_equal(ends.buf[i], 0xa5);
	assert_int_equal(ftruncate(fd, FILE_LEN), 0);
	assert_int_equal(io(nvme_cmd_read, 64, 8), 0);
}

static void
test_write_error(void **state)
{
	struct rlimit old, limit;
	uint16_t status;

	(void)state;
	open_disk();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){1 << 20, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	status = io(nvme_cmd_write, 4096, 8);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(status, MEDIA(NVME_SC_WRITE_FAULT));
	assert_int_equal(io(nvme_cmd_write, 4096, 8), 0);
}

/* The host leaves with the disk at work: the buffers come back when the disk has done with them (close_file looks). */
static void
test_host_gone_with_disk_at_work(void **state)
{
	struct nvme_command c;

	(void)state;
	open_disk();
	for (int after = 0; after < 60; after += 20) {
		c = nvmf_ends_command(nvme_cmd_write, 0, 1024, nvmf_ends_keyed(1024 * 512));
		for (c.cid = 0; c.cid < 40; c.cid++) {
			c.opcode = c.cid % 3 ? nvme_cmd_write : nvme_cmd_compare;
			assert_int_equal(initiator_send(&ends.io, &c, NULL, 0), 0);
		}
		nvmf_ends_turns(after);
		nvmf_ends_hang_up(&ends.io);
		nvmf_ends_hang_up(&ends.admin);
		nvmf_ends_await_conns(0); /* as long as the disk is at work the host is not let in */
		nvmf_ends_io();
	}
}

static void
test_many_at_once(void **state)
{
	struct nvme_response r[32];
	struct nvme_command c;
	int done = 0, n;

	(void)state;
	open_disk();
	c = nvmf_ends_command(nvme_cmd_write, 0, 8, nvmf_ends_keyed(4096));
	for (c.cid = 0; c.cid < 127; c.cid++) {
		c.cdw10 = 8u * c.cid;
		assert_int_equal(initiator_send(&ends.io, &c, NULL, 0), 0);
	}
	for (uint64_t end = nvmf_ends_deadline(); done < 127 && nvmf_ends_turn(end);) {
		n = initiator_poll(&ends.io, r, 32);
		for (int k = 0; k < n; k++)
			assert_int_equal(r[k].status, 0);
		done += n;
	}
	assert_int_equal(done, 127);
}

/* The shutdown that a host asks for is complete when the disk has flushed. */
static void
test_shutdown_flushes(void **state)
{
	struct nvme_command set = nvmf_ends_shutdown();
	const struct ctrl *ctrl;
	struct nvme_response r;

	(void)state;
	open_disk();
	ctrl = &ends.target.ctrls.ctrl[ends.cntlid - 1];
	assert_int_equal(initiator_send(&ends.admin, &set, NULL, 0), 0);
	for (uint64_t end = nvmf_ends_deadline(); ctrl->csts == CSTS_RDY && nvmf_ends_turn(end);)
		;
	assert_int_equal(ctrl->csts, CSTS_SHST_OCCURRING); /* the disk has it */
	nvmf_ends_await_responses(&ends.admin, &r, 1);
	assert_int_equal(r.status, 0);
	assert_int_equal(nvmf_ends_shst(), CSTS_SHST_DONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, close_file)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_write_read_flush),
		TEST(test_data_in_the_capsule),
		TEST(test_write_zeroes),
		TEST(test_deallocate),
		TEST(test_read_error),
		TEST(test_write_error),
		TEST(test_host_gone_with_disk_at_work),
		TEST(test_many_at_once),
		TEST(test_shutdown_flushes),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
