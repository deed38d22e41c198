/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cutter.h"
#include "domains.h"
#include "iw_addr.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "net_obj.h"
#include "oracle.h"
#include "start.h"

#define FIRST_ADDRESS 0xc0000201u /* 192.0.2.1 */
#define DATA_ROOM 9216
#define CTL_ROOM 1024
#define LOAN_ROOM 0 /* behind the headroom, which mbufpool adds */
#define SIM_SLEEP_FRAMES 1024
#define TURN_NS (2 * IW_US) /* what a turn takes when somebody is busy */

uint64_t
sim_draw(struct sim *s)
{
	uint64_t z = (s->seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t
sim_below(struct sim *s, uint64_t n)
{
	return n ? sim_draw(s) % n : 0;
}

static bool
chance(struct sim *s, double p)
{
	return p > 0 && (double)(sim_draw(s) >> 11) < p * 9007199254740992.0;
}

/* The same runs each time, but for IW_SEED. */
static uint64_t
seed_of(uint64_t seed)
{
	const char *more = getenv("IW_SEED");

	return seed + (more ? strtoull(more, NULL, 10) << 32 : 0);
}

bool
sim_is_v6(void)
{
	const char *family = getenv("IW_TEST_FAMILY");

	return family && strcmp(family, "6") == 0;
}

struct iw_addr
sim_addr4(uint32_t host, uint16_t port)
{
	return iw_addr_from_v4(FIRST_ADDRESS + host, port);
}

struct iw_addr
sim_addr6(uint32_t host, uint16_t port)
{
	struct iw_addr a = {.ip = {0x20, 0x01, 0x0d, 0xb8, [15] = (uint8_t)(host + 1)}, .port = port};

	return a;
}

struct iw_addr
sim_addr_link(uint32_t host, uint16_t port)
{
	struct iw_addr a = {.ip = {0xfe, 0x80, [15] = (uint8_t)(host + 1)}, .port = port};

	return a;
}

struct iw_addr
sim_addr(uint32_t host, uint16_t port)
{
	return sim_is_v6() ? sim_addr6(host, port) : sim_addr4(host, port);
}

static void
make_host(struct sim *s, uint32_t i, const struct engine_params *params)
{
	struct sim_host *h = &s->host[i];
	struct engine_params p = *params;
	struct iw_env env = {0};

	h->data_pool = env.data_pool = mbufpool_create("data", DATA_ROOM, 0);
	h->ctl_pool = env.ctl_pool = mbufpool_create("ctl", CTL_ROOM, 0);
	h->loan_pool = env.loan_pool = mbufpool_create("loan", LOAN_ROOM, 0);
	mbufpool_set_fill(h->data_pool, oracle_secret());
	mbufpool_set_fill(h->ctl_pool, oracle_secret());
	for (uint32_t k = 0; k < IW_SECRET_LEN; k++)
		env.secret[k] = (uint8_t)sim_draw(s);
	p.nif.addr = sim_addr4(i, 0);
	p.nif.prefix_len = 24;
	p.nif.more[0] = (struct netif_addr){sim_addr6(i, 0), 64};
	p.nif.more[1] = (struct netif_addr){sim_addr_link(i, 0), 64};
	p.nif.n_more = 2;
	memcpy(p.nif.mac, (const uint8_t[]){2, 0, 0, 0, 0, (uint8_t)(i + 1)}, 6);
	h->domain = domains_get(env.secret);
	h->engine = engine_create(h->domain, &env, &p, s->now_ns);
	assert_non_null(h->engine);
}

void
sim_init_params(struct sim *s, uint64_t seed, uint32_t hosts, const struct engine_params *params)
{
	memset(s, 0, sizeof(*s));
	oracle_begin();
	s->seed = seed_of(seed);
	s->now_ns = start_ns();
	s->hosts = hosts;
	s->burst = 32;
	s->wire.delay_ns = 10 * IW_US;
	for (uint32_t i = 0; i < hosts; i++)
		make_host(s, i, params);
}

void
sim_init(struct sim *s, uint64_t seed, uint32_t hosts, uint16_t mtu)
{
	struct engine_params params = {.nif.mtu = mtu, .max_conns = 256};

	sim_init_params(s, seed, hosts, &params);
}

/* ---- frames under way: a binary heap by time, then by order ---- */

static bool
before(const struct sim_frame *a, const struct sim_frame *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void
swap(struct sim_frame *a, struct sim_frame *b)
{
	struct sim_frame t = *a;

	*a = *b;
	*b = t;
}

static void
heap_push(struct sim *s, struct sim_frame f)
{
	uint32_t i = s->frames++;

	assert_true(s->frames <= SIM_FRAMES);
	for (s->frame[i] = f; i > 0 && before(&s->frame[i], &s->frame[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&s->frame[i], &s->frame[(i - 1) / 2]);
}

static struct sim_frame
heap_pop(struct sim *s)
{
	struct sim_frame top = s->frame[0];
	uint32_t i = 0;

	s->frame[0] = s->frame[--s->frames];
	for (;;) {
		uint32_t least = i, l = 2 * i + 1;

		if (l < s->frames && before(&s->frame[l], &s->frame[least]))
			least = l;
		if (l + 1 < s->frames && before(&s->frame[l + 1], &s->frame[least]))
			least = l + 1;
		if (least == i)
			return top;
		swap(&s->frame[i], &s->frame[least]);
		i = least;
	}
}

/* ---- the wire ---- */

/* NULL: the receiver has no mbuf, so its NIC drops the frame. */
static struct rte_mbuf *
copy_of(struct sim *s, const struct rte_mbuf *m, uint32_t to)
{
	struct rte_mbuf *c = rte_pktmbuf_copy(m, s->host[to].data_pool, 0, UINT32_MAX);

	if (c)
		c->ol_flags = 0;
	else
		s->lost++;
	return c;
}

static void
put_on_wire(struct sim *s, struct rte_mbuf *m, uint32_t to)
{
	uint64_t at = s->now_ns + s->wire.delay_ns + sim_below(s, s->wire.jitter_ns);

	if (s->late_nth && --s->late_nth == 0)
		at += SIM_LATE_NS;
	if (s->host[to].asleep)
		at = IW_NEVER;
	if (!m)
		return;
	if (chance(s, s->wire.corrupt)) {
		struct rte_mbuf *c = copy_of(s, m, to);

		rte_pktmbuf_free(m);
		m = c;
		if (!m)
			return;
		rte_pktmbuf_mtod(m, uint8_t *)[sim_below(s, rte_pktmbuf_data_len(m))] ^=
			(uint8_t)(1u << sim_below(s, 8));
	}
	heap_push(s, (struct sim_frame){.at_ns = at, .order = s->orders++, .m = m, .to = to});
}

/* Groups and everybody: none. */
static uint32_t
host_by_mac(const struct sim *s, const struct rte_mbuf *m)
{
	const uint8_t *mac = rte_pktmbuf_mtod(m, const uint8_t *);

	return mac[0] & 1 ? SIM_HOSTS : mac[5] - 1u;
}

static bool
is_lost(struct sim *s, uint32_t from)
{
	s->sent++;
	if (s->drop_nth && --s->drop_nth == 0)
		return true;
	return s->host[from].cut || chance(s, s->wire.loss);
}

static void
send_to(struct sim *s, struct rte_mbuf *m, uint32_t to)
{
	if (chance(s, s->wire.dup) || (s->dup_nth && --s->dup_nth == 0))
		put_on_wire(s, copy_of(s, m, to), to);
	if ((sim_draw(s) & 1 && !s->copies) || s->shares) {
		put_on_wire(s, m, to);
		return;
	}
	put_on_wire(s, copy_of(s, m, to), to);
	rte_pktmbuf_free(m);
}

static void
put_out(struct sim *s, uint32_t from, struct rte_mbuf *m)
{
	uint32_t to = host_by_mac(s, m);

	if (s->tap)
		s->tap(s, m);
	if (!s->host[from].raw)
		oracle_frame(m);
	if (is_lost(s, from)) {
		s->lost++;
		rte_pktmbuf_free(m);
		return;
	}
	if (to < s->hosts) {
		send_to(s, m, to);
		return;
	}
	for (uint32_t i = 0; i < s->hosts; i++) /* broadcast */
		if (i != from)
			put_on_wire(s, copy_of(s, m, i), i);
	rte_pktmbuf_free(m);
}

/* By way of its NIC, which has what the engine was told of it. */
static void
transmit(struct sim *s, uint32_t from, struct rte_mbuf *m)
{
	struct rte_mbuf *out[CUTTER_SEGMENTS];
	uint32_t n = cutter_send(s->host[from].data_pool, m, out);

	for (uint32_t i = 0; i < n; i++)
		put_out(s, from, out[i]);
}

static void
receive_raw(struct sim *s, const struct sim_host *h, struct rte_mbuf **m, uint32_t n)
{
	struct iw_engine *e = h->engine;
	struct net_icmp_err err;
	struct net_pkt pkt;

	for (uint32_t i = 0; i < n; i++) {
		enum net_verdict v = net_rx(e->net, m[i], s->now_ns, &pkt, &err);

		if (v == NET_TCP && h->deaf)
			rte_pktmbuf_free(m[i]);
		else if (v == NET_TCP)
			tcp_rx(e->tcp, m[i], &pkt, s->now_ns);
		else if (v == NET_HOST)
			rte_pktmbuf_free(m[i]);
	}
}

static uint32_t
receive(struct sim *s, uint32_t host)
{
	struct rte_mbuf *m[32];
	uint32_t n = 0;

	while (n < s->burst && s->frames && s->frame[0].at_ns <= s->now_ns && s->frame[0].to == host) {
		struct sim_frame f = heap_pop(s);

		if (s->host[host].cut)
			rte_pktmbuf_free(f.m);
		else
			m[n++] = f.m;
	}
	if (s->host[host].raw)
		receive_raw(s, &s->host[host], m, n);
	else
		engine_rx(s->host[host].engine, m, n, s->now_ns, NULL, NULL);
	return n;
}

static uint32_t
turn_raw(struct sim *s, struct iw_engine *e, struct rte_mbuf **out, uint32_t max)
{
	net_tick(e->net, s->now_ns);
	tcp_tick(e->tcp, s->now_ns);
	tcp_tx_emit(e->tcp, net_tx_space(e->net), s->now_ns);
	return net_drain(e->net, out, max);
}

static uint32_t
turn(struct sim *s, uint32_t i)
{
	struct iw_engine *e = s->host[i].engine;
	struct rte_mbuf *out[64];
	uint32_t work = receive(s, i), n;

	if (s->host[i].raw) {
		n = turn_raw(s, e, out, 64);
	} else {
		engine_tick(e, s->now_ns);
		if (!s->host[i].unheard)
			work += engine_deliver(e);
		else
			rdmap_quiescent(e->rdmap);
		n = engine_tx(e, out, 64, s->now_ns);
	}
	for (uint32_t k = 0; k < n; k++)
		transmit(s, i, out[k]);
	return work + n;
}

/* What is ready of a raw host waits for its test. */
static uint64_t
deadline(const struct sim_host *h)
{
	const struct iw_engine *e = h->engine;

	if (!h->raw || !net_tx_is_empty(e->net))
		return engine_deadline(e);
	return iw_time_min(net_deadline(e->net), tcp_deadline(e->tcp));
}

static uint64_t
next_thing(const struct sim *s)
{
	uint64_t at = s->frames ? s->frame[0].at_ns : IW_NEVER;

	for (uint32_t i = 0; i < s->hosts; i++)
		if (!s->host[i].asleep)
			at = iw_time_min(at, deadline(&s->host[i]));
	return at;
}

void
sim_step(struct sim *s, uint64_t until_ns)
{
	uint64_t next;
	uint32_t work = 0;

	for (uint32_t i = 0; i < s->hosts; i++)
		if (!s->host[i].asleep)
			work += turn(s, i);
	next = work ? s->now_ns + TURN_NS : next_thing(s);
	if (next <= s->now_ns)
		next = s->now_ns + TURN_NS;
	s->now_ns = iw_time_min(next, until_ns > s->now_ns ? until_ns : s->now_ns + 1);
}

bool
sim_until(struct sim *s, const bool *flag, uint64_t limit_ns)
{
	uint64_t end = s->now_ns + limit_ns;

	while (!*flag && s->now_ns < end)
		sim_step(s, end);
	return *flag;
}

void
sim_run(struct sim *s, uint64_t duration_ns)
{
	uint64_t end = s->now_ns + duration_ns;

	while (s->now_ns < end)
		sim_step(s, end);
}

void
sim_move(struct sim *s, uint32_t host)
{
	struct net *net = s->host[host].engine->net;

	/* The wire looks at the last octet only. */
	net->eth.mac[4]++;
	net->arp.mac[4]++;
}

void
sim_sleep(struct sim *s, uint32_t host, bool asleep)
{
	uint32_t n = s->frames;
	struct sim_frame all[SIM_SLEEP_FRAMES];

	if (s->host[host].asleep == asleep)
		return;
	s->host[host].asleep = asleep;
	assert_true(n <= SIM_SLEEP_FRAMES);
	for (uint32_t i = 0; i < n; i++)
		all[i] = heap_pop(s);
	for (uint32_t i = 0; i < n; i++) {
		if (all[i].to == host)
			all[i].at_ns = asleep ? IW_NEVER : s->now_ns;
		heap_push(s, all[i]);
	}
}

void
sim_fini(struct sim *s)
{
	while (s->frames)
		rte_pktmbuf_free(heap_pop(s).m);
	for (uint32_t i = 0; i < s->hosts; i++) {
		assert_int_equal(cm_id_count(s->host[i].engine->cm), 0);
		assert_int_equal(rdmap_qp_count(s->host[i].engine->rdmap), 0);
		assert_int_equal(tcp_conn_count(s->host[i].engine->tcp), 0);
	}
	for (uint32_t i = 0; i < s->hosts; i++)
		engine_destroy(s->host[i].engine);
	for (uint32_t i = 0; i < s->hosts; i++) {
		domains_put(s->host[i].domain);
		mbufpool_destroy(s->host[i].data_pool);
		mbufpool_destroy(s->host[i].ctl_pool);
		mbufpool_destroy(s->host[i].loan_pool);
	}
	oracle_end();
}
