/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations that are made by work requests: the list is copied at the post into the spare map, and changes places
 * with the map in use when the request has its turn. */
#ifndef MR_FAST_H
#define MR_FAST_H

#include "qp_obj.h"

/* Checks and copies.  Errors of iw_post_send(). */
int mr_fast_post(struct iw_qp *qp, struct wr_mem *mem, const struct iw_fast_reg *reg);

/* Makes it valid; false: it was not invalidated before, or it is gone. */
bool mr_fast_take(struct iw_qp *qp, const struct wr_mem *mem);

#endif
