/* SPDX-License-Identifier: BSD-3-Clause */
/* What this room reads of a QP beyond its room's face. */
#ifndef CM_QP_H
#define CM_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "cm_fsm.h"
#include "rdmap.h"

/* Depths that an id may use: those asked for, or the QP's when 0.  false: more than the QP has. */
bool cm_qp_depths(const struct iw_qp *qp, uint16_t *ird, uint16_t *ord);

/* Has it failed, whether or not its room's list of what happened has been read?  CM_EV_TERM, CM_EV_BROKEN (a Terminate
 * is due), CM_EV_FATAL; CM_EVENT_MAX: it is well. */
enum cm_event cm_qp_failure(const struct iw_qp *qp);

/* The Terminate that was sent or received; valid is false when there was none. */
struct iw_terminate cm_qp_term(const struct iw_qp *qp);

/* It has stopped reading until a receive is posted. */
bool cm_qp_waits(const struct iw_qp *qp);

#endif
