/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the untagged messages of QN 0 go: the QP's first receive, or one of its SRQ. */
#ifndef RDMAP_RECV_H
#define RDMAP_RECV_H

#include "mpa_fpdu.h"
#include "qp_obj.h"
#include "rdmap_err.h"

/* Is there a receive for the message that begins or is under way?  Takes one from the SRQ when the QP has none. */
bool rdmap_recv_ready(struct iw_qp *qp);

/* There is none: the fault that this is, or the segment waits (back-pressure). */
enum rdmap_fault rdmap_recv_missing(struct iw_qp *qp, struct mpa_fpdu *f);

#endif
