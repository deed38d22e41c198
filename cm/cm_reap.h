/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has to go when something is short: one in a turn, the worst first.  Ids get CLOSE(-IW_E_CONNABORTED), their peers
 * RST. */
#ifndef CM_REAP_H
#define CM_REAP_H

#include "cm_id.h"

/* Few places are left for new streams, and params.reap_idle_ns allows it: an established one on which no FPDU has come
 * or gone for that long (RFC 5042 §6.4.2).  The longest idle of some, all of them by turns. */
void cm_reap_idle(struct cm *cm, uint64_t now_ns);

/* Octets come in, and few mbufs are left for them: the stream whose unfinished FPDU has not grown for longest, and for
 * a second at least (X3). */
void cm_reap_slow(struct cm *cm, uint64_t now_ns);

#endif
