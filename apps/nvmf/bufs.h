/* SPDX-License-Identifier: BSD-3-Clause */
/* Data buffers: chunks of one region that is registered once, with the library and with io_uring. */
#ifndef BUFS_H
#define BUFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BUFS_CHUNK 65536u
#define BUFS_MAX 16 /* chunks of one command: 1 MiB */
#define BUFS_PAGE 4096u

struct bufs {
	uint8_t *base;
	size_t len;
	uint32_t *free; /* numbers of free chunks: a stack, so that warm ones come first */
	uint32_t num_free, num;
	uint8_t *zeroes; /* one more chunk, of zeroes, that nobody writes */
};

/* Zeroed memory, in large pages where the system has them: translations are a good part of what a random 4 KiB costs.
 * For munmap(); NULL: there is none. */
void *bufs_map(size_t len);

/* len: octets, rounded down to chunks; the chunk of zeroes comes on top.  False: no memory. */
bool bufs_open(struct bufs *b, size_t len);
/* All zero: nothing to do. */
void bufs_close(struct bufs *b);

/* Room for len octets (<= BUFS_CHUNK * BUFS_MAX) in iov; returns the number of elements, 0 when there are not enough
 * free chunks now. */
int bufs_take(struct bufs *b, uint32_t len, struct iovec *iov);
/* Gives back what bufs_take() put there. */
void bufs_give(struct bufs *b, const struct iovec *iov, int n);

#endif
