/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks in memory; every request is done at once. */
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <rte_spinlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bdev.h"
#include "bufs.h"

#define PAGE 4096u
#define LARGE 65536u
#define PAST_CACHE (32u << 20) /* of a disk so large no block is expected in the cache, nor soon wanted there */

#define STRIPES 256u

/* Held for one page at a time: a block, which is the atomic unit that Identify names, is never torn between threads. */
struct stripe {
	rte_spinlock_t lock;
} __attribute__((aligned(64)));

/* What all handles of a disk have. */
struct blocks {
	uint8_t *at;
	uint32_t handles; /* more than one: locks are taken */
	struct stripe stripe[STRIPES];
};

struct ram {
	struct bdev b;
	struct blocks *blocks;
};

#ifdef __SSE2__
#define LINE 64u

static inline void
put_line(uint8_t *at, const uint8_t *from)
{
	__m128i a = _mm_loadu_si128((const void *)from), b = _mm_loadu_si128((const void *)(from + 16));
	__m128i c = _mm_loadu_si128((const void *)(from + 32)), d = _mm_loadu_si128((const void *)(from + 48));

	_mm_stream_si128((void *)at, a);
	_mm_stream_si128((void *)(at + 16), b);
	_mm_stream_si128((void *)(at + 32), c);
	_mm_stream_si128((void *)(at + 48), d);
}
#endif

/* len: whole blocks, and so is what `at` is a multiple of.  Other threads may see it out of order. */
static void
put(uint8_t *at, const uint8_t *from, size_t len, bool past_cache)
{
#ifdef __SSE2__
	if (past_cache) {
		for (size_t i = 0; i < len; i += LINE)
			put_line(at + i, from + i);
		return;
	}
#endif
	(void)past_cache;
	memcpy(at, from, len);
}

static void
copy_part(uint8_t *at, uint8_t *v, size_t len, bool to_iov, bool past_cache)
{
	if (to_iov)
		memcpy(v, at, len);
	else
		put(at, v, len, past_cache);
}

static rte_spinlock_t *
lock_of(struct blocks *k, uint64_t offset)
{
	return &k->stripe[offset / PAGE % STRIPES].lock;
}

/* What was put past the caches comes before the lock is given away. */
static void
settle(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

/* The same page by page, each under its lock. */
static void
copy_pages(struct blocks *k, uint64_t offset, const struct iovec *v, bool to_iov, bool past_cache)
{
	uint8_t *base = v->iov_base;

	for (size_t done = 0, part; done < v->iov_len; done += part, offset += part) {
		part = PAGE - offset % PAGE;
		if (part > v->iov_len - done)
			part = v->iov_len - done;
		rte_spinlock_lock(lock_of(k, offset));
		copy_part(k->at + offset, base + done, part, to_iov, past_cache);
		if (!to_iov && past_cache)
			settle();
		rte_spinlock_unlock(lock_of(k, offset));
	}
}

static void
copy(struct blocks *k, const struct bdev_io *io, bool to_iov, bool past_cache)
{
	uint64_t offset = io->offset;

	for (int i = 0; i < io->iovcnt; i++) {
		if (k->handles > 1)
			copy_pages(k, offset, &io->iov[i], to_iov, past_cache);
		else
			copy_part(k->at + offset, io->iov[i].iov_base, io->iov[i].iov_len, to_iov, past_cache);
		offset += io->iov[i].iov_len;
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

/* While nobody is in the middle of a page. All locks are taken in their order, and who copies waits for one only. */
static void
clear_alone(struct blocks *k, uint64_t offset, uint64_t len)
{
	for (uint32_t i = 0; k->handles > 1 && i < STRIPES; i++)
		rte_spinlock_lock(&k->stripe[i].lock);
	clear(k->at + offset, len);
	for (uint32_t i = 0; k->handles > 1 && i < STRIPES; i++)
		rte_spinlock_unlock(&k->stripe[i].lock);
}

static bool
ram_submit(struct bdev *b, struct bdev_io *io)
{
	struct blocks *k = ((struct ram *)b)->blocks;
	bool past_cache = b->size >= PAST_CACHE;

	switch (io->op) {
	case BDEV_READ:
		copy(k, io, true, past_cache);
		break;
	case BDEV_WRITE:
		copy(k, io, false, past_cache);
		break;
	case BDEV_ZEROES:
	case BDEV_DISCARD:
		clear_alone(k, io->offset, io->len);
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

	if (--r->blocks->handles == 0) {
		munmap(r->blocks->at, b->size);
		free(r->blocks);
	}
	free(r);
}

static struct bdev *
ram_share(struct bdev *b, void *base, size_t len, char *why, size_t why_len)
{
	struct ram *r = malloc(sizeof(*r));

	(void)base, (void)len;
	if (!r) {
		snprintf(why, why_len, "no memory");
		return NULL;
	}
	*r = *(struct ram *)b;
	r->blocks->handles++;
	return &r->b;
}

static const struct bdev_ops ram_ops = {.submit = ram_submit, .poll = ram_poll, .share = ram_share, .close = ram_close};

static struct blocks *
blocks_open(uint64_t size)
{
	struct blocks *k = aligned_alloc(_Alignof(struct blocks), sizeof(*k));

	if (!k)
		return NULL;
	memset(k, 0, sizeof(*k));
	k->handles = 1;
	k->at = bufs_map(size);
	if (k->at)
		return k;
	free(k);
	return NULL;
}

struct bdev *
bdev_ram_open(uint64_t size, uint32_t block_size)
{
	struct ram *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->blocks = blocks_open(size);
	if (!r->blocks) {
		free(r);
		return NULL;
	}
	r->b = (struct bdev){.ops = &ram_ops,
			     .size = size,
			     .blocks = size / block_size,
			     .block_size = block_size,
			     .any_memory = true};
	return &r->b;
}
