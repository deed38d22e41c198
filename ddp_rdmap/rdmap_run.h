/* SPDX-License-Identifier: BSD-3-Clause */
/* Which QPs have something to send; rdmap_run_next() and rdmap_run_add() are the face's. */
#ifndef RDMAP_RUN_H
#define RDMAP_RUN_H

#include "qp_obj.h"

bool rdmap_run_has_work(const struct iw_qp *qp);

#endif
