/* SPDX-License-Identifier: BSD-3-Clause */
/* Many connections in one engine: what each takes in memory, and what a packet costs beside them.
 *
 *   scale [N ...]      default: 64 1000000
 *
 * For each N an engine accepts N iWARP connections (SYN, MPA start-up, QP in RTS) from peers that exist only as
 * sequence numbers here.  Then they send small Sends: first all on 64 of the connections while the others are idle,
 * then on connections picked at random from all of them.  Only the engine's calls are timed.  Fails when a packet
 * costs more than twice of what it costs with the first N while the others are idle, or when a connection takes more
 * than BUDGET besides what its user sizes (docs/adr/0090), or what is left of it in TIME_WAIT more than
 * TIMEWAIT_BUDGET. */
#include <inttypes.h>
#include <rte_ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cm_id.h"
#include "domain.h"
#include "engine_face.h"
#include "iw_addr.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "qp.h"
#include "tcp_conn_obj.h"
#include "tcp_timewait.h"

#define BURST 32u
#define ACTIVE 64u
#define PACKETS (1u << 16)  /* timed in each phase */
#define CHUNK (PACKETS / 8) /* of these, the one that was disturbed least counts */
#define PAYLOAD 64u
#define PEERS 0x0a010000u /* 10.1.0.0: behind the gateway */
#define PORTS 60000u      /* of one peer address */
#define FIRST_PORT 1024u
#define OWN 0x0a000001u
#define GATEWAY 0x0a0000feu
#define LISTEN 4420u
#define HEADERS 54u /* Ethernet, IPv4, TCP */
#define MPA_FRAME 20u
#define BUDGET 1024u /* TCB + id + QP */
#define TIMEWAIT_BUDGET 64u

struct peer {
	uint32_t nxt, ack; /* SND.NXT, RCV.NXT */
	uint32_t msn;
};

struct bench {
	uint32_t n, up;
	struct peer *peer;
	struct iw_domain *domain;
	struct iw_engine *engine;
	struct rte_mempool *data_pool, *ctl_pool;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_mr *mr;
	iw_cm_id listener;
	uint64_t now_ns, busy_ns, received;
	uint64_t random;
};

static uint8_t memory[PAYLOAD];
static uint32_t lkey;

static void
die(const char *what)
{
	fprintf(stderr, "scale: %s\n", what);
	exit(1);
}

static uint64_t
draw(struct bench *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random;
}

static uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* a busy machine is none of our business */
	return (uint64_t)t.tv_sec * IW_SEC + (uint64_t)t.tv_nsec;
}

/* Resident memory of this process, octets. */
static uint64_t
resident(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*s %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (uint64_t)pages * 4096;
}

/* ---- frames of the peers ---- */

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void
put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

static uint32_t
get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A segment of connection k; the payload is written by the caller beforehand. */
static void
finish_segment(struct bench *b, struct rte_mbuf *m, uint32_t k, uint8_t flags, uint32_t len)
{
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(p + 14);

	m->data_len = (uint16_t)(HEADERS + len);
	m->pkt_len = m->data_len;
	memcpy(p, (const uint8_t[]){2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0}, 14);
	memset(p + 14, 0, 40);
	p[14] = 0x45;
	put16(p + 16, 40 + len);
	p[22] = 64;
	p[23] = 6;
	put32(p + 26, PEERS + k / PORTS);
	put32(p + 30, OWN);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	put16(p + 34, FIRST_PORT + k % PORTS);
	put16(p + 36, LISTEN);
	put32(p + 38, b->peer[k].nxt);
	put32(p + 42, b->peer[k].ack);
	p[46] = 5 << 4;
	p[47] = flags;
	put16(p + 48, 65535);
	{
		uint16_t sum = rte_ipv4_udptcp_cksum(ip, p + 34);

		memcpy(p + 50, &sum, 2);
	}
	b->peer[k].nxt += len + (flags & 2 ? 1 : 0);
}

static struct rte_mbuf *
frame(struct bench *b)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(b->data_pool);

	if (!m)
		die("no mbuf");
	return m;
}

/* The MPA Request of revision 1 without private data, markers and CRC (RFC 5044 §7.1). */
static struct rte_mbuf *
request(struct bench *b, uint32_t k)
{
	struct rte_mbuf *m = frame(b);
	uint8_t *p = rte_pktmbuf_mtod_offset(m, uint8_t *, HEADERS);

	memcpy(p, "MPA ID Req Frame\0\1\0\0", MPA_FRAME);
	finish_segment(b, m, k, 0x18, MPA_FRAME);
	return m;
}

/* One FPDU: an untagged Send of PAYLOAD octets (RFC 5041 §4.3, RFC 5040 §4.3). */
static struct rte_mbuf *
send_of(struct bench *b, uint32_t k)
{
	struct rte_mbuf *m = frame(b);
	uint8_t *p = rte_pktmbuf_mtod_offset(m, uint8_t *, HEADERS);

	memset(p, 0, 2 + 18 + PAYLOAD + 4);
	put16(p, 18 + PAYLOAD);
	p[2] = 0x41;
	p[3] = 0x43;
	put32(p + 12, ++b->peer[k].msn);
	finish_segment(b, m, k, 0x18, 2 + 18 + PAYLOAD + 4);
	return m;
}

/* Answers the engine's question for its gateway. */
static void
answer_arp(struct bench *b, const uint8_t *q)
{
	static const uint8_t gateway_mac[6] = {2, 0, 0, 0, 0, 9};
	struct rte_mbuf *m = frame(b);
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

	memcpy(p, q + 6, 6);
	memcpy(p + 6, gateway_mac, 6);
	memcpy(p + 12, q + 12, 8);
	put16(p + 20, 2);
	memcpy(p + 22, gateway_mac, 6);
	memcpy(p + 28, q + 38, 4);
	memcpy(p + 32, q + 22, 10);
	m->data_len = 60;
	m->pkt_len = 60;
	memset(p + 42, 0, 18);
	engine_rx(b->engine, &m, 1, b->now_ns, NULL, NULL);
}

/* What the engine says: SYN-ACK and MPA Reply move the peer's RCV.NXT. */
static void
hear(struct bench *b, struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t k, len;

	if (p[12] == 8 && p[13] == 6) {
		answer_arp(b, p);
	} else if (p[23] == 6) {
		k = (get32(p + 30) - PEERS) * PORTS + (get32(p + 34) & 0xffff) - FIRST_PORT;
		len = rte_pktmbuf_pkt_len(m) - 34 - (uint32_t)(p[46] >> 4) * 4;
		if (k >= b->n || p[47] & 4)
			die("a reset");
		if (p[47] & 2)
			b->peer[k].ack = get32(p + 38) + 1;
		else if (get32(p + 38) == b->peer[k].ack)
			b->peer[k].ack += len;
	}
	rte_pktmbuf_free(m);
}

/* ---- the application ---- */

static void
post(struct iw_qp *qp)
{
	struct iw_sge sge = {(uintptr_t)memory, sizeof(memory), lkey};
	struct iw_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
	const struct iw_recv_wr *bad;

	int err = iw_post_recv(qp, &wr, &bad);

	if (err)
		die(iw_err_name(err));
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct bench *b = (struct bench *)context;
	struct iw_qp_attr attr = {.send_cq = b->cq, .recv_cq = b->cq, .sq_depth = 1, .rq_depth = 1};
	struct iw_cm_attr cm = {.no_crc = true, .ird = 1, .ord = 1};
	struct iw_qp *qp;
	int err;

	attr.max_ird = attr.max_ord = 1;
	if (event->type == IW_CM_CONNECT_REQUEST) {
		qp = iw_qp_create(b->engine, b->pd, &attr, &err);
		if (!qp)
			die(iw_err_name(err));
		post(qp);
		err = iw_cm_accept(b->engine, id, qp, &cm);
		if (err)
			die(iw_err_name(err));
	} else if (event->type == IW_CM_ESTABLISHED_EV) {
		b->up++;
	} else {
		die(iw_cm_event_name(event->type));
	}
	return 0;
}

static void
take_completions(struct bench *b)
{
	struct iw_wc wc[BURST];
	int n;

	while ((n = iw_cq_poll(b->cq, wc, BURST)) > 0)
		for (int i = 0; i < n; i++) {
			if (wc[i].status)
				die(iw_wc_status_name(wc[i].status));
			b->received++;
			post(wc[i].qp);
		}
}

/* One poll; only the engine and what the application does about it is timed. */
static void
turn(struct bench *b, struct rte_mbuf **in, uint32_t n)
{
	struct rte_mbuf *out[4 * BURST];
	uint64_t start = clock_ns();
	uint32_t made;

	b->now_ns += 2 * IW_US;
	engine_rx(b->engine, in, n, b->now_ns, NULL, NULL);
	engine_tick(b->engine, b->now_ns);
	engine_deliver(b->engine);
	take_completions(b);
	made = engine_tx(b->engine, out, 4 * BURST, b->now_ns);
	b->busy_ns += clock_ns() - start;
	for (uint32_t i = 0; i < made; i++)
		hear(b, out[i]);
}

/* ---- phases ---- */

static void
create(struct bench *b, uint32_t n)
{
	struct engine_params params = {.nif = {.mac = {2, 0, 0, 0, 0, 1}, .prefix_len = 24, .mtu = 1500},
				       .max_conns = n + 64};
	struct iw_env env = {.secret = {1, 2, 3}};
	struct iw_addr any = {.port = LISTEN};
	int err;

	*b = (struct bench){.n = n, .random = 88172645463325252u, .now_ns = 1000 * IW_SEC};
	b->peer = (struct peer *)calloc(n, sizeof(*b->peer));
	params.tcp.max_timewait = 64;
	params.nif.addr = iw_addr_from_v4(OWN, 0);
	params.nif.gateway = iw_addr_from_v4(GATEWAY, 0);
	env.data_pool = b->data_pool = mbufpool_create("data", 512, 0);
	env.ctl_pool = b->ctl_pool = mbufpool_create("ctl", 512, 0);
	b->domain = domain_create(env.secret);
	b->engine = engine_create(b->domain, &env, &params, b->now_ns);
	if (!b->peer || !b->engine)
		die("no memory");
	b->pd = iw_pd_create(b->domain);
	b->cq = iw_cq_create(b->engine, 2 * (n + 1), NULL, NULL);
	b->mr = iw_mr_reg(b->pd, memory, sizeof(memory), IW_LOCAL_WRITE, &err);
	b->listener = iw_cm_create(b->engine, on_event, b);
	if (!b->cq || !b->mr || iw_cm_listen(b->engine, b->listener, &any, 4096))
		die("set-up");
	lkey = iw_mr_lkey(b->mr);
}

/* BURST handshakes at a time: SYNs, then the last ACKs with the Requests, then what acknowledges the Replies. */
static void
connect_burst(struct bench *b, uint32_t from, uint32_t n)
{
	struct rte_mbuf *m[BURST];

	for (uint32_t i = 0; i < n; i++) {
		b->peer[from + i].nxt = (from + i) * 977u;
		m[i] = frame(b);
		finish_segment(b, m[i], from + i, 2, 0);
	}
	turn(b, m, n);
	for (uint32_t i = 0; i < 10 && b->peer[from + n - 1].ack == 0; i++)
		turn(b, NULL, 0); /* the first one waits for the gateway's address */
	for (uint32_t i = 0; i < n; i++)
		m[i] = request(b, from + i);
	turn(b, m, n);
	turn(b, NULL, 0);
	for (uint32_t i = 0; i < n; i++) {
		m[i] = frame(b);
		finish_segment(b, m[i], from + i, 0x10, 0);
	}
	turn(b, m, n);
}

static void
connect_all(struct bench *b)
{
	connect_burst(b, 0, 1); /* finds the gateway */
	for (uint32_t from = 1; from < b->n; from += BURST)
		connect_burst(b, from, b->n - from < BURST ? b->n - from : BURST);
	if (b->up != b->n)
		die("not every connection was established");
}

/* Nanoseconds a packet of Sends on the first `of` connections, picked at random. */
static double
traffic(struct bench *b, uint32_t of)
{
	uint64_t before = b->received, least = UINT64_MAX;
	uint32_t part = of / BURST; /* one in each part: a QP has one receive posted */

	for (uint32_t done = 0; done < 2 * PACKETS; done += BURST) {
		struct rte_mbuf *m[BURST];

		if (done % CHUNK == 0) {
			if (done > PACKETS && b->busy_ns < least) /* the first half warms up */
				least = b->busy_ns;
			b->busy_ns = 0;
		}
		for (uint32_t i = 0; i < BURST; i++)
			m[i] = send_of(b, i * part + (uint32_t)(draw(b) % part));
		turn(b, m, BURST);
	}
	for (uint32_t i = 0; i < 4; i++)
		turn(b, NULL, 0);
	if (b->received - before != 2 * PACKETS)
		die("Sends were lost");
	return (double)least / CHUNK;
}

static void
destroy(struct bench *b)
{
	engine_abort(b->engine);
	engine_destroy(b->engine);
	iw_mr_dereg(b->mr);
	iw_pd_destroy(b->pd);
	iw_domain_destroy(b->domain);
	mbufpool_destroy(b->data_pool);
	mbufpool_destroy(b->ctl_pool);
	free(b->peer);
}

/* As pools hand them out: whole cache lines. */
static uint32_t
lines(size_t octets)
{
	return (uint32_t)((octets + 63) & ~(size_t)63);
}

int
main(int argc, char **argv)
{
	static char *standard[] = {"64", "1000000"};
	char **arg = argc > 1 ? argv + 1 : standard;
	int args = argc > 1 ? argc - 1 : 2, bad = 0;
	uint32_t tcb = lines(sizeof(struct tcp_conn)), id = lines(sizeof(struct cm_id)),
		 qp = lines(sizeof(struct iw_qp)), timewait = lines(sizeof(struct tcp_timewait_rec));
	double first = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("octets a connection: TCB %u, id %u, QP %u, together %u (budget %u); TIME_WAIT %u (%u)\n", tcb, id, qp,
	       tcb + id + qp, BUDGET, timewait, TIMEWAIT_BUDGET);
	for (int i = 0; i < args; i++) {
		uint32_t n = (uint32_t)strtoul(arg[i], NULL, 10);
		uint64_t rss = resident();
		struct bench b;
		double idle, all;

		if (n < ACTIVE || n > 1040000)
			die("between 64 and 1040000 connections");
		create(&b, n);
		connect_all(&b);
		rss = resident() - rss;
		idle = traffic(&b, ACTIVE);
		all = traffic(&b, n);
		first = first > 0 ? first : idle;
		printf("%8u connections: %5" PRIu64
		       " octets resident each, %4.0f ns a packet on %u of them, %4.0f on all\n",
		       n, rss / n, idle, ACTIVE, all);
		bad |= idle > 2 * first;
		destroy(&b);
	}
	if (bad)
		printf("scale: a packet costs more than twice of what it did with few\n");
	if (tcb + id + qp > BUDGET)
		printf("scale: a connection takes more than %u octets\n", BUDGET);
	if (timewait > TIMEWAIT_BUDGET)
		printf("scale: in TIME_WAIT it takes more than %u octets\n", TIMEWAIT_BUDGET);
	return bad || tcb + id + qp > BUDGET || timewait > TIMEWAIT_BUDGET;
}
