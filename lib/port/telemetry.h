/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines as DPDK's telemetry shows them (dpdk-telemetry.py): /iwarp/list, info, stats, ids, id.  EAL's telemetry
 * thread asks, by a call that the engine runs in its next poll; an engine that is not polled is said to be so. */
#ifndef TELEMETRY_H
#define TELEMETRY_H

struct iw_engine;

/* Shows an engine from now on; nothing happens when EAL runs without telemetry, or TELEMETRY_ENGINES are shown. */
void telemetry_add(struct iw_engine *e);
/* No more; before its last calls are run.  One that was never shown is let be. */
void telemetry_remove(const struct iw_engine *e);

#define TELEMETRY_ENGINES 64

#endif
