/* SPDX-License-Identifier: BSD-3-Clause */
/* What oracle_wrap.c sees and the oracles are told. */
#ifndef ORACLE_SEEN_H
#define ORACLE_SEEN_H

#include "oracle.h"

void oracle_qp_begin(void);

void oracle_granted(struct iw_mr *mr, void *addr, uint64_t len);
void oracle_ungranted(const struct iw_mr *mr);
/* By requests: what a fast registration maps is granted from its post on, until this STag is invalidated or the
 * registration goes.  (A window opens what its registration covers: nothing more is granted.) */
void oracle_mapped(const struct iw_fast_reg *reg);
void oracle_invalidated(uint32_t stag);

/* Chains, up to the request that was refused (NULL: none). */
void oracle_posted_send(const struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr *stop);
void oracle_posted_recv(const struct iw_qp *qp, const struct iw_recv_wr *wr, const struct iw_recv_wr *stop);
void oracle_posted_srq(const struct iw_srq *srq, const struct iw_recv_wr *wr, const struct iw_recv_wr *stop);
void oracle_srq_destroyed(const struct iw_srq *srq);
void oracle_completed(const struct iw_wc *wc);
void oracle_filled(const struct iw_qp *qp, const struct rte_mbuf *m, uint32_t n);
void oracle_qp_destroyed(const struct iw_qp *qp);

/* The call was good. */
void oracle_cm_connects(const struct cm *cm, iw_cm_id id);
void oracle_cm_accepted(const struct cm *cm, iw_cm_id id);
void oracle_cm_destroyed(const struct cm *cm, iw_cm_id id);

#endif
