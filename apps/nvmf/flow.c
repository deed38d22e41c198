/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow.h"

#include <string.h>

#include "flow_post.h"

#define POLL_BATCH 32
#define POLL_ROUNDS 16 /* batches in a turn */

static struct conn *
conn_of(struct request *req)
{
	return (struct conn *)req->queue; /* its first member */
}

bool
flow_start(struct conn *c)
{
	for (uint32_t i = 0; i < c->depth; i++) {
		c->requests[i].queue = &c->q;
		c->requests[i].capsule = c->capsules + (size_t)i * c->capsule_len;
		if (!flow_post_recv(c, &c->requests[i]))
			return false;
	}
	return true;
}

/* ---- The way out ------------------------------------------------------------------------------------------------ */

/* The host may send its next command as soon as it has the response: the receive for it is posted before. */
static void
respond(struct conn *c, struct request *req)
{
	if (c->open && flow_post_recv(c, req))
		flow_post_response(c, req);
}

static void
release(struct conn *c, struct request *req)
{
	if (!req->in_place)
		bufs_give(&c->side->shard.bufs, req->iov, req->iovcnt);
	bufs_give(&c->side->shard.bufs, req->disk, req->diskcnt);
	req->iovcnt = req->diskcnt = 0;
	req->in_place = false;
}

/* ---- The way in ------------------------------------------------------------------------------------------------- */

static void
went(struct conn *c, struct request *req, enum exec_result result)
{
	if (result == EXEC_DISK) {
		c->on_disk++;
		c->side->on_disk++;
		return;
	}
	if (result == EXEC_HELD)
		return;
	for (struct request *held = req->aborted; held; held = held->next)
		respond(c, held);
	respond(c, req);
}

static void
execute(struct conn *c, struct request *req)
{
	went(c, req, exec_run(c->side->target, req));
}

static void
read_data(struct conn *c, struct request *req)
{
	if (c->reads == c->max_reads)
		request_list_add(&c->no_read, req);
	else if (flow_post_read(c, req))
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

/* Data in the capsule need no buffer, unless a disk is particular about memory. The capsule stays as it is until the
 * receive for the next one is posted, just before the response. */
static bool
take_capsule(struct request *req)
{
	if (req->cmd.sgl.kind != SGL_CAPSULE || req->row->twice || (req->ns && !exec_disk(req)->any_memory))
		return false;
	req->iov[0].iov_base = (void *)(uintptr_t)(req->capsule + CAPSULE_COMMAND + req->cmd.sgl.addr);
	req->iov[0].iov_len = req->len;
	req->iovcnt = 1;
	return req->in_place = true;
}

/* All buffers that the command will need, or none. */
static bool
take_bufs(struct bufs *b, struct request *req)
{
	req->iovcnt = bufs_take(b, req->len, req->iov);
	if (req->iovcnt == 0)
		return false;
	if (!req->row->twice)
		return true;
	req->diskcnt = bufs_take(b, req->len, req->disk);
	if (req->diskcnt > 0)
		return true;
	bufs_give(b, req->iov, req->iovcnt);
	req->iovcnt = 0;
	return false;
}

static void
begin(struct conn *c, struct request *req)
{
	struct host_side *side = c->side;
	uint16_t status = exec_plan(side->target, req);

	if (status == 0)
		status = exec_check_sgl(req);
	if (status != 0) {
		exec_fail(req, status);
		respond(c, req);
	} else if (req->dir == DATA_NONE || take_capsule(req)) {
		execute(c, req);
	} else if (!side->no_bufs.first && take_bufs(&side->shard.bufs, req)) {
		fetch(c, req);
	} else {
		request_list_add(&side->no_bufs, req);
	}
}

/* What a new command finds in its request; iov, disk and io are written before they are read. */
static void
renew(struct request *req, uint32_t len)
{
	req->capsule_len = len;
	req->under_way = true;
	req->row = NULL;
	req->ns = NULL;
	req->aborted = NULL;
	req->dir = DATA_NONE;
	req->len = req->step = 0;
	req->result = 0;
	req->status = 0;
	capsule_command_parse(req->capsule, &req->cmd);
}

static void
start(struct conn *c, struct request *req, uint32_t len)
{
	renew(req, len);
	c->q.sq_head = (uint16_t)(c->q.sq_head + 1 < c->q.size ? c->q.sq_head + 1 : 0);
	if (c->q.ctrl)
		ctrl_saw(c->q.ctrl, c->side->shard.now_ns);
	begin(c, req);
}

/* Shorter than a command: there is nothing to answer.  A command may be there before the Send of the response that was
 * in the same request has completed, because Sends complete in order, behind Reads; it waits for that. */
static void
received(struct conn *c, struct request *req, uint32_t len)
{
	if (len < CAPSULE_COMMAND)
		queue_hang_up(&c->q, HANG_UP_AT_ONCE);
	else if (req->under_way)
		req->early = len;
	else
		start(c, req, len);
}

/* The response has left: the request is free, its buffers too. */
static void
responded(struct conn *c, struct request *req)
{
	uint32_t early = req->early;

	req->under_way = false;
	req->early = 0;
	if (early != 0)
		start(c, req, early);
}

/* Has it ended? */
static void
note(struct conn *c)
{
	if (!c->open)
		shard_mind(&c->side->shard);
}

static void
read_done(struct conn *c, struct request *req)
{
	struct request *waiting;

	c->reads--;
	waiting = request_list_take(&c->no_read);
	if (waiting)
		read_data(c, waiting);
	execute(c, req);
}

void
conn_resume(struct host_side *side, struct request *req)
{
	struct conn *c = conn_of(req);

	c->on_disk--;
	side->on_disk--;
	if (c->open)
		went(c, req, exec_resume(side->target, req));
	note(c);
}

void
flow_retry(struct host_side *side)
{
	while (side->no_bufs.first && take_bufs(&side->shard.bufs, side->no_bufs.first)) {
		struct request *req = request_list_take(&side->no_bufs);

		fetch(conn_of(req), req);
	}
}

/* ---- Completions ------------------------------------------------------------------------------------------------ */

static void
host_did(struct conn *c)
{
	c->owed--;
	c->owed_ns = c->side->shard.now_ns;
}

static void
completed(struct conn *c, struct request *req, unsigned kind, const struct iw_wc *wc)
{
	if (kind == WR_WRITE)
		return; /* failed: the Send behind it is flushed */
	c->posted--;
	if (kind != WR_RECV)
		host_did(c);
	if (kind == WR_SEND)
		release(c, req);
	if (wc->status != IW_WC_SUCCESS || !c->open || queue_hung_up(&c->q) == HANG_UP_AT_ONCE)
		return;
	if (kind == WR_RECV)
		received(c, req, wc->byte_len);
	else if (kind == WR_READ)
		read_done(c, req);
	else
		responded(c, req);
}

static void
take(const struct iw_wc *wc)
{
	struct request *req = (struct request *)(uintptr_t)(wc->wr_id & ~(uint64_t)FLOW_POST_KIND);
	struct conn *c = conn_of(req);

	completed(c, req, wc->wr_id & FLOW_POST_KIND, wc);
	note(c);
}

int
flow_poll(struct host_side *side)
{
	struct iw_wc wc[POLL_BATCH];
	int work = 0, n = POLL_BATCH;

	for (int round = 0; n == POLL_BATCH && round < POLL_ROUNDS; round++) {
		n = iw_cq_poll(side->cq, wc, POLL_BATCH);
		for (int i = 0; i < n; i++)
			take(&wc[i]);
		work += n;
	}
	return work;
}

void
flow_stop(struct conn *c)
{
	struct request_list all = c->side->no_bufs;
	struct request *req;

	request_list_init(&c->no_read);
	if (!all.first)
		return;
	request_list_init(&c->side->no_bufs);
	for (req = all.first; req;) {
		struct request *next = req->next;

		if (conn_of(req) != c)
			request_list_add(&c->side->no_bufs, req);
		req = next;
	}
}

void
flow_release(struct conn *c)
{
	for (uint32_t i = 0; i < c->depth; i++)
		release(c, &c->requests[i]);
}
