/* SPDX-License-Identifier: BSD-3-Clause */
/* Goodput of one stream through a bottleneck: loss x delay x buffer, each cell with its golden value and a band around
 * it; what is in flight is compared with both windows after every step (tests/lib/windows.c); the clock starts where
 * sequence numbers, timestamps or the timing wheel wrap.
 *     test_goodput        each loss with each delay, one buffer and one start each
 *     test_goodput all    the whole grid, every start
 *     test_goodput one CELL START   one run, by their numbers
 *     test_goodput print  the whole grid once, as a table to copy */
#include <stdio.h>
#include <stdlib.h>

#include "tcp_isn.h"
#include "tcpsim.h"

#define RATE_BITS 100000000ull
#define PIPE_FRAMES 16384
#define SEGMENT 1500ull
#define LENGTH_NS (2 * IW_SEC)

/* One direction: a queue in front of a line. */
struct line {
	struct {
		struct rte_mbuf *m;
		uint64_t at_ns; /* arrives */
	} frame[PIPE_FRAMES];
	uint32_t head, n;
	uint64_t free_ns; /* the line has sent all that is queued */
	uint64_t dropped;
};

enum start { START_PLAIN, START_SEQ, START_TS, START_WHEEL, STARTS };

struct cell {
	uint32_t loss_ppm;
	uint32_t delay_us; /* one way */
	uint32_t buffer;   /* segments */
	uint32_t permille; /* golden: goodput in thousandths of the line */
};

static const struct cell cells[] = {
#include "goodput_golden.h"
};

struct run {
	struct sim s;
	struct line line[2];
	const struct cell *cell;
	uint32_t conn[2];
	uint64_t place_sent, place_read;
};

/* ---- the lines ---- */

static void
line_put(struct run *r, uint32_t from, struct rte_mbuf *m)
{
	struct line *l = &r->line[from];
	uint64_t serial = (uint64_t)m->pkt_len * 8 * IW_SEC / RATE_BITS, now = r->s.now_ns;
	uint64_t backlog = l->free_ns > now ? (l->free_ns - now) * RATE_BITS / 8 / IW_SEC : 0;

	if (sim_chance(&r->s, r->cell->loss_ppm) || backlog > r->cell->buffer * SEGMENT || l->n == PIPE_FRAMES) {
		l->dropped++;
		rte_pktmbuf_free(m);
		return;
	}
	l->free_ns = (l->free_ns > now ? l->free_ns : now) + serial;
	l->frame[(l->head + l->n) % PIPE_FRAMES].m = m;
	l->frame[(l->head + l->n++) % PIPE_FRAMES].at_ns = l->free_ns + r->cell->delay_us * IW_US;
}

static struct rte_mbuf *
line_take(struct run *r, uint32_t from)
{
	struct line *l = &r->line[from];
	struct rte_mbuf *m = l->frame[l->head].m;

	if (l->n == 0 || l->frame[l->head].at_ns > r->s.now_ns)
		return NULL;
	l->head = (l->head + 1) % PIPE_FRAMES;
	l->n--;
	return m;
}

/* ---- a step ---- */

static void
receive(struct run *r, struct host *h)
{
	struct rte_mbuf *m;

	while ((m = line_take(r, !h->id)) != NULL) {
		struct net_icmp_err err;
		struct net_pkt pkt;

		if (net_rx(h->net, m, r->s.now_ns, &pkt, &err) == NET_TCP)
			tcp_rx(h->tcp, m, &pkt, r->s.now_ns);
	}
}

static void
application(struct run *r, struct host *h)
{
	struct tcp_ready ready;
	struct tcp_grant g;

	while (tcp_ready_next(h->tcp, &ready))
		assert_false(ready.bits & (TCP_READY_RST | TCP_READY_TIMEOUT));
	if (h->id == 1) {
		sim_read(h, r->conn[1], &r->place_read, UINT32_MAX);
		return;
	}
	while ((g = tcp_tx_grant(h->tcp, r->conn[0])).segments)
		for (uint32_t i = 0; i < g.segments; i++) {
			assert_int_equal(tcp_tx_append(h->tcp, r->conn[0], sim_mbuf(h, r->place_sent, g.emss)), 0);
			r->place_sent += g.emss;
		}
}

static void
step(struct run *r, struct host *h)
{
	struct rte_mbuf *out[SIM_BURST];
	uint32_t n;

	receive(r, h);
	net_tick(h->net, r->s.now_ns);
	tcp_tick(h->tcp, r->s.now_ns);
	application(r, h);
	tcp_tx_emit(h->tcp, SIM_BURST, r->s.now_ns);
	while ((n = net_drain(h->net, out, SIM_BURST)) > 0)
		for (uint32_t i = 0; i < n; i++)
			line_put(r, h->id, out[i]);
}

static uint64_t
next_event(const struct run *r)
{
	uint64_t at = IW_NEVER;

	for (uint32_t i = 0; i < 2; i++) {
		const struct line *l = &r->line[i];

		if (l->n)
			at = iw_time_min(at, l->frame[l->head].at_ns);
		at = iw_time_min(at, tcp_deadline(r->s.h[i].tcp));
		at = iw_time_min(at, net_deadline(r->s.h[i].net));
	}
	return at;
}

/* ---- starts ---- */

/* The clock at which something wraps within the run. */
static void
wind(struct sim *s, enum start start)
{
	struct iw_addr local = s->h[0].nif.addr, remote = s->h[1].nif.addr;
	uint32_t isn, ts;
	struct tcp_tuple t;

	s->local_port = local.port = 5000;
	remote.port = 4420;
	t = tcp_tuple_of(&local, &remote);
	if (start == START_SEQ) {
		isn = tcp_isn_seq(&s->h[0].env, &t, s->now_ns);
		s->now_ns += (uint64_t)(uint32_t)(0u - 500000u - isn) * 4 * IW_US;
	} else if (start == START_TS) {
		ts = tcp_isn_tsval(s->now_ns, tcp_isn_ts_offset(&s->h[0].env, &t));
		s->now_ns += (uint64_t)(uint32_t)(0u - 1000u - ts) * IW_MS;
	} else if (start == START_WHEEL) {
		s->now_ns = (3ull << (32 + IW_WHEEL_TICK_SHIFT)) - IW_SEC;
	}
}

/* ---- a run ---- */

static struct run *
open_run(const struct cell *cell, enum start start)
{
	struct run *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	sim_init(&r->s, 77 + cell->loss_ppm + cell->delay_us, true);
	r->cell = cell;
	wind(&r->s, start);
	sim_connect(&r->s, &r->conn[0], &r->conn[1]);
	return r;
}

static void
close_run(struct run *r)
{
	for (uint32_t i = 0; i < 2; i++)
		while (r->line[i].n) {
			struct line *l = &r->line[i];

			rte_pktmbuf_free(l->frame[l->head].m);
			l->head = (l->head + 1) % PIPE_FRAMES;
			l->n--;
		}
	sim_fini(&r->s);
	free(r);
}

/* Goodput in thousandths of the line's rate. */
static uint32_t
goodput(const struct cell *cell, enum start start)
{
	struct run *r = open_run(cell, start);
	uint64_t begin = r->s.now_ns, end = begin + LENGTH_NS;
	uint32_t permille;

	while (r->s.now_ns < end) {
		uint64_t next;

		step(r, &r->s.h[0]);
		step(r, &r->s.h[1]);
		next = next_event(r);
		r->s.now_ns = next > r->s.now_ns ? next : r->s.now_ns + 1;
	}
	assert_true(r->place_read > 0);
	permille = (uint32_t)(r->place_read * 8 * 1000 / (RATE_BITS * (LENGTH_NS / IW_SEC)));
	close_run(r);
	return permille;
}

/* Where loss leaves a window of few segments, single timeouts decide: the band is wide there. */
static uint32_t
band(const struct cell *cell)
{
	return cell->permille / (cell->permille < 100 ? 2 : 4) + 25;
}

static bool
check(const struct cell *cell, enum start start)
{
	uint32_t got = goodput(cell, start), width = band(cell);

	if (got + width >= cell->permille && got <= cell->permille + width)
		return true;
	print_error("loss %u ppm, delay %u us, buffer %u, start %d: %u, golden %u\n", cell->loss_ppm, cell->delay_us,
		    cell->buffer, (int)start, got, cell->permille);
	return false;
}

static bool whole;

/* Buffers and starts in turn. */
static bool
is_in_slice(uint32_t cell, uint32_t start)
{
	uint32_t line = cell / 2;

	return cell % 2 == line % 2 && start == line % STARTS;
}

static void
test_grid(void **state)
{
	uint32_t wrong = 0;

	(void)state;
	for (uint32_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		for (uint32_t start = 0; start < STARTS; start++)
			if (whole || is_in_slice(i, start))
				wrong += !check(&cells[i], (enum start)start);
	assert_int_equal(wrong, 0);
}

static void
print_grid(void)
{
	for (uint32_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		printf("{%u, %u, %u, %u},\n", cells[i].loss_ppm, cells[i].delay_us, cells[i].buffer,
		       goodput(&cells[i], START_PLAIN));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid)};

	whole = argc > 1 && strcmp(argv[1], "all") == 0;
	if (argc > 3 && strcmp(argv[1], "one") == 0)
		return !check(&cells[strtoul(argv[2], NULL, 0) % (sizeof(cells) / sizeof(cells[0]))],
			      (enum start)(strtoul(argv[3], NULL, 0) % STARTS));
	if (argc > 1 && strcmp(argv[1], "print") == 0) {
		print_grid();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
