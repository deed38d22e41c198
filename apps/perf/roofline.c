/* SPDX-License-Identifier: BSD-3-Clause */
#include "roofline.h"

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <rte_ring.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "passes.h"

#define BURST 16u
#define MOST_BUFFERS 512u
#define RING (2 * MOST_BUFFERS)
#define HEADERS 72u /* IPv4, TCP with timestamps, MPA, DDP */
#define PROBE 0.025 /* seconds, of each way; and then of the best one, or alone: */
#define SECONDS 0.1
#define ALIGN 64u

/* How many packet buffers go round, and how many are handed over together.  What is best depends on the caches of the
 * machine: the limit is the best of all. */
static const struct way {
	uint32_t buffers, burst;
} ways[] = {{32, 4}, {32, BURST}, {128, BURST}, {MOST_BUFFERS, BURST}};

struct packet {
	struct check check;
	uint32_t len;
	uint8_t payload[] __attribute__((aligned(64)));
};

struct roofline {
	struct rte_ring *full, *empty; /* in memory of their own: EAL's may be in use to the last page */
	uint8_t *memory, *in, *out;    /* packets; the two ends' user buffers, of one message each */
	uint32_t size, payload, burst;
	bool crc, stop;
	uint64_t bad;
};

/* Where the packet behind one of len octets begins in the message. */
static uint32_t
behind(const struct roofline *r, uint32_t at, uint32_t len)
{
	return at + len < r->size ? at + len : 0;
}

static void
consume(struct roofline *r, void **packets, uint32_t n, uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct packet *p = packets[i];
		struct check c = passes_check(r->out + *at, p->payload, p->len, r->crc);

		if (c.crc != p->check.crc || c.sum != p->check.sum)
			r->bad++; /* else not even written: the other core reads what stands beside it */
		*at = behind(r, *at, p->len);
	}
}

static int
consumer(void *arg)
{
	struct roofline *r = arg;
	void *packets[BURST];
	uint32_t at = 0, n;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE) || !rte_ring_empty(r->full)) {
		n = rte_ring_sc_dequeue_burst(r->full, packets, r->burst, NULL);
		if (n == 0)
			rte_pause();
		consume(r, packets, n, &at);
		rte_ring_sp_enqueue_bulk(r->empty, packets, n, NULL);
	}
	return 0;
}

static uint32_t
produce(const struct roofline *r, void **packets, uint32_t n, uint32_t *at)
{
	uint32_t octets = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct packet *p = packets[i];

		p->len = RTE_MIN(r->payload, r->size - *at);
		p->check = passes_copy(p->payload, r->in + *at, p->len, r->crc);
		*at = behind(r, *at, p->len);
		octets += p->len;
	}
	return octets;
}

static uint64_t
cycles_of(double seconds)
{
	return (uint64_t)(seconds * (double)rte_get_tsc_hz());
}

static double
run(struct roofline *r, double seconds)
{
	uint64_t begin = rte_rdtsc(), now = begin, end = begin + cycles_of(seconds), octets = 0;
	void *packets[BURST];
	uint32_t at = 0, n;

	for (; now < end; now = rte_rdtsc()) {
		n = rte_ring_sc_dequeue_burst(r->empty, packets, r->burst, NULL);
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
measure_way(struct roofline *r, const struct way *way, unsigned lcore, double seconds)
{
	double rate;

	rte_ring_reset(r->full);
	rte_ring_reset(r->empty);
	for (uint32_t i = 0; i < way->buffers; i++)
		rte_ring_sp_enqueue(r->empty, r->memory + (size_t)i * packet_size(r));
	r->burst = way->burst;
	r->stop = false;
	if (rte_eal_remote_launch(consumer, r, lcore) != 0)
		return 0;
	rate = run(r, seconds);
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	rte_eal_wait_lcore(lcore);
	return rate;
}

/* Whether all that was handed over was as it was made, and the last message as it was sent. */
static bool
all_good(const struct roofline *r)
{
	return r->bad == 0 && memcmp(r->in, r->out, RTE_MIN(r->size, r->payload)) == 0;
}

/* The ways take short turns, the best of them a long one, which counts: the luckiest moment of many would be no limit
 * for what runs longer. */
static double
measure(struct roofline *r, unsigned lcore)
{
	const struct way *best = ways;
	double rate, most = 0;

	for (uint32_t i = 0; i < RTE_DIM(ways); i++) {
		rate = measure_way(r, &ways[i], lcore, PROBE);
		best = rate > most ? &ways[i] : best;
		most = RTE_MAX(most, rate);
	}
	rate = measure_way(r, best, lcore, SECONDS);
	return all_good(r) ? rate : 0;
}

uint32_t
roofline_payload(uint32_t size, uint16_t mtu)
{
	uint32_t fits = mtu > HEADERS ? mtu - HEADERS : 1;

	return RTE_MIN(size, fits);
}

static struct rte_ring *
make_ring(void)
{
	struct rte_ring *ring = aligned_alloc(ALIGN, RTE_ALIGN_CEIL((size_t)rte_ring_get_memsize(RING), ALIGN));

	if (ring && rte_ring_init(ring, "roofline", RING, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
		free(ring);
		return NULL;
	}
	return ring;
}

/* Every page is there before a clock runs. */
static void
touch(struct roofline *r)
{
	memset(r->memory, 0, (size_t)MOST_BUFFERS * packet_size(r));
	memset(r->out, 0, r->size);
	for (uint32_t i = 0; i < r->size; i++)
		r->in[i] = (uint8_t)(i * 131 >> 3);
}

struct roofline *
roofline_create(uint32_t size, uint16_t mtu, bool crc)
{
	struct roofline *r = calloc(1, sizeof(*r));
	size_t user = RTE_ALIGN_CEIL((size_t)size, 4096);

	if (!r)
		return NULL;
	*r = (struct roofline){.size = size, .payload = roofline_payload(size, mtu), .crc = crc};
	r->full = make_ring();
	r->empty = make_ring();
	r->memory = aligned_alloc(ALIGN, (size_t)MOST_BUFFERS * packet_size(r));
	r->in = aligned_alloc(4096, user);
	r->out = aligned_alloc(4096, user);
	if (r->full && r->empty && r->memory && r->in && r->out) {
		touch(r);
		return r;
	}
	roofline_destroy(r);
	return NULL;
}

void
roofline_destroy(struct roofline *r)
{
	if (!r)
		return;
	free(r->in);
	free(r->out);
	free(r->memory);
	free(r->full);
	free(r->empty);
	free(r);
}

double
roofline_measure(uint32_t size, uint16_t mtu, bool crc)
{
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	struct roofline *r = lcore < RTE_MAX_LCORE && size ? roofline_create(size, mtu, crc) : NULL;
	double rate = r ? measure(r, lcore) : 0;

	roofline_destroy(r);
	return rate;
}

double
roofline_alone(struct roofline *r)
{
	uint64_t begin = rte_rdtsc(), now = begin, end = begin + cycles_of(SECONDS), octets = 0;
	void *packets[BURST];
	uint32_t in = 0, out = 0;

	for (uint32_t i = 0; i < BURST; i++)
		packets[i] = r->memory + (size_t)i * packet_size(r);
	for (; now < end; now = rte_rdtsc()) {
		octets += produce(r, packets, BURST, &in);
		consume(r, packets, BURST, &out);
	}
	return all_good(r) ? (double)octets * (double)rte_get_tsc_hz() / (double)(now - begin) : 0;
}

/* ---- latency ---- */

/* The two ends; the rings are here's. */
struct ends {
	struct roofline *here, *there;
	bool stop;
};

/* One packet at a time: what came is checked and copied out, the answer copied in. */
static int
answerer(void *arg)
{
	struct ends *e = arg;
	struct rte_ring *full = e->here->full, *empty = e->here->empty;
	uint32_t in = 0, out = 0;
	void *packet;

	while (!__atomic_load_n(&e->stop, __ATOMIC_ACQUIRE))
		if (rte_ring_sc_dequeue(full, &packet) == 0) {
			consume(e->there, &packet, 1, &out);
			produce(e->there, &packet, 1, &in);
			rte_ring_sp_enqueue(empty, packet);
		}
	return 0;
}

static bool
round_trips(struct roofline *r, uint64_t iters, struct hist *hist)
{
	uint64_t then = rte_rdtsc(), now;
	double ns = 1e9 / (double)rte_get_tsc_hz();
	uint32_t in = 0, out = 0;
	void *packet = r->memory;

	for (uint64_t i = 0; i < iters; i++, then = now) {
		produce(r, &packet, 1, &in);
		rte_ring_sp_enqueue(r->full, packet);
		while (rte_ring_sc_dequeue(r->empty, &packet) != 0)
			if (cli_stopped())
				return false;
		consume(r, &packet, 1, &out);
		now = rte_rdtsc();
		hist_add(hist, (uint64_t)((double)(now - then) * ns));
	}
	return all_good(r);
}

bool
roofline_latency(uint32_t size, uint16_t mtu, bool crc, uint64_t iters, struct hist *hist)
{
	struct ends e = {.here = roofline_create(size, mtu, crc), .there = roofline_create(size, mtu, crc)};
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	bool ok = false;

	hist_init(hist);
	if (e.here && e.there && lcore < RTE_MAX_LCORE && rte_eal_remote_launch(answerer, &e, lcore) == 0) {
		ok = round_trips(e.here, iters, hist);
		__atomic_store_n(&e.stop, true, __ATOMIC_RELEASE);
		rte_eal_wait_lcore(lcore);
		ok = ok && all_good(e.there);
	}
	roofline_destroy(e.here);
	roofline_destroy(e.there);
	return ok;
}
