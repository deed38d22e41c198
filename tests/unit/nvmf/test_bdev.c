/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bdev.h"

static void
test_specs(void **state)
{
	static const struct {
		const char *spec;
		uint64_t size; /* 0: refused */
		uint32_t block;
		const char *why;
	} rows[] = {
		{"ram:512", 512, 512, NULL},
		{"ram:64K", 65536, 512, NULL},
		{"ram:1m", 1 << 20, 512, NULL},
		{"ram:1M,bs=4096", 1 << 20, 4096, NULL},
		{"ram:1G", 1 << 30, 512, NULL},
		{"ram:", 0, 0, "not a size"},
		{"ram:0", 0, 0, "not a size"},
		{"ram:-1", 0, 0, "not a size"},
		{"ram:1X", 0, 0, "not a size"},
		{"ram:1MM", 0, 0, "not a size"},
		{"ram:513", 0, 0, "in blocks of 512"},
		{"ram:512,bs=4096", 0, 0, "in blocks of 4096"},
		{"ram:18446744073709551615T", 0, 0, "not a size"},
		{"ram:99999999999999999999", 0, 0, "not a size"},
		{"ram:1M,bs=1024", 0, 0, "bs= is 512 or 4096"},
		{"ram:1M,bs=", 0, 0, "bs= is 512 or 4096"},
	};
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bdev *b = bdev_open(rows[i].spec, false, NULL, 0, why, sizeof(why));

		assert_int_equal(b != NULL, rows[i].size != 0);
		if (!b) {
			assert_non_null(strstr(why, rows[i].why));
			continue;
		}
		assert_int_equal(b->size, rows[i].size);
		assert_int_equal(b->block_size, rows[i].block);
		assert_int_equal(b->blocks, rows[i].size / rows[i].block);
		assert_false(b->volatile_cache);
		bdev_close(b);
	}
}

static void
submit(struct bdev *b, enum bdev_op op, uint64_t offset, uint64_t len, uint8_t *one, uint8_t *two)
{
	struct bdev_io io = {.op = op, .offset = offset, .len = len, .iovcnt = 2, .result = -1};

	io.iov[0] = (struct iovec){one, 512};
	io.iov[1] = (struct iovec){two, 1024};
	assert_true(bdev_submit(b, &io));
	assert_int_equal(io.result, 0);
}

static void
check_ram(uint64_t size)
{
	struct bdev *b = bdev_ram_open(size, 512);
	uint8_t one[512], two[1024], zero[1024] = {0};
	struct bdev_io *done;

	memset(one, 1, sizeof(one));
	memset(two, 2, sizeof(two));
	submit(b, BDEV_WRITE, 1024, 1536, one, two);
	submit(b, BDEV_READ, 1536, 1536, one, two); /* a block further */
	assert_int_equal(one[0], 2);
	assert_int_equal(two[511], 2);
	assert_int_equal(two[512], 0);
	submit(b, BDEV_FLUSH, 0, 0, one, two);
	submit(b, BDEV_DISCARD, 1024, 1536, one, two);
	submit(b, BDEV_READ, 1024, 1536, one, two);
	assert_memory_equal(one, zero, 512);
	assert_memory_equal(two, zero, 1024);
	assert_int_equal(bdev_poll(b, &done, 1), 0);
	bdev_close(b);
}

/* A disk that fits into a cache and one that does not are written in different ways. */
static void
test_ram(void **state)
{
	(void)state;
	check_ram(1 << 20);
	check_ram(64 << 20);
}

/* Large and odd ranges: what is beside them stays. */
static void
test_ram_clears_what_it_should(void **state)
{
	static const uint64_t rows[][2] = {
		{0, 1 << 20}, {512, 70000 / 512 * 512}, {4096, 65536}, {3584, 200704}, {0, 65024}};
	static uint8_t pattern[1 << 20], have[1 << 20];

	(void)state;
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i % 251 + 1);
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct bdev *b = bdev_ram_open(1 << 20, 512);
		struct bdev_io io = {.op = BDEV_WRITE, .len = 1 << 20, .iov[0] = {pattern, 1 << 20}, .iovcnt = 1};

		assert_true(bdev_submit(b, &io));
		io = (struct bdev_io){.op = BDEV_ZEROES, .offset = rows[n][0], .len = rows[n][1]};
		assert_true(bdev_submit(b, &io));
		io = (struct bdev_io){.op = BDEV_READ, .len = 1 << 20, .iov[0] = {have, 1 << 20}, .iovcnt = 1};
		assert_true(bdev_submit(b, &io));
		for (uint64_t i = 0; i < 1 << 20; i++)
			assert_int_equal(have[i], i >= rows[n][0] && i - rows[n][0] < rows[n][1] ? 0 : pattern[i]);
		bdev_close(b);
	}
}

/* Two handles have the same blocks; what crosses pages is whole, what is cleared is so for both. */
static void
test_ram_shared(void **state)
{
	static uint8_t in[3][1024], out[3][1024];
	char why[64];
	struct bdev *a = bdev_open("ram:256K", false, NULL, 0, why, sizeof(why)), *b;

	(void)state;
	assert_non_null(a);
	b = bdev_share(a, NULL, 0, why, sizeof(why));
	assert_non_null(b);
	for (int i = 0; i < 3; i++) {
		uint64_t offset = (uint64_t)i * 65536 + 4096 - 512;

		memset(in[i], 'a' + i, 1024);
		submit(a, BDEV_WRITE, offset, 1536, in[i], in[i]);
		submit(b, BDEV_READ, offset, 1536, out[i], out[i]);
		assert_memory_equal(in[i], out[i], 1024);
	}
	bdev_close(a);
	submit(b, BDEV_ZEROES, 0, 131072, NULL, NULL);
	submit(b, BDEV_READ, 65536 + 4096 - 512, 1536, out[1], out[1]);
	assert_int_equal(out[1][0] | out[1][1023], 0);
	submit(b, BDEV_READ, 131072 + 4096 - 512, 1536, out[2], out[2]);
	assert_memory_equal(in[2], out[2], 1024);
	bdev_close(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_ram),
		cmocka_unit_test(test_ram_shared),
		cmocka_unit_test(test_ram_clears_what_it_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
