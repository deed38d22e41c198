/* SPDX-License-Identifier: BSD-3-Clause */
/* I/O commands (NVM command set 1.4 §6): Read, Write, Flush, Compare, Write Zeroes, Dataset Management. */
#include <errno.h>
#include <nvme/types.h>
#include <string.h>

#include "exec.h"

#define PRINFO (15u << 26)
#define DSM_DEALLOCATE 4u
#define DSM_RANGES_MAX 256
#define COMPARE_FAILED ((uint16_t)(NVME_SCT_MEDIA << NVME_SCT_SHIFT | NVME_SC_COMPARE_FAILED))

static uint64_t
lba_of(const struct request *req)
{
	return (uint64_t)req->cmd.cdw11 << 32 | req->cmd.cdw10;
}

static uint32_t
blocks_of(const struct request *req)
{
	return (req->cmd.cdw12 & 0xffff) + 1;
}

static uint16_t
find_ns(struct request *req)
{
	req->ns = subsys_ns(req->queue->ctrl->subsys, req->cmd.nsid);
	return req->ns ? 0 : NVME_SC_INVALID_NS;
}

static bool
in_range(const struct request *req, uint64_t lba, uint64_t blocks)
{
	uint64_t have = exec_disk(req)->blocks;

	return lba <= have && blocks <= have - lba;
}

/* The checks of every command that names blocks. */
static uint16_t
check_range(struct request *req)
{
	uint16_t status = find_ns(req);

	if (status != 0)
		return status;
	if (req->cmd.cdw12 & PRINFO)
		return NVME_SC_INVALID_FIELD; /* no protection information */
	return in_range(req, lba_of(req), blocks_of(req)) ? 0 : NVME_SC_LBA_RANGE;
}

static uint16_t
plan_data(struct target *t, struct request *req)
{
	uint16_t status = check_range(req);

	(void)t;
	if (status != 0)
		return status;
	req->len = blocks_of(req) * exec_disk(req)->block_size;      /* 65536 * 4096 at most */
	return req->len > EXEC_DATA_MAX ? NVME_SC_INVALID_FIELD : 0; /* MDTS */
}

static uint16_t
writable(const struct request *req)
{
	return req->ns->read_only ? NVME_SC_NS_WRITE_PROTECTED : 0;
}

static uint16_t
plan_write(struct target *t, struct request *req)
{
	uint16_t status = plan_data(t, req);

	return status != 0 ? status : writable(req);
}

static uint16_t
plan_zeroes(struct target *t, struct request *req)
{
	uint16_t status = check_range(req);

	(void)t;
	return status != 0 ? status : writable(req);
}

static uint16_t
plan_flush(struct target *t, struct request *req)
{
	(void)t;
	return find_ns(req);
}

static uint16_t
plan_dsm(struct target *t, struct request *req)
{
	uint16_t status = find_ns(req);

	(void)t;
	if (status != 0)
		return status;
	req->len = ((req->cmd.cdw10 & 0xff) + 1) * CAPSULE_DSM_RANGE;
	return req->cmd.cdw11 & DSM_DEALLOCATE ? writable(req) : 0;
}

static void
set_iov(struct request *req, const struct iovec *iov, int n)
{
	for (int i = 0; i < n; i++)
		req->io.iov[i] = iov[i];
	req->io.iovcnt = n;
}

static enum exec_result
start_data(struct target *t, struct request *req, enum bdev_op op)
{
	return exec_start(t, req, op, lba_of(req) * exec_disk(req)->block_size, req->len);
}

/* Of Read and Compare; with FUA what the disk has cached goes to stable storage first (NVM command set 1.4 §6.9). */
static enum exec_result
start_read(struct target *t, struct request *req, const struct iovec *iov, int n)
{
	struct queue_counts *count = &req->queue->counts;

	queue_count(&count->reads, 1);
	queue_count(&count->blocks_read, req->len / 512);
	set_iov(req, iov, n);
	if (exec_fua(req) && exec_disk(req)->volatile_cache)
		return exec_start(t, req, BDEV_FLUSH, 0, 0);
	return start_data(t, req, BDEV_READ);
}

static bool
flushed_first(const struct request *req)
{
	return req->io.op == BDEV_FLUSH && req->io.result == 0;
}

static enum exec_result
run_read(struct target *t, struct request *req)
{
	return start_read(t, req, req->iov, req->iovcnt);
}

static enum exec_result
run_write(struct target *t, struct request *req)
{
	struct queue_counts *n = &req->queue->counts;

	queue_count(&n->writes, 1);
	queue_count(&n->blocks_written, req->len / 512);
	set_iov(req, req->iov, req->iovcnt);
	return start_data(t, req, BDEV_WRITE);
}

static enum exec_result
resume_read(struct target *t, struct request *req)
{
	return flushed_first(req) ? start_data(t, req, BDEV_READ) : exec_disk_done(req);
}

static enum exec_result
resume_data(struct target *t, struct request *req)
{
	(void)t;
	return exec_disk_done(req);
}

static enum exec_result
run_flush(struct target *t, struct request *req)
{
	return exec_start(t, req, BDEV_FLUSH, 0, 0);
}

static enum exec_result
run_compare(struct target *t, struct request *req)
{
	return start_read(t, req, req->disk, req->diskcnt);
}

static enum exec_result
resume_compare(struct target *t, struct request *req)
{
	bool same = true;

	if (flushed_first(req))
		return start_data(t, req, BDEV_READ);
	if (req->io.result != 0)
		return exec_disk_done(req);
	for (int i = 0; i < req->diskcnt; i++)
		same = same && memcmp(req->disk[i].iov_base, req->iov[i].iov_base, req->iov[i].iov_len) == 0;
	return same ? exec_ok(req) : exec_fail(req, COMPARE_FAILED);
}

/* Write Zeroes goes by steps: the disk's own way; where it has none, blocks of zeroes; at last a flush for FUA. */
enum { ZEROES_OWN = 0, ZEROES_FLUSH = UINT32_MAX };

static uint64_t
zeroes_len(const struct request *req)
{
	return (uint64_t)blocks_of(req) * exec_disk(req)->block_size;
}

static enum exec_result
run_zeroes(struct target *t, struct request *req)
{
	req->step = ZEROES_OWN;
	return exec_start(t, req, BDEV_ZEROES, lba_of(req) * exec_disk(req)->block_size, zeroes_len(req));
}

static enum exec_result
write_next_zeroes(struct target *t, struct request *req)
{
	uint64_t at = (uint64_t)req->step * BUFS_CHUNK, left = zeroes_len(req) - at;
	uint32_t part = left < BUFS_CHUNK ? (uint32_t)left : BUFS_CHUNK;

	req->io.iov[0] = (struct iovec){.iov_base = req->queue->shard->bufs.zeroes, .iov_len = part};
	req->io.iovcnt = 1;
	req->step++;
	return exec_start(t, req, BDEV_WRITE, lba_of(req) * exec_disk(req)->block_size + at, part);
}

static enum exec_result
end_zeroes(struct target *t, struct request *req)
{
	if (req->io.result == 0 && req->io.op == BDEV_ZEROES && req->io.fua) {
		req->step = ZEROES_FLUSH;
		return exec_start(t, req, BDEV_FLUSH, 0, 0);
	}
	return exec_disk_done(req);
}

static enum exec_result
resume_zeroes(struct target *t, struct request *req)
{
	bool no_own_way = req->io.op == BDEV_ZEROES && (req->io.result == -EOPNOTSUPP || req->io.result == -ENOSYS);

	if (req->step == ZEROES_FLUSH)
		return exec_disk_done(req);
	if (no_own_way ||
	    (req->io.op == BDEV_WRITE && req->io.result == 0 && (uint64_t)req->step * BUFS_CHUNK < zeroes_len(req)))
		return write_next_zeroes(t, req);
	return end_zeroes(t, req);
}

static struct dsm_range
range_at(const struct request *req, uint32_t i)
{
	uint8_t raw[CAPSULE_DSM_RANGE];

	request_read(req, i * CAPSULE_DSM_RANGE, raw, sizeof(raw));
	return capsule_dsm_parse(raw);
}

static enum exec_result
discard_next(struct target *t, struct request *req)
{
	uint32_t block = exec_disk(req)->block_size;

	while (req->step < req->len / CAPSULE_DSM_RANGE) {
		struct dsm_range r = range_at(req, req->step++);

		if (r.blocks > 0)
			return exec_start(t, req, BDEV_DISCARD, r.lba * block, (uint64_t)r.blocks * block);
	}
	return exec_ok(req);
}

/* All ranges are looked at before the first is touched. */
static enum exec_result
run_dsm(struct target *t, struct request *req)
{
	for (uint32_t i = 0; i < req->len / CAPSULE_DSM_RANGE; i++) {
		struct dsm_range r = range_at(req, i);

		if (!in_range(req, r.lba, r.blocks))
			return exec_fail(req, NVME_SC_LBA_RANGE);
	}
	req->step = 0;
	return req->cmd.cdw11 & DSM_DEALLOCATE ? discard_next(t, req) : exec_ok(req);
}

static enum exec_result
resume_dsm(struct target *t, struct request *req)
{
	return req->io.result == 0 ? discard_next(t, req) : exec_disk_done(req);
}

const struct exec_row exec_io[] = {
	{nvme_cmd_flush, ON_IO, DATA_NONE, plan_flush, run_flush, resume_data},
	{nvme_cmd_write, ON_IO, DATA_FROM_HOST, plan_write, run_write, resume_data},
	{nvme_cmd_read, ON_IO, DATA_TO_HOST, plan_data, run_read, resume_read},
	{nvme_cmd_compare, ON_IO, DATA_FROM_HOST, plan_data, run_compare, resume_compare, .twice = true},
	{nvme_cmd_write_zeroes, ON_IO, DATA_NONE, plan_zeroes, run_zeroes, resume_zeroes},
	{nvme_cmd_dsm, ON_IO, DATA_FROM_HOST, plan_dsm, run_dsm, resume_dsm},
	{0, 0, DATA_NONE, NULL, NULL, NULL},
};
