/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabrics commands (NVMe over Fabrics 1.1 §3). */
#include <nvme/types.h>
#include <string.h>

#include "exec.h"

#define CNTLID_DYNAMIC 0xffff
#define CATTR_NO_FLOW_CTL 0x04      /* disable SQ flow control */
#define IN_DATA (UINT64_C(1) << 16) /* "invalid parameter" points into the data, not the command */

/* Where the fields of Connect stand in the command, as "invalid parameter offset" counts them. */
enum { AT_RECFMT = 40, AT_QID = 42, AT_SQSIZE = 44 };

static uint16_t
plan_connect(struct target *t, struct request *req)
{
	(void)t;
	req->len = CAPSULE_CONNECT_DATA;
	return req->queue->ctrl ? NVME_SC_CMD_SEQ_ERROR : 0;
}

static enum exec_result
invalid_param(struct request *req, uint64_t where)
{
	req->result = where;
	return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_CONNECT_INVALID_PARAM);
}

static enum exec_result
connected(struct request *req)
{
	struct queue *q = req->queue;

	q->size = (uint16_t)((req->cmd.cdw11 & 0xffff) + 1);
	q->sq_head %= q->size;
	q->no_flow_ctl = (req->cmd.cdw11 >> 16 & CATTR_NO_FLOW_CTL) != 0;
	req->result = q->ctrl->cntlid;
	return exec_ok(req);
}

static enum exec_result
connect_admin(struct target *t, struct request *req, struct subsys *s, const struct connect_data *d)
{
	if (d->cntlid != CNTLID_DYNAMIC)
		return invalid_param(req, IN_DATA | CAPSULE_CONNECT_CNTLID_AT);
	if (!ctrl_new(&t->ctrls, s, d, req->cmd.cdw12, req->queue))
		return exec_fail_retry(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_CONNECT_CTRL_BUSY);
	return connected(req);
}

static enum exec_result
connect_io(struct target *t, struct request *req, const struct subsys *s, const struct connect_data *d)
{
	switch (ctrl_join(&t->ctrls, s, d, req->queue)) {
	case CTRL_JOINED:
		return connected(req);
	case CTRL_NOT_YOURS:
		return invalid_param(req, IN_DATA | CAPSULE_CONNECT_CNTLID_AT);
	case CTRL_NO_QUEUE:
		return invalid_param(req, AT_QID);
	case CTRL_NOT_NOW:
		break;
	}
	return exec_fail(req, NVME_SC_CMD_SEQ_ERROR);
}

static struct subsys *
find_subsys(struct target *t, const char *nqn)
{
	for (int i = 0; i < t->num_subsys; i++)
		if (strcmp(t->subsys[i].nqn, nqn) == 0)
			return &t->subsys[i];
	return NULL;
}

static enum exec_result
run_connect(struct target *t, struct request *req)
{
	uint8_t raw[CAPSULE_CONNECT_DATA];
	struct connect_data d;
	struct subsys *s;
	uint32_t unended;

	request_read(req, 0, raw, sizeof(raw));
	if ((req->cmd.cdw10 & 0xffff) != 0)
		return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_CONNECT_FORMAT);
	if (req->cmd.cdw10 >> 16 != req->queue->qid)
		return invalid_param(req, AT_QID);
	if ((req->cmd.cdw11 & 0xffff) == 0 || (req->cmd.cdw11 & 0xffff) >= req->queue->size)
		return invalid_param(req, AT_SQSIZE);
	unended = capsule_connect_parse(raw, &d);
	if (unended != 0)
		return invalid_param(req, IN_DATA | unended);
	s = find_subsys(t, d.subnqn);
	if (!s && strcmp(d.subnqn, SUBSYS_DISCOVERY) != 0)
		return invalid_param(req, IN_DATA | CAPSULE_CONNECT_SUBNQN_AT);
	if (!subsys_nqn_valid(d.hostnqn))
		return invalid_param(req, IN_DATA | CAPSULE_CONNECT_HOSTNQN_AT);
	if (s && !subsys_allows(s, d.hostnqn))
		return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_CONNECT_INVALID_HOST);
	return req->queue->qid == 0 ? connect_admin(t, req, s, &d) : connect_io(t, req, s, &d);
}

static int
prop_size(const struct nvme_command *c)
{
	switch (c->cdw10 & 7) {
	case 0:
		return 4;
	case 1:
		return 8;
	default:
		return 0;
	}
}

static enum exec_result
run_prop_get(struct target *t, struct request *req)
{
	if (!ctrl_prop_get(&t->ctrls, req->queue->ctrl, req->cmd.cdw11, prop_size(&req->cmd), &req->result))
		return exec_fail(req, NVME_SC_INVALID_FIELD);
	return exec_ok(req);
}

/* Before a shutdown is complete what the disks have cached is on stable storage (base 1.4 §7.6.2). */
static enum exec_result
flush_next(struct target *t, struct request *req)
{
	struct subsys *s = req->queue->ctrl->subsys;

	while (s && req->step < s->num_ns) {
		req->ns = &s->ns[req->step++];
		if (exec_disk(req)->volatile_cache)
			return exec_start(t, req, BDEV_FLUSH, 0, 0);
	}
	ctrl_shut_down(req->queue->ctrl);
	return exec_ok(req);
}

/* The host has reset the controller: what was held is answered before the host is told that it is done. */
static void
reset(struct target *t, struct request *req)
{
	req->aborted = ctrl_reset(&t->ctrls, req->queue->ctrl);
	for (struct request *aer = req->aborted; aer; aer = aer->next)
		exec_fail_retry(aer, NVME_SC_ABORT_REQ);
}

static enum exec_result
run_prop_set(struct target *t, struct request *req)
{
	uint64_t value = (uint64_t)req->cmd.cdw13 << 32 | req->cmd.cdw12;
	struct ctrl *c = req->queue->ctrl;
	bool enabled = ctrl_enabled(c);

	if (!ctrl_prop_set(c, req->cmd.cdw11, prop_size(&req->cmd), value))
		return exec_fail(req, NVME_SC_INVALID_FIELD);
	if (enabled && !ctrl_enabled(c))
		reset(t, req);
	return ctrl_shutting_down(c) ? flush_next(t, req) : exec_ok(req);
}

/* A disk that cannot flush is no reason to keep the host: it is told, and the shutdown is not complete. */
static enum exec_result
resume_prop_set(struct target *t, struct request *req)
{
	return req->io.result == 0 ? flush_next(t, req) : exec_disk_done(req);
}

static enum exec_result
run_disconnect(struct target *t, struct request *req)
{
	(void)t;
	if ((req->cmd.cdw10 & 0xffff) != 0)
		return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_CONNECT_FORMAT);
	if (req->queue->qid == 0)
		return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_DISCONNECT_INVALID_QTYPE);
	queue_hang_up(req->queue, HANG_UP);
	return exec_ok(req);
}

const struct exec_row exec_fabrics[] = {
	{nvme_fabrics_type_connect, ON_IO | ON_ANY_ADMIN, DATA_FROM_HOST, plan_connect, run_connect, NULL},
	{nvme_fabrics_type_property_get, ON_ANY_ADMIN, DATA_NONE, NULL, run_prop_get, NULL},
	{nvme_fabrics_type_property_set, ON_ANY_ADMIN, DATA_NONE, NULL, run_prop_set, resume_prop_set},
	{nvme_fabrics_type_disconnect, ON_IO | ON_ANY_ADMIN, DATA_NONE, NULL, run_disconnect, NULL},
	{0, 0, DATA_NONE, NULL, NULL, NULL},
};
