/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"

#define SPARE 16 /* requests beyond the depth asked for: the last Read, and answers */
#define WAIT_NS UINT64_C(15000000000)
#define GOODBYE_NS UINT64_C(3000000000)

struct client {
	struct peer peer;
	const struct options *o;
};

uint32_t
client_size(const struct options *o, uint32_t i)
{
	if (!o->all_sizes)
		return i == 0 ? o->size : 0;
	return i < CLIENT_SIZES ? 2u << i : 0;
}

static struct link *
link_of(struct peer *p, iw_cm_id id)
{
	for (uint32_t i = 0; i <= p->qps; i++)
		if (p->links[i].id == id)
			return &p->links[i];
	return NULL;
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct peer *p = context;
	struct link *l = link_of(p, id);

	if (!l)
		return 0;
	if (event->type == IW_CM_CONNECT_REPLY && event->status == 0) {
		l->up = true;
		p->crc = event->crc;
	} else if (event->type == IW_CM_CONNECT_REPLY || event->type == IW_CM_CLOSE) {
		l->ended = true;
		l->status = event->status;
	}
	return 0;
}

static bool
wait_up(struct peer *p, struct link *l)
{
	uint64_t end = iw_engine_now(p->engine) + WAIT_NS;

	while (!l->up && !l->ended && !cli_stopped() && iw_engine_now(p->engine) < end)
		iw_engine_poll(p->engine);
	if (l->up && !l->ended)
		return true;
	if (cli_stopped())
		return false;
	return peer_fail(p, "cannot connect to the server", l->status ? l->status : -IW_E_TIMEDOUT);
}

/* Link i tells the server its number in its private data. */
static bool
connect_link(struct client *c, uint32_t i, uint32_t tx_depth, uint32_t rx_depth)
{
	struct peer *p = &c->peer;
	uint8_t number = (uint8_t)i;
	struct iw_cm_attr attr = {.private_data = &number, .private_len = 1, .no_crc = c->o->no_crc};
	struct link *l = &p->links[i];
	int err;

	if (!peer_make_link(p, i, tx_depth, rx_depth))
		return false;
	l->id = iw_cm_create(p->engine, on_event, p);
	err = l->id ? iw_cm_connect(p->engine, l->id, &c->o->peer, l->qp, &attr) : -IW_E_NOMEM;
	return err ? peer_fail(p, "cannot connect to the server", err) : wait_up(p, l);
}

/* Tells the server what comes and waits until it is ready. */
static bool
agree(struct client *c, uint32_t size)
{
	const struct options *o = c->o;
	struct record r = {.kind = RECORD_RUN,
			   .verb = o->verb,
			   .test = o->test,
			   .size = size,
			   .tx_depth = o->tx_depth,
			   .rx_depth = o->rx_depth,
			   .inline_size = o->inline_size,
			   .qps = o->qps,
			   .iters = o->seconds ? 0 : o->iters};
	uint64_t end = iw_engine_now(c->peer.engine) + WAIT_NS;

	if (!peer_send_record(&c->peer, &r))
		return false;
	while (!c->peer.failed && !c->peer.links[0].ended && !cli_stopped() && iw_engine_now(c->peer.engine) < end) {
		iw_engine_poll(c->peer.engine);
		if (!peer_take_record(&c->peer))
			continue;
		if (c->peer.theirs.kind == RECORD_READY)
			return true;
		return peer_fail(&c->peer, "the server cannot do this run", -IW_E_NOMEM);
	}
	return !cli_stopped() && peer_fail(&c->peer, "the server did not answer", -IW_E_TIMEDOUT);
}

static uint32_t
largest(const struct options *o)
{
	return o->all_sizes ? client_size(o, CLIENT_SIZES - 1) : o->size;
}

static bool
post_latency_recvs(struct client *c)
{
	struct peer *p = &c->peer;
	struct iw_sge sge = {(uintptr_t)peer_in(p, 0), p->size, iw_mr_lkey(p->mr)};
	struct iw_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

	if (c->o->test != PERF_LAT || c->o->verb != PERF_SEND)
		return true;
	for (int i = 0; i < 2; i++) {
		int err = iw_post_recv(p->links[1].qp, &wr, NULL);

		if (err)
			return peer_fail(p, "a receive cannot be posted", err);
	}
	return true;
}

static bool
set_up(struct client *c)
{
	if (!peer_make_memory(&c->peer, largest(c->o)) || !connect_link(c, 0, SPARE, SPARE) || !agree(c, largest(c->o)))
		return false;
	for (uint32_t i = 1; i <= c->o->qps; i++)
		if (!connect_link(c, i, c->o->tx_depth + SPARE, c->o->rx_depth))
			return false;
	return post_latency_recvs(c);
}

static bool
measure_lat(struct client *c, uint32_t size)
{
	struct report_lat r = {.ns = calloc(c->o->iters, sizeof(uint64_t))};
	bool ok = r.ns ? run_lat(&c->peer, size, &r) : peer_fail(&c->peer, "no memory for the samples", -IW_E_NOMEM);

	if (ok)
		report_lat_row(c->o, &r);
	free(r.ns);
	return ok;
}

static bool
measure(struct client *c, uint32_t size, double roofline)
{
	struct report_bw r = {.roofline = roofline};

	if (!agree(c, size))
		return false;
	if (c->o->test == PERF_LAT)
		return measure_lat(c, size);
	if (!run_bw(&c->peer, size, &r))
		return false;
	report_bw_row(c->o, &r);
	return true;
}

static void
hang_up(struct peer *p)
{
	uint64_t end = iw_engine_now(p->engine) + GOODBYE_NS;
	bool open = true;

	/* Data first: when the control connection ends the server is done. */
	for (uint32_t i = p->qps + 1; i-- > 0;)
		if (p->links[i].up)
			iw_cm_disconnect(p->engine, p->links[i].id, false);
	while (open && iw_engine_now(p->engine) < end) {
		iw_engine_poll(p->engine);
		open = false;
		for (uint32_t i = 0; i <= p->qps; i++)
			open |= p->links[i].up && !p->links[i].ended;
	}
}

static bool
all_sizes(struct client *c, const double *roofline)
{
	for (uint32_t i = 0; client_size(c->o, i); i++)
		if (cli_stopped() || !measure(c, client_size(c->o, i), roofline[i]))
			return false;
	return true;
}

int
client_run(const struct options *o, const struct host *host, uint16_t mtu, const double *roofline)
{
	struct client c = {.o = o};
	bool ok = peer_init(&c.peer, o, host->domain, host->engine) && set_up(&c);

	if (ok) {
		report_banner(o, mtu);
		report_header(o);
		ok = all_sizes(&c, roofline);
		report_end();
	}
	if (!ok && !c.peer.failed && !cli_stopped())
		cli_fail("the connection to the server was lost");
	hang_up(&c.peer);
	peer_fini(&c.peer);
	return ok ? 0 : 1;
}
