/* SPDX-License-Identifier: BSD-3-Clause */
/* A file or a block device through io_uring, past the page cache (O_DIRECT), from buffers registered once. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bdev.h"

#define ENTRIES 1024
#define REAP 64

struct uring {
	struct bdev b;
	struct io_uring ring;
	int fd;
	bool fixed;                    /* the buffers could be registered */
	struct bdev_io *waiting, **at; /* found no room in the ring */
	bool to_submit;
};

/* Submission entries that a request takes. */
static uint32_t
parts_of(const struct bdev_io *io)
{
	return io->op == BDEV_READ || io->op == BDEV_WRITE ? (uint32_t)io->iovcnt : 1;
}

static void
prepare_data(const struct uring *u, struct io_uring_sqe *sqe, const struct bdev_io *io, const struct iovec *v,
	     uint64_t offset)
{
	unsigned len = (unsigned)v->iov_len;

	if (io->op == BDEV_READ && u->fixed)
		io_uring_prep_read_fixed(sqe, u->fd, v->iov_base, len, offset, 0);
	else if (io->op == BDEV_READ)
		io_uring_prep_read(sqe, u->fd, v->iov_base, len, offset);
	else if (u->fixed)
		io_uring_prep_write_fixed(sqe, u->fd, v->iov_base, len, offset, 0);
	else
		io_uring_prep_write(sqe, u->fd, v->iov_base, len, offset);
	if (io->op == BDEV_WRITE && io->fua)
		sqe->rw_flags = RWF_DSYNC;
}

static void
prepare_other(const struct uring *u, struct io_uring_sqe *sqe, const struct bdev_io *io)
{
	int mode = FALLOC_FL_KEEP_SIZE | (io->op == BDEV_ZEROES ? FALLOC_FL_ZERO_RANGE : FALLOC_FL_PUNCH_HOLE);

	if (io->op == BDEV_FLUSH)
		io_uring_prep_fsync(sqe, u->fd, IORING_FSYNC_DATASYNC);
	else
		io_uring_prep_fallocate(sqe, u->fd, mode, (off_t)io->offset, (off_t)io->len);
}

/* False: the ring has no room for all of it. */
static bool
start(struct uring *u, struct bdev_io *io)
{
	uint64_t offset = io->offset;
	struct io_uring_sqe *sqe;

	if (io_uring_sq_space_left(&u->ring) < parts_of(io))
		return false;
	io->parts = parts_of(io);
	io->result = 0;
	for (uint32_t i = 0; i < io->parts; i++) {
		sqe = io_uring_get_sqe(&u->ring);
		if (io->op == BDEV_READ || io->op == BDEV_WRITE) {
			prepare_data(u, sqe, io, &io->iov[i], offset);
			offset += io->iov[i].iov_len;
		} else {
			prepare_other(u, sqe, io);
		}
		io_uring_sqe_set_data(sqe, io);
	}
	u->to_submit = true;
	return true;
}

static bool
uring_submit(struct bdev *b, struct bdev_io *io)
{
	struct uring *u = (struct uring *)b;

	if (!u->waiting && start(u, io))
		return false;
	io->next = NULL;
	*u->at = io;
	u->at = &io->next;
	return false;
}

static void
start_waiting(struct uring *u)
{
	while (u->waiting && start(u, u->waiting)) {
		u->waiting = u->waiting->next;
		if (!u->waiting)
			u->at = &u->waiting;
	}
}

/* A part may come back short only at the end of the device, which a checked range never meets: an error then. */
static int
part_result(const struct bdev_io *io, int res)
{
	if (res < 0)
		return res;
	return (io->op == BDEV_READ || io->op == BDEV_WRITE) && res == 0 ? -EIO : 0;
}

static bool
part_done(struct bdev_io *io, const struct io_uring_cqe *cqe)
{
	int result = part_result(io, cqe->res);

	if (io->op == BDEV_DISCARD && (result == -EOPNOTSUPP || result == -ENOSYS))
		result = 0; /* it is advice */
	if (result != 0)
		io->result = result;
	else if (cqe->res > 0)
		io->len -= (uint64_t)cqe->res;
	if (--io->parts > 0)
		return false;
	if ((io->op == BDEV_READ || io->op == BDEV_WRITE) && io->len != 0 && io->result == 0)
		io->result = -EIO;
	return true;
}

static int
uring_poll(struct bdev *b, struct bdev_io **done, int max)
{
	struct uring *u = (struct uring *)b;
	struct io_uring_cqe *cqe[REAP];
	unsigned n;
	int count = 0;

	start_waiting(u);
	if (u->to_submit && io_uring_submit(&u->ring) >= 0)
		u->to_submit = io_uring_sq_ready(&u->ring) > 0;
	n = io_uring_peek_batch_cqe(&u->ring, cqe, max < REAP ? (unsigned)max : REAP);
	for (unsigned i = 0; i < n; i++) {
		struct bdev_io *io = io_uring_cqe_get_data(cqe[i]);

		if (part_done(io, cqe[i]))
			done[count++] = io;
	}
	io_uring_cq_advance(&u->ring, n);
	return count;
}

static void
uring_close(struct bdev *b)
{
	struct uring *u = (struct uring *)b;

	io_uring_queue_exit(&u->ring);
	close(u->fd);
	free(u);
}

/* Size in octets, 0 when it cannot be told. */
static uint64_t
size_of(int fd)
{
	uint64_t size = 0;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return (uint64_t)st.st_size;
	return S_ISBLK(st.st_mode) && ioctl(fd, BLKGETSIZE64, &size) == 0 ? size : 0;
}

/* Blocks smaller than this cannot be read or written past the page cache. */
static uint32_t
least_block(int fd)
{
	int block = 0;
#ifdef STATX_DIOALIGN
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &st) == 0 && (st.stx_mask & STATX_DIOALIGN))
		return st.stx_dio_offset_align;
#endif
	return ioctl(fd, BLKSSZGET, &block) == 0 ? (uint32_t)block : 0;
}

/* One user at a time: a second target, or a file system that is mounted from the same device, would ruin the data. */
static int
open_direct(const char *path, bool read_only, char *why, size_t why_len)
{
	struct stat st;
	int exclusive = stat(path, &st) == 0 && S_ISBLK(st.st_mode) ? O_EXCL : 0;
	int fd = open(path, (read_only ? O_RDONLY : O_RDWR) | O_DIRECT | O_CLOEXEC | exclusive);

	if (fd < 0) {
		snprintf(why, why_len, "%s: %s%s", path, strerror(errno),
			 errno == EINVAL ? " (its file system has no direct I/O)" : "");
		return -1;
	}
	if (flock(fd, (read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
		snprintf(why, why_len, "%s: in use by another namespace or target", path);
		close(fd);
		return -1;
	}
	return fd;
}

static bool
check_size(struct uring *u, const char *path, char *why, size_t why_len)
{
	u->b.size = size_of(u->fd);
	if (u->b.size == 0) {
		snprintf(why, why_len, "%s: not a file or block device with something in it", path);
		return false;
	}
	if (u->b.size % u->b.block_size != 0) {
		snprintf(why, why_len, "%s: its size of %llu octets is not a multiple of the block size %u", path,
			 (unsigned long long)u->b.size, u->b.block_size);
		return false;
	}
	if (u->b.block_size < least_block(u->fd)) {
		snprintf(why, why_len, "%s: its blocks are of %u octets; say %s,bs=%u", path, least_block(u->fd), path,
			 least_block(u->fd));
		return false;
	}
	u->b.blocks = u->b.size / u->b.block_size;
	return true;
}

static bool
set_up(struct uring *u, const char *path, void *base, size_t len, char *why, size_t why_len)
{
	struct iovec all = {.iov_base = base, .iov_len = len};
	int err = io_uring_queue_init(ENTRIES, &u->ring, 0);

	if (err < 0) {
		snprintf(why, why_len, "%s: no io_uring: %s", path, strerror(-err));
		return false;
	}
	u->fixed = io_uring_register_buffers(&u->ring, &all, 1) == 0; /* a limit on locked memory may forbid it */
	return true;
}

static struct uring *
uring_new(char *why, size_t why_len)
{
	struct uring *u = calloc(1, sizeof(*u));

	if (u)
		u->at = &u->waiting;
	else
		snprintf(why, why_len, "no memory");
	return u;
}

static struct bdev *
abandon(struct uring *u)
{
	if (u->fd >= 0)
		close(u->fd);
	free(u);
	return NULL;
}

/* A ring of its own. The lock on the file goes with the last copy of its descriptor. */
static struct bdev *
uring_share(struct bdev *b, void *base, size_t len, char *why, size_t why_len)
{
	struct uring *u = uring_new(why, why_len);

	if (!u)
		return NULL;
	u->b = *b;
	u->fd = fcntl(((struct uring *)b)->fd, F_DUPFD_CLOEXEC, 0);
	if (u->fd < 0)
		snprintf(why, why_len, "a file once more: %s", strerror(errno));
	if (u->fd < 0 || !set_up(u, "a file once more", base, len, why, why_len))
		return abandon(u);
	return &u->b;
}

static const struct bdev_ops uring_ops = {
	.submit = uring_submit, .poll = uring_poll, .share = uring_share, .close = uring_close};

struct bdev *
bdev_uring_open(const char *path, bool read_only, uint32_t block_size, void *base, size_t len, char *why,
		size_t why_len)
{
	struct uring *u = uring_new(why, why_len);

	if (!u)
		return NULL;
	u->fd = open_direct(path, read_only, why, why_len);
	if (u->fd < 0)
		return abandon(u);
	u->b = (struct bdev){.ops = &uring_ops, .block_size = block_size, .volatile_cache = true};
	if (!check_size(u, path, why, why_len) || !set_up(u, path, base, len, why, why_len))
		return abandon(u);
	return &u->b;
}
