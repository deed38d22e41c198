/* SPDX-License-Identifier: BSD-3-Clause */
#include "nvmf_ends.h"

#define PORT 4420
#define GUARD 4096 /* octets around the host's buffer that nobody may touch */

struct nvmf_ends ends;
static uint16_t port[2];
static uint8_t memory[GUARD + BUF + GUARD];

static void
turn(void)
{
	serve_turn(&ends.server);
}

void
nvmf_ends_turns(int n)
{
	while (n-- > 0) {
		iw_engine_poll(ends.near.engine);
		turn();
	}
}

void
nvmf_ends_await(const bool *flag)
{
	for (int i = 0; i < ENDS_PATIENCE && !*flag; i++)
		nvmf_ends_turns(1);
	assert_true(*flag);
}

static void
open_host(struct host *h, uint16_t port_id, const char *ip)
{
	struct host_options o = {.port_id = port_id, .prefix_len = 24, .has_ip = true, .no_claim = true, .mtu = 9000};

	assert_int_equal(iw_addr_parse(ip, &o.ip), 0);
	assert_true(host_open(h, &o));
}

static void
open_ends(void)
{
	struct options o = {.port = PORT, .buffer_mib = 4};

	assert_int_equal(iw_wire_create("nvmf", 1024, &port[0], &port[1]), 0);
	open_host(&ends.far, port[0], "192.0.2.1");
	open_host(&ends.near, port[1], "192.0.2.2");
	assert_int_equal(serve_open(&ends.server, &ends.far, &o, &ends.target), 0);
	ends.pd = iw_pd_create(ends.near.domain);
	memset(memory, 0xa5, sizeof(memory));
	ends.buf = memory + GUARD;
	ends.mr = iw_mr_reg(ends.pd, ends.buf, BUF, IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE, NULL);
	ends.read_only_mr = iw_mr_reg(ends.pd, ends.buf, BUF, IW_REMOTE_READ, NULL);
}

void
nvmf_ends_open_with(const char *const *spec, int n)
{
	memset(&ends, 0, sizeof(ends));
	subsys_init(&ends.target.subsys[0], NQN);
	for (int i = 0; i < n; i++)
		subsys_add_ns(&ends.target.subsys[0], spec[i]);
	ends.target.num_subsys = 1;
	open_ends();
}

int
nvmf_ends_open(void **state)
{
	struct target *t = &ends.target;

	(void)state;
	memset(&ends, 0, sizeof(ends));
	subsys_init(&t->subsys[0], NQN);
	subsys_add_ns(&t->subsys[0], "ram:2M");
	subsys_add_ns(&t->subsys[0], "ram:1M,bs=4096");
	t->subsys[0].ns[1].read_only = true;
	subsys_init(&t->subsys[1], NQN "2");
	subsys_add_ns(&t->subsys[1], "ram:64K");
	t->subsys[1].host[0] = HOST "x";
	t->subsys[1].num_hosts = 1;
	t->num_subsys = 2;
	open_ends();
	return 0;
}

void
nvmf_ends_hang_up(struct initiator *i)
{
	if (i->qp)
		initiator_close(i);
	nvmf_ends_turns(200);
}

int
nvmf_ends_close(void **state)
{
	(void)state;
	nvmf_ends_hang_up(&ends.io);
	nvmf_ends_hang_up(&ends.admin);
	for (int i = 0; i < ENDS_PATIENCE && !conn_idle(&ends.server.side); i++)
		nvmf_ends_turns(1);
	assert_true(conn_idle(&ends.server.side));
	assert_int_equal(ends.target.ctrls.used, 0);
	assert_int_equal(ends.target.bufs.num_free, ends.target.bufs.num);
	serve_close(&ends.server);
	iw_mr_dereg(ends.mr);
	iw_mr_dereg(ends.read_only_mr);
	iw_pd_destroy(ends.pd);
	host_close(&ends.near);
	host_close(&ends.far);
	iw_wire_destroy(port[0], port[1]);
	for (int i = 0; i < GUARD; i++)
		assert_true(memory[i] == 0xa5 && memory[GUARD + BUF + i] == 0xa5);
	return 0;
}

void
nvmf_ends_start(struct initiator *i, uint16_t qid, uint16_t depth, const uint8_t *private)
{
	struct iw_addr addr;

	assert_int_equal(iw_addr_parse("192.0.2.1", &addr), 0);
	addr.port = PORT;
	assert_int_equal(initiator_connect(i, ends.near.engine, ends.pd, &addr, qid, depth,
					   qid ? EXEC_CAPSULE_DATA : EXEC_CAPSULE_ADMIN, private),
			 0);
	i->turn = turn;
	for (int n = 0; n < ENDS_PATIENCE && !i->up && !i->ended; n++)
		nvmf_ends_turns(1);
}

void
nvmf_ends_admin(void)
{
	nvmf_ends_start(&ends.admin, 0, 32, NULL);
	assert_true(ends.admin.up);
	ends.cntlid = initiator_fabrics_connect(&ends.admin, NQN, HOST, 0xffff, 0);
	assert_true(ends.cntlid > 0);
	assert_true(initiator_enable(&ends.admin));
}

void
nvmf_ends_io(void)
{
	nvmf_ends_admin();
	nvmf_ends_start(&ends.io, 1, 128, NULL);
	assert_true(ends.io.up);
	assert_int_equal(initiator_fabrics_connect(&ends.io, NQN, HOST, (uint16_t)ends.cntlid, 0), ends.cntlid);
}

uint16_t
nvmf_ends_call(struct initiator *i, struct nvme_command c, const void *data, uint32_t len, uint64_t *result)
{
	struct nvme_response r;

	assert_true(initiator_call(i, &c, data, len, &r));
	assert_int_equal(r.cid, c.cid);
	if (result)
		*result = r.result;
	return r.status;
}

int
nvmf_ends_send_raw(struct initiator *i, const uint8_t *raw, uint32_t len)
{
	struct iw_sge sge = {(uintptr_t)raw, len, 0};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_INLINE};

	return iw_post_send(i->qp, &wr, NULL);
}

struct sgl
nvmf_ends_keyed(uint32_t len)
{
	return (struct sgl){SGL_KEYED, (uintptr_t)ends.buf, len, iw_mr_rkey(ends.mr)};
}

struct nvme_command
nvmf_ends_command(uint8_t opcode, uint32_t lba, uint32_t blocks, struct sgl sgl)
{
	return (struct nvme_command){.opcode = opcode, .nsid = 1, .cdw10 = lba, .cdw12 = blocks - 1, .sgl = sgl};
}

void
nvmf_ends_fill(uint8_t *p, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24);
	}
}
