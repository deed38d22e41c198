/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user chooses about a connection: the only place that judges it, for both sides. */
#ifndef CM_ATTR_H
#define CM_ATTR_H

#include "cm_id.h"

/* Private data of a frame of revision 2 (enhanced) or 1.  0, -IW_E_INVAL (a length without data), -IW_E_TOOBIG. */
int cm_attr_check_private(const void *data, uint16_t len, bool enhanced);

/* Of connect; IRD and ORD are the QP's to judge (cm_qp_depths).  As above, -IW_E_INVAL also for wishes that exclude
 * each other. */
int cm_attr_check(const struct iw_cm_attr *a);

/* Takes over what both sides do alike. */
void cm_attr_take(struct cm_setup *s, const struct iw_cm_attr *a);

#endif
