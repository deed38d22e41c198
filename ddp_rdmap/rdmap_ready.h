/* SPDX-License-Identifier: BSD-3-Clause */
/* May the request at the send index begin?  Reads and atomics wait for an ORD to be free, fenced requests for what is
 * before them. */
#ifndef RDMAP_READY_H
#define RDMAP_READY_H

#include "qp_obj.h"

/* The request, or NULL: there is none, or something holds it back. */
const struct wr_send *rdmap_ready_next(const struct iw_qp *qp);

/* It is one that makes a message. */
bool rdmap_ready_wire(const struct iw_qp *qp);

/* It is one that sends nothing, and the QP is in a state for it: a responder that may not send yet does it, too. */
bool rdmap_ready_local(const struct iw_qp *qp);

#endif
