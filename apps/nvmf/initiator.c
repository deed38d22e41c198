/* SPDX-License-Identifier: BSD-3-Clause */
#include "initiator.h"

#include <nvme/types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ctrl.h"

#define WAIT_NS UINT64_C(10000000000)
#define POLL_BATCH 32
#define CC_ENABLE (1u | 6u << 16 | 4u << 20)
#define READY_TRIES 1000

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct initiator *i = context;
	const uint8_t *p = event->private_data;

	if (event->type == IW_CM_CONNECT_REPLY && event->status == 0) {
		i->up = true;
		if (event->private_len >= CAPSULE_PRIVATE)
			i->crqsize = (uint16_t)(p[2] | p[3] << 8);
	} else if (event->type == IW_CM_CONNECT_REPLY || event->type == IW_CM_CLOSE) {
		i->ended = true;
		i->status = event->status;
		if (event->type == IW_CM_CONNECT_REPLY && event->private_len >= CAPSULE_PRIVATE_REJECT)
			i->reject_status = (uint16_t)(p[2] | p[3] << 8);
	} else if (event->type == IW_CM_DISCONNECT) {
		iw_cm_disconnect(i->engine, id, false);
	}
	return 0;
}

static uint8_t *
response_at(const struct initiator *i, uint64_t slot)
{
	return i->memory + (size_t)i->depth * i->capsule_len + slot * CAPSULE_RESPONSE;
}

/* Receives that are posted together. */
struct recvs {
	struct iw_recv_wr wr[POLL_BATCH];
	struct iw_sge sge[POLL_BATCH];
	int n;
};

static void
add_recv(const struct initiator *i, struct recvs *v, uint64_t slot)
{
	int k = v->n++;

	v->sge[k] = (struct iw_sge){(uintptr_t)response_at(i, slot), CAPSULE_RESPONSE, iw_mr_lkey(i->mr)};
	v->wr[k] = (struct iw_recv_wr){.wr_id = slot, .sg_list = &v->sge[k], .num_sge = 1};
	if (k > 0)
		v->wr[k - 1].next = &v->wr[k];
}

static int
post_recvs(struct initiator *i, const struct recvs *v)
{
	return v->n > 0 ? iw_post_recv(i->qp, v->wr, NULL) : 0;
}

static int
post_all(struct initiator *i)
{
	struct recvs v;
	int err = 0;

	for (uint32_t slot = 0; err == 0 && slot < i->depth;) {
		v.n = 0;
		while (v.n < POLL_BATCH && slot < i->depth)
			add_recv(i, &v, slot++);
		err = post_recvs(i, &v);
	}
	return err;
}

static size_t
memory_len(const struct initiator *i)
{
	return (size_t)i->depth * (i->capsule_len + CAPSULE_RESPONSE);
}

static int
open_objects(struct initiator *i)
{
	struct iw_qp_attr attr = {.sq_depth = 2u * i->depth,
				  .rq_depth = i->depth,
				  .max_ird = IW_MAX_IRD,
				  .recv_back_pressure = true}; /* it may be slow to take responses */
	int err = -IW_E_NOMEM;

	i->memory = mmap(NULL, memory_len(i), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (i->memory == MAP_FAILED) {
		i->memory = NULL;
		return err;
	}
	i->mr = iw_mr_reg(i->pd, i->memory, memory_len(i), IW_LOCAL_WRITE, &err);
	i->cq = attr.send_cq = attr.recv_cq = iw_cq_create(i->engine, 4u * i->depth, NULL, NULL);
	if (!i->mr || !i->cq)
		return err;
	i->qp = iw_qp_create(i->engine, i->pd, &attr, &err);
	if (!i->qp)
		return err;
	return post_all(i);
}

int
initiator_connect(struct initiator *i, struct iw_engine *engine, struct iw_pd *pd, const struct iw_addr *addr,
		  uint16_t qid, uint16_t depth, uint32_t in_capsule, const struct iw_cm_attr *attr)
{
	struct private_request r = {.qid = qid, .hrqsize = depth, .hsqsize = (uint16_t)(depth - 1)};
	uint8_t raw[CAPSULE_PRIVATE];
	struct iw_cm_attr right = {.private_data = raw, .private_len = sizeof(raw)};
	int err;

	memset(i, 0, sizeof(*i));
	*i = (struct initiator){.engine = engine, .pd = pd, .qid = qid, .depth = depth};
	i->capsule_len = CAPSULE_COMMAND + in_capsule;
	capsule_private_emit(&r, raw);
	err = open_objects(i);
	if (err == 0) {
		i->id = iw_cm_create(engine, on_event, i);
		err = i->id ? iw_cm_connect(engine, i->id, addr, i->qp, attr ? attr : &right) : -IW_E_NOMEM;
	}
	if (err != 0)
		initiator_close(i);
	return err;
}

void
initiator_close(struct initiator *i)
{
	if (i->id)
		iw_cm_destroy(i->engine, i->id);
	if (i->qp)
		iw_qp_destroy(i->qp);
	if (i->cq)
		iw_cq_destroy(i->cq);
	if (i->mr)
		iw_mr_dereg(i->mr);
	if (i->memory)
		munmap(i->memory, memory_len(i));
	memset(i, 0, sizeof(*i));
}

/* Unsignalled: the response says that the capsule was taken. */
static int
post_capsule(struct initiator *i, struct iw_sge *sge, int n)
{
	struct iw_send_wr wr = {.sg_list = sge, .num_sge = n, .opcode = IW_WR_SEND};

	return iw_post_send(i->qp, &wr, NULL);
}

static uint8_t *
capsule_at(const struct initiator *i, const struct nvme_command *c)
{
	return i->memory + (size_t)c->cid * i->capsule_len;
}

int
initiator_send(struct initiator *i, const struct nvme_command *c, const void *data, uint32_t len)
{
	uint8_t *capsule = capsule_at(i, c);
	struct iw_sge sge = {(uintptr_t)capsule, CAPSULE_COMMAND + len, iw_mr_lkey(i->mr)};

	capsule_command_emit(c, capsule);
	if (len > 0)
		memcpy(capsule + CAPSULE_COMMAND, data, len);
	return post_capsule(i, &sge, 1);
}

int
initiator_send_from(struct initiator *i, const struct nvme_command *c, const struct iw_sge *data)
{
	uint8_t *capsule = capsule_at(i, c);
	struct iw_sge sge[2] = {{(uintptr_t)capsule, CAPSULE_COMMAND, iw_mr_lkey(i->mr)}, *data};

	capsule_command_emit(c, capsule);
	return post_capsule(i, sge, 2);
}

/* A response, or the end of a receive or a Send that failed. */
static bool
is_response(const struct iw_wc *wc)
{
	return wc->status == IW_WC_SUCCESS && wc->opcode == IW_WC_RECV && wc->byte_len == CAPSULE_RESPONSE;
}

static int
take_batch(struct initiator *i, struct nvme_response *r, const struct iw_wc *wc, int n)
{
	struct recvs v;
	int have = 0;

	v.n = 0;
	for (int k = 0; k < n; k++) {
		if (!is_response(&wc[k]))
			continue;
		capsule_response_parse(response_at(i, wc[k].wr_id), &r[have++]);
		add_recv(i, &v, wc[k].wr_id);
	}
	post_recvs(i, &v);
	return have;
}

int
initiator_poll(struct initiator *i, struct nvme_response *r, int max)
{
	struct iw_wc wc[POLL_BATCH];
	int have = 0, n = 1;

	while (have < max && n > 0) {
		n = iw_cq_poll(i->cq, wc, max - have < POLL_BATCH ? max - have : POLL_BATCH);
		have += take_batch(i, r + have, wc, n);
	}
	return have;
}

bool
initiator_call(struct initiator *i, struct nvme_command *c, const void *data, uint32_t len, struct nvme_response *r)
{
	uint64_t end = iw_engine_now(i->engine) + WAIT_NS;

	if (initiator_send(i, c, data, len) != 0)
		return false;
	while (!i->ended && iw_engine_now(i->engine) < end) {
		iw_engine_poll(i->engine);
		if (i->turn)
			i->turn();
		if (initiator_poll(i, r, 1) == 1)
			return true;
	}
	return false;
}

int
initiator_fabrics_connect(struct initiator *i, const char *subnqn, const char *hostnqn, uint16_t cntlid,
			  uint32_t kato_ms)
{
	struct nvme_command c = {.opcode = nvme_admin_fabrics, .nsid = nvme_fabrics_type_connect};
	struct connect_data d = {.cntlid = cntlid};
	uint8_t raw[CAPSULE_CONNECT_DATA];
	struct nvme_response r;

	c.sgl = (struct sgl){.kind = SGL_CAPSULE, .len = sizeof(raw)};
	c.cdw10 = (uint32_t)i->qid << 16;
	c.cdw11 = i->depth - 1u;
	c.cdw12 = kato_ms;
	strncpy(d.subnqn, subnqn, sizeof(d.subnqn) - 1);
	strncpy(d.hostnqn, hostnqn, sizeof(d.hostnqn) - 1);
	memset(d.hostid, 0x42, sizeof(d.hostid));
	capsule_connect_emit(&d, raw);
	if (!initiator_call(i, &c, raw, sizeof(raw), &r))
		return -1;
	return r.status ? -(int)r.status : (int)(r.result & 0xffff);
}

static bool
property(struct initiator *i, uint8_t type, uint32_t offset, uint32_t value, uint64_t *got)
{
	struct nvme_command c = {.opcode = nvme_admin_fabrics, .nsid = type, .cdw11 = offset, .cdw12 = value};
	struct nvme_response r;

	if (!initiator_call(i, &c, NULL, 0, &r) || r.status != 0)
		return false;
	*got = r.result;
	return true;
}

bool
initiator_enable(struct initiator *i)
{
	uint64_t value = 0;

	if (!property(i, nvme_fabrics_type_property_set, PROP_CC, CC_ENABLE, &value))
		return false;
	for (int tries = 0; tries < READY_TRIES; tries++) {
		if (!property(i, nvme_fabrics_type_property_get, PROP_CSTS, 0, &value))
			return false;
		if (value & CSTS_RDY)
			return true;
	}
	return false;
}
