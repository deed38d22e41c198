/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the blocks of a namespace are kept: memory, a file, a block device.  Each thread has a struct bdev of its
 * own; nothing here ever waits. */
#ifndef BDEV_H
#define BDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BDEV_IOV 16

enum bdev_op {
	BDEV_READ,
	BDEV_WRITE,
	BDEV_FLUSH,  /* everything that completed before it is on stable storage afterwards */
	BDEV_ZEROES, /* the range reads as zeroes afterwards */
	BDEV_DISCARD /* the range is not needed any more: advice */
};

/* One request.  The caller keeps it, and the memory behind iov, until it is done. */
struct bdev_io {
	struct bdev_io *next;
	enum bdev_op op;
	bool fua;                   /* BDEV_WRITE, BDEV_ZEROES: on stable storage before it is done */
	uint64_t offset, len;       /* octets, multiples of the block size, inside the device */
	struct iovec iov[BDEV_IOV]; /* READ, WRITE: len octets in all */
	int iovcnt;
	int result; /* 0 or a negative errno, when done */
	/* the back end's own: */
	uint32_t parts;
};

struct bdev;

struct bdev_ops {
	/* True: done already, io->result says how.  False: bdev_poll() will return it. */
	bool (*submit)(struct bdev *b, struct bdev_io *io);
	/* Up to max requests that are done now. */
	int (*poll)(struct bdev *b, struct bdev_io **done, int max);
	/* As bdev_share(). */
	struct bdev *(*share)(struct bdev *b, void *base, size_t len, char *why, size_t why_len);
	/* Nothing may be under way. */
	void (*close)(struct bdev *b);
};

struct bdev {
	const struct bdev_ops *ops;
	uint64_t size; /* octets, whole blocks */
	uint64_t blocks;
	uint32_t block_size;
	bool volatile_cache; /* BDEV_FLUSH has something to do */
	bool any_memory;     /* iov may point anywhere, aligned or not */
	uint32_t under_way;  /* requests that bdev_poll() will return */
};

/* "ram:SIZE[,bs=512|4096]" (SIZE with K, M, G, T) or "PATH[,bs=...]": a file or a block device.  [base, base+len) is
 * the memory that all iov point into (registered once for direct I/O).  NULL after a line in why. */
struct bdev *bdev_open(const char *spec, bool read_only, void *base, size_t len, char *why, size_t why_len);

/* The same disk once more, for another thread; nothing may be under way yet.  What one has written the other reads, and
 * a block is never torn between them. */
static inline struct bdev *
bdev_share(struct bdev *b, void *base, size_t len, char *why, size_t why_len)
{
	return b->ops->share(b, base, len, why, why_len);
}

static inline bool
bdev_submit(struct bdev *b, struct bdev_io *io)
{
	bool done = b->ops->submit(b, io);

	b->under_way += !done;
	return done;
}

static inline int
bdev_poll(struct bdev *b, struct bdev_io **done, int max)
{
	int n;

	if (b->under_way == 0)
		return 0;
	n = b->ops->poll(b, done, max);
	b->under_way -= (uint32_t)n;
	return n;
}

static inline void
bdev_close(struct bdev *b)
{
	b->ops->close(b);
}

/* The back ends. */
struct bdev *bdev_ram_open(uint64_t size, uint32_t block_size);
struct bdev *bdev_uring_open(const char *path, bool read_only, uint32_t block_size, void *base, size_t len, char *why,
			     size_t why_len);

#endif
