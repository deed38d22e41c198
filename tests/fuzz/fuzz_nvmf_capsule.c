/* SPDX-License-Identifier: BSD-3-Clause */
/* Capsules of any content, one after another, on five queues of the storage target, two of which have not seen Connect:
 * what the commands do is played as the transport does it, with RAM behind the namespaces.  The input is a row of
 * records: where (a queue), what is put right (PSDT, NSID, LBA, the names of Connect), how long the data behind the
 * command is, the command's 64 octets, the data. */
#include <assert.h>
#include <nvme/types.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"

#define REQUESTS 16
#define DATA_MAX 1024
#define RECORDS_MAX 64
#define BLOCKS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ADMIN, IO, DISCOVERY, NEW_ADMIN, NEW_IO, QUEUES };

static struct target target;
static struct shard shard;
static struct queue queues[QUEUES];
static struct request requests[REQUESTS];
static uint8_t kept[BLOCKS * 512]; /* what is on the read-only namespace */

struct in {
	const uint8_t *p, *end;
};

static uint8_t
take(struct in *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

/* ---- The target ------------------------------------------------------------------------------------------------- */

static void
open_target(void)
{
	char why[128];
	struct subsys *s = &target.subsys[0];
	struct bdev_io io = {.op = BDEV_WRITE, .len = sizeof(kept), .iov[0] = {kept, sizeof(kept)}, .iovcnt = 1};

	if (target.num_subsys > 0)
		return;
	subsys_init(s, "nqn.s");
	subsys_add_ns(s, "ram:128K");
	subsys_add_ns(s, "ram:128K");
	subsys_add_ns(s, "ram:4M,bs=4096");
	s->ns[1].read_only = true;
	target.num_subsys = 1;
	if (!bufs_open(&shard.bufs, 2 << 20) || !subsys_open(s, 0, shard.bufs.base, shard.bufs.len, why, sizeof(why)))
		abort();
	memset(kept, 0x5a, sizeof(kept));
	bdev_submit(s->ns[1].bdev[0], &io);
}

/* A controller with both its queues, and a discovery controller, all ready. */
static void
connect(void)
{
	struct connect_data d = {.cntlid = 0xffff, .subnqn = "nqn.s", .hostnqn = "nqn.h"};
	struct ctrl *c, *discovery;

	memset(&target.ctrls, 0, sizeof(target.ctrls));
	for (uint16_t i = 0; i < QUEUES; i++)
		queues[i] = (struct queue){.shard = &shard, .qid = i == IO ? 1 : i == NEW_IO ? 2 : 0, .size = REQUESTS};
	c = ctrl_new(&target.ctrls, &target.subsys[0], &d, 0, &queues[ADMIN]);
	discovery = ctrl_new(&target.ctrls, NULL, &d, 0, &queues[DISCOVERY]);
	ctrl_prop_set(c, PROP_CC, 4, 1u | 6u << 16 | 4u << 20);
	d.cntlid = c->cntlid;
	if (ctrl_join(&target.ctrls, &target.subsys[0], &d, &queues[IO]) != CTRL_JOINED)
		abort();
	ctrl_prop_set(discovery, PROP_CC, 4, 1);
}

/* ---- The transport ---------------------------------------------------------------------------------------------- */

static void
from_capsule(struct request *req)
{
	const uint8_t *at = req->capsule + CAPSULE_COMMAND + req->cmd.sgl.addr;

	for (int i = 0; i < req->iovcnt; i++) {
		memcpy(req->iov[i].iov_base, at, req->iov[i].iov_len);
		at += req->iov[i].iov_len;
	}
}

/* What a host's memory holds, whatever the address. */
static void
from_host(struct request *req)
{
	for (int i = 0; i < req->iovcnt; i++)
		memset(req->iov[i].iov_base, (int)req->cmd.sgl.key, req->iov[i].iov_len);
}

static void
take_bufs(struct request *req)
{
	uint64_t sum = 0;

	req->iovcnt = bufs_take(&shard.bufs, req->len, req->iov);
	assert(req->iovcnt > 0);
	for (int i = 0; i < req->iovcnt; i++)
		sum += req->iov[i].iov_len;
	assert(sum == req->len && req->len <= req->cmd.sgl.len && req->len <= EXEC_DATA_MAX);
	if (req->row->twice) {
		req->diskcnt = bufs_take(&shard.bufs, req->len, req->disk);
		assert(req->diskcnt > 0);
	}
}

static void
give_bufs(struct request *req)
{
	bufs_give(&shard.bufs, req->iov, req->iovcnt);
	bufs_give(&shard.bufs, req->disk, req->diskcnt);
	req->iovcnt = req->diskcnt = 0;
	assert(shard.bufs.num_free == shard.bufs.num);
}

static void
fetch(struct request *req)
{
	take_bufs(req);
	if (req->dir != DATA_FROM_HOST)
		return;
	if (req->cmd.sgl.kind == SGL_CAPSULE)
		from_capsule(req);
	else
		from_host(req);
}

static struct request *
free_request(void)
{
	for (int i = 0; i < REQUESTS; i++)
		if (!requests[i].under_way)
			return &requests[i];
	return NULL;
}

static void
check_status(const struct request *req)
{
	/* Type and code, "do not retry"; nothing beside. */
	assert((req->status & ~(0x7ff | NVME_SC_DNR)) == 0);
	if (req->dir == DATA_TO_HOST && req->status == 0)
		assert(req->iovcnt > 0);
}

static void
finish(struct request *req, enum exec_result result)
{
	if (result == EXEC_HELD)
		return;
	assert(result == EXEC_DONE); /* RAM never waits */
	check_status(req);
	for (struct request *held = req->aborted; held; held = held->next) {
		assert(held->under_way && held != req && held->status != 0);
		held->under_way = false;
	}
	give_bufs(req);
	req->under_way = false;
}

static void
play(struct queue *q, const uint8_t *capsule, uint32_t len)
{
	struct request *req = free_request();
	uint16_t status;

	if (!req)
		return;
	memset(req, 0xee, sizeof(*req)); /* what nobody sets may be anything */
	*req = (struct request){.queue = q, .capsule = capsule, .capsule_len = len, .under_way = true};
	capsule_command_parse(capsule, &req->cmd);
	status = exec_plan(&target, req);
	if (status == 0)
		status = exec_check_sgl(req);
	if (status != 0) {
		finish(req, exec_fail(req, status));
		return;
	}
	if (req->dir != DATA_NONE)
		fetch(req);
	finish(req, exec_run(&target, req));
}

/* ---- The input -------------------------------------------------------------------------------------------------- */

/* Names and controller as a Connect in this capsule would have them. */
static void
put_names(uint8_t *data, bool io)
{
	struct connect_data d = {.cntlid = io ? 1 : 0xffff, .subnqn = "nqn.s", .hostnqn = "nqn.h"};

	capsule_connect_emit(&d, data);
}

static void
record(struct in *in)
{
	uint8_t where = take(in), right = take(in);
	uint32_t data_len = take(in) * 16u % (DATA_MAX + 1), len = CAPSULE_COMMAND + data_len;
	uint8_t *capsule = malloc(len); /* of its own, so that an octet too many is seen */

	for (uint32_t i = 0; i < len; i++)
		capsule[i] = take(in);
	if (right & 1)
		capsule[1] = 0x40;
	if (right & 2)
		memcpy(capsule + 4, (uint8_t[]){(uint8_t)(right >> 6), 0, 0, 0}, 4);
	if (right & 4)
		memset(capsule + 41, 0, 7); /* a small LBA */
	if ((right & 8) && data_len == CAPSULE_CONNECT_DATA)
		put_names(capsule + CAPSULE_COMMAND, where % QUEUES == NEW_IO);
	play(&queues[where % QUEUES], capsule, len);
	free(capsule);
}

static void
check_read_only(void)
{
	static uint8_t now[sizeof(kept)];
	struct bdev_io io = {.op = BDEV_READ, .len = sizeof(now), .iov[0] = {now, sizeof(now)}, .iovcnt = 1};

	bdev_submit(target.subsys[0].ns[1].bdev[0], &io);
	assert(memcmp(now, kept, sizeof(kept)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct in in = {data, data + len};

	open_target();
	connect();
	memset(requests, 0, sizeof(requests));
	for (int n = 0; in.p < in.end && n < RECORDS_MAX; n++)
		record(&in);
	check_read_only();
	assert(shard.bufs.num_free == shard.bufs.num);
	return 0;
}
