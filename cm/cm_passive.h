/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder: connections that come in, Request, Reply or reject (RFC 5044 §7.1, RFC 6581). */
#ifndef CM_PASSIVE_H
#define CM_PASSIVE_H

#include "cm_id.h"

/* A new listener for the id.  0, or the error with nothing changed. */
int cm_passive_listen(struct cm *cm, struct cm_id *id, const struct iw_addr *addr, int backlog);

/* A connection came in at a listener: it gets an id.  NULL: it was reset. */
struct cm_id *cm_passive_arrive(struct cm *cm, const struct tcp_ready *ready, uint64_t now_ns);

/* Octets have come in AWAIT_REQUEST or RECV. */
void cm_passive_read(struct cm *cm, struct cm_id *id, uint64_t now_ns);

/* Is the peer still there?  What TCP knows already is fed before accept or reject. */
void cm_passive_probe(struct cm *cm, iw_cm_id handle, uint64_t now_ns);

/* Everything of accept or reject that can fail.  0, or the error with nothing changed. */
int cm_passive_prepare(struct cm *cm, struct cm_id *id, struct iw_qp *qp, const struct iw_cm_attr *attr);
int cm_passive_prepare_reject(struct cm *cm, struct cm_id *id, const void *private_data, uint16_t private_len);

/* REPLY: the frame that was prepared.  false: it did not go. */
bool cm_passive_reply(struct cm *cm, struct cm_id *id);
/* REJECT: the frame that was prepared, or one without private data. */
void cm_passive_reject(struct cm *cm, struct cm_id *id);

void cm_passive_enter(struct cm *cm, struct cm_id *id);
void cm_passive_leave(struct cm *cm, struct cm_id *id);
void cm_passive_unlisten(struct cm *cm, struct cm_id *id, uint64_t now_ns);

#endif
