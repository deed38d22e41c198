/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection rate: connections that are made and closed, some at once, and the kernel's TCP beside them. */
#ifndef RUN_CONN_H
#define RUN_CONN_H

#include "host.h"
#include "options.h"

/* o->iters connections from a to b, at most o->qps at once; b runs on lcore.  Prints the tables; an exit code. */
int run_conn(const struct options *o, const struct host *a, const struct host *b, unsigned lcore);

#endif
