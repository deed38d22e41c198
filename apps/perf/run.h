/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of the client: messages of one size, timed. */
#ifndef RUN_H
#define RUN_H

#include "peer.h"
#include "report.h"

/* iters: of each QP, 0: for o->seconds or until Ctrl-C.  False when the run failed (an error line was printed).  row:
 * gets what was measured; with --run_infinitely it goes to `report` every few seconds. */
bool run_bw(struct peer *p, uint32_t size, uint64_t iters, struct report_bw *row, struct report *report);
bool run_lat(struct peer *p, uint32_t size, uint64_t iters, struct report_lat *row);

/* Tells the server that the run is over, waits until it is over there, too, and checks the data.  *theirs: messages
 * that the server sent; ours: messages that this end sent. */
bool run_finish(struct peer *p, uint32_t size, uint64_t ours, uint64_t *theirs);

#endif
