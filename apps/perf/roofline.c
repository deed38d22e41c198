/* SPDX-License-Identifier: BSD-3-Clause */
#include "roofline.h"

#include <isa-l/crc.h>
#include <nmmintrin.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <rte_ring.h>
#include <stdlib.h>
#include <string.h>

#define BURST 16u
#define MOST_BUFFERS 512u
#define HEADERS 72u /* IPv4, TCP with timestamps, MPA, DDP */
#define SECONDS 0.025
#define SHORT 256 /* below it ISA-L's set-up costs more than its lanes bring */
#define ALIGN 64u

/* How many packet buffers go round, and how many octets are worked on while they are in the first cache.  What is best
 * depends on the caches of the machine: the limit is the best of all. */
static const struct way {
	uint32_t buffers, piece;
} ways[] = {{32, 2048}, {128, 2048}, {MOST_BUFFERS, 2048}, {32, 16384}, {128, 16384}, {MOST_BUFFERS, 16384}};

struct check {
	uint32_t crc;
	uint64_t sum;
};

struct packet {
	struct check check;
	uint32_t len;
	uint8_t payload[] __attribute__((aligned(64)));
};

struct roofline {
	struct rte_ring *full, *empty;
	uint8_t *memory, *in, *out; /* packets; the two ends' user buffers, of one message each */
	uint32_t size, payload, piece;
	bool crc, stop;
	uint64_t bad;
};

static uint32_t
crc_of(uint32_t state, const uint8_t *p, uint32_t n)
{
	uint64_t crc = state;

	if (n >= SHORT)
		return crc32_iscsi((unsigned char *)(uintptr_t)p, (int)n, state);
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		crc = _mm_crc32_u64(crc, word);
	}
	for (; n > 0; n--, p++)
		crc = _mm_crc32_u8((uint32_t)crc, *p);
	return (uint32_t)crc;
}

/* The Internet checksum before it is folded (RFC 1071 §2: in any order, in words of any width). */
__attribute__((target_clones("avx512f", "avx2", "default"))) static uint64_t
sum_of(const uint8_t *p, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t word;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum += word;
	}
	word = 0;
	memcpy(&word, p, n);
	return sum + word;
}

static void
check_piece(const struct roofline *r, struct check *c, const uint8_t *p, uint32_t n)
{
	if (r->crc)
		c->crc = crc_of(c->crc, p, n);
	c->sum += sum_of(p, n);
}

static void
fill(const struct roofline *r, struct packet *p, const uint8_t *from, uint32_t len)
{
	struct check c = {.crc = UINT32_MAX};

	for (uint32_t at = 0, n; at < len; at += n) {
		n = RTE_MIN(r->piece, len - at);
		memcpy(p->payload + at, from + at, n);
		check_piece(r, &c, p->payload + at, n);
	}
	p->len = len;
	p->check = c;
}

static void
drain(struct roofline *r, const struct packet *p, uint8_t *to)
{
	struct check c = {.crc = UINT32_MAX};

	for (uint32_t at = 0, n; at < p->len; at += n) {
		n = RTE_MIN(r->piece, p->len - at);
		check_piece(r, &c, p->payload + at, n);
		memcpy(to + at, p->payload + at, n);
	}
	r->bad += c.crc != p->check.crc || c.sum != p->check.sum;
}

/* Where the packet behind one of len octets begins in the message. */
static uint32_t
behind(const struct roofline *r, uint32_t at, uint32_t len)
{
	return at + len < r->size ? at + len : 0;
}

static int
consumer(void *arg)
{
	struct roofline *r = arg;
	void *packets[BURST];
	uint32_t at = 0, n;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE) || !rte_ring_empty(r->full)) {
		n = rte_ring_sc_dequeue_burst(r->full, packets, BURST, NULL);
		if (n == 0)
			rte_pause();
		for (uint32_t i = 0; i < n; i++) {
			const struct packet *p = packets[i];

			drain(r, p, r->out + at);
			at = behind(r, at, p->len);
		}
		rte_ring_sp_enqueue_bulk(r->empty, packets, n, NULL);
	}
	return 0;
}

static uint32_t
produce(const struct roofline *r, void **packets, uint32_t n, uint32_t *at)
{
	uint32_t octets = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = RTE_MIN(r->payload, r->size - *at);

		fill(r, packets[i], r->in + *at, len);
		*at = behind(r, *at, len);
		octets += len;
	}
	return octets;
}

static double
run(struct roofline *r)
{
	uint64_t begin = rte_rdtsc(), now = begin, end = begin + (uint64_t)(SECONDS * (double)rte_get_tsc_hz()),
		 octets = 0;
	void *packets[BURST];
	uint32_t at = 0, n;

	for (; now < end; now = rte_rdtsc()) {
		n = rte_ring_sc_dequeue_burst(r->empty, packets, BURST, NULL);
		if (n == 0)
			rte_pause();
		octets += produce(r, packets, n, &at);
		rte_ring_sp_enqueue_bulk(r->full, packets, n, NULL);
	}
	return (double)octets * (double)rte_get_tsc_hz() / (double)(now - begin);
}

static uint32_t
packet_size(const struct roofline *r)
{
	return (uint32_t)RTE_ALIGN_CEIL(sizeof(struct packet) + r->payload, ALIGN);
}

static double
measure_way(struct roofline *r, const struct way *way, unsigned lcore)
{
	double rate;

	rte_ring_reset(r->full);
	rte_ring_reset(r->empty);
	for (uint32_t i = 0; i < way->buffers; i++)
		rte_ring_sp_enqueue(r->empty, r->memory + (size_t)i * packet_size(r));
	r->piece = way->piece;
	r->stop = false;
	if (rte_eal_remote_launch(consumer, r, lcore) != 0)
		return 0;
	rate = run(r);
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	rte_eal_wait_lcore(lcore);
	return rate;
}

static double
measure(struct roofline *r, unsigned lcore)
{
	double best = 0;

	/* Every page is there before the clock runs. */
	memset(r->memory, 0, (size_t)MOST_BUFFERS * packet_size(r));
	memset(r->out, 0, r->size);
	for (uint32_t i = 0; i < r->size; i++)
		r->in[i] = (uint8_t)(i * 131 >> 3);
	for (uint32_t i = 0; i < RTE_DIM(ways); i++)
		best = RTE_MAX(best, measure_way(r, &ways[i], lcore));
	return r->bad || memcmp(r->in, r->out, RTE_MIN(r->size, r->payload)) != 0 ? 0 : best;
}

uint32_t
roofline_payload(uint32_t size, uint16_t mtu)
{
	uint32_t fits = mtu > HEADERS ? mtu - HEADERS : 1;

	return RTE_MIN(size, fits);
}

double
roofline_measure(uint32_t size, uint16_t mtu, bool crc)
{
	struct roofline r = {.size = size, .payload = roofline_payload(size, mtu), .crc = crc};
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	size_t user = RTE_ALIGN_CEIL((size_t)size, 4096);
	double rate = 0;

	if (lcore >= RTE_MAX_LCORE || size == 0)
		return 0;
	r.full = rte_ring_create("roofline full", 2 * MOST_BUFFERS, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	r.empty = rte_ring_create("roofline empty", 2 * MOST_BUFFERS, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	r.memory = aligned_alloc(ALIGN, (size_t)MOST_BUFFERS * packet_size(&r));
	r.in = aligned_alloc(4096, user);
	r.out = aligned_alloc(4096, user);
	if (r.full && r.empty && r.memory && r.in && r.out)
		rate = measure(&r, lcore);
	free(r.in);
	free(r.out);
	free(r.memory);
	rte_ring_free(r.full);
	rte_ring_free(r.empty);
	return rate;
}
