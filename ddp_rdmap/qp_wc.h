/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions: each request that was posted completes exactly once, in posting order. */
#ifndef QP_WC_H
#define QP_WC_H

#include "qp_obj.h"

/* Retires the SQ's requests that are done, up to the first that is not. */
void qp_wc_retire(struct iw_qp *qp);

/* The RQ's first request has taken a message: byte_len, flags and what belongs to them are set. */
void qp_wc_recv(struct iw_qp *qp, struct iw_wc *wc);

/* Everything that is posted completes in error: the request at fault with its own status, the others flushed. */
void qp_wc_flush_sq(struct iw_qp *qp);
void qp_wc_flush_rq(struct iw_qp *qp);

#endif
