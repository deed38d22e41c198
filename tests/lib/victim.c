/* SPDX-License-Identifier: BSD-3-Clause */
#include "victim.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"

#define GUARD 4096
#define RECV_OFF (GUARD + VICTIM_RIGHTS * (VICTIM_MR + GUARD))
#define MEMORY (RECV_OFF + VICTIM_RECVS_MAX * VICTIM_RECV + GUARD)

static uint8_t
pattern(enum victim_right right, uint32_t i)
{
	return (uint8_t)(i * 5 + (i >> 8) + 64 * right);
}

uint8_t *
victim_at(const struct victim *v, enum victim_right right)
{
	return v->memory + GUARD + right * (VICTIM_MR + GUARD);
}

bool
victim_untouched(const struct victim *v, enum victim_right right)
{
	for (uint32_t i = 0; i < VICTIM_MR; i++)
		if (victim_at(v, right)[i] != pattern(right, i))
			return false;
	return true;
}

static struct victim_conn *
conn_of(struct victim *v, iw_cm_id id)
{
	for (uint32_t i = 0; i < v->conns; i++)
		if (v->conn[i].id == id)
			return &v->conn[i];
	assert_true(v->conns < VICTIM_CONNS);
	v->conn[v->conns].id = id;
	return &v->conn[v->conns++];
}

static struct iw_qp *
make_qp(struct victim *v)
{
	struct iw_qp_attr attr = v->qp_attr;
	struct iw_qp *qp;
	int err = 0;

	attr.send_cq = attr.recv_cq = v->cq;
	qp = iw_qp_create(v->engine, v->next_pd ? v->next_pd : v->pd, &attr, &err);
	assert_int_equal(err, 0);
	for (uint32_t i = 0; i < v->recvs; i++) {
		struct iw_sge sge = {.addr = (uintptr_t)v->memory + RECV_OFF + v->recvs_used++ * VICTIM_RECV,
				     .length = VICTIM_RECV,
				     .lkey = iw_mr_lkey(v->recv_mr)};
		struct iw_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		assert_true(v->recvs_used <= VICTIM_RECVS_MAX);
		assert_int_equal(iw_post_recv(qp, &wr, NULL), 0);
	}
	return qp;
}

/* Is its quota used up? */
static bool
has_enough(const struct victim *v, const struct iw_addr *peer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->conns; i++)
		n += v->conn[i].qp && !v->conn[i].closed &&
		     memcmp(v->conn[i].request.peer.ip, peer->ip, sizeof(peer->ip)) == 0;
	return v->quota && n >= v->quota;
}

static int
on_request(struct victim *v, struct victim_conn *c, const struct iw_cm_event *event)
{
	int err;

	c->request = *event;
	if (v->reject || has_enough(v, &event->peer) ||
	    (v->only && memcmp(v->only->ip, event->peer.ip, sizeof(event->peer.ip)) != 0))
		return 1;
	c->qp = make_qp(v);
	err = iw_cm_accept(v->engine, c->id, c->qp, &v->attr);
	if (err == -IW_E_CONNRESET) { /* it went before we heard of it */
		assert_int_equal(iw_qp_destroy(c->qp), 0);
		c->qp = NULL;
		return 1;
	}
	assert_int_equal(err, 0);
	return 0;
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct victim *v = context;
	struct victim_conn *c = conn_of(v, id);

	v->events++;
	c->events++;
	c->last = *event;
	if (event->private_len)
		memcpy(c->private_data, event->private_data, event->private_len);
	if (event->type == IW_CM_CONNECT_REQUEST)
		return on_request(v, c, event);
	if (event->type == IW_CM_CONNECT_REPLY || event->type == IW_CM_CLOSE)
		c->status = event->status;
	if (event->type == IW_CM_CONNECT_REPLY || event->type == IW_CM_ESTABLISHED_EV)
		c->up = event->status == 0;
	if (event->type == IW_CM_CLOSE || (event->type == IW_CM_CONNECT_REPLY && event->status))
		c->closed = true;
	return 0;
}

void
victim_init(struct victim *v, struct sim *sim, uint32_t host)
{
	static const uint32_t rights[VICTIM_RIGHTS] = {[VICTIM_RW] = IW_REMOTE_READ | IW_REMOTE_WRITE | IW_LOCAL_WRITE,
						       [VICTIM_RO] = IW_REMOTE_READ,
						       [VICTIM_WO] = IW_REMOTE_WRITE};

	memset(v, 0, sizeof(*v));
	v->sim = sim;
	v->engine = sim->host[host].engine;
	v->pd = iw_pd_create(sim->host[host].domain);
	v->cq = iw_cq_create(v->engine, 65536, NULL, NULL);
	v->memory = oracle_memory(MEMORY);
	for (enum victim_right r = 0; r < VICTIM_RIGHTS; r++) {
		v->mr[r] = iw_mr_reg(v->pd, victim_at(v, r), VICTIM_MR, rights[r], NULL);
		for (uint32_t i = 0; i < VICTIM_MR; i++)
			victim_at(v, r)[i] = pattern(r, i);
	}
	v->recv_mr = iw_mr_reg(v->pd, v->memory + RECV_OFF, VICTIM_RECVS_MAX * VICTIM_RECV, IW_LOCAL_WRITE, NULL);
	v->recvs = 4;
	v->attr.no_peer_to_peer = true;
}

void
victim_listen(struct victim *v)
{
	struct iw_addr any = {.port = VICTIM_PORT};

	v->listener = iw_cm_create(v->engine, on_event, v);
	assert_int_equal(iw_cm_listen(v->engine, v->listener, &any, 32), 0);
}

uint32_t
victim_connect(struct victim *v, uint32_t host, uint16_t port)
{
	struct victim_conn *c = conn_of(v, iw_cm_create(v->engine, on_event, v));
	struct iw_addr to = sim_addr(host, port);

	c->qp = make_qp(v);
	assert_int_equal(iw_cm_connect(v->engine, c->id, &to, c->qp, &v->attr), 0);
	return (uint32_t)(c - v->conn);
}

void
victim_reap(struct victim *v)
{
	struct iw_wc wc;

	while (iw_cq_poll(v->cq, &wc, 1) == 1) {
		v->received += wc.status == IW_WC_SUCCESS && wc.opcode == IW_WC_RECV;
		v->flushed += wc.status != IW_WC_SUCCESS;
	}
}

void
victim_fini(struct victim *v)
{
	if (v->listener)
		iw_cm_destroy(v->engine, v->listener);
	for (uint32_t i = 0; i < v->conns; i++) {
		iw_cm_destroy(v->engine, v->conn[i].id);
		if (v->conn[i].qp)
			iw_qp_destroy(v->conn[i].qp);
	}
	victim_reap(v);
	for (enum victim_right r = 0; r < VICTIM_RIGHTS; r++)
		if (v->mr[r])
			assert_int_equal(iw_mr_dereg(v->mr[r]), 0);
	if (v->recv_mr)
		assert_int_equal(iw_mr_dereg(v->recv_mr), 0);
	assert_int_equal(iw_cq_destroy(v->cq), 0);
	assert_int_equal(iw_pd_destroy(v->pd), 0);
}

void
victim_close(struct victim *v)
{
	struct sim *s = v->sim;

	victim_fini(v);
	sim_run(s, 200 * IW_SEC);
	sim_fini(s);
	free(s);
}
