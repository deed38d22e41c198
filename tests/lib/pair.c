/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"

static void
note(struct pair_end *e, const struct iw_cm_event *event)
{
	assert_true(e->events < PAIR_EVENTS);
	e->event[e->events] = (uint8_t)event->type;
	e->status[e->events++] = event->status;
	e->last = *event;
	if (event->private_len) {
		memcpy(e->private_data, event->private_data, event->private_len);
		e->private_len = event->private_len;
	}
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct pair *p = context;
	struct pair_end *e = id == p->end[0].id ? &p->end[0] : &p->end[1];

	if (event->type == IW_CM_CONNECT_REQUEST)
		e->id = id;
	assert_int_equal(id, e->id);
	note(e, event);
	if (event->type == IW_CM_CONNECT_REQUEST && p->reject)
		return 1;
	if (event->type == IW_CM_CONNECT_REQUEST)
		assert_int_equal(iw_cm_accept(e->engine, id, e->qp, &e->attr), 0);
	if (event->type == IW_CM_ESTABLISHED_EV || (event->type == IW_CM_CONNECT_REPLY && event->status == 0))
		e->up = true;
	if (event->type == IW_CM_CLOSE || (event->type == IW_CM_CONNECT_REPLY && event->status != 0))
		e->closed = true;
	p->both_up = p->end[0].up && p->end[1].up;
	p->both_closed = p->end[0].closed && p->end[1].closed;
	return 0;
}

static void
make_end(struct pair *p, int i, const struct iw_qp_attr *attr)
{
	struct pair_end *e = &p->end[i];
	struct iw_qp_attr a = {0};
	int err;

	if (attr)
		a = *attr;
	e->pair = p;
	e->engine = p->sim->host[i].engine;
	e->pd = iw_pd_create(p->sim->host[i].domain);
	e->cq = iw_cq_create(e->engine, 4096, NULL, NULL);
	a.send_cq = a.recv_cq = e->cq;
	e->qp = iw_qp_create(e->engine, e->pd, &a, &err);
	assert_non_null(e->qp);
}

void
pair_init(struct pair *p, struct sim *sim, const struct iw_qp_attr *attr)
{
	memset(p, 0, sizeof(*p));
	p->sim = sim;
	for (int i = 0; i < 2; i++)
		make_end(p, i, attr);
}

void
pair_fini(struct pair *p)
{
	if (p->listener)
		iw_cm_destroy(p->end[1].engine, p->listener);
	for (int i = 0; i < 2; i++) {
		struct pair_end *e = &p->end[i];

		if (e->id)
			iw_cm_destroy(e->engine, e->id);
		if (e->qp)
			iw_qp_destroy(e->qp);
		assert_int_equal(iw_cq_destroy(e->cq), 0);
		assert_int_equal(iw_pd_destroy(e->pd), 0);
	}
}

bool
pair_connect(struct pair *p, uint64_t limit_ns)
{
	struct iw_addr to = sim_addr(1, PAIR_PORT);

	p->listener = iw_cm_create(p->end[1].engine, on_event, p);
	assert_int_equal(iw_cm_listen(p->end[1].engine, p->listener, &to, 8), 0);
	p->end[0].id = iw_cm_create(p->end[0].engine, on_event, p);
	assert_int_equal(iw_cm_connect(p->end[0].engine, p->end[0].id, &to, p->end[0].qp, &p->end[0].attr), 0);
	return sim_until(p->sim, &p->both_up, limit_ns);
}

bool
pair_disconnect(struct pair *p, uint64_t limit_ns)
{
	assert_int_equal(iw_cm_disconnect(p->end[0].engine, p->end[0].id, false), 0);
	return sim_until(p->sim, &p->both_closed, limit_ns);
}

static bool
is_done(struct iw_cq *cq)
{
	struct iw_wc wc;

	if (iw_cq_poll(cq, &wc, 1) != 1)
		return false;
	if (wc.status != IW_WC_SUCCESS)
		fail_msg("O12: %s on an honest connection", iw_wc_status_name(wc.status));
	return true;
}

void
pair_ping(struct pair *p, int from, uint64_t limit_ns)
{
	struct pair_end *a = &p->end[from], *b = &p->end[!from];
	struct iw_send_wr wr = {.wr_id = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_SIGNALED};
	struct iw_recv_wr recv = {.wr_id = 2};
	uint64_t end = p->sim->now_ns + limit_ns;
	bool sent = false, came = false;

	if (iw_post_recv(b->qp, &recv, NULL) != 0 || iw_post_send(a->qp, &wr, NULL) != 0)
		fail_msg("O12: an honest connection has ended");
	while ((!sent || !came) && p->sim->now_ns < end) {
		sim_run(p->sim, 20 * IW_US);
		sent = sent || is_done(a->cq);
		came = came || is_done(b->cq);
	}
	if (!sent || !came)
		fail_msg("O12: an honest connection waits longer than %u us", (unsigned)(limit_ns / IW_US));
}

const char *
pair_history(const struct pair *p, int end, char *buf, size_t len)
{
	static const char *const names[] = {"REQUEST", "REPLY", "ESTABLISHED", "DISCONNECT", "CLOSE", "TIMEWAIT_EXIT"};
	const struct pair_end *e = &p->end[end];
	size_t n = 0;

	buf[0] = 0;
	for (uint32_t i = 0; i < e->events && n < len; i++) {
		n += (size_t)snprintf(buf + n, len - n, "%s%s", i ? " " : "", names[e->event[i]]);
		if (e->status[i] && n < len)
			n += (size_t)snprintf(buf + n, len - n, "(%s)", iw_err_name(e->status[i]));
	}
	return buf;
}

void
pair_beside(struct pair *p, struct sim *sim)
{
	pair_init(p, sim, NULL);
	assert_true(pair_connect(p, 10 * IW_SEC));
}

void
pair_unharmed(struct pair *p)
{
	for (int from = 0; from < 2; from++)
		pair_ping(p, from, 5 * IW_MS);
	assert_true(pair_disconnect(p, 10 * IW_SEC));
	for (int i = 0; i < 2; i++)
		assert_int_equal(p->end[i].last.status, 0);
	pair_fini(p);
}
