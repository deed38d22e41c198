/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn.h"

#include <nvme/types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define POLL_BATCH 32
#define MAX_READS \
	16 /* outstanding at once; more wait here, not in the send queue, where they would hold up responses */

/* The status of a reject (RDMA binding of NVMe over Fabrics). */
enum { REJECT_LENGTH = 1, REJECT_RECFMT, REJECT_QID, REJECT_HSQSIZE, REJECT_HRQSIZE, REJECT_RESOURCES };

/* Work request ids: the request and what was posted for it. */
enum { WR_RECV, WR_READ, WR_WRITE, WR_SEND };
#define WR_KINDS 4

struct list {
	struct request *first, **end;
};

struct conn {
	struct queue q;
	struct host_side *side;
	struct conn *next, **back;
	iw_cm_id id;
	struct iw_qp *qp;
	struct iw_cq *cq;
	struct iw_mr *mr;
	uint8_t *capsules;
	size_t capsules_len;
	uint32_t capsule_len, depth;
	struct request *requests;
	struct list no_bufs, no_read; /* requests that wait */
	uint32_t reads;               /* RDMA Reads under way */
	uint32_t posted;              /* work requests whose completion is still to come */
	uint32_t on_disk;             /* requests that a disk has */
	bool open;                    /* CLOSE has not come */
	bool hung_up;                 /* disconnect was called */
};

static void
list_init(struct list *l)
{
	l->first = NULL;
	l->end = &l->first;
}

static void
list_add(struct list *l, struct request *req)
{
	req->next = NULL;
	*l->end = req;
	l->end = &req->next;
}

static struct request *
list_take(struct list *l)
{
	struct request *req = l->first;

	if (req) {
		l->first = req->next;
		if (!l->first)
			l->end = &l->first;
	}
	return req;
}

static uint64_t
wr_id(const struct conn *c, const struct request *req, unsigned kind)
{
	return (uint64_t)(req - c->requests) * WR_KINDS + kind;
}

static struct conn *
conn_of(struct request *req)
{
	return (struct conn *)req->queue; /* its first member */
}

/* A post fails only when the QP has left RTS; CLOSE is on its way then, and ends the request. */
static bool
post(struct conn *c, const struct iw_send_wr *wr)
{
	if (iw_post_send(c->qp, wr, NULL) != 0)
		return false;
	c->posted++;
	return true;
}

static bool
post_recv(struct conn *c, struct request *req)
{
	struct iw_sge sge = {(uintptr_t)req->capsule, c->capsule_len, iw_mr_lkey(c->mr)};
	struct iw_recv_wr wr = {.wr_id = wr_id(c, req, WR_RECV), .sg_list = &sge, .num_sge = 1};

	if (iw_post_recv(c->qp, &wr, NULL) != 0)
		return false;
	c->posted++;
	return true;
}

/* ---- The way out ------------------------------------------------------------------------------------------------ */

static int
sges(const struct conn *c, const struct request *req, struct iw_sge *sge)
{
	for (int i = 0; i < req->iovcnt; i++) {
		sge[i].addr = (uintptr_t)req->iov[i].iov_base;
		sge[i].length = (uint32_t)req->iov[i].iov_len;
		sge[i].lkey = iw_mr_lkey(c->side->bufs_mr);
	}
	return req->iovcnt;
}

static void
write_data(struct conn *c, struct request *req)
{
	struct iw_sge sge[BUFS_MAX];
	struct iw_send_wr wr = {.wr_id = wr_id(c, req, WR_WRITE),
				.sg_list = sge,
				.num_sge = sges(c, req, sge),
				.opcode = IW_WR_RDMA_WRITE,
				.remote_addr = req->cmd.sgl.addr,
				.rkey = req->cmd.sgl.key};

	iw_post_send(c->qp, &wr, NULL); /* unsignalled: the Send behind it completes for both */
}

static void
send_response(struct conn *c, struct request *req)
{
	struct nvme_response r = {.result = req->result,
				  .sq_head = c->q.no_flow_ctl ? 0xffff : c->q.sq_head,
				  .sq_id = c->q.qid,
				  .cid = req->cmd.cid,
				  .status = req->status};
	bool invalidate = req->cmd.sgl.kind == SGL_KEYED_INV;
	uint8_t raw[CAPSULE_RESPONSE];
	struct iw_sge sge = {(uintptr_t)raw, sizeof(raw), 0};
	struct iw_send_wr wr = {.wr_id = wr_id(c, req, WR_SEND),
				.sg_list = &sge,
				.num_sge = 1,
				.opcode = invalidate ? IW_WR_SEND_INV : IW_WR_SEND,
				.flags = IW_SEND_SIGNALED | IW_SEND_INLINE,
				.invalidate_rkey = invalidate ? req->cmd.sgl.key : 0};

	capsule_response_emit(&r, raw);
	post(c, &wr);
}

/* The host may send its next command as soon as it has the response: the receive for it is posted before. */
static void
respond(struct conn *c, struct request *req)
{
	if (!c->open)
		return;
	if (req->dir == DATA_TO_HOST && req->status == 0)
		write_data(c, req);
	if (post_recv(c, req))
		send_response(c, req);
}

static void
release(struct conn *c, struct request *req)
{
	bufs_give(&c->side->target->bufs, req->iov, req->iovcnt);
	bufs_give(&c->side->target->bufs, req->disk, req->diskcnt);
	req->iovcnt = req->diskcnt = 0;
}

/* ---- The way in ------------------------------------------------------------------------------------------------- */

static void
went(struct conn *c, struct request *req, enum exec_result result)
{
	if (result == EXEC_DONE)
		respond(c, req);
	else if (result == EXEC_DISK)
		c->on_disk++;
}

static void
execute(struct conn *c, struct request *req)
{
	went(c, req, exec_run(c->side->target, req));
}

static void
fail(struct conn *c, struct request *req, uint16_t status)
{
	exec_fail(req, status);
	respond(c, req);
}

static void
read_data(struct conn *c, struct request *req)
{
	struct iw_sge sge[BUFS_MAX];
	struct iw_send_wr wr = {.wr_id = wr_id(c, req, WR_READ),
				.sg_list = sge,
				.num_sge = sges(c, req, sge),
				.opcode = IW_WR_RDMA_READ,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = req->cmd.sgl.addr,
				.rkey = req->cmd.sgl.key};

	if (c->reads == MAX_READS)
		list_add(&c->no_read, req);
	else if (post(c, &wr))
		c->reads++;
}

static void
copy_data(struct request *req)
{
	const uint8_t *at = req->capsule + CAPSULE_COMMAND + req->cmd.sgl.addr;

	for (int i = 0; i < req->iovcnt; i++) {
		memcpy(req->iov[i].iov_base, at, req->iov[i].iov_len);
		at += req->iov[i].iov_len;
	}
}

/* The buffers are there: the data may come. */
static void
fetch(struct conn *c, struct request *req)
{
	if (req->dir == DATA_FROM_HOST && req->cmd.sgl.kind != SGL_CAPSULE) {
		read_data(c, req);
		return;
	}
	if (req->dir == DATA_FROM_HOST)
		copy_data(req);
	execute(c, req);
}

/* 0, or why the data of this command cannot be where its SGL says. */
static uint16_t
check_sgl(const struct request *req)
{
	uint32_t behind = req->capsule_len - CAPSULE_COMMAND;
	const struct sgl *s = &req->cmd.sgl;

	if (s->kind == SGL_UNKNOWN)
		return NVME_SC_SGL_INVALID_TYPE;
	if (req->dir == DATA_NONE)
		return 0;
	if (s->kind == SGL_CAPSULE && req->dir == DATA_TO_HOST)
		return NVME_SC_SGL_INVALID_TYPE;
	if (s->kind == SGL_NONE || s->len != req->len)
		return NVME_SC_SGL_INVALID_DATA;
	if (s->kind != SGL_CAPSULE)
		return s->addr + s->len < s->addr ? NVME_SC_SGL_INVALID_DATA : 0;
	if (s->addr > behind || s->len > behind - s->addr)
		return NVME_SC_SGL_INVALID_OFFSET;
	return 0;
}

static void
begin(struct conn *c, struct request *req)
{
	uint16_t status = exec_plan(c->side->target, req);

	if (status == 0)
		status = check_sgl(req);
	if (status != 0) {
		fail(c, req, status);
		return;
	}
	if (req->dir == DATA_NONE) {
		execute(c, req);
		return;
	}
	req->iovcnt = bufs_take(&c->side->target->bufs, req->len, req->iov);
	if (req->iovcnt == 0)
		list_add(&c->no_bufs, req);
	else
		fetch(c, req);
}

static void
received(struct conn *c, struct request *req, uint32_t len)
{
	const uint8_t *capsule = req->capsule;

	if (len < CAPSULE_COMMAND) { /* not a capsule: there is no command to answer */
		c->q.hang_up = HANG_UP;
		return;
	}
	*req = (struct request){.queue = &c->q, .capsule = capsule, .capsule_len = len};
	capsule_command_parse(capsule, &req->cmd);
	c->q.sq_head = (uint16_t)((c->q.sq_head + 1) % c->q.size);
	if (c->q.ctrl)
		c->q.ctrl->last_seen = c->side->target->now_ns;
	begin(c, req);
}

static void
read_done(struct conn *c, struct request *req)
{
	struct request *waiting;

	c->reads--;
	waiting = list_take(&c->no_read);
	if (waiting)
		read_data(c, waiting);
	execute(c, req);
}

void
conn_resume(struct host_side *side, struct request *req)
{
	struct conn *c = conn_of(req);

	c->on_disk--;
	if (c->open)
		went(c, req, exec_resume(side->target, req));
}

/* ---- Completions ------------------------------------------------------------------------------------------------ */

static void
completed(struct conn *c, const struct iw_wc *wc)
{
	struct request *req = &c->requests[wc->wr_id / WR_KINDS];
	unsigned kind = wc->wr_id % WR_KINDS;

	if (kind == WR_WRITE)
		return; /* failed: the Send behind it is flushed */
	c->posted--;
	if (kind == WR_SEND)
		release(c, req);
	if (wc->status != IW_WC_SUCCESS || !c->open)
		return;
	if (kind == WR_RECV)
		received(c, req, wc->byte_len);
	else if (kind == WR_READ)
		read_done(c, req);
}

static int
poll_cq(struct conn *c)
{
	struct iw_wc wc[POLL_BATCH];
	int n = iw_cq_poll(c->cq, wc, POLL_BATCH);

	for (int i = 0; i < n; i++)
		completed(c, &wc[i]);
	return n;
}

static void
retry_bufs(struct conn *c)
{
	while (c->no_bufs.first) {
		struct request *req = c->no_bufs.first;

		req->iovcnt = bufs_take(&c->side->target->bufs, req->len, req->iov);
		if (req->iovcnt == 0)
			return;
		fetch(c, list_take(&c->no_bufs));
	}
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void
unlink_conn(struct conn *c)
{
	*c->back = c->next;
	if (c->next)
		c->next->back = c->back;
	c->side->num_conns--;
}

static void
conn_free(struct conn *c)
{
	if (c->qp)
		iw_qp_destroy(c->qp);
	if (c->cq)
		iw_cq_destroy(c->cq);
	if (c->mr)
		iw_mr_dereg(c->mr);
	if (c->capsules)
		munmap(c->capsules, c->capsules_len);
	free(c->requests);
	free(c);
}

/* Buffers of requests that will never be answered. */
static void
release_all(struct conn *c)
{
	for (uint32_t i = 0; i < c->depth; i++)
		release(c, &c->requests[i]);
}

static bool
conn_ended(const struct conn *c)
{
	return !c->open && c->posted == 0 && c->on_disk == 0;
}

static void
conn_end(struct conn *c)
{
	release_all(c);
	unlink_conn(c);
	conn_free(c);
}

static void
hang_up(struct conn *c)
{
	c->hung_up = true;
	iw_cm_disconnect(c->side->engine, c->id, c->q.hang_up == HANG_UP_AT_ONCE);
}

int
conn_poll_all(struct host_side *side)
{
	struct conn *next;
	int work = 0;

	for (struct conn *c = side->conns; c; c = next) {
		next = c->next;
		work += poll_cq(c);
		retry_bufs(c);
		if (c->open && c->q.hang_up && !c->hung_up)
			hang_up(c);
		if (conn_ended(c))
			conn_end(c);
	}
	return work;
}

static void
closed(struct conn *c)
{
	c->open = false;
	list_init(&c->no_bufs);
	list_init(&c->no_read);
	ctrl_detach(&c->side->target->ctrls, &c->q);
}

static bool
map_capsules(struct conn *c)
{
	c->capsule_len = CAPSULE_COMMAND + (c->q.qid == 0 ? EXEC_CAPSULE_ADMIN : EXEC_CAPSULE_DATA);
	c->capsules_len = (size_t)c->capsule_len * c->depth;
	c->capsules = mmap(NULL, c->capsules_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->capsules == MAP_FAILED)
		c->capsules = NULL;
	return c->capsules != NULL;
}

static bool
open_objects(struct conn *c)
{
	struct iw_qp_attr attr = {.sq_depth = 4 * c->depth, .rq_depth = c->depth, .max_ord = MAX_READS, .context = c};

	c->requests = calloc(c->depth, sizeof(*c->requests));
	if (!c->requests || !map_capsules(c))
		return false;
	c->mr = iw_mr_reg(c->side->pd, c->capsules, c->capsules_len, IW_LOCAL_WRITE, NULL);
	c->cq = attr.send_cq = attr.recv_cq = iw_cq_create(c->side->engine, 8 * c->depth, NULL, NULL);
	if (!c->mr || !c->cq)
		return false;
	c->qp = iw_qp_create(c->side->engine, c->side->pd, &attr, NULL);
	if (!c->qp)
		return false;
	for (uint32_t i = 0; i < c->depth; i++) {
		c->requests[i].queue = &c->q;
		c->requests[i].capsule = c->capsules + (size_t)i * c->capsule_len;
		if (!post_recv(c, &c->requests[i]))
			return false;
	}
	return true;
}

static struct conn *
conn_new(struct host_side *side, const struct private_request *r)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->side = side;
	c->q.qid = r->qid;
	c->q.size = (uint16_t)(r->hsqsize + 1);
	c->depth = c->q.size;
	list_init(&c->no_bufs);
	list_init(&c->no_read);
	if (open_objects(c))
		return c;
	conn_free(c);
	return NULL;
}

static int
check_private(const struct iw_cm_event *event, struct private_request *r)
{
	if (event->private_len < CAPSULE_PRIVATE)
		return REJECT_LENGTH;
	capsule_private_parse(event->private_data, r);
	if (r->recfmt != 0)
		return REJECT_RECFMT;
	if (r->qid > CTRL_IO_QUEUES)
		return REJECT_QID;
	if (r->hsqsize == 0 || r->hsqsize >= CTRL_QUEUE_SIZE)
		return REJECT_HSQSIZE;
	return r->hrqsize == 0 ? REJECT_HRQSIZE : 0;
}

static int
reject(struct host_side *side, iw_cm_id id, int why)
{
	uint8_t raw[CAPSULE_PRIVATE_REJECT];

	capsule_private_reject_emit((uint16_t)why, raw);
	iw_cm_reject(side->engine, id, raw, sizeof(raw));
	iw_cm_destroy(side->engine, id);
	return 0;
}

static int
accept_conn(struct conn *c, iw_cm_id id)
{
	uint8_t raw[CAPSULE_PRIVATE];
	struct iw_cm_attr attr = {.private_data = raw, .private_len = sizeof(raw)};

	capsule_private_accept_emit((uint16_t)c->depth, raw);
	c->id = id;
	iw_cm_set_context(c->side->engine, id, c);
	if (iw_cm_accept(c->side->engine, id, c->qp, &attr) != 0) {
		conn_free(c);
		return 1; /* destroys the id */
	}
	c->open = true;
	c->back = &c->side->conns;
	c->next = c->side->conns;
	if (c->next)
		c->next->back = &c->next;
	c->side->conns = c;
	c->side->num_conns++;
	return 0;
}

static int
requested(struct host_side *side, iw_cm_id id, const struct iw_cm_event *event)
{
	struct private_request r;
	int why = check_private(event, &r);
	struct conn *c;

	if (why != 0)
		return reject(side, id, why);
	c = conn_new(side, &r);
	return c ? accept_conn(c, id) : reject(side, id, REJECT_RESOURCES);
}

int
conn_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct conn *c = context;

	if (event->type == IW_CM_CONNECT_REQUEST)
		return requested(context, id, event); /* the listener's context */
	if (event->type == IW_CM_DISCONNECT && !c->hung_up)
		hang_up(c);
	if (event->type == IW_CM_CLOSE || (event->type == IW_CM_ESTABLISHED_EV && event->status != 0)) {
		closed(c);
		iw_cm_destroy(c->side->engine, id);
	}
	return 0;
}

void
conn_close_all(struct host_side *side, bool at_once)
{
	for (struct conn *c = side->conns; c; c = c->next) {
		if (!c->open || (c->hung_up && !at_once))
			continue;
		c->q.hang_up = at_once ? HANG_UP_AT_ONCE : HANG_UP;
		hang_up(c);
	}
}

bool
conn_idle(const struct host_side *side)
{
	return side->num_conns == 0;
}
