/* SPDX-License-Identifier: BSD-3-Clause */
/* All deadlines of the room.  An id has one at a time, by purpose (enum cm_deadline); the table says which:
 *
 *   CONNECT  10 s or attr.connect_timeout_ms, from the first SYN to the Reply; the second attempt keeps it
 *   DELAY    attr.first_fpdu_delay_us, from the Reply to the start of the stream
 *   REQUEST  10 s, from the handshake to the whole Request
 *   RTR      10 s, from accept to the first FPDU (peer-to-peer)
 *   CLOSING  60 s, from the first disconnect or FIN to the end of TCP
 *   LINGER   3 s, from a Terminate sent, due or received to the end of TCP
 *   ORPHAN   10 s, as RTR: from giving up after the Request to letting TCP end alone
 *
 * CONN_RECV waits for the user, ESTABLISHED for nobody: they have none.  LINGER and CLOSING end in a RST. */
#ifndef CM_TIMER_H
#define CM_TIMER_H

#include "cm_id.h"

/* Arms the deadline that the id's state names, counted from now, or cancels it. */
void cm_timer_arm(struct cm *cm, struct cm_id *id, uint64_t now_ns);

/* The next id whose deadline has passed; NULL: none. */
struct cm_id *cm_timer_due(struct cm *cm, uint64_t now_ns);

#endif
