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
 * The calls of tests, the fill of FPDUs and the events that cm hands out are seen by the linker's --wrap: they run
 * wherever there is a sim, and nothing has to be called.  O10 (integrity) is in traffic.h, O12 (isolation) in pair.h,
 * for tests with hostile peers. */
#ifndef ORACLE_H
#define ORACLE_H

#include <iwarp.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

struct cm;

/* Begins with a run and ends with it; a violation fails the test that runs. */
void oracle_begin(void);
void oracle_end(void);

/* Memory of a test, full of the secret.  Register a range before writing to it; a range whose last registration goes
 * is filled with the secret again.  Freed by oracle_end(). */
uint8_t *oracle_memory(uint64_t len);
/* The same in the middle of it: all that is returned is to be registered, what lies on both sides is not.  On a cache
 * line of its own. */
uint8_t *oracle_between(uint64_t len);

/* The secret's eight octets, for filling other things with it. */
const uint8_t *oracle_secret(void);

/* O3, now. */
void oracle_check_memory(void);
/* O4, for a frame that goes out. */
void oracle_frame(const struct rte_mbuf *m);
/* O6, for an event as its handler gets it. */
void oracle_cm_event(const struct cm *cm, iw_cm_id id, const struct iw_cm_event *event);

/* FPDUs and Terminates that were filled in this run. */
uint64_t oracle_fpdus(void);
uint64_t oracle_terminates(void);

#endif
