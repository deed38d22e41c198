/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ping.h"
#include "ping_session.h"

#define CONFLICTS_EVERY 65536 /* turns */
#define SESSIONS 32           /* at once: a client that comes while another one closes need not wait */
#define GOODBYE_NS UINT64_C(3000000000)

/* Who waits for an answer. */
struct asked {
	iw_cm_id id; /* 0: nobody */
	struct iw_addr peer;
	uint64_t due_ns;
};

/* All engines' servers. */
struct servers {
	const struct options *o;
	struct host host;
	struct iw_pd *pd;
	struct server *server[IW_MAX_ENGINES];
	uint64_t finished; /* sessions of all; atomic */
};

/* What one engine serves. */
struct server {
	struct servers *all;
	const struct options *o;
	struct iw_engine *engine;
	struct iw_pd *pd;
	iw_cm_id listener;
	struct ping_session *sessions[SESSIONS]; /* used by connections when they have a QP */
	struct asked asked[SESSIONS];            /* with -D */
	bool failed, stopping, hung_up;
	uint32_t served; /* connections */
};

static void
finish_one(struct server *v)
{
	__atomic_fetch_add(&v->all->finished, 1, __ATOMIC_RELAXED);
}

static bool
is_over(const struct server *v)
{
	return cli_stopped() || (v->o->count && __atomic_load_n(&v->all->finished, __ATOMIC_RELAXED));
}

static void
on_advert(struct server *v, struct ping_session *s, const struct iw_wc *wc)
{
	struct ping_msg msg;

	if (wc->byte_len != PING_MSG_LEN) {
		ping_session_fail(s, "the client sent something else than rping's message", "wrong length");
		return;
	}
	ping_msg_parse(s->recv[wc->wr_id >> 8], &msg);
	ping_session_post_recv(s, (uint32_t)(wc->wr_id >> 8));
	if (msg.len > PING_BUF || msg.len == 0) {
		ping_session_fail(s, "the client's buffer has a size that cannot be", "1 to 65536 octets are possible");
		return;
	}
	/* Source and sink come in turn. */
	s->reading = !s->reading;
	if (s->reading) {
		s->len = msg.len;
		ping_session_post_read(s, &msg);
	} else if (ping_session_post_write(s, &msg)) {
		ping_session_post_send(s, &(struct ping_msg){0});
		s->rounds++;
	}
}

static void
on_read(struct server *v, struct ping_session *s)
{
	if (v->o->verbose)
		printf("server ping data: %.*s\n", (int)s->len, s->source);
	ping_session_post_send(s, &(struct ping_msg){0});
}

/* What was read must look like rping's data: it begins with its head and ends with a NUL. */
static void
validate(struct server *v, struct ping_session *s)
{
	static const char head[] = "rdma-ping-";
	size_t n = s->len < sizeof(head) ? s->len - 1 : sizeof(head) - 1;

	if (v->o->validate && (memcmp(s->source, head, n) != 0 || s->source[s->len - 1] != 0))
		ping_session_fail(s, "data mismatch", "what was read is not rping's data");
}

static void
serve(struct server *v, struct ping_session *s)
{
	struct iw_wc wc;

	while (ping_session_next(s, &wc)) {
		if ((wc.wr_id & 0xff) == PING_WR_RECV)
			on_advert(v, s, &wc);
		if ((wc.wr_id & 0xff) == PING_WR_READ) {
			validate(v, s);
			on_read(v, s);
		}
	}
	if ((s->failed || (v->o->rounds && s->rounds == v->o->rounds)) && s->established && !s->hung_up) {
		s->hung_up = v->hung_up = true;
		iw_cm_disconnect(v->engine, s->id, false);
	}
}

static struct ping_session *
free_session(struct server *v)
{
	for (int i = 0; i < SESSIONS; i++)
		if (!v->sessions[i]->qp)
			return v->sessions[i];
	return NULL;
}

static int
accept_client(struct server *v, iw_cm_id id, const struct iw_addr *peer)
{
	struct iw_cm_attr attr = ping_session_attr(v->o);
	struct ping_session *s = v->stopping ? NULL : free_session(v);
	char ip[IW_ADDR_TEXT];
	int err;

	if (!s || !ping_session_open(s, v->engine, v->pd))
		return -1;
	snprintf(s->peer, sizeof(s->peer), "%.46s port %u", iw_addr_format(peer, ip, sizeof(ip)), peer->port);
	err = iw_cm_accept(v->engine, id, s->qp, &attr);
	if (err) {
		ping_session_fail(s, "cannot accept", iw_err_text(err));
		ping_session_close(s);
		return -1;
	}
	s->id = id;
	v->served++;
	return 0;
}

static int
ask_to_wait(struct server *v, iw_cm_id id, const struct iw_addr *peer)
{
	uint64_t due = iw_engine_now(v->engine) + v->o->delay_s * UINT64_C(1000000000);
	char ip[IW_ADDR_TEXT];

	for (int i = 0; i < SESSIONS; i++)
		if (!v->asked[i].id) {
			v->asked[i] = (struct asked){.id = id, .peer = *peer, .due_ns = due};
			printf("%s port %u waits for an answer\n", iw_addr_format(peer, ip, sizeof(ip)), peer->port);
			fflush(stdout);
			return 0;
		}
	return -1;
}

static void
answer_due(struct server *v)
{
	uint64_t now = v->o->delay_s ? iw_engine_now(v->engine) : 0;

	for (int i = 0; v->o->delay_s && i < SESSIONS; i++) {
		struct asked *a = &v->asked[i];

		if (!a->id || a->due_ns > now)
			continue;
		if (accept_client(v, a->id, &a->peer) != 0)
			iw_cm_destroy(v->engine, a->id);
		a->id = 0;
	}
}

static int
answer(struct server *v, iw_cm_id id, const struct iw_addr *peer)
{
	if (!v->o->reject)
		return v->o->delay_s ? ask_to_wait(v, id, peer) : accept_client(v, id, peer);
	iw_cm_reject(v->engine, id, v->o->reject, (uint16_t)strlen(v->o->reject));
	finish_one(v);
	v->hung_up = true;
	return -1;
}

static struct ping_session *
session_of(struct server *v, iw_cm_id id)
{
	for (int i = 0; i < SESSIONS; i++)
		if (v->sessions[i]->qp && v->sessions[i]->id == id)
			return v->sessions[i];
	return NULL;
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct server *v = context;
	struct ping_session *s = session_of(v, id);

	switch (event->type) {
	case IW_CM_CONNECT_REQUEST:
		return answer(v, id, &event->peer);
	case IW_CM_ESTABLISHED_EV:
		if (s)
			s->established = true;
		break;
	case IW_CM_CLOSE:
		if (s)
			ping_session_closed(s, event);
		break;
	case IW_CM_CONNECT_REPLY:
	case IW_CM_DISCONNECT:
	case IW_CM_TIMEWAIT_EXIT:
		break;
	}
	return 0;
}

static void
reap(struct server *v, struct ping_session *s)
{
	finish_one(v);
	v->failed |= s->failed;
	ping_session_close(s);
}

/* Returns the sessions alive. */
static int
turn(struct server *v)
{
	int alive = 0;

	host_turn(&v->o->host, v->engine, !v->o->delay_s);
	answer_due(v);
	for (int i = 0; i < SESSIONS; i++) {
		if (!v->sessions[i]->qp)
			continue;
		serve(v, v->sessions[i]);
		if (v->sessions[i]->ended)
			reap(v, v->sessions[i]);
		else
			alive++;
	}
	return alive;
}

static void
stop(struct server *v)
{
	uint64_t end = iw_engine_now(v->engine) + GOODBYE_NS;

	v->stopping = true;
	iw_cm_destroy(v->engine, v->listener);
	for (int i = 0; i < SESSIONS; i++)
		if (v->sessions[i]->qp) {
			iw_cm_disconnect(v->engine, v->sessions[i]->id, false);
			v->hung_up = true;
		}
	while (turn(v) > 0 && iw_engine_now(v->engine) < end)
		;
	for (int i = 0; i < SESSIONS; i++)
		if (v->sessions[i]->qp)
			reap(v, v->sessions[i]);
}

static bool
listen_on(struct server *v)
{
	char ip[IW_ADDR_TEXT];
	int err;

	v->listener = iw_cm_create(v->engine, on_event, v);
	err = v->listener ? iw_cm_listen(v->engine, v->listener, &v->o->addr, SESSIONS) : -IW_E_NOMEM;
	if (err)
		cli_fail("cannot listen on %s port %u: %s", iw_addr_format(&v->o->addr, ip, sizeof(ip)),
			 v->o->addr.port, iw_err_text(err));
	return err == 0;
}

static void
say_listening(const struct servers *all)
{
	const struct options *o = all->o;
	char ip[IW_ADDR_TEXT];

	iw_addr_format(o->has_addr ? &o->addr : &o->host.ip, ip, sizeof(ip));
	printf(strchr(ip, ':') ? "listening on [%s]:%u" : "listening on %s:%u", ip, o->addr.port);
	if (all->host.n > 1)
		printf(", %u engines, steered by %s", all->host.n,
		       iw_engines_steering_name(iw_engines_steering(all->host.engine)));
	putchar('\n');
	fflush(stdout);
}

static int
run(void *arg, uint32_t number)
{
	struct servers *all = arg;
	struct server *v = all->server[number];

	for (uint32_t n = 1; !is_over(v); n++) {
		turn(v);
		if (number == 0 && n % CONFLICTS_EVERY == 0)
			host_report_conflicts(&all->host);
	}
	stop(v);
	return v->failed;
}

/* Everything that is registered is, before lcores of their own begin. */
static struct server *
create(struct servers *all, struct iw_engine *engine)
{
	struct server *v = calloc(1, sizeof(*v));

	if (!v) {
		cli_fail("no memory for a server");
		return NULL;
	}
	*v = (struct server){.all = all, .o = all->o, .engine = engine, .pd = all->pd};
	for (int i = 0; i < SESSIONS; i++) {
		v->sessions[i] = ping_session_create(all->pd);
		if (!v->sessions[i])
			v->failed = true;
	}
	if (!v->failed)
		v->failed = !listen_on(v);
	return v;
}

static void
destroy(struct server *v)
{
	for (int i = 0; v && i < SESSIONS; i++)
		if (v->sessions[i])
			ping_session_destroy(v->sessions[i]);
	free(v);
}

static int
serve_all(struct servers *all)
{
	bool ok = true;
	int result = 1;

	all->pd = iw_pd_create(all->host.domain);
	if (!all->pd)
		return cli_fail("no memory for a protection domain");
	for (uint32_t i = 0; i < all->host.n && ok; i++) {
		all->server[i] = create(all, all->host.engines[i]);
		ok = all->server[i] && !all->server[i]->failed;
	}
	if (ok) {
		say_listening(all);
		result = host_run(&all->host, run, all);
	}
	return result;
}

int
ping_server(const struct options *o)
{
	struct servers all = {.o = o};
	struct host_options options = o->host;
	bool hung_up = false;
	int result;

	options.engines = host_lcores();
	if (!host_open(&all.host, &options))
		return 1;
	result = serve_all(&all);
	for (uint32_t i = 0; i < all.host.n; i++) {
		if (all.host.n > 1 && all.server[i])
			printf("engine %u: %u connections\n", i, all.server[i]->served);
		hung_up |= all.server[i] && all.server[i]->hung_up;
		destroy(all.server[i]);
	}
	if (all.pd)
		iw_pd_destroy(all.pd);
	if (hung_up)
		host_linger(&all.host);
	host_close(&all.host);
	return result;
}
