/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory registrations: what an STag grants, to whom, and the one check that every access goes through
 * (RFC 5040 §7.2, §8.1.1; RFC 5041 §7.2). */
#ifndef MR_H
#define MR_H

#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "domain.h"

struct iw_mr {
	uint64_t addr, len;
	struct iw_pd *pd;
	uint64_t scope; /* serial of the only QP that may use it; 0: every QP of the PD */
	uint32_t stag;
	uint32_t access; /* enum iw_access */
	uint32_t slot;
	uint32_t valid; /* 0: invalidated by the peer; one writer (the QP's engine), any reader */
};

/* Who asks. */
struct mr_user {
	struct iw_domain *domain;
	struct iw_pd *pd;
	uint64_t serial; /* of the QP */
};

enum mr_verdict {
	MR_OK,
	MR_STAG,   /* unknown, wrong key, invalidated */
	MR_STREAM, /* of another PD or QP */
	MR_WRAP,   /* passes the end of the address space */
	MR_BOUNDS, /* outside of what was registered */
	MR_ACCESS  /* without the right asked for */
};

/* May `user` do `access` (enum iw_access bits; 0: read it locally) to len > 0 octets at addr?  The first reason
 * why not, in the order of the enum. */
enum mr_verdict mr_check(const struct mr_user *user, uint32_t stag, uint64_t addr, uint64_t len, uint32_t access);

/* Send with Invalidate (RFC 5040 §5.3, errors.md R10): MR_OK: it is invalid now; MR_STAG: unknown or invalid already;
 * MR_STREAM: of another PD or QP; MR_ACCESS: shared by the QPs of a PD, or not to be invalidated by peers. */
enum mr_verdict mr_invalidate(const struct mr_user *user, uint32_t stag);

#endif
