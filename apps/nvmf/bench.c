/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <getopt.h>
#include <nvme/types.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli.h"
#include "hist.h"
#include "initiator.h"
#include "serve.h"

#define NQN "nqn.2026-11.org.dpdk-iwarp:bench"
#define HOSTNQN "nqn.2026-11.org.dpdk-iwarp:bench-host"
#define DISK "ram:64M,bs=512"
#define BLOCK 512
#define PORT 4420
#define WIRE_RING 4096
#define DEPTH_MAX 128 /* of one queue; more are spread over several */
#define QUEUES_MAX 8
#define BATCH 32
#define CONNECT_NS UINT64_C(5000000000)
#define MTU 9000

struct bench_options {
	uint32_t size; /* octets of one command */
	double seconds;
	uint32_t depth; /* 0: a row for each of 1, 4, 16, 32, 64, 128 */
	const char *rw; /* NULL: both */
	uint16_t mtu;
	bool no_crc, keyed;
};

/* The target's side; its loop is on another lcore. */
struct far_end {
	struct host host;
	struct server server;
	struct target target;
	bool stop;
};

struct load {
	struct initiator q[QUEUES_MAX];
	uint32_t num_queues;
	uint8_t *data;
	struct iw_mr *mr;
	uint64_t began[QUEUES_MAX][DEPTH_MAX];
	uint64_t seed, blocks, errors, done;
	uint32_t under_way;
	uint8_t opcode;
	struct hist times; /* ns */
};

struct near_end {
	struct host host;
	struct iw_pd *pd;
	struct initiator admin;
	int cntlid;
	bool no_crc;
};

static struct far_end far;
static struct near_end near;
static struct load load;

/* ---- Options ---------------------------------------------------------------------------------------------------- */

static void
usage(void)
{
	fputs("dpdk-iwarp-nvmf [EAL options, two lcores] -- bench [-s BYTES 4096] [-t SECONDS 2] [-q DEPTH] "
	      "[--rw randread|randwrite] [--mtu N] [--no-crc] [--keyed]\n"
	      "Writes of up to 8 KiB are in the capsule, as Linux does it; --keyed: all are fetched by RDMA Read.\n",
	      stdout);
}

static bool
take(int opt, const char *arg, struct bench_options *o)
{
	uint64_t n = 0;
	bool ok = true;

	switch (opt) {
	case 's':
		ok = cli_number("-s", arg, BLOCK, EXEC_DATA_MAX, &n) && n % BLOCK == 0;
		o->size = (uint32_t)n;
		return ok || cli_fail("-s %s: blocks of 512 octets, 1 MiB at most", arg) == 0;
	case 't':
		ok = cli_number("-t", arg, 1, 3600, &n);
		o->seconds = (double)n;
		return ok;
	case 'q':
		ok = cli_number("-q", arg, 1, (uint64_t)DEPTH_MAX * QUEUES_MAX - QUEUES_MAX, &n);
		o->depth = (uint32_t)n;
		return ok;
	case 'm':
		ok = cli_number("--mtu", arg, 576, 65535, &n);
		o->mtu = (uint16_t)n;
		return ok;
	case 'c':
		return o->no_crc = true;
	case 'k':
		return o->keyed = true;
	default:
		o->rw = arg;
		if (strcmp(arg, "randread") == 0 || strcmp(arg, "randwrite") == 0)
			return true;
		return cli_fail("--rw %s: randread or randwrite", arg) == 0;
	}
}

static bool
parse(int argc, char **argv, struct bench_options *o, bool *help)
{
	static const struct option longs[] = {
		{"rw", required_argument, NULL, 'r'}, {"mtu", required_argument, NULL, 'm'},
		{"no-crc", no_argument, NULL, 'c'},   {"keyed", no_argument, NULL, 'k'},
		{"help", no_argument, NULL, 'h'},     {NULL, 0, NULL, 0}};
	int opt;

	*o = (struct bench_options){.size = 4096, .seconds = 2, .mtu = MTU};
	opterr = 0;
	optind = 0;
	while ((opt = getopt_long(argc, argv, "s:t:q:h", longs, NULL)) != -1) {
		if (opt == 'h')
			return *help = true;
		if (opt == '?')
			return cli_fail("%s: unknown option, or its value is missing", argv[optind - 1]) == 0;
		if (!take(opt, optarg, o))
			return false;
	}
	return true;
}

/* ---- The two ends ----------------------------------------------------------------------------------------------- */

static int
far_loop(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&far.stop, __ATOMIC_ACQUIRE))
		serve_turn(&far.server.side[0]);
	return 0;
}

static bool
open_host(struct host *host, uint16_t port_id, const char *ip, uint16_t mtu)
{
	struct host_options o = {.port_id = port_id, .prefix_len = 24, .has_ip = true, .no_claim = true, .mtu = mtu};

	return iw_addr_parse(ip, &o.ip) == 0 && host_open(host, &o);
}

static bool
open_far(uint16_t port_id, const struct bench_options *bench)
{
	struct options o = {.port = PORT, .buffer_mib = 64, .no_crc = bench->no_crc};

	subsys_init(&far.target.subsys[0], NQN);
	far.target.num_subsys = 1;
	subsys_add_ns(&far.target.subsys[0], DISK);
	return open_host(&far.host, port_id, "192.0.2.1", bench->mtu) &&
	       serve_open(&far.server, &far.host, &o, &far.target) == 0;
}

static bool
wait_up(struct initiator *i)
{
	uint64_t end = iw_engine_now(i->engine) + CONNECT_NS;

	while (!i->up && !i->ended && iw_engine_now(i->engine) < end)
		iw_engine_poll(i->engine);
	return i->up && !i->ended;
}

static bool
open_queue(struct initiator *i, uint16_t qid, uint16_t depth, uint16_t cntlid)
{
	struct private_request r = {.qid = qid, .hrqsize = depth, .hsqsize = (uint16_t)(depth - 1)};
	uint8_t raw[CAPSULE_PRIVATE];
	struct iw_cm_attr attr = {.private_data = raw, .private_len = sizeof(raw), .no_crc = near.no_crc};
	struct iw_addr addr = {.port = 0};
	uint32_t in_capsule = qid == 0 ? EXEC_CAPSULE_ADMIN : EXEC_CAPSULE_DATA;
	int result;

	capsule_private_emit(&r, raw);
	iw_addr_parse("192.0.2.1", &addr);
	addr.port = PORT;
	if (initiator_connect(i, near.host.engine, near.pd, &addr, qid, depth, in_capsule, &attr) != 0 || !wait_up(i))
		return cli_fail("queue %u did not connect: %s", qid, iw_err_text(i->status)) == 0;
	result = initiator_fabrics_connect(i, NQN, HOSTNQN, cntlid, 0);
	if (result < 0)
		return cli_fail("queue %u: Fabrics Connect failed with status 0x%x", qid, -result) == 0;
	near.cntlid = result;
	return true;
}

static bool
open_near(uint16_t port_id, const struct bench_options *o)
{
	near.no_crc = o->no_crc;
	if (!open_host(&near.host, port_id, "192.0.2.2", o->mtu))
		return false;
	near.pd = iw_pd_create(near.host.domain);
	if (!open_queue(&near.admin, 0, 32, 0xffff))
		return false;
	return initiator_enable(&near.admin) || cli_fail("the controller did not get ready") == 0;
}

/* ---- The load --------------------------------------------------------------------------------------------------- */

static uint64_t
random_block(const struct bench_options *o)
{
	uint64_t x = load.seed;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	load.seed = x;
	return (uint64_t)((unsigned __int128)x * (load.blocks - o->size / BLOCK + 1) >> 64);
}

static void
submit(const struct bench_options *o, uint32_t queue, uint16_t slot, uint64_t now)
{
	uint64_t lba = random_block(o);
	struct nvme_command c = {.opcode = load.opcode, .cid = slot, .nsid = 1};
	uint8_t *data = load.data + ((size_t)queue * DEPTH_MAX + slot) * o->size;
	bool in_capsule = load.opcode == nvme_cmd_write && o->size <= EXEC_CAPSULE_DATA && !o->keyed;
	int err;

	c.sgl = (struct sgl){SGL_KEYED, (uintptr_t)data, o->size, iw_mr_rkey(load.mr)};
	if (in_capsule)
		c.sgl = (struct sgl){.kind = SGL_CAPSULE, .len = o->size};
	c.cdw10 = (uint32_t)lba;
	c.cdw11 = (uint32_t)(lba >> 32);
	c.cdw12 = o->size / BLOCK - 1;
	load.began[queue][slot] = now;
	if (in_capsule)
		err = initiator_send_from(&load.q[queue], &c,
					  &(struct iw_sge){(uintptr_t)data, o->size, iw_mr_lkey(load.mr)});
	else
		err = initiator_send(&load.q[queue], &c, NULL, 0);
	if (err == 0)
		load.under_way++;
	else
		load.errors++;
}

static void
reap(const struct bench_options *o, uint32_t queue, bool more)
{
	struct nvme_response r[BATCH];
	int n = initiator_poll(&load.q[queue], r, BATCH);
	uint64_t now = n > 0 ? iw_engine_now(near.host.engine) : 0;

	for (int i = 0; i < n; i++) {
		load.under_way--;
		load.done++;
		load.errors += r[i].status != 0;
		hist_add(&load.times, now - load.began[queue][r[i].cid]);
		if (more)
			submit(o, queue, r[i].cid, now);
	}
}

static bool
alive(void)
{
	for (uint32_t q = 0; q < load.num_queues; q++)
		if (load.q[q].ended)
			return false;
	return !cli_stopped();
}

static double
run_load(const struct bench_options *o, uint32_t depth)
{
	struct iw_engine *e = near.host.engine;
	uint64_t begin = iw_engine_now(e), end = begin + (uint64_t)(o->seconds * 1e9), now = begin;

	for (uint32_t i = 0; i < depth; i++)
		submit(o, i % load.num_queues, (uint16_t)(i / load.num_queues), begin);
	while (load.under_way > 0 && alive()) {
		iw_engine_poll(e);
		now = iw_engine_now(e);
		for (uint32_t q = 0; q < load.num_queues; q++)
			reap(o, q, now < end);
	}
	return (double)(now - begin) / 1e9;
}

static bool
open_load(const struct bench_options *o, uint32_t depth)
{
	size_t len = (size_t)QUEUES_MAX * DEPTH_MAX * o->size;

	load.num_queues = (depth + DEPTH_MAX - 2) / (DEPTH_MAX - 1);
	load.seed = 0x9e3779b97f4a7c15u;
	load.blocks = far.target.subsys[0].ns[0].bdev[0]->size / BLOCK;
	load.data = bufs_map(len);
	if (!load.data)
		return cli_fail("no memory for the data") == 0;
	memset(load.data, 0x5a, len);
	load.mr = iw_mr_reg(near.pd, load.data, len, IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE, NULL);
	for (uint32_t q = 0; q < load.num_queues; q++)
		if (!open_queue(&load.q[q], (uint16_t)(q + 1), DEPTH_MAX, (uint16_t)near.cntlid))
			return false;
	return load.mr != NULL;
}

static void
close_load(const struct bench_options *o)
{
	for (uint32_t q = 0; q < load.num_queues; q++)
		initiator_close(&load.q[q]);
	for (int i = 0; i < 1000; i++)
		iw_engine_poll(near.host.engine);
	if (load.mr)
		iw_mr_dereg(load.mr);
	if (load.data)
		munmap(load.data, (size_t)QUEUES_MAX * DEPTH_MAX * o->size);
}

static bool
row(const struct bench_options *o, const char *rw, uint32_t depth)
{
	double seconds;
	bool ok;

	memset(&load, 0, sizeof(load));
	hist_init(&load.times);
	load.opcode = strcmp(rw, "randread") == 0 ? nvme_cmd_read : nvme_cmd_write;
	ok = open_load(o, depth);
	if (ok) {
		seconds = run_load(o, depth);
		printf(" %-9s  %7u  %5u  %11.0f  %9.1f  %9.2f  %9.2f  %9.2f  %10.2f\n", rw, o->size, depth,
		       (double)load.done / seconds, (double)load.done * o->size / seconds / (1 << 20),
		       hist_mean(&load.times) / 1e3, (double)hist_at(&load.times, 0.5) / 1e3,
		       (double)hist_at(&load.times, 0.99) / 1e3, (double)hist_at(&load.times, 0.999) / 1e3);
		ok = load.errors == 0 && load.under_way == 0;
		if (!ok)
			cli_fail("%llu commands failed, %u were not answered", (unsigned long long)load.errors,
				 load.under_way);
	}
	close_load(o);
	return ok;
}

static bool
has_crc(void)
{
	struct iw_qp_info info = {.crc = false};

	iw_qp_query(near.admin.qp, &info);
	return info.crc;
}

static bool
rows(const struct bench_options *o)
{
	static const uint32_t depths[] = {1, 4, 16, 32, 64, 128};
	static const char *const kinds[] = {"randread", "randwrite"};
	bool ok = true;

	printf("NVMe over Fabrics through iWARP, in-process wire, MTU %u, CRC %s, RAM disk, one core a side\n"
	       " rw          #bytes  depth         IOPS      MiB/s  avg[usec]  p50[usec]  p99[usec] p99.9[usec]\n",
	       o->mtu, has_crc() ? "on" : "off");
	for (size_t k = 0; k < 2; k++) {
		if (o->rw && strcmp(o->rw, kinds[k]) != 0)
			continue;
		for (size_t i = 0; ok && i < (o->depth ? 1 : sizeof(depths) / sizeof(depths[0])); i++)
			ok = row(o, kinds[k], o->depth ? o->depth : depths[i]);
	}
	return ok;
}

static void
close_ends(void)
{
	if (near.admin.qp)
		initiator_close(&near.admin);
	for (int i = 0; near.host.engine && i < 1000; i++)
		iw_engine_poll(near.host.engine);
	if (near.pd)
		iw_pd_destroy(near.pd);
	host_close(&near.host);
}

int
bench(int argc, char **argv)
{
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	struct bench_options o;
	bool help = false, ok;
	uint16_t a, b;

	if (!parse(argc, argv, &o, &help))
		return 1;
	if (help) {
		usage();
		return 0;
	}
	if (lcore >= RTE_MAX_LCORE)
		return cli_fail("bench needs two lcores: -l 0,1");
	if (iw_wire_create("bench", WIRE_RING, &a, &b) != 0)
		return cli_fail("no memory for the wire");
	if (!open_far(a, &o))
		return 1;
	rte_eal_remote_launch(far_loop, NULL, lcore);
	ok = open_near(b, &o) && rows(&o);
	close_ends();
	__atomic_store_n(&far.stop, true, __ATOMIC_RELEASE);
	rte_eal_wait_lcore(lcore);
	serve_close(&far.server);
	host_close(&far.host);
	iw_wire_destroy(a, b);
	return ok ? 0 : 1;
}
