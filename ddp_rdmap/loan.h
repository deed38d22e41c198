/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the user that is lent to the way down instead of being copied (design D4): mbufs refer to it, and whoever
 * asked for it to be sent hears that it was only when none does any more.  DPDK counts them: one reference is the
 * request's, one each mbuf's.  A loan lies in an mbuf of the pool that these come from, so that it outlives its engine
 * where a driver lets go late. */
#ifndef LOAN_H
#define LOAN_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "mr_obj.h"

#define LOAN_REFS_MAX 32768 /* DPDK counts in 16 bits */

struct loan {
	struct rte_mbuf_ext_shared_info shared;
	struct rte_mbuf *m; /* it lies in there */
	struct iw_mr *mr;
};

/* For a request; memory of mr cannot be deregistered until the last reference goes, on whatever thread.  The caller
 * has entered the domain.  NULL: no mbuf. */
struct loan *loan_make(struct rte_mempool *pool, struct iw_mr *mr);
/* The request's reference goes. */
void loan_end(struct loan *loan);

/* len octets (65535 at most) of its memory as an mbuf, and behind it one with `zeros` (8 at most) octets that are 0.
 * NULL: no mbuf, or too many already. */
struct rte_mbuf *loan_mbufs(struct loan *loan, uint8_t *p, uint32_t len, uint32_t zeros);

/* Nobody but the request refers to it, and what others read was read before this. */
static inline bool
loan_is_back(const struct loan *loan)
{
	return __atomic_load_n(&loan->shared.refcnt, __ATOMIC_ACQUIRE) == 1;
}

#endif
