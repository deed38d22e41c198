/* SPDX-License-Identifier: BSD-3-Clause */
/* Work requests that send nothing: they change what STags grant, in their turn among the others. */
#ifndef RDMAP_LOCAL_H
#define RDMAP_LOCAL_H

#include "qp_obj.h"

/* What of the request must be right at its post; fills the slot.  Errors of iw_post_send(). */
int rdmap_local_post(struct iw_qp *qp, struct wr_send *slot, const struct iw_send_wr *wr);

/* Carries out those that stand at the send index, up to a bound. */
void rdmap_local_run(struct iw_qp *qp);

#endif
