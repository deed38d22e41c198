/* SPDX-License-Identifier: BSD-3-Clause */
/* What the storage target asks of a disk with a volatile cache, seen by a disk that notes it: FUA, Flush, Write Zeroes
 * and shutdown (NVM command set 1.4 §6.8, §6.15, §6.17; base 1.4 §5.21.1.6, §7.6.2). */
#include <nvme/types.h>

#include <errno.h>

#include "ends.h"
#include "nvmf_ends.h"

#define FUA (1u << 30)
#define NOTES 32
/* A retry might find nothing left to write, and say that all is well. */
#define FLUSH_FAILED (MEDIA(NVME_SC_WRITE_FAULT) | NVME_SC_DNR)

/* In front of a RAM disk. */
struct spy {
	struct bdev b;
	struct bdev *under;
	bool hold;                    /* it takes what comes, and does not come to do it */
	struct bdev_io *held;         /* one at most */
	int refuse[BDEV_DISCARD + 1]; /* by operation: what it fails with, or 0 */
	struct {
		enum bdev_op op;
		bool fua;
		uint64_t len;
	} note[NOTES];
	int n;
};

static struct spy spies[2];

static bool
spy_submit(struct bdev *b, struct bdev_io *io)
{
	struct spy *s = (struct spy *)b;

	assert_true(s->n < NOTES);
	s->note[s->n].op = io->op;
	s->note[s->n].fua = io->fua;
	s->note[s->n++].len = io->len;
	if (s->hold) {
		assert_null(s->held);
		s->held = io;
		return false;
	}
	if (s->refuse[io->op] == 0)
		return bdev_submit(s->under, io);
	io->result = s->refuse[io->op];
	return true;
}

static void
spy_close(struct bdev *b)
{
	bdev_close(((struct spy *)b)->under);
}

/* What was held is done when hold has ended. */
static int
spy_poll(struct bdev *b, struct bdev_io **done, int max)
{
	struct spy *s = (struct spy *)b;

	(void)max;
	if (s->hold || !s->held)
		return 0;
	assert_true(bdev_submit(s->under, s->held));
	*done = s->held;
	s->held = NULL;
	return 1;
}

static const struct bdev_ops spy_ops = {.submit = spy_submit, .poll = spy_poll, .close = spy_close};

static int
open_spies(void **state)
{
	static const char *const spec[] = {"ram:2M", "ram:1M"};

	(void)state;
	nvmf_ends_open_with(spec, 2, 1);
	for (int i = 0; i < 2; i++) {
		struct bdev **at = &ends.target.subsys[0].ns[i].bdev[0];

		spies[i] = (struct spy){.b = **at, .under = *at};
		spies[i].b.ops = &spy_ops;
		spies[i].b.volatile_cache = true;
		*at = &spies[i].b;
	}
	return 0;
}

static uint16_t
io(uint8_t opcode, uint32_t blocks, uint32_t flags)
{
	struct nvme_command c = nvmf_ends_command(opcode, 0, blocks, nvmf_ends_keyed(blocks * 512));

	c.cdw12 |= flags;
	spies[0].n = 0;
	return nvmf_ends_call(&ends.io, c, NULL, 0, NULL);
}

static void
noted(int at, enum bdev_op op, bool fua)
{
	assert_true(at < spies[0].n);
	assert_int_equal(spies[0].note[at].op, op);
	assert_int_equal(spies[0].note[at].fua, fua);
}

static void
one_write(uint32_t flags, bool fua)
{
	assert_int_equal(io(nvme_cmd_write, 8, flags), 0);
	assert_int_equal(spies[0].n, 1);
	noted(0, BDEV_WRITE, fua);
}

static void
test_fua(void **state)
{
	struct nvme_command cache = {.opcode = nvme_admin_set_features, .cdw10 = NVME_FEAT_FID_VOLATILE_WC};

	(void)state;
	nvmf_ends_io();
	one_write(0, false);
	one_write(FUA, true);
	assert_int_equal(nvmf_ends_call(&ends.admin, cache, NULL, 0, NULL), 0); /* no cache: each is as with FUA */
	one_write(0, true);
	cache.cdw11 = 1;
	assert_int_equal(nvmf_ends_call(&ends.admin, cache, NULL, 0, NULL), 0);
	one_write(0, false);
}

/* Read and Compare with FUA read what is on stable storage: it is put there first. */
static void
test_fua_of_reads(void **state)
{
	static const uint8_t reads[] = {nvme_cmd_read, nvme_cmd_compare};

	(void)state;
	nvmf_ends_io();
	memset(ends.buf, 0, 4096);
	for (size_t i = 0; i < sizeof(reads); i++) {
		assert_int_equal(io(reads[i], 8, 0), 0);
		assert_int_equal(spies[0].n, 1);
		noted(0, BDEV_READ, false);
		assert_int_equal(io(reads[i], 8, FUA), 0);
		assert_int_equal(spies[0].n, 2);
		assert_int_equal(spies[0].note[0].op, BDEV_FLUSH);
		assert_int_equal(spies[0].note[1].op, BDEV_READ);
		assert_int_equal(spies[0].note[1].len, 4096);
		spies[0].refuse[BDEV_FLUSH] = -EIO;
		assert_int_equal(io(reads[i], 8, FUA), FLUSH_FAILED);
		assert_int_equal(spies[0].n, 1);
		spies[0].refuse[BDEV_FLUSH] = 0;
	}
	spies[0].b.volatile_cache = false;
	assert_int_equal(io(nvme_cmd_read, 8, FUA), 0);
	assert_int_equal(spies[0].n, 1);
}

static void
test_flush(void **state)
{
	(void)state;
	nvmf_ends_io();
	assert_int_equal(io(nvme_cmd_flush, 1, 0), 0);
	assert_int_equal(spies[0].n, 1);
	noted(0, BDEV_FLUSH, false);
	spies[0].refuse[BDEV_FLUSH] = -EIO; /* what is not on the disk is not said to be, nor by a second flush */
	assert_int_equal(io(nvme_cmd_flush, 1, 0), FLUSH_FAILED);
	spies[0].refuse[BDEV_WRITE] = -ENOSPC;
	assert_int_equal(io(nvme_cmd_write, 1, FUA), NVME_SC_CAP_EXCEEDED | NVME_SC_DNR);
}

static void
fill(uint32_t seed)
{
	nvmf_ends_fill(ends.buf, BUF, seed);
	assert_int_equal(io(nvme_cmd_write, BUF / 512, 0), 0);
}

/* The first blocks are zero, the rest is as it was filled. */
static void
are_zeroed(uint32_t blocks, uint32_t seed)
{
	static uint8_t want[BUF];

	nvmf_ends_fill(want, BUF, seed);
	memset(want, 0, blocks * 512);
	memset(ends.buf, 0x11, BUF);
	assert_int_equal(io(nvme_cmd_read, BUF / 512, 0), 0);
	assert_memory_equal(ends.buf, want, BUF);
}

/* The disk's own way, and a flush for FUA. */
static void
test_zeroes(void **state)
{
	(void)state;
	nvmf_ends_io();
	fill(1);
	assert_int_equal(io(nvme_cmd_write_zeroes, 300, 0), 0);
	assert_int_equal(spies[0].n, 1);
	noted(0, BDEV_ZEROES, false);
	are_zeroed(300, 1);
	assert_int_equal(io(nvme_cmd_write_zeroes, 300, FUA), 0);
	assert_int_equal(spies[0].n, 2);
	noted(0, BDEV_ZEROES, true);
	assert_int_equal(spies[0].note[1].op, BDEV_FLUSH);
	spies[0].refuse[BDEV_FLUSH] = -EIO;
	assert_int_equal(io(nvme_cmd_write_zeroes, 300, FUA), FLUSH_FAILED);
}

/* A disk that has no way of its own (tmpfs before Linux 6.6, many block devices): blocks of zeroes are written. */
static void
test_zeroes_by_writing(void **state)
{
	static const int none[] = {-EOPNOTSUPP, -ENOSYS};
	static const uint32_t blocks[] = {1, 127, 128, 129, 1000};

	(void)state;
	nvmf_ends_io();
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		bool fua = i % 2 != 0;
		uint64_t written = 0;

		spies[0].refuse[BDEV_ZEROES] = none[i % 2];
		fill((uint32_t)i);
		assert_int_equal(io(nvme_cmd_write_zeroes, blocks[i], fua ? FUA : 0), 0);
		for (int k = 1; k < spies[0].n; k++) {
			noted(k, BDEV_WRITE, fua);
			written += spies[0].note[k].len;
		}
		assert_int_equal(written, blocks[i] * 512);
		are_zeroed(blocks[i], (uint32_t)i);
	}
	spies[0].refuse[BDEV_ZEROES] = -EIO; /* that is no reason to try another way */
	assert_int_equal(io(nvme_cmd_write_zeroes, 1, 0), MEDIA(NVME_SC_WRITE_FAULT));
	assert_int_equal(spies[0].n, 1);
}

/* Dataset Management without "deallocate" is a hint at how blocks will be used: nothing is done to them, and where
 * nothing may be written it is no fault. */
static void
test_hints(void **state)
{
	uint8_t range[16] = {[4] = 8};
	struct nvme_command c = {.opcode = nvme_cmd_dsm, .nsid = 1, .sgl = {SGL_CAPSULE, 0, sizeof(range), 0}};

	(void)state;
	nvmf_ends_io();
	for (int read_only = 0; read_only < 2; read_only++)
		for (c.cdw11 = 0; c.cdw11 < 4; c.cdw11++) {
			ends.target.subsys[0].ns[0].read_only = read_only;
			assert_int_equal(nvmf_ends_call(&ends.io, c, range, sizeof(range), NULL), 0);
			assert_int_equal(spies[0].n, 0);
		}
	ends.target.subsys[0].ns[0].read_only = false;
	c.cdw11 = 4;
	assert_int_equal(nvmf_ends_call(&ends.io, c, range, sizeof(range), NULL), 0);
	assert_int_equal(spies[0].n, 1);
	noted(0, BDEV_DISCARD, false);
	range[4] = 0; /* of no blocks */
	assert_int_equal(nvmf_ends_call(&ends.io, c, range, sizeof(range), NULL), 0);
	assert_int_equal(spies[0].n, 1);
}

static uint64_t
shut_down(uint16_t *status)
{
	*status = nvmf_ends_call(&ends.admin, nvmf_ends_shutdown(), NULL, 0, NULL);
	return nvmf_ends_shst();
}

/* Each namespace is flushed before the shutdown is complete; it is not when one of them could not be. */
static void
test_shutdown(void **state)
{
	uint16_t status;

	(void)state;
	nvmf_ends_admin();
	spies[1].refuse[BDEV_FLUSH] = -EIO;
	assert_int_equal(shut_down(&status), CSTS_SHST_OCCURRING);
	assert_int_equal(status, FLUSH_FAILED);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(spies[i].n, 1);
		assert_int_equal(spies[i].note[0].op, BDEV_FLUSH);
	}
	spies[1].refuse[BDEV_FLUSH] = 0;
	assert_int_equal(shut_down(&status), CSTS_SHST_DONE);
	assert_int_equal(status, 0);
}

/* ---- Commands of a host that has gone ---------------------------------------------------------------------------- */

static int
connect_again(const char *host)
{
	nvmf_ends_hang_up(&ends.admin);
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	return initiator_fabrics_connect(&ends.admin, NQN, host, 0xffff, 0);
}

/* A Write is on the disk when its host's connections break, and the disk takes its time.  What the host writes after it
 * has come back is not overwritten by it: the host is let in again when it is done, others at any time. */
static void
test_no_write_of_an_earlier_association(void **state)
{
	struct nvme_command c = nvmf_ends_command(nvme_cmd_write, 0, 8, nvmf_ends_keyed(4096));
	uint64_t end = nvmf_ends_deadline();

	(void)state;
	nvmf_ends_io();
	spies[0].hold = true;
	assert_int_equal(initiator_send(&ends.io, &c, NULL, 0), 0);
	while (!spies[0].held && nvmf_ends_turn(end))
		;
	assert_non_null(spies[0].held);
	nvmf_ends_hang_up(&ends.io);
	assert_int_equal(connect_again(HOST), -(int)SPECIFIC(NVME_SC_CONNECT_CTRL_BUSY)); /* may be tried again */
	assert_true(connect_again(HOST "2") > 0);
	assert_int_equal(connect_again(HOST), -(int)SPECIFIC(NVME_SC_CONNECT_CTRL_BUSY));
	spies[0].hold = false;
	nvmf_ends_await_conns(1);
	assert_int_equal(ends.target.ctrls.used, 0);
	assert_true(connect_again(HOST) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_spies, nvmf_ends_close)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fua),
		TEST(test_fua_of_reads),
		TEST(test_no_write_of_an_earlier_association),
		TEST(test_flush),
		TEST(test_hints),
		TEST(test_zeroes),
		TEST(test_zeroes_by_writing),
		TEST(test_shutdown),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
