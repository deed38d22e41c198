/* SPDX-License-Identifier: BSD-3-Clause */
/* Get Log Page (NVM Express base 1.4 §5.14; the discovery log: NVMe over Fabrics 1.1 §5.3). */
#include <endian.h>
#include <nvme/types.h>
#include <stdio.h>
#include <string.h>

#include "exec.h"

#define LOG_MAX (sizeof(struct nvmf_discovery_log) + SUBSYS_MAX * sizeof(struct nvmf_disc_log_entry))
#define UNIT 1000 /* data units of the health log: thousands of 512 octets */
#define EFFECTS_SUPPORTED 1u
#define EFFECTS_LBCC (1u << 1) /* changes the contents of blocks */

/* A log page is made whole, here; the part that was asked for is copied out. */
struct page {
	_Alignas(8) uint8_t octets[LOG_MAX];
	uint32_t len;
};

static void
put_unit_count(uint8_t to[16], uint64_t blocks)
{
	uint64_t units = htole64((blocks + UNIT - 1) / UNIT);

	memcpy(to, &units, sizeof(units));
}

static void
put_count(uint8_t to[16], uint64_t n)
{
	n = htole64(n);
	memcpy(to, &n, sizeof(n));
}

static void
fill_smart(struct target *t, const struct request *req, struct page *p)
{
	struct nvme_smart_log *log = (struct nvme_smart_log *)p->octets;
	struct queue_counts n = ctrl_counts(&t->ctrls, req->queue->ctrl);

	log->avail_spare = 100;
	put_unit_count(log->data_units_read, n.blocks_read);
	put_unit_count(log->data_units_written, n.blocks_written);
	put_count(log->host_reads, n.reads);
	put_count(log->host_writes, n.writes);
	p->len = sizeof(*log);
}

/* No error is kept: one empty entry. */
static void
fill_errors(struct target *t, const struct request *req, struct page *p)
{
	(void)t, (void)req;
	p->len = sizeof(struct nvme_error_log_page);
}

static void
fill_firmware(struct target *t, const struct request *req, struct page *p)
{
	struct nvme_firmware_slot *log = (struct nvme_firmware_slot *)p->octets;

	(void)t, (void)req;
	log->afi = 1;
	exec_pad(log->frs[0], sizeof(log->frs[0]), "1");
	p->len = sizeof(*log);
}

static void
fill_changed_ns(struct target *t, const struct request *req, struct page *p)
{
	(void)t, (void)req;
	p->len = sizeof(struct nvme_ns_list);
}

static void
fill_effects(struct target *t, const struct request *req, struct page *p)
{
	struct nvme_cmd_effects_log *log = (struct nvme_cmd_effects_log *)p->octets;

	(void)t, (void)req;
	for (const struct exec_row *row = exec_admin; row->run; row++)
		log->acs[row->opcode] = htole32(EFFECTS_SUPPORTED);
	for (const struct exec_row *row = exec_io; row->run; row++) {
		bool changes = row->opcode == nvme_cmd_write || row->opcode == nvme_cmd_write_zeroes ||
			       row->opcode == nvme_cmd_dsm;

		log->iocs[row->opcode] = htole32(EFFECTS_SUPPORTED | (changes ? EFFECTS_LBCC : 0));
	}
	p->len = sizeof(*log);
}

static void
fill_discovery(struct target *t, const struct request *req, struct page *p)
{
	struct nvmf_discovery_log *log = (struct nvmf_discovery_log *)p->octets;
	uint32_t n = 0;

	for (int i = 0; i < t->num_subsys; i++) {
		struct nvmf_disc_log_entry *e = &log->entries[n];

		if (!subsys_allows(&t->subsys[i], req->queue->ctrl->hostnqn))
			continue;
		e->trtype = NVMF_TRTYPE_RDMA;
		e->adrfam = req->queue->adrfam;
		e->subtype = NVME_NQN_NVME;
		e->treq = NVMF_TREQ_NOT_REQUIRED;
		e->portid = htole16(1);
		e->cntlid = htole16(0xffff);
		e->asqsz = htole16(32);
		exec_pad(e->trsvcid, sizeof(e->trsvcid), t->trsvcid);
		exec_pad(e->traddr, sizeof(e->traddr), req->queue->traddr);
		snprintf(e->subnqn, sizeof(e->subnqn), "%s", t->subsys[i].nqn);
		e->tsas.rdma.qptype = NVMF_RDMA_QPTYPE_CONNECTED;
		e->tsas.rdma.prtype = NVMF_RDMA_PRTYPE_IWARP;
		e->tsas.rdma.cms = NVMF_RDMA_CMS_RDMA_CM;
		n++;
	}
	log->genctr = htole64(1); /* nothing changes while the target runs */
	log->numrec = htole64(n);
	p->len = (uint32_t)(sizeof(*log) + n * sizeof(log->entries[0]));
}

static const struct log_row {
	uint8_t lid, where;
	void (*fill)(struct target *t, const struct request *req, struct page *p);
} logs[] = {
	{NVME_LOG_LID_ERROR, ON_ADMIN, fill_errors},        {NVME_LOG_LID_SMART, ON_ADMIN, fill_smart},
	{NVME_LOG_LID_FW_SLOT, ON_ADMIN, fill_firmware},    {NVME_LOG_LID_CHANGED_NS, ON_ADMIN, fill_changed_ns},
	{NVME_LOG_LID_CMD_EFFECTS, ON_ADMIN, fill_effects}, {NVME_LOG_LID_DISCOVER, ON_DISCOVERY, fill_discovery},
};

static uint64_t
offset_of(const struct request *req)
{
	return (uint64_t)req->cmd.cdw13 << 32 | req->cmd.cdw12;
}

uint16_t
log_page_plan(struct target *t, struct request *req)
{
	uint64_t dwords = ((uint64_t)(req->cmd.cdw11 & 0xffff) << 16 | req->cmd.cdw10 >> 16) + 1;

	(void)t;
	if (dwords * 4 > EXEC_DATA_MAX || offset_of(req) % 4 != 0)
		return NVME_SC_INVALID_FIELD;
	req->len = (uint32_t)(dwords * 4);
	return 0;
}

enum exec_result
log_page_run(struct target *t, struct request *req)
{
	uint8_t where = req->queue->ctrl->subsys ? ON_ADMIN : ON_DISCOVERY;
	struct page page = {.len = 0};

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		if (logs[i].lid != (req->cmd.cdw10 & 0xff) || !(logs[i].where & where))
			continue;
		logs[i].fill(t, req, &page);
		if (offset_of(req) > page.len)
			return exec_fail(req, NVME_SC_INVALID_FIELD);
		request_fill(req, page.octets, page.len, offset_of(req));
		return exec_ok(req);
	}
	return exec_fail(req, NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | NVME_SC_INVALID_LOG_PAGE);
}
