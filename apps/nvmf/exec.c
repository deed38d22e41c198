/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec.h"

#include <errno.h>
#include <nvme/types.h>
#include <string.h>

enum exec_result
exec_fail(struct request *req, uint16_t status)
{
	return exec_fail_retry(req, status | NVME_SC_DNR);
}

enum exec_result
exec_fail_retry(struct request *req, uint16_t status)
{
	req->status = status;
	return EXEC_DONE;
}

enum exec_result
exec_ok(struct request *req)
{
	req->status = NVME_SC_SUCCESS;
	return EXEC_DONE;
}

enum exec_result
exec_start(struct target *t, struct request *req, enum bdev_op op, uint64_t offset, uint64_t len)
{
	req->io.op = op;
	req->io.offset = offset;
	req->io.len = len;
	req->io.fua = exec_fua(req) || __atomic_load_n(&req->queue->ctrl->write_through, __ATOMIC_RELAXED);
	if (!bdev_submit(exec_disk(req), &req->io))
		return EXEC_DISK;
	return exec_resume(t, req);
}

/* A disk that is full stays so; whatever else it could not do may go better next time.  But not a flush: what it could
 * not write is lost, and a second one, which finds nothing left to write, would say that all is well. */
enum exec_result
exec_disk_done(struct request *req)
{
	uint16_t code = req->io.op == BDEV_READ ? NVME_SC_READ_ERROR : NVME_SC_WRITE_FAULT;

	if (req->io.result == 0)
		return exec_ok(req);
	if (req->io.result == -ENOSPC)
		return exec_fail(req, NVME_SC_CAP_EXCEEDED);
	code |= NVME_SCT_MEDIA << NVME_SCT_SHIFT;
	return req->io.op == BDEV_FLUSH ? exec_fail(req, code) : exec_fail_retry(req, code);
}

void
exec_pad(char *to, size_t len, const char *text)
{
	for (size_t i = 0; i < len; i++)
		to[i] = *text ? *text++ : ' ';
}

static uint8_t
kind_of(const struct queue *q)
{
	if (q->qid != 0)
		return ON_IO;
	return q->ctrl && !q->ctrl->subsys ? ON_DISCOVERY : ON_ADMIN;
}

static const struct exec_row *
look_up(const struct exec_row *row, uint8_t opcode, uint8_t where)
{
	for (; row->run; row++)
		if (row->opcode == opcode && (row->where & where))
			return row;
	return NULL;
}

/* Before Connect nothing but Connect; before the controller is enabled nothing but Fabrics commands. */
static uint16_t
in_sequence(const struct request *req, bool fabrics)
{
	const struct ctrl *c = req->queue->ctrl;

	if (!c)
		return fabrics && req->cmd.fctype == nvme_fabrics_type_connect ? 0 : NVME_SC_CMD_SEQ_ERROR;
	if (!fabrics && !ctrl_ready(c))
		return NVME_SC_CMD_SEQ_ERROR;
	return 0;
}

uint16_t
exec_plan(struct target *t, struct request *req)
{
	bool fabrics = req->cmd.opcode == nvme_admin_fabrics;
	uint8_t where = kind_of(req->queue);
	uint16_t status = in_sequence(req, fabrics);

	if (status != 0)
		return status | NVME_SC_DNR;
	if (!req->cmd.sgl_used || req->cmd.fuse != 0)
		return NVME_SC_INVALID_FIELD | NVME_SC_DNR;
	if (fabrics)
		req->row = look_up(exec_fabrics, req->cmd.fctype, where);
	else
		req->row = look_up(where == ON_IO ? exec_io : exec_admin, req->cmd.opcode, where);
	if (!req->row)
		return NVME_SC_INVALID_OPCODE | NVME_SC_DNR;
	req->dir = req->row->dir;
	status = req->row->plan ? req->row->plan(t, req) : 0;
	if (req->len == 0)
		req->dir = DATA_NONE;
	return status != 0 ? status | NVME_SC_DNR : 0;
}

uint16_t
exec_check_sgl(const struct request *req)
{
	uint32_t behind = req->capsule_len - CAPSULE_COMMAND;
	const struct sgl *s = &req->cmd.sgl;

	if (s->kind == SGL_UNKNOWN)
		return NVME_SC_SGL_INVALID_TYPE;
	if (req->dir == DATA_NONE)
		return 0;
	if (s->kind == SGL_CAPSULE && req->dir == DATA_TO_HOST)
		return NVME_SC_SGL_INVALID_TYPE;
	if (s->kind == SGL_NONE || s->len < req->len)
		return NVME_SC_SGL_INVALID_DATA;
	if (s->kind != SGL_CAPSULE)
		return s->addr + s->len < s->addr ? NVME_SC_SGL_INVALID_DATA : 0;
	if (s->addr > behind || s->len > behind - s->addr)
		return NVME_SC_SGL_INVALID_OFFSET;
	return 0;
}

enum exec_result
exec_run(struct target *t, struct request *req)
{
	return req->row->run(t, req);
}

enum exec_result
exec_resume(struct target *t, struct request *req)
{
	return req->row->resume(t, req);
}
