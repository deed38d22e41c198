/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CM_REAP_H
#define CM_REAP_H

#include "cm_id.h"

/* When few places are left for new streams, and params.reap_idle_ns allows it, established ones on which no FPDU has
 * come or gone for that long are reset, some in each turn (RFC 5042 §6.4.2).  Their ids get CLOSE(-IW_E_CONNABORTED).
 */
void cm_reap_idle(struct cm *cm, uint64_t now_ns);

#endif
