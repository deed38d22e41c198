/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of the client: messages of one size, timed. */
#ifndef RUN_H
#define RUN_H

#include "peer.h"
#include "report.h"

/* False when the run failed (an error line was printed). */
bool run_bw(struct peer *p, uint32_t size, struct report_bw *out);
bool run_lat(struct peer *p, uint32_t size, struct report_lat *out); /* out->ns: for o->iters samples */

/* True while nothing speaks against going on. */
bool run_alive(const struct peer *p);

#endif
