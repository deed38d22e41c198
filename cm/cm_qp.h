/* SPDX-License-Identifier: BSD-3-Clause */
/* The QP of an id: what this room reads of it beyond its room's face, and effects of the table's actions on it. */
#ifndef CM_QP_H
#define CM_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "cm_id.h"

/* Depths that an id may use: those asked for, or the QP's when 0.  false: more than the QP has. */
bool cm_qp_depths(const struct iw_qp *qp, uint16_t *ird, uint16_t *ord);

/* Has it failed, whether or not its room's list of what happened has been read?  CM_EV_TERM, CM_EV_BROKEN (a Terminate
 * is due), CM_EV_FATAL; CM_EVENT_MAX: it is well. */
enum cm_event cm_qp_failure(const struct iw_qp *qp);

/* The Terminate that was sent or received; valid is false when there was none. */
struct iw_terminate cm_qp_term(const struct iw_qp *qp);

/* It has stopped reading until a receive is posted. */
bool cm_qp_waits(const struct iw_qp *qp);

/* START: QP to RTS with what was agreed on, the octets that follow go to it; an initiator's RTR is handed to TCP.
 * false: the QP did not start. */
bool cm_qp_start(struct cm *cm, struct cm_id *id, uint64_t now_ns);
/* QP_CLOSE: nothing new is taken, what is queued goes out. */
void cm_qp_drain(struct cm *cm, struct cm_id *id);
/* QP_END: flushes the QP if it has started, keeps its Terminate, lets go of it. */
void cm_qp_end(struct cm *cm, struct cm_id *id);

#endif
