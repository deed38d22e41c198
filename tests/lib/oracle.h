/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold in every simulated run, whatever the wire and the peers do:
 *   O1  conservation: what was taken is given back (sim_fini)
 *   O2  each work request completes exactly once, in the order of its queue; behind an error nothing succeeds
 *   O3  write containment: memory of oracle_memory() that is not registered keeps its secret pattern
 *   O4  read containment: no transmitted frame contains six octets of that pattern in a row (mbufs hold it too, before
 *       they are written)
 *   O5  Terminates: at most one in a direction, nothing behind it, never in answer to one; every FPDU we make is whole,
 *       with its markers in their places
 *   O6  the events of an id are a word of the allowed language
 * Memory counts as granted from its registration, by a call or by a request, until that is taken back: iw_mr_reg(),
 * _qp(), _iov(), IW_WR_FAST_REG; local and remote invalidation, iw_mr_dereg().  tests/sim/test_oracles.c breaks each of
 * these promises on purpose.
 * O10 (integrity) is in traffic.h, O12 (isolation) in pair.h, for tests with hostile peers.  The calls of tests and the
 * fill of FPDUs are seen by the linker's --wrap: nothing has to be called for O2 and O5. */
#ifndef ORACLE_H
#define ORACLE_H

#include <iwarp.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

/* Begins with a run and ends with it; a violation fails the test that runs. */
void oracle_begin(void);
void oracle_end(void);

/* Memory of a test, full of the secret.  Register a range before writing to it; a range whose last registration goes
 * is filled with the secret again.  Freed by oracle_end(). */
uint8_t *oracle_memory(uint64_t len);

/* The secret's eight octets, for filling other things with it. */
const uint8_t *oracle_secret(void);

/* O3, now. */
void oracle_check_memory(void);
/* O4, for a frame that goes out. */
void oracle_frame(const struct rte_mbuf *m);
/* O6, for an event as its handler gets it. */
void oracle_cm_event(const struct iw_engine *engine, iw_cm_id id, const struct iw_cm_event *event);
void oracle_cm_accepted(const struct iw_engine *engine, iw_cm_id id);
void oracle_cm_destroyed(const struct iw_engine *engine, iw_cm_id id);

/* FPDUs and Terminates that were filled in this run. */
uint64_t oracle_fpdus(void);
uint64_t oracle_terminates(void);

#endif
