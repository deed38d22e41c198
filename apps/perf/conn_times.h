/* SPDX-License-Identifier: BSD-3-Clause */
/* How long each step in the life of a connection took, in the manner of librdmacm's cmtime. */
#ifndef CONN_TIMES_H
#define CONN_TIMES_H

#include <stdbool.h>
#include <stdint.h>

enum conn_step {
	CONN_CREATE,
	CONN_RESOLVE,
	CONN_CONNECT,
	CONN_ESTABLISHED,
	CONN_DISCONNECT,
	CONN_CLOSE,
	CONN_DESTROY,
	CONN_STEPS
};

struct conn_times {
	uint64_t count;            /* connections */
	uint64_t *ns;              /* count samples for each step */
	uint64_t n[CONN_STEPS];    /* how many there are */
	uint64_t begin_ns, end_ns; /* of the whole run */
};

/* False when there is no memory. */
bool conn_times_init(struct conn_times *t, uint64_t count);
void conn_times_fini(struct conn_times *t);

/* A step that lasted so long.  Different steps may be added to by different threads. */
void conn_times_add(struct conn_times *t, enum conn_step step, uint64_t ns);

/* Connections in a second of the run. */
double conn_times_rate(const struct conn_times *t);

/* The table; texts[step]: what was timed, or why there is no such step.  Sorts the samples. */
void conn_times_print(struct conn_times *t, const char *title, const char *const texts[CONN_STEPS]);

#endif
