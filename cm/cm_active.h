/* SPDX-License-Identifier: BSD-3-Clause */
/* The initiator: SYN and Request, effects of the table's actions (RFC 5044 §7.1, RFC 6581). */
#ifndef CM_ACTIVE_H
#define CM_ACTIVE_H

#include "cm_id.h"

/* Everything of connect that can fail: arguments, QP, Request, SYN.  0, or the error with nothing changed. */
int cm_active_open(struct cm *cm, struct cm_id *id, const struct iw_addr *addr, struct iw_qp *qp,
		   const struct iw_cm_attr *attr, uint64_t now_ns);

/* REQUEST: the frame made by open or retry goes.  false: it did not. */
bool cm_active_request(struct cm *cm, struct cm_id *id);

/* RETRY: lets go of the connection and opens another, from a new source port, for revision 1.  false: it did not work.
 */
bool cm_active_retry(struct cm *cm, struct cm_id *id, uint64_t now_ns);

/* TERM: the Terminate that is due. */
void cm_active_terminate(struct cm *cm, struct cm_id *id);

#endif
