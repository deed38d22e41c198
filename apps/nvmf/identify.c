/* SPDX-License-Identifier: BSD-3-Clause */
/* Identify (NVM Express base 1.4 §5.15). */
#include <endian.h>
#include <nvme/types.h>
#include <stdio.h>
#include <string.h>

#include "exec.h"

#define IDENTIFY_LEN 4096
#define MODEL "dpdk-iwarp NVMe-oF target"
#define FIRMWARE "1"
#define VS_1_4 0x00010400u
#define MDTS 8 /* 2^8 pages of 4 KiB: EXEC_DATA_MAX */
#define SGLS_SUPPORTED 1u
#define SGLS_KEYED (1u << 2)
#define SGLS_EXCESS (1u << 18) /* may be longer than the data */
#define SGLS_OFFSET (1u << 20)
#define CTRATT_HOSTID_128 1u
#define CTRATT_TRAFFIC_KEEP_ALIVE (1u << 6)
#define VWC_ONE_NS (2u << 1) /* Flush is for one namespace, not for all (FFFFFFFFh) */
#define NSATTR_WRITE_PROTECTED 1u

enum { CNS_NS, CNS_CTRL, CNS_ACTIVE_NS, CNS_NS_DESCS };

/* The part of each Identify Controller that says who we are. */
static void
fill_common(const struct ctrl *c, struct nvme_id_ctrl *id)
{
	exec_pad(id->mn, sizeof(id->mn), MODEL);
	exec_pad(id->fr, sizeof(id->fr), FIRMWARE);
	exec_pad(id->sn, sizeof(id->sn), c->subsys ? c->subsys->serial : "discovery");
	id->mdts = MDTS;
	id->cntlid = htole16(c->cntlid);
	id->ver = htole32(VS_1_4);
	id->ctratt = htole32(CTRATT_HOSTID_128 | CTRATT_TRAFFIC_KEEP_ALIVE);
	id->aerl = CTRL_AERS - 1;
	id->lpa = NVME_CTRL_LPA_EXTENDED;
	id->elpe = 0;
	id->kas = htole16(CTRL_KATO_MS / 100);
	id->maxcmd = htole16(CTRL_QUEUE_SIZE);
	id->sgls = htole32(SGLS_SUPPORTED | SGLS_KEYED | SGLS_EXCESS | SGLS_OFFSET);
	id->ioccsz = htole32((CAPSULE_COMMAND + EXEC_CAPSULE_DATA) / 16);
	id->iorcsz = htole32(CAPSULE_RESPONSE / 16);
	id->msdbd = 1;
}

static bool
caches(const struct subsys *s)
{
	for (uint32_t i = 0; i < s->num_ns; i++)
		if (s->ns[i].bdev[0]->volatile_cache)
			return true;
	return false;
}

static void
fill_ctrl(const struct ctrl *c, struct nvme_id_ctrl *id)
{
	const struct subsys *s = c->subsys;

	fill_common(c, id);
	if (!s) {
		id->cntrltype = NVME_CTRL_CNTRLTYPE_DISCOVERY;
		snprintf(id->subnqn, sizeof(id->subnqn), "%s", SUBSYS_DISCOVERY);
		return;
	}
	id->cntrltype = NVME_CTRL_CNTRLTYPE_IO;
	id->cmic = NVME_CTRL_CMIC_MULTI_CTRL;
	id->rtd3e = 0;
	id->acl = 3;
	id->frmw = 1 << 1 | 1; /* one slot, read only */
	id->sqes = 6 << 4 | 6;
	id->cqes = 4 << 4 | 4;
	id->ofcs = htole16(NVME_CTRL_OFCS_DISCONNECT);
	id->nn = htole32(s->num_ns);
	id->oncs = htole16(NVME_CTRL_ONCS_COMPARE | NVME_CTRL_ONCS_DSM | NVME_CTRL_ONCS_WRITE_ZEROES);
	id->vwc = VWC_ONE_NS | (caches(s) ? NVME_CTRL_VWC_PRESENT : 0);
	snprintf(id->subnqn, sizeof(id->subnqn), "%s", s->nqn);
}

static void
fill_ns(const struct ns *ns, struct nvme_id_ns *id)
{
	id->nsze = id->ncap = id->nuse = htole64(ns->bdev[0]->blocks);
	id->nmic = 1; /* may be shared by controllers */
	id->nsattr = ns->read_only ? NSATTR_WRITE_PROTECTED : 0;
	memcpy(id->nguid, ns->uuid, sizeof(id->nguid));
	id->lbaf[0].ds = (uint8_t)__builtin_ctz(ns->bdev[0]->block_size);
}

static void
fill_active(const struct subsys *s, uint32_t after, uint8_t *to)
{
	for (uint32_t i = 0; i < s->num_ns; i++) {
		uint32_t nsid = htole32(s->ns[i].nsid);

		if (s->ns[i].nsid > after) {
			memcpy(to, &nsid, sizeof(nsid));
			to += sizeof(nsid);
		}
	}
}

static uint8_t *
add_desc(uint8_t *to, uint8_t type, const void *id, uint8_t len)
{
	to[0] = type;
	to[1] = len;
	memcpy(to + 4, id, len);
	return to + 4 + len;
}

static void
fill_descs(const struct ns *ns, uint8_t *to)
{
	to = add_desc(to, NVME_NIDT_NGUID, ns->uuid, 16);
	add_desc(to, NVME_NIDT_UUID, ns->uuid, 16);
}

uint16_t
identify_plan(struct target *t, struct request *req)
{
	(void)t;
	req->len = IDENTIFY_LEN;
	return 0;
}

static uint16_t
fill(const struct request *req, uint8_t *page)
{
	struct subsys *s = req->queue->ctrl->subsys;
	uint8_t cns = req->cmd.cdw10 & 0xff;
	const struct ns *ns;

	if (cns == CNS_CTRL) {
		fill_ctrl(req->queue->ctrl, (struct nvme_id_ctrl *)page);
		return 0;
	}
	if (!s || cns > CNS_NS_DESCS)
		return NVME_SC_INVALID_FIELD;
	if (cns == CNS_ACTIVE_NS) {
		if (req->cmd.nsid >= 0xfffffffe)
			return NVME_SC_INVALID_NS;
		fill_active(s, req->cmd.nsid, page);
		return 0;
	}
	ns = subsys_ns(s, req->cmd.nsid);
	if (!ns)
		return NVME_SC_INVALID_NS;
	if (cns == CNS_NS)
		fill_ns(ns, (struct nvme_id_ns *)page);
	else
		fill_descs(ns, page);
	return 0;
}

enum exec_result
identify_run(struct target *t, struct request *req)
{
	_Alignas(8) uint8_t page[IDENTIFY_LEN] = {0};
	uint16_t status = fill(req, page);

	(void)t;
	_Static_assert(sizeof(struct nvme_id_ctrl) == IDENTIFY_LEN && sizeof(struct nvme_id_ns) == IDENTIFY_LEN,
		       "Identify data are one page");
	if (status != 0)
		return exec_fail(req, status);
	request_fill(req, page, sizeof(page), 0);
	return exec_ok(req);
}
