/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine with a port: create, poll, call, destroy. */
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <stdio.h>
#include <string.h>

#include "iw_addr.h"
#include "iw_time.h"
#include "notify.h"
#include "port_engine.h"
#include "port_pools.h"
#include "secret.h"

#define CALLS 256
#define CALLS_PER_POLL 32u
#define HOST_PER_POLL 32u
#define LINK_LOOK_NS (10 * IW_MS)
#define LAST_WORDS 16 /* turns in which RSTs may leave at the end */

static bool
has_prefix(const struct iw_addr *ip, uint8_t prefix_len)
{
	return prefix_len <= (iw_addr_is_v4(ip) ? 32 : 128);
}

static const char *
check_addrs(const struct iw_engine_params *p)
{
	uint32_t v4 = !iw_addr_is_any(&p->addr) && iw_addr_is_v4(&p->addr);

	if (p->n_more_addrs > IW_ENGINE_MORE_ADDRS || (p->n_more_addrs && !p->more_addrs))
		return "an engine has at most 8 addresses";
	if (iw_addr_is_any(&p->addr) && !p->n_more_addrs && !p->autoconf)
		return "an address of its own is needed";
	if (!has_prefix(&p->addr, p->prefix_len))
		return "the prefix is longer than the address (32 for IPv4, 128 for IPv6)";
	for (uint32_t i = 0; i < p->n_more_addrs; i++) {
		v4 += iw_addr_is_v4(&p->more_addrs[i].ip);
		if (iw_addr_is_any(&p->more_addrs[i].ip) ||
		    !has_prefix(&p->more_addrs[i].ip, p->more_addrs[i].prefix_len))
			return "one of the further addresses or its prefix length is none";
	}
	return v4 > 1 ? "an engine has at most one IPv4 address" : NULL;
}

static bool
speaks_v6(const struct iw_engine_params *p)
{
	bool v6 = p->autoconf || (!iw_addr_is_any(&p->addr) && !iw_addr_is_v4(&p->addr));

	for (uint32_t i = 0; i < p->n_more_addrs; i++)
		v6 = v6 || !iw_addr_is_v4(&p->more_addrs[i].ip);
	return v6;
}

static const char *
check_rest(const struct iw_engine_params *p)
{
	if (p->mtu && p->mtu < 1280 && speaks_v6(p))
		return "IPv6 needs an MTU of at least 1280";
	if (p->mtu && p->mtu < 576)
		return "an MTU below 576 is of no use";
	if (p->vlan > 4094)
		return "a VLAN is a number from 1 to 4094";
	if (p->autoconf && p->no_host_path)
		return "IPv6 autoconfiguration needs the host path";
	if ((uint32_t)p->congestion > IW_CONGESTION_DCTCP)
		return "there is no such congestion control";
	if (p->congestion == IW_CONGESTION_DCTCP && !p->profile_datacenter)
		return "DCTCP is for the data centre profile only";
	return NULL;
}

static int
check(const struct iw_engine_params *p, char *why, size_t why_len)
{
	const char *what = NULL;

	if (rte_get_tsc_hz() == 0)
		what = "EAL is not initialised: call rte_eal_init() first";
	if (!what)
		what = check_addrs(p);
	if (!what)
		what = check_rest(p);
	if (!what)
		return 0;
	if (why && why_len)
		snprintf(why, why_len, "%s", what);
	return -IW_E_INVAL;
}

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

static struct rte_ring *
make_calls(uint16_t port)
{
	static uint32_t serial;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "iwcalls_%u_%u", port, __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
	return rte_ring_create_elem(name, sizeof(struct port_call), CALLS, SOCKET_ID_ANY, RING_F_SC_DEQ);
}

/* Takes back whatever port_engine_fill() got done, in the opposite order. */
static void
port_engine_fini(struct port_engine *p)
{
	port_close(&p->port);
	rte_ring_free(p->calls);
	port_pools_destroy(p);
	iw_env_free(p);
}

static int
fill_env(struct iw_env *env, const struct iw_engine_params *params)
{
	if (!params->secret)
		return secret_fill(env->secret, sizeof(env->secret));
	memcpy(env->secret, params->secret, sizeof(env->secret));
	/* The secret may come back after a restart; what is drawn from it must not. */
	return secret_fill(&env->draws, sizeof(env->draws));
}

/* Some drivers want mbufs far above the MTU and do not say so beforehand: when the port refuses, once more with
 * roomier ones. */
static int
open_port(struct port_engine *p, const struct iw_engine_params *params, struct iw_env *env, struct netif *nif,
	  char *why, size_t why_len)
{
	int err = -IW_E_PORT;

	for (int roomy = 0; roomy < 2 && err == -IW_E_PORT; roomy++) {
		err = port_pools_create(p, params, roomy, env, why, why_len);
		if (!err)
			err = port_open(&p->port, params, env->data_pool, nif, why, why_len);
		if (err)
			port_pools_destroy(p);
	}
	return err;
}

static int
port_engine_fill(struct port_engine *p, const struct iw_engine_params *params, struct iw_env *env, struct netif *nif,
		 char *why, size_t why_len)
{
	int err = fill_env(env, params);

	clock_init(&p->clock);
	if (!err && !rte_eth_dev_is_valid_port(params->port_id))
		return port_open(&p->port, params, NULL, nif, why, why_len);
	if (!err)
		err = open_port(p, params, env, nif, why, why_len);
	if (err)
		return err;
	p->calls = make_calls(params->port_id);
	return p->calls ? 0 : -IW_E_NOMEM;
}

static void
tx(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	uint32_t n = engine_tx(e, port_tx_tail(&p->port), port_tx_space(&p->port), now_ns);

	port_tx_flush(&p->port, n, now_ns);
}

static uint32_t
run_calls(struct iw_engine *e, struct rte_ring *ring)
{
	struct port_call calls[CALLS_PER_POLL];
	uint32_t n = rte_ring_dequeue_burst_elem(ring, calls, sizeof(calls[0]), CALLS_PER_POLL, NULL);

	e->in_handler = true;
	for (uint32_t i = 0; i < n; i++)
		calls[i].fn(e, calls[i].arg);
	e->in_handler = false;
	return n;
}

/* Who was told that a call would be run counts on it. */
static void
run_last_calls(struct iw_engine *e, struct port_engine *p)
{
	e->now_ns = clock_now(&p->clock);
	for (uint32_t i = 0; i < CALLS / CALLS_PER_POLL && run_calls(e, p->calls); i++)
		;
}

static void
destroy_now(struct iw_engine *e)
{
	struct port_engine *p = e->port;

	run_last_calls(e, p);
	engine_abort(e);
	for (int i = 0; i < LAST_WORDS; i++)
		tx(e, p, clock_now(&p->clock));
	hostpath_destroy(p->hostpath);
	engine_destroy(e);
	port_engine_fini(p);
}

static struct iw_engine *
create(struct iw_domain *domain, const struct iw_engine_params *params, int *err, char *why, size_t why_len)
{
	struct port_engine *p = iw_env_alloc(sizeof(*p));
	struct engine_params core = core_params(params);
	struct iw_env env = {0};
	struct iw_engine *e = NULL;

	*err = -IW_E_NOMEM;
	if (!p)
		return NULL;
	*err = port_engine_fill(p, params, &env, &core.nif, why, why_len);
	if (*err == 0) {
		e = engine_create(domain, &env, &core, clock_now(&p->clock));
		if (!e)
			*err = -IW_E_NOMEM;
	}
	if (!e) {
		port_engine_fini(p);
		return NULL;
	}
	e->port = p;
	e->clock = iw_engine_now;
	p->claim = !params->no_claim;
	e->notify = notify_eventfd;
	if (!params->no_host_path)
		p->hostpath = hostpath_create(e->net, env.data_pool, params->autoconf);
	if (p->hostpath || !params->autoconf)
		return e;
	destroy_now(e);
	if (why && why_len)
		snprintf(why, why_len,
			 "IPv6 autoconfiguration needs lwIP, which another engine of this process has "
			 "or the library was built without");
	*err = -IW_E_NOTSUP;
	return NULL;
}

struct iw_engine *
iw_engine_create(struct iw_domain *domain, const struct iw_engine_params *params, int *err, char *why, size_t why_len)
{
	struct iw_engine *e = NULL;
	int ignored;

	if (!err)
		err = &ignored;
	if (why && why_len)
		*why = 0;
	*err = -IW_E_INVAL;
	if (!domain || !params)
		return NULL;
	*err = check(params, why, why_len);
	if (*err == 0)
		e = create(domain, params, err, why, why_len);
	if (!e && why && why_len && !*why)
		snprintf(why, why_len, "%s", iw_err_text(*err));
	return e;
}

int
iw_engine_destroy(struct iw_engine *engine)
{
	if (!engine)
		return -IW_E_INVAL;
	if (engine->in_handler)
		engine->destroy_asked = true;
	else
		destroy_now(engine);
	return 0;
}

static uint32_t
rx(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	struct rte_mbuf *m[PORT_BURST], *host[HOST_PER_POLL];
	uint32_t n = port_rx(&p->port, m, PORT_BURST), n_host = p->hostpath ? HOST_PER_POLL : 0;

	engine_rx(e, m, n, now_ns, host, &n_host);
	for (uint32_t i = 0; i < n_host; i++)
		hostpath_rx(p->hostpath, host[i], now_ns);
	return n;
}

/* Who asked on a link that is down would hear nobody object. */
static void
claim_addresses(struct iw_engine *e, struct port_engine *p, uint64_t now_ns)
{
	if (!port_is_up(&p->port))
		return;
	p->claim = false;
	net_own_claim(e->net, now_ns);
}

int
iw_engine_poll(struct iw_engine *engine)
{
	struct port_engine *p;
	uint64_t now_ns;
	uint32_t work;

	if (!engine || engine->in_handler)
		return engine ? -IW_E_BUSY : -IW_E_INVAL;
	p = engine->port;
	now_ns = clock_now(&p->clock);
	engine->now_ns = now_ns;
	engine->work = 0;
	work = run_calls(engine, p->calls);
	work += rx(engine, p, now_ns);
	if (p->claim)
		claim_addresses(engine, p, now_ns);
	if (p->hostpath)
		hostpath_tick(p->hostpath, now_ns);
	engine_tick(engine, now_ns);
	engine_deliver(engine);
	tx(engine, p, now_ns);
	work += engine->work;
	if (engine->destroy_asked)
		destroy_now(engine);
	return (int)work;
}

uint64_t
iw_engine_next_deadline(const struct iw_engine *engine)
{
	const struct port_engine *p;
	uint64_t at;

	if (!engine)
		return IW_NO_DEADLINE;
	p = engine->port;
	at = p->hostpath ? iw_time_min(engine_deadline(engine), hostpath_deadline(p->hostpath))
			 : engine_deadline(engine);
	return p->claim ? iw_time_min(at, clock_now(&p->clock) + LINK_LOOK_NS) : at;
}

uint64_t
iw_engine_now(const struct iw_engine *engine)
{
	return clock_now(&((const struct port_engine *)engine->port)->clock);
}

int
iw_engine_call(struct iw_engine *engine, void (*fn)(struct iw_engine *engine, void *arg), void *arg)
{
	struct port_call call = {.fn = fn, .arg = arg};

	if (!engine || !fn)
		return -IW_E_INVAL;
	return rte_ring_enqueue_elem(((struct port_engine *)engine->port)->calls, &call, sizeof(call)) ? -IW_E_NOMEM
												       : 0;
}
