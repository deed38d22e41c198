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

static bool
open_disks(struct target *t)
{
	char why[512];

	for (int i = 0; i < t->num_subsys; i++) {
		if (!subsys_open(&t->subsys[i], t->bufs.base, t->bufs.len, why, sizeof(why))) {
			while (i-- > 0)
				subsys_close(&t->subsys[i]);
			cli_fail("%s", why);
			return false;
		}
	}
	return true;
}

static bool
open_target(struct target *t, const struct options *o)
{
	if (!bufs_open(&t->bufs, (size_t)o->buffer_mib << 20)) {
		cli_fail("no memory for %u MiB of data buffers; choose less with --buffers", o->buffer_mib);
		return false;
	}
	snprintf(t->trsvcid, sizeof(t->trsvcid), "%u", o->port);
	if (open_disks(t))
		return true;
	bufs_close(&t->bufs);
	return false;
}

static void
close_target(struct target *t)
{
	for (int i = 0; i < t->num_subsys; i++)
		subsys_close(&t->subsys[i]);
	bufs_close(&t->bufs);
}

static int
listen_at(struct server *s, const struct options *o)
{
	struct iw_addr addr = {.port = o->port};
	int err;

	s->listener = iw_cm_create(s->side.engine, conn_event, &s->side);
	err = iw_cm_listen(s->side.engine, s->listener, &addr, BACKLOG);
	return err == 0 ? 0 : cli_fail("cannot listen at port %u: %s", o->port, iw_err_text(err));
}

int
serve_open(struct server *s, struct host *host, const struct options *o, struct target *target)
{
	int err = 0;

	memset(s, 0, sizeof(*s));
	s->side = (struct host_side){.engine = host->engine, .target = target, .no_crc = o->no_crc};
	request_list_init(&s->side.no_bufs);
	if (!open_target(target, o))
		return 1;
	s->side.pd = iw_pd_create(host->domain);
	if (s->side.pd)
		s->side.bufs_mr = iw_mr_reg(s->side.pd, target->bufs.base, target->bufs.len, IW_LOCAL_WRITE, &err);
	if (s->side.bufs_mr && !conn_open_side(&s->side))
		cli_fail("no memory for a completion queue");
	else if (s->side.bufs_mr && listen_at(s, o) == 0)
		return 0;
	if (!s->side.bufs_mr)
		cli_fail("the data buffers could not be registered: %s", iw_err_text(err));
	serve_close(s);
	return 1;
}

static int
poll_disks(struct server *s)
{
	struct target *t = s->side.target;
	struct bdev_io *done[DISK_BATCH];
	int work = 0, n;

	for (int i = 0; i < t->num_subsys; i++) {
		for (uint32_t k = 0; k < t->subsys[i].num_ns; k++) {
			n = bdev_poll(t->subsys[i].ns[k].bdev, done, DISK_BATCH);
			for (int j = 0; j < n; j++)
				conn_resume(&s->side,
					    (struct request *)((char *)done[j] - offsetof(struct request, io)));
			work += n;
		}
	}
	return work;
}

int
serve_turn(struct server *s)
{
	struct target *t = s->side.target;
	int work = iw_engine_poll(s->side.engine);

	t->now_ns = iw_engine_now(s->side.engine);
	work += conn_poll(&s->side);
	work += poll_disks(s);
	if (t->now_ns >= s->next_expiry) {
		ctrl_expire(&t->ctrls, t->now_ns);
		conn_mind_all(&s->side);
		s->next_expiry = t->now_ns + EXPIRY_NS;
	}
	return work;
}

/* Hosts are told; one that does not answer in time is dropped with the engine.  Disks finish what they have. */
static void
leave(struct server *s)
{
	uint64_t end = iw_engine_now(s->side.engine) + LEAVE_NS;

	conn_close_all(&s->side, false);
	while (!conn_idle(&s->side) && iw_engine_now(s->side.engine) < end)
		serve_turn(s);
	conn_close_all(&s->side, true);
	while (!conn_idle(&s->side))
		serve_turn(s);
}

void
serve_close(struct server *s)
{
	if (s->listener)
		iw_cm_destroy(s->side.engine, s->listener);
	leave(s);
	conn_close_side(&s->side);
	if (s->side.bufs_mr)
		iw_mr_dereg(s->side.bufs_mr);
	if (s->side.pd)
		iw_pd_destroy(s->side.pd);
	close_target(s->side.target);
}

static void
say_ready(const struct options *o, const struct target *t)
{
	char text[IW_ADDR_TEXT];

	printf("listening at %s port %u\n",
	       o->host.has_ip ? iw_addr_format(&o->host.ip, text, sizeof(text)) : "every address", o->port);
	for (int i = 0; i < t->num_subsys; i++)
		for (uint32_t k = 0; k < t->subsys[i].num_ns; k++)
			printf("  %s namespace %u: %s, %llu blocks of %u%s\n", t->subsys[i].nqn,
			       t->subsys[i].ns[k].nsid, t->subsys[i].ns[k].spec,
			       (unsigned long long)(t->subsys[i].ns[k].bdev->size /
						    t->subsys[i].ns[k].bdev->block_size),
			       t->subsys[i].ns[k].bdev->block_size, t->subsys[i].ns[k].read_only ? ", read-only" : "");
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

static void
say_changes(struct said *said, const struct server *s)
{
	const struct ctrls *all = &s->side.target->ctrls;
	bool queues = !conn_idle(&s->side);

	if (said->changes == all->changes && said->queues == queues)
		return;
	for (unsigned i = 0; i < CTRL_MAX; i++)
		if (said->used[i] != all->ctrl[i].used)
			say_change(&all->ctrl[i], i + 1);
	for (unsigned i = 0; i < CTRL_MAX; i++)
		said->used[i] = all->ctrl[i].used;
	if (said->queues && !queues)
		puts("all queues are closed");
	said->queues = queues;
	said->changes = all->changes;
	fflush(stdout);
}

int
serve(const struct options *o, struct target *target)
{
	struct said said = {.queues = false};
	struct server s;
	struct host host;

	if (!host_open(&host, &o->host))
		return 1;
	if (serve_open(&s, &host, o, target) != 0) {
		host_close(&host);
		return 1;
	}
	say_ready(o, target);
	for (uint32_t n = 1; !cli_stopped(); n++) {
		serve_turn(&s);
		say_changes(&said, &s);
		if (n % CONFLICTS_EVERY == 0)
			host_report_conflicts(&host);
	}
	serve_close(&s);
	host_close(&host);
	return 0;
}
