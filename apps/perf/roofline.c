/* SPDX-License-Identifier: BSD-3-Clause */
#include "roofline.h"

#include <isa-l/crc.h>
#include <nmmintrin.h>
#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define USER_BUF 65536u
#define RING 1024
#define MBUFS 8191
#define BURST 32
#define HEADERS 72u /* IPv4, TCP with timestamps, MPA, DDP */
#define SECONDS 0.25
#define SHORT 256 /* below it ISA-L's set-up costs more than its lanes bring */

struct roofline {
	struct rte_mempool *pool;
	struct rte_ring *ring;
	uint32_t payload;
	uint8_t *in, *out;
	uint64_t bad;
	bool stop;
};

struct trailer {
	uint32_t crc, sum;
};

static uint32_t
crc_of(const uint8_t *p, uint32_t n)
{
	uint64_t crc = 0xffffffff;

	if (n >= SHORT)
		return crc32_iscsi((unsigned char *)(uintptr_t)p, (int)n, 0xffffffff);
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		crc = _mm_crc32_u64(crc, word);
	}
	for (; n > 0; n--, p++)
		crc = _mm_crc32_u8((uint32_t)crc, *p);
	return (uint32_t)crc;
}

static struct trailer
seal(const uint8_t *p, uint32_t n)
{
	return (struct trailer){.crc = crc_of(p, n), .sum = rte_raw_cksum(p, n)};
}

static void
consume(struct roofline *r, struct rte_mbuf *m, uint32_t at)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	struct trailer is = seal(p, r->payload), should;

	memcpy(&should, p + r->payload, sizeof(should));
	r->bad += is.crc != should.crc || is.sum != should.sum;
	memcpy(r->out + at, p, r->payload);
}

static int
consumer(void *arg)
{
	struct roofline *r = arg;
	struct rte_mbuf *m[BURST];
	uint32_t at = 0, n;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE) || !rte_ring_empty(r->ring)) {
		n = rte_ring_dequeue_burst(r->ring, (void **)m, BURST, NULL);
		for (uint32_t i = 0; i < n; i++) {
			consume(r, m[i], at);
			at = at + 2 * r->payload <= USER_BUF ? at + r->payload : 0;
		}
		rte_pktmbuf_free_bulk(m, n);
	}
	return 0;
}

static uint32_t
produce(struct roofline *r, struct rte_mbuf **m, uint32_t at)
{
	for (uint32_t i = 0; i < BURST; i++) {
		uint8_t *p = rte_pktmbuf_mtod(m[i], uint8_t *);
		struct trailer t;

		memcpy(p, r->in + at, r->payload);
		t = seal(p, r->payload);
		memcpy(p + r->payload, &t, sizeof(t));
		at = at + 2 * r->payload <= USER_BUF ? at + r->payload : 0;
	}
	return at;
}

static double
run(struct roofline *r)
{
	uint64_t begin = rte_rdtsc(), now = begin, end = begin + (uint64_t)(SECONDS * (double)rte_get_tsc_hz()),
		 packets = 0;
	struct rte_mbuf *m[BURST];
	uint32_t at = 0;

	for (; now < end; now = rte_rdtsc()) {
		if (rte_pktmbuf_alloc_bulk(r->pool, m, BURST) != 0)
			continue;
		at = produce(r, m, at);
		for (uint32_t done = 0; done < BURST;)
			done += rte_ring_enqueue_burst(r->ring, (void **)(m + done), BURST - done, NULL);
		packets += BURST;
	}
	return (double)packets * r->payload * (double)rte_get_tsc_hz() / (double)(now - begin);
}

uint32_t
roofline_payload(uint32_t size, uint16_t mtu)
{
	uint32_t fits = mtu > HEADERS ? mtu - HEADERS : 1;

	return size < fits ? size : fits;
}

static double
measure(struct roofline *r, unsigned lcore)
{
	double rate;

	memset(r->in, 0x5a, USER_BUF);
	memset(r->out, 0, USER_BUF);
	if (rte_eal_remote_launch(consumer, r, lcore) != 0)
		return 0;
	rate = run(r);
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	rte_eal_wait_lcore(lcore);
	return r->bad ? 0 : rate;
}

double
roofline_measure(uint32_t size, uint16_t mtu)
{
	struct roofline r = {.payload = roofline_payload(size, mtu)};
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	double rate = 0;

	if (lcore >= RTE_MAX_LCORE || r.payload > USER_BUF)
		return 0;
	r.pool = rte_pktmbuf_pool_create("roofline", MBUFS, 256, 0,
					 (uint16_t)(RTE_PKTMBUF_HEADROOM + r.payload + sizeof(struct trailer)),
					 SOCKET_ID_ANY);
	r.ring = rte_ring_create("roofline", RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	r.in = aligned_alloc(4096, USER_BUF);
	r.out = aligned_alloc(4096, USER_BUF);
	if (r.pool && r.ring && r.in && r.out)
		rate = measure(&r, lcore);
	free(r.in);
	free(r.out);
	rte_ring_free(r.ring);
	rte_mempool_free(r.pool);
	return rate;
}
