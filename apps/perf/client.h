/* SPDX-License-Identifier: BSD-3-Clause */
/* The end that measures. */
#ifndef CLIENT_H
#define CLIENT_H

#include "host.h"
#include "options.h"

#define CLIENT_SIZES 23 /* 2^1 .. 2^23 with -a */

/* Whether the machine has the memory for all sizes of a run; says so if not.  To be asked before anything is measured.
 */
bool client_fits(const struct options *o);

/* roofline[i]: of the i-th size, 0 where not measured.  Exit code. */
int client_run(const struct options *o, const struct host *host, uint16_t mtu, const double *roofline);

struct peer;
struct report_bw;
struct server;

/* One run of o->seconds without a word, the server beside it on the same lcore.  Once all is set up ready() is called:
 * false gives up.  Exit code. */
int client_measure(const struct options *o, const struct host *host, struct server *beside,
		   bool (*ready)(void *arg, struct peer *p), void *arg, struct report_bw *row);

/* The i-th message size of a run of o; 0 behind the last. */
uint32_t client_size(const struct options *o, uint32_t i);

#endif
