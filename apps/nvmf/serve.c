/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

#define BACKLOG 64
#define DISK_BATCH 32
#define EXPIRY_NS UINT64_C(100000000)
#define CONFLICTS_EVERY 100000        /* turns */
#define LEAVE_NS UINT64_C(2000000000) /* how long hosts may take to answer our hanging up */

_Static_assert(SHARD_MAX == IW_MAX_ENGINES, "a shard for each engine");

/* ---- Open and close --------------------------------------------------------------------------------------------- */

static void
close_disks(const struct host_side *side)
{
	for (int i = 0; i < side->target->num_subsys; i++)
		subsys_close(&side->target->subsys[i], side->shard.number);
}

static bool
open_disks(struct host_side *side)
{
	struct target *t = side->target;
	struct bufs *b = &side->shard.bufs;
	char why[512];

	for (int i = 0; i < t->num_subsys; i++)
		if (!subsys_open(&t->subsys[i], side->shard.number, b->base, b->len, why, sizeof(why)))
			return cli_fail("%s", why) == 0;
	return true;
}

static bool
open_bufs(struct host_side *side, const struct options *o)
{
	struct bufs *b = &side->shard.bufs;
	int err;

	if (!bufs_open(b, (size_t)o->buffer_mib << 20)) {
		*b = (struct bufs){.num = 0};
		return cli_fail("no memory for %u MiB of data buffers; choose less with --buffers", o->buffer_mib) == 0;
	}
	side->bufs_mr = iw_mr_reg(side->pd, b->base, b->len, IW_LOCAL_WRITE, &err);
	return side->bufs_mr || cli_fail("the data buffers could not be registered: %s", iw_err_text(err)) == 0;
}

static bool
listen_at(struct host_side *side, const struct options *o)
{
	struct iw_addr addr = {.port = o->port};
	int err;

	side->listener = iw_cm_create(side->engine, conn_event, side);
	err = iw_cm_listen(side->engine, side->listener, &addr, BACKLOG);
	return err == 0 || cli_fail("cannot listen at port %u: %s", o->port, iw_err_text(err)) == 0;
}

static bool
open_side(struct host_side *side, const struct options *o)
{
	request_list_init(&side->no_bufs);
	if (!open_bufs(side, o) || !open_disks(side))
		return false;
	if (!conn_open_side(side))
		return cli_fail("no memory for a completion queue") == 0;
	return listen_at(side, o);
}

int
serve_open(struct server *s, struct host *host, const struct options *o, struct target *target)
{
	memset(s, 0, sizeof(*s));
	s->target = target;
	s->pd = iw_pd_create(host->domain);
	if (!s->pd)
		return cli_fail("no memory for a protection domain");
	snprintf(target->trsvcid, sizeof(target->trsvcid), "%u", o->port);
	while (s->n < host->n) {
		struct host_side *side = &s->side[s->n];

		side->shard.number = s->n;
		side->engine = host->engines[s->n++];
		side->pd = s->pd;
		side->target = target;
		side->no_crc = o->no_crc;
		if (!open_side(side, o)) {
			serve_close(s);
			return 1;
		}
	}
	return 0;
}

bool
serve_idle(const struct server *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!conn_idle(&s->side[i]))
			return false;
	return true;
}

static void
close_conns(struct server *s, bool at_once)
{
	for (uint32_t i = 0; i < s->n; i++)
		conn_close_all(&s->side[i], at_once);
}

static void
turn_all(struct server *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		serve_turn(&s->side[i]);
}

/* Hosts are told; one that does not answer in time is dropped with the engine.  Disks finish what they have. */
static void
leave(struct server *s)
{
	uint64_t end = iw_engine_now(s->side[0].engine) + LEAVE_NS;

	close_conns(s, false);
	while (!serve_idle(s) && iw_engine_now(s->side[0].engine) < end)
		turn_all(s);
	close_conns(s, true);
	while (!serve_idle(s))
		turn_all(s);
}

static void
close_side(struct host_side *side)
{
	conn_close_side(side);
	close_disks(side);
	if (side->bufs_mr)
		iw_mr_dereg(side->bufs_mr);
	bufs_close(&side->shard.bufs);
}

void
serve_close(struct server *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->side[i].listener)
			iw_cm_destroy(s->side[i].engine, s->side[i].listener);
	leave(s);
	for (uint32_t i = s->n; i-- > 0;)
		close_side(&s->side[i]);
	iw_pd_destroy(s->pd);
}

/* ---- A turn ----------------------------------------------------------------------------------------------------- */

static int
poll_disk(struct host_side *side, struct bdev *disk)
{
	struct bdev_io *done[DISK_BATCH];
	int n = bdev_poll(disk, done, DISK_BATCH);

	for (int i = 0; i < n; i++)
		conn_resume(side, (struct request *)((char *)done[i] - offsetof(struct request, io)));
	return n;
}

static int
poll_disks(struct host_side *side)
{
	struct target *t = side->target;
	int work = 0;

	for (int i = 0; i < t->num_subsys; i++)
		for (uint32_t k = 0; k < t->subsys[i].num_ns; k++)
			work += poll_disk(side, t->subsys[i].ns[k].bdev[side->shard.number]);
	return work;
}

int
serve_turn(struct host_side *side)
{
	int work = iw_engine_poll(side->engine);
	uint64_t now = iw_engine_now(side->engine);

	side->shard.now_ns = now;
	work += conn_poll(side);
	if (side->on_disk > 0)
		work += poll_disks(side);
	if (now >= side->next_expiry) {
		ctrl_expire(&side->target->ctrls, &side->shard);
		conn_mind_all(side);
		side->next_expiry = now + EXPIRY_NS;
	}
	return work;
}

/* ---- What is said ----------------------------------------------------------------------------------------------- */

static void
say_ready(const struct options *o, const struct target *t, const struct host *host)
{
	char text[IW_ADDR_TEXT];

	printf("listening at %s port %u\n",
	       o->host.has_ip ? iw_addr_format(&o->host.ip, text, sizeof(text)) : "every address", o->port);
	for (int i = 0; i < t->num_subsys; i++)
		for (uint32_t k = 0; k < t->subsys[i].num_ns; k++)
			printf("  %s namespace %u: %s, %llu blocks of %u%s\n", t->subsys[i].nqn,
			       t->subsys[i].ns[k].nsid, t->subsys[i].ns[k].spec,
			       (unsigned long long)t->subsys[i].ns[k].bdev[0]->blocks,
			       t->subsys[i].ns[k].bdev[0]->block_size,
			       t->subsys[i].ns[k].read_only ? ", read-only" : "");
	if (host->n > 1)
		printf("%u engines, steered by %s\n", host->n,
		       iw_engines_steering_name(iw_engines_steering(host->engine)));
	fflush(stdout);
}

/* What was said of the controllers so far. */
struct said {
	uint32_t changes;
	bool used[CTRL_MAX];
	bool queues;
};

static void
say_change(const struct ctrl *c, unsigned number)
{
	if (c->used)
		printf("controller %u: %s connected to %s\n", number, c->hostnqn,
		       c->subsys ? c->subsys->nqn : "the discovery subsystem");
	else
		printf("controller %u: gone%s\n", number, c->expired ? ", its host was silent for too long" : "");
}

/* Not under the lock, which other engines may want. */
static void
say_change_of(struct said *said, struct ctrls *all, unsigned i)
{
	struct ctrl c;

	rte_spinlock_lock(&all->lock);
	c = all->ctrl[i];
	rte_spinlock_unlock(&all->lock);
	if (said->used[i] != c.used)
		say_change(&c, i + 1);
	said->used[i] = c.used;
}

static void
say_changes(struct said *said, const struct server *s)
{
	struct ctrls *all = &s->target->ctrls;
	uint32_t changes = __atomic_load_n(&all->changes, __ATOMIC_RELAXED);
	bool queues = !serve_idle(s);

	if (said->changes == changes && said->queues == queues)
		return;
	for (unsigned i = 0; i < CTRL_MAX; i++)
		say_change_of(said, all, i);
	if (said->queues && !queues)
		puts("all queues are closed");
	said->queues = queues;
	said->changes = changes;
	fflush(stdout);
}

/* ---- The program ------------------------------------------------------------------------------------------------ */

struct serving {
	struct server server;
	struct host host;
	struct said said;
};

/* The loop of one engine; the first one's speaks for all. */
static int
loop(void *arg, uint32_t number)
{
	struct serving *v = arg;

	for (uint32_t n = 1; !cli_stopped(); n++) {
		serve_turn(&v->server.side[number]);
		if (number > 0)
			continue;
		say_changes(&v->said, &v->server);
		if (n % CONFLICTS_EVERY == 0)
			host_report_conflicts(&v->host);
	}
	return 0;
}

int
serve(const struct options *o, struct target *target)
{
	static struct serving v;
	int result;

	if (!host_open(&v.host, &o->host))
		return 1;
	if (serve_open(&v.server, &v.host, o, target) != 0) {
		host_close(&v.host);
		return 1;
	}
	say_ready(o, target, &v.host);
	result = host_run(&v.host, loop, &v);
	serve_close(&v.server);
	host_close(&v.host);
	return result;
}
