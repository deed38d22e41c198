/* SPDX-License-Identifier: BSD-3-Clause */
#include "nvmf_ends.h"

#include <stdlib.h>
#include <unistd.h>

#define CONNS 256
#define PATIENCE_NS UINT64_C(10000000000)
#define GUARD 4096 /* octets around the host's buffer that nobody may touch */

struct nvmf_ends ends;
static uint16_t port[2];
static uint8_t memory[GUARD + BUF + GUARD];

static void
turn(void)
{
	for (uint32_t i = 0; i < ends.server.n; i++)
		serve_turn(&ends.server.side[i]);
}

void
nvmf_ends_turns(int n)
{
	while (n-- > 0) {
		iw_engine_poll(ends.near.engine);
		turn();
	}
}

uint64_t
nvmf_ends_deadline(void)
{
	return iw_engine_now(ends.near.engine) + PATIENCE_NS;
}

bool
nvmf_ends_turn(uint64_t deadline)
{
	nvmf_ends_turns(1);
	return iw_engine_now(ends.near.engine) < deadline;
}

void
nvmf_ends_await(const bool *flag)
{
	uint64_t end = nvmf_ends_deadline();

	while (!*flag && nvmf_ends_turn(end))
		;
	assert_true(*flag);
}

int
nvmf_ends_conns(void)
{
	int n = 0;

	for (uint32_t i = 0; i < ends.server.n; i++)
		n += ends.server.side[i].num_conns;
	return n;
}

uint32_t
nvmf_ends_engine_of(int cntlid, uint16_t qid)
{
	return ends.target.ctrls.ctrl[cntlid - 1].queue[qid]->shard->number;
}

void
nvmf_ends_await_conns(int num)
{
	uint64_t end = nvmf_ends_deadline();

	while (nvmf_ends_conns() != num && nvmf_ends_turn(end))
		;
	assert_int_equal(nvmf_ends_conns(), num);
}

void
nvmf_ends_await_responses(struct initiator *i, struct nvme_response *r, int n)
{
	uint64_t end = nvmf_ends_deadline();
	int have = 0;

	while ((have += initiator_poll(i, &r[have], n - have)) < n && nvmf_ends_turn(end))
		;
	assert_int_equal(have, n);
}

int
nvmf_ends_make_file(const char *folder, off_t len, char *path, size_t path_len)
{
	char why[256];
	struct bdev *b;
	int fd;

	snprintf(path, path_len, "%s/nvmf_disk.XXXXXX", folder);
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	assert_int_equal(ftruncate(fd, len), 0);
	b = bdev_open(path, false, NULL, 0, why, sizeof(why));
	if (b) {
		bdev_close(b);
		return fd;
	}
	print_message("%s\n", why);
	close(fd);
	unlink(path);
	return -1;
}

static void
open_host(struct host *h, uint16_t port_id, const char *ip, uint32_t engines)
{
	/* Each engine has packet buffers of its own, and a test has little memory: smaller ones. */
	struct host_options o = {.port_id = port_id,
				 .prefix_len = 24,
				 .has_ip = true,
				 .no_claim = true,
				 .mtu = engines > 1 ? 1500 : 9000,
				 .max_conns = CONNS,
				 .engines = engines};

	assert_int_equal(iw_addr_parse(ip, &o.ip), 0);
	assert_true(host_open(h, &o));
}

static void
open_ends(uint32_t engines)
{
	struct options o = {.port = NVMF_PORT, .buffer_mib = 4};

	assert_int_equal(iw_wire_create("nvmf", 1024, &port[0], &port[1]), 0);
	open_host(&ends.far, port[0], "192.0.2.1", engines);
	open_host(&ends.near, port[1], "192.0.2.2", 1);
	assert_int_equal(serve_open(&ends.server, &ends.far, &o, &ends.target), 0);
	ends.pd = iw_pd_create(ends.near.domain);
	memset(memory, 0xa5, sizeof(memory));
	ends.buf = memory + GUARD;
	ends.mr = iw_mr_reg(ends.pd, ends.buf, BUF, IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE, NULL);
}

void
nvmf_ends_open_with(const char *const *spec, int n, uint32_t engines)
{
	memset(&ends, 0, sizeof(ends));
	subsys_init(&ends.target.subsys[0], NQN);
	for (int i = 0; i < n; i++)
		subsys_add_ns(&ends.target.subsys[0], spec[i]);
	ends.target.num_subsys = 1;
	open_ends(engines);
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
	open_ends(1);
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
	nvmf_ends_await_conns(0);
	assert_int_equal(ends.target.ctrls.used, 0);
	for (uint32_t i = 0; i < ends.server.n; i++)
		assert_int_equal(ends.server.side[i].shard.bufs.num_free, ends.server.side[i].shard.bufs.num);
	serve_close(&ends.server);
	iw_mr_dereg(ends.mr);
	iw_pd_destroy(ends.pd);
	host_close(&ends.near);
	host_close(&ends.far);
	iw_wire_destroy(port[0], port[1]);
	for (int i = 0; i < GUARD; i++)
		assert_true(memory[i] == 0xa5 && memory[GUARD + BUF + i] == 0xa5);
	return 0;
}

void
nvmf_ends_start(struct initiator *i, uint16_t qid, uint16_t depth, const struct iw_cm_attr *attr)
{
	nvmf_ends_begin(i, NVMF_PORT, qid, depth, attr);
	for (uint64_t end = nvmf_ends_deadline(); !i->up && !i->ended && nvmf_ends_turn(end);)
		;
}

void
nvmf_ends_begin(struct initiator *i, uint16_t at, uint16_t qid, uint16_t depth, const struct iw_cm_attr *attr)
{
	struct iw_addr addr;

	assert_int_equal(iw_addr_parse("192.0.2.1", &addr), 0);
	addr.port = at;
	assert_int_equal(initiator_connect(i, ends.near.engine, ends.pd, &addr, qid, depth,
					   qid ? EXEC_CAPSULE_DATA : EXEC_CAPSULE_ADMIN, attr),
			 0);
	i->turn = turn;
}

int
nvmf_ends_connect(struct initiator *admin, struct initiator *io, const char *host, uint16_t depth)
{
	int cntlid;

	nvmf_ends_start(admin, 0, 32, NULL);
	assert_true(admin->up);
	cntlid = initiator_fabrics_connect(admin, NQN, host, 0xffff, 0);
	assert_true(cntlid > 0);
	assert_true(initiator_enable(admin));
	if (!io)
		return cntlid;
	nvmf_ends_start(io, 1, depth, NULL);
	assert_true(io->up);
	assert_int_equal(initiator_fabrics_connect(io, NQN, host, (uint16_t)cntlid, 0), cntlid);
	return cntlid;
}

void
nvmf_ends_admin(void)
{
	ends.cntlid = nvmf_ends_connect(&ends.admin, NULL, HOST, 0);
}

void
nvmf_ends_io(void)
{
	ends.cntlid = nvmf_ends_connect(&ends.admin, &ends.io, HOST, 128);
}

uint16_t
nvmf_ends_call(struct initiator *i, struct nvme_command c, const void *data, uint32_t len, uint64_t *result)
{
	struct nvme_response r;

	assert_true(initiator_call(i, &c, data, len, &r));
	assert_int_equal(r.cid, c.cid);
	assert_int_equal(r.sq_id, i->qid);
	if (result)
		*result = r.result;
	return r.status;
}

struct nvme_command
nvmf_ends_shutdown(void)
{
	return (struct nvme_command){.opcode = nvme_admin_fabrics,
				     .nsid = nvme_fabrics_type_property_set,
				     .cdw11 = PROP_CC,
				     .cdw12 = 1u | 1u << 14 | 6u << 16 | 4u << 20};
}

uint64_t
nvmf_ends_csts(void)
{
	struct nvme_command get = {
		.opcode = nvme_admin_fabrics, .cid = 1, .nsid = nvme_fabrics_type_property_get, .cdw11 = PROP_CSTS};
	uint64_t csts;

	assert_int_equal(nvmf_ends_call(&ends.admin, get, NULL, 0, &csts), 0);
	return csts;
}

uint64_t
nvmf_ends_shst(void)
{
	return nvmf_ends_csts() & CSTS_SHST;
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

/* Past the target. */
static void
whole_disk(enum bdev_op op, uint8_t *data)
{
	struct bdev_io io = {.op = op, .len = DISK, .iov[0] = {data, DISK}, .iovcnt = 1};

	assert_true(bdev_submit(ends.target.subsys[0].ns[0].bdev[0], &io));
}

void
nvmf_ends_fill_disk(void)
{
	nvmf_ends_fill(ends.disk, DISK, 3);
	whole_disk(BDEV_WRITE, ends.disk);
}

void
nvmf_ends_untouched(void)
{
	static uint8_t now[DISK];

	for (int i = 0; i < BUF; i++)
		assert_int_equal(ends.buf[i], 0xa5);
	whole_disk(BDEV_READ, now);
	assert_memory_equal(now, ends.disk, DISK);
}

void
nvmf_ends_fill(uint8_t *p, uint32_t len, uint32_t seed)
{
	for (uint32_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24);
	}
}
