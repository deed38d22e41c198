/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines come to be: one on a port, or several that share it. */
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "iw_time.h"
#include "notify.h"
#include "params.h"
#include "port_engine.h"
#include "port_pools.h"
#include "port_ring.h"
#include "secret.h"
#include "team.h"
#include "telemetry.h"

static uint8_t
cc_kind(const struct iw_engine_params *p)
{
	static const uint8_t kinds[] = {[IW_CONGESTION_DEFAULT] = TCP_CC_CUBIC,
					[IW_CONGESTION_CUBIC] = TCP_CC_CUBIC,
					[IW_CONGESTION_NEWRENO] = TCP_CC_NEWRENO,
					[IW_CONGESTION_DCTCP] = TCP_CC_DCTCP};

	if (p->congestion == IW_CONGESTION_DEFAULT && p->profile_datacenter)
		return TCP_CC_DCTCP;
	return kinds[p->congestion];
}

static struct engine_params
core_params(const struct iw_engine_params *p)
{
	struct engine_params c = {.max_conns = p->max_conns, .max_qps = p->max_qps, .max_cm_ids = p->max_cm_ids};

	c.fpdu_timeout_ns = p->fpdu_timeout_ms * IW_MS;
	c.cm.reap_idle_ns = p->reap_idle_ms * IW_MS;
	c.tcp.no_ecn = p->no_ecn;
	c.tcp.cc = cc_kind(p);
	if (p->profile_datacenter)
		c.tcp.rto_min_ns = 5 * IW_MS;
	return c;
}

void
port_engine_fini(struct port_engine *p)
{
	if (p->epoll >= 0)
		close(p->epoll);
	if (p->own_bell.fd >= 0)
		close(p->own_bell.fd);
	port_close(&p->port);
	rte_ring_free(p->calls);
	if (p->team)
		team_leave(p);
	port_pools_destroy(p);
	iw_env_free(p);
}

/* Engines that are being made. */
struct making {
	struct iw_domain *domain;
	const struct iw_engine_params *params;
	uint32_t n;
	struct engine_params core;
	struct steer steer;
	struct port_engine *p[IW_MAX_ENGINES];
	struct iw_env env[IW_MAX_ENGINES];
	struct iw_engine **engines;
	char *why;
	size_t why_len;
};

/* One secret for all of a port: a SYN cookie of one is good for another. */
static int
fill_envs(struct making *k)
{
	int err = 0;

	if (k->params->secret)
		memcpy(k->env[0].secret, k->params->secret, IW_SECRET_LEN);
	else
		err = secret_fill(k->env[0].secret, IW_SECRET_LEN);
	for (uint32_t i = 0; i < k->n && err == 0; i++) {
		memcpy(k->env[i].secret, k->env[0].secret, IW_SECRET_LEN);
		/* The secret may come back after a restart; what is drawn from it must not. */
		err = secret_fill(&k->env[i].draws, sizeof(k->env[i].draws));
	}
	return err;
}

static int
make_pools(struct making *k, bool roomy)
{
	int err = 0;

	for (uint32_t i = 0; i < k->n && err == 0; i++)
		err = port_pools_create(k->p[i], k->params, roomy, &k->env[i], k->why, k->why_len);
	return err;
}

static void
drop_pools(struct making *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		port_pools_destroy(k->p[i]);
}

/* Some drivers want mbufs far above the MTU and do not say so beforehand: when the port refuses, once more with
 * roomier ones. */
static int
open_port(struct making *k, struct port_queues *queues)
{
	struct rte_mempool *pools[IW_MAX_ENGINES] = {NULL};
	bool there = rte_eth_dev_is_valid_port(k->params->port_id);
	int err = -IW_E_PORT;

	queues->pools = pools;
	for (int roomy = 0; roomy < 2 && err == -IW_E_PORT; roomy++) {
		err = there ? make_pools(k, roomy) : 0;
		for (uint32_t i = 0; i < k->n; i++)
			pools[i] = k->env[i].data_pool;
		if (!err)
			err = port_open(&k->p[0]->port, k->params, queues, &k->core.nif, k->why, k->why_len);
		if (err)
			drop_pools(k);
	}
	queues->pools = NULL;
	return err;
}

static int
make_ports(struct making *k)
{
	struct port_queues queues = {.engines = k->n, .steer = &k->steer};
	int err = open_port(k, &queues);

	for (uint32_t i = 0; i < k->n && err == 0; i++) {
		struct port_engine *p = k->p[i];

		if (i > 0) {
			p->port = k->p[0]->port;
			p->port.queue = (uint16_t)(p->port.queue + i);
			p->port.started_here = false;
		}
		clock_init(&p->clock);
		p->calls = port_ring_create("calls", k->params->port_id, sizeof(struct port_call), PORT_CALLS);
		err = p->calls ? 0 : -IW_E_NOMEM;
		if (!err && p->port.lends)
			err = port_pools_create_loans(p, k->params, &k->env[i], k->why, k->why_len);
	}
	if (err || k->n == 1)
		return err;
	return team_create(k->p, k->n, &queues) ? 0 : -IW_E_NOMEM;
}

static int
no_lwip(const struct making *k)
{
	if (k->why && k->why_len)
		snprintf(k->why, k->why_len,
			 "IPv6 autoconfiguration needs lwIP, which another engine of this process has "
			 "or the library was built without");
	return -IW_E_NOTSUP;
}

static int
make_engine(struct making *k, uint32_t i)
{
	const struct iw_engine_params *params = k->params;
	struct port_engine *p = k->p[i];
	struct iw_engine *e;

	k->core.nif.engine = i;
	k->core.nif.steer = p->team ? team_steer(p->team) : NULL;
	e = engine_create(k->domain, &k->env[i], &k->core, clock_now(&p->clock));
	if (!e)
		return -IW_E_NOMEM;
	k->engines[i] = e;
	e->port = p;
	e->lent = port_counter_list(&p->port);
	e->clock = iw_engine_now;
	p->claim = !params->no_claim;
	e->notify = notify_eventfd;
	rdmap_set_bell(e->rdmap, p->bell);
	if (!params->no_host_path && i == 0)
		p->hostpath = hostpath_create(e->net, e->env.data_pool, params->autoconf);
	return p->hostpath || !params->autoconf ? 0 : no_lwip(k);
}

/* What was made goes, the last engine first. */
static void
undo(struct making *k)
{
	for (uint32_t i = k->n; i-- > 0;)
		if (k->engines[i])
			port_engine_destroy(k->engines[i]);
		else if (k->p[i])
			port_engine_fini(k->p[i]);
}

static int
make(struct making *k)
{
	int err = fill_envs(k);

	for (uint32_t i = 0; i < k->n && err == 0; i++) {
		k->p[i] = iw_env_alloc(sizeof(*k->p[i]));
		err = k->p[i] ? 0 : -IW_E_NOMEM;
		if (!err) {
			k->p[i]->own_bell = (struct iw_bell){.fd = -1, .notify = notify_eventfd};
			k->p[i]->bell = &k->p[i]->own_bell;
			k->p[i]->epoll = -1;
			k->p[i]->rx_interrupts = k->params->rx_interrupts;
		}
	}
	if (!err)
		err = make_ports(k);
	for (uint32_t i = 0; i < k->n && err == 0; i++)
		err = make_engine(k, i);
	if (err)
		undo(k);
	for (uint32_t i = 0; i < k->n && err == 0; i++)
		telemetry_add(k->engines[i]);
	return err;
}

static int
no_eal(char *why, size_t why_len)
{
	if (why && why_len)
		snprintf(why, why_len, "EAL is not initialised: call rte_eal_init() first");
	return -IW_E_INVAL;
}

static void
clear(struct iw_engine **engines, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		engines[i] = NULL;
}

int
port_engine_create(struct iw_domain *domain, const struct iw_engine_params *params, uint32_t n,
		   struct iw_engine **engines, char *why, size_t why_len)
{
	struct making k = {
		.domain = domain, .params = params, .n = n, .engines = engines, .why = why, .why_len = why_len};
	int err = -IW_E_INVAL;

	if (why && why_len)
		*why = 0;
	if (domain && params && engines) {
		err = rte_get_tsc_hz() ? params_check(params, n, why, why_len) : no_eal(why, why_len);
		if (!err) {
			clear(engines, n);
			k.core = core_params(params);
			err = make(&k);
		}
	}
	if (err && why && why_len && !*why)
		snprintf(why, why_len, "%s", iw_err_text(err));
	if (err && engines && n <= IW_MAX_ENGINES)
		clear(engines, n);
	return err;
}

struct iw_engine *
iw_engine_create(struct iw_domain *domain, const struct iw_engine_params *params, int *err, char *why, size_t why_len)
{
	struct iw_engine *e = NULL;
	int result = port_engine_create(domain, params, 1, &e, why, why_len);

	if (err)
		*err = result;
	return e;
}
