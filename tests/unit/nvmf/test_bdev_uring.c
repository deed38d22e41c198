/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <liburing.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bdev.h"

#define LEN (8 << 20)
#define MANY 300 /* requests of BDEV_IOV parts: more than a ring has entries */

static char path[64], why[256];
static int fd;
static uint8_t *memory; /* as registered */

static int
open_file(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "./test_nvmf_uring.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, LEN), 0);
	memory = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 0;
}

static int
close_file(void **state)
{
	(void)state;
	munmap(memory, LEN);
	close(fd);
	unlink(path);
	return 0;
}

/* NULL: no direct I/O here, or no io_uring. */
static struct bdev *
must_open(void)
{
	struct bdev *b = bdev_open(path, false, memory, LEN, why, sizeof(why));

	if (!b) {
		print_message("%s\n", why);
		skip();
	}
	return b;
}

static void
await(struct bdev *b, int count)
{
	struct bdev_io *done[7];

	while (count > 0) {
		int n = bdev_poll(b, done, 7);

		assert_true(n <= count);
		count -= n;
	}
}

static void
test_more_than_the_ring(void **state)
{
	struct bdev_io *io = calloc(MANY, sizeof(*io));
	struct bdev *b = must_open();
	uint8_t block[BDEV_IOV * 512];

	(void)state;
	assert_true(b->volatile_cache);
	for (uint32_t i = 0; i < MANY; i++) {
		io[i] = (struct bdev_io){
			.op = BDEV_WRITE, .offset = i * sizeof(block), .len = sizeof(block), .iovcnt = BDEV_IOV};
		memset(memory + i * sizeof(block), (int)i, sizeof(block));
		for (uint32_t k = 0; k < BDEV_IOV; k++)
			io[i].iov[k] = (struct iovec){memory + i * sizeof(block) + k * 512, 512};
		assert_false(bdev_submit(b, &io[i]));
	}
	await(b, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(io[i].result, 0);
		assert_int_equal(pread(fd, block, sizeof(block), (off_t)(i * sizeof(block))), sizeof(block));
		for (size_t k = 0; k < sizeof(block); k++)
			assert_int_equal(block[k], (uint8_t)i);
	}
	bdev_close(b);
	free(io);
}

/* A part that comes back short is an error of the whole, in whatever order the parts end. */
static void
test_short(void **state)
{
	struct bdev_io io = {.op = BDEV_READ, .offset = 0, .len = 8192, .iovcnt = 2};
	struct bdev *b = must_open();

	(void)state;
	assert_int_equal(ftruncate(fd, 4096 + 512), 0);
	io.iov[0] = (struct iovec){memory, 4096};
	io.iov[1] = (struct iovec){memory + 4096, 4096};
	assert_false(bdev_submit(b, &io));
	await(b, 1);
	assert_true(io.result < 0);
	io = (struct bdev_io){.op = BDEV_FLUSH};
	assert_false(bdev_submit(b, &io));
	await(b, 1);
	assert_int_equal(io.result, 0);
	bdev_close(b);
}

/* What the kernel is asked last, seen on its way (the link wraps io_uring_submit). */
static struct io_uring_sqe asked;

int __wrap_io_uring_submit(struct io_uring *ring);
int __real_io_uring_submit(struct io_uring *ring);

int
__wrap_io_uring_submit(struct io_uring *ring)
{
	if (io_uring_sq_ready(ring) > 0)
		asked = ring->sq.sqes[(ring->sq.sqe_tail - 1) & *ring->sq.kring_mask];
	return __real_io_uring_submit(ring);
}

static void
ask(struct bdev *b, enum bdev_op op, bool fua)
{
	struct bdev_io io = {.op = op, .fua = fua, .len = 4096, .iov[0] = {memory, 4096}, .iovcnt = 1};

	memset(&asked, 0, sizeof(asked));
	assert_false(bdev_submit(b, &io));
	await(b, 1);
	assert_int_equal(io.result, 0);
}

/* What goes to stable storage before it is done, and what need not. */
static void
test_durable(void **state)
{
	struct bdev *b = must_open();

	(void)state;
	ask(b, BDEV_WRITE, false);
	assert_int_equal(asked.rw_flags & RWF_DSYNC, 0);
	ask(b, BDEV_WRITE, true);
	assert_int_equal(asked.rw_flags & RWF_DSYNC, RWF_DSYNC);
	ask(b, BDEV_FLUSH, false);
	assert_int_equal(asked.opcode, IORING_OP_FSYNC);
	bdev_close(b);
}

static void
test_refused(void **state)
{
	struct bdev *b = must_open();

	(void)state;
	assert_null(bdev_open(path, false, memory, LEN, why, sizeof(why)));
	assert_non_null(strstr(why, "in use"));
	assert_null(bdev_open(path, true, memory, LEN, why, sizeof(why)));
	bdev_close(b);
	b = bdev_open(path, true, memory, LEN, why, sizeof(why)); /* readers may share */
	assert_non_null(b);
	bdev_close(b);
	assert_int_equal(ftruncate(fd, 4096 + 512), 0);
	assert_null(bdev_uring_open(path, false, 4096, memory, LEN, why, sizeof(why)));
	assert_non_null(strstr(why, "not a multiple of the block size 4096"));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_null(bdev_open(path, false, memory, LEN, why, sizeof(why)));
	assert_non_null(strstr(why, "something in it"));
	assert_null(bdev_open("/nowhere/disk", false, memory, LEN, why, sizeof(why)));
	assert_non_null(strstr(why, "No such file"));
	assert_null(bdev_open("/dev/null", false, memory, LEN, why, sizeof(why)));
}

/* The same file by another ring; it stays locked as long as one is open. */
static void
test_shared(void **state)
{
	struct bdev *b = must_open(), *other = bdev_share(b, memory, LEN, why, sizeof(why));
	struct bdev_io io = {.op = BDEV_WRITE, .len = 4096, .iov[0] = {memory, 4096}, .iovcnt = 1};

	(void)state;
	assert_non_null(other);
	assert_int_equal(other->size, b->size);
	memset(memory, 0x77, 4096);
	assert_false(bdev_submit(other, &io));
	assert_int_equal(bdev_poll(b, (struct bdev_io *[1]){NULL}, 1), 0); /* it is the other's */
	await(other, 1);
	assert_int_equal(io.result, 0);
	bdev_close(b);
	assert_null(bdev_open(path, false, memory, LEN, why, sizeof(why)));
	memset(memory, 0, 4096);
	io = (struct bdev_io){.op = BDEV_READ, .len = 4096, .iov[0] = {memory, 4096}, .iovcnt = 1};
	assert_false(bdev_submit(other, &io));
	await(other, 1);
	assert_int_equal(io.result, 0);
	assert_int_equal(memory[4095], 0x77);
	bdev_close(other);
	b = must_open();
	bdev_close(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_file, close_file)

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_more_than_the_ring), TEST(test_short), TEST(test_shared),
					   TEST(test_durable), TEST(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
