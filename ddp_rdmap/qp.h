/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to a queue pair: every change of state, and every reason why its stream ends. */
#ifndef QP_H
#define QP_H

#include "qp_obj.h"
#include "rdmap_err.h"
#include "rdmap_face.h"

/* The state's only writer: takes the step and does what the table asks for. */
void qp_event(struct iw_qp *qp, enum qp_fsm_event event);

/* Something that the peer is to be told by a Terminate: what it sent (f: the FPDU, or NULL), or what failed here.
 * read: the Read Request as far as it is unanswered, or NULL. */
void qp_fault(struct iw_qp *qp, enum rdmap_fault fault, const struct ddp_hdr *ddp, uint16_t ulpdu_len,
	      const struct rdmap_read_req *read);

/* The SQ's request at pos failed here: it completes with this status, the stream ends. */
void qp_sq_failed(struct iw_qp *qp, uint32_t pos, enum iw_wc_status status);

/* DRAINING: is everything done? */
void qp_check_empty(struct iw_qp *qp);

/* Flushes what was posted while the queues were being closed by another thread. */
void qp_door(struct iw_qp *qp);

/* It goes: its user hears nothing more of it. */
void qp_async_forget(struct iw_qp *qp);

/* Receives were posted to an SRQ, or completions polled: those in this list (struct srq_user) have another look, each
 * once: whoever still finds no receive waits again, behind the others. */
void qp_door_waiters(struct iw_list *list);

/* Is there a receive for its next message? */
bool qp_has_recv(struct iw_qp *qp);

void qp_out(struct iw_qp *qp, uint32_t bits);

#endif
