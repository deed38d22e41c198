/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts, each with a struct net and a struct tcp, on a seeded wire that delays, loses, duplicates and reorders;
 * time jumps from deadline to deadline.  The wire hands on the very mbuf that was sent, and checks when it delivers
 * that nobody has changed an octet in between (design D19, D20). */
#ifndef TCPSIM_H
#define TCPSIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <iwarp/err.h>
#include <string.h>

#include "iw_addr.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "net_face.h"
#include "seq.h"
#include "start.h"
#include "tcp_conn.h"
#include "tcp_face.h"
#include "tcp_hdr.h"
#include "tcp_pvt.h"

#define SIM_FRAMES 4096
#define SIM_BURST 64

struct sim;

struct host {
	struct sim *sim;
	struct iw_env env;
	struct netif nif;
	struct net *net;
	struct tcp *tcp; /* NULL: a hand-made peer */
	uint32_t id;
	bool down; /* hears and says nothing */
};

struct sim_frame {
	uint64_t at_ns;
	uint64_t order;
	uint64_t hash;
	struct rte_mbuf *m;
	uint32_t to;
};

/* What the wire does with a frame. */
enum sim_fate { SIM_PASS, SIM_LOSE };

struct sim {
	struct host h[2];
	uint64_t now_ns, start_ns, rng, order;
	uint64_t delay_ns, jitter_ns; /* one way */
	uint32_t loss_ppm, dup_ppm;
	uint32_t burst; /* frames a host may send in one poll; 0: SIM_BURST */
	struct sim_frame frames[SIM_FRAMES];
	uint32_t n;
	/* Looks at each TCP segment that goes over the wire; NULL: nothing to decide. */
	enum sim_fate (*filter)(struct sim *sim, uint32_t from, const struct tcp_seg *seg);
	/* The application's turn in each poll. */
	void (*app)(struct sim *sim, struct host *h);
	void *arg, *filter_arg;
	uint16_t local_port; /* of sim_connect(); 0: any */
	uint32_t segs[2];    /* TCP segments sent by each */
};

static inline uint64_t
sim_random(struct sim *s)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng;
}

static inline bool
sim_chance(struct sim *s, uint32_t ppm)
{
	return ppm && sim_random(s) % 1000000 < ppm;
}

static inline uint64_t
sim_hash(const struct rte_mbuf *m)
{
	uint64_t hash = 1469598103934665603u ^ m->data_off ^ ((uint64_t)m->pkt_len << 20);

	for (; m; m = m->next)
		for (uint32_t i = 0; i < m->data_len; i++)
			hash = (hash ^ rte_pktmbuf_mtod(m, const uint8_t *)[i]) * 1099511628211u;
	return hash;
}

static inline struct netif
sim_netif(uint32_t id)
{
	struct netif nif = {.mac = {2, 0, 0, 0, 0, (uint8_t)(id + 1)}, .prefix_len = 24, .mtu = 1500};
	const char *family = getenv("IW_TEST_FAMILY");

	nif.addr = iw_addr_from_v4(0x0a000001u + id, 0);
	if (family && strcmp(family, "6") == 0)
		nif.addr = (struct iw_addr){.ip = {0xfd, [15] = (uint8_t)(id + 1)}};
	return nif;
}

static inline void
sim_host_init(struct sim *s, uint32_t id, const struct tcp_params *params, bool with_tcp)
{
	struct host *h = &s->h[id];

	h->sim = s;
	h->id = id;
	h->env.data_pool = mbufpool_create("data", 9216, 0);
	h->env.ctl_pool = mbufpool_create("ctl", 512, 0);
	memset(h->env.secret, (int)(id + 7), sizeof(h->env.secret));
	h->nif = sim_netif(id);
	h->net = net_create(&h->env, &h->nif, 16, s->now_ns);
	assert_non_null(h->net);
	if (with_tcp) {
		h->tcp = tcp_create(&h->env, h->net, params, s->now_ns);
		assert_non_null(h->tcp);
	}
}

static inline struct tcp_params
sim_params(void)
{
	/* Without ECN, as most tables of flags are written; test_tcp_ecn.c turns it on. */
	return (struct tcp_params){
		.max_conns = 64, .max_listeners = 4, .max_timewait = 64, .max_ooo_mbufs = 2000, .no_ecn = true};
}

static inline void
sim_init(struct sim *s, uint64_t seed, bool peer_has_tcp)
{
	struct tcp_params params = sim_params();

	memset(s, 0, sizeof(*s));
	s->now_ns = s->start_ns = start_ns();
	s->rng = seed * 0x9e3779b97f4a7c15u + 1;
	s->delay_ns = 50 * IW_US;
	sim_host_init(s, 0, &params, true);
	sim_host_init(s, 1, &params, peer_has_tcp);
}

/* Ends both; fails when an mbuf is left. */
static inline void
sim_fini(struct sim *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		rte_pktmbuf_free(s->frames[i].m);
	for (uint32_t i = 0; i < 2; i++) {
		if (s->h[i].tcp)
			tcp_destroy(s->h[i].tcp);
		net_destroy(s->h[i].net);
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(mbufpool_in_use(s->h[i].env.data_pool), 0);
		assert_int_equal(mbufpool_in_use(s->h[i].env.ctl_pool), 0);
		mbufpool_destroy(s->h[i].env.data_pool);
		mbufpool_destroy(s->h[i].env.ctl_pool);
	}
}

/* A received frame as a TCP segment; false: something else. */
static inline bool
sim_peek(const struct rte_mbuf *m, struct tcp_seg *seg)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (m->data_len < 54 || p[12] != 8 || p[13] != 0 || p[23] != 6)
		return false;
	return tcp_hdr_parse(m, 34, (uint32_t)(p[16] << 8 | p[17]) - 20, seg) == TCP_HDR_OK;
}

static inline void
sim_put(struct sim *s, uint32_t from, struct rte_mbuf *m)
{
	uint64_t jitter = s->jitter_ns ? sim_random(s) % s->jitter_ns : 0;

	if (s->n == SIM_FRAMES) {
		rte_pktmbuf_free(m);
		return;
	}
	s->frames[s->n++] = (struct sim_frame){.at_ns = s->now_ns + s->delay_ns + jitter,
					       .order = s->order++,
					       .hash = sim_hash(m),
					       .m = m,
					       .to = !from};
}

/* A frame leaves a host. */
static inline void
sim_wire(struct sim *s, uint32_t from, struct rte_mbuf *m)
{
	struct tcp_seg seg;
	bool is_tcp = sim_peek(m, &seg);

	s->segs[from] += is_tcp;
	if (s->h[0].down || s->h[1].down || (is_tcp && s->filter && s->filter(s, from, &seg) == SIM_LOSE) ||
	    (is_tcp && sim_chance(s, s->loss_ppm))) {
		rte_pktmbuf_free(m);
		return;
	}
	if (is_tcp && sim_chance(s, s->dup_ppm)) {
		rte_mbuf_refcnt_update(m, 1);
		sim_put(s, from, m);
	}
	sim_put(s, from, m);
}

static inline void
sim_drain(struct sim *s, uint32_t id)
{
	struct rte_mbuf *out[SIM_BURST];
	uint32_t n;

	while ((n = net_drain(s->h[id].net, out, SIM_BURST)) > 0)
		for (uint32_t i = 0; i < n; i++)
			sim_wire(s, id, out[i]);
}

/* Takes the earliest frame that is due for host id; false: none. */
static inline bool
sim_take(struct sim *s, uint32_t id, struct sim_frame *frame)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->frames[i].to == id && s->frames[i].at_ns <= s->now_ns &&
		    (best == UINT32_MAX || s->frames[i].at_ns < s->frames[best].at_ns ||
		     (s->frames[i].at_ns == s->frames[best].at_ns && s->frames[i].order < s->frames[best].order)))
			best = i;
	if (best == UINT32_MAX)
		return false;
	*frame = s->frames[best];
	s->frames[best] = s->frames[--s->n];
	assert_true(frame->hash == sim_hash(frame->m));
	return true;
}

static inline void
sim_rx(struct sim *s, struct host *h)
{
	struct sim_frame f;

	for (uint32_t i = 0; i < SIM_BURST && sim_take(s, h->id, &f); i++) {
		struct net_icmp_err err;
		struct net_pkt pkt;
		enum net_verdict v = net_rx(h->net, f.m, s->now_ns, &pkt, &err);

		if (v == NET_TCP)
			tcp_rx(h->tcp, f.m, &pkt, s->now_ns);
		else if (v == NET_ICMP_ERR)
			tcp_icmp_err(h->tcp, &err, s->now_ns);
		else if (v == NET_HOST)
			rte_pktmbuf_free(f.m);
	}
}

static inline void
sim_poll(struct sim *s, struct host *h)
{
	sim_rx(s, h);
	net_tick(h->net, s->now_ns);
	tcp_tick(h->tcp, s->now_ns);
	if (s->app)
		s->app(s, h);
	tcp_tx_emit(h->tcp, s->burst ? s->burst : SIM_BURST, s->now_ns);
	sim_drain(s, h->id);
}

static inline uint64_t
sim_next(const struct sim *s)
{
	uint64_t at = IW_NEVER;

	for (uint32_t i = 0; i < s->n; i++)
		at = iw_time_min(at, s->frames[i].at_ns);
	for (uint32_t i = 0; i < 2; i++) {
		at = iw_time_min(at, net_deadline(s->h[i].net));
		if (s->h[i].tcp)
			at = iw_time_min(at, tcp_deadline(s->h[i].tcp));
	}
	return at;
}

/* Both hosts poll until nothing is due before the end, at most `polls` rounds; false: rounds were used up. */
static inline bool
sim_run(struct sim *s, uint64_t for_ns, uint32_t polls)
{
	uint64_t end = s->now_ns + for_ns;

	for (uint32_t i = 0; i < polls; i++) {
		uint64_t next;

		for (uint32_t id = 0; id < 2; id++)
			if (s->h[id].tcp)
				sim_poll(s, &s->h[id]);
		next = sim_next(s);
		if (next > end) {
			s->now_ns = end;
			return true;
		}
		if (next > s->now_ns)
			s->now_ns = next;
	}
	return false;
}

static inline struct tcp_conn *
sim_conn(struct host *h, uint32_t conn)
{
	return tcp_conn_at(h->tcp, conn);
}

/* Everything that became ready of one connection, gathered. */
static inline uint32_t
sim_ready(struct host *h, struct tcp_ready *last)
{
	struct tcp_ready r;
	uint32_t bits = 0;

	while (tcp_ready_next(h->tcp, &r)) {
		bits |= r.bits;
		if (last)
			*last = r;
	}
	return bits;
}

static inline uint64_t
sim_counter(struct host *h, const char *name)
{
	struct iw_counter_list list = tcp_counter_list(h->tcp);

	for (uint32_t i = 0; i < list.n; i++)
		if (strcmp(list.names[i], name) == 0)
			return list.values[i];
	fail_msg("no counter %s", name);
	return 0;
}

/* An mbuf with len octets that are a function of their place in the stream. */
static inline uint8_t
sim_octet(uint64_t place)
{
	return (uint8_t)(place * 131 + (place >> 8) * 7 + (place >> 16));
}

static inline struct rte_mbuf *
sim_mbuf(struct host *h, uint64_t place, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->env.data_pool);

	if (!m)
		return NULL;
	m->data_off = TCP_HEADROOM + 2;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	for (uint32_t i = 0; i < len; i++)
		rte_pktmbuf_mtod(m, uint8_t *)[i] = sim_octet(place + i);
	return m;
}

/* Reads and checks all that is in order; returns octets. */
static inline uint32_t
sim_read(struct host *h, uint32_t conn, uint64_t *place, uint32_t max)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	uint32_t n = tcp_rx_peek(h->tcp, conn, views, TCP_PEEK_VIEWS), done = 0;

	for (uint32_t i = 0; i < n && done < max; i++)
		for (uint32_t j = 0; j < views[i].len && done < max; j++, done++)
			assert_int_equal(iw_view_data(&views[i])[j], sim_octet((*place)++));
	tcp_rx_consume(h->tcp, conn, done, h->sim->now_ns);
	return done;
}

/* Opens from host 0 to a listener on host 1 and waits for both ends; returns the passive end's handle. */
static inline void
sim_connect(struct sim *s, uint32_t *active, uint32_t *passive)
{
	struct iw_addr any = {.port = 4420}, to = s->h[1].nif.addr, from = {.port = s->local_port};
	struct tcp_ready r = {0};
	uint32_t listener;

	if (tcp_listen(s->h[1].tcp, &any, 16, 77, &listener))
		assert_int_equal(any.port, 4420);
	to.port = 4420;
	assert_int_equal(tcp_open(s->h[0].tcp, &from, &to, NULL, 55, s->now_ns, active), 0);
	for (uint32_t i = 0; i < 200 && !(r.bits & TCP_READY_UP); i++) {
		sim_run(s, 100 * IW_MS, 1000);
		while (!(r.bits & TCP_READY_UP) && tcp_ready_next(s->h[1].tcp, &r))
			;
	}
	assert_true(r.bits & TCP_READY_UP);
	assert_int_equal(r.owner, 77);
	*passive = r.conn;
	tcp_adopt(s->h[1].tcp, r.conn, 78, NULL);
	if (r.bits & TCP_READY_RX)
		tcp_ready_again(s->h[1].tcp, r.conn);
}

#endif
