/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "ping.h"
#include "ping_session.h"

#define GOODBYE_NS UINT64_C(3000000000)
#define ROUND_NS UINT64_C(1000000000) /* for the last one to end */

struct client {
	const struct options *o;
	struct ping_session *s;
	uint64_t round;
	bool sink_advertised; /* the second half of a round */
	bool closing;
	uint64_t stopped_ns; /* when Ctrl-C was noticed; 0: not */
};

static bool
advertise(struct client *c, const char *buf, const struct iw_mr *mr)
{
	struct ping_msg msg = {(uintptr_t)buf, iw_mr_rkey(mr), c->o->size};

	return ping_session_post_send(c->s, &msg);
}

static void
hang_up(struct client *c)
{
	c->closing = true;
	iw_cm_disconnect(c->s->engine, c->s->id, false);
}

static void
begin_round(struct client *c)
{
	if (c->closing)
		return;
	if ((c->o->count && c->round == c->o->count) || cli_stopped() || c->s->failed) {
		hang_up(c);
		return;
	}
	ping_msg_fill(c->s->source, c->o->size, c->round);
	memset(c->s->sink, 0, c->o->size);
	c->sink_advertised = false;
	advertise(c, c->s->source, c->s->source_mr);
}

static void
end_round(struct client *c)
{
	if (c->o->validate && memcmp(c->s->source, c->s->sink, c->o->size) != 0)
		ping_session_fail(c->s, "data mismatch", "what came back is not what was sent");
	if (c->o->verbose)
		printf("ping data: %.*s\n", (int)c->o->size, c->s->sink);
	c->round++;
	begin_round(c);
}

static void
on_recv(struct client *c, const struct iw_wc *wc)
{
	if (wc->byte_len != PING_MSG_LEN) {
		ping_session_fail(c->s, "the server sent something else than rping's message", "wrong length");
		return;
	}
	ping_session_post_recv(c->s, (uint32_t)(wc->wr_id >> 8));
	if (c->sink_advertised) {
		end_round(c);
		return;
	}
	c->sink_advertised = true;
	advertise(c, c->s->sink, c->s->sink_mr);
}

/* The text that came with a reject may be anything: what can be shown of it is. */
static void
not_connected(struct ping_session *s, const struct iw_cm_event *event)
{
	const unsigned char *from = event->private_data;
	char why[160];
	size_t at = (size_t)snprintf(why, sizeof(why), "%s", iw_err_text(event->status));

	for (uint32_t i = 0; i < event->private_len && at < sizeof(why) - 3; i++) {
		if (i == 0)
			at += (size_t)snprintf(why + at, sizeof(why) - at, ": ");
		if (isprint(from[i]))
			why[at++] = (char)from[i];
	}
	why[at] = 0;
	ping_session_fail(s, "cannot connect", why);
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct client *c = context;
	struct ping_session *s = c->s;

	switch (event->type) {
	case IW_CM_CONNECT_REPLY:
		s->established = event->status == 0;
		s->ended = event->status != 0;
		if (event->status)
			not_connected(s, event);
		else
			begin_round(c);
		break;
	case IW_CM_CLOSE:
		if (!c->closing)
			ping_session_fail(s, "the server hung up",
					  event->status ? iw_err_text(event->status) : "before the last round");
		ping_session_closed(s, event);
		break;
	case IW_CM_CONNECT_REQUEST:
	case IW_CM_ESTABLISHED_EV:
	case IW_CM_DISCONNECT:
	case IW_CM_TIMEWAIT_EXIT:
		break;
	}
	return 0;
}

/* Ctrl-C waits for the round to end: whoever hangs up in the middle of it has the server's data meet a QP that is
 * closing, and both would call that an error.  A server that has fallen silent is not waited for. */
static bool
is_late(struct client *c)
{
	uint64_t now;

	if (!cli_stopped())
		return false;
	now = iw_engine_now(c->s->engine);
	if (!c->stopped_ns)
		c->stopped_ns = now;
	return now - c->stopped_ns > ROUND_NS;
}

static void
poll_once(struct client *c)
{
	struct iw_wc wc;

	host_turn(&c->o->host, c->s->engine, true);
	while (ping_session_next(c->s, &wc))
		if ((wc.wr_id & 0xff) == PING_WR_RECV)
			on_recv(c, &wc);
	if (c->s->established && !c->closing && (c->s->failed || is_late(c)))
		hang_up(c);
}

/* Until the connection has ended; after the last round for a bounded time. */
static void
loop(struct client *c)
{
	struct iw_engine *e = c->s->engine;
	uint64_t give_up = 0;

	while (!c->s->ended) {
		poll_once(c);
		if (!c->closing && !(cli_stopped() && !c->s->established))
			continue;
		if (!give_up)
			give_up = iw_engine_now(e) + GOODBYE_NS;
		if (iw_engine_now(e) > give_up || !c->s->established) {
			ping_session_fail(c->s, "stopped",
					  c->closing ? "the server did not close in time" : "before it connected");
			break;
		}
	}
}

static bool
connect_to(struct client *c)
{
	struct iw_cm_attr attr = ping_session_attr(c->o);
	struct ping_session *s = c->s;
	char ip[IW_ADDR_TEXT];
	int err;

	attr.no_peer_to_peer = c->o->no_p2p;
	attr.ird = attr.ord = 1;
	snprintf(s->peer, sizeof(s->peer), "%.46s port %u", iw_addr_format(&c->o->addr, ip, sizeof(ip)),
		 c->o->addr.port);
	s->id = iw_cm_create(s->engine, on_event, c);
	err = s->id ? iw_cm_connect(s->engine, s->id, &c->o->addr, s->qp, &attr) : -IW_E_NOMEM;
	return err == 0 || ping_session_fail(s, "cannot connect", iw_err_text(err));
}

/* One connection from its begin to its end; false after an error line. */
static bool
run_once(const struct options *o, struct host *host, struct iw_pd *pd)
{
	struct client c = {.o = o, .s = ping_session_create(pd)};
	bool good = false;

	if (c.s) {
		if (ping_session_open(c.s, host->engine, pd) && connect_to(&c))
			loop(&c);
		good = c.s->qp && !c.s->failed && (!o->count || c.round == o->count || cli_stopped());
		ping_session_destroy(c.s);
	}
	return good;
}

static bool
run(const struct options *o, struct host *host)
{
	struct iw_pd *pd = iw_pd_create(host->domain);
	bool good = pd != NULL;

	for (uint64_t n = 0; n < o->times && good && !cli_stopped(); n++)
		good = run_once(o, host, pd);
	if (pd)
		iw_pd_destroy(pd);
	return good;
}

int
ping_client(const struct options *o)
{
	struct host host;
	bool good;

	if (!host_open(&host, &o->host))
		return 1;
	good = run(o, &host);
	host_linger(&host);
	host_close(&host);
	return good ? 0 : 1;
}
