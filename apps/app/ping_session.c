/* SPDX-License-Identifier: BSD-3-Clause */
#include "ping_session.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

#define CQ_DEPTH 64
#define QUEUE_DEPTH 16

bool
ping_session_fail(struct ping_session *s, const char *what, const char *why)
{
	if (!s->failed)
		cli_fail("%s: %s: %s", s->peer, what, why);
	s->failed = true;
	return false;
}

static bool
register_memory(struct ping_session *s, struct iw_pd *pd)
{
	s->msg_mr = iw_mr_reg(pd, s->recv, sizeof(s->recv) + sizeof(s->send), IW_LOCAL_WRITE, NULL);
	s->source_mr = iw_mr_reg(pd, s->source, sizeof(s->source), IW_LOCAL_WRITE | IW_REMOTE_READ, NULL);
	s->sink_mr = iw_mr_reg(pd, s->sink, sizeof(s->sink), IW_LOCAL_WRITE | IW_REMOTE_WRITE, NULL);
	return s->msg_mr && s->source_mr && s->sink_mr;
}

static bool
create_qp(struct ping_session *s, struct iw_pd *pd)
{
	struct iw_qp_attr attr = {.sq_depth = QUEUE_DEPTH, .rq_depth = QUEUE_DEPTH, .sq_sig_all = true, .context = s};

	s->cq = iw_cq_create(s->engine, CQ_DEPTH, NULL, NULL);
	if (!s->cq)
		return false;
	attr.send_cq = attr.recv_cq = s->cq;
	s->qp = iw_qp_create(s->engine, pd, &attr, NULL);
	return s->qp != NULL;
}

struct ping_session *
ping_session_create(struct iw_pd *pd)
{
	struct ping_session *s = calloc(1, sizeof(*s));

	if (s && !register_memory(s, pd)) {
		ping_session_destroy(s);
		s = NULL;
	}
	if (!s)
		cli_fail("no memory for another connection");
	return s;
}

bool
ping_session_open(struct ping_session *s, struct iw_engine *engine, struct iw_pd *pd)
{
	s->engine = engine;
	snprintf(s->peer, sizeof(s->peer), "ping");
	s->established = s->ended = s->failed = s->hung_up = s->reading = false;
	s->rounds = 0;
	if (!create_qp(s, pd)) {
		cli_fail("no memory for another connection");
		ping_session_close(s);
		return false;
	}
	for (uint32_t i = 0; i < PING_RECVS; i++)
		ping_session_post_recv(s, i);
	return true;
}

void
ping_session_close(struct ping_session *s)
{
	if (s->id)
		iw_cm_destroy(s->engine, s->id);
	if (s->qp)
		iw_qp_destroy(s->qp);
	if (s->cq)
		iw_cq_destroy(s->cq);
	s->id = 0;
	s->qp = NULL;
	s->cq = NULL;
}

void
ping_session_destroy(struct ping_session *s)
{
	ping_session_close(s);
	if (s->msg_mr)
		iw_mr_dereg(s->msg_mr);
	if (s->source_mr)
		iw_mr_dereg(s->source_mr);
	if (s->sink_mr)
		iw_mr_dereg(s->sink_mr);
	free(s);
}

/* A stream that has ended is no failure of the post: CLOSE comes in the next poll and says why it ended. */
static bool
posted(struct ping_session *s, int err, const char *what)
{
	return err == 0 || (err != -IW_E_NOTCONN && ping_session_fail(s, what, iw_err_text(err)));
}

bool
ping_session_post_recv(struct ping_session *s, uint32_t slot)
{
	struct iw_sge sge = {(uintptr_t)s->recv[slot], PING_MSG_LEN, iw_mr_lkey(s->msg_mr)};
	struct iw_recv_wr wr = {.wr_id = (uint64_t)slot << 8 | PING_WR_RECV, .sg_list = &sge, .num_sge = 1};

	return posted(s, iw_post_recv(s->qp, &wr, NULL), "a receive cannot be posted");
}

static bool
post(struct ping_session *s, struct iw_send_wr *wr, const struct iw_sge *sge, const char *what)
{
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->flags |= IW_SEND_SIGNALED;
	return posted(s, iw_post_send(s->qp, wr, NULL), what);
}

bool
ping_session_post_send(struct ping_session *s, const struct ping_msg *msg)
{
	struct iw_sge sge = {(uintptr_t)s->send, PING_MSG_LEN, iw_mr_lkey(s->msg_mr)};
	struct iw_send_wr wr = {.wr_id = PING_WR_SEND, .opcode = IW_WR_SEND};

	ping_msg_emit(msg, s->send);
	return post(s, &wr, &sge, "a Send cannot be posted");
}

bool
ping_session_post_read(struct ping_session *s, const struct ping_msg *from)
{
	struct iw_sge sge = {(uintptr_t)s->source, from->len, iw_mr_lkey(s->source_mr)};
	struct iw_send_wr wr = {
		.wr_id = PING_WR_READ, .opcode = IW_WR_RDMA_READ, .remote_addr = from->addr, .rkey = from->rkey};

	return post(s, &wr, &sge, "an RDMA Read cannot be posted");
}

bool
ping_session_post_write(struct ping_session *s, const struct ping_msg *to)
{
	struct iw_sge sge = {(uintptr_t)s->source, to->len, iw_mr_lkey(s->source_mr)};
	struct iw_send_wr wr = {
		.wr_id = PING_WR_WRITE, .opcode = IW_WR_RDMA_WRITE, .remote_addr = to->addr, .rkey = to->rkey};

	return post(s, &wr, &sge, "an RDMA Write cannot be posted");
}

bool
ping_session_next(struct ping_session *s, struct iw_wc *wc)
{
	while (iw_cq_poll(s->cq, wc, 1) == 1) {
		if (wc->status == IW_WC_SUCCESS)
			return true;
		/* Receives left over at the end are flushed: that is no failure. */
		if (wc->status != IW_WC_WR_FLUSH_ERR)
			ping_session_fail(s, "a work request failed", iw_wc_status_name(wc->status));
	}
	return false;
}

struct iw_cm_attr
ping_session_attr(const struct options *o)
{
	uint32_t ms = o->silence_s * 1000;

	return (struct iw_cm_attr){.no_crc = o->no_crc, .user_timeout_ms = ms, .keepalive_ms = ms};
}

void
ping_session_closed(struct ping_session *s, const struct iw_cm_event *event)
{
	char text[96];

	s->ended = true;
	if (event->status == 0)
		return;
	if (event->term.valid)
		snprintf(text, sizeof(text), "Terminate %s, layer %u type %u code %u",
			 event->term.sent ? "sent" : "received", event->term.layer, event->term.etype,
			 event->term.code);
	else
		snprintf(text, sizeof(text), "%s", iw_err_text(event->status));
	ping_session_fail(s, "the connection was lost", text);
}
