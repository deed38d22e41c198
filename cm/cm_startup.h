/* SPDX-License-Identifier: BSD-3-Clause */
/* Start-up as it comes in (RFC 5044 §7.1, RFC 6581): connections, Requests and Replies become events. */
#ifndef CM_STARTUP_H
#define CM_STARTUP_H

#include "cm_id.h"

/* A connection came in at a listener: it gets an id.  NULL: it was reset. */
struct cm_id *cm_startup_arrive(struct cm *cm, const struct tcp_ready *ready, uint64_t now_ns);

/* Whose entry it is.  One that was popped before its connection was adopted still names the listener: then the child.
 */
struct cm_id *cm_startup_owner(struct cm *cm, const struct tcp_ready *ready);

/* Octets may have come for an id that still reads the stream itself. */
void cm_startup_read(struct cm *cm, iw_cm_id handle, uint64_t now_ns);

/* Is the peer still there?  What TCP knows already is fed before accept or reject. */
void cm_startup_probe(struct cm *cm, iw_cm_id handle, uint64_t now_ns);

#endif
