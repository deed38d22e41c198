/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines.h"

#include <rte_pause.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"
#include "client.h"
#include "figures.h"
#include "json.h"
#include "loopback.h"
#include "peer.h"
#include "roofline.h"
#include "server.h"

#define TIMES 3 /* of each number of engines, in turn: the median counts, of rates and of the ratios of a turn */

/* Two hosts with n engines each, on a wire with as many queues. */
struct engines {
	struct loopback l;
	uint32_t ready; /* pairs that can begin, or have failed */
	bool failed;
	double rate[IW_WIRE_QUEUES]; /* octets a second, and ... */
	double busy[IW_WIRE_QUEUES]; /* ... a second of the lcore's CPU time, which other programs do not take away */
};

/* The same number of cores with the memory limit, each alone. */
struct alone {
	const struct options *o;
	uint32_t n, ready;
	double rate[IW_WIRE_QUEUES];
};

/* What was measured: octets a second, of all together. */
enum what { RATE, BUSY, LIMIT, WHATS };
struct rates {
	double of[WHATS];
};

struct turn {
	struct engines *e;
	double begin; /* CPU time */
};

static double
cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
limit(void *arg, uint32_t number)
{
	struct alone *a = arg;
	struct roofline *r = roofline_create(a->o->size, a->o->host.mtu, !a->o->no_crc);

	__atomic_fetch_add(&a->ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&a->ready, __ATOMIC_ACQUIRE) < a->n)
		rte_pause();
	a->rate[number] = r ? roofline_alone(r) : 0;
	roofline_destroy(r);
	if (a->rate[number] > 0)
		return 0;
	return cli_fail(r ? "the memory limit: octets changed on their way" : "no memory");
}

/* All begin together. */
static bool
all_ready(void *arg, struct peer *p)
{
	struct turn *t = arg;
	struct engines *e = t->e;

	__atomic_fetch_add(&e->ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&e->ready, __ATOMIC_ACQUIRE) < e->l.a.n && peer_alive(p))
		rte_pause();
	t->begin = cpu_seconds();
	return !__atomic_load_n(&e->failed, __ATOMIC_ACQUIRE) && peer_alive(p);
}

static int
pair(void *arg, uint32_t number)
{
	struct engines *e = arg;
	const struct host a = {.domain = e->l.a.domain, .engine = e->l.a.engines[number]},
			  b = {.domain = e->l.b.domain, .engine = e->l.b.engines[number]};
	struct server *server = server_create(&e->l.server, &b);
	struct report_bw row = {.size = 0};
	struct turn turn = {.e = e};
	int result = 1;

	if (server)
		result = client_measure(&e->l.client, &a, server, all_ready, &turn, &row);
	if (result) { /* nobody waits for this one */
		__atomic_store_n(&e->failed, true, __ATOMIC_RELEASE);
		__atomic_fetch_add(&e->ready, 1, __ATOMIC_ACQ_REL);
	}
	e->rate[number] = result ? 0 : (double)row.iters * row.size / row.seconds;
	e->busy[number] = result ? 0 : (double)row.iters * row.size / (cpu_seconds() - turn.begin);
	server_destroy(server);
	return result;
}

/* False after an error line. */
static bool
measure(const struct options *o, uint32_t n, struct rates *sum)
{
	struct engines *e = calloc(1, sizeof(*e));
	bool ok = false;

	if (!e) {
		cli_fail("no memory");
		return false;
	}
	ok = loopback_open(&e->l, o, n) && host_run(&e->l.a, pair, e) == 0;
	for (uint32_t i = 0; i < n; i++) {
		sum->of[RATE] += e->rate[i];
		sum->of[BUSY] += e->busy[i];
	}
	loopback_close(&e->l);
	free(e);
	return ok;
}

static bool
measure_limit(const struct options *o, uint32_t n, struct rates *sum)
{
	const struct host cores = {.n = n};
	struct alone a = {.o = o, .n = n};
	bool ok = host_run(&cores, limit, &a) == 0;

	for (uint32_t i = 0; i < n; i++)
		sum->of[LIMIT] += a.rate[i];
	return ok;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Of the turns' values; with `one` of what each is of the value of one engine in the same turn. */
static double
median(const struct rates *turns, const struct rates *one, enum what what)
{
	double values[TIMES];

	for (int t = 0; t < TIMES; t++)
		values[t] = turns[t].of[what] / (one ? one[t].of[what] : 1);
	qsort(values, TIMES, sizeof(values[0]), by_value);
	return values[TIMES / 2];
}

/* Of n engines against one; also to the JSON file, where there is one. */
static void
print_row(struct report *r, uint32_t n, const struct rates *of, const struct rates *one)
{
	const struct options *o = r->o;
	double rate = median(of, NULL, RATE), unit = figures_bw_unit(o);
	const struct figure f[] = {
		{"MsgSize", o->size, 0},
		{"engines", n, 0},
		{"BW_average", rate / unit, 2},
		{"MsgRate", rate / o->size / 1e6, 6},
		{"against_one", median(of, one, RATE), 2},
		{"by_CPU_time", median(of, one, BUSY), 2},
		{"limit_average", median(of, NULL, LIMIT) / unit, 2},
		{"limit_against_one", median(of, one, LIMIT), 2},
	};

	printf(" %-10u %-22.2f %-14.6f %-13.2f %-13.2f %-21.2f %.2f\n", n, f[2].value, f[3].value, f[4].value,
	       f[5].value, f[6].value, f[7].value);
	if (r->json)
		json_row(r, f, RTE_DIM(f), NULL);
	r->rows++;
}

static void
print_rows(struct report *r, struct rates (*rates)[TIMES], uint32_t most)
{
	const char *unit = figures_bw_name(r->o);

	printf(" #engines   BW average[%s]    MsgRate[Mpps]  against one   by CPU time   memory limit[%s] against "
	       "one\n",
	       unit, unit);
	for (uint32_t n = 1; n <= most; n++)
		print_row(r, n, rates[n - 1], rates[0]);
}

/* The numbers of engines take turns, and the limit with them, so that what else the machine does meets them alike. */
static bool
measure_all(const struct options *o, struct rates (*rates)[TIMES], uint32_t most)
{
	for (int t = 0; t < TIMES; t++)
		for (uint32_t n = 1; n <= most; n++)
			if (!measure(o, n, &rates[n - 1][t]) || !measure_limit(o, n, &rates[n - 1][t]))
				return false;
	return true;
}

int
engines_run(const struct options *o)
{
	struct rates rates[IW_WIRE_QUEUES][TIMES] = {0};
	uint32_t most = host_lcores() < IW_WIRE_QUEUES ? host_lcores() : IW_WIRE_QUEUES;
	struct report r = {.o = o, .mtu = o->host.mtu, .crc = !o->no_crc};
	bool ok;

	if (most < 2)
		return cli_fail("a further engine needs a further lcore: give EAL -l 0,1");
	if (o->json && !json_open(&r))
		return cli_fail("%s: cannot be written", o->json_file);
	ok = measure_all(o, rates, most);
	if (ok)
		print_rows(&r, rates, most);
	if (r.json)
		json_close(&r);
	return ok ? 0 : 1;
}
