/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"

#include <rte_common.h>
#include <stdio.h>
#include <string.h>

#include "be.h"
#include "cli.h"
#include "data.h"
#include "figures.h"
#include "run.h"
#include "sink.h"

#define WAIT_NS UINT64_C(15000000000)
#define AT_ONCE 32 /* connections that are being made */
#define WARM_UP 100u

struct client {
	struct peer peer;
	const struct options *o;
	struct report report;
	struct report_lat lat;
	bool below; /* what -w or -y want */
};

uint32_t
client_size(const struct options *o, uint32_t i)
{
	if (!o->all_sizes)
		return i == 0 ? o->size : 0;
	return i < CLIENT_SIZES ? 2u << i : 0;
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct link *l = context;

	if (event->type == IW_CM_CONNECT_REPLY && event->status == 0) {
		l->up = true;
		l->peer->up += l->number != PEER_CONTROL;
		l->peer->crc = event->crc;
	} else if (event->type == IW_CM_CONNECT_REPLY || event->type == IW_CM_CLOSE) {
		l->ended = l->peer->lost = true;
		l->status = event->status;
		if (event->type == IW_CM_CONNECT_REPLY)
			peer_fail(l->peer, "cannot connect to the server", event->status);
	}
	return 0;
}

/* A link tells the server its number in its private data. */
static bool
start_connecting(struct client *c, struct link *l)
{
	struct peer *p = &c->peer;
	struct iw_addr to = c->o->peer;
	uint8_t number[4];
	struct iw_cm_attr attr = {.private_data = number, .private_len = sizeof(number), .no_crc = c->o->no_crc};
	int err;

	if (l->number != PEER_CONTROL)
		to.port = (uint16_t)(to.port + l->number / PERF_PORT_QPS);
	be_put(number, l->number, sizeof(number));
	l->id = iw_cm_create(p->engine, on_event, l);
	err = l->id ? iw_cm_connect(p->engine, l->id, &to, l->qp, &attr) : -IW_E_NOMEM;
	return err == 0 || peer_fail(p, "cannot connect to the server", err);
}

static bool
wait_control(struct client *c)
{
	struct peer *p = &c->peer;
	uint64_t end = iw_engine_now(p->engine) + WAIT_NS;

	while (!p->control.up && peer_alive(p) && iw_engine_now(p->engine) < end)
		peer_poll(p);
	if (p->control.up || p->failed || cli_stopped())
		return p->control.up;
	return peer_fail(p, "cannot connect to the server", -IW_E_TIMEDOUT);
}

/* All data links, some at a time; as long as some come up there is time. */
static bool
connect_links(struct client *c)
{
	struct peer *p = &c->peer;
	uint64_t end = iw_engine_now(p->engine) + WAIT_NS;
	uint32_t begun = 0, up = 0;

	while (p->up < p->qps && peer_alive(p)) {
		while (begun < p->qps && begun - p->up < AT_ONCE) {
			if (!peer_make_qp(p, &p->links[begun]) || !start_connecting(c, &p->links[begun]))
				return false;
			begun++;
		}
		peer_poll(p);
		if (p->up > up) {
			up = p->up;
			end = iw_engine_now(p->engine) + WAIT_NS;
		} else if (iw_engine_now(p->engine) > end) {
			return peer_fail(p, "cannot connect to the server", -IW_E_TIMEDOUT);
		}
	}
	return peer_alive(p);
}

/* The server's answer; meanwhile what it sends is taken. */
static bool
await_record(struct peer *p, enum record_kind kind)
{
	uint64_t end = iw_engine_now(p->engine) + WAIT_NS;

	while (peer_alive(p) && (iw_engine_now(p->engine) < end || kind == RECORD_DONE)) {
		peer_poll(p);
		if (p->o->both_ways && p->up && perf_takes_recv(p->o->verb) && !sink_turn(p))
			return false;
		if (!peer_take_record(p))
			continue;
		if (p->theirs.kind == kind)
			return true;
		return peer_fail(p, "the server cannot do this run", -IW_E_NOMEM);
	}
	return peer_alive(p) && peer_fail(p, "the server did not answer", -IW_E_TIMEDOUT);
}

/* Tells the server what comes and waits until it is ready. */
static bool
agree(struct client *c, uint32_t size, uint64_t iters)
{
	const struct options *o = c->peer.o;
	struct record r = {.kind = RECORD_RUN,
			   .verb = o->verb,
			   .test = o->test,
			   .size = size,
			   .tx_depth = o->tx_depth,
			   .rx_depth = o->rx_depth,
			   .inline_size = o->inline_size,
			   .qps = o->qps,
			   .cq_mod = o->cq_mod,
			   .outs = o->outs,
			   .iters = iters};

	r.flags = (o->both_ways ? RECORD_BOTH_WAYS : 0u) | (o->srq ? RECORD_SRQ : 0u) |
		  (o->validate ? RECORD_VALIDATE : 0u) | (o != c->o ? RECORD_AWAKE : 0u);
	if (o->validate)
		data_prepare(&c->peer, size, true);
	return peer_send_record(&c->peer, &r) && await_record(&c->peer, RECORD_READY);
}

bool
run_finish(struct peer *p, uint32_t size, uint64_t ours, uint64_t *theirs)
{
	struct record r = {.kind = RECORD_STOP, .size = size, .count = ours};
	uint64_t bad;

	*theirs = 0;
	if (!p->o->both_ways && !p->o->validate)
		return true;
	if (!peer_send_record(p, &r) || !await_record(p, RECORD_DONE))
		return false;
	*theirs = p->theirs.count;
	bad = p->theirs.bad + (p->o->validate ? data_check(p, size, true, ours) : 0);
	if (bad == 0)
		return true;
	cli_fail("data validation: %llu octets are not as they were sent", (unsigned long long)bad);
	p->failed = true;
	return false;
}

static uint32_t
largest(const struct options *o)
{
	return o->all_sizes ? client_size(o, CLIENT_SIZES - 1) : o->size;
}

bool
client_fits(const struct options *o)
{
	return peer_memory_fits(o, largest(o));
}

static bool
set_up(struct client *c)
{
	struct peer *p = &c->peer;

	return peer_make_memory(p, largest(c->o)) && peer_make_control(p) && start_connecting(c, &p->control) &&
	       wait_control(c) && peer_make_links(p) && agree(c, largest(c->o), 0) && connect_links(c);
}

static bool
warm_up(struct client *c, uint32_t size)
{
	struct report_bw ignored = {0};
	uint64_t n = c->o->test == PERF_LAT ? RTE_MAX(WARM_UP, c->o->qps) : c->o->tx_depth;

	if (!c->o->warm_up)
		return true;
	if (!agree(c, size, n))
		return false;
	return c->o->test == PERF_LAT ? run_lat(&c->peer, size, n, &c->lat)
				      : run_bw(&c->peer, size, n, &ignored, &c->report);
}

/* Latency without and with --idle-sleep: the table has the latter, a line behind it what it costs. */
static bool
measure_lat(struct client *c, uint32_t size, uint64_t iters)
{
	struct options awake = *c->o;
	double unit = figures_lat_unit(c->o), without = 0, with;

	if (c->o->host.idle_us) {
		awake.host.idle_us = 0;
		c->peer.o = &awake;
		if (!agree(c, size, iters) || !run_lat(&c->peer, size, iters, &c->lat))
			return false;
		without = (double)hist_at(&c->lat.hist, 0.5) * unit;
		c->peer.o = c->o;
		if (!agree(c, size, iters))
			return false;
	}
	if (!run_lat(&c->peer, size, iters, &c->lat))
		return false;
	report_lat_row(&c->report, &c->lat);
	with = (double)hist_at(&c->lat.hist, 0.5) * unit;
	if (c->o->host.idle_us && c->o->output == PERF_TABLE)
		printf("# --idle-sleep %u: %.2f usec at the median, %.2f without: it costs %.2f\n", c->o->host.idle_us,
		       with, without, with - without);
	return true;
}

/* perftest's words: scripts look for them. */
static bool
passes(const struct options *o, const struct report_bw *row)
{
	double rate = (double)row->iters / row->seconds;

	if (rate * row->size / figures_bw_unit(o) < o->limit_bw)
		cli_fail("Error: BW result is below bw limit");
	else if (rate / 1e6 < o->limit_rate)
		cli_fail("Error: Msg rate  is below msg_rate limit");
	else
		return true;
	return false;
}

static bool
measure(struct client *c, uint32_t size, double roofline)
{
	struct report_bw bw = {.roofline = roofline};
	uint64_t iters = c->o->seconds > 0 || c->o->forever ? 0 : c->o->iters;
	bool ok;

	if (c->o->test == PERF_LAT)
		iters *= c->o->qps; /* one after the other */
	if (!warm_up(c, size) || !agree(c, size, iters))
		return false;
	if (c->o->test == PERF_LAT)
		return measure_lat(c, size, iters);
	ok = run_bw(&c->peer, size, iters, &bw, &c->report);
	if (ok && bw.iters && !c->o->forever)
		report_bw_row(&c->report, &bw);
	c->below = c->below || (ok && !passes(c->o, &bw));
	return ok;
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
		ok = report_open(&c.report, o, mtu, c.peer.crc);
		ok = ok && all_sizes(&c, roofline);
		report_close(&c.report);
	}
	if (!ok && !c.peer.failed && !cli_stopped() && c.peer.lost)
		cli_fail("the connection to the server was lost");
	peer_hang_up(&c.peer);
	peer_fini(&c.peer);
	return ok && !c.below ? 0 : 1;
}

int
client_measure(const struct options *o, const struct host *host, struct server *beside,
	       bool (*ready)(void *arg, struct peer *p), void *arg, struct report_bw *row)
{
	struct client c = {.o = o};
	struct peer *p = &c.peer;
	bool ok = peer_init(p, o, host->domain, host->engine);

	p->beside = beside;
	ok = ok && set_up(&c) && agree(&c, o->size, 0) && ready(arg, p) && run_bw(p, o->size, 0, row, NULL);
	peer_hang_up(p);
	peer_fini(p);
	return ok ? 0 : 1;
}
