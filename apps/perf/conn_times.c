/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CONN_STEPS] = {"create",     "resolve", "connect", "established",
					      "disconnect", "close",   "destroy"};

bool
conn_times_init(struct conn_times *t, uint64_t count)
{
	memset(t, 0, sizeof(*t));
	t->count = count;
	t->ns = calloc(count, CONN_STEPS * sizeof(t->ns[0]));
	return t->ns != NULL;
}

void
conn_times_fini(struct conn_times *t)
{
	free(t->ns);
	t->ns = NULL;
}

void
conn_times_add(struct conn_times *t, enum conn_step step, uint64_t ns)
{
	if (t->n[step] < t->count)
		t->ns[step * t->count + t->n[step]++] = ns;
}

double
conn_times_rate(const struct conn_times *t)
{
	return t->end_ns > t->begin_ns ? (double)t->count * 1e9 / (double)(t->end_ns - t->begin_ns) : 0;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
print_step(const char *name, uint64_t *ns, uint64_t n, const char *text)
{
	uint64_t middle = n / 2, late = n - 1 - (n - 1) / 100;
	double sum = 0;

	if (n == 0) {
		printf(" %-12s %10s %10s %10s %10s   %s\n", name, "-", "-", "-", "-", text);
		return;
	}
	qsort(ns, n, sizeof(ns[0]), compare);
	for (uint64_t i = 0; i < n; i++)
		sum += (double)ns[i];
	printf(" %-12s %10.2f %10.2f %10.2f %10.2f   %s\n", name, sum / (double)n * 1e-3, (double)ns[n - 1] * 1e-3,
	       (double)ns[middle] * 1e-3, (double)ns[late] * 1e-3, text);
}

void
conn_times_print(struct conn_times *t, const char *title, const char *const texts[CONN_STEPS])
{
	printf(" %s\n %-12s %10s %10s %10s %10s   what is timed\n", title, "step", "avg[usec]", "max[usec]",
	       "p50[usec]", "p99[usec]");
	for (uint32_t s = 0; s < CONN_STEPS; s++)
		print_step(names[s], t->ns + s * t->count, t->n[s], texts[s]);
	printf(" connections a second : %.0f\n", conn_times_rate(t));
	fflush(stdout);
}
