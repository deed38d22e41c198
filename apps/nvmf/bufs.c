/* SPDX-License-Identifier: BSD-3-Clause */
#include "bufs.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

void *
bufs_map(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	(void)madvise(p, len, MADV_HUGEPAGE);
	return p;
}

bool
bufs_open(struct bufs *b, size_t len)
{
	b->num = b->num_free = (uint32_t)(len / BUFS_CHUNK);
	b->len = ((size_t)b->num + 1) * BUFS_CHUNK;
	b->free = calloc(b->num ? b->num : 1, sizeof(*b->free));
	b->base = bufs_map(b->len);
	if (!b->free || !b->base) {
		free(b->free);
		return false;
	}
	b->zeroes = b->base + (size_t)b->num * BUFS_CHUNK;
	for (uint32_t i = 0; i < b->num; i++)
		b->free[i] = b->num - 1 - i;
	return true;
}

void
bufs_close(struct bufs *b)
{
	assert(b->num_free == b->num);
	if (b->base)
		munmap(b->base, b->len);
	free(b->free);
}

/* Where in its chunk a part begins: were it always the start, small parts would meet in the same few sets of a cache.
 */
static uint32_t
colour(uint32_t chunk, uint32_t len)
{
	uint32_t places = (BUFS_CHUNK - len) / BUFS_PAGE + 1;

	return chunk % places * BUFS_PAGE;
}

int
bufs_take(struct bufs *b, uint32_t len, struct iovec *iov)
{
	uint32_t chunks = (len + BUFS_CHUNK - 1) / BUFS_CHUNK;

	assert(chunks <= BUFS_MAX);
	if (chunks > b->num_free)
		return 0;
	for (uint32_t i = 0; i < chunks; i++, len -= BUFS_CHUNK) {
		uint32_t part = len < BUFS_CHUNK ? len : BUFS_CHUNK, n = b->free[--b->num_free];

		iov[i].iov_base = b->base + (size_t)n * BUFS_CHUNK + colour(n, part);
		iov[i].iov_len = part;
	}
	return (int)chunks;
}

void
bufs_give(struct bufs *b, const struct iovec *iov, int n)
{
	for (int i = n - 1; i >= 0; i--) {
		assert(b->num_free < b->num);
		b->free[b->num_free++] = (uint32_t)(((uint8_t *)iov[i].iov_base - b->base) / BUFS_CHUNK);
	}
}
