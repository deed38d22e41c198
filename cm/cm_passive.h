/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder: its listener, Reply and reject, effects of the table's actions (RFC 5044 §7.1, RFC 6581). */
#ifndef CM_PASSIVE_H
#define CM_PASSIVE_H

#include "cm_id.h"

/* A new listener for the id.  0, or the error with nothing changed. */
int cm_passive_listen(struct cm *cm, struct cm_id *id, const struct iw_addr *addr, int backlog);

/* Everything of accept or reject that can fail.  0, or the error with nothing changed. */
int cm_passive_prepare(struct cm *cm, struct cm_id *id, struct iw_qp *qp, const struct iw_cm_attr *attr);
int cm_passive_prepare_reject(struct cm *cm, struct cm_id *id, const void *private_data, uint16_t private_len);

/* REPLY: the frame that was prepared.  false: it did not go. */
bool cm_passive_reply(struct cm *cm, struct cm_id *id);
/* REJECT: the frame that was prepared, or one without private data. */
void cm_passive_reject(struct cm *cm, struct cm_id *id);

/* ENTER, LEAVE: counts in its listener's backlog; the listener has nothing to do with it any more. */
void cm_passive_enter(struct cm *cm, struct cm_id *id);
void cm_passive_leave(struct cm *cm, struct cm_id *id);
/* UNLISTEN, when every child has left. */
void cm_passive_unlisten(struct cm *cm, struct cm_id *id, uint64_t now_ns);

#endif
