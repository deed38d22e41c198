/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QP_TIMER_H
#define QP_TIMER_H

#include "qp_obj.h"

/* Has the wheel look at fpdu_at, wait_at and at when the next nudge is due. */
void qp_timer_arm(struct iw_qp *qp);
/* The wheel says that one of them may be due. */
void qp_timer_due(struct iw_qp *qp, uint64_t now_ns);
/* A fill has put out octets: the nudge counts from the first burst. */
void qp_timer_sent(struct iw_qp *qp, uint64_t now_ns);

/* Back-pressure: a Send begins to wait. */
void qp_timer_wait(struct iw_qp *qp, uint64_t now_ns);

#endif
