/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of QPs that are about to receive, fetched for many of them at a time.  Changes nothing and is right about
 * nothing: any handle will do. */
#ifndef QP_AHEAD_H
#define QP_AHEAD_H

#include <stdint.h>

struct rdmap;

/* One step looks at what the one before has fetched: the QP, its receive queue, the next receive. */
enum qp_ahead_step { QP_AHEAD_QP, QP_AHEAD_QUEUE, QP_AHEAD_RECV, QP_AHEAD_STEPS };

void qp_ahead(const struct rdmap *rdmap, uint32_t qp, enum qp_ahead_step step);

#endif
