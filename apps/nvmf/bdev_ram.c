/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks in memory; every request is done at once. */
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bdev.h"
#include "bufs.h"

#define PAGE 4096u
#define LARGE 65536u
#define PAST_CACHE (32u << 20) /* of a disk so large no block is expected in the cache, nor soon wanted there */

struct ram {
	struct bdev b;
	uint8_t *blocks;
};

/* len: whole blocks, and so is what `at` is a multiple of. */
static void
put(uint8_t *at, const uint8_t *from, size_t len, bool past_cache)
{
#ifdef __SSE2__
	for (size_t i = 0; past_cache && i < len; i += sizeof(__m128i))
		_mm_stream_si128((void *)(at + i), _mm_loadu_si128((const void *)(from + i)));
	if (past_cache) {
		_mm_sfence();
		return;
	}
#endif
	(void)past_cache;
	memcpy(at, from, len);
}

static void
copy(uint8_t *at, const struct bdev_io *io, bool to_iov, bool past_cache)
{
	for (int i = 0; i < io->iovcnt; i++) {
		if (to_iov)
			memcpy(io->iov[i].iov_base, at, io->iov[i].iov_len);
		else
			put(at, io->iov[i].iov_base, io->iov[i].iov_len, past_cache);
		at += io->iov[i].iov_len;
	}
}

/* A large range gives its pages back, which is quick: the loop must not stand still for gigabytes. */
static void
clear(uint8_t *at, uint64_t len)
{
	uint64_t before = -(uintptr_t)at & (PAGE - 1), pages;

	if (len < LARGE) {
		memset(at, 0, len);
		return;
	}
	pages = (len - before) & ~(uint64_t)(PAGE - 1);
	memset(at, 0, before);
	if (madvise(at + before, pages, MADV_DONTNEED) != 0)
		memset(at + before, 0, pages);
	memset(at + before + pages, 0, len - before - pages);
}

static bool
ram_submit(struct bdev *b, struct bdev_io *io)
{
	uint8_t *at = ((struct ram *)b)->blocks + io->offset;
	bool past_cache = b->size >= PAST_CACHE;

	switch (io->op) {
	case BDEV_READ:
		copy(at, io, true, past_cache);
		break;
	case BDEV_WRITE:
		copy(at, io, false, past_cache);
		break;
	case BDEV_ZEROES:
	case BDEV_DISCARD:
		clear(at, io->len);
		break;
	case BDEV_FLUSH:
		break;
	}
	io->result = 0;
	return true;
}

static int
ram_poll(struct bdev *b, struct bdev_io **done, int max)
{
	(void)b, (void)done, (void)max;
	return 0;
}

static void
ram_close(struct bdev *b)
{
	struct ram *r = (struct ram *)b;

	munmap(r->blocks, b->size);
	free(r);
}

static const struct bdev_ops ram_ops = {.submit = ram_submit, .poll = ram_poll, .close = ram_close};

struct bdev *
bdev_ram_open(uint64_t size, uint32_t block_size)
{
	struct ram *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->blocks = bufs_map(size);
	if (!r->blocks) {
		free(r);
		return NULL;
	}
	r->b = (struct bdev){.ops = &ram_ops, .size = size, .block_size = block_size};
	return &r->b;
}
