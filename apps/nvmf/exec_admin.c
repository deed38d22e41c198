/* SPDX-License-Identifier: BSD-3-Clause */
/* Admin commands but the two large ones: features, keep-alive, asynchronous events, abort. */
#include <nvme/types.h>
#include <string.h>

#include "exec.h"

#define SEL(cdw10) ((cdw10) >> 8 & 7)
enum { SEL_CURRENT, SEL_DEFAULT, SEL_SAVED, SEL_CAPABILITIES };
#define CHANGEABLE 4u /* of "supported capabilities" */
#define HOSTID_128 16

static uint16_t
set_num_queues(struct target *t, struct request *req)
{
	uint32_t sq = req->cmd.cdw11 & 0xffff, cq = req->cmd.cdw11 >> 16, granted = sq < cq ? sq : cq;

	if (sq == 0xffff || cq == 0xffff)
		return NVME_SC_INVALID_FIELD;
	if (granted > CTRL_IO_QUEUES - 1)
		granted = CTRL_IO_QUEUES - 1;
	if (!ctrl_grant(&t->ctrls, req->queue->ctrl, (uint16_t)(granted + 1)))
		return NVME_SC_CMD_SEQ_ERROR; /* I/O queues are there already */
	req->result = granted << 16 | granted;
	return 0;
}

static uint16_t
set_kato(struct target *t, struct request *req)
{
	(void)t;
	ctrl_set_kato(req->queue->ctrl, req->cmd.cdw11);
	return 0;
}

static uint16_t
set_aen_config(struct target *t, struct request *req)
{
	(void)t;
	req->queue->ctrl->aen_config = req->cmd.cdw11;
	return 0;
}

static uint16_t
set_write_cache(struct target *t, struct request *req)
{
	(void)t;
	__atomic_store_n(&req->queue->ctrl->write_through, (req->cmd.cdw11 & 1) == 0, __ATOMIC_RELAXED);
	return 0;
}

static uint32_t
get_num_queues(const struct ctrl *c)
{
	uint32_t n = c->num_io_queues - 1u;

	return n << 16 | n;
}

static uint32_t
get_kato(const struct ctrl *c)
{
	return (uint32_t)(c->kato_ns / 1000000);
}

static uint32_t
get_aen_config(const struct ctrl *c)
{
	return c->aen_config;
}

static uint32_t
get_write_cache(const struct ctrl *c)
{
	return !c->write_through;
}

static uint32_t
get_zero(const struct ctrl *c)
{
	(void)c;
	return 0;
}

/* A feature without set is there to be read. */
static const struct feature {
	uint8_t id;
	uint8_t where;
	uint32_t (*get)(const struct ctrl *c);
	uint16_t (*set)(struct target *t, struct request *req);
	uint32_t preset;
} features[] = {
	{NVME_FEAT_FID_ARBITRATION, ON_ADMIN, get_zero, NULL, 0},
	{NVME_FEAT_FID_POWER_MGMT, ON_ADMIN, get_zero, NULL, 0},
	{NVME_FEAT_FID_TEMP_THRESH, ON_ADMIN, get_zero, NULL, 0},
	{NVME_FEAT_FID_ERR_RECOVERY, ON_ADMIN, get_zero, NULL, 0},
	{NVME_FEAT_FID_VOLATILE_WC, ON_ADMIN, get_write_cache, set_write_cache, 1},
	{NVME_FEAT_FID_NUM_QUEUES, ON_ADMIN, get_num_queues, set_num_queues,
	 (CTRL_IO_QUEUES - 1) << 16 | (CTRL_IO_QUEUES - 1)},
	{NVME_FEAT_FID_WRITE_ATOMIC, ON_ADMIN, get_zero, NULL, 0},
	{NVME_FEAT_FID_ASYNC_EVENT, ON_ANY_ADMIN, get_aen_config, set_aen_config, 0},
	{NVME_FEAT_FID_KATO, ON_ANY_ADMIN, get_kato, set_kato, 0},
};

static const struct feature *
find_feature(const struct request *req)
{
	uint8_t where = req->queue->ctrl->subsys ? ON_ADMIN : ON_DISCOVERY;

	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (features[i].id == (req->cmd.cdw10 & 0xff) && (features[i].where & where))
			return &features[i];
	return NULL;
}

static bool
is_hostid(const struct request *req)
{
	return (req->cmd.cdw10 & 0xff) == NVME_FEAT_FID_HOST_ID;
}

static enum exec_result
run_set_features(struct target *t, struct request *req)
{
	const struct feature *f = find_feature(req);
	uint16_t status;

	if (req->cmd.cdw10 >> 31 != 0)
		return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_FEATURE_NOT_SAVEABLE);
	if (is_hostid(req))
		return exec_fail(req, NVME_SC_CMD_SEQ_ERROR); /* Connect has set it (NVMe-oF 1.1 §5.1) */
	if (!f)
		return exec_fail(req, NVME_SC_INVALID_FIELD);
	if (!f->set)
		return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_FEATURE_NOT_CHANGEABLE);
	status = f->set(t, req);
	return status != 0 ? exec_fail(req, status) : exec_ok(req);
}

static uint16_t
plan_get_features(struct target *t, struct request *req)
{
	(void)t;
	if (is_hostid(req) && SEL(req->cmd.cdw10) == SEL_CURRENT) {
		req->len = HOSTID_128;
		return req->cmd.cdw11 & 1 ? 0 : NVME_SC_INVALID_FIELD; /* only the extended form */
	}
	return 0;
}

static enum exec_result
run_get_features(struct target *t, struct request *req)
{
	const struct ctrl *c = req->queue->ctrl;
	const struct feature *f = find_feature(req);

	(void)t;
	if (req->len > 0) {
		request_fill(req, c->hostid, sizeof(c->hostid), 0);
		return exec_ok(req);
	}
	if (!f || SEL(req->cmd.cdw10) > SEL_CAPABILITIES)
		return exec_fail(req, NVME_SC_INVALID_FIELD);
	if (SEL(req->cmd.cdw10) == SEL_CURRENT)
		req->result = f->get(c);
	else if (SEL(req->cmd.cdw10) == SEL_CAPABILITIES)
		req->result = f->set ? CHANGEABLE : 0;
	else
		req->result = f->preset;
	return exec_ok(req);
}

static enum exec_result
run_keep_alive(struct target *t, struct request *req)
{
	(void)t; /* that it has come is known already, as of any command */
	return exec_ok(req);
}

static enum exec_result
run_async_event(struct target *t, struct request *req)
{
	struct ctrl *c = req->queue->ctrl;

	(void)t;
	if (c->num_aers == CTRL_AERS)
		return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_ASYNC_LIMIT);
	c->aer[c->num_aers++] = req;
	return EXEC_HELD;
}

/* Takes the held event request with that command identifier out; NULL: there is none. */
static struct request *
take_aer(struct ctrl *c, uint16_t cid)
{
	for (int i = 0; i < c->num_aers; i++) {
		struct request *aer = c->aer[i];

		if (aer->cmd.cid != cid)
			continue;
		c->aer[i] = c->aer[--c->num_aers];
		aer->next = NULL;
		return aer;
	}
	return NULL;
}

/* Only an Asynchronous Event Request waits; other commands end by themselves soon, and Abort says "not aborted" (bit 0
 * of the result) for any of them. */
static enum exec_result
run_abort(struct target *t, struct request *req)
{
	uint16_t sqid = req->cmd.cdw10 & 0xffff, cid = (uint16_t)(req->cmd.cdw10 >> 16);

	(void)t;
	req->aborted = sqid == 0 ? take_aer(req->queue->ctrl, cid) : NULL;
	if (req->aborted)
		exec_fail_retry(req->aborted, NVME_SC_ABORT_REQ);
	req->result = req->aborted ? 0 : 1;
	return exec_ok(req);
}

const struct exec_row exec_admin[] = {
	{nvme_admin_identify, ON_ANY_ADMIN, DATA_TO_HOST, identify_plan, identify_run, NULL},
	{nvme_admin_get_log_page, ON_ANY_ADMIN, DATA_TO_HOST, log_page_plan, log_page_run, NULL},
	{nvme_admin_set_features, ON_ANY_ADMIN, DATA_NONE, NULL, run_set_features, NULL},
	{nvme_admin_get_features, ON_ANY_ADMIN, DATA_TO_HOST, plan_get_features, run_get_features, NULL},
	{nvme_admin_keep_alive, ON_ANY_ADMIN, DATA_NONE, NULL, run_keep_alive, NULL},
	{nvme_admin_async_event, ON_ANY_ADMIN, DATA_NONE, NULL, run_async_event, NULL},
	{nvme_admin_abort_cmd, ON_ADMIN, DATA_NONE, NULL, run_abort, NULL},
	{0, 0, DATA_NONE, NULL, NULL, NULL},
};
