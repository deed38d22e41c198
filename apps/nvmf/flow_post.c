/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_post.h"

_Static_assert(_Alignof(struct request) > FLOW_POST_KIND, "the kind of a work request stands in its address");

static uint64_t
wr_id(const struct request *req, unsigned kind)
{
	return (uintptr_t)req | kind;
}

static bool
posted(struct conn *c, int err)
{
	if (err == 0) {
		c->posted++;
		return true;
	}
	queue_hang_up(&c->q, HANG_UP_AT_ONCE);
	return false;
}

/* What only the host can bring to an end. */
static bool
post_send(struct conn *c, const struct iw_send_wr *wr)
{
	if (!posted(c, iw_post_send(c->qp, wr, NULL)))
		return false;
	if (c->owed++ == 0)
		c->owed_ns = c->side->shard.now_ns;
	return true;
}

bool
flow_post_recv(struct conn *c, struct request *req)
{
	struct iw_sge sge = {(uintptr_t)req->capsule, c->capsule_len, iw_mr_lkey(c->mr)};
	struct iw_recv_wr wr = {.wr_id = wr_id(req, WR_RECV), .sg_list = &sge, .num_sge = 1};

	return posted(c, iw_post_recv(c->qp, &wr, NULL));
}

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

bool
flow_post_read(struct conn *c, struct request *req)
{
	struct iw_sge sge[BUFS_MAX];
	struct iw_send_wr wr = {.wr_id = wr_id(req, WR_READ),
				.sg_list = sge,
				.num_sge = sges(c, req, sge),
				.opcode = IW_WR_RDMA_READ,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = req->cmd.sgl.addr,
				.rkey = req->cmd.sgl.key};

	return post_send(c, &wr);
}

static void
emit_response(const struct conn *c, const struct request *req, uint8_t *raw)
{
	struct nvme_response r = {.result = req->result,
				  .sq_head = c->q.no_flow_ctl ? 0xffff : c->q.sq_head,
				  .sq_id = c->q.qid,
				  .cid = req->cmd.cid,
				  .status = req->status};

	capsule_response_emit(&r, raw);
}

/* Data and response in one chain; the Write is unsignalled: the Send behind it completes for both. */
static bool
post_data(struct conn *c, const struct request *req, struct iw_send_wr *response)
{
	struct iw_sge sge[BUFS_MAX];
	struct iw_send_wr write = {.next = response,
				   .wr_id = wr_id(req, WR_WRITE),
				   .sg_list = sge,
				   .num_sge = sges(c, req, sge),
				   .opcode = IW_WR_RDMA_WRITE,
				   .remote_addr = req->cmd.sgl.addr,
				   .rkey = req->cmd.sgl.key};

	return post_send(c, &write);
}

bool
flow_post_response(struct conn *c, struct request *req)
{
	uint8_t raw[CAPSULE_RESPONSE];
	struct iw_sge response = {(uintptr_t)raw, sizeof(raw), 0};
	struct iw_send_wr send = {.wr_id = wr_id(req, WR_SEND),
				  .sg_list = &response,
				  .num_sge = 1,
				  .opcode = IW_WR_SEND,
				  .flags = IW_SEND_SIGNALED | IW_SEND_INLINE};

	if (req->cmd.sgl.kind == SGL_KEYED_INV) {
		send.opcode = IW_WR_SEND_INV;
		send.invalidate_rkey = req->cmd.sgl.key;
	}
	emit_response(c, req, raw);
	return req->dir == DATA_TO_HOST && req->status == 0 ? post_data(c, req, &send) : post_send(c, &send);
}
